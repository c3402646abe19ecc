"""The tool that pretrains lesson 14's BERT with its chosen tokens shown in several ways."""
import csv

import pytest
import torch

from helpers.pretrained.weights import SHIPPED
from helpers.text import PAD
from tools.make_weights import masking

SENTENCES = [["the file is read.", "it is closed.", "the key is returned."], ["a list is made.", "it may be empty."]] * 20


@pytest.fixture(scope="module")
def data():
    tokenizer = masking.load_tokenizer(SHIPPED / "bert")
    pairs = masking.sentence_pairs(SENTENCES, tokenizer)
    trials = list(masking.pretraining_batches(pairs, tokenizer, 64, 3, masking.MAX_LEN, seed=1))
    tagged = [(["the", "axis", "is", "given"], [0, 1, 0, 0]), (["if", "dim", "is", "0"], [0, 1, 0, 0])] * 20
    return pairs, trials, tokenizer, tagged, tagged[:10]


@pytest.mark.parametrize("shares", [(1.0, 0.0), (0.0, 1.0), (0.0, 0.0), (0.8, 0.1)])
def test_chosen_tokens_are_shown_in_the_given_shares(data, shares):
    ids, *rest = data[1][0]
    before = ids.clone()
    again, _, _, positions, labels, _ = masking.shown((ids, *rest), *shares, torch.Generator().manual_seed(0))
    real = labels != PAD
    there, wanted = again.gather(1, positions)[real], labels[real]
    assert torch.equal(ids, before)
    assert (there == masking.MASK).float().mean() == pytest.approx(shares[0], abs=0.1)
    assert ((there != masking.MASK) & (there != wanted)).float().mean() == pytest.approx(shares[1], abs=0.1)
    others = torch.ones_like(ids, dtype=torch.bool).index_put((real.nonzero()[:, 0], positions[real]), torch.tensor(False))
    assert torch.equal(again[others], ids[others])


def test_rows_that_are_there_are_kept_and_the_others_measured(data, tmp_path, monkeypatch):
    monkeypatch.setattr(masking, "TAGGING", (2, 4))
    path = tmp_path / "masking.csv"
    path.write_text(",".join(masking.COLUMNS) + "\n80 10 10,0,9.9,,,,,,\n", encoding="utf-8")
    masking.write(path, ["80 10 10", "100 0 0", "80 10 10, no NSP", "untrained", "counting"], seeds=[0], steps=2, data=data)
    with path.open(newline="", encoding="utf-8") as file:
        kept, masked, no_nsp, untrained, counting = csv.DictReader(file)
    assert kept["loss"] == "9.9" and not kept["names"]
    assert float(masked["loss_same"]) > 5 and masked["nsp"] and float(no_nsp["loss"]) > 5 and no_nsp["names_tuned"]
    assert not untrained["loss"] and untrained["names"] and (counting["names"], counting["names_tuned"]) == ("1", "")


def test_each_kind_of_token_has_its_own_loss(data):
    """A model that puts all on what is shown pays nothing at tokens that stay, and much at those that were replaced."""
    def copies(ids, lengths, segments, positions):
        there = torch.nn.functional.one_hot(ids.gather(1, positions), masking.VOCAB)
        return 50.0 * there, torch.tensor([[0.0, 1.0]] * len(ids))

    model = torch.nn.Identity()
    model.forward = copies
    found = masking.measured(model, data[1])
    assert found["loss_same"] < 1e-3 and found["loss_random"] > 40 and found["loss_mask"] > 40
    assert found["nsp"] == pytest.approx(torch.cat([batch[5] for batch in data[1]]).float().mean().item())
