"""Exercises of lesson 14: what the model reads for chosen tokens, the loss over these alone, a baseline by counting."""
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


def slow_neighbour_loss(text, left, answers, V, k):
    text, total = text.tolist(), 0.0
    for x, w in zip(left.tolist(), answers.tolist()):
        both = sum(pair == (x, w) for pair in zip(text, text[1:]))
        p = (text.count(w) + 1) / (len(text) + V)
        total -= math.log((both + k * p) / (text[:-1].count(x) + k))
    return torch.tensor(total / len(left))


def seen(text, ids):
    return (text == ids.unsqueeze(1)).sum(1)


def pairs(text, left, right):
    return ((text[:-1] == left.unsqueeze(1)) & (text[1:] == right.unsqueeze(1))).sum(1)


def followers(text, left):
    """How many different ids follow each."""
    return torch.tensor([len(text[1:][text[:-1] == x].unique()) for x in left])


def frequent(text, ids, V):
    """The unigram probabilities p(w)."""
    return (seen(text, ids) + 1) / (len(text) + V)


def mixed(both, before, k, p, times=1):
    return (both + k * p) / (before + k * times)


def with_unigram(text, left, answers, k, p):
    return mixed(pairs(text, left, answers), seen(text[:-1], left), k, p)


def smoothed(text, left, answers, V, k):
    return with_unigram(text, left, answers, k, frequent(text, answers, V))


