"""The published all-MiniLM-L6-v2 in our classes is the reference's, piece by piece; and what lesson 16 computes from it."""
import ast
import re

import pytest
import torch
import torch.nn.functional as F

from helpers.bert import sentence_vectors
from helpers.hooks import maps_of, record
from helpers.masks import padding_mask
from helpers.pretrained.download import fetch_bert
from helpers.pretrained.format import load_bert, load_tokenizer
from helpers.text import pad
from helpers.widgets import AttentionExplorer
from reference import transformers
from tests.notebooks import ROOT, code_cells, read, text_cells

WORDS = "the crane lifted a steel beam over the lake while two birds flew away and the children watched from the old bridge".split()
SENTENCES = [
    *(" ".join(WORDS[:n]) for n in range(1, len(WORDS), 2)), "Yes.", "", "Is it going to rain tomorrow?", "HELLO, WORLD!!!",
    "Zürich – naïve café", "北京是中国的首都。", "antidisestablishmentarianism", "x = f(y[3], **kw)  # why?",
    "The dog bit the man.",
    "A sentence with 1,234.5 numbers and $99.", " ".join(WORDS * 5),
]
ODD = ["", " ", "\t\n", "a" * 101, "[MASK] [CLS] [SEP] [PAD]", "[mask]", "don't", "é e\u0301 É", "\u00ad\u200b\ufeff", "ﬁne ½ Å",
       "日本語 한국어 ไทย", "🙂👩‍🚀", "\x00\x01\ufffd", "İstanbul", "hello\u00a0world", "¿qué?", "##ing", "CO₂ x²", "—–-‐",
       "a.b.c...", "Ελληνικά кириллица עברית"]


@pytest.fixture(scope="module")
def folder():
    return fetch_bert("all-MiniLM-L6-v2")


@pytest.fixture(scope="module")
def ours(folder):
    return load_bert(folder).bert


@pytest.fixture(scope="module")
def tokenizer(folder):
    return load_tokenizer(folder)


@pytest.fixture(scope="module")
def theirs(folder):
    return transformers.BertModel.from_pretrained(folder, attn_implementation="eager").eval()


def test_layers_pooled_output_and_all_maps_are_the_references(ours, theirs, tokenizer):
    ids, lengths = pad([found.ids for found in tokenizer.encode_batch(SENTENCES)])
    assert len(SENTENCES) >= 20 and len(set(lengths.tolist())) >= 15 and lengths.max() > 100
    real = padding_mask(lengths, ids.shape[1])[:, 0]                                             # [B, T]
    with torch.no_grad(), record(ours) as seen:
        layers = [ours.embed(ids, torch.zeros_like(ids))]
        for layer in ours.encoder.layers:
            layers.append(layer(layers[-1], padding_mask(lengths, ids.shape[1])))
        pooled = ours.pool(layers[-1])
    with torch.no_grad():
        expected = theirs(ids, real.long(), output_hidden_states=True, output_attentions=True)
        assert torch.allclose(ours(ids, lengths)[real], expected.last_hidden_state[real], atol=1e-4, rtol=0)   # not recorded
    assert len(expected.hidden_states) == 7 and len(seen) == len(expected.attentions) == 6
    for mine, yours in zip(layers, expected.hidden_states, strict=True):
        assert torch.allclose(mine[real], yours[real], atol=1e-4, rtol=0)
    for mine, yours in zip(seen.values(), expected.attentions, strict=True):
        assert mine[0].shape[1] == 12
        rows = real.unsqueeze(1).unsqueeze(-1)                              # what padding asks is nobody's business
        assert torch.allclose(mine[0] * rows, yours * rows, atol=1e-5, rtol=0)
    assert torch.allclose(pooled, expected.pooler_output, atol=1e-5, rtol=0)


def test_sentence_vectors_are_normalised_means_over_the_real_pieces(ours, theirs, tokenizer):
    mine = sentence_vectors(ours, tokenizer, SENTENCES)
    for sentence, vector in zip(SENTENCES, mine):                           # alone, without padding
        with torch.no_grad():
            x = theirs(torch.tensor([tokenizer.encode(sentence).ids])).last_hidden_state[0]
        assert torch.allclose(vector, F.normalize(x.mean(0), dim=0), atol=1e-5, rtol=0)


@pytest.mark.parametrize("text", ODD + SENTENCES, ids=repr)
def test_the_tokenizer_is_the_references(reference_tokenizer, tokenizer, text):
    for texts in ((text,), (text, "and more")):
        mine, expected = tokenizer.encode(*texts), reference_tokenizer(*texts)
        assert (mine.ids, mine.type_ids) == (expected["input_ids"], expected["token_type_ids"])


@pytest.fixture(scope="module")
def reference_tokenizer(folder):
    return transformers.BertTokenizerFast.from_pretrained(folder)


def test_the_numbers_that_the_lesson_compares_with_are_the_references(theirs, tokenizer):
    cells = code_cells(read(ROOT / "notebooks" / "16_real_bert.ipynb"))
    found = {}
    for node in ast.walk(ast.Module([n for cell in cells for n in ast.parse(cell.source).body], [])):
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in ("sentence", "published_numbers"):
            found[node.targets[0].id] = ast.literal_eval(node.value)
    with torch.no_grad():
        layers = theirs(torch.tensor([tokenizer.encode(found["sentence"]).ids]), output_hidden_states=True).hidden_states
    numbers = torch.stack([layer[0, 2, :3] for layer in layers])
    assert torch.allclose(numbers, torch.tensor(found["published_numbers"]), atol=6e-5, rtol=0)


def test_the_maps_are_those_of_the_reference_for_a_pair(ours, theirs, tokenizer):
    found = tokenizer.encode("The key is lost.", "Where is the key?")
    with torch.no_grad():
        expected = theirs(torch.tensor([found.ids]), token_type_ids=torch.tensor([found.type_ids]), output_attentions=True)
    assert torch.allclose(maps_of(ours, found), torch.cat(expected.attentions), atol=1e-4, rtol=0)


def test_the_lines_that_the_lesson_gives_for_a_model_of_transformers_work(folder, ours, tokenizer):
    texts = [cell.source for cell in text_cells(read(ROOT / "notebooks" / "16_real_bert.ipynb"))]
    code, = re.findall(r"```python\n(.*?)```", "\n".join(texts), flags=re.S)
    *lines, last = code.strip().splitlines()
    namespace = {"folder": folder, "AttentionExplorer": AttentionExplorer}
    exec("\n".join([*lines, f"explorer = {last}"]), namespace)
    found = tokenizer.encode("The crane laid two eggs.")
    assert namespace["explorer"].query_tokens == namespace["explorer"].key_tokens == found.tokens
    assert torch.allclose(torch.tensor(namespace["explorer"].values), maps_of(ours, found), atol=1e-4, rtol=0)
