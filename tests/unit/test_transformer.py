"""The Transformer: torch's own layers and stacks, the paper's sizes, what can be recorded, and what is refused."""
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

from helpers.hooks import record
from helpers.masks import causal_mask, padding_mask
from helpers.positions import sinusoids
from helpers.transformer import GPT, DecoderLayer, Embedding, EncoderLayer, FeedForward, Residual, Stack, Transformer

quick = settings(max_examples=20, deadline=None, derandomize=True)
norms = pytest.mark.parametrize("norm", ["pre", "post"])
torchs_hint = pytest.mark.filterwarnings("ignore:enable_nested_tensor")     # of its inference, which pre-norm does not have
PRECISION = {torch.float32: 1e-5, torch.float64: 1e-11}


def twins_of_attention(theirs, ours):
    """Each parameter of torch's attention, and those of ours that it holds one upon the other."""
    projections = ours.q_proj, ours.k_proj, ours.v_proj
    yield theirs.in_proj_weight, [p.weight for p in projections]
    yield theirs.in_proj_bias, [p.bias for p in projections]
    yield from twins_of_module(theirs.out_proj, ours.out_proj)


def twins_of_module(theirs, ours):
    yield from zip(theirs.parameters(), ([p] for p in ours.parameters()))


def twins_of_layer(theirs, ours):
    yield from twins_of_attention(theirs.self_attn, ours.self_attn)
    if isinstance(ours, DecoderLayer):
        yield from twins_of_attention(theirs.multihead_attn, ours.cross_attn)
    yield from twins_of_module(theirs.linear1, ours.feed_forward.up)
    yield from twins_of_module(theirs.linear2, ours.feed_forward.down)
    for i, residual in enumerate(ours.residuals, 1):
        yield from twins_of_module(getattr(theirs, f"norm{i}"), residual.norm)


def twins_of_stack(theirs, ours):
    for layers in zip(theirs.layers, ours.layers):
        yield from twins_of_layer(*layers)
    if theirs.norm:
        yield from twins_of_module(theirs.norm, ours.norm)


def share_weights(theirs, ours, twins):
    """Move every parameter of ours off its start, so that none is 0 or 1, and give it to torch's module."""
    twins = list(twins(theirs, ours))
    assert len(twins) == len(list(theirs.parameters()))
    assert sum(len(mine) for _, mine in twins) == len(list(ours.parameters()))
    with torch.no_grad():
        for parameter in ours.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
        for parameter, mine in twins:
            parameter.copy_(torch.cat(mine))
    return twins


def assert_same(our_output, their_output, inputs, twins, precision):
    """The same output, and the same gradients of the inputs and of every parameter."""
    assert_close(our_output, their_output, atol=precision, rtol=0)
    gradients = []
    for output in our_output, their_output:
        for x in inputs:
            x.grad = None
        output.square().mean().backward()
        gradients.append([x.grad for x in inputs])
    assert_close(*gradients, atol=10 * precision, rtol=0)
    for parameter, mine in twins:
        assert_close(torch.cat([p.grad for p in mine]), parameter.grad, atol=10 * precision, rtol=0)


@st.composite
def cases(draw):
    """Sizes, in the order of our layers, the memory [B, T_src, d_model] with its lengths [B], and a target of as many rows."""
    torch.manual_seed(draw(st.integers(0, 10_000)))
    heads, d_head, B, T_src, T = (draw(st.integers(1, most)) for most in (4, 6, 3, 6, 6))
    norm, dtype = draw(st.sampled_from(["pre", "post"])), draw(st.sampled_from(list(PRECISION)))
    sizes, lengths = (heads * d_head, heads, draw(st.integers(1, 12))), torch.randint(1, T_src + 1, (B,))
    src, tgt = (torch.randn(B, t, sizes[0], dtype=dtype, requires_grad=True) for t in (T_src, T))
    return sizes, norm, src, lengths, tgt


def torchs(module, sizes, norm, dtype):
    return module(*sizes, dropout=0.0, batch_first=True, norm_first=norm == "pre", dtype=dtype)


@quick
@given(cases())
def test_the_encoder_layer_is_torchs(case):
    sizes, norm, src, lengths, _ = case
    ours, theirs = EncoderLayer(*sizes, norm=norm).to(src.dtype), torchs(nn.TransformerEncoderLayer, sizes, norm, src.dtype)
    twins = share_weights(theirs, ours, twins_of_layer)
    mask = padding_mask(lengths, src.shape[1])
    output = theirs(src, src_key_padding_mask=~mask[:, 0])
    assert_same(ours(src, mask), output, [src], twins, PRECISION[src.dtype])


