"""The tool that measures lesson 12's GPT beside counting."""
import csv
import math

import pytest
import torch

from helpers.generation import SEP
from helpers.text import PAD, Vocab
from tools.make_weights import couplets


def test_counting_by_hand():
    """p0 = 1/8; the empty context has seen 6 once: (1 + 1/8) / 2 = 9/16; so has the facing 5: (1 + 9/16) / 2 = 25/32."""
    facing = couplets.CONTEXTS["counting: the facing character"]
    assert couplets.counted_bits(8, [([5], [6])], [([5], [6])], facing) == pytest.approx(-math.log2(25 / 32))
    assert couplets.counted_bits(8, [([5], [6])], [([7], [6])], facing) == pytest.approx(-math.log2(9 / 16))      # 7 is new


def test_contexts():
    a, b = [11, 12, 13], [21, 22, 23]
    found = {name: context(a, b, 1) for name, context in couplets.CONTEXTS.items()}
    assert list(found.values()) == [(21, PAD, PAD), (12,), (21, 12), (12, 21, 13)]


def test_the_loss_of_both_lines_has_a_target_everywhere():
    vocab_size, ids, targets = 6, torch.tensor([[4, 5, 3, 4]]), torch.tensor([[PAD, PAD, 4, 2]])
    logits = torch.randn(1, 4, vocab_size, generator=torch.Generator().manual_seed(0))
    by_hand = -logits.log_softmax(-1)[0, torch.arange(4), torch.tensor([5, 3, 4, 2])].mean()
    assert torch.allclose(couplets.both_lines_loss(lambda ids: logits, ids, targets), by_hand)


def test_rows_that_are_there_are_kept_and_the_others_measured(tmp_path, monkeypatch):
    vocab = Vocab([["a", "b", "A", "B", SEP]])
    pairs = [(vocab.encode(line), vocab.encode(line.upper())) for line in ("ab", "ba", "aab", "bba", "abab")]
    monkeypatch.setattr(couplets, "load", lambda corpus: (vocab, pairs * 20, pairs))
    monkeypatch.setitem(couplets.STEPS, "made", 60)
    monkeypatch.setitem(couplets.SIZES, "made", {"d_model": 16, "d_ff": 16, "dropout": 0.0})
    path = tmp_path / "couplets.csv"
    path.write_text(f'corpus,model,seed,bits,as_long\nmade,"{couplets.ANSWER}",0,9.99,0.5\n', encoding="utf-8")
    couplets.write(path, [("made", couplets.ANSWER, 0), ("made", couplets.ANSWER, 1), ("made", couplets.BOTH, 1),
                          ("made", couplets.TWICE[couplets.BOTH], 1), ("made", "counting: the facing character", "")])
    with path.open(newline="", encoding="utf-8") as file:
        kept, new, both, twice, counted = csv.DictReader(file)
    assert kept["bits"] == "9.99" and float(new["bits"]) < 1.5 > float(both["bits"]) and float(new["as_long"]) > 0.3
    assert [row["steps"] for row in (new, both, twice)] == ["60", "60", "120"] and float(twice["bits"]) < float(both["bits"])
    assert float(counted["bits"]) < 0.5 and counted["as_long"] == counted["seed"] == counted["steps"] == ""
    assert {row["couplets"] for row in (new, both, twice, counted)} == {"100"}
