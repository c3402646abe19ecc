"""Weights on disk: what is saved is what is loaded, and a file that does not fit changes nothing."""
import json
import os
import re

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from helpers.generation import bleu
from helpers.pretrained.weights import SHIPPED, load_weights, read_record, save_weights
from helpers.recurrent import Seq2Seq
from helpers.transformer import Transformer
from tests.notebooks import ROOT
from tools.make_weights.translation import corpus


def small(seed=0, d_model=8, shared=False):
    torch.manual_seed(seed)
    return Transformer(11, 11, d_model, 2, 16, num_layers=1, shared=shared).eval()


def scores(model):
    return model(torch.tensor([[4, 5, 6]]), torch.tensor([3]), torch.tensor([[2, 7]]))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "small.safetensors"


def test_what_is_saved_is_what_is_loaded(path):
    model, other = small(0), small(1)
    save_weights(model, path)
    assert not torch.equal(scores(model), scores(other))
    assert load_weights(other, path) is other
    assert torch.equal(scores(model), scores(other))
    assert torch.equal(scores(load_weights(small(2), str(path))), scores(model))


def test_half_the_bytes_for_half_the_precision(path, tmp_path):
    model, whole = small(), tmp_path / "whole.safetensors"
    save_weights(model, path, dtype=torch.float16)
    save_weights(model, whole)
    tensors = load_file(path)
    assert {t.dtype for t in tensors.values()} == {torch.float16}
    numbers = sum(p.numel() for p in model.parameters())
    assert whole.stat().st_size - path.stat().st_size == pytest.approx(2 * numbers, abs=100)
    loaded = load_weights(small(1), path)
    assert {p.dtype for p in loaded.parameters()} == {torch.float32}
    torch.testing.assert_close(scores(loaded), scores(model), atol=0.02, rtol=0)
    assert loaded.output.weight.requires_grad


def test_a_model_keeps_its_dtype(path):
    save_weights(small(), path)
    model = load_weights(small(1).double(), path)
    assert model.output.weight.dtype == torch.float64
    torch.testing.assert_close(model.output.weight.float(), small().output.weight, atol=0, rtol=0)


def test_shared_weights_are_written_once_and_stay_shared(path):
    save_weights(small(shared=True), path)
    assert sum(t.shape == (11, 8) for t in load_file(path).values()) == 1
    model = load_weights(small(1, shared=True), path)
    assert model.output.weight is model.tgt_embed.tokens.weight
    assert torch.equal(scores(model), scores(small(shared=True)))
    with pytest.raises(ValueError, match="does not fit this Transformer. Missing: .*output.weight"):
        load_weights(small(1), path)


def test_weights_that_are_parts_of_one_memory_are_written_each(path):
    memory = torch.arange(4.0)
    model = nn.ParameterDict({"first": memory[:3], "last": memory[1:]})
    save_weights(model, path)
    other = load_weights(nn.ParameterDict({"first": torch.zeros(3), "last": torch.zeros(3)}), path)
    assert other["first"].tolist() == [0, 1, 2] and other["last"].tolist() == [1, 2, 3]


def test_a_folder_that_is_not_there_is_not_made(tmp_path):
    with pytest.raises(FileNotFoundError, match="none"):
        save_weights(small(), tmp_path / "none" / "small.safetensors")
    assert list(tmp_path.iterdir()) == []


def test_buffers_and_whole_numbers_are_kept(path):
    norm = nn.BatchNorm1d(3)
    norm(torch.randn(5, 3))
    save_weights(norm, path, dtype=torch.float16)
    loaded = load_weights(nn.BatchNorm1d(3), path)
    assert loaded.num_batches_tracked.item() == 1 and loaded.num_batches_tracked.dtype == torch.int64
    assert torch.equal(loaded.running_mean, norm.running_mean.half().float())


def test_whole_numbers_stay_whole(path):
    save_file(nn.BatchNorm1d(3).state_dict() | {"num_batches_tracked": torch.tensor(1.5)}, path)
    with pytest.raises(ValueError, match=r"Of another kind: num_batches_tracked \(is torch.float32, needs torch.int64\)"):
        load_weights(nn.BatchNorm1d(3), path)


def test_a_model_in_half_precision_never_gets_an_infinity(path):
    model = small(1)
    model.output.weight.data[0, 0] = 1e6                                # half precision ends at 65,504
    save_weights(model, path)
    with pytest.raises(ValueError, match="Too large for the model's dtype: output.weight"):
        load_weights(small().half(), path)


@pytest.mark.parametrize("dtype", [torch.int8, torch.complex64, torch.float8_e4m3fn])
def test_weights_are_stored_as_floating_point_numbers(path, dtype):
    with pytest.raises(ValueError, match=f"dtype={dtype}: weights can be stored as torch.float16"):
        save_weights(small(), path, dtype=dtype)
    assert not path.exists()


@pytest.mark.parametrize("record", ["{", 50_000 * "["])
def test_a_record_that_is_no_json_is_refused(path, record):
    save_file(small().state_dict(), path, {"record": record})
    for read in (read_record, lambda path: load_weights(small(), path)):
        with pytest.raises(ValueError, match="small.safetensors is damaged: its record is no JSON"):
            read(path)


