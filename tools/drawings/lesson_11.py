"""Lesson 11: a decoder-only Transformer that predicts the next character, and the two steps of an induction head."""
from tools.drawings.svg import LINE, ROLES, SOFT, Drawing

TEXT = "def f("
NEXT = ")"
LEFT, STEP, SIDE = 182, 56, 40                               # the first column, from one to the next, the width of a box
CHOSEN = len(TEXT) - 1                                       # the position whose sight is drawn strongly
SOME = "def ()"                                              # characters of the vocabulary, a row each under the logits
CHANCES = [[0.1, 0.8, 0.2, 0.1, 0.1, 0.1], [0.3, 0.2, 0.9, 0.1, 0.1, 0.1], [0.1, 0.2, 0.1, 0.8, 0.3, 0.1],
           [0.3, 0.2, 0.5, 0.1, 0.2, 0.1], [0.1, 0.2, 0.1, 0.2, 0.9, 0.1],
           [0.2, 0.3, 0.2, 0.1, 0.1, 0.8]]                  # no measured numbers: shades alone, the target's the darkest


def gpt():
    d = Drawing(796, "A decoder-only Transformer", (
        "Six characters, def f and an opening bracket, are read, each in a column of its own. Embedding and position give each "
        "column a vector. In each decoder layer masked self-attention brings a column what stands in columns at its left and "
        "its own, never at its right; a feed-forward network works on each column alone. The output layer gives logits for "
        "every column, and a softmax makes probabilities of the next character. Of the vocabulary d, e, f, the space and two "
        "brackets are drawn, and in each column the target has most. The loss compares them with the targets, the "
        "row that was read moved on by one: ef f and two brackets. To write, the character drawn in the last column is put "
        "behind the row that is read."))
    columns = [LEFT + STEP * i for i in range(len(TEXT))]
    width = columns[-1] + SIDE - LEFT
    middle = [x + SIDE / 2 for x in columns]

    d.text(24, 48, "**read**", anchor="start")
    d.text(24, 76, "`[B, T]`", anchor="start", size=15)
    for x, character in zip(columns, TEXT):
        d.box(x, 40, SIDE, 34, f"`{character.replace(' ', '␣')}`")
    d.add("rect", x=columns[-1] + STEP, y=40, width=SIDE, height=34, rx=6, fill="none", stroke=SOFT, stroke_dasharray="5 4")
    d.text(columns[-1] + STEP + SIDE / 2, 57, f"`{NEXT}`")

    d.box(LEFT, 108, width, 36, "`embed`: token + position", "parameter")
    d.panel(LEFT - 16, 188, width + 32, 224)
    d.text(24, 166, "`[B, T, d_model]`", anchor="start", size=15)
    d.text(24, 202, "decoder layer × $N$", anchor="start", colour=SOFT)
    for x in middle:
        d.arrow((x, 76), (x, 106))
        d.arrow((x, 144), (x, 214), head=False)
    for i in [*(i for i in range(len(TEXT)) if i != CHOSEN), CHOSEN]:
        for j in range(i + 1):
            strong = i == CHOSEN
            d.curve([(middle[j], 214), (middle[i], 286)], ROLES["weight"] if strong else LINE, 2.2 if strong else 1.2)
    for x in middle:
        d.dot(x, 214, 4, "plain")
        d.dot(x, 286, 4, "plain")
        d.arrow((x, 292), (x, 342))
        d.box(x - SIDE / 2, 344, SIDE, 34, "", "parameter")
        d.arrow((x, 378), (x, 440))
    d.text(24, 250, "masked\nself-attention", anchor="start", size=15)
    d.text(24, 361, "feed-forward", anchor="start", size=15)

    d.text(24, 396, "norms and residual\nconnections left out", anchor="start", size=15, colour=SOFT)

    d.box(LEFT, 442, width, 36, "`output`", "parameter")
    d.text(24, 460, "logits", anchor="start")
    d.text(24, 496, "`[B, T,`", anchor="start", size=15)
    d.text(24, 516, "`vocab_size]`", anchor="start", size=15)
    for x, chances in zip(middle, CHANCES):
        d.arrow((x, 478), (x, 522))
        d.cells(x - 14, 524, [[chance] for chance in chances], "weight", 28, 20)
        d.arrow((x, 648), (x, 686), head=False, dashes="4 4")
    for i, character in enumerate(SOME):
        d.text(middle[0] - 28, 534 + 20 * i, f"`{character.replace(' ', '␣')}`", size=15)
    d.text(24, 560, "softmax", anchor="start")
    d.text(24, 668, "loss: compare", anchor="start", colour=SOFT)
    d.text(24, 696, "**target**", anchor="start")
    d.text(24, 722, "`[B, T]`", anchor="start", size=15)
    for x, character in zip(columns, TEXT[1:] + NEXT):
        d.box(x, 688, SIDE, 34, f"`{character.replace(' ', '␣')}`")
    right = columns[-1] + STEP + SIDE / 2
    d.arrow((middle[-1] + 16, 560), (right, 560), (right, 78), colour=ROLES["weight"], width=2)
    d.text(24, 764, "To **write**, draw a character in the last column, and read on with it.", anchor="start", size=15)
    return d


COPIED, SECOND = "qpbzqp", 4                                 # where the second copy begins


def induction():
    d = Drawing(360, "The two steps of an induction head", (
        "A row of six letters: q p b z and, again, q p. Step 1, in an earlier layer: each place looks one letter back and keeps a "
        "note of it, such as after p, under b. The notes are the keys of a later layer. Step 2, in that layer: the last place has "
        "read p, and its query looks for the note after p. It finds it under b, and fetches that letter, which is the prediction."))
    columns = [124 + 74 * i for i in range(len(COPIED))]
    middle, found = [x + 20 for x in columns], COPIED.index(COPIED[-1]) + 1
    for words, left, right in (("first copy", 0, SECOND - 1), ("second copy", SECOND, len(COPIED) - 1)):
        d.text((middle[left] + middle[right]) / 2, 24, words, size=15, colour=SOFT)
    d.text(24, 57, "**read**", anchor="start")
    for i, (x, letter) in enumerate(zip(columns, COPIED)):
        d.box(x, 40, SIDE, 34, f"`{letter}`")
        if i:
            d.arrow((middle[i - 1], 76), (middle[i] - 12, 130))
            d.box(middle[i] - 35, 132, 70, 32, f"after `{COPIED[i - 1]}`", "key", 15)
    d.text(24, 104, "**1** look back", anchor="start")
    d.text(24, 148, "note", anchor="start", colour=SOFT)
    d.text(24, 216, "**2** match", anchor="start")
    d.text(24, 302, "fetch", anchor="start")
    query = d.box(middle[-1] - 43, 200, 86, 32, f"after `{COPIED[-1]}`?", "query", 15)
    d.arrow(query.left, (middle[found], query.left[1]), (middle[found], 166), colour=ROLES["weight"], width=2.2)
    value = d.box(columns[found], 285, SIDE, 34, f"`{COPIED[found]}`", "value")
    d.arrow((middle[found], 210), (middle[found], 283), colour=ROLES["weight"], width=2.2)
    d.add("rect", x=columns[-1], y=285, width=SIDE, height=34, rx=6, fill="none", stroke=SOFT, stroke_dasharray="5 4")
    d.text(middle[-1], 302, f"`{COPIED[found]}`")
    d.arrow((value.right[0] + 2, 302), (columns[-1] - 2, 302), colour=ROLES["weight"], width=2.2)
    d.text(middle[-1], 337, "prediction", size=15, colour=SOFT)
    return d
