"""`effects`, `what_if` and `rollout`: what an attention weight does for the answer."""
import math

import pytest
import torch
from torch import nn

from helpers.attention import DotProductAttention
from helpers.bert import Bert, BertClassifier
from helpers.generation import translate
from helpers.hooks import effects, record, rollout, what_if
from helpers.masks import causal_mask
from helpers.recurrent import Seq2Seq
from helpers.text import BOS
from helpers.transformer import GPT, Classifier, KVCache, Transformer

IDS, OTHER = torch.tensor([[5, 9, 4, 11, 6]]), torch.tensor([[BOS, 7, 8, 5]])
LENGTHS, SEGMENTS = torch.tensor([5]), torch.tensor([[0, 0, 0, 1, 1]])
SMALL = {"d_model": 16, "num_heads": 2, "d_ff": 24, "num_layers": 2}
CUT, ZERO, MEAN = "cut", "zero", "mean"


class TwoTokens(nn.Module):
    """Causal attention over two tokens whose scores are ln 3 and 0 and whose values, the logits, are (4 ln 3, 0) and (0, 0).

    The second token therefore looks at them with 3/4 and 1/4, and its logits are (3 ln 3, 0): token 0 has 27/28.
    """

    def __init__(self):
        super().__init__()
        self.self_attn = DotProductAttention()

    def forward(self, ids):
        key, logits = torch.tensor([[[math.log(3)], [0.0]]]), torch.tensor([[[4 * math.log(3), 0.0], [0.0, 0.0]]])
        B = len(ids)
        return self.self_attn(torch.ones(B, 2, 1), key.expand(B, 2, 1), logits.expand(B, 2, 2), causal_mask(2))


@pytest.fixture
def two():
    return TwoTokens().eval()


def randomised(model):
    """In evaluation mode, with weights large enough that every head looks at something of its own."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, 0.4, generator=generator)
    return model.eval()


MODELS = {
    "encoder": (lambda: Transformer(12, 13, **SMALL), (IDS, LENGTHS, OTHER), (3, 7), "encoder", [2, 2, 5, 5]),
    "decoder": (lambda: Transformer(12, 13, **SMALL), (IDS, LENGTHS, OTHER), (3, 7), "decoder.*self_attn", [2, 2, 4, 4]),
    "cross": (lambda: Transformer(12, 13, **SMALL), (IDS, LENGTHS, OTHER), (2, 12), "cross_attn", [2, 2, 4, 5]),
    "GPT": (lambda: GPT(12, **SMALL), IDS, (4, 3), "", [2, 2, 5, 5]),
    "Classifier": (lambda: Classifier(12, 3, **SMALL), (IDS, LENGTHS), 2, "", [2, 2, 5, 5]),
    "Bert": (lambda: Bert(12, **SMALL), (IDS, LENGTHS, SEGMENTS), lambda x: x[:, 1].log_softmax(-1)[:, 6], "", [2, 2, 5, 5]),
    "BertClassifier": (lambda: BertClassifier(Bert(12, **SMALL), 3), (IDS, LENGTHS, SEGMENTS), 1, "", [2, 2, 5, 5]),
    "Seq2Seq": (lambda: Seq2Seq(12, 13, 8), (IDS, LENGTHS, OTHER), (3, 7), "", [1, 1, 4, 5]),
}


@pytest.mark.parametrize("how, changed", [
    (CUT, [math.log(1 / 2), math.log(81 / 82)]),    # all on token 1: logits (0, 0); all on token 0: (4 ln 3, 0)
    (ZERO, [math.log(1 / 2), math.log(27 / 28)]),            # (0, 1/4): (0, 0); (3/4, 0): as before
    (MEAN, [math.log(9 / 10), math.log(27 / 28)]),          # (1/2, 1/4): (2 ln 3, 0); (3/4, 1/2): as before
])
def test_effects_by_hand(two, how, changed):
    found = effects(two, torch.zeros(1, 2), (1, 0), how)
    assert found.shape == (1, 1, 2, 2)
    expected = torch.tensor([0.0, math.nan, *(after - math.log(27 / 28) for after in changed)])
    torch.testing.assert_close(found.flatten(), expected, equal_nan=True, atol=1e-6, rtol=0)


@pytest.mark.parametrize("how, after", [(CUT, 1 / 2), (ZERO, 1 / 2), (MEAN, 81 / 82)])
def test_a_row_with_nothing_else_becomes_zeros_and_its_mean_is_its_only_weight(two, how, after):
    found = effects(two, torch.zeros(1, 2), (0, 0), how)
    assert found[0, 0, 0, 0].item() == pytest.approx(math.log(after) - math.log(81 / 82), abs=1e-6)


def one_at_a_time(model, inputs, answer, how, place):
    """The answer's log-probability when one cell is changed; place: (path, head, query, key)."""
    path, head, query, key = place
    calls = []

    def change(at, weights):
        if at != path:
            return None
        calls.append(weights)
        wide = weights.clone() if weights.dim() == 4 else weights.unsqueeze(1).clone()
        row = query - sum(call.shape[-2] for call in calls[:-1])           # of this call, if it is its turn
        if 0 <= row < wide.shape[2]:
            of_row = wide[0, head, row]
            if how == MEAN:
                of_row[key] = of_row[of_row > 0].mean()
            else:
                of_row[key] = 0
            if how == CUT and of_row.sum() > 0:
                of_row /= of_row.sum()
        return wide.view_as(weights)

    with record(model, change), torch.no_grad():
        output = model(*inputs)
    if callable(answer):
        return answer(output).item()
    return output.log_softmax(-1)[0][answer].item()


