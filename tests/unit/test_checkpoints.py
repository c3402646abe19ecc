"""Published checkpoints: read in every spelling, refused by name where they do not fit, written so that others read them."""
import json

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch.testing import assert_close

from helpers.bert import Bert, BertForPretraining
from helpers.pretrained import format as pretrained_format
from helpers.pretrained.format import load_bert, load_tokenizer, save_bert
from helpers.pretrained.weights import read_record
from helpers.text import BERT_SPECIAL, read_wordpiece, train_wordpiece
from reference import SIZES, batch, reference, transformers

KINDS = {"BertModel": (True, False, False), "BertForMaskedLM": (False, True, False),
         "BertForNextSentencePrediction": (True, False, True), "BertForPreTraining": (True, True, True)}
TIED, WORDS = "cls.predictions.decoder.weight", "bert.embeddings.word_embeddings.weight"
TEXTS = ["the river is wide and deep", "a wider river runs deeper", "An Été by the river: naïve 春 crossing"]


@pytest.fixture(scope="module")
def published():
    """The tensors of a checkpoint with everything, and its config.json."""
    theirs = reference("BertForPreTraining")
    tensors = {name: tensor.clone() for name, tensor in theirs.state_dict().items() if "decoder" not in name}
    return tensors, theirs.config.to_dict()


@pytest.fixture
def folder(tmp_path, published):
    write(tmp_path, *published)
    return tmp_path


def write(folder, tensors, config):
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")


def answers(model):
    ids, lengths, segments, _ = batch(SIZES[1])
    with torch.no_grad():
        x = model.bert(ids, lengths, segments)
        return torch.cat([x.flatten(), *(y.flatten() for y in model(ids, lengths, segments, segments) if y is not None)])


def parts(model):
    return model.bert.pooler is not None, model.mlm_head is not None, model.nsp_head is not None


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_in_the_file_is_there_and_nothing_else(tmp_path, kind):
    reference(kind).save_pretrained(tmp_path)
    model = load_bert(str(tmp_path))
    assert parts(model) == KINDS[kind]
    assert not model.training and {p.dtype for p in model.parameters()} == {torch.float32}
    assert all(p.requires_grad for p in model.parameters())


def test_without_a_pooler_there_is_none(tmp_path):
    reference("BertModel").save_pretrained(tmp_path)
    tensors = {name: t.clone() for name, t in load_file(tmp_path / "model.safetensors").items() if "pooler" not in name}
    save_file(tensors, tmp_path / "model.safetensors")
    assert parts(load_bert(tmp_path)) == (False, False, False)


def old(tensors):
    return {name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): tensor
            for name, tensor in tensors.items()}


@pytest.mark.parametrize("spell", [
    old,
    lambda t: t | {"bert.embeddings.position_ids": torch.arange(12).unsqueeze(0)},
    lambda t: t | {TIED: t[WORDS].clone(), "cls.predictions.decoder.bias": t["cls.predictions.bias"].clone()},
    lambda t: {name: tensor for name, tensor in t.items() if name != WORDS} | {TIED: t[WORDS].clone()},
    lambda t: {name.replace("predictions.bias", "predictions.decoder.bias"): tensor for name, tensor in t.items()},
    lambda t: {name: tensor.double() for name, tensor in t.items()},
], ids=["gamma", "position_ids", "both", "decoder.weight", "decoder.bias", "float64"])
def test_every_spelling_gives_the_same_model(tmp_path, published, spell):
    tensors, config = published
    write(tmp_path, tensors, config)
    expected = answers(load_bert(tmp_path))
    write(tmp_path, spell(tensors), config)
    assert torch.equal(answers(load_bert(tmp_path)), expected)


