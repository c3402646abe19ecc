"""The classifier: torch's encoder, padding that changes nothing, both poolings, and what is refused."""
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

from helpers.hooks import record
from helpers.masks import padding_mask
from helpers.text import Vocab, labelled_batches, pad
from helpers.training import train
from helpers.transformer import Classifier, mean_pool
from test_transformer import share_weights, twins_of_stack

quick = settings(max_examples=20, deadline=None, derandomize=True)
poolings = pytest.mark.parametrize("pooling", ["cls", "mean"])


@poolings
@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_its_logits_are_those_of_torchs_encoder(pooling, norm):
    torch.manual_seed(0)
    ours = Classifier(30, 3, 16, 2, 24, num_layers=2, dropout=0.0, norm=norm, pooling=pooling)
    layer = nn.TransformerEncoderLayer(16, 2, 24, dropout=0.0, batch_first=True, norm_first=norm == "pre")
    theirs = nn.TransformerEncoder(layer, 2, nn.LayerNorm(16) if norm == "pre" else None)
    share_weights(theirs, ours.encoder, twins_of_stack)
    ids, lengths = torch.randint(4, 30, (3, 7)), torch.tensor([7, 4, 1])
    x = theirs(ours.embed(ids), src_key_padding_mask=torch.arange(7) >= lengths[:, None])
    vectors = x[:, 0] if pooling == "cls" else torch.stack([row[:n].mean(0) for row, n in zip(x, lengths)])
    assert_close(ours(ids, lengths), ours.output(vectors), atol=1e-5, rtol=0)


@quick
@given(st.lists(st.lists(st.integers(4, 19), min_size=1, max_size=9), min_size=1, max_size=5), st.sampled_from(["cls", "mean"]))
def test_a_sentence_has_the_same_logits_alone_and_in_any_batch(sentences, pooling):
    torch.manual_seed(0)
    model = Classifier(20, 3, 8, 2, 16, num_layers=2, pooling=pooling).eval()
    together = model(*pad(sentences))
    assert together.shape == (len(sentences), 3)
    for row, sentence in zip(together, sentences):
        assert_close(model(*pad([sentence]))[0], row, atol=1e-5, rtol=0)


@poolings
def test_what_is_behind_the_length_is_not_read(pooling):
    torch.manual_seed(0)
    model = Classifier(20, 3, 8, 2, 16, pooling=pooling).eval()
    ids, lengths = torch.randint(4, 20, (2, 6)), torch.tensor([3, 6])
    other = ids.clone()
    other[0, 3:] = 5
    assert torch.equal(model(ids, lengths), model(other, lengths))


def test_the_mean_is_over_real_tokens():
    x = torch.tensor([[[1.0, 2.0], [3.0, 4.0], [9.0, 9.0]], [[1.0, 0.0], [9.0, 9.0], [9.0, 9.0]]])
    mask = padding_mask(torch.tensor([2, 1]), 3)
    assert mean_pool(x, mask).tolist() == [[2.0, 3.0], [1.0, 0.0]]


def test_each_pooling_reads_what_it_says():
    torch.manual_seed(0)
    model = Classifier(20, 3, 8, 2, 16).eval()
    ids, lengths = torch.tensor([[4, 5, 6]]), torch.tensor([3])
    x = model.encoder(model.embed(ids), padding_mask(lengths, ids.shape[1]))
    assert_close(model(ids, lengths), model.output(x[:, 0]))
    model.pooling = "mean"
    assert_close(model(ids, lengths), model.output(x.mean(1)))


@poolings
def test_order_counts_unlike_in_a_bag(pooling):
    torch.manual_seed(0)
    model = Classifier(20, 2, 8, 2, 16, pooling=pooling).eval()
    one, other = (model(torch.tensor([ids]), torch.tensor([4])) for ids in ([4, 5, 6, 7], [4, 7, 6, 5]))
    assert (one - other).abs().max() > 1e-4


def test_it_learns_from_labelled_batches_and_its_attention_can_be_recorded():
    torch.manual_seed(0)
    vocab = Vocab([["<cls>", "good", "bad", "film", "a"]])
    examples = [(vocab.encode(["<cls>", "a", word, "film"][:n] + [word]), int(word == "good"))
                for word in ("good", "bad") for n in (1, 2, 4)]
    model = Classifier(len(vocab), 2, 16, 2, 16, dropout=0.0)
    train(model, labelled_batches(examples, 3, 60), lambda m, ids, n, y: F.cross_entropy(m(ids, n), y), 1e-2)
    ids, lengths = pad([ids for ids, _ in examples])
    with record(model) as seen:
        assert model(ids, lengths).argmax(-1).tolist() == [label for _, label in examples]
    weights, = seen["encoder.layers.0.self_attn.attention_weights"]
    assert weights.shape == (6, 2, 5, 5)


@pytest.mark.parametrize("act, message", [
    (lambda: Classifier(20, 3, pooling="max"), 'pooling=\'max\': it needs to be "cls" or "mean"'),
    (lambda: Classifier(20, 3, norm="both"), "norm='both'"),
    (lambda: Classifier(20, 3, 10, 4), "d_model=10 does not divide into num_heads=4 equal heads"),
    (lambda: Classifier(20, 3)(torch.tensor([[4, 5]]), torch.tensor([0])), r"lengths \[0\]: each needs to be from 1 to T_k=2"),
    (lambda: Classifier(20, 3)(torch.tensor([[4, 20]]), torch.tensor([2])), "the table has rows for 0 to 19"),
])
def test_what_does_not_fit_is_refused(act, message):
    with pytest.raises(ValueError, match=message):
        act()
