"""The date model that ships: as good as it says, and calm whatever is typed."""
import pytest
import torch

from helpers.data.dates import load_dates
from helpers.pretrained.dates import date_model, encode, read_date
from helpers.pretrained.weights import read_record


@pytest.fixture(scope="module")
def model():
    return date_model()


@pytest.mark.parametrize(("text", "iso"), [
    ("sunday november 30 1997", "1997-11-30"), ("20 july 2009", "2009-07-20"), ("3rd of May, '01", "2001-05-03"),
    ("11/30/1997", "1997-11-30"), ("30/11/1997", "1997-11-30"), ("11/3/1997", "1997-11-03"), ("3.11.1997", "1997-11-03"),
    ("MONDAY, 5 FEBRUARY 1968", "1968-02-05"), ("05-Mar-24", "2024-03-05"), ("2030-01-31", "2030-01-31"),
])
def test_it_reads_dates(model, text, iso):
    assert read_date(model, text)[0] == iso


def test_it_is_as_good_as_its_record_says(model):
    record, (_, pairs) = read_record("dates"), load_dates(0)
    assert record["of"] == len(pairs) == 2000 and record["right"] >= 1998
    sample = pairs[::4]
    assert sum(read_date(model, written)[0] == iso for written, iso in sample) >= len(sample) - 1


@pytest.mark.parametrize("text", ["x", "tomorrow", "30 novembre 1997", "明天", "Привет", "!?#", "1" * 40, "\u202e 3 may 2001"])
def test_it_answers_whatever_is_typed(model, text):
    answer, weights = read_date(model, text)
    assert set(answer) <= set("0123456789-") and weights.shape[1] == len(answer) <= 12


@pytest.mark.parametrize(("text", "count"), [("", 0), ("  \n\t", 0), ("a" * 42, 42), ("monday " * 1000, 6999)])
def test_what_is_no_line_is_refused_in_words(text, count):
    with pytest.raises(ValueError, match=f"{count} characters: type a date of 1 to 41"):
        encode(text)


def test_where_it_looked_is_a_row_for_each_character_of_the_answer(model):
    answer, weights = read_date(model, "20 july 2009")
    assert weights.shape == (4, 10, 12) and len(answer) == 10
    assert torch.allclose(weights.sum(-1), torch.ones(4, 10), atol=1e-5)
    year = weights[:, :4, 8:].sum(-1).mean()
    assert year > 0.5                                           # the digits of the year are fetched from the year
