"""Recurrent encoder and decoder: against slow loops over the papers' formulas, one sentence at a time."""
import pytest
import torch
from torch import nn
from torch.testing import assert_close

from helpers.hooks import record
from helpers.recurrent import RecurrentDecoder, RecurrentEncoder, Seq2Seq, State

variants = pytest.mark.parametrize("kind, layers, attention", [
    ("gru", 1, True), ("gru", 2, True), ("gru", 2, False), ("lstm", 1, True), ("lstm", 2, True), ("lstm", 1, False)])


def gru(weights, x, h):
    """One step. torch's GRU lets the reset gate act on W_hn h + b_hn, where Cho et al. have it act on h."""
    W_i, W_h, b_i, b_h = weights
    (r_x, z_x, n_x), (r_h, z_h, n_h) = (W_i @ x + b_i).chunk(3), (W_h @ h + b_h).chunk(3)
    r, z = torch.sigmoid(r_x + r_h), torch.sigmoid(z_x + z_h)
    return (1 - z) * torch.tanh(n_x + r * n_h) + z * h


def lstm(weights, x, state):
    W_i, W_h, b_i, b_h = weights
    h, c = state
    i, f, g, o = (W_i @ x + b_i + W_h @ h + b_h).chunk(4)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def step(kind, rnn, x, states):
    """The output of all layers for one token x [d], and their new states."""
    new = []
    for weights, state in zip(rnn.all_weights, states):
        new.append(gru(weights, x, state) if kind == "gru" else lstm(weights, x, state))
        x = new[-1] if kind == "gru" else new[-1][0]
    return x, new


def read(kind, weights, tokens):
    """One layer in one direction: the output at every token, and the last state."""
    zeros = torch.zeros(weights[1].shape[1])
    state, outputs = zeros if kind == "gru" else (zeros, zeros), []
    for x in tokens:
        state = gru(weights, x, state) if kind == "gru" else lstm(weights, x, state)
        outputs.append(state if kind == "gru" else state[0])
    return outputs, state


def read_in_both_directions(kind, rnn, tokens):
    """All layers: the outputs of the last at every token, and the states of all."""
    states = []
    for forward, backward in zip(rnn.all_weights[0::2], rnn.all_weights[1::2]):
        ahead, first = read(kind, forward, tokens)
        back, second = read(kind, backward, tokens[::-1])
        tokens = [torch.cat(both) for both in zip(ahead, back[::-1])]
        states.append(torch.cat([first, second]) if kind == "gru" else tuple(map(torch.cat, zip(first, second))))
    return tokens, states


def slow(model, kind, attention, src, tgt):
    """Scores and weights for one sentence without padding, src [T_src] and tgt [T]: Bahdanau et al. 2015, section 3."""
    decoder = model.decoder
    memory, states = read_in_both_directions(kind, model.encoder.rnn, [model.encoder.embed.weight[token] for token in src])
    start = states[-1] if kind == "gru" else states[-1][0]
    query, logits, maps = start, [], []
    for token in tgt:
        context = start
        if attention:
            a = decoder.attention
            e = torch.stack([a.w_v.weight[0] @ torch.tanh(a.W_q.weight @ query + a.W_k.weight @ h) for h in memory])
            alpha = e.exp() / e.exp().sum()
            context = sum(weight * h for weight, h in zip(alpha, memory))
            maps.append(alpha)
        query, states = step(kind, decoder.rnn, torch.cat([decoder.embed.weight[token], context]), states)
        logits.append(decoder.output.weight @ query + decoder.output.bias)
    return torch.stack(logits), maps


@variants
@torch.no_grad()
def test_it_equals_a_slow_loop_over_the_formulas(kind, layers, attention):
    torch.manual_seed(0)
    model, lengths = Seq2Seq(11, 13, 6, layers, kind, attention), torch.tensor([5, 1, 3])
    src, tgt = torch.randint(0, 11, (3, 5)), torch.randint(0, 13, (3, 4))
    if attention:
        with record(model) as seen:
            logits = model(src, lengths, tgt)
        weights = torch.cat(seen["decoder.attention.attention_weights"], 1)             # [B, T, T_src], of one step each
        assert (weights[torch.arange(5).expand(3, 4, 5) >= lengths.view(3, 1, 1)] == 0).all()
    else:
        logits = model(src, lengths, tgt)
    for b, n in enumerate(lengths.tolist()):
        expected, maps = slow(model, kind, attention, src[b, :n], tgt[b])
        assert_close(logits[b], expected, atol=1e-5, rtol=0)
        if attention:
            assert_close(weights[b, :, :n], torch.stack(maps), atol=1e-5, rtol=0)


