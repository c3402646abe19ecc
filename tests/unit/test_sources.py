"""An explorer made from a model of this course and a text, or from the outputs of a model of `transformers`."""
from types import SimpleNamespace

import pytest
import torch
from tokenizers import BertWordPieceTokenizer

from helpers.bert import Bert, BertForPretraining
from helpers.hooks import maps_of, record
from helpers.masks import causal_mask
from helpers.recurrent import Seq2Seq
from helpers.text import BOS, Vocab
from helpers.transformer import GPT, Classifier, Transformer
from helpers.widgets import AttentionExplorer
from helpers.widgets.sources import read_model
from reference import transformers

SMALL = {"d_model": 16, "num_heads": 2, "d_ff": 24, "num_layers": 3}
WORDS, LETTERS = Vocab([["a", "dog", "barks"]]), Vocab(["abcdef"])
TOKENS = ["dog", "a", "barks", "a", "cat"]
PIECES = {token: i for i, token in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "dog", "bark", "##s"])}


def made(model):
    torch.manual_seed(0)
    return model().eval()


def shown(explorer):
    """The weights that the explorer sent, NaN where hidden."""
    return torch.frombuffer(bytearray(explorer.weights), dtype=torch.float32).reshape(list(explorer.shape))


def labels(explorer):
    return list(explorer.query_tokens), list(explorer.key_tokens)


def recorded(model, path, *inputs):
    """The weights [3, 2, T_q, T_k] of the three layers, whose paths are those with N as the number."""
    with record(model) as seen, torch.no_grad():
        model(*inputs)
    return torch.stack([seen[path.replace("N", str(layer)) + ".attention_weights"][0][0] for layer in range(3)])


def test_a_classifier_and_words():
    model = made(lambda: Classifier(len(WORDS), 2, **SMALL))
    explorer = AttentionExplorer.of_model(model, WORDS, TOKENS, layer=2, head=1, query=3)
    ids = torch.tensor([WORDS.encode(TOKENS)])
    assert torch.equal(shown(explorer), recorded(model, "encoder.layers.N.self_attn", ids, torch.tensor([5])))
    assert labels(explorer) == ([*TOKENS[:4], "<unk>"],) * 2
    assert (list(explorer.index), explorer.query) == ([2, 1], 3)


def test_a_gpt_and_letters():
    model = made(lambda: GPT(len(LETTERS), **SMALL))
    explorer = AttentionExplorer.of_model(model, LETTERS, "facade")
    expected = recorded(model, "decoder.layers.N.self_attn", torch.tensor([LETTERS.encode("facade")]))
    torch.testing.assert_close(shown(explorer), expected.masked_fill(~causal_mask(6), torch.nan), equal_nan=True, atol=0, rtol=0)
    assert labels(explorer) == (list("facade"),) * 2


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("text, tokens", [
    ("a dog barks", ["[CLS]", "a", "dog", "bark", "##s", "[SEP]"]),
    (("a dog", "dog"), ["[CLS]", "a", "dog", "[SEP]", "dog", "[SEP]"]),
])
def test_bert_and_its_tokenizer(text, tokens, wrapped):
    tokenizer, bert = BertWordPieceTokenizer({piece: i for i, piece in enumerate(PIECES)}), made(lambda: Bert(len(PIECES), **SMALL))
    explorer = AttentionExplorer.of_model(BertForPretraining(bert).eval() if wrapped else bert, tokenizer, text)
    found = tokenizer.encode(text) if isinstance(text, str) else tokenizer.encode(*text)
    assert torch.equal(shown(explorer), maps_of(bert, found)) and labels(explorer) == (tokens, tokens)


READ, WRITTEN = ["a", "dog", "barks"], list("bad")


@pytest.mark.parametrize("where, path, queries, keys, causal", [
    (None, "decoder.layers.N.cross_attn", [*WRITTEN, "<eos>"], READ, False),
    ("encoder", "encoder.layers.N.self_attn", READ, READ, False),
    ("decoder.*self_attn", "decoder.layers.N.self_attn", ["<bos>", *WRITTEN], ["<bos>", *WRITTEN], True),
])
def test_a_transformer_and_two_texts(where, path, queries, keys, causal):
    model = made(lambda: Transformer(len(WORDS), len(LETTERS), **SMALL))
    explorer = AttentionExplorer.of_model(model, (WORDS, LETTERS), (READ, "bad"), where)
    src, tgt = torch.tensor([WORDS.encode(READ)]), torch.tensor([[BOS, *LETTERS.encode("bad")]])
    expected = recorded(model, path, src, torch.tensor([3]), tgt)
    expected = expected.masked_fill(~causal_mask(4), torch.nan) if causal else expected
    torch.testing.assert_close(shown(explorer), expected, equal_nan=True, atol=0, rtol=0)
    assert labels(explorer) == (queries, keys)


def test_one_vocabulary_for_both_texts_and_a_recurrent_model():
    model = made(lambda: Seq2Seq(len(LETTERS), len(LETTERS), 8))
    explorer = AttentionExplorer.of_model(model, LETTERS, ("face", "cafe"))
    assert list(explorer.shape) == [1, 1, 5, 4] and labels(explorer) == ([*"cafe", "<eos>"], list("face"))


def test_the_text_may_be_typed():
    model = made(lambda: GPT(len(LETTERS), **SMALL))
    explorer = AttentionExplorer.of_texts(lambda text: read_model(model, LETTERS, text), text="face")
    explorer.texts = {"text": "bad"}
    assert list(explorer.shape) == [3, 2, 3, 3] and explorer.message == ""
    explorer.texts = {"text": ""}
    assert explorer.message == "text='': at least one token is needed"


