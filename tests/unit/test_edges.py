"""What enters at the edges: it works, or it is refused in words that say what came and what was needed.

Sizes, dtypes and values of the models and of what they are made of. Files have their edges in test_faults.py, test_checkpoints.py,
test_weights.py and test_published.py, pictures in test_plots.py, labs in test_widgets.py, torch's tools in test_compile.py.
"""
import copy
import re

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from helpers.attention import AdditiveAttention, BilinearAttention, DotProductAttention, MultiHeadAttention
from helpers.bert import Bert, BertClassifier, BertForPretraining, BertTagger, best_span
from helpers.finetuning import accuracy, collate, predict
from helpers.generation import answers, beam_search, greedy, next_token_probs, sample, stream, translate
from helpers.masks import causal_mask, masked_softmax
from helpers.ngrams import NGrams
from helpers.positions import LearnedPositions, SinusoidalPositions, alibi_bias, rotate, sinusoids
from helpers.pretraining.objectives import mask_tokens
from helpers.recurrent import Seq2Seq
from helpers.text import Vocab, pad, train_wordpiece, windows
from helpers.training import one_cycle
from helpers.transformer import GPT, Classifier, DecoderLayer, Embedding, EncoderLayer, FeedForward, KVCache, Transformer

torch.manual_seed(0)
B, T = 2, 3
IDS, LENGTHS = torch.tensor([[4, 5, 6], [7, 8, 0]]), torch.tensor([3, 2])
X, ALL = torch.randn(B, T, 8), torch.ones(4, dtype=torch.bool)
TRANSFORMER, RNN = Transformer(9, 9, 8, 2, 12, 1).eval(), Seq2Seq(9, 9, 8).eval()
LM, CLASSIFIER = GPT(9, 8, 2, 12, 1).eval(), Classifier(9, 3, 8, 2, 12).eval()
BERT = Bert(9, 8, 2, 12, 1, 6).eval()
PRETRAINED = BertForPretraining(BERT).eval()
SEGMENTS, POSITIONS = torch.zeros_like(IDS), torch.tensor([[1], [0]])
NONE = torch.zeros(0, T, dtype=torch.long)


def likeliest(logits):
    return logits.argmax(-1)


def refused(act, error, message):
    with pytest.raises(error, match=message):
        act()


# The models

READS = {                                                    # what takes ids in their place
    "Transformer, source": lambda ids: TRANSFORMER(ids, LENGTHS, IDS),
    "Transformer, target": lambda ids: TRANSFORMER(IDS, LENGTHS, ids),
    "Seq2Seq, source": lambda ids: RNN(ids, LENGTHS, IDS),
    "Seq2Seq, target": lambda ids: RNN(IDS, LENGTHS, ids),
    "GPT": LM,
    "Classifier": lambda ids: CLASSIFIER(ids, LENGTHS),
    "Bert": lambda ids: BERT(ids, LENGTHS),
    "Bert, segments": lambda ids: BERT(IDS, LENGTHS, torch.zeros_like(ids)),
    "Bert, positions": lambda ids: PRETRAINED(IDS, LENGTHS, SEGMENTS, torch.zeros_like(ids)),
    "mask_tokens": lambda ids: mask_tokens(ids, {0}, 3, 9, generator=torch.Generator().manual_seed(0)),
}


@pytest.mark.parametrize("name", READS)
def test_integers_of_32_and_64_bits_are_ids_and_no_others(name):
    torch.testing.assert_close(READS[name](IDS.int()), READS[name](IDS), check_dtype=False)
    for dtype in (torch.uint8, torch.int8, torch.int16, torch.bool, torch.float32):
        with pytest.raises(ValueError, match=f"dtype {dtype}: they need to be integers"):
            READS[name](IDS.to(dtype))


@pytest.mark.parametrize("name", [name for name in READS if not name.startswith("Bert")])
def test_a_list_is_no_tensor_of_ids(name):
    refused(lambda: READS[name](IDS.tolist()), ValueError, "ids|tgt.* list: they need to be integers")


