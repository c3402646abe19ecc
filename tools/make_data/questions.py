"""Writes questions about short passages in the manner of documentation, each answered by some words of its passage.

A passage tells several things of the same sort, "The default of the argument width is 20. It is at least 5.", and often one of them
about something else as well: it is full of possible answers, and the question, worded in its own way, decides.
"""
import random
import re
from typing import NamedTuple


class Topic(NamedTuple):
    """Things of a kind by their names, the values that are told of them, and what a value can be: how it is told, and how asked.

    rising: whether of the values of one thing, each needs to be above those of the facts before.
    """
    kind: str
    names: list
    values: list
    facts: list
    rising: bool = False


# {e} is "the argument width" or, in the sentences after the first about it, "it"; {v} is the value. Where they begin a sentence,
# they are {E} and {V}.
TOPICS = [
    Topic(
        "argument",
        "width height size color axis label step scale order mode depth level limit margin offset weight rate angle seed".split(),
        "1 2 3 4 5 6 8 9 10 12 15 16 20 24 25 30 32 40 50 60 64 80 90 100 120 128 150 200 256 300 400 500".split(),
        [
            (["The smallest value of {e} is {v}.", "{E} is at least {v}."],
             ["What is the smallest value of {e}?", "How small can {e} be?"]),
            (["The default of {e} is {v}.", "By default, {e} is {v}."],
             ["What is the default of {e}?", "What is {e} by default?"]),
            (["For long lists, {e} should be {v}.", "{E} should be {v} for long lists."],
             ["What should {e} be for long lists?", "Which value of {e} is good for long lists?"]),
            (["The largest value of {e} is {v}.", "{E} is at most {v}."],
             ["What is the largest value of {e}?", "How large can {e} be?"]),
        ],
        rising=True),
    Topic(
        "file",
        "notes index config results table data log history names words points events colors messages errors tests tasks".split(),
        ["the server", "the client", "the compiler", "the parser", "the editor", "the browser", "the debugger", "the printer",
         "the scheduler", "the main thread", "the test runner", "the build script", "the first process", "the last job"],
        [
            (["{E} is written by {v}.", "{V} writes {e}."], ["What writes {e}?", "By what is {e} written?"]),
            (["{E} is read by {v}.", "{V} reads {e}."], ["What reads {e}?", "By what is {e} read?"]),
            (["{E} is checked by {v}.", "{V} checks {e}."], ["What checks {e}?", "What looks for errors in {e}?"]),
            (["{E} is removed by {v}.", "{V} removes {e}."], ["What removes {e}?", "What gets rid of {e}?"]),
        ]),
    Topic(
        "function",
        "sort copy merge load save split join filter count reverse search compare replace update parse format draw shift".split(),
        ["a list", "an array", "a tuple", "a dictionary", "a string", "an integer", "a tensor", "a set", "a number", "a matrix",
         "a pair of points", "a sequence of bytes", "the name of a file", "a table", "a graph", "an image", "a line of text"],
        [
            (["{E} takes {v}.", "The input of {e} is {v}."], ["What does {e} take?", "What is the input of {e}?"]),
            (["{E} returns {v}.", "The result of {e} is {v}."], ["What does {e} return?", "What is the result of {e}?"]),
            (["{E} prints {v}.", "{E} shows {v} on the screen."], ["What does {e} print?", "What is shown by {e}?"]),
            (["{E} keeps {v} in the cache.", "{E} stores {v}."], ["What does {e} keep?", "What is stored by {e}?"]),
        ]),
]


def sets(n_train=5000, n_test=500, seed=0):
    """(train, test): lists of (question, passage, start, end); the answer is passage[start:end], and nowhere else in the passage.

    Passages have three or four sentences. What the test asks about a thing, such as the default of the argument width, is asked in
    train about others alone.
    """
    rng = random.Random(seed)
    make_questions(1000, rng, held_out=False)                  # so that the test is the one of a lesson that reads 1,000
    return make_questions(n_train, random.Random(seed), held_out=False), make_questions(n_test, rng, held_out=True)


def make_questions(count, rng, held_out):
    """`count` different ones: of all that can be asked, every fifth where held_out is set, and the rest where not."""
    made = {}
    while len(made) < count:
        topic = rng.choice(TOPICS)
        thing, other = rng.sample(range(len(topic.names)), 2)
        asked, *more = rng.sample(range(len(topic.facts)), 3)
        if is_held_out(thing, asked) == held_out:
            *values, last = rng.sample(topic.values, 4)
            if topic.rising:
                values.sort(key=topic.values.index)
            facts = dict(zip(sorted([asked, *more]), values))
            told, answer = [(thing, list(facts.items()))], facts[asked]
            if rng.random() < 0.5:
                told.append((other, [(rng.choice([asked, *more]), last)]))
            question = fill(rng.choice(topic.facts[asked][1]), called(topic, thing))
            passage = write(topic, told, rng)
            made[question, passage] = re.search(rf"\b{answer}\b", passage, re.IGNORECASE).span()
    return [(*texts, *span) for texts, span in made.items()]


def is_held_out(thing, asked):
    """Whether this fact about this thing, both by their numbers, is asked for in the test alone."""
    return (thing + asked) % 5 == 0


def called(topic, thing):
    """The thing by its name: the argument width."""
    return f"the {topic.kind} {topic.names[thing]}"


def write(topic, told, rng):
    """Sentences that tell facts, (thing, list of (which fact, value)) for each thing, one thing after the other."""
    sentences = []
    for thing, facts in rng.sample(told, len(told)):
        subject = called(topic, thing)
        for fact, value in rng.sample(facts, len(facts)):
            sentences.append(fill(rng.choice(topic.facts[fact][0]), subject, value))
            subject = rng.choice([subject, "it", "it"])
    return " ".join(sentences)


def fill(form, thing, value=""):
    """The form with a thing and a value in it."""
    text = form.format(e=thing, E=thing[0].upper() + thing[1:], v=value, V=value[:1].upper() + value[1:])
    return re.sub(r"^The ([\w ]+) of it\b", r"Its \1", text)
