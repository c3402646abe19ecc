"""`ModelExplorer`: what it shows is what ran, under the names of the code; `trace`, which saw it."""
import base64
import io
import json
import pathlib
import unittest.mock

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from PIL import Image
from torch import nn

from helpers.bert import Bert, BertForPretraining, BertTagger
from helpers.hooks import trace
from helpers.masks import causal_mask
from helpers.recurrent import Seq2Seq
from helpers.transformer import GPT, Classifier, Residual, Transformer
from helpers.widgets import ModelExplorer
from helpers.widgets.model_explorer import HIDDEN
from helpers.widgets.model_steps import Steps

IDS, LENGTHS, TGT = torch.tensor([[4, 5, 6, 7]]), torch.tensor([4]), torch.tensor([[2, 3, 4]])
MODELS = {                                                   # a model and its inputs
    "Transformer": (lambda: Transformer(10, 12, 8, 2, 12, 2), (IDS, LENGTHS, TGT)),
    "post-norm": (lambda: Transformer(10, 10, 8, 2, 12, 1, norm="post", shared=True), (IDS, LENGTHS, TGT)),
    "GPT": (lambda: GPT(10, 8, 2, 12, 2), (IDS,)),
    "Classifier": (lambda: Classifier(10, 3, 8, 2, 12), (IDS, LENGTHS)),
    "mean pooling": (lambda: Classifier(10, 3, 8, 2, 12, pooling="mean"), (IDS, LENGTHS)),
    "Bert": (lambda: Bert(10, 8, 2, 12, 1, 6), (IDS, LENGTHS)),
    "BertForPretraining": (lambda: BertForPretraining(Bert(10, 8, 2, 12, 1, 6)),
                           (IDS, LENGTHS, torch.zeros_like(IDS), torch.tensor([[1, 2]]))),
    "BertTagger": (lambda: BertTagger(Bert(10, 8, 2, 12, 1, 6), 3), (IDS, LENGTHS)),
}
every_model = pytest.mark.parametrize("name", MODELS)
SELF = "encoder.layers[0].self_attn"


def made(name):
    make, inputs = MODELS[name]
    torch.manual_seed(0)
    return make(), inputs


def module_of(model, name):
    """The module that a name in code stands for."""
    return eval(f"model.{name}", {"model": model})


def blocks_of(blocks):
    for block in blocks:
        yield block
        yield from blocks_of(block["inside"])


@pytest.fixture
def explorer():
    model, inputs = made("Transformer")
    return ModelExplorer(model, inputs, [list("abcd"), ["<bos>", "x", "y"]], [f"w{i}" for i in range(12)])


@every_model
def test_every_step_is_what_a_plain_pass_computes(name):
    """Hooks of its own on each module, in another pass; heads are the columns side by side."""
    model, inputs = made(name)
    steps, outputs = Steps(model, inputs, None, None), {}
    paths = {module: path for path, module in model.named_modules()}
    handles = [module.register_forward_hook(lambda module, args, output: outputs.setdefault(paths[module], []).append(output))
               for module in paths]
    with torch.no_grad():
        model.eval()(*inputs)
    for handle in handles:
        handle.remove()
    compared = set()
    for step, values in zip(steps.steps, steps.values):
        path, _, again = step["name"].replace("[", ".").replace("]", "").partition(" (call ")
        if path not in outputs:
            continue
        expected = outputs[path][1 if again else 0][0]
        if step["axes"][-1] == "d_head":
            expected = expected.unflatten(-1, (2, 4)).transpose(0, 1)
        shown = torch.from_numpy(values)
        visible = ~shown.isnan()
        torch.testing.assert_close(shown[visible], expected[visible], atol=1e-6, rtol=0)
        assert not expected[~visible].any() and list(shown.shape) == step["shape"]
        compared.add(path)
    skipped = {path for path, module in model.named_modules() if type(module) in (nn.Dropout, nn.Identity)}
    leaves = {path for path, module in model.named_modules() if not list(module.children())}
    assert leaves & outputs.keys() - skipped == leaves & compared