@pytest.mark.parametrize(("act", "message"), [
    (lambda: TRANSFORMER.step(IDS[:1], TRANSFORMER.start(IDS, LENGTHS)), r"ids of shape \[1, 3\].*\[2, T\]"),
    (lambda: RNN(NONE, LENGTHS[:0], NONE), "rows=0: each needs to be at least 1"),
    (lambda: RNN(IDS, LENGTHS, IDS[:, :0]), "tokens=0: each needs to be at least 1"),
    (lambda: RNN(IDS, LENGTHS, IDS[[0, 1, 0]]), r"tgt of shape \[3, 3\].*need to be integers \(torch.int64\), \[2, T\]"),
    (lambda: RNN(IDS, LENGTHS, IDS[:1]), r"tgt of shape \[1, 3\]"),
    (lambda: TRANSFORMER(IDS, LENGTHS, IDS[[0, 1, 0]]), "all axes before the last two must be the same"),
    (lambda: PRETRAINED(IDS, LENGTHS, SEGMENTS, POSITIONS + 6), "positions from 6 to 7: this text has 0 to 2"),
    (lambda: PRETRAINED(IDS, LENGTHS, SEGMENTS, POSITIONS[:1]), r"positions of shape \[1, 1\].*\[2, P\]"),
    (lambda: mask_tokens(torch.zeros(2, 3).long(), {0}, 3, 9), "row 0 has no token to mask"),
    (lambda: mask_tokens(NONE, {0}, 3, 9), "rows=0: each needs to be at least 1"),
    (lambda: mask_tokens(IDS[0], {0}, 3, 9), r"ids of shape \[3\].*\[B, T\]"),
    (lambda: mask_tokens(IDS, {0}, 3, 8), "ids from 0 to 8: the vocabulary has 0 to 7"),
    (lambda: FeedForward(8, 12)(X[..., 1:]), r"x has shape \[2, 3, 7\]: it needs to be \[..., T, 8\]"),
    (lambda: EncoderLayer(8, 2, 12)(X[..., 1:]), r"x has shape \[2, 3, 7\]: it needs to be \[..., T, 8\]"),
    (lambda: EncoderLayer(8, 2, 12, norm="post")(X[..., 1:]), r"x has shape \[2, 3, 7\]"),
    (lambda: DecoderLayer(8, 2, 12)(X[..., 1:], X), r"x has shape \[2, 3, 7\]"),
    (lambda: DecoderLayer(8, 2, 12)(X, X[..., 1:]), r"\[2, 3, 7\].*they need to be \[B, T, 8\]"),
])
def test_a_wrong_shape_is_refused(act, message):
    refused(act, ValueError, message)


@pytest.mark.parametrize("num_layers", [0, -1])
@pytest.mark.parametrize("make", [
    lambda n: Transformer(9, 9, 8, 2, 12, n), lambda n: GPT(9, 8, 2, 12, n), lambda n: Classifier(9, 3, 8, 2, 12, n),
    lambda n: Bert(9, 8, 2, 12, n), lambda n: Seq2Seq(9, 9, 8, n)])
def test_no_model_is_without_layers(make, num_layers):
    refused(lambda: make(num_layers), ValueError, "num_layers=(0|-1): each needs to be at least 1")


SIZES = {                                                    # of what is made, and what makes it of such a size
    "d_ff": [lambda n: Transformer(9, 9, 8, 2, n), lambda n: GPT(9, 8, 2, n), lambda n: Bert(9, 8, 2, n),
             lambda n: FeedForward(8, n)],
    "d_model": [lambda n: FeedForward(n, 8), lambda n: Embedding(9, n), lambda n: LearnedPositions(5, n), lambda n: Bert(9, n, 2),
                lambda n: Seq2Seq(9, 9, n), lambda n: Seq2Seq(9, 9, n, bidirectional=False)],
    "d_embed": [lambda n: Seq2Seq(9, 9, 8, d_embed=n)],
    "vocab_size": [lambda n: Transformer(n, 9, 8, 2), lambda n: Transformer(9, n, 8, 2), lambda n: GPT(n, 8, 2),
                   lambda n: Bert(n, 8, 2), lambda n: Classifier(n, 3, 8, 2), lambda n: Seq2Seq(n, 9, 8),
                   lambda n: Seq2Seq(9, n, 8)],
    "num_classes": [lambda n: Classifier(9, n, 8, 2), lambda n: BertClassifier(BERT, n), lambda n: BertTagger(BERT, n)],
    "max_len": [lambda n: Bert(9, 8, 2, max_len=n), lambda n: LearnedPositions(n, 8)],
    "num_segments": [lambda n: Bert(9, 8, 2, num_segments=n)],
}


@pytest.mark.parametrize("size", [0, -2, 8.0, None])
@pytest.mark.parametrize(("name", "make"), [(name, make) for name, makers in SIZES.items() for make in makers])
def test_nothing_is_made_of_a_size_that_is_none(name, make, size):
    if (name, size) == ("d_embed", None):
        assert make(size)                                    # as large as d_model then
    elif size is None and make in SIZES["d_model"][-2:-1]:
        refused(lambda: make(size), TypeError, "NoneType")   # which has no half
    else:
        refused(lambda: make(size), ValueError, f"{name}={size}.*: each needs to be at least 1, and whole")


