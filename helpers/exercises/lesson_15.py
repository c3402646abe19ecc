"""Exercises of lesson 15: the tags of words from those of pieces, and how much of a span was found."""
import torch

from helpers.exercises.exercise import Exercise, numbers


def slow_tags_of_words(logits, words):
    tags = []
    for i, word in enumerate(words.tolist()):
        if word >= 0 and (i == 0 or words[i - 1] != word):   # the first piece of a word
            tags.append(logits[i].argmax())
    return torch.stack(tags)


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


def extent(answers, truth):
    """How many tokens there are from the earlier start to the later end, [N]."""
    return torch.maximum(answers[:, 1], truth[:, 1]) - torch.minimum(answers[:, 0], truth[:, 0]) + 1


def precision(answers, truth):
    return shared(answers, truth) / size(answers)


def harmonic(precision, recall):
    return 2 * precision * recall / (precision + recall)


def held(spans, places):
    """Whether each span holds each of the places, [N, places]."""
    return (places >= spans[:, :1]) & (places <= spans[:, 1:])


def harmonic_of_masks(given, wanted):
    return 2 * (given & wanted).sum(1) / (given.sum(1) + wanted.sum(1))


def of_words(logits, words, choose):
    """choose(logits of a word's pieces): the logits that decide its tag; then the tags of all words."""
    return torch.stack([choose(logits[words == word]).argmax() for word in words[words >= 0].unique()])


def first_tags(logits, words):
    before = torch.cat([words.new_tensor([-1]), words[:-1]])
    return logits[(words >= 0) & (words != before)].argmax(1)


def first_of_all(words):
    """True where a run of equal numbers begins, those of -1, too."""
    return torch.cat([torch.tensor([True]), words[1:] != words[:-1]])


