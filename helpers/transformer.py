"""The Transformer: its layers, their stacks, and the models Transformer, GPT and Classifier."""
import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from helpers.attention import MultiHeadAttention
from helpers.masks import causal_mask, check_indices, check_tokens, check_whole, padding_mask
from helpers.positions import SinusoidalPositions, check_vectors


class FeedForward(nn.Module):
    """Up to d_ff, an activation, down to d_model, for each token by itself: x [..., T, d_model] to the same.

    activation: ReLU in the paper. Raises ValueError for another size. Source: Vaswani et al. 2017, section 3.3.
    """

    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.0, activation: Callable = torch.relu):
        super().__init__()
        check_whole(d_model=d_model, d_ff=d_ff)
        self.up, self.down = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.activation, self.dropout = activation, nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        check_vectors(x, self.up.in_features)
        return self.down(self.dropout(self.activation(self.up(x))))


class Residual(nn.Module):
    """What surrounds each sublayer, of x [..., T, d_model]: a residual connection and layer normalisation.

    norm: "pre" gives x + layer(norm(x)); "post" gives norm(x + layer(x)), as in the paper of 2017.
    """

    def __init__(self, d_model: int, dropout: float = 0.0, norm: str = "pre"):
        super().__init__()
        if norm not in ("pre", "post"):
            raise ValueError(f'norm={norm!r}: it needs to be "pre" or "post"')
        self.norm, self.dropout = nn.LayerNorm(d_model), nn.Dropout(dropout)
        self.norm_first = norm == "pre"

    def forward(self, x: Tensor, layer: Callable) -> Tensor:
        check_vectors(x, *self.norm.normalized_shape)
        if self.norm_first:
            return x + self.dropout(layer(self.norm(x)))
        return self.norm(x + self.dropout(layer(x)))


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward: x [B, T, d_model] to the same. Source: section 3.1.

    mask: as in `MultiHeadAttention`; activation: as in `FeedForward`.
    """

    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float = 0.0, norm: str = "pre",
                 activation: Callable = torch.relu):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads, dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout, activation)
        self.residuals = nn.ModuleList(Residual(d_model, dropout, norm) for _ in range(2))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x = self.residuals[0](x, lambda x: self.self_attn(x, x, x, mask))
        return self.residuals[1](x, self.feed_forward)


class DecoderLayer(nn.Module):
    """Masked self-attention, cross-attention, feed-forward: x [B, T, d_model] to the same.

    memory [B, T_src, d_model]: the encoder's output; None where cross=False, in a model without an encoder.
    mask, memory_mask: of self-attention and of cross-attention, as in `MultiHeadAttention`.
    cache: holds keys and values of the tokens before x. Source: section 3.1.
    """

    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float = 0.0, norm: str = "pre",
                 cross: bool = True):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads, dropout)
        self.cross_attn = MultiHeadAttention(d_model, num_heads, dropout) if cross else None
        self.feed_forward = FeedForward(d_model, d_ff, dropout)
        sublayers = 3 if cross else 2
        self.residuals = nn.ModuleList(Residual(d_model, dropout, norm) for _ in range(sublayers))

    def forward(self, x: Tensor, memory: Tensor | None, mask: Tensor | None = None,
                memory_mask: Tensor | None = None, cache=None) -> Tensor:
        x = self.residuals[0](x, lambda x: self.self_attn(x, x, x, mask, cache))
        if self.cross_attn is not None:
            x = self.residuals[1](x, lambda x: self.cross_attn(x, memory, memory, memory_mask, cache))
        return self.residuals[-1](x, self.feed_forward)


class KVCache:
    """What a decoder keeps from step to step: the keys and values of the tokens so far, by attention module.

    memory [B, T_src, d_model], memory_mask [B, 1, T_src]: what cross-attention reads; None without an
    encoder. length: the number of tokens so far; rows: of the batch that is kept, "B" before there is one.
    """

    def __init__(self, memory: Tensor | None = None, memory_mask: Tensor | None = None):
        self.memory, self.memory_mask, self.length = memory, memory_mask, 0
        self.rows = "B" if memory is None else len(memory)
        self.kept = {}                                       # (keys, values) by attention module

    def get(self, attention: nn.Module) -> tuple[Tensor, Tensor] | None:
        """The keys and values of an attention so far, each [B, H, T, d_head]; None before the first."""
        return self.kept.get(attention)

    def append(self, attention: nn.Module, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Add the keys and values of new tokens, each [B, H, T, d_head]; return all of them so far."""
        if attention in self.kept:
            before_k, before_v = self.kept[attention]
            k, v = torch.cat([before_k, k], 2), torch.cat([before_v, v], 2)
        self.kept[attention], self.rows = (k, v), len(k)
        return k, v

    def select(self, rows: Tensor) -> None:
        """Keep these rows of the batch: [N] row numbers, in this order, possibly repeated."""
        self.rows = len(rows)
        self.memory = None if self.memory is None else self.memory[rows]
        self.memory_mask = None if self.memory_mask is None else self.memory_mask[rows]
        self.kept = {attention: (k[rows], v[rows]) for attention, (k, v) in self.kept.items()}


