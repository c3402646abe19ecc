"""Exercises of lesson 09: smooth targets, and one step of a beam."""
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


def rows_and_words(scores, width, largest=True):
    best = scores.flatten().topk(width, largest=largest).indices
    return torch.stack([best // scores.shape[1], best % scores.shape[1]], 1)


totals = torch.tensor([-0.5, -0.9, -3.0])
log_probabilities = torch.tensor([[0.4, 0.35, 0.2, 0.05], [0.03, 0.9, 0.05, 0.02], [0.01, 0.01, 0.97, 0.01]]).log()

EXERCISES = {
    "smooth_targets": Exercise(
        slow_smooth_targets,
        [(torch.tensor([2, 0]), 5, 0.1), (torch.tensor([1, 3, 3]), 4, 0.4)],
        {
            "the right word has only 1 - ε; it gets its part of what is spread as well":
                lambda ids, n, e: (1 - e - e / n) * one_hot(ids, n) + e / n,
            "ε is spread over the wrong words only; it goes to all words, the right one too":
                lambda ids, n, e: (1 - e - e / (n - 1)) * one_hot(ids, n) + e / (n - 1),
            "the rows sum to more than 1: take ε away from the right word before it is spread":
                lambda ids, n, e: one_hot(ids, n) + e / n,
            "every word gets all of ε; each needs ε divided by their number":
                lambda ids, n, e: (1 - e) * one_hot(ids, n) + e,
            "nothing is smoothed yet: this is the plain target":
                lambda ids, n, e: one_hot(ids, n),
            "ε and 1 - ε have changed places":
                lambda ids, n, e: e * one_hot(ids, n) + (1 - e) / n,
        }),
    "beam_step": Exercise(
        slow_beam_step,
        [(totals, log_probabilities), (torch.tensor([-1.0, -1.2]), torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.7, 0.2]]).log()),
         (torch.tensor([-0.2, -1.0]), torch.tensor([[0.02, 0.9, 0.08], [0.5, 0.3, 0.2]]).log())],
        {
            "the score of a continuation is that of the whole: add `total` to each row":
                lambda total, logs: rows_and_words(logs, len(total)),
            "logarithms are added where probabilities would be multiplied":
                lambda total, logs: rows_and_words(total.unsqueeze(1) * logs, len(total)),
            "these are the worst continuations":
                lambda total, logs: rows_and_words(total.unsqueeze(1) + logs, len(total), largest=False),
            "word and row have changed places":
                lambda total, logs: rows_and_words(total.unsqueeze(1) + logs, len(total)).flip(1),
            "they come worst first":
                lambda total, logs: rows_and_words(total.unsqueeze(1) + logs, len(total)).flip(0),
            "each row has kept its own best word; the best of all rows together are asked for":
                lambda total, logs: torch.stack([torch.arange(len(total)), logs.argmax(1)], 1),
            "only the best beginning was continued":
                lambda total, logs: torch.stack([torch.zeros(len(total)).long(), logs[0].topk(len(total)).indices], 1),
        }),
}
