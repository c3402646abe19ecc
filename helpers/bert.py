"""BERT: an encoder that reads in both directions, the two heads it learns with, and those it is then used with.

Source: Devlin et al. 2019. Sizes are as in the other models; ids [B, T] begin with `[CLS]`, and lengths [B] say how many are real.
"""
import torch
import torch.nn.functional as F
from torch import nn

from helpers.masks import check_ids, source_mask
from helpers.positions import LearnedPositions, sinusoids
from helpers.transformer import EncoderLayer, Stack


class BertEmbedding(nn.Module):
    """Word, place and segment, added and normalised: ids, segments [B, T] to [B, T, d_model].

    The table of places is learned like the others, but starts as waves, so that neighbours can be
    found early; the paper starts at random, and trains for a million steps. Source: section 3.
    Raises ValueError for ids, segments or places that a table does not have.
    """

    def __init__(self, vocab_size, d_model, max_len=512, num_segments=2, dropout=0.1):
        super().__init__()
        self.words = nn.Embedding(vocab_size, d_model)
        self.positions = LearnedPositions(max_len, d_model)
        self.segments = nn.Embedding(num_segments, d_model)
        self.norm, self.dropout = nn.LayerNorm(d_model), nn.Dropout(dropout)
        for table in (self.words, self.segments):
            nn.init.normal_(table.weight, std=d_model**-0.5)
        self.positions.table.data = 3 * d_model**-0.5 * sinusoids(max_len, d_model, base=10)

    def forward(self, ids, segments):
        check_ids(ids, self.words.num_embeddings)
        check_segments(segments, ids, self.segments.num_embeddings)
        x = self.words(ids) + self.segments(segments)                      # [B, T, d_model]
        return self.dropout(self.norm(self.positions(x)))


class Bert(nn.Module):
    """ids [B, T] of lengths [B] to vectors [B, T, d_model]; the defaults are the base model.

    segments [B, T]: 0 for the first text, 1 for the second; all 0 if None. pooler=False leaves out
    the layer of `pool`. Source: Devlin et al. 2019, section 3.
    """

    def __init__(self, vocab_size=30_522, d_model=768, num_heads=12, d_ff=3072, num_layers=12,
                 max_len=512, num_segments=2, dropout=0.1, norm="post", pooler=True):
        super().__init__()
        sizes = d_model, num_heads, d_ff, dropout, norm
        self.embed = BertEmbedding(vocab_size, d_model, max_len, num_segments, dropout)
        layers = (EncoderLayer(*sizes, activation=F.gelu) for _ in range(num_layers))
        self.encoder = Stack(layers, d_model, norm)
        self.pooler = nn.Linear(d_model, d_model) if pooler else None
        set_eps(self)

    def forward(self, ids, lengths, segments=None):
        mask = source_mask(ids, lengths)                                   # [B, 1, T]
        segments = torch.zeros_like(ids) if segments is None else segments
        return self.encoder(self.embed(ids, segments), mask)               # [B, T, d_model]

    def pool(self, x):
        """One vector for the whole, from that of `[CLS]`: x [B, T, d_model] to [B, d_model]."""
        if self.pooler is None:
            raise ValueError("this BERT has no pooler: it was made or read from a file without one")
        return self.pooler(x[:, 0]).tanh()


class MaskedWordHead(nn.Module):
    """Which word is at each position: x [B, T, d_model], positions [B, P] to [B, P, vocab_size].

    words: the embedding of the model, whose rows score the words here as well. Source: section 3.1.
    """

    def __init__(self, words):
        super().__init__()
        vocab_size, d_model = words.weight.shape
        self.transform, self.norm = nn.Linear(d_model, d_model), nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size)
        self.output.weight = words.weight

    def forward(self, x, positions):
        x = x.take_along_dim(positions.unsqueeze(-1), 1)                   # [B, P, d_model]
        return self.output(self.norm(F.gelu(self.transform(x))))           # [B, P, vocab_size]


