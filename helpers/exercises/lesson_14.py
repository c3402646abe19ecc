"""Exercises of lesson 14: what the model reads for chosen tokens, the loss over these alone, shared tokens by rarity."""
import math

import torch

from helpers.exercises.exercise import Exercise, numbers


def slow_shown_instead(ids, chosen, fill, other, mask_id):
    rows = ids.tolist()
    for b, row in enumerate(rows):
        for t in range(len(row)):
            if chosen[b, t] and fill[b, t] < 0.8:
                row[t] = mask_id
            elif chosen[b, t] and fill[b, t] < 0.9:
                row[t] = other[b, t].item()
    return torch.tensor(rows)


def slow_hidden_loss(logits, labels):
    total, count = 0.0, 0
    for row, answers in zip(logits.tolist(), labels.tolist()):
        for values, answer in zip(row, answers):
            if answer != 0:                                   # 0 is padding, and no token
                all_together = sum(math.exp(value) for value in values)
                total -= math.log(math.exp(values[answer]) / all_together)
                count += 1
    return torch.tensor(total / count)


def filled(ids, masked, replaced, other, mask_id):
    """`mask_id` where masked, `other` where else replaced, and `ids` where neither."""
    return torch.where(masked, mask_id, torch.where(replaced, other, ids))


def each(logits, labels):
    """The loss at every position, [B, P], padding too."""
    return -logits.log_softmax(-1).gather(-1, labels.unsqueeze(-1)).squeeze(-1)


def mean_of_logs(logs, labels):
    return -logs.gather(-1, labels.unsqueeze(-1)).squeeze(-1)[labels != 0].mean()


def slow_rarity_score(first, second, counts, total):
    score = 0.0
    for i in set(first.tolist()):
        if i in second.tolist():
            score += math.log((total + 1) / (counts[i].item() + 1))
    return torch.tensor(score)


def in_both(first, second):
    return first[torch.isin(first, second)].unique()


def rarities(ids, counts, total):
    return ((total + 1) / (counts[ids] + 1)).log()