@pytest.mark.parametrize("make, tokenizer, text, options, message", [
    (lambda: GPT(len(WORDS), **SMALL), WORDS, "a dog", {}, "a string is read as its characters, but this vocabulary has words"),
    (lambda: GPT(len(WORDS), **SMALL), WORDS, [], {}, r"text=\[\]: at least one token is needed"),
    (lambda: GPT(len(WORDS), **SMALL), WORDS, TOKENS, {"where": "cross_attn"}, "where='cross_attn' finds nothing"),
    (lambda: GPT(len(WORDS), **SMALL), WORDS, TOKENS, {"head": 2}, "head=2: this explorer has"),
    (lambda: Transformer(9, 9, **SMALL), WORDS, TOKENS, {}, r"reads a source and a target, \(source, target\)"),
    (lambda: Transformer(9, 9, **SMALL), WORDS, (TOKENS, TOKENS), {"where": "self"}, "it needs to choose one kind of"),
])
def test_of_model_refuses(make, tokenizer, text, options, message):
    with pytest.raises(ValueError, match=message):
        AttentionExplorer.of_model(made(make), tokenizer, text, **options)


def theirs(kind, attention="eager"):
    """A model of theirs, of two layers with two heads and random weights."""
    sizes = {
        "BertModel": {"hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 12, "num_hidden_layers": 2},
        "GPT2Model": {"n_embd": 8, "n_head": 2, "n_layer": 2, "bos_token_id": 0, "eos_token_id": 0},
        "T5Model": {"d_model": 8, "d_kv": 4, "d_ff": 12, "num_layers": 2, "num_heads": 2},
    }[kind]
    config = getattr(transformers, kind.replace("Model", "Config"))(vocab_size=30, attn_implementation=attention, **sizes)
    return getattr(transformers, kind)(config).eval()


def test_bert_of_transformers_hides_the_padding():
    real = torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]])
    outputs = theirs("BertModel")(torch.randint(5, 30, (2, 4)), attention_mask=real, output_attentions=True)
    for row, hidden in enumerate([[], [3]]):
        explorer = AttentionExplorer.from_transformers(outputs, list("abcd"), row=row, layer=1)
        expected = torch.stack([layer[row] for layer in outputs.attentions]).detach()
        expected[..., hidden] = torch.nan
        torch.testing.assert_close(shown(explorer), expected, equal_nan=True, atol=0, rtol=0)
        assert labels(explorer) == (list("abcd"), list("abcd")) and list(explorer.index) == [1, 0]


def test_gpt_2_of_transformers_hides_the_future():
    outputs = theirs("GPT2Model")(torch.randint(5, 30, (1, 4)), output_attentions=True)
    explorer = AttentionExplorer.from_transformers(outputs, list("abcd"))
    assert torch.equal(shown(explorer).isnan(), ~causal_mask(4).expand(2, 2, 4, 4))
    assert torch.equal(shown(explorer)[1, 1, 3], outputs.attentions[1][0, 1, 3])


@pytest.mark.parametrize("which, tokens, key_tokens", [
    ("encoder_attentions", "abcd", None), ("decoder_attentions", "xyz", None), ("cross_attentions", "xyz", "abcd")])
def test_t5_of_transformers(which, tokens, key_tokens):
    outputs = theirs("T5Model")(input_ids=torch.randint(5, 30, (1, 4)), decoder_input_ids=torch.randint(5, 30, (1, 3)),
                                output_attentions=True)
    explorer = AttentionExplorer.from_transformers(outputs, tokens, key_tokens, which)
    expected = torch.stack([layer[0] for layer in outputs[which]]).detach()
    assert torch.equal(shown(explorer).nan_to_num(0), expected)
    causal = which == "decoder_attentions"
    assert torch.equal(shown(explorer).isnan(), (~causal_mask(3)).expand_as(expected) if causal else expected.isnan())
    assert labels(explorer) == (list(tokens), list(key_tokens or tokens))
    with pytest.raises(ValueError, match="which='attentions': these outputs hold encoder_att.*, decoder_att.*, cross_att"):
        AttentionExplorer.from_transformers(outputs, tokens)


@pytest.mark.parametrize("attention, options", [("eager", {}), ("sdpa", {"output_attentions": True})])
@pytest.mark.parametrize("kind", ["BertModel", "GPT2Model"])
def test_outputs_without_weights_are_refused(kind, attention, options):
    outputs = theirs(kind, attention)(torch.randint(5, 30, (1, 4)), **options)
    with pytest.raises(ValueError, match='hold no attention weights: load .* attn_implementation="eager".*output_attentions=True'):
        AttentionExplorer.from_transformers(outputs, list("abcd"))


@pytest.mark.parametrize("layers", [None, (), (None, None), ((torch.ones(1, 2, 3, 3),),)])
def test_other_layouts_without_weights_are_refused(layers):
    with pytest.raises(ValueError, match="these outputs hold no attention weights"):
        AttentionExplorer.from_transformers(SimpleNamespace(attentions=layers), list("abc"))


@pytest.mark.parametrize("options, message", [
    ({"tokens": "ab"}, r"2 query_tokens for weights of shape \[2, 2, 3, 3\]: 3 are needed"),
    ({"row": 1}, "row=1: these outputs are of 1 texts, 0 to 0"),
    ({"which": "last"}, "which='last': these outputs hold attentions"),
])
def test_from_transformers_refuses(options, message):
    outputs = SimpleNamespace(attentions=(torch.full((1, 2, 3, 3), 1 / 3),) * 2)
    with pytest.raises(ValueError, match=message):
        AttentionExplorer.from_transformers(outputs, **{"tokens": "abc"} | options)
