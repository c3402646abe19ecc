"""Exercises of lesson 09: a step of a beam search, the clipped counts of BLEU, and the score of an answer."""
from collections import Counter

import torch

from helpers.exercises.exercise import Exercise, numbers


def slow_beam_step(total, logs, finished):
    candidates = []
    for row in range(len(logs)):
        if finished[row]:
            candidates.append([total[row].item(), row, 0])   # it goes on with <pad>, at no cost
        else:
            for token in range(1, logs.shape[1]):            # any token but <pad>
                candidates.append([(total[row] + logs[row, token]).item(), row, token])
    return torch.tensor(sorted(candidates, reverse=True)[:len(logs)])


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


def beam_step(total, logs, finished, start=-torch.inf, stop=-torch.inf, pad=0.0, best=lambda x: x.flatten().topk(len(x)), by=1):
    """A step, or a mistake. start: what is added to `<pad>` of a hypothesis that goes on; stop, pad: the log-probability of each
    token, and of `<pad>`, after a finished one, None for the model's own; by: the axis whose length divides a place."""
    logs = logs.clone()
    logs[:, 0] += start
    if stop is not None:
        logs[finished] = stop
        logs[finished, 0] = pad
    values, places = best(total.unsqueeze(1) + logs)
    return torch.stack([values, places // logs.shape[by], places % logs.shape[by]], 1)


def of_each_row(candidates):
    values, tokens = candidates.max(1)
    return values, tokens + torch.arange(len(tokens)) * candidates.shape[1]


def best_of_rows_first(candidates):
    values, places = of_each_row(candidates)
    order = values.argsort(descending=True)
    return values[order], places[order]


def grams(ids, n):
    return Counter(zip(*(ids[i:] for i in range(n))))


def share(answers, rights, n, shared=lambda a, b: (a & b).total(), of=lambda answer, right: answer.total()):
    pairs = [(grams(answer, n), grams(right, n)) for answer, right in zip(answers, rights)]
    return torch.tensor(sum(shared(*pair) for pair in pairs) / sum(of(*pair) for pair in pairs))


def shares_of(answers, rights, n):
    """The share of each answer that has an n-gram."""
    return torch.stack([share([answer], [right], n) for answer, right in zip(answers, rights) if len(answer) >= n])


def mean_share(answers, rights, n):
    return shares_of(answers, rights, n).mean()


def mean_with_zeros(answers, rights, n):
    return shares_of(answers, rights, n).sum() / len(answers)


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
    "beam_step": Exercise(
        slow_beam_step,
        [(torch.tensor([-1.0, -1.5]), torch.tensor([[-0.2, -2.5, -1.8, -2.1], [-1.9, -0.3, -1.7, -2.2]]),
          torch.tensor([False, False])),
         (torch.tensor([-1.0, -1.1, -2.0]),
          torch.tensor([[-3.0, -0.4, -1.9, -2.8], [-0.5, -0.6, -2.7, -2.4], [-2.0, -0.7, -1.3, -0.1]]),
          torch.tensor([False, True, False])),
         (-numbers(4, seed=8).abs() - 2, -numbers(4, 6, seed=9).abs() - 0.05, torch.tensor([True, False, False, True]))],
        {
            "a finished hypothesis is continued; only `<pad>` may follow it":
                lambda t, x, f: beam_step(t, x, f, stop=None),
            "`<pad>` costs nothing after a finished hypothesis; you add its log-probability":
                lambda t, x, f: beam_step(t, x, f, pad=x[f, 0]),
            "a finished hypothesis is dropped; it stays, by `<pad>`, with the log-probability that it has":
                lambda t, x, f: beam_step(t, x, f, pad=-torch.inf),
            "a finished hypothesis stands in the beam several times; after it, every token but `<pad>` is impossible":
                lambda t, x, f: beam_step(t, x, f, stop=0.0),
            "a hypothesis that is not finished writes `<pad>`, id 0; rule that out":
                lambda t, x, f: beam_step(t, x, f, start=0.0),
            "no token is ruled out; a finished hypothesis goes on with `<pad>` alone, at no cost, and the others never write it":
                lambda t, x, f: beam_step(t, x, f, start=0.0, stop=None),
            "these are the best of the new log-probabilities without what the hypothesis had before; add `total`":
                lambda t, x, f: beam_step(0 * t, x, f),
            "you take the best token of each hypothesis; take the best of all candidates together":
                lambda t, x, f: beam_step(t, x, f, best=of_each_row),
            "you take the best token of each hypothesis, and sort them; take the best of all candidates together":
                lambda t, x, f: beam_step(t, x, f, best=best_of_rows_first),
            "the candidates stand in the wrong order; the best one comes first":
                lambda t, x, f: beam_step(t, x, f).flip(0),
            "the columns for row and token are exchanged":
                lambda t, x, f: beam_step(t, x, f)[:, [0, 2, 1]],
            "to find the row, divide the place by the size of the vocabulary; you divide by the width":
                lambda t, x, f: beam_step(t, x, f, by=0),
        }, at_once=True),
    "corpus_precision": Exercise(
        slow_corpus_precision,
        [([[4, 4, 4]], [[4, 5]], 1), ([[4, 5, 4, 5], [6, 4]], [[4, 5, 6], [4, 6, 4, 5, 4]], 1),
         ([[4], [5, 6, 7, 8]], [[4, 5, 6, 7], [5, 6, 7, 9]], 3),
         ([[4, 5, 4, 5], [6, 7, 8]], [[4, 5, 6, 4, 5], [4, 5, 6, 7, 8, 9]], 2),
         ([[4, 5, 6, 7, 4, 5, 6], [9, 4, 5, 6]], [[4, 5, 6, 8], [4, 5, 6, 9, 9]], 3)],
        {
            "the counts are not clipped; an n-gram counts at most as often as it occurs in the right translation":
                lambda a, r, n: share(a, r, n, lambda a, b: sum(count for gram, count in a.items() if gram in b)),
            "each n-gram counts only once; it counts as often as it occurs in both":
                lambda a, r, n: share(a, r, n, lambda a, b: len(a.keys() & b.keys())),
            "you count different n-grams; one that occurs twice counts twice, in the answers, too":
                lambda a, r, n: share(a, r, n, lambda a, b: len(a.keys() & b.keys()), lambda answer, right: len(answer)),
            "this is the mean of the sentences' shares; add up the counts first, and divide once":
                mean_share,
            "this is the mean of the shares, 0 where an answer is too short; add up the counts first, and divide once":
                mean_with_zeros,
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
            "an answer shorter than n has no n-grams; you count a negative number of them":
                lambda a, r, n: share(a, r, n) * sum(max(len(x) - n + 1, 0) for x in a) / sum(len(x) - n + 1 for x in a),
            "the last n-gram of each text is missing; there are len - n + 1, not len - n":
                lambda a, r, n: share(*([x[:-1] for x in some] for some in (a, r)), n),
            "the ends of a text that are shorter than n are no n-grams; there are len - n + 1":
                lambda a, r, n: share(*([[*x, *[None] * (n - 1)] for x in some] for some in (a, r)), n),
        },
        without="remove"),
    "answer_score": Exercise(
        slow_answer_score,
        [(numbers(2, 4, seed=0), torch.tensor([3, 0]), 1.0), (numbers(3, 5, seed=1), torch.tensor([4, 1, 3]), 0.6),
         (numbers(4, 5, seed=3), torch.tensor([2, 2, 3, 0]), 0.0), (numbers(5, 6, seed=2), torch.tensor([2, 5, 3, 0, 0]), 0.6)],
        {
            "padding counts in the sum; leave out the steps where the id is 0":
                lambda logits, ids, a: score(logits, ids, a, real=all_of),
            "padding counts in the length; count the ids that are not 0":
                lambda logits, ids, a: score(logits, ids, 0.0) / ((5 + len(ids)) / 6) ** a,
            "padding counts both in the sum and in the length; it counts in neither":
                lambda logits, ids, a: score(logits, ids, 0.0, real=all_of) / ((5 + len(ids)) / 6) ** a,
            "a log-probability is negative; a cross-entropy is the negative of it":
                lambda logits, ids, a: -score(logits, ids, a),
            "the logits are summed as they are; take the logarithm of their softmax first":
                lambda logits, ids, a: score(logits, ids, a, of=lambda x: x),
            "the softmax runs over the steps; it runs over the tokens of the vocabulary, the last axis":
                lambda logits, ids, a: score(logits, ids, a, of=lambda x: x.log_softmax(0)),
            "you sum probabilities; sum their logarithms":
                lambda logits, ids, a: score(logits, ids, a, of=lambda x: x.softmax(-1)),
            "the length penalty is missing":
                lambda logits, ids, a: score(logits, ids, 0.0),
            "you multiply by the length penalty; divide by it":
                lambda logits, ids, a: score(logits, ids, a, divide=False),
            "5 + length / 6 is not (5 + length) / 6; set the brackets":
                lambda logits, ids, a: score(logits, ids, 0.0) / (5 + (ids != 0).sum() / 6) ** a,
            "the power holds for the whole fraction; you divide by 5 + length, and then by 6 to the power of α":
                lambda logits, ids, a: score(logits, ids, 0.0) / (5 + (ids != 0).sum()) / 6**a,
            "α is a power here; you multiply by it":
                lambda logits, ids, a: score(logits, ids, 0.0) / ((5 + (ids != 0).sum()) / 6 * a),
            "this is the mean over the tokens; divide the sum by the penalty, ((5 + length) / 6) to the power of α":
                lambda logits, ids, a: score(logits, ids, 0.0) / (ids != 0).sum(),
            "you divide by the length to the power of α; the penalty is ((5 + length) / 6) to the power of α":
                lambda logits, ids, a: score(logits, ids, 0.0) / (ids != 0).sum() ** a,
        }, at_once=True),
}
