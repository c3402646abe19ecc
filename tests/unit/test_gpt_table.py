"""The tool that measures lesson 11's GPT for more steps than the page has time for."""
import csv

import torch

from tools.make_weights import gpt


def test_rows_that_are_there_are_kept_and_the_others_measured(tmp_path, monkeypatch):
    ids = torch.arange(3000) % 6 + 4                                       # 4 5 6 7 8 9 4 5 ...
    monkeypatch.setattr(gpt, "load", lambda: (list("<>#_abcdef"), ids, ids[:900], ids[:900]))
    path = tmp_path / "gpt.csv"
    path.write_text("steps,seed,bits,witten_bell,kneser_ney\n3,0,9.99,9.9,9.8\n", encoding="utf-8")
    gpt.write(path, [(3, 0), (3, 1), (60, 1)])
    with path.open(newline="", encoding="utf-8") as file:
        kept, short, longer = csv.DictReader(file)
    assert kept == {"steps": "3", "seed": "0", "bits": "9.99", "witten_bell": "9.9", "kneser_ney": "9.8"}
    assert (short["steps"], short["seed"]) == ("3", "1") and float(short["bits"]) > 0.5
    for found in ("bits", "witten_bell", "kneser_ney"):                    # contexts and targets belong together
        assert float(longer[found]) < 0.2


def test_the_same_characters_are_measured_whatever_the_context():
    ids = torch.arange(2000)
    measured = [gpt.windows_of(ids, context)[:, -gpt.MEASURED:] for context in (128, 256)]
    assert torch.equal(*measured) and gpt.windows_of(ids, 256)[0, 0] == 0