@pytest.mark.parametrize("order", [0, -1, 10])
def test_n_grams_have_a_token_and_no_more_than_the_text(order):
    refused(lambda: NGrams(torch.arange(9), 9, order), ValueError, f"order={order} for 9 ids: it needs to be from 1 to 9")


def test_batches_without_rows_pass():
    for read in (LM, lambda ids: TRANSFORMER(ids, LENGTHS[:0], ids), lambda ids: BERT(ids, LENGTHS[:0])):
        assert read(NONE).shape[:2] == (0, T)


# Attention, masks, positions

ATTENTIONS = [DotProductAttention(), BilinearAttention(8, 8), AdditiveAttention(8, 8, 4), MultiHeadAttention(8, 2)]
OTHERS = [torch.float16, torch.bfloat16, torch.float64, torch.int64, torch.bool, torch.complex64]


@pytest.mark.parametrize("attention", ATTENTIONS, ids=lambda attention: type(attention).__name__)
@pytest.mark.parametrize("dtype", OTHERS, ids=str)
def test_query_key_value_and_weights_have_one_floating_dtype(attention, dtype):
    for name, inputs in (("query", (X.to(dtype), X, X)), ("key", (X, X.to(dtype), X)), ("value", (X, X, X.to(dtype)))):
        with pytest.raises(TypeError, match=f"{name} is {dtype}.*floating point is needed, of one dtype"):
            attention(*inputs)
    layer, x = copy.deepcopy(attention), X.to(dtype)
    if list(layer.parameters()) or not dtype.is_floating_point:
        refused(lambda: layer(x, x, x), TypeError, f"value is {dtype}")
    if dtype.is_floating_point:
        assert layer.to(dtype)(x, x, x).dtype == dtype


@pytest.mark.parametrize("attention", ATTENTIONS, ids=lambda attention: type(attention).__name__)
def test_autocast_mixes_dtypes(attention):
    with torch.autocast("cpu", torch.bfloat16):
        assert attention(X, X.bfloat16(), X.bfloat16()).shape == X.shape


@pytest.mark.parametrize("dtype", [torch.int64, torch.int8, torch.bool, torch.complex64], ids=str)
def test_scores_are_floating_point(dtype):
    for mask in (None, torch.ones(2, 2, dtype=torch.bool)):
        with pytest.raises(TypeError, match=f"scores is {dtype}: floating point is needed"):
            masked_softmax(torch.ones(2, 2, dtype=dtype), mask)


@pytest.mark.parametrize("positions", [SinusoidalPositions(8), LearnedPositions(5, 8)], ids=["sinusoidal", "learned"])
def test_vectors_of_another_size_are_not_widened(positions):
    for x in (X[..., :1], X[..., :4], X[0, 0]):
        with pytest.raises(ValueError, match=re.escape(f"x has shape {list(x.shape)}: it needs to be [..., T, 8]")):
            positions(x)
    assert positions(X[0]).shape == (T, 8)


@pytest.mark.parametrize("base", [0, -1, -2.5, float("nan")])
def test_a_base_is_above_0(base):
    refused(lambda: sinusoids(3, 4, base=base), ValueError, f"d=4, base={base}: .*base above 0")
    refused(lambda: rotate(X, base=base), ValueError, f"d=8, base={base}")


@pytest.mark.parametrize(("act", "message"), [
    (lambda: collate([]), "examples=0: each needs to be at least 1"),
    (lambda: accuracy([], []), "examples=0: each needs to be at least 1"),
    (lambda: predict(BERT, [([4], [0], 0)], batch_size=0), "batch_size=0: each needs to be at least 1"),
    (lambda: predict(BERT, [([4], [0], 0)], batch_size=-1), "batch_size=-1: each needs to be at least 1"),
    (lambda: train_wordpiece(["a b"], -1), "vocab_size=-1: each needs to be at least 1"),
    (lambda: train_wordpiece(["a b"], 1.5), "vocab_size=1.5: each needs to be at least 1, and whole"),
    *((lambda penalty=penalty: beam_search(TRANSFORMER, IDS, LENGTHS, 4, length_penalty=penalty),
       f"length_penalty={penalty}: it needs to be a finite number") for penalty in (torch.nan, torch.inf, -torch.inf)),
])
def test_what_leaves_nothing_to_compute_is_refused(act, message):
    refused(act, ValueError, message)


@pytest.mark.parametrize("act", [
    lambda: causal_mask(-1), lambda: causal_mask(2, -1), lambda: causal_mask(1.5),
    lambda: sinusoids(-1, 4), lambda: sinusoids(1.5, 4), lambda: SinusoidalPositions(4, max_len=-1),
    lambda: alibi_bias(-1, 2), lambda: alibi_bias(2, -1), lambda: alibi_bias(2, 2, -1)])