class Embedding(nn.Module):
    """Tokens and their positions: ids [B, T] to [B, T, d_model]; offset is the first token's position.

    The rows start with standard deviation d_model ** -0.5 and are multiplied by the root of d_model, so that
    they are about as large as the sines and cosines added to them. base: of these. Source: section 3.4.
    """

    def __init__(self, vocab_size: int, d_model: int, dropout: float = 0.0, base: float = 10_000.0):
        super().__init__()
        check_whole(vocab_size=vocab_size, d_model=d_model)
        self.tokens = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.tokens.weight, std=d_model**-0.5)
        self.positions, self.dropout = SinusoidalPositions(d_model, base), nn.Dropout(dropout)

    def forward(self, ids: Tensor, offset: int = 0) -> Tensor:
        x = self.tokens(ids) * math.sqrt(self.tokens.embedding_dim)        # [B, T, d_model]
        return self.dropout(self.positions(x, offset))


class Stack(nn.Module):
    """Layers, one at least, one after another, given the same context (memory, masks, cache); with pre-norm, a norm."""

    def __init__(self, layers, d_model: int, norm: str = "pre"):
        super().__init__()
        self.layers = nn.ModuleList(layers)
        check_whole(num_layers=len(self.layers))
        self.norm = nn.LayerNorm(d_model) if norm == "pre" else nn.Identity()

    def forward(self, x: Tensor, *context) -> Tensor:
        for layer in self.layers:
            x = layer(x, *context)
        return self.norm(x)


class Transformer(nn.Module):
    """The model of Vaswani et al. 2017; the defaults are its base model, but with pre-norm.

    forward: src ids [B, T_src] of lengths [B], tgt ids [B, T] to the logits of each next token,
    [B, T, tgt_vocab_size]. shared: one table for source, target and output. base: of the positions' sines.
    Raises ValueError for ids outside the vocabulary and for lengths that do not fit.
    """

    def __init__(self, src_vocab_size: int, tgt_vocab_size: int, d_model: int = 512, num_heads: int = 8,
                 d_ff: int = 2048, num_layers: int = 6, dropout: float = 0.1, norm: str = "pre",
                 shared: bool = False, base: float = 10_000.0):
        super().__init__()
        sizes, table = (d_model, num_heads, d_ff, dropout, norm), (d_model, dropout, base)
        self.encoder = Stack((EncoderLayer(*sizes) for _ in range(num_layers)), d_model, norm)
        self.decoder = Stack((DecoderLayer(*sizes) for _ in range(num_layers)), d_model, norm)
        self.tgt_embed = Embedding(tgt_vocab_size, *table)
        self.src_embed = self.tgt_embed if shared else Embedding(src_vocab_size, *table)
        self.output = nn.Linear(d_model, tgt_vocab_size, bias=False)
        if shared:
            self.output.weight = self.tgt_embed.tokens.weight

    def forward(self, src: Tensor, lengths: Tensor, tgt: Tensor) -> Tensor:
        memory, memory_mask = self.encode(src, lengths)
        return self.decode(tgt, memory, memory_mask)

    def encode(self, src: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """The encoder's output, memory [B, T_src, d_model], and its mask [B, 1, T_src]."""
        check_tokens(src, self.src_embed.tokens.num_embeddings, lengths)
        mask = padding_mask(lengths, src.shape[1])                         # [B, 1, T_src]
        return self.encoder(self.src_embed(src), mask), mask

    def decode(self, tgt: Tensor, memory: Tensor, memory_mask: Tensor,
               cache: KVCache | None = None) -> Tensor:
        """Logits after each of tgt [B, T]; with a cache, tgt continues the tokens that the cache holds."""
        x, mask = embed_next(self.tgt_embed, tgt, cache)
        return self.output(self.decoder(x, memory, mask, memory_mask, cache))

    def start(self, src: Tensor, lengths: Tensor) -> KVCache:
        """A cache that holds the source src [B, T_src] of lengths [B], and no token of the target."""
        return KVCache(*self.encode(src, lengths))

    def step(self, tgt: Tensor, cache: KVCache) -> Tensor:
        """Logits after each of the next tokens tgt [B, T], which are added to the cache."""
        return self.decode(tgt, cache.memory, cache.memory_mask, cache)


class GPT(nn.Module):
    """A Transformer without an encoder: ids [B, T] to the logits of each next token, [B, T, vocab_size].

    With a cache, the ids continue the tokens that the cache holds.
    Raises ValueError for ids outside the vocabulary. Source: Liu et al. 2018; Radford et al. 2018 (GPT).
    """

    def __init__(self, vocab_size: int, d_model: int = 512, num_heads: int = 8, d_ff: int = 2048,
                 num_layers: int = 6, dropout: float = 0.1, norm: str = "pre"):
        super().__init__()
        sizes = d_model, num_heads, d_ff, dropout, norm
        layers = (DecoderLayer(*sizes, cross=False) for _ in range(num_layers))
        self.decoder = Stack(layers, d_model, norm)
        self.embed = Embedding(vocab_size, d_model, dropout)
        self.output = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, ids: Tensor, cache: KVCache | None = None) -> Tensor:
        x, mask = embed_next(self.embed, ids, cache)                       # token + position; the causal mask
        return self.output(self.decoder(x, None, mask, None, cache))

    def step(self, ids: Tensor, cache: KVCache) -> Tensor:
        """Logits after each of the next tokens ids [B, T], which are added to the cache."""
        return self(ids, cache)


