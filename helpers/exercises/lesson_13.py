"""Exercises of lesson 13: what the model sees of the chosen words, and the loss over the hidden words alone."""
import math

import torch

from helpers.exercises.exercise import Exercise


def slow_shown_instead(ids, chosen, fill, other, mask_id):
    rows = ids.tolist()
    for b, row in enumerate(rows):
        for t in range(len(row)):
            if chosen[b, t] and fill[b, t] < 0.8:
                row[t] = mask_id
            elif chosen[b, t] and fill[b, t] < 0.9:
                row[t] = other[b, t].item()
    return torch.tensor(rows)


def slow_hidden_loss(scores, words):
    total, count = 0.0, 0
    for row, answers in zip(scores.tolist(), words.tolist()):
        for values, answer in zip(row, answers):
            if answer != 0:                                   # 0 fills up, and is no word
                all_together = sum(math.exp(value) for value in values)
                total -= math.log(math.exp(values[answer]) / all_together)
                count += 1
    return torch.tensor(total / count)


def each(scores, words):
    """The loss at every place, [B, P], the filled up ones too."""
    return -scores.log_softmax(-1).gather(-1, words.unsqueeze(-1)).squeeze(-1)


generator = torch.Generator().manual_seed(13)
ids = torch.randint(5, 20, (3, 9), generator=generator)
chosen = torch.tensor([[1, 0, 0, 1, 0, 1, 0, 0, 0], [0, 1, 1, 0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 0, 0, 0, 0, 1]]).bool()
fill = torch.rand(3, 9, generator=generator)
fill[0, [0, 3, 5]], fill[1, [1, 2, 7, 8]] = torch.tensor([0.3, 0.85, 0.95]), torch.tensor([0.8, 0.9, 0.05, 0.99])
other = torch.randint(20, 40, (3, 9), generator=generator)
scores = torch.randn(2, 3, 6, generator=generator)
words = torch.tensor([[3, 1, 5], [2, 0, 0]])

EXERCISES = {
    "shown_instead": Exercise(
        slow_shown_instead,
        [(ids, chosen, fill, other, 4), (ids[:1], chosen[1:2], fill[2:], other[:1], 3)],
        {
            "words that were not chosen have changed: they need to stay":
                lambda ids, chosen, fill, other, mask_id:
                    torch.where(fill < 0.8, mask_id, torch.where(fill < 0.9, other, ids)),
            "every chosen word became [MASK]; of ten, one becomes another word and one stays":
                lambda ids, chosen, fill, other, mask_id: ids.masked_fill(chosen, mask_id),
            "no chosen word stays as it was: below 0.8 it is [MASK], below 0.9 another one, and else it stays":
                lambda ids, chosen, fill, other, mask_id:
                    torch.where(chosen, torch.where(fill < 0.8, mask_id, other), ids),
            "no chosen word becomes another one: from 0.8 up to 0.9 it needs to":
                lambda ids, chosen, fill, other, mask_id: ids.masked_fill(chosen & (fill < 0.8), mask_id),
            "another word and the word itself are exchanged: the other one is for 0.8 up to 0.9":
                lambda ids, chosen, fill, other, mask_id:
                    torch.where(chosen, torch.where(fill < 0.8, mask_id, torch.where(fill < 0.9, ids, other)), ids),
            "0.8 itself is no longer [MASK], and 0.9 no longer another word: it needs to be <, not <=":
                lambda ids, chosen, fill, other, mask_id:
                    torch.where(chosen, torch.where(fill <= 0.8, mask_id, torch.where(fill <= 0.9, other, ids)), ids),
        }),
    "hidden_loss": Exercise(
        slow_hidden_loss,
        [(scores, words), (3 * scores[:1], torch.tensor([[4, 0, 0]])), (scores[1:], torch.tensor([[1, 2, 3]]))],
        {
            "the filled up places take part, with 0 as their word":
                lambda scores, words: each(scores, words).mean(),
            "the filled up places add nothing, but are counted: divide by the number of words that were hidden":
                lambda scores, words: (each(scores, words) * (words != 0)).mean(),
            "it is the sum over the hidden words; the mean is asked for":
                lambda scores, words: (each(scores, words) * (words != 0)).sum(),
            "it is the mean of the rows' means: a row with one hidden word counts as much there as one with three":
                lambda scores, words: ((each(scores, words) * (words != 0)).sum(1) / (words != 0).sum(1)).mean(),
            "it is negative: the loss is minus the logarithm":
                lambda scores, words: -each(scores, words)[words != 0].mean(),
            "these are the scores of the right words; they become logarithms of probabilities by log_softmax":
                lambda scores, words: -scores.gather(-1, words.unsqueeze(-1)).squeeze(-1)[words != 0].mean(),
        }),
}
