"""Trains the Transformer of lesson 7 that copies and reverses letters, and a GRU with attention, with three seeds each.

Measures both where they fail, and the Transformer also with other weights in the decoder's self-attention: none at all, and a
plain average of the tokens so far. Then trains both again, where one word in five has few different letters. Six minutes of one
core.
"""
import argparse
import contextlib
import pathlib
from statistics import mean

import torch

from helpers.generation import translate
from helpers.hooks import record
from helpers.pretrained.weights import SHIPPED
from helpers.recurrent import Seq2Seq
from helpers.text import BOS, Vocab, batches, pad
from helpers.training import one_cycle, sequence_loss, train
from helpers.transformer import Transformer
from tools.make_weights import tables

LETTERS, STEPS, SEEDS = "abcdefghij", 900, (0, 1, 2)
WITH_FEW = ", trained on few letters, too"                   # in the names of the models whose training words are so
VOCAB = Vocab([list("<>" + LETTERS)])
CASES = {"six_next": lambda word, target: 6 * target[6:], "six_another": lambda word, target: 6 * word[3],
         "six_lacking": lambda word, target: 6 * min({*LETTERS} - {*word})}
COLUMNS = ["model", "seed", "new_words", "one_letter", "letters_written", "two_letters", "eight_letters", *CASES,
           "one_six_next", "one_six_lacking"]


def commanded(letters, command):
    """A pair of ids: the command and the letters; the letters, copied for ">", reversed for "<"."""
    return VOCAB.encode([command, *letters]), VOCAB.encode(letters if command == ">" else letters[::-1])


def copy_or_reverse(n, generator, alike=0.0):
    """n pairs of 3 to 7 letters from a to j; in the share `alike` of them all letters are among one, two or three."""
    pairs = []
    for length in torch.randint(3, 8, (n,), generator=generator).tolist():
        letters = LETTERS
        if alike and torch.rand((), generator=generator) < alike:
            letters = [letters[i] for i in torch.randperm(10, generator=generator)[:torch.randint(1, 4, (), generator=generator)]]
        word = [letters[i] for i in torch.randint(len(letters), (length,), generator=generator)]
        pairs.append(commanded(word, "<>"[int(torch.randint(2, (1,), generator=generator))]))
    return pairs


def known_and_fresh(alike=0.0):
    """Pairs to train on, and others; without `alike` those of the lesson."""
    generator = torch.Generator().manual_seed(0)
    known, fresh = copy_or_reverse(20_000, generator, alike), copy_or_reverse(1_000, generator)
    return known, [pair for pair in fresh if pair not in known]


def trained(pairs, seed):
    """By name: the Transformer of lesson 7 and a GRU with attention of lesson 4, each trained."""
    sizes = len(VOCAB), len(VOCAB), 64
    for name, make in {"Transformer": lambda: Transformer(*sizes, 2, 128, num_layers=1, dropout=0.0),
                       "GRU with attention": lambda: Seq2Seq(*sizes)}.items():
        torch.manual_seed(seed)
        model = make()
        train(model, batches(pairs, 64, STEPS), sequence_loss, 8e-3, one_cycle(STEPS), clip=1.0)
        yield name, model


def answers(model, pairs):
    src, lengths = pad([source for source, _ in pairs])
    return [VOCAB.decode(ids) for ids in translate(model, src, lengths, 12)]


def exact(model, pairs):
    """The share of answers that are right from the first letter to `<eos>`."""
    return mean(answer == VOCAB.decode(target) for answer, (_, target) in zip(answers(model, pairs), pairs))


@torch.no_grad()
def seventh(model, word, command, choose):
    """The probability of the right seventh letter; choose: from the word and its answer to the six letters written before."""
    source, target = commanded(word, command)
    written = VOCAB.encode(choose(word, VOCAB.decode(target)))
    logits = model(torch.tensor([source]), torch.tensor([8]), torch.tensor([[BOS, *written]]))
    return logits[0, -1].softmax(-1)[target[6]].item()


def measured(model, fresh):
    """What a row says after model and seed; the probabilities are means over ten words, copied and reversed."""
    repeated = [commanded(7 * letter, command) for command in "><" for letter in LETTERS]
    words = {"": [(2 * LETTERS)[i:i + 7] for i in range(10)], "one_": [7 * letter for letter in LETTERS]}
    generator, by_length = torch.Generator().manual_seed(2), {}
    for n in range(1, 11):                                   # as the lesson draws them, one length after another
        drawn = [[LETTERS[i] for i in torch.randperm(10, generator=generator)[:n]] for _ in range(100)]
        by_length[n] = exact(model, [commanded(word, "><"[i % 2]) for i, word in enumerate(drawn)])
    written = mean(map(len, answers(model, repeated)))
    found = {"new_words": exact(model, fresh), "one_letter": exact(model, repeated), "letters_written": written,
             "two_letters": by_length[2], "eight_letters": by_length[8]}
    for column in COLUMNS[len(found) + 2:]:
        kind = "one_" if column.startswith("one_") else ""
        found[column] = mean(seventh(model, word, command, CASES[column.removeprefix(kind)])
                             for command in "><" for word in words[kind])
    return {name: f"{value:.3f}" for name, value in found.items()}


def average(weights):
    """In the place of causal weights [..., T_q, T_k]: equal ones for all tokens so far."""
    seen = torch.ones_like(weights).tril(weights.shape[-1] - weights.shape[-2])
    return seen / seen.sum(-1, keepdim=True)


def changed(model, how):
    """A block in which the weights of the decoder's self-attention pass a function; with None they stay."""
    if how is None:
        return contextlib.nullcontext()
    return record(model, change=lambda path, weights: how(weights) if path.startswith("decoder.layers.0.self_attn") else None)


def rows():
    """A dictionary for each row of the table."""
    known, fresh = known_and_fresh()
    for seed in SEEDS:
        for name, model in trained(known, seed):
            ways = {"": None, ", self-attention off": torch.zeros_like, ", plain average": average}
            for way, how in ways.items() if name == "Transformer" else [("", None)]:
                with changed(model, how):
                    yield {"model": name + way, "seed": seed} | measured(model, fresh)
    known, fresh = known_and_fresh(alike=0.2)
    for seed in SEEDS:
        for name, model in trained(known, seed):
            yield {"model": name + WITH_FEW, "seed": seed} | measured(model, fresh)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.make_weights.reversing", description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=SHIPPED,
                        help="the folder to write reversing.csv to (default: the one of the weights that ship)")
    torch.set_num_threads(1)
    tables.write(parser.parse_args().out / "reversing.csv", COLUMNS, rows())