def test_the_steps_between_modules_are_those_of_the_formulas():
    model, inputs = made("Transformer")
    values = ModelExplorer(model, inputs).values
    q, k, v = (torch.from_numpy(values[f"{SELF}.{name}"]) for name in ("q_proj", "k_proj", "v_proj"))
    found = (values[f"{SELF}.{name}"] for name in ("attention_scores", "attention_weights", "heads"))
    scores, weights, heads = map(torch.from_numpy, found)
    torch.testing.assert_close(scores, q @ k.mT / 2)                                       # the root of d_head = 4
    torch.testing.assert_close(weights, scores.softmax(-1))
    torch.testing.assert_close(heads, weights @ v)
    mask, causal = (values[f"decoder.layers[1].self_attn.{name}"] for name in ("mask", "attention_weights"))
    assert np.array_equal(mask, causal_mask(3)) and np.array_equal(np.isnan(causal[1]), mask == 0)
    assert values["decoder.layers[0].cross_attn.attention_weights"].shape == (2, 3, 4)
    embedded = torch.from_numpy(values["src_embed.tokens"]) * 8**0.5
    torch.testing.assert_close(torch.from_numpy(values["input of src_embed.positions"]), embedded)
    torch.testing.assert_close(torch.from_numpy(values["src_embed.positions.table"]), model.src_embed.positions.table[:4])
    up, activation = (values[f"encoder.layers[0].feed_forward.{name}"] for name in ("up", "activation"))
    assert np.array_equal(activation, np.maximum(up, 0)) and activation.any()
    stream, added = values["src_embed.positions"], values[f"{SELF}.out_proj"]
    np.testing.assert_allclose(values["encoder.layers[0].residuals[0]"], stream + added, atol=1e-6)


def test_with_the_norm_behind_the_sum_both_are_steps():
    model, inputs = made("post-norm")
    values = ModelExplorer(model, inputs).values
    total = values["tgt_embed.positions"] + values[f"{SELF}.out_proj"]
    np.testing.assert_allclose(values["input of encoder.layers[0].residuals[0].norm"], total, atol=1e-6)
    assert values["tgt_embed.tokens (call 2)"].shape == (3, 8) and "encoder.norm" not in values


@every_model
def test_names_axes_and_lines_are_those_of_the_code(name):
    model, inputs = made(name)
    steps = Steps(model, inputs, None, None)
    for block in blocks_of(steps.blocks):
        part = block["name"].removeprefix("input of ").partition(" (")[0]
        owner = module_of(model, part.rpartition(".")[0]) if part.endswith((".mask", ".heads")) else None
        assert owner is not None or module_of(model, part) is not None
        assert block["inside"] or block["step"] >= 0
    for step in steps.steps:
        assert len(step["axes"]) == len(step["shape"])
        last = step["name"].removeprefix("input of ").partition(" (")[0].split(".")[-1]
        line = steps.sources[step["source"]]["lines"][step["line"]]
        word = {"mask": "masked_softmax", "table": "positions", "pooler": "pool"}.get(last, last.partition("[")[0])
        assert word in line or word == "residuals" and "layer(" in line, (step["name"], line)
    assert len({step["name"] for step in steps.steps}) == len(steps.steps)


def test_likeliest_tokens_are_those_of_the_softmax(explorer):
    model, inputs = made("Transformer")
    probs = model.eval()(*inputs)[0].softmax(-1)
    assert len(explorer.content["likeliest"]) == 3 and explorer.ranges["position"] == range(3) and explorer.position == 2
    for row, said in zip(probs, explorer.content["likeliest"]):
        assert said[0][0] == f"w{int(row.argmax())}"
        assert [p for _, p in said] == pytest.approx(row.topk(5).values.tolist(), abs=1e-6)


