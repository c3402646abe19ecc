"""Exercises of lesson 09: smooth targets, and one step of a beam search."""
import torch

from helpers.exercises.exercise import Exercise


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


def one_hot(ids, vocab_size):
    return torch.eye(vocab_size)[ids]


def rows_and_words(scores, width, largest=True, row_length=None):
    best = scores.flatten().topk(width, largest=largest).indices
    row_length = row_length or scores.shape[1]
    return torch.stack([best // row_length, best % row_length], 1)


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
}