EXERCISES = {
    "tags_of_words": Exercise(
        slow_tags_of_words,
        [(torch.tensor([[0.0, 1], [2, 0]]), torch.tensor([0, 0])),
         (torch.tensor([[0.0, 0, 0], [1, 3, 0], [6, 0, 0], [0, 0, 4], [0, 1, 0]]),
          torch.tensor([-1, 0, 0, 0, -1])),
         (torch.tensor([[0.0, 9], [0, 1], [5, 0], [3, 1], [2, 0], [0, 2], [8, 0], [0, 7]]),
          torch.tensor([-1, 0, 0, 0, 1, 2, 2, -1])),
         (numbers(5, 4, seed=4), torch.tensor([5, 5, 6, 6, -1])),               # a piece of a long text
         (numbers(12, 4, seed=3), torch.tensor([-1, 0, 0, 1, 2, 2, 2, 3, 4, 4, 5, -1]))],
        {
            "the first token of all may begin a word, too":
                lambda logits, words: logits[1:][(words[1:] != words[:-1]) & (words[1:] >= 0)].argmax(1),
            "the first token has none before it; `roll` compares it with the last one":
                lambda logits, words: logits[(words >= 0) & (words != words.roll(1))].argmax(1),
            "these are the tags of all pieces of words; a word has one tag, that of its first piece":
                lambda logits, words: logits[words >= 0].argmax(1),
            "the first word need not be number 0: a piece of a long text may begin with another":
                lambda logits, words: logits[(words == torch.arange(words.max() + 1).unsqueeze(1)).int().argmax(1)].argmax(1),
            "the number of the first word may be more than 1 above -1: compare each number with the one before it by `!=`":
                lambda logits, words: logits[words.diff(prepend=torch.tensor([-1])) == 1].argmax(1),
            "[CLS] and [SEP] belong to no word: their number is -1":
                lambda logits, words: logits[first_of_all(words)].argmax(1),
            "words are counted from 0, so number 0 is a word, too; only -1 is none":
                lambda logits, words: logits[(words > 0) & first_of_all(words)].argmax(1),
            "this is the largest over the pieces, for each tag; take it over the tags, the last axis":
                lambda logits, words: logits[(words >= 0) & first_of_all(words)].argmax(0),
            "this is the tag of the last piece of each word; the first one counts":
                lambda logits, words: of_words(logits, words, lambda some: some[-1]),
            "this is the tag of the mean over a word's pieces; the first one alone counts":
                lambda logits, words: of_words(logits, words, lambda some: some.mean(0)),
            "these are the logits of the first pieces; return the place of the largest, by `argmax` over the last axis":
                lambda logits, words: logits[(words >= 0) & first_of_all(words)],
            "the first and the last token need not be [CLS] and [SEP]: leave out those whose number is -1":
                lambda logits, words: first_tags(logits[1:-1], words[1:-1]),
            "these are the largest logits; the tag is the place of the largest":
                lambda logits, words: logits[(words >= 0) & first_of_all(words)].amax(1),
        }, at_once=True),
    "overlap_f1": Exercise(
        slow_overlap_f1,
        [(torch.tensor([[4, 8]]), torch.tensor([[5, 5]])),
         (torch.tensor([[2, 4], [0, 1]]), torch.tensor([[4, 6], [2, 3]])),
         (torch.tensor([[3, 5], [7, 9], [1, 2], [2, 5]]), torch.tensor([[3, 5], [2, 3], [0, 3], [2, 3]]))],
        {
            "where the two spans share nothing it is below 0; it needs to be 0":
                lambda answers, truth: 2 * both(answers, truth) / (size(answers) + size(truth)),
            "where the two spans share nothing it is NaN, which is 0 / 0; it needs to be 0":
                lambda answers, truth: harmonic(precision(answers, truth), precision(truth, answers)),
            "the last token belongs to a span as well; from 3 to 5 are three tokens":
                lambda answers, truth: (2 * both(answers, truth, 0).clamp(min=0)
                                        / (size(answers, 0) + size(truth, 0))).nan_to_num(),
            "the last token belongs to both spans, too: their sizes need the 1 as well as the shared part":
                lambda answers, truth: 2 * shared(answers, truth) / (size(answers, 0) + size(truth, 0)),
            "one of the two sizes lacks its last token: both sizes need the 1":
                lambda answers, truth: 2 * shared(answers, truth) / (size(answers) + size(truth, 0)),
            "`arange(n)` ends at n - 1, so the token at the largest end is missing; count up to that end + 1":
                lambda answers, truth: harmonic_of_masks(*(
                    held(spans, torch.arange(int(torch.maximum(answers, truth).max()))) for spans in (answers, truth))),
            "spans that do not meet share 1 token here: add the 1 first, and then make what is below 0 to 0":
                lambda answers, truth: 2 * (both(answers, truth, 0).clamp(min=0) + 1) / (size(answers) + size(truth)),
            "where the two spans do not meet, the distance between them counts as shared; it needs to be 0, not `abs`":
                lambda answers, truth: 2 * both(answers, truth).abs() / (size(answers) + size(truth)),
            "the shared part lacks its last token: from the later start to the earlier end, both included":
                lambda answers, truth: 2 * both(answers, truth, 0).clamp(min=0) / (size(answers) + size(truth)),
            "the later of the two starts and the earlier of the two ends: `maximum` and `minimum` are exchanged":
                lambda answers, truth: 2 * extent(answers, truth) / (size(answers) + size(truth)),
            "this is half of it; F1 is twice the shared tokens over the sum of both sizes":
                lambda answers, truth: shared(answers, truth) / (size(answers) + size(truth)),
            "this is precision, the share of the answer that is right; recall counts as much":
                precision,
            "this is recall, the share of the truth that was found; precision counts as much":
                lambda answers, truth: precision(truth, answers),
            "this is the arithmetic mean of precision and recall; F1 is the harmonic one":
                lambda answers, truth: (precision(answers, truth) + precision(truth, answers)) / 2,
            "this is 1 where all is right and else 0; a part counts, too (and `//` cuts it off: divide by `/`)":
                lambda answers, truth: (answers == truth).all(1).float(),
            "this is how many of the two ends are right, from 0 to 1; count the tokens that both spans share":
                lambda answers, truth: (answers == truth).float().mean(1),
            "this is the shared part of the union; F1 is twice the shared tokens over the sum of both sizes":
                lambda answers, truth: (
                    shared(answers, truth) / (size(answers) + size(truth) - shared(answers, truth))),
        }, at_once=True),
}