@quick
@given(cases())
def test_the_decoder_layer_is_torchs(case):
    sizes, norm, src, lengths, tgt = case
    ours, theirs = DecoderLayer(*sizes, norm=norm).to(src.dtype), torchs(nn.TransformerDecoderLayer, sizes, norm, src.dtype)
    twins = share_weights(theirs, ours, twins_of_layer)
    mask, causal = padding_mask(lengths, src.shape[1]), causal_mask(tgt.shape[1])
    output = theirs(tgt, src, tgt_mask=~causal, memory_key_padding_mask=~mask[:, 0])
    assert_same(ours(tgt, src, causal, mask), output, [src, tgt], twins, PRECISION[src.dtype])


@quick
@given(cases(), st.integers(1, 3))
def test_the_stacks_are_torchs(case, num_layers):
    sizes, norm, src, lengths, tgt = case
    dtype, d_model = src.dtype, sizes[0]
    encoder, decoder = (Stack((layer(*sizes, norm=norm) for _ in range(num_layers)), d_model, norm).to(dtype)
                        for layer in (EncoderLayer, DecoderLayer))
    top = [nn.LayerNorm(d_model, dtype=dtype) if norm == "pre" else None for _ in range(2)]
    their_encoder = nn.TransformerEncoder(
        torchs(nn.TransformerEncoderLayer, sizes, norm, dtype), num_layers, top[0], enable_nested_tensor=False)
    their_decoder = nn.TransformerDecoder(torchs(nn.TransformerDecoderLayer, sizes, norm, dtype), num_layers, top[1])
    twins = share_weights(their_encoder, encoder, twins_of_stack) + share_weights(their_decoder, decoder, twins_of_stack)
    mask, causal = padding_mask(lengths, src.shape[1]), causal_mask(tgt.shape[1])
    output = their_decoder(tgt, their_encoder(src, src_key_padding_mask=~mask[:, 0]), tgt_mask=~causal,
                           memory_key_padding_mask=~mask[:, 0])
    assert_same(decoder(tgt, encoder(src, mask), causal, mask), output, [src, tgt], twins, 5 * PRECISION[dtype])


def small(norm="pre", shared=False, num_layers=2, dropout=0.0):
    torch.manual_seed(0)
    return Transformer(13, 13, 8, 2, 12, num_layers, dropout, norm, shared)


def batch():
    """Sources of 1 to 5 tokens and the beginnings of their targets."""
    generator = torch.Generator().manual_seed(1)
    return torch.randint(4, 13, (3, 5), generator=generator), torch.tensor([5, 1, 3]), torch.randint(
        4, 13, (3, 4), generator=generator)


@torchs_hint
@pytest.mark.parametrize("shared", [False, True])
def test_the_model_is_torchs_between_two_tables_and_an_output(shared):
    ours, theirs = small(shared=shared), nn.Transformer(8, 2, 2, 2, 12, 0.0, batch_first=True, norm_first=True)
    share_weights(theirs.encoder, ours.encoder, twins_of_stack)
    share_weights(theirs.decoder, ours.decoder, twins_of_stack)
    src, lengths, tgt = batch()
    hidden = torch.arange(5) >= lengths.unsqueeze(1)                       # [B, T_src]
    x, y = (embed.tokens.weight[ids] * math.sqrt(8) + sinusoids(ids.shape[1], 8)
            for embed, ids in ((ours.src_embed, src), (ours.tgt_embed, tgt)))
    output = theirs(x, y, tgt_mask=torch.ones(4, 4).triu(1).bool(), src_key_padding_mask=hidden, memory_key_padding_mask=hidden)
    assert_close(ours(src, lengths, tgt), output @ ours.output.weight.T, atol=1e-5, rtol=0)
    assert (ours.src_embed.tokens.weight is ours.output.weight) == (ours.tgt_embed.tokens.weight is ours.output.weight) == shared


def count(model):
    return sum(parameter.numel() for parameter in model.parameters())


