"""Lesson 7: how deep an encoder can be with and without residuals and norms; copying and reversing, for three seeds."""
import csv
from statistics import mean

from helpers.pretrained.weights import SHIPPED
from tools.make_weights import reversing
from tools.make_weights.depth import GRID, STEPS, reverse, reversed_right, rows, write


def test_depth(one_thread, figure):
    """Every setting of the lab, which reads helpers/pretrained/depth.csv: written again here."""
    found = list(rows())
    write(SHIPPED / "depth.csv", found)
    for depth in (1, 8):
        best = {residual: max(mean(accuracies(found, residual, "pre", 0, depth, lr)) for lr in GRID["lr"][:3])
                for residual in (True, False)}
        layers = f"{depth} pre-norm layer{'s' * (depth > 1)}"
        figure(f"reversing eight digits, {layers}, best of three rates: % right", [100 * best[True]],
               {"without residuals": [100 * best[False]]}, how="mean of 3 seeds")
    assert best[True] > 0.99 and best[False] < 0.3


def test_norm(figure):
    """In 24 layers norms before the sublayers are needed, or a small start: from the file that `test_depth` writes."""
    with (SHIPPED / "depth.csv").open(newline="", encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    for lr in GRID["lr"][:3]:
        right = {norm: [100 * share for share in accuracies(found, "True", norm, "0", "24", str(lr))]
                 for norm in ("pre", "post", "none", "small start")}
        figure(f"reversing eight digits, 24 layers, rate {lr}: % right", right["pre"],
               {"post-norm": right["post"], "without norms": right["none"],
                "small start without norms": right["small start"] if lr < 0.01 else "no number any more"}, how="3 seeds")
        assert max(right["post"] + right["none"]) < 40 and (mean(right["pre"]) > 95 or lr == 0.001)
        assert lr == 0.01 or min(right["small start"]) > 95


def test_more_steps(one_thread, figure):
    """Without residuals two layers need more steps, and four still more; three seeds."""
    def right(depth, norm, steps):
        return [100 * reversed_right(reverse(depth, False, norm, seed=seed, steps=steps)[0]) for seed in range(3)]

    two = {norm: right(2, norm, 1000) for norm in ("pre", "none")}
    figure("reversing eight digits without residuals, 2 pre-norm layers, 1,000 steps: % right", two["pre"],
           {"without norms": two["none"]}, how="3 seeds")
    four = right(4, "pre", 2000)
    figure("reversing eight digits without residuals, 4 pre-norm layers, 2,000 steps: % right", four, how="3 seeds")
    assert min(two["pre"]) > 95 and max(two["none"] + four) < 60


def accuracies(found, residual, norm, warm, depth, lr):
    """Of the three seeds, after 200 steps, with gradients as they are."""
    setting = dict(zip(GRID, (residual, norm, warm, depth, lr)))
    return [float(row["accuracy"]) for row in found
            if int(row["steps"]) == STEPS and not row["clip"] and all(row[name] == value for name, value in setting.items())]


def test_letters(one_thread, figure):
    """What lesson 7 reads in helpers/pretrained/reversing.csv and turned_off.csv, written again here; three seeds."""
    found = list(reversing.rows())
    reversing.write(SHIPPED, found)

    def of_seeds(kind, training, model="Transformer"):
        wanted = (model, *training)
        return [100 * float(row[kind]) for row in found if tuple(row[name] for name in reversing.COLUMNS[:5]) == wanted]

    gru = "GRU with attention"
    words = ("3 to 7 letters", "words of few letters and of eight, too", "3 to 7 letters for three times the steps",
             "3 to 7 letters for three times the steps at moved positions",
             "3 to 7 letters for three times the steps, source and target moved apart")
    for training, of in zip(reversing.TRAININGS, words):
        for kind in reversing.COLUMNS[6:]:
            what = kind.replace("_", " ") + (" seven times" if kind == "one_letter" else "")
            figure(f"copy or reverse, trained on {of}: {what}, % right", of_seeds(kind, training),
                   {f"{gru}, as many steps": of_seeds(kind, training, gru) or "no positions"}, how="3 seeds")
        assert min(of_seeds("new_words", training)) > (95 if training[-1] else 98)      # moved apart costs some