def nats(p):
    return -p.log().mean()


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
            "`&` binds more strongly than `<`, and takes `fill`; put each comparison into brackets":
                lambda ids, chosen, fill, other, mask_id: filled(ids, chosen & fill < 0.8, chosen & fill < 0.9, other, mask_id),
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
            "each label is looked up in the row of every chosen token; take each row's own, by gather":
                lambda logits, labels: -logits[labels != 0].log_softmax(-1)[:, labels[labels != 0]].mean(),
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
    "neighbour_loss": Exercise(
        slow_neighbour_loss,
        [(torch.tensor([0, 1, 0, 2, 0]), torch.tensor([0]), torch.tensor([1]), 3, 2),
         (torch.tensor([0, 1, 1, 2, 0, 1]), torch.tensor([2, 0, 4]), torch.tensor([0, 3, 1]), 5, 1),
         (torch.tensor([2, 0, 1, 2, 2, 0, 3, 2, 0, 1]), torch.tensor([2, 0, 1, 3]), torch.tensor([0, 1, 3, 2]), 6, 0.5)],
        {
            "the result is negative; the loss is minus the logarithm":
                lambda *case: -nats(smoothed(*case)),
            "this is the sum over the gaps; take the mean":
                lambda *case: -smoothed(*case).log().sum(),
            "this is the mean probability; the loss is the mean of minus the logarithms":
                lambda *case: smoothed(*case).mean(),
            "the mean is taken of the probabilities, and then the logarithm; it is the other way round":
                lambda *case: -smoothed(*case).mean().log(),
            "this is the perplexity, e to the power of the loss":
                lambda *case: nats(smoothed(*case)).exp(),
            "the logarithm has the base 2; take the natural one":
                lambda *case: nats(smoothed(*case)) / math.log(2),
            "n(l) counts the last token of the text, which nothing follows":
                lambda text, left, answers, V, k: nats(
                    mixed(pairs(text, left, answers), seen(text, left), k, frequent(text, answers, V))),
            "these are pairs of the answer and then `left`; the answer comes second":
                lambda text, left, answers, V, k: nats(
                    mixed(pairs(text, answers, left), seen(text[:-1], left), k, frequent(text, answers, V))),
            "n(l) counts the answer; it is how often anything follows `left`":
                lambda text, left, answers, V, k: nats(
                    mixed(pairs(text, left, answers), seen(text[:-1], answers), k, frequent(text, answers, V))),
            "p(w) is that of `left`; take the answer's":
                lambda text, left, answers, V, k: nats(with_unigram(text, left, answers, k, frequent(text, left, V))),
            "p(w) is n(w) / T, so a token that the text does not have gets 0; add 1 above and V below":
                lambda text, left, answers, V, k: nats(with_unigram(text, left, answers, k, seen(text, answers) / len(text))),
            "p(w) is divided by T; with 1 added for each token of the vocabulary it is T + V":
                lambda text, left, answers, V, k: nats(
                    with_unigram(text, left, answers, k, (seen(text, answers) + 1) / len(text))),
            "1 is missing above in p(w); V below is for it":
                lambda text, left, answers, V, k: nats(
                    with_unigram(text, left, answers, k, seen(text, answers) / (len(text) + V))),
            "1 is added below in p(w), too; it is added once for each of the V tokens":
                lambda text, left, answers, V, k: nats(
                    with_unigram(text, left, answers, k, (seen(text, answers) + 1) / (len(text) + 1))),
            "this gives each token of the vocabulary the same part of k; each needs the part p(w)":
                lambda text, left, answers, V, k: nats(with_unigram(text, left, answers, k, 1 / V)),
            "k is added above as it is; multiply it by p(w)":
                lambda text, left, answers, V, k: nats(with_unigram(text, left, answers, k, 1)),
            "k is added to each count of a pair; add k * p(w) above, and k below":
                lambda text, left, answers, V, k: nats((pairs(text, left, answers) + k) / (seen(text[:-1], left) + k * V)),
            "k * V is added below, but the p(w) of all tokens sum to 1; add k":
                lambda text, left, answers, V, k: nats(mixed(pairs(text, left, answers), seen(text[:-1], left), k,
                                                             frequent(text, answers, V), V)),
            "k is missing below":
                lambda text, left, answers, V, k: nats(
                    (pairs(text, left, answers) + k * frequent(text, answers, V)) / seen(text[:-1], left)),
            "k is missing above, so a pair that the text does not have gets 0":
                lambda text, left, answers, V, k: nats(pairs(text, left, answers) / (seen(text[:-1], left) + k)),
            "k * p(w) is missing, so a pair that the text does not have gets 0":
                lambda text, left, answers, V, k: nats(pairs(text, left, answers) / seen(text[:-1], left)),
            "k is taken as 1; it is an argument":
                lambda text, left, answers, V, k: nats(smoothed(text, left, answers, V, 1)),
            "a pair that the text has twice is counted once; `n[a, b] += 1` takes a repeated index once, index_put_ with "
            "accumulate=True each time":
                lambda text, left, answers, V, k: nats(mixed(pairs(text, left, answers).clamp(max=1), followers(text, left), k,
                                                             frequent(text, answers, V))),
            "n(l, w) counts a pair that the text has twice once; `n[a, b] += 1` takes a repeated index once, index_put_ with "
            "accumulate=True each time":
                lambda text, left, answers, V, k: nats(mixed(pairs(text, left, answers).clamp(max=1), seen(text[:-1], left), k,
                                                             frequent(text, answers, V))),
            "no count is above 1; `n[a] += 1` takes a repeated index once, bincount each time":
                lambda text, left, answers, V, k: nats(mixed(
                    pairs(text, left, answers).clamp(max=1), seen(text[:-1], left).clamp(max=1), k,
                    (seen(text, answers).clamp(max=1) + 1) / (len(text) + V))),
            "this is the loss of the unigram; the neighbour is missing":
                lambda text, left, answers, V, k: nats(frequent(text, answers, V)),
            "the gaps are counted, too; a baseline may learn from the text alone":
                lambda text, left, answers, V, k: nats(
                    smoothed(torch.cat([text, torch.stack([left, answers], 1).flatten()]), left, answers, V, k)),
            "V is the size of the vocabulary, not the number of different tokens in the text":
                lambda text, left, answers, V, k: nats(smoothed(text, left, answers, len(text.unique()), k)),
        }),
}
