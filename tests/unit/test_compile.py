"""The models under torch's tools: compile, export, vmap, and a device whose values cannot be read."""
import os
import shutil

import pytest
import torch
import torch.nn.functional as F
from torch.testing import assert_close

from helpers.bert import Bert, BertForPretraining
from helpers.hooks import record
from helpers.masks import masked_softmax, padding_mask
from helpers.transformer import GPT, Classifier, Transformer

IDS, LENGTHS = torch.tensor([[4, 5, 6, 7], [8, 9, 0, 0]]), torch.tensor([4, 2])
MODELS = {                                                   # a model and its inputs
    "Transformer": (lambda: Transformer(10, 10, 8, 2, 12, 1), (IDS, LENGTHS, IDS)),
    "GPT": (lambda: GPT(10, 8, 2, 12, 1), (IDS,)),
    "Classifier": (lambda: Classifier(10, 3, 8, 2, 12), (IDS, LENGTHS)),
    "Bert": (lambda: Bert(10, 8, 2, 12, 1, 6), (IDS, LENGTHS)),
    "BertForPretraining": (lambda: BertForPretraining(Bert(10, 8, 2, 12, 1, 6)),
                           (IDS, LENGTHS, torch.zeros_like(IDS), torch.tensor([[1, 2], [0, 1]]))),
}
# torch says so of 3.13.0 itself, whenever it compiles.
pytestmark = pytest.mark.filterwarnings("ignore:Guards may run slower on Python 3.13.0:RuntimeWarning")
every_model = pytest.mark.parametrize("name", MODELS)


@pytest.fixture(autouse=True)
def nothing_compiled_before():
    torch.compiler.reset()


def made(name):
    make, inputs = MODELS[name]
    torch.manual_seed(0)
    return make().eval(), inputs


def outputs(result):
    """What a model returns, as a list of tensors."""
    return list(result) if isinstance(result, tuple) else [result]


@every_model
def test_compiled_as_one_graph_it_gives_the_same_with_the_same_gradients(name):
    """fullgraph: a graph break, where compiled code would return to Python, is an error."""
    model, inputs = made(name)
    found = []
    for run in (model, torch.compile(model, backend="aot_eager", fullgraph=True)):
        model.zero_grad()
        results = outputs(run(*inputs))
        sum(result.square().sum() for result in results).backward()
        found.append([*results, *(p.grad for p in model.parameters() if p.grad is not None)])
    assert len(found[0]) == len(found[1]) > 10
    assert_close(found[1], found[0], atol=1e-5, rtol=1e-4)


@every_model
def test_exported_it_takes_batches_of_other_sizes(name):
    model, inputs = made(name)
    any_batch = [{0: torch.export.Dim.AUTO}] * len(inputs)
    exported = torch.export.export(model, inputs, dynamic_shapes=any_batch).module()
    more = [x.repeat(3, *[1] * (x.dim() - 1)) for x in inputs]
    assert_close(outputs(exported(*more)), outputs(model(*more)))


@every_model
def test_a_training_step_reads_no_value_from_the_device(name, monkeypatch):
    """Reading one would wait for a GPU. The device "meta" holds none, so that reading one raises there."""
    def refuse(tensor):
        raise AssertionError("a value was read")

    for read in ("__bool__", "__int__", "__float__", "item", "tolist"):
        monkeypatch.setattr(torch.Tensor, read, refuse)
    model, inputs = made(name)
    results = outputs(model.to("meta").train()(*(x.to("meta") for x in inputs)))
    losses = [F.cross_entropy(result.flatten(0, -2), result[..., 0].flatten().long()) for result in results]
    sum(losses).backward()
    assert all(p.grad.is_meta for p in model.parameters() if p.grad is not None)


def test_lengths_can_be_mapped():
    many, scores = torch.tensor([[4, 2], [1, 3], [0, 4]]), torch.randn(2, 3, 4)
    weights = torch.vmap(lambda lengths: masked_softmax(scores, padding_mask(lengths, 4)))(many)
    assert_close(weights, torch.stack([masked_softmax(scores, padding_mask(lengths, 4)) for lengths in many]))


@pytest.mark.filterwarnings("ignore:There is a performance drop")        # of torch's fused attention
@pytest.mark.parametrize("name", ["Transformer", "Classifier", "Bert"])
def test_a_model_can_be_mapped_over_lengths(name):
    model, (ids, _, *rest) = made(name)
    many = torch.tensor([[4, 2], [1, 3]])
    expected = torch.stack([model(ids, lengths, *rest) for lengths in many])
    assert_close(torch.vmap(lambda lengths: model(ids, lengths, *rest))(many), expected, atol=1e-5, rtol=0)


def test_record_sees_and_changes_the_weights_of_a_compiled_model():
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    model, inputs = made("GPT")
    compiled = torch.compile(model, backend=backend, fullgraph=True)
    before = compiled(*inputs)
    with record(model) as expected:
        model(*inputs)
    with record(compiled) as seen:
        assert_close(compiled(*inputs), before)
    assert_close(seen, expected)                             # the same paths, too
    for given in (compiled, model):
        with record(given, change=lambda path, weights: torch.zeros_like(weights)) as seen:
            changed = compiled(*inputs)
        assert not torch.allclose(changed, before, atol=1e-2) and not any(map(torch.any, *seen.values()))
    assert torch.equal(compiled(*inputs), before) and len(graphs) == 1               # never compiled anew


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")      # from inside of torch
@pytest.mark.skipif(not shutil.which("c++"), reason="needs a C++ compiler")
@pytest.mark.skipif("ATEN_CPU_CAPABILITY" in os.environ, reason="torch compiles wrong code for a CPU that is held back")
def test_compiled_to_machine_code_it_gives_the_same():
    model, inputs = made("GPT")
    with torch.no_grad():
        assert_close(torch.compile(model)(*inputs), model(*inputs), atol=1e-5, rtol=0)
