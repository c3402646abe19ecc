"""Which looks of the date model are needed for a month, as the tool of lesson 0 measures it."""
import itertools

from helpers.data.dates import load_dates
from helpers.hooks import what_if
from helpers.pretrained.dates import date_model, read_date
from helpers.pretrained.weights import SHIPPED
from tools.make_weights import date_looks, tables


def test_the_table_has_a_row_for_each_training_and_month():
    rows = tables.read(SHIPPED / "date_looks.csv")
    assert list(rows[0]) == date_looks.COLUMNS
    assert [(int(row["seed"]), row["name"]) for row in rows] == list(itertools.product(date_looks.SEEDS, date_looks.NAMES))
    assert all(0 <= int(row[way]) <= int(row["of"]) == date_looks.DATES for row in rows for way in date_looks.WAYS)


def test_what_is_lost_is_what_the_changed_weights_lose():
    """Only head 0's largest weight in the row of the month's first digit is needed for November, in the model that ships."""
    text, model = "sunday november 30 1997", date_model()
    counts = date_looks.lost(model, [text], "11")
    assert [way for way, count in counts.items() if count] == ["zero_0", "none"]
    _, weights = read_date(model, text)
    run = what_if(model, lambda: read_date(model, text), where="cross_attn")
    key = int(weights[0, date_looks.ROW].argmax())
    assert run([{"kind": "zero", "index": [0], "query": date_looks.ROW, "key": key}])[0][0][5:7] == "02"
    assert date_looks.lost(model, ["january 3 2001"], "01")["none"] == 0


def test_a_training_gives_a_row_for_each_month_and_repeats():
    first, again = (list(date_looks.rows([1], steps=3, n_train=200, dates=1)) for _ in range(2))
    assert first == again and [row["name"] for row in first] == list(date_looks.NAMES)
    assert all(set(row) == set(date_looks.COLUMNS) and row["of"] == 1 for row in first)


def test_the_dates_that_are_counted_were_not_trained_on():
    train_pairs, test_pairs = load_dates(1000)
    assert not {iso for _, iso in train_pairs} & {iso for _, iso in test_pairs}
