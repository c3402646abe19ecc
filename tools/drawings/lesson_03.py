"""Lesson 3: the masks over a padded batch."""
from tools.drawings.svg import SOFT, Drawing

BATCH = {3: "the cat sleeps <pad> <pad>".split(), 5: "a dog barks at noon".split()}
# The row of the query cat, as the page's vectors give it: scores 0, 2, 1, and 1 for a pad; here 2 is the darkest shade.
SCORES, WEIGHTS = [0, 1, 0.5, 0.5, 0.5], [0.12, 0.88]
CAUSAL = [[j <= i for j in range(5)] for i in range(5)]


def seen(rows):
    """Cells of a mask: white where a query may look, struck through where not."""
    return [[0 if may else None for may in row] for row in rows]


def masks():
    d = Drawing(830, "Masks over a padded batch", (
        "Two sentences of three and five words stand in one batch; the first is filled up with two pads. For each, a row "
        "of five cells, the padding mask, hides the pads; a triangle, the causal mask, hides later words; together they give "
        "a mask of five by five cells that hides what either hides. Below, one row: the scores of the query cat, minus "
        "infinity in the hidden cells, and after the softmax weights that are exactly 0 in every hidden cell."))
    d.text(24, 32, "**1** a padded batch", anchor="start")
    d.text(548, 32, "`lengths`", size=15)
    for row, (length, words) in enumerate(BATCH.items()):
        for i, word in enumerate(words):
            d.box(24 + 98 * i, 50 + 42 * row, 90, 32, word)
        d.text(548, 66 + 42 * row, f"{length}")

    d.text(24, 172, "**2** who may look at whom", anchor="start")
    d.cells(330, 160, [[0]], width=22)
    d.text(360, 172, "may look", anchor="start")
    d.cells(456, 160, [[None]], width=22)
    d.text(486, 172, "hidden", anchor="start")
    for x, name, shape in ((84, "padding_mask", "[B, 1, T_k]"), (274, "causal_mask", "[T_q, T_k]"),
                           (464, "mask", "[B, T_q, T_k]")):
        d.text(x, 212, f"`{name}`", size=15)
        d.text(x, 234, f"`{shape}`", size=15)
    for top, length, sentence in zip((254, 394), BATCH, ("first sentence", "second sentence")):
        d.text(84, top + 24, sentence, colour=SOFT)
        real = [j < length for j in range(5)]
        d.cells(29, top + 44, seen([real]), width=22)
        d.text(179, top + 55, "&", 20)
        d.cells(219, top, seen(CAUSAL), width=22)
        d.text(369, top + 55, "=", 20)
        d.cells(409, top, seen([a and b for a, b in zip(row, real)] for row in CAUSAL), width=22)
    d.text(219, 520, "rows: queries, columns: keys", size=15, anchor="start", colour=SOFT)
    d.frame(404, 271, 120, 32, "query")
    d.text(534, 287, "`cat`", anchor="start", size=15)

    d.text(24, 550, "**3** the row of the query `cat`", anchor="start")
    d.text(392, 550, "0", size=15, colour=SOFT)
    d.cells(404, 540, [[0, 0.25, 0.5, 0.75, 1]], "plain", 20)
    d.text(512, 550, "high score", size=15, anchor="start", colour=SOFT)
    words = BATCH[3]
    for i, word in enumerate(words):
        d.box(128 + 90 * i, 572, 82, 32, word, "key")
    for y, name, values in ((622, "scores", SCORES), (696, "masked", [*SCORES[:2], None, None, None])):
        d.text(24, y + 16, name, anchor="start")
        for i, value in enumerate(values):
            d.cells(128 + 90 * i, y, [[value]], "plain", 82, 32)
            if value is None:
                d.text(150 + 90 * i, y + 12, "−∞", 18)
    d.text(24, 786, "weights", anchor="start")
    for i in range(5):
        d.cells(128 + 90 * i, 770, [[WEIGHTS[i] if i < 2 else 0]], "weight", 82, 32)
        if i > 1:
            d.text(169 + 90 * i, 786, "0")
    d.arrow((349, 656), (349, 692))
    d.arrow((349, 730), (349, 766))
    d.text(364, 674, "mask", anchor="start", colour=SOFT)
    d.text(364, 748, "softmax", anchor="start", colour=SOFT)
    return d