@pytest.mark.parametrize("name, how", [*((name, CUT) for name in MODELS), ("cross", ZERO), ("cross", MEAN),
                                       ("Seq2Seq", ZERO), ("Seq2Seq", MEAN)])
def test_effects_equal_those_of_one_change_at_a_time(name, how):
    make, inputs, answer, where, shape = MODELS[name]
    torch.manual_seed(0)
    model = randomised(make())
    found = effects(model, inputs, answer, how, where, batch_size=7)
    inputs = (inputs,) if isinstance(inputs, torch.Tensor) else inputs
    with record(model) as seen:
        model(*inputs)
    paths = [path for path in seen if name != "cross" or "cross" in path]
    paths = [path for path in paths if name not in ("encoder", "decoder") or path.startswith(name) and "self_attn" in path]
    before = one_at_a_time(model, inputs, answer, how, ("none", 0, 0, 0))
    causal = name in ("decoder", "GPT")
    hidden = ~torch.ones(shape[2:]).tril().bool() if causal else torch.zeros(shape[2:], dtype=torch.bool)
    assert list(found.shape) == shape and torch.equal(found.isnan(), hidden.expand(shape))
    for layer, head, query, key in (~hidden).expand(shape).nonzero().tolist():
        after = one_at_a_time(model, inputs, answer, how, (paths[layer], head, query, key))
        assert found[layer, head, query, key].item() == pytest.approx(after - before, abs=1e-5)
    assert found.nan_to_num().abs().max() > 3e-4                           # there was something to find


def test_effects_leave_the_model_as_it_was(two):
    effects(two, torch.zeros(1, 2), (1, 0))
    assert not two.self_attn.attention_weights.used and not two.self_attn.attention_weights._forward_hooks


@pytest.mark.parametrize("options, message", [
    ({"how": "off"}, "how='off': it needs to be \"cut\", \"zero\" or \"mean\""),
    ({"where": "cross"}, "where='cross' finds nothing: it needs to choose one kind of .*self_attn"),
    ({"inputs": torch.zeros(3, 2)}, r"inputs with \[3\] rows: a batch of one is needed"),
    ({"answer": 0}, r"answer=0 for an output \[1, 2, 2\]: it needs to be \(position, token\)"),
    ({"answer": (2, 0)}, r"answer=\(2, 0\) for an output \[1, 2, 2\]"),
    ({"answer": (0, 0, 0)}, r"answer=\(0, 0, 0\) for"),
])
def test_effects_refuse(two, options, message):
    with pytest.raises(ValueError, match=message):
        effects(**{"model": two, "inputs": torch.zeros(1, 2), "answer": (1, 0)} | options)


