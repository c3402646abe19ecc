"""Lesson 11's GPT and the one that ships against counting: bits per character of program files that none was trained on."""
import csv

from helpers.pretrained.weights import SHIPPED, load_weights, read_record
from helpers.transformer import GPT
from tools.make_weights import gpt


def read(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def against(rows):
    """What counting reaches, by name, as figures."""
    return {"Witten-Bell, orders 1 to 8": [float(rows[0]["witten_bell"])],
            "Kneser-Ney, orders 1 to 16": [float(rows[0]["kneser_ney"])]}


def test_against_counting(figure, tmp_path, one_thread):
    gpt.write(tmp_path / "gpt.csv", [(4000, seed) for seed in range(3)])
    rows = read(tmp_path / "gpt.csv")
    bits, counted = [float(row["bits"]) for row in rows], against(rows)
    figure("GPT of lesson 11, 4,000 steps: bits per character", bits, counted)
    (witten_bell,), (kneser_ney,) = counted.values()
    assert kneser_ney < min(bits) and max(bits) < witten_bell


def test_the_shipped_one_against_counting(figure, one_thread):
    vocab, *_, test_ids = gpt.load()
    record, counted = read_record("gpt"), against(read(SHIPPED / "gpt.csv"))
    model = load_weights(GPT(len(vocab), **record["sizes"]), "gpt").eval()
    bits = gpt.bits(model, gpt.windows_of(test_ids, record["context"]))
    figure("GPT that ships: bits per character", [bits], counted)
    assert bits < counted["Kneser-Ney, orders 1 to 16"][0] - 0.1