@pytest.mark.parametrize("kind", ["gru", "lstm"])
@pytest.mark.parametrize("bidirectional", [True, False])
def test_the_networks_are_torchs(kind, bidirectional):
    """Rows of full length, embeddings of another size than the state; the decoder without attention."""
    torch.manual_seed(0)
    model = Seq2Seq(11, 13, 6, 2, kind, attention=False, dropout=0.5, d_embed=5, bidirectional=bidirectional).eval()
    src, tgt = torch.randint(0, 11, (3, 4)), torch.randint(0, 13, (3, 7))
    Network = {"gru": nn.GRU, "lstm": nn.LSTM}[kind]
    reader = Network(5, 3 if bidirectional else 6, 2, batch_first=True, bidirectional=bidirectional)
    writer = Network(5 + 6, 6, 2, batch_first=True)
    reader.load_state_dict(model.encoder.rnn.state_dict())
    writer.load_state_dict(model.decoder.rnn.state_dict())
    _, state = reader(model.encoder.embed.weight[src])
    states = state if kind == "lstm" else (state,)
    if bidirectional:                                                # [layers, directions, B, 3] to [layers, B, 6]
        states = tuple(h.view(2, 2, 3, 3).transpose(1, 2).flatten(2) for h in states)
    context = states[0][-1].unsqueeze(1).expand(3, 7, 6)
    output, _ = writer(torch.cat([model.decoder.embed.weight[tgt], context], -1), states if kind == "lstm" else states[0])
    assert_close(model(src, torch.full((3,), 4), tgt), model.decoder.output(output), atol=1e-5, rtol=0)


@pytest.mark.parametrize("attention", [True, False])
def test_dropout_is_on_embeddings_and_between_layers_in_training_only(attention):
    torch.manual_seed(0)
    model, ids, lengths = Seq2Seq(9, 9, 4, attention=attention, dropout=1.0), torch.full((2, 3), 5), torch.tensor([3, 2])
    assert torch.equal(model(ids, lengths, ids), model(ids + 1, lengths, ids + 1))         # nothing is left of any token
    for layers, dropout in ((1, 0.0), (2, 0.5)):
        deep = Seq2Seq(9, 9, 4, layers, attention=attention, dropout=0.5)
        assert [deep.encoder.rnn.dropout, deep.decoder.rnn.dropout] == [dropout, dropout]
    model.eval()
    assert not torch.allclose(model(ids, lengths, ids), model(ids + 1, lengths, ids + 1), atol=1e-4)


@pytest.mark.parametrize("kind", ["gru", "lstm"])
@pytest.mark.parametrize("layers", [1, 2])
def test_the_encoder_reads_a_batch_as_it_reads_each_sentence_alone(kind, layers):
    torch.manual_seed(0)
    encoder, src, lengths = RecurrentEncoder(11, 6, layers, kind), torch.randint(0, 11, (4, 7)), torch.tensor([2, 5, 1, 4])
    outputs, state = encoder(src, lengths)
    assert outputs.shape == (4, 7, 6)                            # as long as src, though no sentence is
    for b, n in enumerate(lengths):
        alone, alone_state = encoder(src[b:b + 1, :n], lengths[b:b + 1])
        assert_close(outputs[b, :n], alone[0], atol=1e-5, rtol=0)
        assert (outputs[b, n:] == 0).all()
        for together, each in zip(state, alone_state) if kind == "lstm" else [(state, alone_state)]:
            assert_close(together[:, b], each[:, 0], atol=1e-5, rtol=0)
    h = state[0] if kind == "lstm" else state
    assert_close(h[-1][:, :3], outputs[torch.arange(4), lengths - 1][:, :3])     # forwards, the last token is read last
    assert_close(h[-1][:, 3:], outputs[:, 0, 3:])                                # backwards, the first token


