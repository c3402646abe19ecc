"""Trains the Transformer of lesson 7 that copies and reverses letters, and a GRU with attention, with three seeds each.

Measures both on new words like those of the training, and on words that the training lacks. Then trains both again with words of
two of these kinds among the others, and with the first words for three times the steps; and the Transformer twice more so, with
each batch beginning at a random position, the same for source and target or one for each. A second table, turned_off.csv, has the
share of new words that a Transformer answers when one of its sublayers is turned off, by learning rate. Ten minutes of one core.
"""
import argparse
import itertools
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
TRAININGS = (0.0, 900, 0, 0), (0.2, 900, 0, 0), (0.0, 2700, 0, 0), (0.0, 2700, 7, 0), (0.0, 2700, 7, 1)     # as in COLUMNS
RATES, STEPS = (0.002, 0.004, 0.008), 900                    # of trainings after which sublayers are turned off; else 0.008
SUBLAYERS = [f"{stack}.layers.0.{part}" for stack, parts in {
    "encoder": ("self_attn", "feed_forward"), "decoder": ("self_attn", "cross_attn", "feed_forward")}.items() for part in parts]
TRAINED, ASKED = LETTERS[:5], LETTERS[5:]                    # of words of few letters; of words of one letter in the tests
VOCAB = Vocab([list("<>" + LETTERS)])
LENGTHS = {"two_letters": 2, "eight_letters": 8, "nine_letters": 9}
# The share of other words; the largest first position; whether source and target have each their own.
COLUMNS = ["model", "others", "steps", "moved", "apart", "seed", "new_words", "one_letter", *LENGTHS]


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


def transformer():
    """The model of lesson 7, untrained."""
    return Transformer(len(VOCAB), len(VOCAB), 64, 2, 128, num_layers=1, dropout=0.0)


def trained(make, pairs, seed, steps, moved=0, apart=0, rate=0.008):
    """A trained model; moved: the largest position of the first token in training; apart: source and target have each their own."""
    torch.manual_seed(seed)
    model = make()
    places, place = torch.Generator().manual_seed(seed), 0

    def move(embed, inputs):
        nonlocal place
        if apart or embed is model.src_embed:                # the source comes first
            place = int(torch.randint(moved + 1, (), generator=places))
        ids, *offset = inputs
        return ids, sum(offset) + place

    hooks = [embed.register_forward_pre_hook(move) for embed in (model.src_embed, model.tgt_embed)] if moved else []
    train(model, batches(pairs, 64, steps), sequence_loss, rate, one_cycle(steps), clip=1.0)
    for hook in hooks:
        hook.remove()
    return model


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
    """A dictionary for each row of reversing.csv."""
    makes = {"Transformer": transformer, "GRU with attention": lambda: Seq2Seq(len(VOCAB), len(VOCAB), 64)}
    for others, steps, moved, apart in TRAININGS:
        known, fresh = known_and_fresh(others)
        for seed, (name, make) in itertools.product(SEEDS, makes.items()):
            if name == "Transformer" or not moved:           # a GRU has no positions
                key = name, others, steps, moved, apart, seed
                yield dict(zip(COLUMNS, key)) | measured(trained(make, known, seed, steps, moved, apart), fresh)


def turned_off():
    """A dictionary for each row of turned_off.csv: the shares of new words that are right, by the sublayer that adds nothing."""
    known, fresh = known_and_fresh()
    for rate, seed in itertools.product(RATES, SEEDS):
        model = trained(transformer, known, seed, STEPS, rate=rate)
        row = {"rate": rate, "seed": seed, "none": f"{exact(model, fresh):.3f}"}
        for name in SUBLAYERS:
            hook = model.get_submodule(name).register_forward_hook(lambda module, inputs, result: 0 * result)
            row[name] = f"{exact(model, fresh):.3f}"
            hook.remove()
        yield row


def write(folder, found):
    """Write both tables; found: the rows of the first."""
    tables.write(folder / "reversing.csv", COLUMNS, found)
    tables.write(folder / "turned_off.csv", ["rate", "seed", "none", *SUBLAYERS], turned_off())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.make_weights.reversing", description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=SHIPPED,
                        help="the folder to write both tables to (default: the one of the weights that ship)")
    torch.set_num_threads(1)
    write(parser.parse_args().out, rows())
