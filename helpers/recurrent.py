"""Sequence to sequence with recurrent networks, and the attention that was first added to them."""
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from helpers.attention import AdditiveAttention
from helpers.masks import check_ids, source_mask

KINDS = {"gru": nn.GRU, "lstm": nn.LSTM}


class RecurrentEncoder(nn.Module):
    """Reads the source both ways: ids [B, T], lengths [B] to outputs [B, T, d_model] and a state.

    kind: "gru" or "lstm". The state is [num_layers, B, d_model]; a pair of such for an LSTM.
    Source: Bahdanau et al. 2015, section 3.2.
    """

    def __init__(self, vocab_size, d_model, num_layers=1, kind="gru"):
        super().__init__()
        if d_model % 2:
            raise ValueError(f"d_model={d_model}: it needs to be even, a half for each direction")
        self.embed = nn.Embedding(vocab_size, d_model)
        self.rnn = make_rnn(kind, d_model, d_model // 2, num_layers, bidirectional=True)

    def forward(self, src, lengths):
        check_ids(src, self.embed.num_embeddings)
        x = self.embed(src)                                                # [B, T, d_model]
        packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
        output, state = self.rnn(packed)                   # each row stops at its own last word
        output, _ = pad_packed_sequence(output, batch_first=True, total_length=src.shape[1])
        return output, both_ways(state)


class RecurrentDecoder(nn.Module):
    """Writes the target word by word, the context of each step joined to its input word.

    attention=True: the context is asked for anew at each step, with the state as the query.
    attention=False: it is the encoder's last state, the same at each step.
    Source: Bahdanau et al. 2015, section 3; Cho et al. 2014.
    """

    def __init__(self, vocab_size, d_model, num_layers=1, kind="gru", attention=True):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, d_model)
        self.attention = AdditiveAttention(d_model, d_model, d_model) if attention else None
        self.rnn = make_rnn(kind, 2 * d_model, d_model, num_layers)
        self.output = nn.Linear(d_model, vocab_size)

    def forward(self, tgt, state):
        check_ids(tgt, self.embed.num_embeddings)
        outputs = []
        for x in self.embed(tgt).split(1, dim=1):                          # [B, 1, d_model]
            context = state.context
            if self.attention is not None:
                memory = state.memory                                      # [B, T_src, d_model]
                context = self.attention(state.top(), memory, memory, state.mask)
            output, state.hidden = self.rnn(torch.cat([x, context], -1), state.hidden)
            outputs.append(output)
        return self.output(torch.cat(outputs, 1))                          # [B, T, vocab_size]


class State:
    """What the decoder knows between two steps: memory, where it may look, its own state."""

    def __init__(self, memory, mask, hidden):
        self.memory, self.mask, self.hidden = memory, mask, hidden
        self.context = self.top()

    def top(self):
        """The last layer's state as a query, [B, 1, d_model]."""
        h = self.hidden[0] if isinstance(self.hidden, tuple) else self.hidden
        return h[-1].unsqueeze(1)

    def select(self, rows):
        """Go on with these rows of the batch, [N] row numbers, in this order, with repetitions."""
        self.memory, self.mask = self.memory[rows], self.mask[rows]
        self.context = self.context[rows]
        lstm = isinstance(self.hidden, tuple)
        self.hidden = tuple(h[:, rows] for h in self.hidden) if lstm else self.hidden[:, rows]


class Seq2Seq(nn.Module):
    """Encoder and decoder; used as `Transformer` is.

    forward: src ids [B, T_src] with their lengths [B], and tgt ids [B, T] that begin with `<bos>`,
    to the scores of each next word, [B, T, tgt_vocab_size].
    Raises ValueError for a kind that is not "gru" or "lstm", and for an empty source.
    """

    def __init__(self, src_vocab_size, tgt_vocab_size, d_model, num_layers=1, kind="gru",
                 attention=True):
        super().__init__()
        self.encoder = RecurrentEncoder(src_vocab_size, d_model, num_layers, kind)
        self.decoder = RecurrentDecoder(tgt_vocab_size, d_model, num_layers, kind, attention)

    def forward(self, src, lengths, tgt):
        return self.step(tgt, self.start(src, lengths))

    def start(self, src, lengths):
        """Read the source once: the state before the first word of the target."""
        mask = source_mask(src, lengths)                                   # [B, 1, T_src]
        memory, hidden = self.encoder(src, lengths)
        return State(memory, mask, hidden)

    def step(self, tgt, state):
        """Scores after the next words, tgt [B, T], which the state then knows."""
        return self.decoder(tgt, state)


def make_rnn(kind, d_input, d_output, num_layers, bidirectional=False):
    """torch's GRU or LSTM; raise ValueError for another kind."""
    if kind not in KINDS:
        raise ValueError(f'kind={kind!r}: it needs to be "gru" or "lstm"')
    return KINDS[kind](d_input, d_output, num_layers, batch_first=True, bidirectional=bidirectional)


def both_ways(state):
    """Two directions side by side: [2 * num_layers, B, d_model / 2] to [num_layers, B, d_model]."""
    if isinstance(state, tuple):                             # an LSTM has two states
        return tuple(map(both_ways, state))
    return torch.cat([state[0::2], state[1::2]], -1)
