"""The Transformer: encoder and decoder layers, their stacks, and the two models made of them."""
import math

import torch
from torch import nn

from helpers.attention import MultiHeadAttention
from helpers.masks import causal_mask, check_ids, source_mask
from helpers.positions import SinusoidalPositions


class FeedForward(nn.Module):
    """Up, an activation, down, for each word by itself: x [..., d_model] to the same.

    activation: ReLU in the paper. Source: Vaswani et al. 2017, section 3.3.
    """

    def __init__(self, d_model, d_ff, dropout=0.0, activation=torch.relu):
        super().__init__()
        self.up, self.down = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.activation, self.dropout = activation, nn.Dropout(dropout)

    def forward(self, x):
        return self.down(self.dropout(self.activation(self.up(x))))


class Residual(nn.Module):
    """What is around every layer: a sum that keeps the input, and a layer norm.

    norm: "pre" gives x + layer(norm(x)), "post" norm(x + layer(x)), as in the paper of 2017.
    """

    def __init__(self, d_model, dropout=0.0, norm="pre"):
        super().__init__()
        check_norm(norm)
        self.norm, self.dropout = nn.LayerNorm(d_model), nn.Dropout(dropout)
        self.norm_first = norm == "pre"

    def forward(self, x, layer):
        if self.norm_first:
            return x + self.dropout(layer(self.norm(x)))
        return self.norm(x + self.dropout(layer(x)))


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward: x [B, T, d_model] to the same. Source: section 3.1.

    mask: as in `MultiHeadAttention`; activation: as in `FeedForward`.
    """

    def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm="pre", activation=torch.relu):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads, dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout, activation)
        self.residuals = nn.ModuleList(Residual(d_model, dropout, norm) for _ in range(2))

    def forward(self, x, mask=None):
        x = self.residuals[0](x, lambda x: self.self_attn(x, x, x, mask))
        return self.residuals[1](x, self.feed_forward)


class DecoderLayer(nn.Module):
    """Masked self-attention, cross-attention, feed-forward: x [B, T, d_model] to the same.

    cache: knows the memory and the words before x. cross=False: for a model without an encoder.
    Source: section 3.1.
    """

    def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm="pre", cross=True):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads, dropout)
        self.cross_attn = MultiHeadAttention(d_model, num_heads, dropout) if cross else None
        self.feed_forward = FeedForward(d_model, d_ff, dropout)
        sublayers = 3 if cross else 2
        self.residuals = nn.ModuleList(Residual(d_model, dropout, norm) for _ in range(sublayers))

    def forward(self, x, mask, cache):
        own, cross = self.self_attn, self.cross_attn
        x = self.residuals[0](x, lambda x: own.look(x, *cache.grow(own, x), mask))
        if cross:
            x = self.residuals[1](x, lambda x: cross.look(x, *cache.keep(cross), cache.memory_mask))
        return self.residuals[-1](x, self.feed_forward)


class Cache:
    """What a decoder keeps from step to step: the memory, and keys and values of the words so far.

    memory [B, T_src, d_model], memory_mask [B, 1, T_src]; length: the number of words so far.
    """

    def __init__(self, memory=None, memory_mask=None):
        self.memory, self.memory_mask, self.length = memory, memory_mask, 0
        self.kept = {}                                       # keys and values, by their attention

    def grow(self, attention, x):
        """Keys and values of the words so far, with those of the new ones, x [B, T, d_model]."""
        new = attention.keys_and_values(x, x)                # [B, H, T, d_head]
        if attention in self.kept:
            new = [torch.cat(pair, 2) for pair in zip(self.kept[attention], new)]
        self.kept[attention] = new
        return new

    def keep(self, attention):
        """Keys and values of the memory, projected once."""
        if attention not in self.kept:
            self.kept[attention] = attention.keys_and_values(self.memory, self.memory)
        return self.kept[attention]

    def select(self, rows):
        """Go on with these rows of the batch, [N] row numbers, in this order, with repetitions."""
        if self.memory is not None:
            self.memory, self.memory_mask = self.memory[rows], self.memory_mask[rows]
        self.kept = {attention: [x[rows] for x in kept] for attention, kept in self.kept.items()}


class Embedding(nn.Module):
    """Words and their places: ids [B, T] to [B, T, d_model]; offset is the first word's place.

    Rows start with standard deviation d_model ** -0.5 and are multiplied by its root, so that words
    are as large as the sines and cosines added to them. base: of these. Source: section 3.4.
    Raises ValueError for an id that the table does not have.
    """

    def __init__(self, vocab_size, d_model, dropout=0.0, base=10_000.0):
        super().__init__()
        self.words = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.words.weight, std=d_model**-0.5)
        self.positions, self.dropout = SinusoidalPositions(base), nn.Dropout(dropout)

    def forward(self, ids, offset=0):
        check_ids(ids, self.words.num_embeddings)
        x = self.words(ids) * math.sqrt(self.words.embedding_dim)          # [B, T, d_model]
        return self.dropout(self.positions(x, offset))


class Stack(nn.Module):
    """Layers one upon the other; with pre-norm, one more norm on top."""

    def __init__(self, layers, d_model, norm="pre"):
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.norm = nn.LayerNorm(d_model) if norm == "pre" else nn.Identity()

    def forward(self, x, *context):
        for layer in self.layers:
            x = layer(x, *context)
        return self.norm(x)


class Transformer(nn.Module):
    """The model of Vaswani et al. 2017; the defaults are its base model, but for the norm.

    forward: to scores [B, T, tgt_vocab_size] of each word after tgt [B, T]. base: of the waves.
    """

    def __init__(self, src_vocab_size, tgt_vocab_size, d_model=512, num_heads=8, d_ff=2048,
                 num_layers=6, dropout=0.1, norm="pre", shared=False, base=10_000.0):
        super().__init__()
        sizes, table = (d_model, num_heads, d_ff, dropout, norm), (d_model, dropout, base)
        self.encoder = Stack((EncoderLayer(*sizes) for _ in range(num_layers)), d_model, norm)
        self.decoder = Stack((DecoderLayer(*sizes) for _ in range(num_layers)), d_model, norm)
        self.tgt_embed = Embedding(tgt_vocab_size, *table)
        self.src_embed = self.tgt_embed if shared else Embedding(src_vocab_size, *table)
        self.output = nn.Linear(d_model, tgt_vocab_size, bias=False)
        if shared:
            self.output.weight = self.tgt_embed.words.weight

    def forward(self, src, lengths, tgt):
        return self.step(tgt, self.start(src, lengths))

    def start(self, src, lengths):
        """A cache that knows src [B, T_src] of lengths [B], and no word of the target."""
        mask = source_mask(src, lengths)                                   # [B, 1, T_src]
        return Cache(self.encoder(self.src_embed(src), mask), mask)

    def step(self, tgt, cache):
        """Scores after the next words, tgt [B, T], of which the cache then knows."""
        return self.output(decode(self.decoder, self.tgt_embed, tgt, cache))


class DecoderOnly(nn.Module):
    """A Transformer without an encoder: ids [B, T] to scores of each next word [B, T, vocab_size].

    Source: Liu et al. 2018; Radford et al. 2018 (GPT).
    """

    def __init__(self, vocab_size, d_model=512, num_heads=8, d_ff=2048, num_layers=6, dropout=0.1,
                 norm="pre"):
        super().__init__()
        sizes = d_model, num_heads, d_ff, dropout, norm
        layers = (DecoderLayer(*sizes, cross=False) for _ in range(num_layers))
        self.decoder = Stack(layers, d_model, norm)
        self.embed = Embedding(vocab_size, d_model, dropout)
        self.output = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, ids):
        return self.step(ids, Cache())

    def step(self, ids, cache):
        """Scores after the next words, ids [B, T], of which the cache then knows."""
        return self.output(decode(self.decoder, self.embed, ids, cache))


class Classifier(nn.Module):
    """An encoder, one vector for all words, scores of classes: ids [B, T] to [B, num_classes].

    pooling: "cls" takes the first word's vector, so a token that stands for the whole is put in
    front of each row; "mean" takes the mean over the real words. Source: Devlin et al. 2019 (BERT).
    Raises ValueError for another pooling or norm, and for ids or lengths that do not fit.
    """

    def __init__(self, vocab_size, num_classes, d_model=64, num_heads=4, d_ff=128, num_layers=1,
                 dropout=0.1, norm="pre", pooling="cls"):
        super().__init__()
        if pooling not in ("cls", "mean"):
            raise ValueError(f'pooling={pooling!r}: it needs to be "cls" or "mean"')
        sizes = d_model, num_heads, d_ff, dropout, norm
        self.pooling = pooling
        self.embed = Embedding(vocab_size, d_model, dropout)
        self.encoder = Stack((EncoderLayer(*sizes) for _ in range(num_layers)), d_model, norm)
        self.output = nn.Linear(d_model, num_classes)

    def forward(self, ids, lengths):
        mask = source_mask(ids, lengths)                                   # [B, 1, T]
        x = self.encoder(self.embed(ids), mask)                            # [B, T, d_model]
        vector = x[:, 0] if self.pooling == "cls" else mean_over_words(x, mask)
        return self.output(vector)                                         # [B, num_classes]


def mean_over_words(x, mask):
    """The mean of x [B, T, d_model] over the words that the mask [B, 1, T] shows: [B, d_model]."""
    real = mask.mT                                                         # [B, T, 1]
    return (x * real).sum(1) / real.sum(1)


def decode(decoder, embed, ids, cache):
    """The decoder's vectors for the next words, ids [B, T]; each sees itself and those before."""
    T = ids.shape[-1]
    x = embed(ids, cache.length)                                           # [B, T, d_model]
    cache.length += T
    return decoder(x, causal_mask(T, cache.length, device=ids.device), cache)


def check_norm(norm):
    """Raise unless norm is one of the two."""
    if norm not in ("pre", "post"):
        raise ValueError(f'norm={norm!r}: it needs to be "pre" or "post"')
