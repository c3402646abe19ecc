"""What BERT learns from: sentences in pairs, half of them real, and hidden words; the losses, and how good a model is at both.

Source: Devlin et al. 2019, sections 3.1 and A.1.
"""
import math
import random
from collections import Counter

import torch
import torch.nn.functional as F

from helpers.text import PAD, BERT_SPECIAL, groups_of_like_length, pad


def mask_tokens(ids, special, mask_id, vocab_size, share=0.15, generator=None):
    """Choose words, hide most of them: ids [B, T] to (ids [B, T], positions [B, P], words [B, P]).

    Of each row, `share` of the tokens that are not among the ids `special` are chosen, one at
    least. Of these 80 % become mask_id, 10 % a random word, and 10 % stay. positions says where
    they are, words what was there; rows with fewer than P end in position 0 and `[PAD]`.
    Raises ValueError for a row with nothing to hide, and for a share outside 0 to 1.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share={share}: it needs to be from 0 to 1")
    special = torch.as_tensor(sorted(special))
    real = ~torch.isin(ids, special)                                       # [B, T]
    counts = (share * real.sum(1)).round().long().clamp(min=1)             # [B]
    if not real.any(1).all():
        raise ValueError(f"row {int(real.any(1).long().argmin())} has no word that could be hidden")
    numbers = torch.rand(ids.shape, generator=generator).masked_fill(~real, 2.0)
    P = int(counts.max())
    positions = numbers.argsort(1)[:, :P]                                  # [B, P]
    words = ids.gather(1, positions)
    fill = torch.rand(words.shape, generator=generator)
    ordinary = torch.arange(vocab_size)[~torch.isin(torch.arange(vocab_size), special)]
    other = ordinary[torch.randint(len(ordinary), words.shape, generator=generator)]
    shown = torch.where(fill < 0.8, mask_id, torch.where(fill < 0.9, other, words))
    too_many = torch.arange(P) >= counts.unsqueeze(1)                      # [B, P]
    hidden = ids.scatter(1, positions, torch.where(too_many, words, shown))
    return hidden, positions.masked_fill(too_many, 0), words.masked_fill(too_many, PAD)


class SentencePairs:
    """Pairs of sentences, made from paragraphs, lists of two or more sentences; each a list of ids.

    Half of the pairs are a sentence and the one after it, half a sentence and one from anywhere that never comes after it.
    Raises ValueError where there are fewer than two paragraphs, or one with a single sentence.
    """

    def __init__(self, paragraphs):
        if len(paragraphs) < 2 or any(len(paragraph) < 2 for paragraph in paragraphs):
            raise ValueError(f"{len(paragraphs)} paragraphs: at least two are needed, each of two sentences or more")
        self.real = [pair for paragraph in paragraphs for pair in zip(paragraph, paragraph[1:])]
        self.sentences = [sentence for paragraph in paragraphs for sentence in paragraph]
        self.after = {}
        for first, second in self.real:
            self.after.setdefault(tuple(first), set()).add(tuple(second))

    def one_pass(self, seed):
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


def join(first, second, cls, sep, max_len):
    """(ids, segments) of `[CLS] first [SEP] second [SEP]`, the longer of the two cut at its end until all fits max_len.

    Raises ValueError for a max_len below 5, which leaves no room for a token of each.
    """
    if max_len < 5:
        raise ValueError(f"max_len={max_len}: [CLS], two times [SEP] and a token of each text need 5")
    first, second = list(first), list(second)
    while len(first) + len(second) > max_len - 3:
        (first if len(first) > len(second) else second).pop()
    return [cls, *first, sep, *second, sep], [0] * (len(first) + 2) + [1] * (len(second) + 1)


def pretraining_batches(pairs, tokenizer, batch_size, steps, max_len=128, seed=0, share=0.15):
    """`steps` batches of (ids, lengths, segments, positions, words, is_next), as `mask_tokens` and `SentencePairs` make them.

    pairs: SentencePairs, whose ids are those of the tokenizer. Pairs of like length stand together; each pass over them draws
    new pairs, hides `share` of the words anew, and is shuffled, all from the seed. Raises ValueError for a batch_size below 1.
    """
    if batch_size < 1:
        raise ValueError(f"batch_size={batch_size}: it needs to be at least 1")
    cls, sep, mask = map(tokenizer.token_to_id, ("[CLS]", "[SEP]", "[MASK]"))
    special = [tokenizer.token_to_id(token) for token in BERT_SPECIAL]
    generator = torch.Generator().manual_seed(seed)
    while steps > 0:
        seed += 1
        drawn = [(*join(first, second, cls, sep, max_len), is_next) for first, second, is_next in pairs.one_pass(seed)]
        in_a_pass = min(steps, math.ceil(len(drawn) / batch_size))
        for group in groups_of_like_length([len(ids) for ids, _, _ in drawn], batch_size, in_a_pass, seed):
            rows, segments, is_next = zip(*(drawn[i] for i in group))
            ids, lengths = pad(rows)
            hidden, positions, words = mask_tokens(ids, special, mask, tokenizer.get_vocab_size(), share, generator)
            yield hidden, lengths, pad(segments)[0], positions, words, torch.tensor(is_next).long()
        steps -= in_a_pass


def pretraining_loss(model, ids, lengths, segments, positions, words, is_next):
    """Masked-word loss, over the hidden words alone, plus next-sentence loss, over the pairs."""
    mlm_logits, nsp_logits = model(ids, lengths, segments, positions)    # [B, P, V], [B, 2]
    return (F.cross_entropy(mlm_logits.flatten(0, 1), words.flatten(), ignore_index=PAD)
            + F.cross_entropy(nsp_logits, is_next))


def evaluate(model, batches):
    """(masked-word loss in nats, next-sentence accuracy) of a model, over all hidden words and all pairs of the batches."""
    loss, hidden, right, pairs = 0.0, 0, 0, 0
    with torch.no_grad():
        for ids, lengths, segments, positions, words, is_next in batches:
            mlm_logits, nsp_logits = model(ids, lengths, segments, positions)
            loss += F.cross_entropy(mlm_logits.flatten(0, 1), words.flatten(), ignore_index=PAD, reduction="sum").item()
            hidden += int((words != PAD).sum())
            right += int((nsp_logits.argmax(1) == is_next).sum())
            pairs += len(is_next)
    return loss / hidden, right / pairs


def unigram_loss(pairs, batches, vocab_size):
    """The masked-word loss in nats of whoever knows only how often each word occurs: what a model has to be better than.

    pairs: the SentencePairs that the frequencies are of, one added to each count. batches: where they are tried.
    """
    counts = Counter(word for sentence in pairs.sentences for word in sentence)
    frequency = torch.tensor([counts[i] + 1.0 for i in range(vocab_size)])
    words = torch.cat([batch[4][batch[4] != PAD] for batch in batches])
    return -(frequency / frequency.sum()).log()[words].mean().item()


def fill_masks(model, tokenizer, text, most=5):
    """The best guesses for each `[MASK]` of a text: lists of (piece, probability), best first.

    Raises ValueError for a text without a `[MASK]`, and for one that is too long for the model.
    """
    found, longest = tokenizer.encode(text), len(model.bert.embed.positions.table)
    places = [place for place, token in enumerate(found.tokens) if token == "[MASK]"]
    if not places or len(found) > longest:
        raise ValueError(f"{len(found)} pieces, {len(places)} of them [MASK]: at least one [MASK] "
                         f"is needed, and no more than {longest} pieces")
    ids, segments = torch.tensor([found.ids]), torch.tensor([found.type_ids])
    with torch.no_grad():
        scores, _ = model(ids, torch.tensor([len(found)]), segments, torch.tensor([places]))
    best = scores[0].softmax(-1).topk(most)
    return [[(tokenizer.id_to_token(i), share) for i, share in zip(*row)]
            for row in zip(best.indices.tolist(), best.values.tolist())]
