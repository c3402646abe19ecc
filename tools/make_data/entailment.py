"""Writes pairs of sentences, and whether the second follows from the first.

Both sentences of a made pair speak of the same event. Each says who does what to what, and tells more or less of it: "the program"
or "the server", "the file" or "the small file". So

- entailment: the premise tells all that the hypothesis tells;
- neutral: the hypothesis tells something that the premise leaves open;
- contradiction: something in the one rules out what the other says in its place: another quality or place, the opposite verb, or
  the same one denied; or who does it has changed places with whom it is done to.
"""
import itertools
import random
from typing import NamedTuple

# Who does it: what all of them are called, then some of them. To what it is done, likewise, each as one and as several; what can be
# told of that, in pairs of opposites; what is done to it, and the opposite.
ACTORS = ["program server client browser editor compiler parser debugger", "person user author reader owner caller"]
THINGS = """
file files, image images, script scripts, document documents | large small, old new | opens closes, sends receives, saves loads
message messages, error errors, warning warnings, request requests | long short, old new | sends receives, shows hides, reads writes
container containers, list lists, array arrays, dictionary dictionaries | large small, old new | reads writes, saves loads
shape shapes, circle circles, rectangle rectangles, triangle triangles | large small, black white | shows hides, adds removes
number numbers, integer integers, fraction fractions, float floats | large small, positive negative | adds removes, shows hides
character characters, letter letters, digit digits, symbol symbols | large small, black white | reads writes, shows hides
task tasks, thread threads, process processes, job jobs | long short, old new | starts stops, locks unlocks
"""
MUTUAL = "calls ignores, starts stops, accepts rejects, follows leads"                 # what one actor does to another
NUMBERS = ["two", "three", "four"]
WHERE = ["in the cache", "on the disk", "on the network"]
WHEN = ["before the test", "during the test", "after the test"]


class Frame(NamedTuple):
    """What the sentences of a pair have in common: a verb with its opposite, and for each place the words to choose from, of which
    the first tells least. mutual: what it is done to is another actor, and both are always named."""
    verbs: list
    places: dict
    mutual: bool


class Sentence(NamedTuple):
    """Which of the words of its frame stands at each place, which of the two verbs, and whether that is denied."""
    words: dict
    verb: int
    denied: bool


def sets(parts=((1000, 400), (2000, 400), (6000, 900), (30_000, 6_000)), seed=0):
    """(train, test): lists of (premise, hypothesis, label); the label 0 is entailment, 1 neutral, 2 contradiction.

    Each hypothesis is there with three premises, one for each label, which tell as much as one another: neither sentence alone
    says much about the label, and both together decide it. No sentence of the test is in the training pairs, and what its
    hypotheses say is done, such as opening documents, is done nowhere there. parts: how many there are to train and to test on
    after each part; within one the order is random. Who reads as many as the first parts have reads whole threes.
    """
    rng, taken, train, test = random.Random(seed), set(), [], []
    for n_train, n_test in parts:
        train += make_pairs(n_train - len(train), rng, taken, held_out=False)
        test += make_pairs(n_test - len(test), rng, taken, held_out=True)
    return train, test


def make_pairs(count, rng, taken, held_out):
    """`count` pairs, or up to two more, so that they are threes; their sentences were not in the set `taken` and then are.

    held_out: whether the deeds of the hypotheses are of HELD_OUT; where they are not, those of the premises are not either.
    """
    pairs, drawn = [], set(taken)
    while len(pairs) < count:
        frame = rng.choice(FRAMES)
        hypothesis = draw(frame, rng)
        sentences = [*premises(frame, hypothesis, rng), hypothesis]
        *texts, text = [write(frame, sentence) for sentence in sentences]
        new = [(frame.verbs[0], frame.places["what"][sentence.words["what"]]) in HELD_OUT for sentence in sentences]
        if drawn.isdisjoint([text, *texts]) and (new[-1] if held_out else not any(new)):
            drawn.add(text)
            pairs += [(premise, text, label) for label, premise in enumerate(texts)]
    taken.update(*(pair[:2] for pair in pairs))
    rng.shuffle(pairs)
    return pairs