@pytest.mark.parametrize("call", [lambda model: effects(model, torch.zeros(1, 2), (1, 0)), lambda model: what_if(model, None)])
def test_a_model_in_training_mode_is_refused(two, call):
    with pytest.raises(ValueError, match=r"training mode.*call model.eval\(\) first"):
        call(two.train())


@pytest.mark.parametrize("where", ["", "decoder", "self_attn"])
def test_one_kind_of_attention_has_to_be_chosen(where):
    with pytest.raises(ValueError, match=r"it needs to choose one kind of \['decoder.layers.N.cross_attn.attention_weights', "):
        effects(Transformer(12, 13, **SMALL).eval(), (IDS, LENGTHS, OTHER), (3, 7), where=where)


def change(kind, index=(0, 0), query=1, key=0):
    return {"kind": kind, "index": list(index)} | ({} if kind == "off" else {"query": query, "key": key})


@pytest.fixture
def asked(two):
    """f of the model of two tokens; it answers with the probability of token 0 at the second token."""
    return what_if(two, lambda: two(torch.zeros(1, 2))[0, 1].softmax(-1)[0].item())


@pytest.mark.parametrize("changes, answer, row", [
    ([], 27 / 28, [3 / 4, 1 / 4]),
    ([change("cut")], 1 / 2, [0, 1]),
    ([change("cut", key=1)], 81 / 82, [1, 0]),
    ([change("cut", [0], key=1)], 81 / 82, [1, 0]),                        # [head], as there is one layer
    ([change("cut"), change("cut", key=1)], 1 / 2, [0, 0]),                # nothing is left: zeros
    ([change("zero")], 1 / 2, [0, 1 / 4]),
    ([change("zero", key=1)], 27 / 28, [3 / 4, 0]),                        # the value at key 1 is zeros
    ([change("force", key=1)], 1 / 2, [0, 1]),
    ([change("cut"), change("force")], 81 / 82, [1, 0]),                   # in turn
    ([change("off")], 1 / 2, [0, 0]),
])
def test_answers_and_weights_by_hand(asked, changes, answer, row):
    found, weights = asked(changes)
    assert found == pytest.approx(answer, abs=1e-6) and weights.dtype == torch.float32 and weights.shape == (1, 1, 2, 2)
    first = 0.0 if changes and changes[0]["kind"] == "off" else 1.0
    torch.testing.assert_close(weights[0, 0], torch.tensor([[first, math.nan], row]), equal_nan=True)


@pytest.mark.parametrize("wrong, message", [
    ({"kind": "double", "index": [0, 0]}, "a change of kind 'double': it needs to be \"cut\", \"zero\", \"force\" or \"off\""),
    ({}, "a change of kind None"),
    ({"kind": "cut", "index": [0, 0], "query": 1}, "to cut a weight, its query and its key are needed"),
    (change("cut", [1, 0]), r"a change at index \[1, 0\]: it needs to be \[layer, head\], with a layer from 0 to 0"),
    (change("cut", []), r"a change at index \[\]"),
    (change("cut", [0, 1]), "head 1: layer 0 has heads 0 to 0"),
    (change("off", [0, -1]), "head -1: layer 0 has heads 0 to 0"),
    (change("cut", query=2), "query 2: this run has queries 0 to 1"),
    (change("cut", query=-1), "query -1: this run has queries 0 to 1"),
    (change("cut", key=2), r"query 1 may not look at key 2: it may look at \[0, 1\]"),
    (change("cut", key=-1), "query 1 may not look at key -1"),
    (change("force", query=0, key=1), r"query 0 may not look at key 1: it may look at \[0\]"),
    (change("cut", query=0, key=1), "query 0 may not look at key 1"),
])
def test_a_change_that_does_not_fit_is_refused(two, asked, wrong, message):
    with pytest.raises(ValueError, match=message):
        asked([wrong])
    assert not two.self_attn.attention_weights._forward_hooks and asked([])[0] == pytest.approx(27 / 28)


