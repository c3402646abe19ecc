"""Recurrent sequence-to-sequence models, without attention and with that of Bahdanau et al. 2015."""
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from helpers.attention import AdditiveAttention
from helpers.masks import check_indices, check_tokens, check_whole, padding_mask

KINDS = {"gru": nn.GRU, "lstm": nn.LSTM}


class RecurrentEncoder(nn.Module):
    """Reads the source: ids [B, T] of lengths [B] to outputs [B, T, d_model] and the final hidden state.

    kind: "gru" or "lstm". bidirectional: in both directions, each with d_model / 2 numbers; else from left to
    right. d_embed: size of the token vectors, d_model if not given. dropout: on the token vectors, and
    between layers. The state is [num_layers, B, d_model]; for an LSTM a pair (state, cell) of these. Source:
    Bahdanau et al. 2015, section 3.2.
    """

    def __init__(self, vocab_size: int, d_model: int, num_layers: int = 1, kind: str = "gru",
                 dropout: float = 0.0, d_embed: int | None = None, bidirectional: bool = True):
        super().__init__()
        if bidirectional and d_model % 2:
            raise ValueError(f"d_model={d_model}: it needs to be even, a half for each direction")
        d_embed, d_each = d_model if d_embed is None else d_embed, d_model // 2 if bidirectional else d_model
        check_whole(vocab_size=vocab_size, d_model=d_model, d_embed=d_embed)
        self.embed, self.dropout = nn.Embedding(vocab_size, d_embed), nn.Dropout(dropout)
        self.rnn = make_rnn(kind, d_embed, d_each, num_layers, dropout, bidirectional)

    def forward(self, src: Tensor, lengths: Tensor):
        x = self.dropout(self.embed(src))                                  # [B, T, d_embed]
        packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
        output, state = self.rnn(packed)                   # each row stops at its own last token
        output, _ = pad_packed_sequence(output, batch_first=True, total_length=src.shape[1])
        return output, join_directions(state) if self.rnn.bidirectional else state


class RecurrentDecoder(nn.Module):
    """Predicts the target token by token: tgt [B, T] and a `State` to logits [B, T, vocab_size].

    The input of a step is its token's vector beside a context vector. attention=True: the context is computed
    anew at each step, with the hidden state as the query. attention=False: it is the encoder's final state,
    the same at each step. The other arguments are those of `RecurrentEncoder`. Source: Bahdanau et al. 2015,
    section 3; Cho et al. 2014.
    """

    def __init__(self, vocab_size: int, d_model: int, num_layers: int = 1, kind: str = "gru",
                 attention: bool = True, dropout: float = 0.0, d_embed: int | None = None):
        super().__init__()
        d_embed = d_model if d_embed is None else d_embed
        check_whole(vocab_size=vocab_size, d_model=d_model, d_embed=d_embed)
        self.embed, self.dropout = nn.Embedding(vocab_size, d_embed), nn.Dropout(dropout)
        self.attention = AdditiveAttention(d_model, d_model, d_model) if attention else None
        self.rnn = make_rnn(kind, d_embed + d_model, d_model, num_layers, dropout)
        self.output = nn.Linear(d_model, vocab_size)

    def forward(self, tgt: Tensor, state: "State") -> Tensor:
        outputs = []
        for x in self.dropout(self.embed(tgt)).split(1, dim=1):            # [B, 1, d_embed]
            context = state.context
            if self.attention is not None:
                memory = state.memory                                      # [B, T_src, d_model]
                context = self.attention(state.top(), memory, memory, state.mask)
            output, state.hidden = self.rnn(torch.cat([x, context], -1), state.hidden)
            outputs.append(output)
        return self.output(torch.cat(outputs, 1))                          # [B, T, vocab_size]


class State:
    """What the decoder keeps between two steps: the memory, its mask, the hidden state and the context."""

    def __init__(self, memory: Tensor, mask: Tensor, hidden):
        self.memory, self.mask, self.hidden = memory, mask, hidden
        self.context = self.top()

    def top(self) -> Tensor:
        """The last layer's hidden state as a query, [B, 1, d_model]."""
        h = self.hidden[0] if isinstance(self.hidden, tuple) else self.hidden
        return h[-1].unsqueeze(1)

    def select(self, rows: Tensor) -> None:
        """Keep these rows of the batch: [N] row numbers, in this order, possibly repeated."""
        self.memory, self.mask = self.memory[rows], self.mask[rows]
        self.context = self.context[rows]
        lstm = isinstance(self.hidden, tuple)
        self.hidden = tuple(h[:, rows] for h in self.hidden) if lstm else self.hidden[:, rows]


class Seq2Seq(nn.Module):
    """Encoder and decoder. `start`, `step` and the call are those of lesson 7's `Transformer`, too.

    forward: src ids [B, T_src] with their lengths [B], and tgt ids [B, T] that begin with `<bos>`,
    to the logits of each next token, [B, T, tgt_vocab_size].
    kind, dropout, d_embed, bidirectional: as in `RecurrentEncoder`.
    Raises ValueError for a kind that is not "gru" or "lstm", for an empty source or target, and for another batch.
    """

    def __init__(self, src_vocab_size: int, tgt_vocab_size: int, d_model: int, num_layers: int = 1, kind: str = "gru",
                 attention: bool = True, dropout: float = 0.0, d_embed: int | None = None, bidirectional: bool = True):
        super().__init__()
        self.encoder = RecurrentEncoder(src_vocab_size, d_model, num_layers, kind, dropout, d_embed, bidirectional)
        self.decoder = RecurrentDecoder(tgt_vocab_size, d_model, num_layers, kind, attention, dropout, d_embed)

    def forward(self, src: Tensor, lengths: Tensor, tgt: Tensor) -> Tensor:
        return self.step(tgt, self.start(src, lengths))

    def start(self, src: Tensor, lengths: Tensor) -> State:
        """Read the source: the state before the first token of the target."""
        check_tokens(src, self.encoder.embed.num_embeddings, lengths)
        check_whole(rows=len(src))
        memory, hidden = self.encoder(src, lengths)
        return State(memory, padding_mask(lengths, src.shape[1]), hidden)  # mask [B, 1, T_src]

    def step(self, tgt: Tensor, state: State) -> Tensor:
        """Logits after each of the next tokens tgt [B, T], by which the state is advanced."""
        check_indices("tgt", tgt, [len(state.memory), "T"], self.decoder.embed.num_embeddings)
        check_whole(tokens=tgt.shape[1])
        return self.decoder(tgt, state)


def make_rnn(kind, d_input, d_output, num_layers, dropout=0.0, bidirectional=False):
    """torch's GRU or LSTM, with dropout between its layers; raise ValueError for another kind, and for no layer."""
    check_whole(num_layers=num_layers)
    if kind not in KINDS:
        raise ValueError(f'kind={kind!r}: it needs to be "gru" or "lstm"')
    between = dropout if num_layers > 1 else 0.0             # torch warns about dropout after the last layer
    return KINDS[kind](d_input, d_output, num_layers, batch_first=True, dropout=between, bidirectional=bidirectional)


def join_directions(state):
    """Two directions side by side: [2 * num_layers, B, d_model / 2] to [num_layers, B, d_model]."""
    if isinstance(state, tuple):                             # an LSTM has two states
        return tuple(map(join_directions, state))
    return torch.cat([state[0::2], state[1::2]], -1)
