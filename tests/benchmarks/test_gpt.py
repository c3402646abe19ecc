"""Lesson 11's GPT and the one that ships against counting, on program files that none was trained on; and what the cache saves."""
from functools import partial

import pytest
import torch

from helpers.generation import stream
from helpers.pretrained.weights import load_weights, read_record
from helpers.transformer import GPT
from tools.make_weights import gpt, tables


@pytest.fixture(scope="module")
def shipped():
    """The GPT that ships, its record, and the ids of the test files."""
    vocab, *_, test_ids = gpt.load()
    record = read_record("gpt")
    return load_weights(GPT(len(vocab), **record["sizes"]), "gpt").eval(), record, test_ids


@pytest.fixture(scope="module")
def of(tmp_path_factory):
    """What the table of lesson 11 holds, measured again: a function from a model and a column to numbers, one a seed."""
    path = tmp_path_factory.mktemp("table") / "gpt.csv"
    gpt.write(path)
    rows = tables.read(path)
    return lambda model, column, times=1: [times * float(row[column]) for row in rows if row["model"] == model and row[column]]


def test_against_counting(figure, of, one_thread):
    bits, names = of("GPT", "bits"), {"Witten-Bell": "orders 1 to 8", "Kneser-Ney": "orders 1 to 16"}
    figure("GPT of lesson 11, 4,000 steps: bits per character", bits,
           {f"{name}, {orders}": of(name, "bits")[:1] for name, orders in names.items()}, how="1 thread, 3 seeds")
    figure("training the GPT of lesson 11, seconds of one core", of("GPT", "seconds"), how="1 thread, 3 seeds")
    assert max(of("Kneser-Ney", "bits")) < min(bits) and max(bits) < min(of("Witten-Bell", "bits"))


def test_words_that_stood_in_the_window(figure, of):
    figure("GPT of lesson 11, words that stood in the window before: bits per character", of("GPT", "stood"),
           {name: of(name, "stood")[:1] for name in ("Kneser-Ney", gpt.COPIES, gpt.SHIPS)}, how="1 thread, 3 seeds")
    assert max(of(gpt.SHIPS, "stood") + of(gpt.COPIES, "stood")) < min(of("GPT", "stood") + of("Kneser-Ney", "stood"))


def test_what_it_writes_parses(figure, of):
    figure("GPT of lesson 11, lines after the first, written at temperature 1: % that parse", of("GPT", "lines 1.0", 100),
           {name: of(name, "lines 1.0", 100) for name in ("Kneser-Ney", gpt.SHIPS, gpt.REAL)},
           how="3 draws of 400 pieces, 2 of the one that ships")
    assert max(of("Kneser-Ney", "lines 1.0") + of("GPT", "lines 1.0")) < min(of(gpt.SHIPS, "lines 1.0"))
    assert max(of("Kneser-Ney", "first 1.0")) < min(of("GPT", "first 1.0"))


def test_the_shipped_one_against_counting(figure, of, shipped, one_thread):
    model, record, test_ids = shipped
    bits = gpt.bits(model, gpt.windows_of(test_ids, record["context"]))
    kneser_ney = of("Kneser-Ney", "bits")[:1]
    figure("GPT that ships: bits per character", [bits], {"Kneser-Ney, orders 1 to 16": kneser_ney}, how="1 thread, 1 training")
    assert bits < kneser_ney[0] - 0.1


def test_writing_with_and_without_the_cache(figure, shipped, take_turns):
    model, record, test_ids = shipped
    start = test_ids[None, :4]                                             # [1, 4]

    def with_cache(count):
        return [token.item() for token in stream(model, start, count, record["context"], lambda logits: logits.argmax(-1))]

    @torch.no_grad()
    def without(count):
        text = start
        for _ in range(count):
            text = torch.cat([text, model(text)[:, -1:].argmax(-1)], 1)
        return text[0, 4:].tolist()

    each = {}
    for count in (32, 128, 250):
        seconds = take_turns(2, cache=partial(with_cache, count), without=partial(without, count))
        each |= {(how, count): [1000 * s / count for s in found] for how, found in seconds.items()}
    assert with_cache(40) == without(40)
    figure("GPT that ships, writing 250 characters with the cache: ms of one core for each", each.pop(("cache", 250)),
           {f"{count} characters{' without it' if how == 'without' else ''}": found for (how, count), found in each.items()},
           how="1 thread")