def draw(frame, rng):
    """A sentence that leaves open at least two of the things that it could tell."""
    denied = not frame.mutual and rng.random() < 0.2
    places = movable(frame, denied)
    words = {**dict.fromkeys(frame.places, 0), **tell(frame, rng, *rng.sample(places, rng.randint(1, len(places) - 2)))}
    if frame.mutual:
        words["who"], words["what"] = rng.sample(range(1, len(frame.places["who"])), 2)
    return Sentence(words, rng.randrange(2), denied)


def movable(frame, denied):
    """The places where premise and hypothesis may differ. A file that is not opened in the cache may be opened elsewhere: so where
    and when do not change in what is denied."""
    fixed = ("who", "what") if frame.mutual else ("where", "when") if denied else ()
    return [place for place in frame.places if place not in fixed]


def tell(frame, rng, *places):
    """Words for these places that tell more than the least."""
    return {place: rng.randrange(1, len(frame.places[place])) for place in places}


def premises(frame, hypothesis, rng):
    """Three sentences, one for each label. How many things they tell besides is left to chance: if it were always one, to count
    the words that differ would be enough."""
    words = hypothesis.words
    told = [place for place in movable(frame, hypothesis.denied) if words[place]]
    silent = [place for place in movable(frame, hypothesis.denied) if not words[place]]
    more, beside, other = (tell(frame, rng, *rng.sample(silent, rng.randint(least, 2))) for least in (1, 1, 0))
    return (hypothesis._replace(words=words | more), hypothesis._replace(words=words | beside | {rng.choice(told): 0}),
            contradict(frame, hypothesis._replace(words=words | other), told, rng))


def contradict(frame, sentence, told, rng):
    """The sentence with something changed that rules out what it told before; told: the places that may be."""
    words = sentence.words
    changes = [sentence._replace(verb=1 - sentence.verb)]
    if not any(words.get(place) for place in ("where", "when")):
        changes.append(sentence._replace(denied=True))
    if frame.mutual:
        changes += [sentence._replace(words={**words, "who": words["what"], "what": words["who"]})] * 2
    for place in told:
        rivals = [i for i in range(1, len(frame.places[place])) if i != words[place]]
        changes.append(sentence._replace(words={**words, place: rng.choice(rivals)}))
    return sentence._replace(denied=False) if sentence.denied else rng.choice(changes)


def write(frame, sentence):
    """The sentence in words: The server does not open the small file."""
    words = {place: choices[sentence.words[place]] for place, choices in frame.places.items()}
    verb = frame.verbs[sentence.verb]
    does = f"does not {verb.removesuffix('s')}" if sentence.denied else verb
    said = ["The", words["who"], does, "the", *map(words.get, ["number", "quality", "what", "where", "when"])]
    return " ".join(filter(None, said)) + "."


def make_frames():
    """All frames, in an order that is always the same."""
    frames = []
    for actors in map(str.split, ACTORS):
        for verbs in MUTUAL.split(", "):
            places = {"who": actors, "quality": ["", "old", "new"], "what": actors, "where": ["", *WHERE], "when": ["", *WHEN]}
            frames += [Frame(verbs.split(), places, mutual=True)] * 3                  # as often as the others
        for nouns, qualities, deeds in (line.split(" | ") for line in THINGS.strip().splitlines()):
            one, several = zip(*(noun.split() for noun in nouns.split(", ")))
            aspects = [{"quality": ["", *pair.split()], "what": what} for pair in qualities.split(", ") for what in (one, several)]
            aspects.append({"number": ["", *NUMBERS], "what": several})
            circumstances = [{"where": ["", *WHERE]}, {"when": ["", *WHEN]}]
            for verbs, aspect, circumstance in itertools.product(deeds.split(", "), aspects, circumstances):
                frames.append(Frame(verbs.split(), {"who": actors, **aspect, **circumstance}, mutual=False))
    return frames


def deeds(frames):
    """What is done to each thing: from the thing to the first verbs of its frames."""
    found = {}
    for frame in frames:
        for thing in frame.places["what"][frame.mutual:]:
            found.setdefault(thing, {})[frame.verbs[0]] = None                         # a set that keeps its order
    return {thing: list(verbs) for thing, verbs in found.items()}


FRAMES = make_frames()
DEEDS = deeds(FRAMES)
# Of every five things, one without its first verb, one without its second, and so on: each is known from others.
HELD_OUT = {(verbs[i % 5], thing) for i, (thing, verbs) in enumerate(DEEDS.items()) if i % 5 < len(verbs)}
