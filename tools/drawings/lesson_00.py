"""Lesson 0: one output letter looks at the input letters; the map of the course."""
from tools.drawings.svg import ROLES, SOFT, Drawing

WRITTEN, TYPED = "2001-05-0", "3 may 2001"
WEIGHTS = [0.7, 0.2, 0, 0.05, 0, 0, 0, 0, 0.05, 0]             # made up, as all weights in drawings are
KEYS = [(0.8, 0.2, 0.6), (0.6, 0.5, 0.3), (0.1, 0.3, 0.2), (0.4, 0.4, 0.2), (0.1, 0.2, 0.5), (0.2, 0.7, 0.1),
        (0.1, 0.9, 0.4), (0.3, 0.8, 0.1), (0.5, 0.4, 0.1), (0.1, 0.6, 0.2)]
VALUES = [(0.9, 0.2, 0.6), (0.1, 0.5, 0.2), (0.3, 0.8, 0.1), (0.6, 0.1, 0.5), (0.2, 0.4, 0.9), (0.1, 0.2, 0.1),
          (0.5, 0.9, 0.2), (0.8, 0.3, 0.3), (0.3, 0.3, 0.7), (0.4, 0.7, 0.2)]


def look():
    d = Drawing(692, "One query: keys, weights, values", (
        "A date was typed, 3 may 2001, and the last character of 2001-05-0? is to be written. Its query, a row of numbers, is "
        "compared with the key of every typed character, a column of numbers. Lines as thick as the weights lead to the keys, "
        "the thickest to the 3. Every character has a value, a column of numbers, too. The values, each times its weight, are "
        "added up to the output, from which the character 3 is written."))
    middles = [131 + 48 * i for i in range(len(TYPED))]
    d.text(24, 48, "written", anchor="start", colour=SOFT)
    for i, letter in enumerate(WRITTEN):
        d.text(126 + 22 * i, 48, f"`{letter}`", 20)
    query = d.box(330, 26, 156, 44, role="query")
    d.text(370, 48, "query")
    d.cells(406, 36, [[0.9, 0.1, 0.7]], "query", 22, 24, framed=False)

    d.text(24, 112, "**1** compare", anchor="start")
    for x, weight in zip(middles, WEIGHTS):
        strength(d, query.bottom, (x, 174), weight)
    for x, letter, key in zip(middles, TYPED, KEYS):
        d.box(x - 18, 176, 36, 88, role="key")
        if letter != " ":
            d.text(x, 194, f"`{letter}`", 20)
        d.cells(x - 13, 212, [[part] for part in key], "key", 26, 16, framed=False)
    d.text(24, 194, "typed", anchor="start", colour=SOFT)
    d.text(24, 236, "keys", anchor="start")

    d.text(24, 310, "**2** weights", anchor="start")
    d.text(24, 332, "sum to 1", anchor="start", colour=SOFT)
    for x, weight, value in zip(middles, WEIGHTS, VALUES):
        d.arrow((x, 268), (x, 300))
        d.cells(x - 18, 302, [[weight]], width=36, height=28)
        if weight:
            d.text(x, 316, f"{weight:.2f}", 15)
        d.text(x, 346, "×")
        d.cells(x - 13, 368, [[part] for part in value], "value", 26, 20)
    d.text(24, 398, "values", anchor="start")

    d.text(24, 472, "**3** add", anchor="start")
    total = d.sign(347, 530)
    for x, weight in zip(middles, WEIGHTS):
        strength(d, (x, 434), total.top, weight)
    output = d.cells(334, 566, [[0.695], [0.26], [0.52]], "value", 26, 20)
    d.arrow(total.bottom, (347, 562))
    d.text(24, 596, "output", anchor="start")
    written = d.box(464, 578, 36, 36, "`3`", size=20)
    d.arrow((output.right[0] + 4, 596), written.left)
    d.text(412, 582, "more layers", 15, colour=SOFT)
    d.text(509, 596, "written next", anchor="start", colour=SOFT)
    d.text(300, 662, "output = sum of (weight × value) over all typed characters")
    return d


def course():
    d = Drawing(664, "The map of the course", (
        "Lessons 1 to 3 build attention, one after the other. Lesson 4 uses it in a recurrent translator, lessons 5 and 6 add "
        "heads and positions, and lesson 7 makes the Transformer of them. Lessons 8 to 12 use its parts: dates and translation "
        "the whole, classification the encoder, a small GPT and couplets the decoder. Lessons 13 to 15 build BERT, pretrain it "
        "and fine-tune it. Lesson 16 looks inside a published BERT, and lesson 17 goes further from lesson 14."))
    first, second, third, seventh = (d.box(180, y, 240, 42, words) for y, words in [
        (24, "**1** a weighted average"), (90, "**2** scores: who matters?"), (156, "**3** masks: who may be seen?"),
        (356, "**7** the Transformer")])
    fourth = d.box(24, 256, 200, 42, "**4** in translation")
    fifth, sixth = d.box(376, 222, 200, 42, "**5** many heads"), d.box(376, 288, 200, 42, "**6** positions")
    for start, end in ((first, second), (second, third), (fifth, sixth)):
        d.arrow(start.bottom, end.top)
    for start, end in ((third.left, fourth.top), (third.right, fifth.top)):
        d.arrow(start, (end[0], start[1]), end)
    d.arrow(fourth.bottom, (124, 377), seventh.left)
    d.arrow(sixth.bottom, (476, 377), seventh.right)

    parts = d.panel(18, 440, 276, 206)
    d.text(156, 461, "all of it, or a part", 15, colour=SOFT)
    d.box(30, 480, 122, 46, "**8** dates\nall of it", size=15)
    d.box(160, 480, 122, 46, "**9** translation\nall of it", size=15)
    d.box(30, 536, 252, 42, "**10** classification: the encoder", size=15)
    gpt = d.box(30, 588, 114, 46, "**11** a small\nGPT: decoder", size=15)
    d.arrow(gpt.right, d.box(168, 588, 114, 46, "**12** couplets", size=15).left)

    d.panel(306, 440, 276, 206)
    d.text(444, 461, "BERT", 15, colour=SOFT)
    pieces = d.box(318, 480, 252, 42, "**13** BERT, piece by piece")
    pretraining, real, tuning, further = (d.box(x, y, 122, 40, words, size=15) for x, y, words in [
        (318, 538, "**14** pretraining"), (448, 538, "**16** a real one"), (318, 594, "**15** fine-tuning"),
        (448, 594, "**17** further")])
    d.arrow((379, pieces.bottom[1]), pretraining.top)
    d.arrow((509, pieces.bottom[1]), real.top)
    d.arrow(pretraining.bottom, tuning.top)
    d.arrow((430, pretraining.bottom[1]), (458, further.y))
    d.arrow((252, seventh.bottom[1]), (252, parts.y))
    d.arrow((348, seventh.bottom[1]), (348, parts.y))
    return d


def strength(d, start, end, weight):
    """A line as thick as its weight; a dotted one for nearly none."""
    d.arrow(start, end, colour=ROLES["weight"] if weight else SOFT, width=12 * weight or 1.4, head=False,
            dashes=None if weight else "2 5")