def test_without_the_prefix(tmp_path):
    theirs = reference("BertModel")
    theirs.save_pretrained(tmp_path)
    expected = answers(load_bert(tmp_path))
    tensors = {name: tensor.clone() for name, tensor in load_file(tmp_path / "model.safetensors").items()}
    assert not any(name.startswith("bert.") for name in tensors)
    tensors["embeddings.position_ids"] = torch.arange(12).unsqueeze(0)
    save_file(old(tensors), tmp_path / "model.safetensors")
    assert torch.equal(answers(load_bert(tmp_path)), expected)
    save_file({f"bert.{name}": tensor for name, tensor in old(tensors).items()}, tmp_path / "model.safetensors")
    assert torch.equal(answers(load_bert(tmp_path)), expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_read_into_float32(folder, published, dtype):
    tensors, config = published
    write(folder, {name: tensor.to(dtype) for name, tensor in tensors.items()}, config)
    model = load_bert(folder)
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    assert torch.equal(model.bert.embed.tokens.weight, tensors[WORDS].to(dtype).float())


@pytest.mark.parametrize(("change", "words"), [
    (lambda t: t.pop("bert.encoder.layer.1.output.dense.bias"), "Missing: bert.encoder.layer.1.output.dense.bias$"),
    (lambda t: t.pop("bert.pooler.dense.bias"), "Missing: bert.pooler.dense.bias$"),
    (lambda t: [t.pop(f"bert.pooler.dense.{end}") for end in ("weight", "bias")], "Missing: bert.pooler.dense.weight, bert.pooler"),
    (lambda t: t.pop("cls.predictions.bias"), "Missing: cls.predictions.bias$"),
    (lambda t: t.pop("cls.seq_relationship.weight"), "Missing: cls.seq_relationship.weight$"),
    (lambda t: t.update({"classifier.weight": torch.zeros(2, 24)}), "Not in the model: classifier.weight$"),
    (lambda t: t.update({"bert.encoder.layer.3.output.dense.bias": torch.zeros(24)}), "num_hidden_layers is 3, but 4 in model"),
    (lambda t: t.update({"bert.encoder.layer.2.more": torch.zeros(24)}), "Not in the model: bert.encoder.layer.2.more$"),
    (lambda t: t.update({"bert.pooler.dense.weight": torch.zeros(24, 23)}),
     r"Of another shape: bert.pooler.dense.weight \(is \[24, 23\], needs \[24, 24\]\)"),
    (lambda t: t.update({"cls.seq_relationship.bias": torch.tensor(0.0)}), r"seq_relationship.bias \(is \[\], needs \[2\]\)"),
    (lambda t: t.update({TIED: t[WORDS] + 1}), f"{TIED} differs from {WORDS}"),
    (lambda t: t.update({TIED: t[WORDS][:5].clone()}), f"{TIED} differs from {WORDS}"),
    (lambda t: t.update({"cls.predictions.decoder.bias": torch.zeros(101)}), "decoder.bias differs from cls.predictions.bias"),
    (lambda t: t.update({"bert.embeddings.LayerNorm.gamma": torch.ones(24)}), "bert.embeddings.LayerNorm.weight is there twice"),
    (lambda t: t.update({"embeddings.word_embeddings.weight": torch.ones(101, 24)}), f"{WORDS} is there twice"),
    (lambda t: t.update({"bert.pooler.dense.weight": torch.zeros(24, 24, dtype=torch.int8)}), r"weight \(is torch.int8"),
    (lambda t: t.update({"bert.pooler.dense.weight": torch.zeros(24, 24).to(torch.float8_e5m2)}), "is torch.float8_e5m2"),
    (lambda t: t.update({"bert.pooler.dense.bias": torch.full((24,), 1e300, dtype=torch.float64)}),
     "Too large.*: bert.pooler.dense.bias"),
    (lambda t: t.update({"bert.pooler.dense.bias": torch.full((24,), torch.inf)}), "cannot be used. Not finite: bert"),
])
def test_weights_that_do_not_fit_are_named(folder, published, change, words):
    tensors = {name: tensor.clone() for name, tensor in published[0].items()}
    change(tensors)
    write(folder, tensors, published[1])
    with pytest.raises(ValueError, match=words) as error:
        load_bert(folder)
    assert "model.safetensors" in str(error.value)


@pytest.mark.parametrize("damage", [
    lambda content: content[:len(content) // 2], lambda content: content[:-1], lambda content: content[:5], lambda content: b"",
    lambda content: b"PK\x03\x04" + content[4:], lambda content: content[:20] + b"\xff" * 20 + content[40:],
])
def test_a_damaged_file_is_refused(folder, damage):
    path = folder / "model.safetensors"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match="model.safetensors is damaged, or no safetensors file"):
        load_bert(folder)


@pytest.mark.parametrize(("change", "words"), [
    ({"model_type": "roberta"}, "model_type is 'roberta', but needs to be 'bert'"),
    ({"hidden_act": "relu"}, "hidden_act is 'relu', but needs to be 'gelu'"),
    ({"hidden_act": "gelu_new"}, "hidden_act is 'gelu_new'"),
    ({"position_embedding_type": "relative_key"}, "position_embedding_type is 'relative_key', but needs to be 'absolute'"),
    ({"is_decoder": True}, "is_decoder is True, but needs to be False"),
    ({"add_cross_attention": True}, "add_cross_attention is True"),
    ({"tie_word_embeddings": False}, "tie_word_embeddings is False"),
    ({"hidden_act": "relu", "is_decoder": True}, "hidden_act is 'relu', .*; is_decoder is True"),
    ({"hidden_size": None}, "hidden_size is None, but 24 in model.safetensors$"),
    ({"vocab_size": "101"}, "vocab_size is '101'"), ({"num_hidden_layers": 0}, "num_hidden_layers is 0"),
    ({"num_attention_heads": 2.0}, "num_attention_heads is 2.0"), ({"type_vocab_size": True}, "type_vocab_size is True"),
    ({"num_attention_heads": 5}, "d_model=24 does not divide into num_heads=5"),
    ({"layer_norm_eps": "small"}, "layer_norm_eps is 'small', but needs to be a number from 0 to 1"),
    ({"layer_norm_eps": -1e-12}, "layer_norm_eps is -1e-12"), ({"hidden_dropout_prob": 2}, "hidden_dropout_prob is 2"),
    ({"hidden_size": 30}, "hidden_size is 30, but 24 in model.safetensors$"),
    ({"num_hidden_layers": 2}, "num_hidden_layers is 2, but 3 in model.safetensors$"),
    ({"max_position_embeddings": 13}, "max_position_embeddings is 13, but 12 in model"),
    ({"type_vocab_size": 3, "vocab_size": 102}, "vocab_size is 102, but 101 in .*; type_vocab_size is 3, but 2 in"),
    ({"intermediate_size": 41}, "intermediate_size is 41, but 40 in model"),
])
def test_another_kind_of_model_is_refused_by_name(folder, published, change, words):
    write(folder, published[0], published[1] | change)
    with pytest.raises(ValueError, match=words) as error:
        load_bert(folder)
    assert "config.json" in str(error.value) or "does not divide" in words


@pytest.mark.parametrize("size", ["vocab_size", "hidden_size", "num_hidden_layers", "intermediate_size",
                                  "max_position_embeddings", "type_vocab_size"])
def test_nothing_is_built_of_a_size_that_the_weights_do_not_have(folder, published, monkeypatch, size):
    write(folder, published[0], published[1] | {size: 3 * 10**5})
    monkeypatch.setattr(pretrained_format, "Bert", lambda **sizes: pytest.fail("it is built"))
    monkeypatch.setattr(pretrained_format, "read_whole", lambda path: pytest.fail("its numbers are read"))
    with pytest.raises(ValueError, match=f"config.json: {size} is 300000, but"):
        load_bert(folder)


@pytest.mark.parametrize("change", [
    lambda t: t.pop(WORDS), lambda t: t.update({WORDS: torch.zeros(())}), lambda t: t.clear() or t.update(a=torch.zeros(1))])
def test_weights_without_what_shows_the_sizes_are_refused(folder, published, change):
    tensors = dict(published[0])
    change(tensors)
    write(folder, tensors, published[1])
    with pytest.raises(ValueError, match=f"Missing as a matrix: .*{WORDS}"):
        load_bert(folder)


@pytest.mark.parametrize("key", ["vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size",
                                 "max_position_embeddings", "type_vocab_size"])
def test_every_size_is_needed(folder, published, key):
    write(folder, published[0], {name: value for name, value in published[1].items() if name != key})
    with pytest.raises(ValueError, match=f"config.json: {key} is None"):
        load_bert(folder)


def test_what_a_config_need_not_say(folder, published):
    expected = answers(load_bert(folder))
    sizes = {name: value for name, value in published[1].items() if name.endswith(("_size", "_layers", "_heads", "_embeddings"))}
    sizes.pop("tie_word_embeddings")
    write(folder, published[0], sizes)
    assert torch.equal(answers(load_bert(folder)), expected)


def test_eps_and_dropout_are_read(folder, published):
    write(folder, published[0], published[1] | {"layer_norm_eps": 0.5, "hidden_dropout_prob": 0.25})
    model = load_bert(folder)
    assert model.mlm_head.norm.eps == model.bert.encoder.layers[2].residuals[1].norm.eps == 0.5
    assert model.bert.embed.dropout.p == 0.25


@pytest.mark.parametrize(("content", "words"), [
    (b"{'a': 1}", "config.json is no JSON"), (b"", "config.json is no JSON"), (b"\xff\xfe\xff", "config.json is no JSON"),
    (b"[1]", "config.json holds a list"), (b"null", "config.json holds a NoneType"),
    (b'{"a":' * 100_000, "config.json is no JSON"),
])
def test_a_config_that_is_none(folder, content, words):
    (folder / "config.json").write_bytes(content)
    with pytest.raises(ValueError, match=words):
        load_bert(folder)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_a_file_that_is_not_there(folder, name):
    (folder / name).unlink()
    (folder / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(FileNotFoundError, match=f"no {name} in .*, only .*pytorch_model.bin: a published BERT is a folder with"):
        load_bert(folder)
    with pytest.raises(FileNotFoundError, match="only nothing"):
        load_bert(folder / "nowhere")


# A folder of our own.

@pytest.fixture(scope="module")
def tokenizer():
    return train_wordpiece(TEXTS, 60)


def own(tokenizer, words=True, following=True, pooler=True, **options):
    torch.manual_seed(0)
    bert = Bert(tokenizer.get_vocab_size(), 24, 3, 40, 2, 12, dropout=0.2, pooler=pooler, **options)
    model = BertForPretraining(bert, words, following).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    return model


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_saved_is_read_by_both(tmp_path, tokenizer, kind):
    pooler, words, following = KINDS[kind]
    model = own(tokenizer, words, following, pooler)
    save_bert(model, tmp_path / "a" / "b", tokenizer, {"steps": 7})
    again = load_bert(tmp_path / "a" / "b")
    assert parts(again) == KINDS[kind] and again.bert.embed.dropout.p == 0.2
    for ours, read in zip(model.parameters(), again.parameters(), strict=True):
        assert torch.equal(ours, read)
    with safe_open(tmp_path / "a" / "b" / "model.safetensors", "pt") as file:
        assert file.metadata()["format"] == "pt"                           # not every version of theirs can do without
    assert read_record(tmp_path / "a" / "b" / "model.safetensors") == {"steps": 7}

    theirs, report = getattr(transformers, kind).from_pretrained(tmp_path / "a" / "b", output_loading_info=True)
    assert not any(report[trouble] for trouble in ("missing_keys", "unexpected_keys", "mismatched_keys"))
    assert theirs.config.architectures == [kind]
    ids, lengths, segments, mask = batch((24, 3, 40, 2, 12, 40, 2))
    said = theirs.eval()(input_ids=ids, token_type_ids=segments, attention_mask=mask.long())
    our_words, our_following = model(ids, lengths, segments, torch.arange(12).expand_as(ids))
    if kind == "BertModel":
        assert_close(model.bert(ids, lengths, segments)[mask], said.last_hidden_state[mask], atol=1e-5, rtol=0)
    if words:
        their_words = said.prediction_logits if following else said.logits
        assert_close(our_words[mask], their_words[mask], atol=1e-5, rtol=0)
    if following:
        theirs_follow = said.seq_relationship_logits if words else said.logits
        assert_close(our_following, theirs_follow.flip(1), atol=1e-5, rtol=0)


def test_links_in_the_places_of_temporary_files_are_not_followed(tmp_path, tokenizer):
    other, folder = tmp_path / "other.txt", tmp_path / "bert"
    other.write_text("to be left alone")
    folder.mkdir()
    files = ["config.json", "model.safetensors", "tokenizer_config.json", "vocab.txt"]
    for name in files:
        (folder / f"{name}.part").symlink_to(other)
    save_bert(own(tokenizer), folder, tokenizer)
    assert other.read_text() == "to be left alone" and load_tokenizer(folder) and load_bert(folder)
    assert sorted(path.name for path in folder.iterdir() if not path.is_symlink()) == files


def test_half_the_bytes(tmp_path, tokenizer):
    model = own(tokenizer)
    save_bert(model, tmp_path, tokenizer, dtype=torch.float16)
    assert {tensor.dtype for tensor in load_file(tmp_path / "model.safetensors").values()} == {torch.float16}
    again = load_bert(tmp_path)
    assert {p.dtype for p in again.parameters()} == {torch.float32}
    for ours, read in zip(model.parameters(), again.parameters(), strict=True):
        assert torch.equal(ours.half().float(), read)
    model.bert.pooler.weight.data[0, 0] = 1e6
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(ValueError, match="model.safetensors cannot be written. Not finite: bert.pooler.dense.weight"):
        save_bert(model, tmp_path, tokenizer, dtype=torch.float16)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_changed_number_of_our_own_file_is_noticed(tmp_path, tokenizer):
    save_bert(own(tokenizer), tmp_path, tokenizer)
    path = tmp_path / "model.safetensors"
    content = path.read_bytes()
    path.write_bytes(content[:-3] + bytes([content[-3] ^ 1]) + content[-2:])
    with pytest.raises(ValueError, match="model.safetensors is damaged: its numbers are not the ones that were saved"):
        load_bert(tmp_path)


def test_a_pre_norm_model_has_no_published_layout(tmp_path, tokenizer):
    with pytest.raises(ValueError, match='a published BERT has norm="post"'):
        save_bert(own(tokenizer, norm="pre"), tmp_path / "new", tokenizer)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("cased", [True, False])
@pytest.mark.parametrize("strip", [None, True, False])
def test_the_tokenizer_is_read_by_both(tmp_path, tokenizer, cased, strip):
    save_bert(own(tokenizer), tmp_path, tokenizer)
    ours = read_wordpiece(tmp_path / "vocab.txt", not cased, strip)
    save_bert(own(tokenizer), tmp_path, ours)
    theirs = transformers.BertTokenizerFast.from_pretrained(tmp_path)
    assert theirs.model_max_length == 12
    for text in TEXTS:
        assert load_tokenizer(tmp_path).encode(text).ids == theirs(text)["input_ids"] == ours.encode(text).ids


@pytest.mark.parametrize("change", [lambda lines: lines[:-1], lambda lines: [*lines, "one", "two"], lambda lines: lines[:30]])
def test_a_vocabulary_of_another_size_than_the_model_s_is_refused(tmp_path, tokenizer, change):
    save_bert(own(tokenizer), tmp_path, tokenizer)
    lines = (tmp_path / "vocab.txt").read_text(encoding="utf-8").splitlines()
    (tmp_path / "vocab.txt").write_text("\n".join(change(lines)), encoding="utf-8")
    with pytest.raises(ValueError, match=f"has {len(change(lines))} tokens, but the model of its config.json {len(lines)}"):
        load_tokenizer(tmp_path)
    (tmp_path / "config.json").unlink()
    assert load_tokenizer(tmp_path).get_vocab_size() == len(change(lines))     # a vocabulary alone is read as it is


def test_a_tokenizer_of_another_size_than_the_model_s_is_not_saved(tmp_path, tokenizer):
    with pytest.raises(ValueError, match=r"the tokenizer has \d+ tokens, but the model \d+"):
        save_bert(own(tokenizer), tmp_path / "new", train_wordpiece(TEXTS, 55))
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("said", [
    {}, {"do_lower_case": True}, {"do_lower_case": False}, {"do_lower_case": False, "strip_accents": True}])
def test_upper_case_is_kept_where_the_config_says_so(tmp_path, said):
    (tmp_path / "vocab.txt").write_text("\n".join([*BERT_SPECIAL, "River", "river", "ete", "été"]) + "\n", encoding="utf-8")
    if said:
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(said), encoding="utf-8")
    cased, strip = not said.get("do_lower_case", True), said.get("strip_accents", said.get("do_lower_case", True))
    assert load_tokenizer(tmp_path).encode("River été").ids[1:-1] == [5 if cased else 6, 7 if strip else 8]


@pytest.mark.parametrize(("said", "words"), [
    ({"tokenizer_class": "BertJapaneseTokenizer"}, "tokenizer_class is 'BertJapaneseTokenizer', but needs to be 'BertTok"),
    ({"tokenize_chinese_chars": False}, "tokenizer_config.json: tokenize_chinese_chars is False, but needs to be True"),
    ({"do_lower_case": "no"}, "do_lower_case is 'no', but needs to be True or False"),
    ({"do_lower_case": 1}, "do_lower_case is 1, but needs to be True or False"),
    ({"do_lower_case": 0.0}, "do_lower_case is 0.0, but needs to be True or False"),
    ({"strip_accents": 0}, "strip_accents is 0, but needs to be None or True or False"),
])
def test_another_tokenizer_is_refused_by_name(tmp_path, said, words):
    (tmp_path / "vocab.txt").write_text("\n".join(BERT_SPECIAL), encoding="utf-8")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(said), encoding="utf-8")
    with pytest.raises(ValueError, match=words):
        load_tokenizer(tmp_path)
    with pytest.raises(FileNotFoundError, match="no vocab.txt in"):
        load_tokenizer(tmp_path / "nowhere")
