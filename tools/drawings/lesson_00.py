"""Lesson 0: one output letter looks at the input letters."""
from tools.drawings.svg import ROLES, SOFT, Drawing

WRITTEN, TYPED = "2001-05-0", "3 May 2001"
WEIGHTS = [0.7, 0.2, 0, 0.05, 0, 0, 0, 0, 0.05, 0]             # made up, as all weights in drawings are
VALUES = [(0.9, 0.2, 0.6), (0.1, 0.5, 0.2), (0.3, 0.8, 0.1), (0.6, 0.1, 0.5), (0.2, 0.4, 0.9), (0.1, 0.2, 0.1),
          (0.5, 0.9, 0.2), (0.8, 0.3, 0.3), (0.3, 0.3, 0.7), (0.4, 0.7, 0.2)]


def look():
    d = Drawing(640, "One look: query, keys, weights, values", (
        "A date was typed, 3 May 2001, and the last character of 2001-05-0? is to be written. Its query is compared with the "
        "key of every typed character. Lines as thick as the weights lead to the keys, the thickest to the 3. Every "
        "character has a value, a column of numbers. The values, each times its weight, are added up to the output, from "
        "which the character 3 is written."))
    middles = [131 + 48 * i for i in range(len(TYPED))]
    d.text(24, 48, "written", anchor="start", colour=SOFT)
    for i, letter in enumerate(WRITTEN):
        d.text(126 + 22 * i, 48, f"`{letter}`", 20)
    query = d.box(330, 26, 92, 44, "query", "query")

    d.text(24, 112, "**1** compare", anchor="start")
    for x, weight in zip(middles, WEIGHTS):
        strength(d, query.bottom, (x, 174), weight)
    for x, letter in zip(middles, TYPED):
        d.box(x - 18, 176, 36, 36, f"`{letter}`" if letter != " " else "", "key", 20)
    d.text(24, 194, "keys", anchor="start")

    d.text(24, 258, "**2** weights", anchor="start")
    d.text(24, 280, "sum to 1", anchor="start", colour=SOFT)
    for x, weight, value in zip(middles, WEIGHTS, VALUES):
        d.arrow((x, 216), (x, 248))
        d.cells(x - 18, 250, [[weight]], width=36, height=28)
        if weight:
            d.text(x, 264, f"{weight:.2f}", 15)
        d.text(x, 294, "×")
        d.cells(x - 13, 316, [[part] for part in value], "value", 26, 20)
    d.text(24, 346, "values", anchor="start")

    d.text(24, 420, "**3** add", anchor="start")
    total = d.sign(347, 478)
    for x, weight in zip(middles, WEIGHTS):
        strength(d, (x, 382), total.top, weight)
    output = d.cells(334, 514, [[0.695], [0.26], [0.52]], "value", 26, 20)
    d.arrow(total.bottom, (347, 510))
    d.text(24, 544, "output", anchor="start")
    written = d.box(430, 526, 36, 36, "`3`", size=20)
    d.arrow((output.right[0] + 4, 544), written.left)
    d.text(480, 544, "written next", anchor="start", colour=SOFT)
    d.text(300, 610, "output = sum of (weight × value) over all typed characters")
    return d


def strength(d, start, end, weight):
    """A line as thick as its weight; a dotted one for nearly none."""
    d.arrow(start, end, colour=ROLES["weight"] if weight else SOFT, width=12 * weight or 1.4, head=False,
            dashes=None if weight else "2 5")
