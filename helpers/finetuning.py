"""Fine-tuning BERT for four kinds of task: examples, batches, losses, and measures of what was learned.

An example is (ids, segments, label). The label is a class of the whole; a list with a tag for each token; or the
first and last token of a span. Source: Devlin et al. 2019, section 4.
"""
from collections.abc import Iterator

import torch
import torch.nn.functional as F
from tokenizers import BertWordPieceTokenizer
from torch import Tensor, nn

from helpers.bert import best_span
from helpers.masks import check_whole
from helpers.text import groups_of_like_length, pad
from helpers.training import to_device

IGNORE = -100                                                # the tag of a token that no loss and no measure counts


def text_examples(tokenizer: BertWordPieceTokenizer, rows) -> list[tuple]:
    """Examples of one text or two, from rows of (text, label) or (text, text, label)."""
    encoded = tokenizer.encode_batch([row[0] if len(row) == 2 else row[:2] for row in rows])
    return [(found.ids, found.type_ids, row[-1]) for found, row in zip(encoded, rows)]


def tag_examples(tokenizer: BertWordPieceTokenizer, rows) -> list[tuple]:
    """Examples of words with a tag each, from rows of (words, tags): the first piece of a word has its tag, the rest IGNORE."""
    encoded = tokenizer.encode_batch([words for words, _ in rows], is_pretokenized=True)
    return [(found.ids, found.type_ids, first_pieces(found.word_ids, tags)) for found, (_, tags) in zip(encoded, rows)]


def first_pieces(word_ids: list[int | None], tags: list[int]) -> list[int]:
    """The tag of each piece: word_ids, the index of its word or None, and tags, one a word."""
    pairs = zip([None, *word_ids], word_ids)                 # each piece, and the one before it
    return [IGNORE if word is None or word == before else tags[word] for before, word in pairs]


def span_examples(tokenizer: BertWordPieceTokenizer, rows) -> list[tuple]:
    """Examples of a question, a passage and the answer in it, from rows of (question, passage, start, end).

    start, end: of the answer in characters, as in passage[start:end]. Raises ValueError where no piece lies
    there, which also happens if the tokenizer cut the passage.
    """
    encoded = tokenizer.encode_batch([row[:2] for row in rows])
    return [(found.ids, found.type_ids, pieces_of(found, *row[2:])) for found, row in zip(encoded, rows)]


def pieces_of(found, start: int, end: int) -> tuple[int, int]:
    """(first, last): the pieces of the second text that hold its characters from start to end."""
    first, last = found.char_to_token(start, 1), found.char_to_token(end - 1, 1)
    if first is None or last is None or not start < end:
        raise ValueError(f"no piece of the passage at both ends of the answer, {start} to {end}")
    return first, last


def collate(examples: list[tuple]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """(ids, lengths, segments, labels) of some examples, padded: [B, T], [B], [B, T], and labels of [B], [B, T] or [B, 2]."""
    check_whole(examples=len(examples))
    rows, segments, labels = zip(*examples)
    ids, lengths = pad(rows)
    if isinstance(labels[0], list):
        labels = [row + [IGNORE] * (ids.shape[1] - len(row)) for row in labels]
    return ids, lengths, pad(segments)[0], torch.tensor(labels)


def finetuning_batches(examples: list[tuple], batch_size: int, steps: int, seed: int = 0) -> Iterator[tuple]:
    """`steps` batches, each as `collate` has it, of examples of like length, shuffled anew in every pass from the seed."""
    for group in groups_of_like_length([len(ids) for ids, _, _ in examples], batch_size, steps, seed):
        yield collate([examples[i] for i in group])


def class_loss(model: nn.Module, ids: Tensor, lengths: Tensor, segments: Tensor, labels: Tensor) -> Tensor:
    """The mean loss of a BertClassifier, labels [B]: a number."""
    return F.cross_entropy(model(ids, lengths, segments), labels)


def tag_loss(model: nn.Module, ids: Tensor, lengths: Tensor, segments: Tensor, labels: Tensor) -> Tensor:
    """The mean loss of a BertTagger over the tokens that have a tag, labels [B, T]: a number."""
    return F.cross_entropy(model(ids, lengths, segments).flatten(0, 1), labels.flatten(), ignore_index=IGNORE)


def span_loss(model: nn.Module, ids: Tensor, lengths: Tensor, segments: Tensor, labels: Tensor) -> Tensor:
    """The mean loss of both ends, by a BertTagger with two tags, labels [B, 2]: a number.

    Each end is a choice among the tokens of the second text.
    """
    logits = model(ids, lengths, segments)                   # [B, T, 2], a column for each end
    return F.cross_entropy(logits.masked_fill((segments == 0).unsqueeze(2), -torch.inf), labels)


@torch.no_grad()
def predict(model: nn.Module, examples: list[tuple], batch_size: int = 64) -> list[Tensor]:
    """The logits of each example, on the CPU: [num_classes], or [T, num_tags] without padding. Leaves the model in eval mode."""
    check_whole(batch_size=batch_size)
    order, logits = sorted(range(len(examples)), key=lambda i: len(examples[i][0])), {}
    device = next(model.parameters()).device
    model.eval()
    for start in range(0, len(order), batch_size):
        group = order[start:start + batch_size]
        ids, lengths, segments, _ = to_device(collate([examples[i] for i in group]), device)
        logits |= zip(group, model(ids, lengths, segments).cpu())
    return [logits[i][:len(ids)] if logits[i].dim() == 2 else logits[i] for i, (ids, _, _) in enumerate(examples)]


def accuracy(logits: list[Tensor], examples: list[tuple]) -> float:
    """The share of the texts whose class is right; logits: those of `predict`, [num_classes] each."""
    check_whole(examples=len(examples))
    return sum(int(row.argmax()) == label for row, (_, _, label) in zip(logits, examples)) / len(examples)


def tag_f1(logits: list[Tensor], examples: list[tuple]) -> float:
    """F1 of the tags other than 0, over all tokens: 2 right / (predicted + wanted); logits: [T, num_tags] each."""
    predicted = torch.cat([row.argmax(1) for row in logits])
    tags = torch.cat([torch.tensor(tags) for _, _, tags in examples])
    predicted, tags = predicted[tags != IGNORE], tags[tags != IGNORE]
    right = int(((predicted == tags) & (tags > 0)).sum())
    return 2 * right / max(1, int((predicted > 0).sum() + (tags > 0).sum()))


def exact_match(logits: list[Tensor], examples: list[tuple], max_len: int | None = None) -> float:
    """The share of the spans that are right from the first token to the last; logits: [T, 2] each, max_len as in `best_span`."""
    return sum(best_span(row, in_passage(segments), max_len) == wanted
               for row, (_, segments, wanted) in zip(logits, examples)) / len(examples)


def in_passage(segments: list[int]) -> Tensor:
    """Where an answer may be: in the second text, but not on the [SEP] that ends it. A list [T] to a boolean tensor [T]."""
    allowed = torch.tensor(segments) == 1
    allowed[-1] = False
    return allowed
