"""Logistic regression for the four tasks of lesson 15: the strongest answers without a network that we know.

Classes are those of a text, of two texts or of a word; and of each earlier answer that stands in a passage, whether it is the one
asked for. RULES has, for each task, rules by name: functions of rows to learn from, to choose on and to test on, as the loaders of
helpers.data return them, that return (penalty, score on the rows to choose on, score on the rows to test on). Scores are those
of counting.py.
"""
import functools
import itertools
import re

import torch
import torch.nn.functional as F

from tools.make_weights.counting import answers_in, clues, crossed, f1, words_and_pairs

PENALTIES = [1e-6, 1e-5, 1e-4, 1e-3]                         # factors of the sum of squared weights
THRESHOLDS = [0.5, 0.4, 0.3]                                 # of a name's probability; F1 may gain from finding more of them


def logistic_regression(things, labels, penalty):
    """A function from things to logits [N, classes]. things: a list of features each; labels: their classes, 0, 1, ..."""
    index = {feature: i for i, feature in enumerate(dict.fromkeys(itertools.chain.from_iterable(things)))}
    weights = torch.zeros(len(index), max(labels) + 1, requires_grad=True)                   # one for each feature and class
    bias = torch.zeros(max(labels) + 1, requires_grad=True)

    def numbers(things):
        known = [[index[feature] for feature in features if feature in index] for features in things]
        return torch.tensor(list(itertools.chain.from_iterable(known))).long(), torch.tensor([0, *map(len, known)]).cumsum(0)[:-1]

    def logits(flat, starts):
        return F.embedding_bag(flat, weights, starts, mode="sum") + bias                     # sums of the features' weights

    def closure():
        optimizer.zero_grad()
        loss = F.cross_entropy(logits(*known), torch.tensor(labels)) + penalty * weights.square().sum()
        loss.backward()
        return loss

    known, optimizer = numbers(things), torch.optim.LBFGS([weights, bias], max_iter=100, line_search_fn="strong_wolfe")
    optimizer.step(closure)
    return lambda things: logits(*numbers(things)).detach()


def best(known, *others, fits):
    """(penalty, a score for each of the others) of the fit that is best on the first of the others."""
    return max(((name, *(score(rows) for rows in others)) for name, score in fits(known)), key=lambda found: found[1])


def by_class(features_of):
    """A rule for rows of one text or two and a class; features_of(*texts): the features."""
    def fits(known):
        for penalty in PENALTIES:
            logits = logistic_regression([features_of(*texts) for *texts, _ in known], [row[-1] for row in known], penalty)

            def share(rows, logits=logits):
                found = logits([features_of(*texts) for *texts, _ in rows]).argmax(1)
                return float((found == torch.tensor([row[-1] for row in rows])).float().mean())
            yield penalty, share
    return functools.partial(best, fits=fits)


def shape(word):
    """Kinds of characters, each run of one kind once: X a capital, x a small letter, 0 a digit."""
    return re.sub(r"(.)\1+", r"\1", re.sub("[a-z]", "x", re.sub("[A-Z]", "X", re.sub(r"\d", "0", word))))


def spelled(words, i):
    """Features of a word: itself, two neighbours on each side, their shapes, pairs, and how the word begins and ends."""
    padded = ["<<", "<", *words, ">", ">>"][i:i + 5]
    before, word, after = (some.lower() for some in padded[1:4])
    return [*enumerate(some.lower() for some in padded), *((j, "shape", shape(some)) for j, some in enumerate(padded)),
            *(("begins", word[:n]) for n in (2, 3)), *(("ends", word[-n:]) for n in (2, 3)),
            ("around", before, after), ("with", before, word), ("with", word, after), (i == 0, shape(padded[2]))]


def tag_fits(known):
    """Fits for rows of words and tags."""
    def things(rows):
        return [spelled(words, i) for words, _ in rows for i in range(len(words))]

    def tags(rows):
        return [tag for _, some in rows for tag in some]

    for penalty in PENALTIES:
        logits = logistic_regression(things(known), tags(known), penalty)
        for threshold in THRESHOLDS:
            yield penalty, lambda rows, logits=logits, threshold=threshold: f1(
                list(zip((logits(things(rows)).softmax(1)[:, 1] > threshold).int().tolist(), tags(rows))))


def span_fits(known):
    """Fits for rows of (question, passage, start, end)."""
    answers = sorted({passage[start:end].lower() for _, passage, start, end in known})
    places = [(question, passage, span, tuple(wanted)) for question, passage, *wanted in known
              for span in answers_in(passage, answers)]
    for penalty in PENALTIES:
        logits = logistic_regression([clues(question, passage, *span) for question, passage, span, _ in places],
                                     [int(span == wanted) for *_, span, wanted in places], penalty)

        def right(question, passage, *wanted, logits=logits):
            spans = answers_in(passage, answers)
            found = logits([clues(question, passage, *span) for span in spans])              # [spans, 2], wrong and right
            return bool(spans) and spans[found.diff(dim=1).argmax()] == tuple(wanted)
        yield penalty, lambda rows, right=right: sum(right(*row) for row in rows) / len(rows)


RULES = {
    "one text": {"words and pairs": by_class(words_and_pairs)},
    "two texts": {"unshared words and their pairs": by_class(crossed)},
    "each word": {"the word, its spelling and its neighbours": functools.partial(best, fits=tag_fits)},
    "a span": {"earlier answers and the words around them": functools.partial(best, fits=span_fits)},
}