@torchs_hint
@pytest.mark.parametrize("d_model, heads, d_ff, layers", [(8, 2, 12, 2), (24, 3, 7, 1), (64, 4, 256, 3)])
def test_it_has_as_many_parameters_as_torchs(d_model, heads, d_ff, layers):
    theirs = count(nn.Transformer(d_model, heads, layers, layers, d_ff, batch_first=True, norm_first=True))
    sizes = d_model, heads, d_ff, layers
    assert count(Transformer(11, 17, *sizes)) == theirs + (11 + 2 * 17) * d_model
    assert count(Transformer(17, 17, *sizes, shared=True)) == theirs + 17 * d_model
    assert count(Transformer(11, 17, *sizes, norm="post")) == theirs + (11 + 2 * 17) * d_model - 4 * d_model


@pytest.mark.parametrize("sizes, parameters, millions", [((512, 8, 2048), 63_082_496, 65), ((1024, 16, 4096), 214_245_376, 213)])
def test_the_sizes_of_the_paper(sizes, parameters, millions):
    with torch.device("meta"):
        model = Transformer(37_000, 37_000, *sizes, norm="post", shared=True)
    assert count(model) == parameters
    assert parameters / 1e6 == pytest.approx(millions, rel=0.03)           # table 3 prints whole millions


def test_the_base_model_is_what_comes_by_itself():
    with torch.device("meta"):
        assert count(Transformer(37_000, 37_000, shared=True)) == 63_082_496 + 4 * 512
        assert count(GPT(1000)) == 2 * 1000 * 512 + 6 * (4 * 512 * 513 + 2 * 512 * 2048 + 2560 + 4 * 512) + 2 * 512


def test_token_vectors_start_as_large_as_their_positions():
    torch.manual_seed(0)
    embed, ids = Embedding(1000, 64), torch.arange(1000).view(10, 100)
    vectors = embed(ids) - sinusoids(100, 64)
    assert vectors.std().item() == pytest.approx(1, abs=0.02)
    assert_close(embed(ids, offset=7), vectors + sinusoids(100, 64, 7), atol=1e-5, rtol=0)


@norms
def test_dropout_is_where_the_paper_has_it(norm):
    silent = Residual(8, dropout=1.0, norm=norm)                           # drops the whole layer, never the input
    x = torch.randn(2, 3, 8)
    assert_close(silent(x, lambda x: x + 1e3), x if norm == "pre" else silent.norm(x))
    silent, ff = Embedding(5, 8, dropout=1.0), FeedForward(8, 12, dropout=1.0)
    assert (silent(torch.ones(2, 3, dtype=torch.long)) == 0).all()
    assert_close(ff(x), ff.down.bias.expand(2, 3, 8))


@pytest.mark.parametrize("make", [lambda p: small(dropout=p), lambda p: GPT(13, 8, 2, 12, 2, p)])
def test_dropout_acts_in_training_only(make):
    torch.manual_seed(0)
    model, ids = make(0.5), batch() if isinstance(make(0.5), Transformer) else batch()[:1]
    assert not torch.equal(model(*ids), model(*ids))
    model.eval()
    assert torch.equal(model(*ids), model(*ids))


@norms
@pytest.mark.parametrize("training", [True, False])
def test_recording_changes_nothing(norm, training):
    model, ids = small(norm).train(training), batch()
    with record(model):
        recorded = model(*ids)
    assert_close(recorded, model(*ids), atol=1e-5, rtol=0)


def test_every_hook_point_is_found_and_shows_its_mask():
    model, (src, lengths, tgt) = small(), batch()
    with record(model) as seen:
        model(src, lengths, tgt)
    assert {path: tuple(weights[0].shape) for path, weights in seen.items()} == {
        f"{place}.attention_weights": (3, 2, *shape) for i in range(2) for place, shape in [
            (f"encoder.layers.{i}.self_attn", (5, 5)), (f"decoder.layers.{i}.self_attn", (4, 4)),
            (f"decoder.layers.{i}.cross_attn", (4, 5))]}
    for path, (weights,) in seen.items():
        causal = path.startswith("decoder") and "self_attn" in path
        mask = (causal_mask(4) if causal else padding_mask(lengths, 5).unsqueeze(1)).expand_as(weights)
        assert (weights[~mask] == 0).all() and (weights[mask] > 0).all()
        assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]))


