"""Lesson 11: a decoder-only Transformer that predicts the next character."""
from tools.drawings.svg import LINE, ROLES, SOFT, Drawing

TEXT = "def f("
NEXT = ")"
LEFT, STEP, SIDE = 182, 56, 40                               # the first column, from one to the next, the width of a box
CHOSEN = 4                                                   # the position whose sight is drawn strongly
CHANCES = [[0.1, 0.8, 0.2, 0.1], [0.3, 0.1, 0.9, 0.1], [0.8, 0.2, 0.1, 0.3], [0.2, 0.3, 0.5, 0.1],
           [0.1, 0.9, 0.1, 0.2], [0.1, 0.2, 0.9, 0.3]]      # no measured numbers: shades alone


def gpt():
    d = Drawing(744, "A decoder-only Transformer", (
        "Six characters, def f and an opening bracket, are read, each in a column of its own. Embedding and position give each "
        "column a vector. In each decoder layer masked self-attention brings a column what stands in columns at its left and "
        "its own, never at its right; a feed-forward network works on each column alone. The output layer gives logits for "
        "every column, and a softmax makes probabilities of the next character. Below stand the targets, the row that was "
        "read moved on by one: ef f and two brackets. To write, the character drawn in the last column is put behind the row "
        "that is read."))
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
        d.cells(x - 14, 524, [[chance] for chance in chances], "weight", 28, 18)
        d.arrow((x, 598), (x, 634))
    d.text(24, 560, "softmax", anchor="start")
    d.text(24, 618, "loss", anchor="start", colour=SOFT)
    d.text(24, 644, "**target**", anchor="start")
    d.text(24, 670, "`[B, T]`", anchor="start", size=15)
    for x, character in zip(columns, TEXT[1:] + NEXT):
        d.box(x, 636, SIDE, 34, f"`{character.replace(' ', '␣')}`")
    right = columns[-1] + STEP + SIDE / 2
    d.arrow((middle[-1] + 16, 560), (right, 560), (right, 78), colour=ROLES["weight"], width=2)
    d.text(24, 712, "To **write**, draw a character in the last column, and read on with it.", anchor="start", size=15)
    return d