def test_sizes_below_0_are_refused(act):
    refused(act, ValueError, r"=(-1|1\.5).*: each needs to be at least 0, and whole")


def test_sizes_of_0_give_what_is_empty():
    assert causal_mask(0).shape == (0, 0) and causal_mask(3, 0).shape == (3, 0)
    assert sinusoids(0, 4).shape == (0, 4) and alibi_bias(2, 4, 2).shape == (2, 4, 2)


@pytest.mark.parametrize("read", [lambda lengths: RNN(IDS, lengths, IDS), lambda lengths: TRANSFORMER(IDS, lengths, IDS),
                                  lambda lengths: BERT(IDS, lengths), lambda lengths: CLASSIFIER(IDS, lengths)])
@pytest.mark.parametrize("lengths", [None, [3, 2], torch.tensor([3.0, 2.0])])
def test_lengths_are_integers_in_a_tensor(read, lengths):
    refused(lambda: read(lengths), TypeError, "lengths is .*: it needs to be a tensor of integers")


# Schedules

@pytest.mark.parametrize("steps", [0, -1, 1.5, float("nan"), None])
def test_a_schedule_has_steps(steps):
    refused(lambda: one_cycle(steps), ValueError, f"={steps}: each needs to be at least 1, and whole")


@pytest.mark.parametrize("warm", [0, 0.3, 1])
def test_one_cycle_stays_at_its_end(warm):
    values = [one_cycle(10, warm)(step) for step in range(15)]
    assert 0 < max(values) <= 1 and min(values) >= 0 and set(values[9:]) == {float(warm == 1)}


# Generation

def spoiled(model):
    model = copy.deepcopy(model)
    for parameter in model.parameters():
        nn.init.constant_(parameter, torch.nan)
    return model


WRITES = {
    "greedy": lambda model: greedy(model, KVCache(), IDS, 4),
    "sample": lambda model: sample(model, KVCache(), IDS, 4),
    "stream": lambda model: list(stream(model, IDS, 4, 6, likeliest)),
    "answers": lambda model: answers(model, [[4, 5]], 6),
    "translate": lambda model: translate(model, IDS, LENGTHS, 4),
    "beam_search": lambda model: beam_search(model, IDS, LENGTHS, 4),
}


@pytest.mark.parametrize(("name", "model"), [
    *((name, LM) for name in ("greedy", "sample", "stream", "answers")),
    *((name, model) for name in ("translate", "beam_search") for model in (TRANSFORMER, RNN))])
def test_a_model_of_nan_writes_nothing(name, model):
    assert len(WRITES[name](model))
    refused(lambda: WRITES[name](spoiled(model)), ValueError, "logits are NaN or infinite: the model's weights are spoiled")


@pytest.mark.parametrize("value", [torch.nan, torch.inf, -torch.inf])
def test_no_span_is_best_among_numbers_that_are_none(value):
    refused(lambda: best_span(torch.full((4, 2), value), ALL), ValueError, "logits are NaN or infinite")


@pytest.mark.parametrize("dtype", [torch.int64, torch.float32])
def test_where_an_answer_may_lie_is_boolean(dtype):
    refused(lambda: best_span(torch.randn(4, 2), ALL.to(dtype)), ValueError, f"{dtype}: logits need .* allowed, torch.bool")


@pytest.mark.parametrize("act", [
    lambda: greedy(LM, KVCache(), IDS[:, :0], 4), lambda: sample(LM, KVCache(), IDS[:, :0], 4),
    lambda: list(stream(LM, IDS[:, :0], 4, 6, likeliest)), lambda: greedy(RNN, RNN.start(IDS, LENGTHS), IDS[:, :0], 4)])
def test_an_empty_prompt_is_refused(act):
    refused(act, ValueError, "tokens=0.*: each needs to be at least 1")


@pytest.mark.parametrize("act", [
    lambda: beam_search(TRANSFORMER, NONE, LENGTHS[:0], 4), lambda: beam_search(RNN, NONE, LENGTHS[:0], 4),
    lambda: translate(TRANSFORMER, NONE, LENGTHS[:0], 4), lambda: beam_search(RNN, IDS, LENGTHS, 0),
    lambda: list(stream(LM, IDS, 4, 0, likeliest))])
def test_no_rows_and_no_room_are_refused(act):
    refused(act, ValueError, "=0.*: each needs to be at least 1")