def test_an_odd_size_is_refused():
    with pytest.raises(ValueError, match="d_model=5: it needs to be even"):
        Seq2Seq(11, 11, 5)


@variants
def test_the_shapes_of_the_lesson(kind, layers, attention):
    encoder, decoder = RecurrentEncoder(10, 16, layers, kind), RecurrentDecoder(10, 16, layers, kind, attention)
    ids, lengths = torch.zeros(4, 7, dtype=torch.long), torch.full((4,), 7)
    memory, hidden = encoder(ids, lengths)
    assert memory.shape == (4, 7, 16)
    state = State(memory, None, hidden)
    assert state.context.shape == state.top().shape == (4, 1, 16)
    assert decoder(ids, state).shape == (4, 7, 10)
    for each in (hidden, state.hidden):
        assert [tuple(h.shape) for h in (each if kind == "lstm" else [each])] == [(layers, 4, 16)] * (2 if kind == "lstm" else 1)
    assert Seq2Seq(10, 10, 16, layers, kind, attention)(ids, lengths, ids).shape == (4, 7, 10)


def test_the_query_of_an_lstm_is_its_state_and_not_its_cell():
    h, c = torch.randn(2, 2, 3, 4)
    assert_close(State(None, None, (h, c)).top(), h[1].unsqueeze(1))
    assert_close(State(None, None, h).top(), h[1].unsqueeze(1))


@variants
def test_every_parameter_learns(kind, layers, attention):
    torch.manual_seed(0)
    for model in (Seq2Seq(5, 6, 4, layers, kind, attention),
                  Seq2Seq(5, 6, 4, layers, kind, attention, dropout=0.2, d_embed=3, bidirectional=False)):
        model(torch.randint(0, 5, (3, 4)), torch.tensor([4, 2, 3]), torch.randint(0, 6, (3, 5))).square().sum().backward()
        assert all(p.grad.isfinite().all() and (p.grad != 0).any() for p in model.parameters())


def test_without_attention_there_is_nothing_to_record():
    with pytest.raises(ValueError, match="nothing to record"), record(Seq2Seq(5, 5, 4, attention=False)):
        pass


MODEL, IDS, LENGTHS = Seq2Seq(9, 9, 4), torch.full((2, 3), 5), torch.tensor([3, 2])


@pytest.mark.parametrize("act, error, message", [
    (lambda: Seq2Seq(9, 9, 4, kind="rnn"), ValueError, """kind='rnn': it needs to be "gru" or "lstm\""""),
    (lambda: RecurrentEncoder(9, 4, kind="GRU"), ValueError, "kind='GRU'"),
    (lambda: RecurrentDecoder(9, 4, kind=None), ValueError, "kind=None"),
    (lambda: MODEL(IDS + 4, LENGTHS, IDS), ValueError, "ids from 9 to 9: the table has rows for 0 to 8"),
    (lambda: MODEL(IDS, LENGTHS, IDS - 6), ValueError, "tgt from -1 to -1: the table has rows for 0 to 8"),
    (lambda: MODEL(IDS.float(), LENGTHS, IDS), ValueError, "dtype torch.float32: they need to be integers"),
    (lambda: MODEL(IDS[0], LENGTHS[:1], IDS[:1]), ValueError, r"ids of shape \[3\]"),
    (lambda: MODEL(IDS, LENGTHS - 2, IDS), ValueError, r"lengths \[1, 0\]: each needs to be from 1 to T_k=3"),
    (lambda: MODEL(IDS, LENGTHS + 1, IDS), ValueError, r"lengths \[4, 3\]: each needs to be from 1 to T_k=3"),
    (lambda: MODEL(IDS, LENGTHS[:1], IDS), ValueError, r"lengths \[3\]: ids, \[2, 3\], need one for each row"),
    (lambda: MODEL(IDS, IDS - 3, IDS), ValueError, r"lengths \[\[2, 2, 2\], \[2, 2, 2\]\]: ids, "),
    (lambda: MODEL(IDS, [3, 2], IDS), TypeError, "lengths is list: it needs to be a tensor of integers"),
    (lambda: MODEL(IDS, LENGTHS.float(), IDS), TypeError, "lengths is torch.float32"),
])
def test_what_does_not_fit_is_refused(act, error, message):
    with pytest.raises(error, match=message):
        act()
