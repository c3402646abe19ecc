"""Answers without a network, for the four tasks of lesson 15: what counting the training rows is worth.

Each function takes rows to count and rows to answer, as the loaders of helpers.data return them, and returns a score: accuracy,
F1 of the tag 1, or exact match. RULES has, for each task, the rules by name, the plain one first.
"""
import math
from collections import Counter, defaultdict

from helpers.text import split_words


def counted(train_rows):
    """A naive Bayes classifier with add-one smoothing: a function from things to a label; rows: (things, label)."""
    labels, counts = Counter(label for _, label in train_rows), defaultdict(Counter)
    for things, label in train_rows:
        counts[label].update(things)
    different, totals = len(set().union(*counts.values())), {label: counts[label].total() for label in labels}

    def classify(things):
        return max(labels, key=lambda label: math.log(labels[label]) + sum(
            math.log((counts[label][thing] + 1) / (totals[label] + different)) for thing in things))
    return classify


def naive_bayes(train_rows, test_rows):
    """Accuracy of naive Bayes; rows: (things, label)."""
    classify = counted(train_rows)
    return sum(classify(things) == wanted for things, wanted in test_rows) / len(test_rows)


def by_things(things_of):
    """A rule: naive Bayes on what things_of(*texts) finds in the texts of a row, whose last column is the label."""
    return lambda *parts: naive_bayes(*([(things_of(*texts), label) for *texts, label in rows] for rows in parts))


def words_and_pairs(text):
    """The words of a text, and each two that follow one another."""
    words = split_words(text)
    return [*words, *zip(words, words[1:])]


def differences(one, other):
    """Words that one text alone has, [words], and those of the other."""
    one, other = set(split_words(one)), set(split_words(other))
    return sorted(one - other), sorted(other - one)


def unshared(one, other):
    """How many words each of two texts has that the other has not."""
    return tuple(map(len, differences(one, other)))


def crossed(one, other):
    """Numbers of unshared words, the words, and each pair of one from either text."""
    first, second = differences(one, other)
    return [unshared(one, other), *((0, word) for word in first), *((1, word) for word in second),
            *((a, b, "pair") for a in first for b in second)]


def around(words, i):
    """A word with its neighbours, as things."""
    padded = ["<", *words, ">"]
    return [("word", padded[i + 1]), ("before", padded[i]), ("after", padded[i + 2]), ("both", padded[i], padded[i + 2])]


def f1(pairs):
    """F1 of tag 1, from pairs of (found, wanted)."""
    return 2 * pairs.count((1, 1)) / max(1, sum(map(sum, pairs)))


def by_word(train_rows, test_rows):
    """Each word has the tag that it had most often; a new one is no name."""
    seen = defaultdict(Counter)
    for words, tags in train_rows:
        for word, tag in zip(words, tags):
            seen[word][tag] += 1
    return f1([(max(seen[word], key=seen[word].get) if word in seen else 0, tag)
               for words, tags in test_rows for word, tag in zip(words, tags)])


def by_neighbours(train_rows, test_rows):
    """Naive Bayes on a word and the words beside it."""
    known, fresh = ([(around(words, i), tag) for words, tags in rows for i, tag in enumerate(tags)]
                    for rows in (train_rows, test_rows))
    classify = counted(known)
    return f1([(classify(things), tag) for things, tag in fresh])


def answers_in(passage, answers):
    """(start, end) of each of the answers that stands in the passage."""
    text = f" {passage.lower()}"
    return [(found, found + len(answer)) for answer in answers
            if (found := text.find(f" {answer}")) >= 0 and not text[found + len(answer) + 1:][:1].isalnum()]


def by_earlier_answers(train_rows, test_rows):
    """The answer is the one that was most often one before, of those that stand in the passage."""
    answers = [answer for answer, _ in Counter(passage[start:end].lower() for _, passage, start, end in train_rows).most_common()]
    found = [answers_in(passage, answers)[:1] for _, passage, *_ in test_rows]
    return sum(some == [(start, end)] for some, (*_, start, end) in zip(found, test_rows)) / len(test_rows)


def clues(question, passage, start, end):
    """Pairs of a word of the question and one of the four around an answer, and how many words question and sentence share."""
    before, after = split_words(passage[:start])[-2:], split_words(passage[end:])[:2]
    sentence = passage[passage.rfind(".", 0, start) + 1:end + passage[end:].find(".")]
    asked = sorted(set(split_words(question)))
    places = [*zip((-2, -1), ["<", *before][-2:]), *zip((1, 2), after)]
    return [("shared", len(set(asked) & set(split_words(sentence)))), *((word, *place) for word in asked for place in places)]


def by_clues(train_rows, test_rows):
    """Of the earlier answers in the passage, the one whose clues speak most for it; found by naive Bayes."""
    answers = sorted({passage[start:end].lower() for _, passage, start, end in train_rows})
    good, bad, numbers = Counter(), Counter(), Counter()
    for question, passage, *wanted in train_rows:
        for span in answers_in(passage, answers):
            (good if list(span) == wanted else bad).update(clues(question, passage, *span))
            numbers[list(span) == wanted] += 1

    def best(question, passage):
        spans = answers_in(passage, answers) or [(0, 0)]
        return max(spans, key=lambda span: sum(math.log((good[c] + 1) / (numbers[True] + 2) * (numbers[False] + 2) / (bad[c] + 1))
                                               for c in clues(question, passage, *span)))
    return sum(best(question, passage) == tuple(wanted) for question, passage, *wanted in test_rows) / len(test_rows)


RULES = {
    "one text": {"most frequent class": by_things(lambda text: []), "words": by_things(split_words),
                 "words and pairs": by_things(words_and_pairs)},
    "two texts": {"hypothesis alone": by_things(lambda premise, hypothesis: split_words(hypothesis)),
                  "number of unshared words": by_things(lambda *texts: [unshared(*texts)]),
                  "unshared words and their pairs": by_things(crossed)},
    "each word": {"the word": by_word, "the word and its neighbours": by_neighbours},
    "a span": {"earlier answers": by_earlier_answers, "earlier answers and the words around them": by_clues},
}
