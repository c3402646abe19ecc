"""BERT's two objectives, masked tokens and next sentences: batches, losses, and how good a model is at both.

Source: Devlin et al. 2019, sections 3.1 and A.1.
"""
import math
import random
from collections import Counter
from collections.abc import Iterable, Iterator

import torch
import torch.nn.functional as F
from tokenizers import BertWordPieceTokenizer
from torch import Tensor, nn

from helpers.masks import check_indices, check_whole
from helpers.text import BERT_SPECIAL, PAD, groups_of_like_length, pad
from helpers.training import to_device


def mask_tokens(ids: Tensor, special, mask_id: int, vocab_size: int, share: float = 0.15,
                generator: torch.Generator | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Choose tokens, mask most: ids [B, T] to masked_ids [B, T], positions [B, P], labels [B, P].

    Of each row, `share` of the tokens that are not among the ids `special` are chosen, at least
    one. Of these 80 % become mask_id, 10 % a random token, and 10 % stay. positions says where
    they are, labels what was there; rows with fewer than P end in position 0 and `[PAD]`.
    Raises ValueError for other ids, no rows, a row without a token to mask, and a share outside 0 to 1.
    """
    check_indices("ids", ids, ["B", "T"], vocab_size, "the vocabulary has")
    check_whole(rows=len(ids))
    if not 0 <= share <= 1:
        raise ValueError(f"share={share}: it needs to be from 0 to 1")
    special = torch.as_tensor(sorted(special))
    ordinary = ~torch.isin(ids, special)                                   # [B, T]
    if not ordinary.any(1).all():
        raise ValueError(f"row {int(ordinary.any(1).long().argmin())} has no token to mask")
    counts = (share * ordinary.sum(1)).round().long().clamp(min=1)         # [B]
    numbers = torch.rand(ids.shape, generator=generator).masked_fill(~ordinary, 2.0)
    P = int(counts.max())
    positions = numbers.argsort(1)[:, :P]                                  # [B, P]
    labels = ids.gather(1, positions)
    fill = torch.rand(labels.shape, generator=generator)
    known = torch.arange(vocab_size)
    known = known[~torch.isin(known, special)]
    other = known[torch.randint(len(known), labels.shape, generator=generator)]
    shown = torch.where(fill < 0.8, mask_id, torch.where(fill < 0.9, other, labels))
    too_many = torch.arange(P) >= counts.unsqueeze(1)                      # [B, P]
    masked_ids = ids.scatter(1, positions, torch.where(too_many, labels, shown).to(ids))
    return masked_ids, positions.masked_fill(too_many, 0), labels.masked_fill(too_many, PAD)


class SentencePairs:
    """Pairs of sentences, made from paragraphs, lists of two or more sentences; each a list of ids.

    Half of the pairs are a sentence and the one after it, half a sentence and one from anywhere that never
    comes after it. Raises ValueError where there are fewer than two paragraphs, or one with a single sentence.
    """

    def __init__(self, paragraphs: list[list[list[int]]]):
        if len(paragraphs) < 2 or any(len(paragraph) < 2 for paragraph in paragraphs):
            raise ValueError(f"{len(paragraphs)} paragraphs: at least two are needed, each of two sentences or more")
        self.real = [pair for paragraph in paragraphs for pair in zip(paragraph, paragraph[1:])]
        self.sentences = [sentence for paragraph in paragraphs for sentence in paragraph]
        self.after = {}
        for first, second in self.real:
            self.after.setdefault(tuple(first), set()).add(tuple(second))

    def one_pass(self, seed: int) -> list[tuple]:
        """A list of (first, second, is_next): each real pair once, or its first sentence with a wrong second one."""
        rng = random.Random(seed)
        pairs = rng.sample(self.real, len(self.real))
        return [(first, second, True) if i % 2 else (first, self.stranger(first, rng), False)
                for i, (first, second) in enumerate(pairs)]

    def stranger(self, first, rng):
        """A sentence that never comes after the first one, and is another."""
        for _ in range(1000):
            sentence = rng.choice(self.sentences)
            if tuple(sentence) not in self.after[tuple(first)] and sentence != first:
                return sentence
        raise ValueError(f"no wrong second sentence was found among {len(self.sentences)}: too few of them differ")


def sentence_pairs(paragraphs: list[list[str]], tokenizer: BertWordPieceTokenizer) -> SentencePairs:
    """The pairs of paragraphs, lists of sentences, in ids; errors as in SentencePairs."""
    return SentencePairs([[found.ids for found in tokenizer.encode_batch(sentences, add_special_tokens=False)]
                          for sentences in paragraphs])


def join(first: list[int], second: list[int], cls: int, sep: int, max_len: int) -> tuple[list[int], list[int]]:
    """(ids, segments) of `[CLS] first [SEP] second [SEP]`, of at most max_len ids.

    The longer of the two is cut at its end until all fits. Raises ValueError for a max_len below 5, too few for a token of each.
    """
    check_whole(5, max_len=max_len)
    first, second = list(first), list(second)
    while len(first) + len(second) > max_len - 3:
        (first if len(first) > len(second) else second).pop()
    return [cls, *first, sep, *second, sep], [0] * (len(first) + 2) + [1] * (len(second) + 1)


def pretraining_batches(pairs: SentencePairs, tokenizer: BertWordPieceTokenizer, batch_size: int, steps: int, max_len: int = 128,
                        seed: int = 0, share: float = 0.15) -> Iterator[tuple[Tensor, ...]]:
    """`steps` batches of (ids, lengths, segments, positions, labels, is_next).

    They are what `mask_tokens` and `SentencePairs` make. pairs: of ids that are those of the tokenizer. Pairs
    of like length stand together; each pass over them draws new pairs, masks `share` of the tokens anew, and
    is shuffled, all from the seed. Raises ValueError for a batch_size below 1.
    """
    check_whole(batch_size=batch_size)
    cls, sep, mask = map(tokenizer.token_to_id, ("[CLS]", "[SEP]", "[MASK]"))
    special = [tokenizer.token_to_id(token) for token in BERT_SPECIAL]
    vocab_size, generator = tokenizer.get_vocab_size(), torch.Generator().manual_seed(seed)
    while steps > 0:
        seed += 1
        drawn = [(*join(first, second, cls, sep, max_len), is_next) for first, second, is_next in pairs.one_pass(seed)]
        in_a_pass = min(steps, math.ceil(len(drawn) / batch_size))
        for group in groups_of_like_length([len(ids) for ids, _, _ in drawn], batch_size, in_a_pass, seed):
            rows, segments, is_next = zip(*(drawn[i] for i in group))
            ids, lengths = pad(rows)
            masked_ids, positions, labels = mask_tokens(ids, special, mask, vocab_size, share, generator)
            yield masked_ids, lengths, pad(segments)[0], positions, labels, torch.tensor(is_next).long()
        steps -= in_a_pass


def pretraining_loss(model: nn.Module, ids: Tensor, lengths: Tensor, segments: Tensor,
                     positions: Tensor, labels: Tensor, is_next: Tensor) -> Tensor:
    """Masked LM loss, over the chosen tokens alone, plus next sentence loss, over the pairs."""
    mlm_logits, nsp_logits = model(ids, lengths, segments, positions)      # [B, P, V], [B, 2]
    return (F.cross_entropy(mlm_logits.flatten(0, 1), labels.flatten(), ignore_index=PAD)
            + F.cross_entropy(nsp_logits, is_next))


@torch.no_grad()
def evaluate(model: nn.Module, batches: Iterable) -> tuple[float, float]:
    """(masked LM loss in nats, next sentence accuracy), over all chosen tokens and pairs, without dropout."""
    device, was_training = next(model.parameters()).device, model.training
    loss, tokens, right, pairs = 0.0, 0, 0, 0
    model.eval()
    for batch in batches:
        ids, lengths, segments, positions, labels, is_next = to_device(batch, device)
        mlm_logits, nsp_logits = model(ids, lengths, segments, positions)
        loss += F.cross_entropy(mlm_logits.flatten(0, 1), labels.flatten(), ignore_index=PAD, reduction="sum").item()
        tokens += int((labels != PAD).sum())
        right += int((nsp_logits.argmax(1) == is_next).sum())
        pairs += len(is_next)
    model.train(was_training)
    return loss / tokens, right / pairs


def unigram_loss(pairs: SentencePairs, batches: Iterable, vocab_size: int) -> float:
    """The masked LM loss in nats of a model that knows only how frequent each token is: the baseline.

    pairs: whose frequencies these are, one added to each count. batches: where they are tried.
    """
    counts = Counter(token for sentence in pairs.sentences for token in sentence)
    frequency = torch.tensor([counts[i] + 1.0 for i in range(vocab_size)])
    labels = torch.cat([batch[4][batch[4] != PAD] for batch in batches])
    return -(frequency / frequency.sum()).log()[labels].mean().item()