EXERCISES = {
    "shown_instead": Exercise(
        slow_shown_instead,
        [(torch.tensor([[5, 6, 7, 8]]), torch.tensor([[True, True, True, False]]),
          torch.tensor([[0.7, 0.85, 0.95, 0.1]]), torch.tensor([[20, 21, 22, 23]]), 3),
         (torch.tensor([[9, 8, 7, 6, 5, 9], [5, 6, 7, 8, 9, 5]]),
          torch.tensor([[1, 0, 0, 1, 1, 0], [0, 1, 1, 0, 0, 1]]).bool(),
          torch.tensor([[0.8, 0.3, 0.85, 0.9, 0.0, 0.95], [0.5, 0.3, 0.89, 0.82, 0.99, 0.79]]),
          torch.tensor([[30, 31, 32, 33, 34, 35], [36, 37, 38, 39, 40, 41]]), 4)],
        {
            "tokens that were not chosen have changed; they need to stay":
                lambda ids, chosen, fill, other, mask_id:
                    filled(ids, fill < 0.8, fill < 0.9, other, mask_id),
            "tokens that were not chosen become [MASK] below 0.8; ask for `chosen` there, too":
                lambda ids, chosen, fill, other, mask_id:
                    filled(ids, fill < 0.8, chosen & (fill < 0.9), other, mask_id),
            "tokens that were not chosen become another one below 0.9; ask for `chosen` there, too":
                lambda ids, chosen, fill, other, mask_id:
                    filled(ids, chosen & (fill < 0.8), fill < 0.9, other, mask_id),
            "`chosen` is inverted: the chosen tokens stay, and the others change":
                lambda ids, chosen, fill, other, mask_id:
                    filled(ids, ~chosen & (fill < 0.8), ~chosen & (fill < 0.9), other, mask_id),
            "every chosen token became [MASK]; one in ten becomes another token and one in ten stays":
                lambda ids, chosen, fill, other, mask_id: ids.masked_fill(chosen, mask_id),
            "no chosen token stays as it was; from 0.9 on it needs to":
                lambda ids, chosen, fill, other, mask_id:
                    filled(ids, chosen & (fill < 0.8), chosen, other, mask_id),
            "no chosen token becomes another one; from 0.8 up to 0.9 it needs to":
                lambda ids, chosen, fill, other, mask_id: ids.masked_fill(chosen & (fill < 0.8), mask_id),
            "another token and the token itself are exchanged; the other one is for 0.8 up to 0.9":
                lambda ids, chosen, fill, other, mask_id:
                    filled(ids, chosen & (fill < 0.8), chosen & (fill >= 0.9), other, mask_id),
            "another token stands where fill is above 0.9; it is for 0.8 up to 0.9, and above that the token itself":
                lambda ids, chosen, fill, other, mask_id:
                    filled(ids, chosen & (fill < 0.8), chosen & (fill > 0.9), other, mask_id),
            "no chosen token became [MASK], although fill is below 0.8; a second torch.where overwrote the first":
                lambda ids, chosen, fill, other, mask_id:
                    filled(ids, chosen & (fill < 0), chosen & (fill < 0.9), other, mask_id),
            "[MASK] and the other token are exchanged; [MASK] is for fill below 0.8":
                lambda ids, chosen, fill, other, mask_id:
                    filled(ids, chosen & (fill >= 0.8) & (fill < 0.9), chosen & (fill < 0.8), other, mask_id),
            "one chosen token in ten becomes [MASK], and eight another token; it is the other way round":
                lambda ids, chosen, fill, other, mask_id:
                    filled(ids, chosen & (fill < 0.1), chosen & (fill < 0.9), other, mask_id),
            "mask_id is an argument, and need not be 4":
                lambda ids, chosen, fill, other, mask_id:
                    filled(ids, chosen & (fill < 0.8), chosen & (fill < 0.9), other, 4),
            "0.8 itself is no longer [MASK]; compare by <, not <=":
                lambda ids, chosen, fill, other, mask_id:
                    filled(ids, chosen & (fill <= 0.8), chosen & (fill < 0.9), other, mask_id),
            "0.9 itself is no longer another token; compare by <, not <=":
                lambda ids, chosen, fill, other, mask_id:
                    filled(ids, chosen & (fill < 0.8), chosen & (fill <= 0.9), other, mask_id),
            "0.8 itself is no longer [MASK], and 0.9 no longer another token; compare by <, not <=":
                lambda ids, chosen, fill, other, mask_id:
                    filled(ids, chosen & (fill <= 0.8), chosen & (fill <= 0.9), other, mask_id),
        }, at_once=True),
    "hidden_loss": Exercise(
        slow_hidden_loss,
        [(torch.tensor([[[1.0, 2.0, 0.0]]]), torch.tensor([[1]])),
         (torch.tensor([[[0.0, 0.0, 150.0]]]), torch.tensor([[1]])),
         (torch.tensor([[[0.0, 150.0, 150.0]]]), torch.tensor([[1]])),
         (numbers(1, 3, 4, seed=13), torch.tensor([[2, 0, 0]])),
         (numbers(1, 3, 4, seed=14), torch.tensor([[1, 2, 3]])),
         (numbers(2, 3, 6, seed=15), torch.tensor([[3, 1, 5], [2, 0, 0]]))],
        {
            "padding takes part, with 0 as its label":
                lambda logits, labels: each(logits, labels).mean(),
            "padding adds nothing, but is counted; divide by the number of chosen tokens":
                lambda logits, labels: (each(logits, labels) * (labels != 0)).mean(),
            "this is the sum over the chosen tokens; take the mean":
                lambda logits, labels: (each(logits, labels) * (labels != 0)).sum(),
            "this is the mean of the rows' means; each chosen token counts alike, however many its row has":
                lambda logits, labels: (
                    ((each(logits, labels) * (labels != 0)).sum(1) / (labels != 0).sum(1)).mean()),
            "the sum is divided by the number of rows; divide by the number of chosen tokens":
                lambda logits, labels: (each(logits, labels) * (labels != 0)).sum() / len(labels),
            "the result is negative; the loss is minus the logarithm":
                lambda logits, labels: -each(logits, labels)[labels != 0].mean(),
            "these are the logits of the right tokens; log_softmax makes logarithms of probabilities of them":
                lambda logits, labels: mean_of_logs(logits, labels),
            "this is the mean of probabilities; take it of their logarithms":
                lambda logits, labels: mean_of_logs(logits.softmax(-1), labels),
            "the softmax is taken twice; F.cross_entropy and log_softmax take logits, not probabilities":
                lambda logits, labels: mean_of_logs(logits.softmax(-1).log_softmax(-1), labels),
            "the softmax is over the positions; it belongs over the vocabulary, the last axis":
                lambda logits, labels: mean_of_logs(logits.log_softmax(1), labels),
            "the softmax is over the rows; it belongs over the vocabulary, the last axis":
                lambda logits, labels: mean_of_logs(logits.log_softmax(0), labels),
            "the logarithm has the base 2; take the natural one":
                lambda logits, labels: mean_of_logs(logits.log_softmax(-1) / math.log(2), labels),
            "the logarithm has the base 2, and that of a small softmax is -inf; log_softmax is natural and takes both in one step":
                lambda logits, labels: mean_of_logs(logits.softmax(-1).log2(), labels),
            "the softmax of a small logit is 0, and its logarithm -inf; log_softmax takes both in one step":
                lambda logits, labels: mean_of_logs(logits.softmax(-1).log(), labels),
            "the exponential of a large logit overflows; log_softmax subtracts the largest first":
                lambda logits, labels: (
                    mean_of_logs((logits.exp() / logits.exp().sum(-1, keepdim=True)).log(), labels)),
            "the logarithm of the sum of exponentials overflows for a large logit; torch.logsumexp does not":
                lambda logits, labels: mean_of_logs(logits - logits.exp().sum(-1, keepdim=True).log(), labels),
        }, without="cross_entropy", at_once=True),
    "rarity_score": Exercise(
        slow_rarity_score,
        [(torch.tensor([1, 2]), torch.tensor([2, 1]), torch.tensor([7, 7, 3, 1]), 7),
         (torch.tensor([1, 3]), torch.tensor([2, 3]), torch.tensor([7, 7, 3, 1]), 7),
         (torch.tensor([1, 2]), torch.tensor([3, 3, 4]), torch.tensor([4, 3, 2, 1, 5]), 5),
         (torch.tensor([4, 2, 2, 5]), torch.tensor([2, 4, 4, 3, 2, 5]), torch.tensor([0, 9, 4, 2, 1, 3]), 9)],
        {
            "a token that stands in a sentence twice counts twice; each shared token counts once":
                lambda first, second, counts, total: rarities(first[torch.isin(first, second)], counts, total).sum(),
            "a token that stands in the second sentence twice counts twice; each shared token counts once":
                lambda first, second, counts, total: rarities(second[torch.isin(second, first)], counts, total).sum(),
            "each place in one sentence counts with each in the other; each shared token counts once":
                lambda first, second, counts, total: (
                    rarities(first, counts, total).unsqueeze(1) * (first.unsqueeze(1) == second)).sum(),
            "the tokens of both sentences count, shared or not; only the shared ones need to":
                lambda first, second, counts, total: rarities(torch.cat([first, second]).unique(), counts, total).sum(),
            "this is the number of shared tokens; each needs to be weighted by its rarity":
                lambda first, second, counts, total: torch.tensor(float(len(in_both(first, second)))),
            "the result is negative; rare tokens have few counts, which are divided by":
                lambda first, second, counts, total: -rarities(in_both(first, second), counts, total).sum(),
            "the logarithm is missing; take it of each ratio":
                lambda first, second, counts, total: rarities(in_both(first, second), counts, total).exp().sum(),
            "the logarithm is taken of the sum; take it of each ratio, and then the sum":
                lambda first, second, counts, total: rarities(in_both(first, second), counts, total).exp().sum().log(),
            "the logarithm has the base 2; take the natural one":
                lambda first, second, counts, total: (
                    ((total + 1) / (counts[in_both(first, second)] + 1)).log2().sum()),
            "one is added neither to the total nor to the counts; add it to both":
                lambda first, second, counts, total: (total / counts[in_both(first, second)]).log().sum(),
            "one is added to the counts alone; add it to the total, too":
                lambda first, second, counts, total: (total / (counts[in_both(first, second)] + 1)).log().sum(),
            "one is added to the total alone; add it to the counts, too":
                lambda first, second, counts, total: ((total + 1) / counts[in_both(first, second)]).log().sum(),
            "the counts multiply the total; divide by them, so that a rare token scores more":
                lambda first, second, counts, total: (
                    ((total + 1) * (counts[in_both(first, second)] + 1)).log().sum()),
            "len(counts) is the size of the vocabulary; the number of sentences is `total`":
                lambda first, second, counts, total: rarities(in_both(first, second), counts, len(counts)).sum(),
            "this is the mean over the shared tokens; take the sum":
                lambda first, second, counts, total: rarities(in_both(first, second), counts, total).mean(),
        }, at_once=True),
}