class Classifier(nn.Module):
    """An encoder, one vector for the text, logits: ids [B, T] of lengths [B] to [B, num_classes].

    pooling: "cls" takes the first token's vector, so each row has to begin with a token that stands for the
    whole text; "mean" takes the mean over the real tokens. Source: Devlin et al. 2019 (BERT).
    Raises ValueError for another pooling or norm, and for ids or lengths that do not fit.
    """

    def __init__(self, vocab_size: int, num_classes: int, d_model: int = 64, num_heads: int = 4,
                 d_ff: int = 128, num_layers: int = 1, dropout: float = 0.1, norm: str = "pre",
                 pooling: str = "cls"):
        super().__init__()
        if pooling not in ("cls", "mean"):
            raise ValueError(f'pooling={pooling!r}: it needs to be "cls" or "mean"')
        check_whole(num_classes=num_classes)
        sizes = d_model, num_heads, d_ff, dropout, norm
        self.pooling = pooling
        self.embed = Embedding(vocab_size, d_model, dropout)
        self.encoder = Stack((EncoderLayer(*sizes) for _ in range(num_layers)), d_model, norm)
        self.output = nn.Linear(d_model, num_classes)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        check_tokens(ids, self.embed.tokens.num_embeddings, lengths)
        mask = padding_mask(lengths, ids.shape[1])                         # [B, 1, T]
        x = self.encoder(self.embed(ids), mask)                            # [B, T, d_model]
        vector = x[:, 0] if self.pooling == "cls" else mean_pool(x, mask)
        return self.output(vector)                                         # [B, num_classes]


def mean_pool(x: Tensor, mask: Tensor) -> Tensor:
    """The mean of x [B, T, d_model] over the tokens where the mask [B, 1, T] is True: [B, d_model]."""
    real = mask.mT                                                         # [B, T, 1]
    return (x * real).sum(1) / real.sum(1)


def embed_next(embed: Embedding, ids: Tensor, cache: KVCache | None):
    """Vectors of the next ids [B, T] and their causal mask [T, tokens so far]; the cache counts them."""
    check_indices("ids", ids, [cache.rows if cache else "B", "T"], embed.tokens.num_embeddings)
    T, before = ids.shape[1], cache.length if cache else 0
    if cache:
        cache.length += T
    return embed(ids, before), causal_mask(T, before + T, device=ids.device)
