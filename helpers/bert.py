"""BERT: an encoder that reads in both directions, its two heads of pretraining, and those of fine-tuning.

Source: Devlin et al. 2019. ids [B, T] begin with `[CLS]`; lengths [B] say how many of each row are real.
"""
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from helpers.masks import check_indices, check_tokens, check_whole, finite, padding_mask
from helpers.positions import LearnedPositions
from helpers.text import pad
from helpers.transformer import EncoderLayer, Stack, mean_pool

EPS = 1e-12                                                  # what BERT's layer norms add to the variance


class BertEmbedding(nn.Module):
    """Token, position and segment vectors, added and normalised: ids, segments [B, T] to [B, T, d_model].

    All three tables are learned, and start with the standard deviation d_model ** -0.5. Source: section 3.
    Raises ValueError for more than max_len tokens.
    """

    def __init__(self, vocab_size: int, d_model: int, max_len: int = 512, num_segments: int = 2,
                 dropout: float = 0.1):
        super().__init__()
        check_whole(vocab_size=vocab_size, d_model=d_model, num_segments=num_segments)
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = LearnedPositions(max_len, d_model)
        self.segments = nn.Embedding(num_segments, d_model)
        self.norm, self.dropout = nn.LayerNorm(d_model, eps=EPS), nn.Dropout(dropout)
        for table in (self.tokens, self.segments):
            nn.init.normal_(table.weight, std=d_model**-0.5)

    def forward(self, ids: Tensor, segments: Tensor) -> Tensor:
        x = self.tokens(ids) + self.segments(segments)                     # [B, T, d_model]
        return self.dropout(self.norm(self.positions(x)))


class Bert(nn.Module):
    """The encoder: ids [B, T] of lengths [B] to vectors [B, T, d_model]; the defaults are the base model.

    segments [B, T]: 0 for the first text, 1 for the second; all 0 if None. pooler=False leaves out the layer
    that `pool` needs. Source: Devlin et al. 2019, section 3.
    Raises ValueError for ids, lengths, segments or positions that do not fit.
    """

    def __init__(self, vocab_size: int = 30_522, d_model: int = 768, num_heads: int = 12, d_ff: int = 3072,
                 num_layers: int = 12, max_len: int = 512, num_segments: int = 2, dropout: float = 0.1,
                 norm: str = "post", pooler: bool = True):
        super().__init__()
        sizes = d_model, num_heads, d_ff, dropout, norm
        self.embed = BertEmbedding(vocab_size, d_model, max_len, num_segments, dropout)
        layers = (EncoderLayer(*sizes, activation=F.gelu) for _ in range(num_layers))
        self.encoder = Stack(layers, d_model, norm)
        self.pooler = nn.Linear(d_model, d_model) if pooler else None
        set_eps(self)

    def forward(self, ids: Tensor, lengths: Tensor, segments: Tensor | None = None) -> Tensor:
        check_tokens(ids, self.embed.tokens.num_embeddings, lengths)
        segments = torch.zeros_like(ids) if segments is None else segments
        check_indices("segments", segments, ids.shape, self.embed.segments.num_embeddings)
        mask = padding_mask(lengths, ids.shape[1])                         # [B, 1, T]
        return self.encoder(self.embed(ids, segments), mask)               # [B, T, d_model]

    def pool(self, x: Tensor) -> Tensor:
        """One vector for the whole text, made from that of `[CLS]`: x [B, T, d_model] to [B, d_model]."""
        if self.pooler is None:
            raise ValueError("this BERT has no pooler: it was made, or read from a file, without one")
        return self.pooler(x[:, 0]).tanh()


class MaskedLMHead(nn.Module):
    """Logits of the token at each given position: x [B, T, d_model], positions [B, P] to [B, P, vocab_size].

    embedding: the model's token embedding; its weight is the output weight, too (tied). Source: section 3.1.
    """

    def __init__(self, embedding: nn.Embedding, eps: float = EPS):
        super().__init__()
        vocab_size, d_model = embedding.weight.shape
        self.transform, self.norm = nn.Linear(d_model, d_model), nn.LayerNorm(d_model, eps=eps)
        self.output = nn.Linear(d_model, vocab_size)
        self.output.weight = embedding.weight

    def forward(self, x: Tensor, positions: Tensor) -> Tensor:
        x = x.gather(1, positions.long().unsqueeze(-1).expand(-1, -1, x.shape[-1]))        # [B, P, d_model]
        return self.output(self.norm(F.gelu(self.transform(x))))           # [B, P, vocab_size]