def test_step_by_step_each_hook_point_shows_one_more_token():
    model, (src, lengths, tgt) = small(), batch()
    with record(model) as whole:
        model(src, lengths, tgt)
    with record(model) as seen:
        cache = model.start(src, lengths)
        for token in tgt.split(1, 1):
            model.step(token, cache)
    for path, (weights,) in whole.items():
        if path.startswith("encoder"):
            assert len(seen[path]) == 1
        else:
            assert [list(w.shape) for w in seen[path]] == [[3, 2, 1, 5 if "cross" in path else t] for t in range(1, 5)]
            for t, row in enumerate(seen[path]):
                assert_close(row, weights[:, :, t:t + 1, :row.shape[-1]], atol=1e-5, rtol=0)


def test_nothing_is_projected_twice():
    model, (src, lengths, tgt), calls = small(), batch(), []
    layer = model.decoder.layers[1]
    for attention in (layer.self_attn, layer.cross_attn):
        attention.k_proj.register_forward_hook(lambda module, inputs, output: calls.append(inputs[0].shape[1]))
    cache = model.start(src, lengths)
    for token in tgt.split(1, 1):
        model.step(token, cache)
    assert calls == [1, 5, 1, 1, 1] and cache.length == 4


@norms
def test_every_parameter_learns(norm):
    model = small(norm)
    model(*batch()).square().sum().backward()
    # A bias of the keys adds the same to all scores of a query, so that its gradient is 0 but for rounding.
    assert all(p.grad is not None and (p.grad != 0).any() for name, p in model.named_parameters() if "k_proj.bias" not in name)


IDS, LENGTHS = torch.full((2, 3), 5), torch.tensor([3, 2])


@pytest.mark.parametrize("act, error, message", [
    (lambda: Transformer(9, 9, 8, 2, norm="Pre"), ValueError, """norm='Pre': it needs to be "pre" or "post\""""),
    (lambda: GPT(9, 8, 2, norm=True), ValueError, "norm=True: it needs to be"),
    (lambda: Residual(8, norm="both"), ValueError, "norm='both'"),
    (lambda: Transformer(9, 9, 8, 3), ValueError, "d_model=8 does not divide into num_heads=3"),
    (lambda: small()(IDS + 8, LENGTHS, IDS), ValueError, "ids from 13 to 13: the table has rows for 0 to 12"),
    (lambda: small()(IDS, LENGTHS, IDS - 6), ValueError, "ids from -1 to -1: the table has rows for 0 to 12"),
    (lambda: small()(IDS, LENGTHS, IDS.float()), ValueError, r"ids of shape \[2, 3\] and dtype torch.float32"),
    (lambda: small()(IDS, LENGTHS, IDS.to(torch.uint8)), ValueError, "dtype torch.uint8"),
    (lambda: small()(IDS, LENGTHS, IDS > 0), ValueError, "dtype torch.bool"),
    (lambda: small()(IDS, LENGTHS, IDS[0]), ValueError, r"ids of shape \[3\]"),
    (lambda: GPT(9, 8, 2, 8, 1)(IDS + 4), ValueError, "ids from 9 to 9: the table has rows for 0 to 8"),
    (lambda: small()(IDS, LENGTHS + 1, IDS), ValueError, r"lengths \[4, 3\]: each needs to be from 1 to T_k=3"),
    (lambda: small()(IDS, LENGTHS - 3, IDS), ValueError, r"lengths \[0, -1\]: each needs to be from 1 to T_k=3"),
    (lambda: small()(IDS, torch.tensor([3, 2, 1]), IDS), ValueError, r"lengths \[3, 2, 1\]: ids, \[2, 3\], need one"),
    (lambda: small()(IDS, LENGTHS[:1], IDS), ValueError, r"lengths \[3\]: ids, \[2, 3\], need one"),
    (lambda: small()(IDS, LENGTHS - 2, IDS), ValueError, r"lengths \[1, 0\]: each needs to be from 1 to T_k=3"),
    (lambda: small()(IDS[0], LENGTHS, IDS), ValueError, r"ids of shape \[3\] and dtype torch.int64: they need to be integers"),
    (lambda: small()(IDS, [3, 2], IDS), TypeError, "lengths is list: it needs to be a tensor of integers"),
    (lambda: small()(IDS, LENGTHS.float(), IDS), TypeError, "lengths is torch.float32"),
    (lambda: small()(IDS, LENGTHS, IDS[:1]), ValueError, "all axes before the last two must be the same"),
])
def test_what_does_not_fit_is_refused(act, error, message):
    with pytest.raises(error, match=message):
        act()
