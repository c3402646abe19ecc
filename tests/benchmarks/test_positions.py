"""What the schemes of lesson 6 reach when they are trained for longer than its page has time for."""
from tests.notebooks import PATHS, code_cells, has_tag, read


def lesson():
    """The names that lesson 6 defines, up to the function that trains a model."""
    names, notebook = {}, read(next(path for path in PATHS if path.stem.startswith("06")))
    for cell in code_cells(notebook):
        defines = has_tag(cell, "aside") or cell.source.startswith(("import", "class", "def", "tasks"))
        if defines and not has_tag(cell, "claims"):
            exec(cell.source, names)
        if "def trained" in cell.source:
            return names


def trained_for_longer(task, scheme, steps):
    """Per cent right, of three seeds at the lesson's four lengths: [3, 4]."""
    names = lesson()
    models = [names["trained"](names["tasks"][task], scheme, seed, steps=steps)[0] for seed in range(3)]
    return 100 * names["accuracies"](models, names["tests"][task])


def test_alibi_trained_for_longer(one_thread, figure):
    accuracy = trained_for_longer("last signal", "ALiBi", 1_000)
    figure("the nearest signal so far, ALiBi, trained on 16 words for 1,000 steps: % right at the last 16 of 128 words",
           accuracy[:, 3].tolist(), {"in 16 words": accuracy[:, 0].tolist()})
    assert accuracy[:, 0].min() > 98 and 93 < accuracy[:, 3].min() and accuracy[:, 3].max() < 99


def test_straight_lines_trained_for_longer(one_thread, figure):
    number, alibi = (trained_for_longer("five back", scheme, 1_500)[:, 0] for scheme in ("number", "ALiBi"))
    figure("the word five back, a plain number, trained on 16 words for 1,500 steps: % right in 16 words",
           number.tolist(), {"ALiBi": alibi.tolist()})
    assert max(number.max(), alibi.max()) < 40