class BertForPretraining(nn.Module):
    """BERT with its two heads of pretraining: (masked LM logits, next sentence logits).

    forward: ids, segments [B, T], lengths [B], positions [B, P] to [B, P, vocab_size] and [B, 2]; column 1 of
    the second is for a text that follows the first. A head that is left out gives None.
    Raises ValueError for positions that are not [B, P], from 0 to T - 1.
    """

    def __init__(self, bert: Bert, mlm_head: bool = True, nsp_head: bool = True):
        super().__init__()
        d_model = bert.embed.tokens.embedding_dim
        self.bert = bert
        self.mlm_head = MaskedLMHead(bert.embed.tokens, bert.embed.norm.eps) if mlm_head else None
        self.nsp_head = nn.Linear(d_model, 2) if nsp_head else None

    def forward(self, ids: Tensor, lengths: Tensor, segments: Tensor, positions: Tensor):
        x = self.bert(ids, lengths, segments)                              # [B, T, d_model]
        check_indices("positions", positions, [ids.shape[0], "P"], ids.shape[1], "this text has")
        return (self.mlm_head(x, positions) if self.mlm_head else None,
                self.nsp_head(self.bert.pool(x)) if self.nsp_head else None)


class BertClassifier(nn.Module):
    """Logits for one text or a pair of texts: ids, segments [B, T] to [B, num_classes].

    With num_classes=1 it is a regression. Source: section 4.1.
    """

    def __init__(self, bert: Bert, num_classes: int, dropout: float = 0.1):
        super().__init__()
        check_whole(num_classes=num_classes)
        self.bert, self.dropout = bert, nn.Dropout(dropout)
        self.output = nn.Linear(bert.embed.tokens.embedding_dim, num_classes)

    def forward(self, ids: Tensor, lengths: Tensor, segments: Tensor | None = None) -> Tensor:
        return self.output(self.dropout(self.bert.pool(self.bert(ids, lengths, segments))))


class BertTagger(BertClassifier):
    """Logits for each token: ids, segments [B, T] to [B, T, num_classes]. Source: section 5.3."""

    def forward(self, ids: Tensor, lengths: Tensor, segments: Tensor | None = None) -> Tensor:
        return self.output(self.dropout(self.bert(ids, lengths, segments)))


def best_span(logits: Tensor, allowed: Tensor, max_len: int | None = None) -> tuple[int, int]:
    """(start, end) of the best answer, both included: the largest sum of start and end logits, start <= end.

    logits: [T, 2], of a tagger with two tags, start and end. allowed: boolean [T], True where an answer may
    lie; max_len: the largest number of its tokens, 1 or more. Raises ValueError where no token is allowed or finite.
    Source: section 4.2.
    """
    if allowed.dtype != torch.bool or logits.shape != (len(allowed), 2) or not allowed.any():
        raise ValueError(f"logits {list(logits.shape)}, {int(allowed.sum())} of {len(allowed)} tokens allowed, "
                         f"{allowed.dtype}: logits need to be [T, 2], and one token at least allowed, torch.bool")
    start, end = logits.masked_fill(~allowed.unsqueeze(1), -torch.inf).unbind(1)
    total = start.unsqueeze(1) + end                                       # [T start, T end]
    spans = torch.ones_like(total, dtype=torch.bool).triu()
    if max_len is not None:
        check_whole(max_len=max_len)
        spans = spans.tril(max_len - 1)
    best = finite(total.masked_fill(~spans, -torch.inf).flatten()).argmax()
    return divmod(int(best), len(logits))


def sentence_vectors(bert: Bert, tokenizer, sentences: list[str]) -> Tensor:
    """One vector of length 1 for each sentence, the mean over its tokens: [B, d_model]."""
    ids, lengths = pad([found.ids for found in tokenizer.encode_batch(sentences)])         # [B, T]
    with torch.no_grad():
        x = bert(ids, lengths)                                             # [B, T, d_model]
    return F.normalize(mean_pool(x, padding_mask(lengths, ids.shape[1])), dim=-1)


def set_eps(model: nn.Module, eps: float = EPS) -> None:
    """Set what each layer norm adds to the variance; torch's own 1e-5 would show in small vectors."""
    for module in model.modules():
        if isinstance(module, nn.LayerNorm):
            module.eps = eps