@pytest.mark.parametrize("context", range(1, 6))
def test_a_stream_never_reads_more_than_its_context(context):
    read = []

    class Model:
        def step(self, ids, cache):
            cache.length += ids.shape[1]
            read.append(cache.length)
            return torch.zeros(B, ids.shape[1], 9)

    assert len(list(stream(Model(), IDS, 12, context, likeliest))) == 12
    assert max(read) == context


LOGITS, ONE_HIDDEN = torch.tensor([[0.0, 1.0, 2.0]]), torch.tensor([[0.0, -torch.inf, 2.0]])


@pytest.mark.parametrize(("logits", "temperature"), [
    (LOGITS, float("nan")), (LOGITS * 1000, 1e-38), (LOGITS, 1e-45), (LOGITS, 5e-324), (ONE_HIDDEN, float("inf")),
    (ONE_HIDDEN, 1e300), (LOGITS.half(), 1e-5), (LOGITS - torch.inf, 1.0), (LOGITS * torch.nan, 1.0)])
def test_a_temperature_that_leaves_no_distribution_is_refused(logits, temperature):
    refused(lambda: next_token_probs(logits, temperature), ValueError, "temperature")


def test_extreme_temperatures_that_can_work_do():
    for logits in (LOGITS, ONE_HIDDEN):
        assert_close(next_token_probs(logits, 1e-38), torch.tensor([[0.0, 0.0, 1.0]]))
    assert_close(next_token_probs(LOGITS, float("inf")), torch.full((1, 3), 1 / 3))
    assert_close(next_token_probs(ONE_HIDDEN, 1e38), torch.tensor([[0.5, 0.0, 0.5]]))


@pytest.mark.parametrize(("model", "start"), [(LM, KVCache), (TRANSFORMER, lambda: TRANSFORMER.start(IDS, LENGTHS))])
@pytest.mark.parametrize("rows", [[0], [0, 1, 0]])
def test_a_cache_goes_on_with_its_own_batch_and_loses_nothing_by_another(model, start, rows):
    """The cache of a Transformer has its rows from the source, that of a GPT from its first tokens; later from those selected."""
    cache, untouched = start(), start()
    for each in (cache, untouched):
        model.step(IDS, each)
    refused(lambda: model.step(IDS[rows, :1], cache), ValueError, rf"ids of shape \[{len(rows)}, 1\].*\[2, T\]")
    assert_close(model.step(IDS, cache), model.step(IDS, untouched))
    cache.select(torch.tensor(rows))
    assert model.step(IDS[rows], cache).shape == (len(rows), T, 9)


def test_a_cache_keeps_rows_with_and_without_a_mask():
    rows = torch.tensor([1, 1, 0])
    for mask in (None, torch.ones(B, 1, T, dtype=torch.bool)):
        cache = KVCache(X, mask)
        cache.select(rows)
        assert_close(cache.memory, X[rows])
        assert (cache.memory_mask is None) == (mask is None)


# Tokens

@pytest.mark.parametrize("rows", [[[1.7, 2.2]], [[1], [2.0]], [torch.tensor([1.5])], [["a"]], [[None]], [1, 2], [[[1]]]])
def test_ids_are_not_rounded(rows):
    refused(lambda: pad(rows), TypeError, "integer|iterable")


@pytest.mark.parametrize("ids", [[4.7], [4.0], torch.tensor([4.7]), ["4"], [float("nan")], [None]])
def test_ids_are_not_rounded_to_be_decoded(ids):
    refused(lambda: Vocab([["a", "b"]]).decode(ids), TypeError, "integer")


def test_ids_that_are_whole_are_padded():
    ids, lengths = pad([torch.tensor([4, 5]), [], (6,)])
    assert ids.tolist() == [[4, 5], [0, 0], [6, 0]] and lengths.tolist() == [2, 0, 1]


@pytest.mark.parametrize("length", [-1, 0, 5])
def test_windows_hold_a_token_and_its_target(length):
    refused(lambda: next(windows(torch.arange(5), length, 1, 1)), ValueError, rf"a text of 5 tokens: more than length={length} are")


@pytest.mark.parametrize("sizes", [(2, 0), (2, -1), (2, 1.5), (1.5, 2)])
def test_windows_and_their_batches_have_a_size(sizes):
    refused(lambda: next(windows(torch.arange(5), *sizes, 1)), ValueError, "length=.*batch_size=.*: each needs to be at least 1")


@pytest.mark.parametrize("i", [-1, 6, 99])
def test_an_id_that_is_none_is_not_decoded(i):
    refused(lambda: Vocab([["a", "b"]]).decode([4, i]), ValueError, f"id {i}: this vocabulary has the ids 0 to 5")
