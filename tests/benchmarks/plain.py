"""Plain models in the published settings of two well-known texts, written here from their descriptions, to be measured against.

Zhang et al., Dive into Deep Learning, sections 11.4, 11.7 and 15.10: explicit scores, a softmax over all places with the hidden
ones at -1e6, weights that are kept, the norm after each part, every text padded to one length. Huang et al., The Annotated
Transformer: the same attention, the norm before each part and written out, and an answer for which the whole beginning is run
again at each word.
"""
import math

import torch
import torch.nn.functional as F
from torch import nn

from helpers.positions import sinusoids
from helpers.text import BOS, PAD


def hide(scores, lengths):
    """Weights from scores [B, ..., T_q, T_k], each query's keys hidden behind its length: lengths [B, 1] or [B, T_q]."""
    lengths = lengths.view(len(lengths), *[1] * (scores.dim() - 3), -1, 1)
    return scores.masked_fill(torch.arange(scores.shape[-1]) >= lengths, -1e6).softmax(-1)


class Attention(nn.Module):
    """Several heads; the weights are kept."""

    def __init__(self, d_model, num_heads, dropout, bias):
        super().__init__()
        self.projections = nn.ModuleList(nn.Linear(d_model, d_model, bias) for _ in range(4))
        self.num_heads, self.dropout, self.weights = num_heads, nn.Dropout(dropout), None

    def forward(self, x, memory, lengths):
        q, k, v = (projection(y).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
                   for projection, y in zip(self.projections, (x, memory, memory)))
        self.weights = hide(q @ k.transpose(2, 3) / math.sqrt(q.shape[-1]), lengths)
        return self.projections[3]((self.dropout(self.weights) @ v).transpose(1, 2).flatten(2))


class Norm(nn.Module):
    """The Annotated Transformer's layer norm, from mean and standard deviation."""

    def __init__(self, d_model):
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return self.scale * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-6) + self.shift


class Layer(nn.Module):
    """Of an encoder, or with cross=True of a decoder; annotated=True as in The Annotated Transformer, else as in the book."""

    def __init__(self, d_model, num_heads, d_ff, dropout, cross=False, bias=True, annotated=False):
        super().__init__()
        self.attentions = nn.ModuleList(Attention(d_model, num_heads, dropout, bias) for _ in range(1 + cross))
        self.up, self.down = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norms = nn.ModuleList((Norm if annotated else nn.LayerNorm)(d_model) for _ in range(2 + cross))
        self.dropout, self.annotated = nn.Dropout(dropout), annotated

    def around(self, norm, x, part):
        return x + self.dropout(part(norm(x))) if self.annotated else norm(x + self.dropout(part(x)))

    def feed_forward(self, x):
        x = self.up(x).relu()
        return self.down(self.dropout(x) if self.annotated else x)

    def forward(self, x, lengths, memory=None, memory_lengths=None, keys=None):
        """keys: the vectors to look at in place of x, in the book's decoder, which keeps them from word to word."""
        x = self.around(self.norms[0], x, lambda y: self.attentions[0](y, y if keys is None else keys, lengths))
        if memory is not None:
            x = self.around(self.norms[1], x, lambda y: self.attentions[1](y, memory, memory_lengths))
        return self.around(self.norms[-1], x, self.feed_forward)


class Transformer(nn.Module):
    """The model of both, used as the course's: src [B, T], lengths [B] and tgt [B, T] to scores."""

    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, dropout, bias=True, annotated=False):
        super().__init__()
        sizes = d_model, num_heads, d_ff, dropout
        self.encoder, self.decoder = (
            nn.ModuleList([*(Layer(*sizes, cross, bias, annotated) for _ in range(num_layers)),
                           Norm(d_model) if annotated else nn.Identity()]) for cross in (False, True))
        self.tgt_embed, self.src_embed = nn.Embedding(vocab_size, d_model), nn.Embedding(vocab_size, d_model)
        self.output, self.dropout = nn.Linear(d_model, vocab_size), nn.Dropout(dropout)
        self.places = sinusoids(1000, d_model)

    def embed(self, table, ids, start=0):
        return self.dropout(table(ids) * math.sqrt(table.embedding_dim) + self.places[start:start + ids.shape[1]])

    def encode(self, src, lengths):
        x, (*layers, last) = self.embed(self.src_embed, src), self.encoder
        for layer in layers:
            x = layer(x, lengths.unsqueeze(1))
        return last(x)

    def decode(self, tgt, memory, lengths, kept=None):
        """Vectors of tgt; kept: a list with those of the words before, of each layer, to which the new ones are added."""
        start, (*layers, last) = kept[0].shape[1] if kept else 0, self.decoder
        x, seen = self.embed(self.tgt_embed, tgt, start), torch.arange(start, start + tgt.shape[1]).expand(len(tgt), -1) + 1
        for i, layer in enumerate(layers):
            if kept:
                kept[i] = torch.cat([kept[i], x], 1)
            x = layer(x, seen, memory, lengths.unsqueeze(1), kept and kept[i])
        return last(x)

    def forward(self, src, lengths, tgt):
        return self.output(self.decode(tgt, self.encode(src, lengths), lengths))


