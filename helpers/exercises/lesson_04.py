"""Exercises of lesson 04: the context vectors, and clipped precision."""
import math
from collections import Counter

import torch

from helpers.exercises.exercise import Exercise, numbers


def slow_clipped_precisions(answer, reference, most):
    precisions = []
    for n in range(1, most + 1):
        left = [tuple(reference[i:i + n]) for i in range(len(reference) - n + 1)]
        grams, hits = [tuple(answer[i:i + n]) for i in range(len(answer) - n + 1)], 0
        for gram in grams:
            if gram in left:
                left.remove(gram)                         # it counts no more often than it is there
                hits += 1
        precisions.append(hits / max(1, len(grams)))      # 0 for an answer that is too short for an n-gram
    return torch.tensor(precisions)


def slow_context_vectors(scores, outputs, lengths):
    contexts = torch.zeros(outputs.shape[0], outputs.shape[2])
    for b in range(len(outputs)):
        real = range(int(lengths[b]))
        largest = max(scores[b, t] for t in real)                      # so that no exp grows too large
        total = sum(torch.exp(scores[b, t] - largest) for t in real)
        for t in real:
            contexts[b] += torch.exp(scores[b, t] - largest) / total * outputs[b, t]
    return contexts


def real_words(scores, lengths):
    return torch.arange(scores.shape[1]) < lengths.unsqueeze(1)        # [B, T]


def averaged(weights, outputs):
    return (weights.unsqueeze(1) @ outputs).squeeze(1)                 # [B, d]


def without_largest(scores, outputs, lengths):
    """The contexts as exp gives them, with no largest score taken off first."""
    weights = scores.exp() * real_words(scores, lengths)
    return averaged(weights / weights.sum(-1, keepdim=True), outputs)


def hidden_by(fill):
    """The contexts if `fill` is written into the scores of padding."""
    return lambda scores, outputs, lengths: averaged(
        scores.masked_fill(~real_words(scores, lengths), fill).softmax(-1), outputs)


def grams(words, n):
    return [tuple(words[i:i + n]) for i in range(len(words) - n + 1)]


def hits(answer, reference, n, key=tuple):
    """How many n-grams two texts share, each as often as both have it."""
    shared = Counter(map(key, grams(answer, n))) & Counter(map(key, grams(reference, n)))
    return sum(shared.values())


def precisions(most, share):
    """share: from n to (how many n-grams count, of how many)."""
    return torch.tensor([counted / max(1, of) for counted, of in map(share, range(1, most + 1))])


def too_short_gives(number):
    """The right precisions, but for n-grams that are longer than the answer."""
    return lambda answer, reference, most: torch.where(
        torch.arange(1, most + 1) > len(answer), number, slow_clipped_precisions(answer, reference, most))