class BertForPretraining(nn.Module):
    """BERT with the two heads it learns with: (scores of words, scores of "is next").

    forward: ids, segments [B, T], lengths [B], positions [B, P] to [B, P, vocab_size] and [B, 2],
    whose column 1 is for a second text that follows the first. A head that is left out gives None.
    """

    def __init__(self, bert, masked_words=True, next_sentence=True):
        super().__init__()
        d_model = bert.embed.words.embedding_dim
        self.bert = bert
        self.masked_words = MaskedWordHead(bert.embed.words) if masked_words else None
        self.next_sentence = nn.Linear(d_model, 2) if next_sentence else None
        set_eps(self)

    def forward(self, ids, lengths, segments, positions):
        x = self.bert(ids, lengths, segments)                              # [B, T, d_model]
        return (self.masked_words(x, positions) if self.masked_words else None,
                self.next_sentence(self.bert.pool(x)) if self.next_sentence else None)


class BertClassifier(nn.Module):
    """Scores for the whole of one text or two: ids, segments [B, T] to [B, num_classes].

    num_classes=1 makes it a regression. Source: section 4.1.
    """

    def __init__(self, bert, num_classes, dropout=0.1):
        super().__init__()
        self.bert, self.dropout = bert, nn.Dropout(dropout)
        self.output = nn.Linear(bert.embed.words.embedding_dim, num_classes)

    def forward(self, ids, lengths, segments=None):
        return self.output(self.dropout(self.bert.pool(self.bert(ids, lengths, segments))))


class BertTagger(nn.Module):
    """Scores for every token: ids, segments [B, T] to [B, T, num_tags]. Source: section 5.3."""

    def __init__(self, bert, num_tags, dropout=0.1):
        super().__init__()
        self.bert, self.dropout = bert, nn.Dropout(dropout)
        self.output = nn.Linear(bert.embed.words.embedding_dim, num_tags)

    def forward(self, ids, lengths, segments=None):
        return self.output(self.dropout(self.bert(ids, lengths, segments)))


def best_span(scores, allowed, max_len=None):
    """(start, end) of the best answer, both inside it: the largest start + end score, start <= end.

    scores: [T, 2], of a tagger with two tags, start and end. allowed: boolean [T], True where an
    answer may be; max_len: the most tokens of one, 1 or more. Raises ValueError where no token is
    allowed. Source: section 4.2.
    """
    if scores.dim() != 2 or scores.shape != (len(allowed), 2) or not allowed.any():
        raise ValueError(f"scores {list(scores.shape)}, {int(allowed.sum())} of {len(allowed)} "
                         "tokens allowed: scores need to be [T, 2], and one token at least allowed")
    if max_len is not None and max_len < 1:
        raise ValueError(f"max_len={max_len}: an answer has one token at least")
    start, end = scores.masked_fill(~allowed.unsqueeze(1), -torch.inf).unbind(1)
    total = start.unsqueeze(1) + end                                       # [T start, T end]
    spans = torch.ones_like(total, dtype=torch.bool).triu()
    if max_len is not None:
        spans = spans.tril(max_len - 1)
    best = total.masked_fill(~spans, -torch.inf).argmax()
    return divmod(int(best), len(scores))


def set_eps(model, eps=1e-12):
    """Give every layer norm what BERT adds to the variance; torch adds 1e-5, enough to be seen in small vectors."""
    for module in model.modules():
        if isinstance(module, nn.LayerNorm):
            module.eps = eps


def check_segments(segments, ids, num_segments):
    """Raise unless there is a segment for each id, from 0 to num_segments - 1."""
    if segments.shape != ids.shape:
        raise ValueError(f"segments of shape {list(segments.shape)} for ids of shape {list(ids.shape)}: they need to be the same")
    if segments.numel() and not 0 <= int(segments.min()) <= int(segments.max()) < num_segments:
        raise ValueError(f"segments from {int(segments.min())} to {int(segments.max())}: "
                         f"the table has rows for 0 to {num_segments - 1}")