def test_of_a_large_vocabulary_the_likeliest_columns_are_sent():
    torch.manual_seed(0)
    words = [f"w{i}" for i in range(500)]
    explorer = ModelExplorer(GPT(500, 8, 2, 12, 1), (IDS,), vocab=words)
    step = explorer.content["steps"][explorer.content["answer"]]
    named = {word for row in explorer.content["likeliest"] for word, _ in row}
    assert step["shape"] == [4, 500] and set(explorer.content["labels"][step["columns"]]) == named
    assert explorer.values["output"].shape == (4, len(named)) and len(named) <= 20


@pytest.mark.parametrize("name, axes", [
    ("Classifier", ["num_classes"]), ("BertForPretraining", ["P", "vocab_size"]), ("GPT", ["T", "vocab_size"]),
    ("BertTagger", ["T", "num_classes"])])
def test_the_answer_is_found(name, axes):
    model, inputs = made(name)
    steps = Steps(model, inputs, None, None)
    assert steps.steps[steps.answer]["axes"] == axes and steps.causal == (0 if name == "GPT" else -1)


def test_a_model_without_an_output_layer_has_no_likeliest_tokens():
    model, inputs = made("Bert")
    explorer = ModelExplorer(model, inputs, list("abcd"))
    assert explorer.content["likeliest"] == [] and list(explorer.ranges) == ["step"]
    assert explorer.picture().alt and list(explorer.values)[-1] == "encoder.layers[0].residuals[1].norm"


def test_numbers_are_sent_to_within_the_error_that_is_said(explorer):
    assert len(explorer.data) == sum(values.size for values in explorer.values.values())
    for step, values in zip(explorer.content["steps"], explorer.values.values()):
        codes = np.frombuffer(explorer.data, np.uint8, values.size, step["start"]).reshape(values.shape)
        assert np.array_equal(codes == HIDDEN, np.isnan(values)) and list(values.shape) == step["sent"]
        error = np.abs(step["low"] + step["unit"] * codes - values)[codes != HIDDEN]
        assert error.max() <= 0.004 * np.nanmax(np.abs(values)) + 1e-7


def test_two_layers_and_thirty_tokens_fit_in_400_kb():
    ids = torch.arange(30).unsqueeze(0)
    explorer = ModelExplorer(Transformer(100, 100, 64, 4, 256, num_layers=2), (ids, torch.tensor([30]), ids))
    sent = len(base64.b64encode(explorer.data)) + len(json.dumps(explorer.content)) + len(explorer._esm) + len(explorer._css)
    assert sent < 400_000


def test_the_model_is_left_as_it_was():
    model, inputs = made("GPT")
    model.decoder.layers[0].eval()
    modes = [module.training for module in model.modules()]
    ModelExplorer(model, inputs)
    assert [module.training for module in model.modules()] == modes and model.training
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())
    with unittest.mock.patch.object(F, "scaled_dot_product_attention", wraps=F.scaled_dot_product_attention) as fused:
        model(*inputs)
    assert fused.call_count == 2


@pytest.mark.parametrize("tokens, vocab, message", [
    (list("abc"), None, r"3 tokens for ids of shape \[1, 4\]: 4 are needed"),
    (None, list("abc"), r"3 words in the vocabulary for logits of shape \[4, 10\]: 10 are needed")])
def test_tokens_and_words_that_do_not_fit_are_refused(tokens, vocab, message):
    model, inputs = made("GPT")
    with pytest.raises(ValueError, match=message):
        ModelExplorer(model, inputs, tokens, vocab)


def test_a_batch_is_refused():
    model, _ = made("GPT")
    with pytest.raises(ValueError, match=r"ids of shape \[2, 4\]: a model is shown with a batch of one"):
        ModelExplorer(model, (IDS.expand(2, 4),))


def test_a_recurrent_model_is_refused():
    with pytest.raises(ValueError, match=r"encoder\.rnn \(GRU\) returns a tuple: an explorer shows models whose modules"):
        ModelExplorer(Seq2Seq(10, 10, 8), (IDS, LENGTHS, TGT))


