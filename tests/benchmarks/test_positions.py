"""What the schemes of lesson 6 reach when they are trained for longer than its page has time for."""
import torch

from tests.notebooks import PATHS, code_cells, read

STEPS = 1_000


def lesson():
    """The names that lesson 6 defines, up to the function that trains a model."""
    names, notebook = {}, read(next(path for path in PATHS if path.stem.startswith("06")))
    for cell in code_cells(notebook):
        if cell.source.startswith(("import", "class", "def", "tasks")):
            exec(cell.source, names)
        if "def trained" in cell.source:
            return names


def test_alibi_trained_for_longer(one_thread, figure):
    names, found = lesson(), []
    for seed in range(3):
        model, _ = names["trained"](names["last_signal"], "ALiBi", seed, steps=STEPS)
        found.append(names["accuracies"]([model], "last signal"))
    accuracy = 100 * torch.cat(found)                                      # [3 seeds, 4 lengths]
    figure("the nearest signal so far, ALiBi, trained on 16 words for 1,000 steps: % right in 128 words",
           accuracy[:, 3].tolist(), {"in 16 words": accuracy[:, 0].tolist()})
    assert accuracy[:, 0].min() > 98 and 93 < accuracy[:, 3].min() and accuracy[:, 3].max() < 99
