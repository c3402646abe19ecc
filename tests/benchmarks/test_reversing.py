"""Lesson 7: how deep an encoder can be with and without residuals and norms; copying and reversing, for three seeds."""
import csv
from statistics import mean

import torch

from helpers.generation import translate
from helpers.pretrained.weights import SHIPPED
from helpers.recurrent import Seq2Seq
from helpers.text import BOS, Vocab, batches, pad
from helpers.training import one_cycle, sequence_loss, train
from helpers.transformer import Transformer
from tools.make_weights.depth import GRID, reverse, reversed_right, rows, write

VOCAB, STEPS = Vocab([list("<>abcdefghij")]), 900


def test_depth(one_thread, figure):
    """Every setting of the lab, which reads helpers/pretrained/depth.csv: written again here."""
    found = list(rows())
    write(SHIPPED / "depth.csv", found)
    for depth in (1, 8):
        best = {residual: max(mean(accuracies(found, residual, "pre", 0, depth, lr)) for lr in GRID["lr"])
                for residual in (True, False)}
        layers = f"{depth} pre-norm layer{'s' * (depth > 1)}"
        figure(f"reversing eight digits, {layers}, best of three rates: % right", [100 * best[True]],
               {"without residuals": [100 * best[False]]}, how="mean of 3 seeds")
    assert best[True] > 0.99 and best[False] < 0.3