def pixels(explorer):
    return explorer.picture()._repr_mimebundle_()[0]["image/png"]


def test_every_control_moves_the_picture(explorer):
    before = pixels(explorer)
    explorer.move(position=0)
    assert pixels(explorer) != before
    explorer.move(step="decoder.layers[1].cross_attn.attention_weights", head=1)
    assert explorer.ranges["head"] == range(2) and pixels(explorer) != before
    opened = pixels(explorer)
    explorer.move(head=0)
    assert pixels(explorer) != opened
    explorer.move(step="output", position=2)
    assert "head" not in explorer.ranges and pixels(explorer) != opened
    explorer.move(step="")
    assert pixels(explorer) == before or explorer.position == 2


@pytest.mark.parametrize("position", [{"step": "nowhere"}, {"head": 0}, {"position": 3}, {"step": "output", "head": 1},
                                      {"layer": 1}])
def test_a_move_to_nowhere_is_refused(explorer, position):
    with pytest.raises(ValueError, match=r"this explorer has step=\.\.output, position=0"):
        explorer.move(**position)


def test_a_page_without_a_kernel_sees_a_picture(explorer):
    (data, metadata), (again, _) = explorer._repr_mimebundle_(), explorer._repr_mimebundle_()
    image = Image.open(io.BytesIO(base64.b64decode(data["image/png"])))
    assert image.format == "PNG" and len(set(image.convert("L").tobytes())) > 10
    assert "application/vnd.jupyter.widget-view+json" in data and len(metadata["image/png"]["alt"]) > 20
    assert data["text/plain"] == again["text/plain"] == "ModelExplorer(step=..output, position=0|1|2)"


def test_what_is_typed_runs_through_the_model():
    model, _ = made("GPT")

    def read(text):
        if set(text) - set("0123456789"):
            raise ValueError(f"{text!r}: digits only")
        return {"model": model, "inputs": (torch.tensor([list(map(int, text))]),), "tokens": list(text)}

    explorer = ModelExplorer.of_texts(read, text="456")
    explorer.move(step="decoder.layers[1].self_attn.attention_weights", head=1)
    explorer.texts = {"text": "12345"}
    assert explorer.values["output"].shape == (5, 10) and explorer.content["labels"][0] == list("12345")
    assert explorer.step == "decoder.layers[1].self_attn.attention_weights" and explorer.position == 4
    assert np.array_equal(explorer.values["output"], ModelExplorer(model, (torch.tensor([[1, 2, 3, 4, 5]]),)).values["output"])
    before = explorer.data
    explorer.texts = {"text": "1x"}
    assert explorer.message == "'1x': digits only" and explorer.data == before
    explorer.texts = {"text": "7"}
    assert explorer.message == "" and explorer.values["output"].shape == (1, 10)


def test_trace_nests_the_calls_and_says_which_line_made_them():
    residual, x = Residual(4).eval(), torch.randn(1, 2, 4)
    with trace(residual) as calls:
        y = residual(x, lambda z: 2 * z)
    call, = calls
    assert call.path == "" and call.inputs["x"] is x and call.output is y
    assert [inner.path for inner in call.calls] == ["norm", "dropout"] and call.calls[0].output.shape == x.shape
    file, line, module = call.calls[0].place
    assert "self.norm(x)" in pathlib.Path(file).read_text(encoding="utf-8").splitlines()[line - 1]
    assert module == "helpers.transformer" and call.place[0] == __file__


def test_trace_recovers_from_a_call_that_raised():
    model = GPT(10, 8, 2, 12, 1).eval()
    with trace(model) as calls:
        with pytest.raises(ValueError, match="ids"):
            model(torch.tensor([[99]]))
        model(IDS)
    assert [call.path for call in calls] == ["", ""] and calls[1].output.shape == (1, 4, 10)
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())
