"""BERT: the reference implementation to 1e-5 with the same numbers, the sizes of the paper, and what is refused."""
import itertools
import random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

from helpers.bert import Bert, BertClassifier, BertEmbedding, BertForPretraining, BertTagger, MaskedLMHead, best_span, set_eps
from helpers.hooks import record
from helpers.pretrained.format import load_bert
from reference import SIZES, batch, reference, transformers

sizes = pytest.mark.parametrize("sizes", SIZES, ids=str)
stds = pytest.mark.parametrize("std", [0.02, 0.2])
BASE, LARGE = {}, {"d_model": 1024, "num_heads": 16, "d_ff": 4096, "num_layers": 24}
THEIRS = {"hidden_size": 1024, "num_attention_heads": 16, "intermediate_size": 4096, "num_hidden_layers": 24}


@pytest.fixture
def twin(tmp_path):
    """Our model with the numbers of theirs, by way of a file."""
    def make(theirs):
        theirs.save_pretrained(tmp_path)
        return load_bert(tmp_path)
    return make


def small(**options):
    torch.manual_seed(0)
    return BertForPretraining(Bert(20, 8, 2, 12, 1, 6, **options)).eval()


def they_say(theirs, ids, segments, mask, **options):
    with torch.no_grad():
        return theirs(input_ids=ids, token_type_ids=segments, attention_mask=mask.long(), **options)


def same_where_real(ours, theirs, mask):
    assert_close(ours[mask], theirs[mask], atol=1e-5, rtol=0)


@sizes
@stds
def test_the_vectors_are_theirs(twin, sizes, std):
    theirs = reference("BertModel", sizes, std)
    model = twin(theirs).bert
    for seed in range(3):
        ids, lengths, segments, mask = batch(sizes, seed)
        said = they_say(theirs, ids, segments, mask)
        x = model(ids, lengths, segments)
        same_where_real(x, said.last_hidden_state, mask)
        assert_close(model.pool(x), said.pooler_output, atol=1e-5, rtol=0)


@sizes
@stds
def test_both_heads_are_theirs(twin, sizes, std):
    theirs = reference("BertForPreTraining", sizes, std)
    model, (ids, lengths, segments, mask) = twin(theirs), batch(sizes)
    said, every = they_say(theirs, ids, segments, mask), torch.arange(ids.shape[1]).expand_as(ids)
    mlm, nsp = model(ids, lengths, segments, every)
    same_where_real(mlm, said.prediction_logits, mask)
    assert_close(nsp.flip(1), said.seq_relationship_logits, atol=1e-5, rtol=0)      # their column 0 is "it follows"
    positions = torch.stack([torch.randperm(n)[:1].repeat(3) for n in lengths.tolist()])
    mlm, _ = model(ids, lengths, segments, positions)
    assert_close(mlm, said.prediction_logits[torch.arange(len(ids)).unsqueeze(1), positions], atol=1e-5, rtol=0)


def test_a_second_text_that_follows_is_their_label_0(twin):
    theirs = reference("BertForNextSentencePrediction")
    model, (ids, lengths, segments, mask) = twin(theirs), batch(SIZES[1])
    mlm, nsp = model(ids, lengths, segments, torch.zeros(4, 1, dtype=torch.long))
    assert mlm is None
    follows = torch.ones(4, dtype=torch.long)
    said = they_say(theirs, ids, segments, mask, labels=1 - follows)
    assert_close(nn.functional.cross_entropy(nsp, follows), said.loss, atol=1e-5, rtol=0)


def test_the_head_for_words_alone_needs_no_pooler(twin):
    theirs = reference("BertForMaskedLM")
    model, (ids, lengths, segments, mask) = twin(theirs), batch(SIZES[1])
    mlm, nsp = model(ids, lengths, segments, torch.arange(ids.shape[1]).expand_as(ids))
    same_where_real(mlm, they_say(theirs, ids, segments, mask).logits, mask)
    assert nsp is None and model.bert.pooler is None
    with pytest.raises(ValueError, match="no pooler"):
        model.bert.pool(mlm)


@pytest.mark.parametrize(("kind", "head", "ours"), [
    ("BertForSequenceClassification", "classifier", BertClassifier), ("BertForTokenClassification", "classifier", BertTagger),
    ("BertForQuestionAnswering", "qa_outputs", BertTagger),
])
def test_the_task_heads_are_theirs(twin, kind, head, ours):
    tags = 2 if head == "qa_outputs" else 5
    theirs = reference(kind, num_labels=tags)
    model, (ids, lengths, segments, mask) = ours(twin(theirs.bert).bert, tags).eval(), batch(SIZES[1])
    model.output.load_state_dict(getattr(theirs, head).state_dict())
    said = they_say(theirs, ids, segments, mask)
    scores = model(ids, lengths, segments)
    if head == "qa_outputs":
        same_where_real(scores, torch.stack([said.start_logits, said.end_logits], -1), mask)
    elif ours is BertTagger:
        same_where_real(scores, said.logits, mask)
    else:
        assert_close(scores, said.logits, atol=1e-5, rtol=0)


