"""Lesson 7: how deep an encoder can be with and without residuals and norms; copying and reversing, for three seeds."""
from statistics import mean

import torch

from helpers.generation import translate
from helpers.pretrained.weights import SHIPPED
from helpers.recurrent import Seq2Seq
from helpers.text import Vocab, batches, pad
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


def test_norm(one_thread, figure):
    """In 24 layers norms are needed."""
    right = {norm: [100 * reversed_right(reverse(24, True, norm, 0.01, seed=seed)[0]) for seed in range(3)]
             for norm in ("pre", "none")}
    figure("reversing eight digits, 24 layers, rate 0.01: % right", right["pre"], {"without norms": right["none"]}, how="3 seeds")
    assert min(right["pre"]) > 90 and max(right["none"]) < 60


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