def test_norm(figure):
    """In 24 layers norms are needed, and before the sublayers: from the file that `test_depth` writes."""
    with (SHIPPED / "depth.csv").open(newline="", encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    for lr in GRID["lr"]:
        right = {norm: [100 * share for share in accuracies(found, "True", norm, "0", "24", str(lr))]
                 for norm in ("pre", "post", "none")}
        figure(f"reversing eight digits, 24 layers, rate {lr}: % right", right["pre"],
               {"post-norm": right["post"], "without norms": right["none"]}, how="3 seeds")
        assert max(right["post"] + right["none"]) < 40 and (mean(right["pre"]) > 95 or lr == 0.001)


def test_more_steps(one_thread, figure):
    """Without residuals two layers need five times as many steps; three seeds."""
    def right(depth, norm, steps):
        return [100 * reversed_right(reverse(depth, False, norm, seed=seed, steps=steps)[0]) for seed in range(3)]

    two = {norm: right(2, norm, 1000) for norm in ("pre", "none")}
    figure("reversing eight digits without residuals, 2 pre-norm layers, 1,000 steps: % right", two["pre"],
           {"without norms": two["none"]}, how="3 seeds")
    four = right(4, "pre", 2000)
    figure("reversing eight digits without residuals, 4 pre-norm layers, 2,000 steps: % right", four, how="3 seeds")
    assert min(two["pre"]) > 95 and max(two["none"] + four) < 60


def accuracies(found, residual, norm, warm, depth, lr):
    """Of the three seeds."""
    setting = dict(zip(GRID, (residual, norm, warm, depth, lr)))
    return [float(row["accuracy"]) for row in found if all(row[name] == value for name, value in setting.items())]


def commanded(letters, command):
    """A pair of ids: the command and the letters; the letters, copied for ">", reversed for "<"."""
    return VOCAB.encode([command, *letters]), VOCAB.encode(letters if command == ">" else letters[::-1])


def copy_or_reverse(n, generator, alike=0.0):
    """n pairs of 3 to 7 letters from a to j; in the share `alike` of them all letters are among one, two or three."""
    pairs = []
    for length in torch.randint(3, 8, (n,), generator=generator).tolist():
        letters = "abcdefghij"
        if torch.rand((), generator=generator) < alike:
            letters = [letters[i] for i in torch.randperm(10, generator=generator)[:torch.randint(1, 4, (), generator=generator)]]
        word = [letters[i] for i in torch.randint(len(letters), (length,), generator=generator)]
        pairs.append(commanded(word, "<>"[int(torch.randint(2, (), generator=generator))]))
    return pairs


def exact(model, pairs):
    """The percentage of answers that are right from the first letter to `<eos>`."""
    src, lengths = pad([source for source, _ in pairs])
    written = [VOCAB.decode(ids) for ids in translate(model, src, lengths, 12)]
    return 100 * sum(answer == VOCAB.decode(target) for answer, (_, target) in zip(written, pairs)) / len(pairs)


def models(seed):
    """By name: a new Transformer of lesson 7, and a GRU with attention of lesson 4."""
    sizes = len(VOCAB), len(VOCAB), 64
    for name, make in {"Transformer": lambda: Transformer(*sizes, 2, 128, num_layers=1, dropout=0.0),
                       "GRU with attention": lambda: Seq2Seq(*sizes)}.items():
        torch.manual_seed(seed)
        yield name, make()


def seventh(model, word, command, choose):
    """The probability of the right seventh letter; choose: from the word and its answer to the six letters written before."""
    source, target = commanded(word, command)
    written = VOCAB.encode(choose(word, VOCAB.decode(target)))
    with torch.no_grad():
        logits = model(torch.tensor([source]), torch.tensor([8]), torch.tensor([[BOS, *written]]))
    return logits[0, -1].softmax(-1)[target[6]].item()


def test_repeated_letters(one_thread, figure):
    """What the Transformer of lesson 7 makes of a letter that it has written six times, and of lengths; three seeds."""
    known = copy_or_reverse(20_000, torch.Generator().manual_seed(0))
    letters = "abcdefghij"
    words = [(2 * letters)[i:i + 7] for i in range(10)]
    after_the_next, after_another = {}, {}
    by_length = {n: [] for n in (1, 2, 8)}
    for seed in range(3):
        model = dict(models(seed))["Transformer"]
        train(model, batches(known, 64, STEPS), sequence_loss, 8e-3, one_cycle(STEPS), clip=1.0)
        for command, name in ((">", "copying"), ("<", "reversing")):
            after_the_next.setdefault(name, []).append(
                mean(seventh(model, word, command, lambda word, target: 6 * target[6:]) for word in words))
            after_another.setdefault(name, []).append(
                mean(seventh(model, word, command, lambda word, target: 6 * min({*letters} - {*word})) for word in words))
        generator = torch.Generator().manual_seed(2)
        for n, found in by_length.items():
            drawn = [[letters[i] for i in torch.randperm(10, generator=generator)[:n]] for _ in range(100)]
            found.append(exact(model, [commanded(word, "><"[i % 2]) for i, word in enumerate(drawn)]))
    for name, found in after_the_next.items():
        figure(f"{name}: probability of the right seventh letter, written six times before", found,
               {"after six times a letter that the word lacks": after_another[name]}, how="3 seeds")
        assert max(found) < 0.3 and min(after_another[name]) > 0.7
    for n, found in by_length.items():
        figure(f"copy or reverse, trained on 3 to 7 letters: words of {n} letter{'s' * (n > 1)}, % right", found, how="3 seeds")


def test_copy_or_reverse(one_thread, figure):
    """The training of lesson 7, three seeds; then with words of few different letters among those to learn from."""
    fresh = copy_or_reverse(1000, torch.Generator().manual_seed(1))
    repeated = [commanded(7 * letter, command) for command in "><" for letter in "abcdefghij"]
    for alike, what in ((0.0, "letters at random"), (0.2, "some words of few letters")):
        known = copy_or_reverse(20_000, torch.Generator().manual_seed(0), alike)
        unseen = [pair for pair in fresh if pair not in known]
        scores = {}
        for seed in range(3):
            for name, model in models(seed):
                train(model, batches(known, 64, STEPS, seed), sequence_loss, 8e-3, one_cycle(STEPS), clip=1.0)
                for test, pairs in (("new words", unseen), ("one letter seven times", repeated)):
                    scores.setdefault((test, name), []).append(exact(model, pairs))
        for test in ("new words", "one letter seven times"):
            figure(f"copy or reverse, trained on {what}: {test}, % right", scores[test, "Transformer"],
                   {"GRU with attention, as many steps": scores[test, "GRU with attention"]}, how="3 seeds")
        assert min(scores["new words", "Transformer"]) > 99