def test_the_gradients_are_theirs(twin):
    """Of the losses that train both: so the tied weight learns from its two uses."""
    theirs = reference("BertForPreTraining")
    model, (ids, lengths, segments, mask) = twin(theirs), batch(SIZES[1])
    goal, is_next = torch.randint(101, ids.shape), torch.tensor([0, 1, 1, 0])
    theirs(input_ids=ids, token_type_ids=segments, attention_mask=mask.long(), labels=goal.masked_fill(~mask, -100),
           next_sentence_label=1 - is_next).loss.backward()
    mlm, nsp = model(ids, lengths, segments, torch.arange(ids.shape[1]).expand_as(ids))
    (nn.functional.cross_entropy(mlm[mask], goal[mask]) + nn.functional.cross_entropy(nsp, is_next)).backward()
    for ours, their in [(model.bert.embed.tokens, theirs.bert.embeddings.word_embeddings),
                        (model.bert.pooler, theirs.bert.pooler.dense),
                        (model.bert.embed.segments, theirs.bert.embeddings.token_type_embeddings),
                        (model.mlm_head.transform, theirs.cls.predictions.transform.dense)]:
        assert_close(ours.weight.grad, their.weight.grad, atol=1e-5, rtol=1e-4)


def test_the_attention_weights_are_theirs(twin):
    theirs = reference("BertModel", attn_implementation="eager")
    model, (ids, lengths, segments, mask) = twin(theirs).bert, batch(SIZES[1])
    with record(model) as seen:
        model(ids, lengths, segments)
    said = they_say(theirs, ids, segments, mask, output_attentions=True).attentions
    assert len(seen) == len(said) == 3
    for (weights,), their in zip(seen.values(), said):
        assert_close(weights.transpose(1, 2)[mask], their.transpose(1, 2)[mask], atol=1e-5, rtol=0)


@pytest.mark.parametrize(("ours", "theirs", "millions", "within"), [(BASE, {}, 110, 0.01), (LARGE, THEIRS, 340, 0.0125)])
def test_the_sizes_of_the_paper(ours, theirs, millions, within):
    """340 million is the paper's own rounding: the large model has 335 million, and 336 with its heads."""
    with torch.device("meta"):
        model = BertForPretraining(Bert(**ours))
        config = transformers.BertConfig(**theirs)
        encoder, both = transformers.BertModel(config), transformers.BertForPreTraining(config)
    number = model_size(model)
    assert model_size(model.bert) == model_size(encoder) and number == model_size(both)
    assert number == {110: 110_106_428, 340: 336_226_108}[millions]
    assert number / 1e6 == pytest.approx(millions, rel=within)


def model_size(model):
    return sum(parameter.numel() for parameter in model.parameters())


def test_padding_changes_nothing():
    model = small().bert
    ids, lengths, segments, _ = batch((8, 2, 12, 1, 6, 20, 2))
    whole = model(ids, lengths, segments)
    for row, n in enumerate(lengths):
        alone = model(ids[row:row + 1, :n], lengths[row:row + 1], segments[row:row + 1, :n])
        assert_close(whole[row, :n], alone[0], atol=1e-5, rtol=0)


def test_without_segments_all_are_0():
    model, (ids, lengths, _, _) = small().bert, batch((8, 2, 12, 1, 6, 20, 2))
    assert torch.equal(model(ids, lengths), model(ids, lengths, torch.zeros_like(ids)))
    assert not torch.allclose(model(ids, lengths), model(ids, lengths, torch.ones_like(ids)), atol=1e-3)


def test_the_words_score_themselves_and_eps_is_berts():
    model = small()
    assert model.mlm_head.output.weight is model.bert.embed.tokens.weight
    for whole in (model, model.mlm_head, Bert(20, 8, 2, 12, 1, 6)):
        assert {norm.eps for norm in whole.modules() if isinstance(norm, nn.LayerNorm)} == {1e-12}


@pytest.mark.parametrize("wrap", [BertForPretraining, lambda bert: BertClassifier(bert, 2), lambda bert: BertTagger(bert, 2)])
def test_a_wrapped_bert_keeps_its_eps(wrap):
    bert = Bert(20, 8, 2, 12, 1, 6)
    set_eps(bert, 1e-3)
    assert {norm.eps for norm in wrap(bert).modules() if isinstance(norm, nn.LayerNorm)} == {1e-3}


@pytest.mark.parametrize(("positions", "message"), [
    ([[0, 3], [1, 1]], "positions from 0 to 3: this text has 0 to 2"),
    ([[0, -1], [1, 1]], "positions from -1 to 1: this text has 0 to 2"),
    ([[0, 1]], r"positions of shape \[1, 2\] .* they need to be integers \(torch.int64\), \[2, P\]"),
    ([[0], [1], [2]], r"positions of shape \[3, 1\]"),
    ([0, 1], r"positions of shape \[2\]"),
    ([[0.0, 1.0], [1.0, 1.0]], "dtype torch.float32"),
])
def test_positions_beyond_the_text_are_refused_and_do_not_wrap_round(positions, message):
    ids, lengths = torch.full((2, 3), 5), torch.tensor([3, 2])
    with pytest.raises(ValueError, match=message):
        small()(ids, lengths, torch.zeros_like(ids), torch.tensor(positions))