def test_a_run_without_the_model_is_refused(two):
    with pytest.raises(ValueError, match=r"run\(\) did not call self_attn.attention_weights of the TwoTokens"):
        what_if(two, lambda: "nothing")([])


def test_a_model_of_several_layers_needs_both_numbers():
    model = GPT(12, **SMALL).eval()
    with pytest.raises(ValueError, match=r"index \[0\]: it needs to be \[layer, head\], with a layer from 0 to 1"):
        what_if(model, lambda: model(IDS))([change("off", [0])])


@pytest.mark.parametrize("name", MODELS)
def test_what_if_and_effects_agree(name):
    make, inputs, answer, where, shape = MODELS[name]
    torch.manual_seed(0)
    model = randomised(make())
    expected = effects(model, inputs, answer, where=where)

    def run():
        output = model(*inputs) if isinstance(inputs, tuple) else model(inputs)
        return (answer(output) if callable(answer) else output.log_softmax(-1)[0][answer]).item()

    f = what_if(model, run, where)
    before, weights = f([])
    assert list(weights.shape) == shape and torch.equal(weights.isnan(), expected.isnan())
    layer, head = shape[0] - 1, shape[1] - 1
    after, changed = f([change("cut", [layer, head], 3, 2)])
    assert after - before == pytest.approx(expected[layer, head, 3, 2].item(), abs=1e-5)
    different = (changed != weights) & ~weights.isnan()
    assert different[layer, head, 3].any() and not different[:layer].any()


def decoded(model, changes, where):
    """What a cached decoding and one pass over the same tokens give: ((answer, weights) of f) of both."""
    def cached():
        cache = model.start(IDS, LENGTHS)
        return torch.cat([model.step(token, cache) for token in OTHER.split(1, 1)], 1)

    return [what_if(model, run, where)(changes) for run in (cached, lambda: model(IDS, LENGTHS, OTHER))]


@pytest.mark.parametrize("where", ["encoder", "cross_attn", "decoder.*self_attn"])
def test_decoding_with_the_cache_is_changed_as_one_pass_is(where):
    model = randomised(Transformer(12, 13, **SMALL))
    changes = [change("cut", [0, 1], 2, 1), change("force", [1, 0], 3, 2), change("off", [0, 0])]
    for some in ([], changes):
        (cached, of_cached), (whole, of_whole) = decoded(model, some, where)
        torch.testing.assert_close(cached, whole, atol=1e-5, rtol=0)
        torch.testing.assert_close(of_cached, of_whole, atol=1e-5, rtol=0, equal_nan=True)
    assert not torch.allclose(cached, model(IDS, LENGTHS, OTHER), atol=1e-3)


def test_a_prompt_and_what_is_written_after_it_make_one_map():
    model = randomised(GPT(12, **SMALL))

    def run():
        cache = KVCache()
        return [model.step(ids, cache)[:, -1].argmax().item() for ids in (IDS[:, :3], *IDS[:, 3:].split(1, 1))]

    answer, weights = what_if(model, run)([change("force", [1, 1], 4, 0)])
    assert len(answer) == 3 and weights.shape == (2, 2, 5, 5)
    assert torch.equal(weights.isnan(), ~causal_mask(5).expand(2, 2, 5, 5)) and weights[1, 1, 4].tolist() == [1, 0, 0, 0, 0]


