"""The tool that measures lesson 11's GPT for more steps than the page has time for."""
import csv

import torch

from tools.make_weights import gpt


def test_rows_that_are_there_are_kept_and_the_others_measured(tmp_path, monkeypatch):
    ids = torch.arange(3000) % 6 + 4                                       # 4 5 6 7 8 9 4 5 ...
    monkeypatch.setattr(gpt, "load", lambda: (list("<>#_abcdef"), ids, ids[:500]))
    path = tmp_path / "gpt.csv"
    path.write_text("steps,seed,bits,ngram_bits\n3,0,9.99,9.9\n", encoding="utf-8")
    gpt.write(path, [(3, 0), (3, 1), (60, 1)])
    with path.open(newline="", encoding="utf-8") as file:
        kept, short, longer = csv.DictReader(file)
    assert kept == {"steps": "3", "seed": "0", "bits": "9.99", "ngram_bits": "9.9"}
    assert (short["steps"], short["seed"]) == ("3", "1") and float(short["bits"]) > 0.5
    assert float(longer["bits"]) < 0.2 and float(longer["ngram_bits"]) < 0.1      # contexts and targets belong together