EXERCISES = {
    "clipped_precisions": Exercise(
        slow_clipped_precisions,
        [("cat the dog".split(), "the cat".split(), 2),
         ("le chat".split(), "le petit chat".split(), 3),
         ("the the the cat".split(), "the cat sees the dog".split(), 2),
         ("le chat le chat dort".split(), "le petit chat dort le jour".split(), 3)],
        {
            "an n-gram counts each time the answer has it; count it only as often as the reference has it":
                lambda answer, reference, most: precisions(most, lambda n: (
                    sum(gram in grams(reference, n) for gram in grams(answer, n)), len(grams(answer, n)))),
            "you divide by the n-grams of the reference; precision is a share of the answer's":
                lambda answer, reference, most: precisions(most, lambda n: (
                    hits(answer, reference, n), len(grams(reference, n)))),
            "you divide by the number of words in the answer; divide by the number of its n-grams":
                lambda answer, reference, most: precisions(most, lambda n: (
                    hits(answer, reference, n), len(answer))),
            "n-grams that occur twice are counted once; count each, up to as often as the reference has it":
                lambda answer, reference, most: precisions(most, lambda n: (
                    len({*grams(answer, n)} & {*grams(reference, n)}), len({*grams(answer, n)}))),
            "the order of words within an n-gram is ignored; `cat the` is not `the cat`":
                lambda answer, reference, most: precisions(most, lambda n: (
                    hits(answer, reference, n, key=frozenset), len(grams(answer, n)))),
            "the first number is for pairs; it needs to be for single words":
                lambda answer, reference, most: slow_clipped_precisions(answer, reference, most + 1)[1:],
            "an answer too short for an n-gram has none, and you divide by their number; its share needs to be 0":
                lambda answer, reference, most: torch.tensor([
                    hits(answer, reference, n) / len(grams(answer, n)) for n in range(1, most + 1)]),
            "an answer too short for an n-gram gives 0 / 0, which is NaN; its share needs to be 0": too_short_gives(math.nan),
            "an answer too short for an n-gram has the share 0, not 1": too_short_gives(1.0),
        }),
    "context_vectors": Exercise(
        slow_context_vectors,
        [(torch.tensor([[0.0, 0.0, 5.0]]), torch.tensor([[[2.0], [4.0], [9.0]]]), torch.tensor([2])),
         (torch.tensor([[200.0, 199.0, 0.0], [-300.0, -300.0, 50.0]]), numbers(2, 3, 2, seed=18), torch.tensor([3, 2])),
         (numbers(2, 4, seed=14), numbers(2, 4, 3, seed=15), torch.tensor([1, 3])),
         (numbers(3, 5, seed=16), numbers(3, 5, 2, seed=17), torch.tensor([5, 2, 3]))],
        {
            "padding takes part; hide its scores before the softmax":
                lambda scores, outputs, lengths: averaged(scores.softmax(-1), outputs),
            "the weights of padding are set to 0 after the softmax, so the others no longer sum to 1; hide the scores before it":
                lambda scores, outputs, lengths: averaged(scores.softmax(-1) * real_words(scores, lengths), outputs),
            "0 is written into the scores of padding, and exp(0) is 1; write -inf": hidden_by(0.0),
            "the mask is the wrong way round: the real words are hidden":
                lambda scores, outputs, lengths: averaged(
                    scores.masked_fill(real_words(scores, lengths), -torch.inf).softmax(-1), outputs),
            "exp of a large score is infinite, and of a very small one 0; take the largest real score off first, as softmax does":
                without_largest,
            "this is the mean of all outputs, padding included; weigh the real ones by the softmax of their scores":
                lambda scores, outputs, lengths: outputs.mean(1),
            "every real word counts the same; weigh them by the softmax of their scores":
                lambda scores, outputs, lengths: averaged(real_words(scores, lengths) / lengths.unsqueeze(1), outputs),
            "the weighted outputs are averaged; add them up, because the weights already sum to 1":
                lambda scores, outputs, lengths: slow_context_vectors(scores, outputs, lengths) / scores.shape[1],
            "the sum is divided by the length; add up only, because the weights already sum to 1":
                lambda scores, outputs, lengths: slow_context_vectors(scores, outputs, lengths) / lengths.unsqueeze(1),
            "the best word alone is taken; the softmax gives every real word a weight":
                lambda scores, outputs, lengths: outputs[
                    torch.arange(len(outputs)), scores.masked_fill(~real_words(scores, lengths), -torch.inf).argmax(-1)],
            "-10 leaves padding a small weight; write -inf": hidden_by(-10.0),
            "the last real word is hidden, too; a sentence of length 3 has the positions 0 to 2":
                lambda scores, outputs, lengths: hidden_by(-torch.inf)(scores, outputs, lengths - 1),
            "the first word of the padding is still there; a sentence of length 3 has the positions 0 to 2":
                lambda scores, outputs, lengths: hidden_by(-torch.inf)(scores, outputs, lengths + 1),
            "the scores themselves are the weights; take their softmax first":
                lambda scores, outputs, lengths: averaged(scores * real_words(scores, lengths), outputs),
            "the softmax runs over the sentences; take it over the words of each":
                lambda scores, outputs, lengths: averaged(
                    scores.masked_fill(~real_words(scores, lengths), -torch.inf).softmax(0).nan_to_num(), outputs),
            "each row ends where the longest one does; each has its own length":
                lambda scores, outputs, lengths: hidden_by(-torch.inf)(scores, outputs, lengths.max().expand(len(lengths))),
        }),
}