class Recurrent(nn.Module):
    """The book's translator of section 11.4: GRUs that read all places, padded or not, and additive attention at each word."""

    def __init__(self, vocab_size, d_model, num_layers, dropout):
        super().__init__()
        self.src_embed, self.tgt_embed = nn.Embedding(vocab_size, d_model), nn.Embedding(vocab_size, d_model)
        self.encoder = nn.GRU(d_model, d_model, num_layers, dropout=dropout)
        self.decoder = nn.GRU(2 * d_model, d_model, num_layers, dropout=dropout)
        self.W_q, self.W_k = nn.Linear(d_model, d_model, bias=False), nn.Linear(d_model, d_model, bias=False)
        self.w_v, self.dropout = nn.Linear(d_model, 1, bias=False), nn.Dropout(dropout)
        self.output, self.weights = nn.Linear(d_model, vocab_size), []

    def forward(self, src, lengths, tgt):
        memory, state = self.encoder(self.src_embed(src).transpose(0, 1))          # time first
        memory, vectors, self.weights = memory.transpose(0, 1), [], []
        for x in self.tgt_embed(tgt).split(1, 1):
            q, k = self.W_q(state[-1]).view(len(src), 1, 1, -1), self.W_k(memory).unsqueeze(1)
            self.weights.append(hide(self.w_v((q + k).tanh()).squeeze(-1), lengths.unsqueeze(1)))
            context = self.dropout(self.weights[-1]) @ memory
            vector, state = self.decoder(torch.cat([context, x], -1).transpose(0, 1), state)
            vectors.append(vector)
        return self.output(torch.cat(vectors)).transpose(0, 1)


def masked_loss(scores, targets):
    """The book's: the losses of the places that are filled up count nothing, but are worked out."""
    real = targets.flatten() != PAD
    return (F.cross_entropy(scores.flatten(0, 1), targets.flatten(), reduction="none") * real).sum() / real.sum()


def translation_loss(model, src, lengths, tgt):
    return masked_loss(model(src, lengths, tgt[:, :-1]), tgt[:, 1:])


def divergence(model, src, lengths, tgt):
    """The Annotated Transformer's: from a distribution that is written out, all of it on the right word in the copy task."""
    logs, targets = model(src, lengths, tgt[:, :-1]).log_softmax(-1).flatten(0, 1), tgt[:, 1:].reshape(-1, 1)
    wanted = torch.zeros_like(logs).scatter(1, targets, 1.0).masked_fill(targets == PAD, 0.0)
    return F.kl_div(logs, wanted, reduction="sum") / (targets != PAD).sum()


def learn(model, optimizer, loss, batches, clip=None):
    """A step for each batch."""
    for batch in batches:
        optimizer.zero_grad()
        loss(model, *batch).backward()
        if clip:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()


@torch.no_grad()
def same_weights(ours, plain):
    """Both get the weights of ours, less the biases that only one of them has."""
    biased = plain.encoder[0].attentions[0].projections[0].bias is not None
    copied = []
    for name, parameter in ours.named_parameters():
        if name.endswith("_proj.bias") and not biased:
            parameter.zero_()
        else:
            copied.append(parameter)
    *theirs, last = plain.parameters()
    last.zero_()
    for mine, parameter in zip(copied, theirs, strict=True):
        parameter.copy_(mine)


@torch.no_grad()
def write_all_again(model, src, lengths, T):
    """The Annotated Transformer's way: at each word the decoder reads the whole beginning."""
    memory, ids = model.encode(src, lengths), torch.full((len(src), 1), BOS)
    for _ in range(T):
        ids = torch.cat([ids, model.output(model.decode(ids, memory, lengths)[:, -1:]).argmax(-1)], 1)
    return ids[:, 1:]


@torch.no_grad()
def write_from_vectors(model, src, lengths, T):
    """The book's way: the vectors of the words before are kept, their keys and values and the memory's are not."""
    memory, ids = model.encode(src, lengths), torch.full((len(src), 1), BOS)
    kept = [memory[:, :0]] * (len(model.decoder) - 1)
    for _ in range(T):
        ids = torch.cat([ids, model.output(model.decode(ids[:, -1:], memory, lengths, kept)).argmax(-1)], 1)
    return ids[:, 1:]
