"""Trains the Transformer of lesson 7 that copies and reverses letters, and a GRU with attention, with three seeds each.

Measures both on new words like those of the training, and on words that the training lacks. Then trains both again with words of
two of these kinds among the others, and with the first words for three times the steps. Six minutes of one core.
"""
import argparse
import pathlib
from statistics import mean

import torch

from helpers.generation import translate
from helpers.pretrained.weights import SHIPPED
from helpers.recurrent import Seq2Seq
from helpers.text import Vocab, batches, pad
from helpers.training import one_cycle, sequence_loss, train
from helpers.transformer import Transformer
from tools.make_weights import tables

LETTERS, SEEDS = "abcdefghij", (0, 1, 2)
TRAININGS = (0.0, 900), (0.2, 900), (0.0, 2700)              # the share of other words, the steps
TRAINED, ASKED = LETTERS[:5], LETTERS[5:]                    # of words of few letters; of words of one letter in the tests
VOCAB = Vocab([list("<>" + LETTERS)])
LENGTHS = {"two_letters": 2, "eight_letters": 8, "nine_letters": 9}
COLUMNS = ["model", "others", "steps", "seed", "new_words", "one_letter", *LENGTHS]


def commanded(letters, command):
    """A pair of ids: the command and the letters; the letters, copied for ">", reversed for "<"."""
    return VOCAB.encode([command, *letters]), VOCAB.encode(letters if command == ">" else letters[::-1])


def copy_or_reverse(n, generator, others=0.0):
    """n pairs of 3 to 7 letters from a to j.

    others: the share of words whose letters are among one, two or three from a to e, and the share of words of eight letters.
    """
    pairs = []
    for length in torch.randint(3, 8, (n,), generator=generator).tolist():
        letters = LETTERS
        if others and torch.rand((), generator=generator) < others:
            letters = [TRAINED[i] for i in torch.randperm(5, generator=generator)[:torch.randint(1, 4, (), generator=generator)]]
        if others and torch.rand((), generator=generator) < others:
            length = 8
        word = [letters[i] for i in torch.randint(len(letters), (length,), generator=generator)]
        pairs.append(commanded(word, "<>"[int(torch.randint(2, (1,), generator=generator))]))
    return pairs


def known_and_fresh(others=0.0):
    """Pairs to train on, and new ones of 3 to 7 letters; without `others` those of the lesson."""
    generator = torch.Generator().manual_seed(0)
    known, fresh = copy_or_reverse(20_000, generator, others), copy_or_reverse(1_000, generator)
    return known, [pair for pair in fresh if pair not in known]


def trained(pairs, seed, steps):
    """By name: the Transformer of lesson 7 and a GRU with attention of lesson 4, each trained."""
    sizes = len(VOCAB), len(VOCAB), 64
    for name, make in {"Transformer": lambda: Transformer(*sizes, 2, 128, num_layers=1, dropout=0.0),
                       "GRU with attention": lambda: Seq2Seq(*sizes)}.items():
        torch.manual_seed(seed)
        model = make()
        train(model, batches(pairs, 64, steps), sequence_loss, 8e-3, one_cycle(steps), clip=1.0)
        yield name, model


def exact(model, pairs):
    """The share of answers that are right from the first letter to `<eos>`."""
    src, lengths = pad([source for source, _ in pairs])
    answers = [VOCAB.decode(ids) for ids in translate(model, src, lengths, 12)]
    return mean(answer == VOCAB.decode(target) for answer, (_, target) in zip(answers, pairs))


def measured(model, fresh):
    """What a row says after model, others, steps and seed: the shares of right answers, by kind of word."""
    generator = torch.Generator().manual_seed(2)
    words = {"new_words": fresh, "one_letter": [commanded(7 * letter, command) for letter in ASKED for command in "><"]}
    for kind, n in LENGTHS.items():                          # of different letters
        drawn = [[LETTERS[i] for i in torch.randperm(10, generator=generator)[:n]] for _ in range(100)]
        words[kind] = [commanded(word, "><"[i % 2]) for i, word in enumerate(drawn)]
    return {kind: f"{exact(model, pairs):.3f}" for kind, pairs in words.items()}


def rows():
    """A dictionary for each row of the table."""
    for others, steps in TRAININGS:
        known, fresh = known_and_fresh(others)
        for seed in SEEDS:
            for name, model in trained(known, seed, steps):
                yield {"model": name, "others": others, "steps": steps, "seed": seed} | measured(model, fresh)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.make_weights.reversing", description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=SHIPPED,
                        help="the folder to write reversing.csv to (default: the one of the weights that ship)")
    torch.set_num_threads(1)
    tables.write(parser.parse_args().out / "reversing.csv", COLUMNS, rows())
