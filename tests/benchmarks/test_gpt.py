"""Lesson 11's GPT against counting: bits per character of program files that neither was trained on, three seeds."""
import csv

from tools.make_weights import gpt


def test_against_counting(figure, tmp_path, one_thread):
    gpt.write(tmp_path / "gpt.csv", [(4000, seed) for seed in range(3)])
    with (tmp_path / "gpt.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    bits, counted = [float(row["bits"]) for row in rows], float(rows[0]["ngram_bits"])
    figure("GPT of lesson 11, 4,000 steps: bits per character", bits, {"best n-gram model": [counted]})
    assert max(bits) < counted + 0.1
