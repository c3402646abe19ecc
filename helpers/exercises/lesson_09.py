"""Exercises of lesson 09: smooth targets, one step of a beam search, and the score of an answer."""
import torch

from helpers.exercises.exercise import Exercise, numbers


def slow_smooth_targets(ids, vocab_size, epsilon):
    rows = []
    for right in ids.tolist():
        row = [epsilon / vocab_size] * vocab_size
        row[right] += 1 - epsilon
        rows.append(row)
    return torch.tensor(rows)


def slow_beam_step(total, logs):
    candidates = []
    for row in range(len(total)):
        for word in range(logs.shape[1]):
            candidates.append((float(total[row] + logs[row, word]), row, word))
    candidates.sort(reverse=True)
    return torch.tensor([[row, word] for _, row, word in candidates[:len(total)]])


def slow_answer_score(logits, ids, alpha):
    total, length = torch.tensor(0.0), 0
    for row, token in zip(logits, ids.tolist()):
        if token != 0:                                       # padding
            total = total + row.log_softmax(-1)[token]
            length += 1
    return total / ((5 + length) / 6) ** alpha


def one_hot(ids, vocab_size):
    return torch.eye(vocab_size)[ids]


def rows_and_words(scores, width, largest=True, row_length=None):
    best = scores.flatten().topk(width, largest=largest).indices
    row_length = row_length or scores.shape[1]
    return torch.stack([best // row_length, best % row_length], 1)


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
    "beam_step": Exercise(
        slow_beam_step,
        [(torch.tensor([-1.0, -1.5]), torch.tensor([[-0.5, -0.7, -3.0], [-4.0, -0.4, -2.0]])),
         (torch.tensor([-1.0, -1.2]), torch.tensor([[-0.7, -1.2, -1.6], [-2.3, -0.4, -1.6]])),
         (torch.tensor([-0.2, -1.0]), torch.tensor([[-3.9, -0.1, -2.5], [-0.7, -1.2, -1.6]])),
         (torch.tensor([-0.5, -0.9, -3.0]),
          torch.tensor([[-0.9, -1.1, -1.6, -3.0], [-3.5, -0.1, -3.0, -3.9], [-4.6, -4.7, -0.03, -4.5]]))],
        {
            "`total` is missing; the score of a continuation includes that of its hypothesis":
                lambda total, logs: rows_and_words(logs, len(total)),
            "you multiply logarithms; add them, where probabilities would be multiplied":
                lambda total, logs: rows_and_words(total.unsqueeze(1) * logs, len(total)),
            "these are the worst continuations":
                lambda total, logs: rows_and_words(total.unsqueeze(1) + logs, len(total), largest=False),
            "token and row are exchanged":
                lambda total, logs: rows_and_words(total.unsqueeze(1) + logs, len(total)).flip(1),
            "the worst comes first":
                lambda total, logs: rows_and_words(total.unsqueeze(1) + logs, len(total)).flip(0),
            "each row has kept its own best token; take the best of all rows together":
                lambda total, logs: torch.stack([torch.arange(len(total)), logs.argmax(1)], 1),
            "only the best hypothesis was continued":
                lambda total, logs: rows_and_words(total[:1] + logs[:1], len(total)),
            "you divide the flat index by the width; divide by the size of the vocabulary":
                lambda total, logs: (
                    rows_and_words(total.unsqueeze(1) + logs, len(total), row_length=len(total))),
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
            "you divide by the length to the power of α; the penalty is ((5 + length) / 6) to the power of α":
                lambda logits, ids, a: score(logits, ids, 0.0) / (ids != 0).sum() ** a,
        }),
}
