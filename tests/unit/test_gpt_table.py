"""The tools that measure lesson 11's GPT for more steps than the page has time for, and train a larger one."""
import csv

import pytest
import torch
from safetensors.torch import load_file

from helpers.pretrained.weights import load_weights, read_record
from helpers.transformer import GPT
from tools.make_weights import gpt, large_gpt

IDS = torch.arange(3000) % 6 + 4                             # 4 5 6 7 8 9 4 5 ...


@pytest.fixture(autouse=True)
def letters(monkeypatch, request):
    """Six letters in a circle in place of programs, but where the test is of what ships."""
    if "ships" not in request.node.name:
        monkeypatch.setattr(gpt, "load", lambda: (list("<>#_abcdef"), IDS, IDS[:900], IDS[:900]))


def test_rows_that_are_there_are_kept_and_the_others_measured(tmp_path):
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


def test_an_interrupted_training_goes_on_to_the_same_weights(tmp_path, monkeypatch):
    monkeypatch.setattr(large_gpt, "SIZES", {"d_model": 8, "num_heads": 2, "d_ff": 8, "num_layers": 1, "dropout": 0.0})
    monkeypatch.setattr(large_gpt, "STEPS", 6)
    monkeypatch.setattr(large_gpt, "SAVE_EVERY", 1)
    for name in ("whole", "broken"):
        (tmp_path / name).mkdir()
    large_gpt.make(tmp_path / "whole", tmp_path / "whole")
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(gpt, "bits", lambda *given: (_ for _ in ()).throw(KeyboardInterrupt))      # at step 4
        large_gpt.make(tmp_path / "broken", tmp_path / "broken")
    assert torch.load(tmp_path / "broken" / "large_gpt.pt")["step"] == 4
    large_gpt.make(tmp_path / "broken", tmp_path / "broken")
    whole, broken = (load_file(tmp_path / name / "gpt.safetensors") for name in ("whole", "broken"))
    assert whole and all(torch.equal(whole[name], broken[name]) for name in whole)
    assert read_record(tmp_path / "whole" / "gpt.safetensors")["characters"] == 6 * 8 * 256


def test_the_gpt_that_ships_is_as_good_as_its_record_says():
    vocab, *_, test_ids = gpt.load()
    record = read_record("gpt")
    model = load_weights(GPT(len(vocab), **record["sizes"]), "gpt").eval()
    assert gpt.bits(model, gpt.windows_of(test_ids, record["context"])[::20]) == pytest.approx(record["bits"], abs=0.2)
