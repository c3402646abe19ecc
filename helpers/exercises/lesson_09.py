"""Exercises of lesson 09: smooth targets, the clipped counts of BLEU, and the score of an answer."""
from collections import Counter

import torch

from helpers.exercises.exercise import Exercise, numbers


def slow_smooth_targets(ids, vocab_size, epsilon):
    rows = []
    for right in ids.tolist():
        row = [epsilon / vocab_size] * vocab_size
        row[right] += 1 - epsilon
        rows.append(row)
    return torch.tensor(rows)


def slow_corpus_precision(answers, rights, n):
    shared, count = 0, 0
    for answer, right in zip(answers, rights):
        left = [right[i:i + n] for i in range(len(right) - n + 1)]
        for i in range(len(answer) - n + 1):
            count += 1
            if answer[i:i + n] in left:
                left.remove(answer[i:i + n])                 # it is used up
                shared += 1
    return torch.tensor(shared / count)


def slow_answer_score(logits, ids, alpha):
    total, length = torch.tensor(0.0), 0
    for row, token in zip(logits, ids.tolist()):
        if token != 0:                                       # padding
            total = total + row.log_softmax(-1)[token]
            length += 1
    return total / ((5 + length) / 6) ** alpha


def one_hot(ids, vocab_size):
    return torch.eye(vocab_size)[ids]


def grams(ids, n):
    return Counter(zip(*(ids[i:] for i in range(n))))


def share(answers, rights, n, shared=lambda a, b: (a & b).total(), of=lambda answer, right: answer.total()):
    pairs = [(grams(answer, n), grams(right, n)) for answer, right in zip(answers, rights)]
    return torch.tensor(sum(shared(*pair) for pair in pairs) / sum(of(*pair) for pair in pairs))


def mean_share(answers, rights, n):
    return torch.stack([share([answer], [right], n) for answer, right in zip(answers, rights)]).mean()


def share_in_all(answers, rights, n):
    written, right = (sum((grams(ids, n) for ids in some), Counter()) for some in (answers, rights))
    return torch.tensor((written & right).total() / written.total())


def at_the_same_place(answers, rights, n):
    pairs = [(list(zip(*(ids[i:] for i in range(n)))) for ids in pair) for pair in zip(answers, rights)]
    return torch.tensor(sum(a == b for pair in pairs for a, b in zip(*pair)) / sum(len(ids) - n + 1 for ids in answers))


def score(logits, ids, alpha, of=lambda logits: logits.log_softmax(-1), real=lambda ids: ids != 0, divide=True):
    total = (of(logits).gather(-1, ids.unsqueeze(-1)).squeeze(-1) * real(ids)).sum()
    by = ((5 + (ids != 0).sum()) / 6) ** alpha
    return total / by if divide else total * by


def all_of(ids):
    return torch.ones_like(ids)


EXERCISES = {
    "smooth_targets": Exercise(
        slow_smooth_targets,
        [(torch.tensor([1]), 4, 0.4), (torch.tensor([2, 0]), 5, 0.1), (torch.tensor([1, 3, 3]), 4, 0.4)],
        {
            "the right token has only 1 - ε; it gets its part of ε as well":
                lambda ids, n, e: (1 - e - e / n) * one_hot(ids, n) + e / n,
            "you spread ε over the wrong tokens only; the right one gets its part, too":
                lambda ids, n, e: (1 - e - e / (n - 1)) * one_hot(ids, n) + e / (n - 1),
            "the rows sum to more than 1; take ε from the right token before you spread it":
                lambda ids, n, e: one_hot(ids, n) + e / n,
            "every token gets all of ε; divide ε by the number of tokens":
                lambda ids, n, e: (1 - e) * one_hot(ids, n) + e,
            "nothing is smoothed; this is the one-hot target":
                lambda ids, n, e: one_hot(ids, n),
            "ε and 1 - ε are exchanged":
                lambda ids, n, e: e * one_hot(ids, n) + (1 - e) / n,
        }),
    "corpus_precision": Exercise(
        slow_corpus_precision,
        [([[4, 4, 4]], [[4, 5]], 1), ([[4, 5, 4, 5], [6, 4]], [[4, 5, 6], [4, 6, 4, 5, 4]], 1),
         ([[4, 5, 4, 5], [6, 7, 8]], [[4, 5, 6, 4, 5], [4, 5, 6, 7, 8, 9]], 2),
         ([[4, 5, 6, 7, 4, 5, 6], [9, 4, 5, 6]], [[4, 5, 6, 8], [4, 5, 6, 9, 9]], 3)],
        {
            "the counts are not clipped; an n-gram counts at most as often as it occurs in the right translation":
                lambda a, r, n: share(a, r, n, lambda a, b: sum(count for gram, count in a.items() if gram in b)),
            "each n-gram counts only once; it counts as often as it occurs in both":
                lambda a, r, n: share(a, r, n, lambda a, b: len(a.keys() & b.keys())),
            "this is the mean of the sentences' shares; add up the counts first, and divide once":
                mean_share,
            "you clip by the counts of all right translations; clip each answer by its own one":
                share_in_all,
            "you divide by the n-grams of the right translations; divide by those of the answers":
                lambda a, r, n: share(a, r, n, of=lambda answer, right: right.total()),
            "only n-grams at the same place count; the place does not matter":
                at_the_same_place,
            "you count single tokens; take n in a row":
                lambda a, r, n: share(a, r, 1),
            "you divide by the tokens of the answers; divide by their n-grams, n - 1 fewer in each":
                lambda a, r, n: share(a, r, n) * sum(len(x) - n + 1 for x in a) / sum(map(len, a)),
        }),
    "answer_score": Exercise(
        slow_answer_score,
        [(numbers(2, 4, seed=0), torch.tensor([3, 0]), 1.0), (numbers(3, 5, seed=1), torch.tensor([4, 1, 3]), 0.6),
         (numbers(4, 5, seed=3), torch.tensor([2, 2, 3, 0]), 0.0), (numbers(5, 6, seed=2), torch.tensor([2, 5, 3, 0, 0]), 0.6)],
        {
            "padding counts in the sum; leave out the steps where the id is 0":
                lambda logits, ids, a: score(logits, ids, a, real=all_of),
            "padding counts in the length; count the ids that are not 0":
                lambda logits, ids, a: score(logits, ids, 0.0) / ((5 + len(ids)) / 6) ** a,
            "the logits are summed as they are; take the logarithm of their softmax first":
                lambda logits, ids, a: score(logits, ids, a, of=lambda x: x),
            "you sum probabilities; sum their logarithms":
                lambda logits, ids, a: score(logits, ids, a, of=lambda x: x.softmax(-1)),
            "the length penalty is missing":
                lambda logits, ids, a: score(logits, ids, 0.0),
            "you multiply by the length penalty; divide by it":
                lambda logits, ids, a: score(logits, ids, a, divide=False),
            "5 + length / 6 is not (5 + length) / 6; set the brackets":
                lambda logits, ids, a: score(logits, ids, 0.0) / (5 + (ids != 0).sum() / 6) ** a,
            "this is the mean over the tokens; divide the sum by the penalty, ((5 + length) / 6) to the power of α":
                lambda logits, ids, a: score(logits, ids, 0.0) / (ids != 0).sum(),
            "you divide by the length to the power of α; the penalty is ((5 + length) / 6) to the power of α":
                lambda logits, ids, a: score(logits, ids, 0.0) / (ids != 0).sum() ** a,
        }),
}
