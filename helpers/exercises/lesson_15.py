"""Exercise of lesson 15: how much of a span was found."""
import torch

from helpers.exercises.exercise import Exercise


def slow_overlap_f1(answers, truth):
    scores = []
    for (start, end), (first, last) in zip(answers.tolist(), truth.tolist()):
        given, wanted = set(range(start, end + 1)), set(range(first, last + 1))
        both = len(given & wanted)
        precision, recall = both / len(given), both / len(wanted)
        scores.append(2 * precision * recall / (precision + recall) if both else 0.0)
    return torch.tensor(scores)


def both(answers, truth, one=1):
    """How many tokens two spans share, [N], before what is below 0 becomes 0."""
    return torch.minimum(answers[:, 1], truth[:, 1]) - torch.maximum(answers[:, 0], truth[:, 0]) + one


def size(spans, one=1):
    return spans[:, 1] - spans[:, 0] + one


def shared(answers, truth):
    return both(answers, truth).clamp(min=0)


def precision(answers, truth):
    return shared(answers, truth) / size(answers)


def harmonic(precision, recall):
    return 2 * precision * recall / (precision + recall)


EXERCISES = {
    "overlap_f1": Exercise(
        slow_overlap_f1,
        [(torch.tensor([[4, 8]]), torch.tensor([[5, 5]])),
         (torch.tensor([[2, 4], [0, 1]]), torch.tensor([[4, 6], [2, 3]])),
         (torch.tensor([[3, 5], [7, 9], [1, 2]]), torch.tensor([[3, 5], [2, 3], [0, 3]]))],
        {
            "where the two spans share nothing it is below 0; it needs to be 0":
                lambda answers, truth: 2 * both(answers, truth) / (size(answers) + size(truth)),
            "where the two spans share nothing it is NaN, which is 0 / 0; it needs to be 0":
                lambda answers, truth: harmonic(precision(answers, truth), precision(truth, answers)),
            "the last token belongs to a span as well; from 3 to 5 are three tokens":
                lambda answers, truth: (2 * both(answers, truth, 0).clamp(min=0)
                                        / (size(answers, 0) + size(truth, 0))).nan_to_num(),
            "this is precision, the share of the answer that is right; recall counts as much":
                precision,
            "this is recall, the share of the truth that was found; precision counts as much":
                lambda answers, truth: precision(truth, answers),
            "this is the arithmetic mean of precision and recall; F1 is the harmonic one":
                lambda answers, truth: (precision(answers, truth) + precision(truth, answers)) / 2,
            "this is 1 where all is right and else 0; a part counts, too":
                lambda answers, truth: (answers == truth).all(1).float(),
            "this is the shared part of the union; F1 is twice the shared tokens over the sum of both sizes":
                lambda answers, truth: (
                    shared(answers, truth) / (size(answers) + size(truth) - shared(answers, truth))),
        }),
}
