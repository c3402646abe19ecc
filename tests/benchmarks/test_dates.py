"""How many dates a model reads after the training of lesson 8, for three seeds."""
from time import perf_counter

import pytest
import torch

from helpers.data.dates import load_dates
from helpers.generation import translate
from helpers.pretrained.dates import SOURCE, TARGET, encode
from helpers.text import batches, pad
from helpers.training import one_cycle, sequence_loss, train
from helpers.transformer import Transformer

STEPS = 1_800


def new_model(seed):
    """The model of lesson 8."""
    torch.manual_seed(seed)
    return Transformer(len(SOURCE), len(TARGET), d_model=64, num_heads=4, d_ff=128, num_layers=1, dropout=0.0)


def exact_match(model, pairs):
    """The share of the dates that are read without a mistake."""
    src, lengths = pad([encode(written) for written, _ in pairs])
    answers = ["".join(TARGET.decode(ids)) for ids in translate(model, src, lengths, max_len=12)]
    return sum(answer == iso for answer, (_, iso) in zip(answers, pairs)) / len(pairs)


@pytest.fixture
def two_threads():
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(threads)


def test_dates_of_lesson_8(two_threads, figure):
    known, held_out = load_dates(100_000)
    data = [(encode(written), TARGET.encode(iso)) for written, iso in known]
    seconds, scores = [], []
    for seed in range(3):
        model, start = new_model(seed), perf_counter()
        train(model, batches(data, 64, STEPS), sequence_loss, 6e-3, one_cycle(STEPS), clip=1.0)
        seconds.append(perf_counter() - start)
        scores.append(100 * exact_match(model, held_out))
    how = f"2 threads, {sum(seconds) / 3:.0f} s of training each"
    figure("dates never trained on, % read without a mistake, three seeds", scores, how=how)
    assert min(scores) >= 99.8