@pytest.mark.parametrize(("act", "message"), [
    (lambda m: m.bert(torch.tensor([[20]]), torch.tensor([1])), "ids from 20 to 20: the table has rows for 0 to 19"),
    (lambda m: m.bert(torch.zeros(1, 7, dtype=torch.long), torch.tensor([7])), "positions 0 to 6: this table has rows for 0 to 5"),
    (lambda m: m.bert(torch.tensor([[2, 3]]), torch.tensor([2]), torch.tensor([[0, 2]])), "segments from 0 to 2: .* for 0 to 1"),
    (lambda m: m.bert(torch.tensor([[2, 3]]), torch.tensor([2]), torch.tensor([[0, -1]])), "segments from -1 to 0"),
    (lambda m: m.bert(torch.tensor([[2, 3]]), torch.tensor([2]), torch.tensor([0, 1])), r"segments of shape \[2\] .* \[1, 2\]"),
    (lambda m: m.bert(torch.tensor([[2, 3]]), torch.tensor([2]), torch.tensor([[0.0, 1.0]])), "segments of .* dtype torch.float32"),
    (lambda m: m.bert(torch.tensor([[2, 3]]), torch.tensor([3])), "lengths"),
    (lambda m: m.bert(torch.tensor([[2, 3]]), torch.tensor([0])), "lengths"),
    (lambda m: Bert(20, 10, 4), "d_model=10 does not divide into num_heads=4"),
    (lambda m: Bert(20, 8, 2, norm="both"), "norm='both'"),
])
def test_what_does_not_fit_is_refused(act, message):
    with pytest.raises(ValueError, match=message):
        act(small())


def test_pre_norm_by_argument():
    model = small(norm="pre")
    assert model.bert.encoder.layers[0].residuals[0].norm_first and isinstance(model.bert.encoder.norm, nn.LayerNorm)
    assert model.bert.encoder.norm.eps == 1e-12


def test_the_acceptance_shapes():
    """Two rows of eight; positions [[1, 5, 2], [6, 1, 5]] of 10,000 tokens; two logits for each pair."""
    tokens = nn.Embedding(10_000, 16)
    x, positions = torch.randn(2, 8, 16), torch.tensor([[1, 5, 2], [6, 1, 5]])
    head = MaskedLMHead(tokens)
    assert head(x, positions).shape == (2, 3, 10_000)
    assert_close(head(x, positions)[1, 0], head(x[1:], torch.tensor([[6]]))[0, 0], atol=1e-4, rtol=0)
    embed = BertEmbedding(10_000, 16, 8)
    assert embed(torch.zeros(2, 8, dtype=torch.long), torch.zeros(2, 8, dtype=torch.long)).shape == (2, 8, 16)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.data())
def test_the_best_span_is_the_best_of_all(data):
    T = data.draw(st.integers(1, 9))
    rng = random.Random(data.draw(st.integers(0, 10_000)))
    scores = [[rng.gauss(0, 1), rng.gauss(0, 1)] for _ in range(T)]
    allowed = [rng.random() < 0.7 for _ in range(T)]
    allowed[rng.randrange(T)] = True
    most = data.draw(st.one_of(st.none(), st.integers(1, 10)))
    spans = [(i, j) for i, j in itertools.product(range(T), repeat=2)
             if i <= j and allowed[i] and allowed[j] and (most is None or j - i < most)]
    best = max(spans, key=lambda span: scores[span[0]][0] + scores[span[1]][1])
    assert best_span(torch.tensor(scores, dtype=torch.float64), torch.tensor(allowed), most) == best


@pytest.mark.parametrize(("scores", "allowed", "most", "message"), [
    (torch.zeros(3, 2), torch.zeros(3, dtype=torch.bool), None, "0 of 3 tokens allowed"),
    (torch.zeros(3, 3), torch.ones(3, dtype=torch.bool), None, r"logits \[3, 3\]"),
    (torch.zeros(1, 3, 2), torch.ones(3, dtype=torch.bool), None, r"logits \[1, 3, 2\]"),
    (torch.zeros(3, 2), torch.ones(2, dtype=torch.bool), None, r"logits \[3, 2\], 2 of 2"),
    (torch.zeros(3, 2), torch.ones(3, dtype=torch.bool), 0, "max_len=0"),
    (torch.zeros(3, 2), torch.ones(3, dtype=torch.bool), -1, "max_len=-1"),
])
def test_a_span_that_cannot_be_is_refused(scores, allowed, most, message):
    with pytest.raises(ValueError, match=message):
        best_span(scores, allowed, most)