def test_every_text_of_a_batch_is_changed_and_the_first_is_shown():
    model = randomised(Transformer(12, 13, **SMALL))
    src, lengths, tgt = torch.cat([IDS, IDS.flip(1)]), torch.tensor([4, 5]), OTHER.expand(2, -1)
    changes = [change("cut", [0, 1], 0, 1), change("force", [1, 0], 0, 2), change("off", [1, 1])]

    def changed(rows):
        return what_if(model, lambda: model(src[rows], lengths[rows], tgt[rows]), "cross_attn")(changes)

    both, weights = changed([0, 1])
    for row in (0, 1):
        torch.testing.assert_close(both[row], changed([row])[0][0], atol=1e-5, rtol=0)
    assert weights[..., 4].isnan().all() and torch.allclose(weights[..., :4], changed([0])[1][..., :4], atol=1e-5)


def test_a_run_may_name_the_tokens_of_its_rows_and_columns():
    """The answer, and with it the number of rows, may be another one after a change."""
    model = randomised(Transformer(12, 13, **SMALL))

    def run():
        ids = translate(model, IDS, LENGTHS, 9)[0].tolist()
        return len(ids), ids, IDS[0].tolist()

    f = what_if(model, run, "cross_attn")
    for changes in ([], [change("off", [0, 0])]):
        number, weights, query_tokens, key_tokens = f(changes)
        assert number == weights.shape[2] == len(query_tokens) and weights.shape[3] == len(key_tokens)
    assert what_if(model, lambda: run()[:2], "cross_attn")([])[0] == run()[:2]      # any other tuple is the answer


def test_rollout_is_the_formula_of_abnar_and_zuidema():
    """Ã(1) = A(1), Ã(i) = A(i) Ã(i - 1), with A = 0.5 W + 0.5 I and rows that sum to 1."""
    weights = torch.rand(3, 4, 5, 5, generator=torch.Generator().manual_seed(0)).double().softmax(-1)
    found = rollout(weights)
    below = None
    for layer, of_layer in zip(weights.numpy(), found):
        raw = sum(layer) / 4
        mixed = [[0.5 * raw[i][j] + 0.5 * (i == j) for j in range(5)] for i in range(5)]
        mixed = [[x / sum(row) for x in row] for row in mixed]
        below = mixed if below is None else [[sum(mixed[i][m] * below[m][j] for m in range(5)) for j in range(5)]
                                             for i in range(5)]
        torch.testing.assert_close(of_layer, torch.tensor(below, dtype=torch.float64))
    torch.testing.assert_close(found.sum(-1), torch.ones(3, 5, dtype=torch.float64))


def test_rollout_of_two_layers_by_hand():
    """Layer 0 looks at the first token, layer 1 at the second: half stays at each, so that a quarter of it goes on."""
    first, second = torch.eye(2)[[0, 0]], torch.eye(2)[[1, 1]]
    found = rollout(torch.stack([first, second]).unsqueeze(1))
    assert found.tolist() == [[[1, 0], [0.5, 0.5]], [[0.75, 0.25], [0.5, 0.5]]]


def test_rollout_of_several_steps_hidden_cells_and_an_array():
    weights = torch.rand(2, 3, 2, 4, 4).masked_fill(~causal_mask(4), -torch.inf).softmax(-1)
    with_nan = weights.masked_fill(~causal_mask(4), torch.nan).numpy()
    assert torch.equal(rollout(with_nan), rollout(weights)) and torch.equal(rollout(weights), rollout(weights).tril())
    assert torch.allclose(rollout(weights)[1], rollout(weights[1]))


def test_a_row_that_looks_at_nothing_keeps_itself():
    assert torch.equal(rollout(torch.zeros(2, 1, 3, 3)), torch.eye(3).expand(2, 3, 3))


@pytest.mark.parametrize("shape", [(2, 2), (3, 2, 2), (2, 2, 3, 4)])
def test_rollout_refuses(shape):
    with pytest.raises(ValueError, match=r"weights of shape .*: a rollout needs \[..., layer, head, T, T\]"):
        rollout(torch.ones(shape))