def test_a_record_is_read_back(path):
    record = {"sizes": {"d_model": 8}, "bleu": [95.5, 96.25]}
    save_weights(small(), path, record)
    assert read_record(path) == record
    save_weights(small(), path)
    assert read_record(path) == {}


@pytest.mark.parametrize(("change", "words"), [
    (lambda t: t.pop("output.weight"), "Missing: output.weight"),
    (lambda t: t.update(more=torch.zeros(2)), "Not in the model: more"),
    (lambda t: t.update({"output.weight": torch.zeros(11, 9)}),
     r"Of another shape: output.weight \(is \[11, 9\], needs \[11, 8\]\)"),
    (lambda t: t.update({"output.weight": torch.zeros(1, 8)}), r"Of another shape: output.weight \(is \[1, 8\]"),
    (lambda t: t["output.weight"].__setitem__((0, 0), float("nan")), "cannot be used. Not finite: output.weight"),
    (lambda t: t.update({"output.weight": torch.full((11, 8), 1e300, dtype=torch.float64)}),
     "Too large for the model's dtype: output.weight"),
    *[(lambda t, dtype=dtype: t.update({"output.weight": torch.zeros(11, 8).to(dtype)}),
       rf"Of another kind: output.weight \(is {dtype}, needs torch.float32\)")
      for dtype in (torch.int8, torch.int64, torch.bool, torch.complex64, torch.float8_e4m3fn, torch.float8_e5m2)],
])
def test_a_file_that_does_not_fit_is_refused_by_name_and_changes_nothing(path, change, words):
    tensors = {name: tensor.clone() for name, tensor in small(1).state_dict().items()}
    change(tensors)
    save_file(tensors, path)
    model = small()
    with pytest.raises(ValueError, match=words) as error:
        load_weights(model, path)
    assert "small.safetensors" in str(error.value)
    for mine, before in zip(model.state_dict().values(), small().state_dict().values()):
        assert torch.equal(mine, before)


def test_many_names_are_shortened(path):
    save_weights(nn.Linear(2, 2), path)
    with pytest.raises(ValueError, match=r"Missing: encoder.layers\S+, \S+, \S+ and \d+ more; not in the model: bias, weight$"):
        load_weights(small(), path)


def test_a_file_without_a_checksum_is_taken(path):
    save_file(small(1).state_dict(), path)
    assert torch.equal(scores(load_weights(small(), path)), scores(small(1)))
    assert read_record(path) == {}


@pytest.mark.parametrize("damage", [
    lambda content: content[:len(content) // 2], lambda content: content[:5], lambda content: b"",
    lambda content: b"PK" + content[2:], lambda content: content[:-3] + bytes([content[-3] ^ 1]) + content[-2:],
])
def test_a_damaged_file_is_refused_and_changes_nothing(path, damage):
    save_weights(small(1), path)
    path.write_bytes(damage(path.read_bytes()))
    model = small()
    with pytest.raises(ValueError, match="small.safetensors is damaged"):
        load_weights(model, path)
    assert torch.equal(scores(model), scores(small()))


def test_a_model_without_numbers_takes_none_and_has_none_to_save(path):
    save_weights(small(1), path)
    before = path.read_bytes()
    with torch.device("meta"):
        model = small()
    for act in (load_weights, save_weights):
        with pytest.raises(ValueError, match="holds no numbers: make it anew, on another device. On the device meta: .* more"):
            act(model, path)
    assert path.read_bytes() == before


def test_weights_that_are_not_there(tmp_path):
    for name in ("no such name", tmp_path / "none.safetensors", tmp_path):
        with pytest.raises(FileNotFoundError, match="no weights .* a path that ends in .safetensors is needed, or one of"):
            load_weights(small(), name)


def test_what_is_not_finite_is_not_saved(path):
    model = small()
    model.output.weight.data[0, 0] = 1e6
    with pytest.raises(ValueError, match="small.safetensors cannot be written. Not finite: output.weight"):
        save_weights(model, path, dtype=torch.float16)
    assert not path.exists()
    save_weights(model, path)


def test_what_ships_is_small_and_whole():
    files = sorted(SHIPPED.glob("*.safetensors"))
    sizes = {file.stem: os.path.getsize(file) for file in files}
    assert sizes["translator"] < 16_000_000 and sizes["gpt"] < 6_000_000 and sum(sizes.values()) < 30_000_000
    for file in files:
        assert json.dumps(read_record(file)) != "{}", f"{file.name} says nothing of how it was made"


@pytest.mark.parametrize("kind", ["none", "bahdanau", "transformer"])
def test_the_shipped_translators_are_as_good_as_their_records_say(kind):
    _, test_pairs, en, fr = corpus()
    record = read_record(f"translation_{kind}")
    model = (Transformer if kind == "transformer" else Seq2Seq)(len(en), len(fr), **record["sizes"])
    load_weights(model, f"translation_{kind}").eval()
    assert bleu(model, test_pairs[:100], en, fr) == pytest.approx(record["bleu"][0], abs=4)


def test_the_licence_names_the_sources_of_all_weights_that_ship():
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    named = [*re.findall(r"[\w*]+\.safetensors|\bbert/", text)]
    ship = [path.relative_to(SHIPPED) for path in SHIPPED.rglob("*.safetensors")]
    assert len(ship) > 4 and not [path for path in ship if not any(path.match(name.replace("/", "/*")) for name in named)]
