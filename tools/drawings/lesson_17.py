"""Lesson 17: what a training step and a layer keep, attention in blocks, and two processes that learn as one."""
from tools.drawings.svg import LINE, ROLES, SOFT, Drawing

LAYERS = [(150, "layer 1"), (285, "layer 2"), (420, "layer $L$")]


def step():
    d = Drawing(520, "One training step, and what it keeps", (
        "At the top the forward pass: tokens go through layer 1, layer 2 and so on to layer L, and the loss comes out. Each layer "
        "leaves activations below it. Under them the backward pass goes from the loss back to layer 1; each layer uses up its "
        "activations and leaves gradients of its parameters. At the bottom the gradients of all layers, deleted after the "
        "step, and what stays in memory all the time: the two averages of Adam, and the parameters. From the gradients Adam makes "
        "its averages, and with them it changes the parameters."))
    d.text(24, 34, "**forward pass**", anchor="start")
    d.text(24, 252, "**backward pass**", anchor="start")
    d.box(24, 60, 80, 44, "tokens")
    loss = d.box(546, 60, 46, 244, "loss")
    for x, name in LAYERS:
        d.box(x, 60, 100, 44, name, "parameter")
        d.box(x, 152, 100, 44, "activations", size=15)
        d.box(x, 260, 100, 44, name, "parameter")
        d.arrow((x + 50, 104), (x + 50, 150))
        d.arrow((x + 50, 196), (x + 50, 258))
    for left, right in ((104, 148), (250, 283), (385, 418), (520, 544)):
        d.arrow((left, 82), (right, 82))
    for right, left in ((loss.x, 522), (420, 387), (285, 252)):
        d.arrow((right, 282), (left, 282))
    d.text(24, 174, "kept until used", anchor="start", colour=SOFT, size=15)
    d.panel(196, 372, 388, 132)
    d.text(210, 392, "in memory all the time", anchor="start", colour=SOFT)
    gradients = d.box(30, 414, 112, 50, "gradients")
    d.text(86, 486, "deleted after the step", colour=SOFT, size=15)
    d.box(214, 414, 180, 50, "Adam: two averages")
    d.box(458, 414, 112, 50, "parameters", "parameter")
    for x, _ in LAYERS:
        d.arrow((x + 50, 304), (x + 50, 340), (gradients.x + 56, 340), head=False)
    d.arrow((gradients.x + 56, 340), (gradients.x + 56, 412))
    d.arrow((gradients.x + 112, 439), (212, 439))
    d.arrow((394, 439), (456, 439))
    d.text(425, 428, "changes", colour=SOFT, size=15)
    return d


def kept():
    """To scale, 44 units for 512: 8 vectors of 768, 2 of 3072 and 12 tables of 512 x 512 are each 528 wide."""
    d = Drawing(462, "What one layer keeps for the backward pass", (
        "Three rows of rectangles, all as high as the 512 tokens of a text, and each row equally long. First row: eight narrow "
        "rectangles, each 768 numbers wide: the input, q, k, v, the output of attention, the input and the output of the first "
        "norm, and the input of the second. Second row: two rectangles four times as wide, before and after GELU. Third row: "
        "twelve squares, the tables of weights of the twelve heads. Checkpointing keeps the input alone; fused attention keeps "
        "none of the squares."))
    left, high, narrow = 52, 44, 66
    d.text(24, 30, "**One layer of BERT-base, one text of 512 tokens**", anchor="start")
    d.text(24, 70, "8 vectors for each token, $d$ = 768 numbers wide: 8 $d$", anchor="start")
    names = ["input", "q", "k", "v", "attention\noutput", "norm 1\ninput", "norm 1\noutput", "norm 2\ninput"]
    for i, (name, role) in enumerate(zip(names, [None, "query", "key", "value", *4 * [None]])):
        d.box(left + narrow * i + 1, 88, narrow - 2, high, name, role, size=15)
    d.arrow((left + narrow / 2, 152), (left + narrow / 2, 134))
    d.text(left, 164, "later: checkpointing keeps this one alone", anchor="start", colour=SOFT, size=15)
    d.text(24, 206, "2 vectors four times as wide: 2 · 4 $d$ = 8 $d$", anchor="start")
    for i, name in enumerate(("feed-forward, before GELU", "feed-forward, after GELU")):
        d.box(left + 4 * narrow * i + 1, 224, 4 * narrow - 2, high, name, size=15)
    d.text(24, 310, "12 heads, each with a table of weights, $T$ x $T$: 12 $T$", anchor="start")
    for i in range(12):
        d.cells(left + high * i + 1, 328, [[0.6]], width=high - 2, height=high)
        d.text(left + high * i + high / 2, 350, f"{i + 1}", size=15)
    d.text(left, 394, "later: fused attention keeps none of these", anchor="start", colour=SOFT, size=15)
    for top in (88, 224, 328):
        d.text(30, top + high / 2, "$T$")
        d.arrow((42, top), (42, top + high), head=False)
    d.text(24, 434, "Too narrow to draw: a mean and a spread for each norm, 4 numbers for each token.", anchor="start", size=15)
    return d


def blocks():
    d = Drawing(640, "Attention in blocks", (
        "At the top the main memory, large and slow: queries as a column of four blocks, keys and values as rows of four blocks, "
        "and the output as a column of four blocks. Between them a grid of four by four dashed cells, the T x T scores, of which "
        "one cell alone is filled. At the bottom the fast memory, small: one block of queries, one of keys, one of values, their "
        "block of scores, and the running results m, l and a. Arrows bring one block of each kind down; when all blocks of keys "
        "have passed, a divided by l goes up to the output."))
    size, left, top = 62, 156, 150
    end = left + 4 * size
    d.panel(12, 14, 576, 406)
    d.text(26, 36, "**main memory**: large, slow", anchor="start")
    d.text(134, 82, "`v`", anchor="end")
    d.text(134, 120, "`k`", anchor="end")
    for i in range(4):
        fill = {"fill_opacity": 0.3} if i == 3 else {"fill_opacity": 0}
        d.frame(left + size * i + 3, 68, size - 6, 28, "value", fill=ROLES["value"], **fill)
        d.frame(left + size * i + 3, 106, size - 6, 28, "key", fill=ROLES["key"], **fill)
        d.frame(60, top + size * i + 4, 54, size - 8, "query", fill=ROLES["query"], **fill)
        d.frame(500, top + size * i + 4, 54, size - 8)
    d.text(40, top + 2 * size, "`q`")
    d.text(527, top - 16, "output")
    for i in range(5):
        for row in range(4):
            if row != 1 or i not in (1, 2):                              # there the words stand
                d.arrow((left + size * i, top + size * row), (left + size * i, top + size * (row + 1)),
                        colour=LINE, dashes="5 4", head=False)
        d.arrow((left, top + size * i), (end, top + size * i), colour=LINE, dashes="5 4", head=False)
    d.cells(end - size + 2, top + 3 * size + 2, [[0.6]], width=size - 4)
    d.text(left + 1.5 * size, top + 1.5 * size, "scores `[T, T]`:\nnever there\nas a whole")
    d.panel(12, 452, 576, 176)
    d.text(116, 474, "**fast memory**: small", anchor="start")
    query = d.box(30, 500, 84, 44, "q block", "query", size=15)
    d.cells(146, 494, [[0.6]], width=56)
    d.text(174, 522, "scores", size=15)
    key = d.box(234, 500, 84, 44, "k block", "key", size=15)
    value = d.box(336, 500, 84, 44, "v block", "value", size=15)
    running = d.box(440, 488, 132, 72, "running\n$m$, $l$, $a$", size=15)
    d.arrow((87, top + 4 * size - 4), (87, 498))
    d.arrow((end - 3, 82), (end + 44, 82), (end + 44, 436), (value.x + 42, 436), (value.x + 42, 498))
    d.arrow((end - 3, 120), (end + 24, 120), (end + 24, 410), (key.x + 42, 410), (key.x + 42, 498))
    d.arrow((query.x + 84, 522), (144, 522))
    d.arrow((key.x, 522), (204, 522))
    d.arrow((value.x + 84, 522), (running.x - 2, 522))
    d.arrow((174, 550), (174, 576), (470, 576), (470, 562))
    d.arrow((527, 488), (527, top + 4 * size - 2))
    d.text(300, 606, "Then the next block of keys and values, until all have passed: $a / l$.", size=15)
    return d


def processes():
    d = Drawing(520, "Two processes that learn as one", (
        "Two columns, rank 0 and rank 1. Above both the rows of one batch, of which rank 0 takes every second row and rank 1 the "
        "others. In each column the rows pass the same parameters, forward and backward, and leave gradients that differ. A box "
        "across both columns, all-reduce, averages the gradients. Below it each column has the same average, takes the same step "
        "of Adam, and has the same parameters again."))
    d.text(300, 30, "one batch")
    for i in range(6):
        d.box(40 + 90 * i, 48, 70, 32, f"row {i}", "query" if i % 2 == 0 else "key", size=15)
    for x, rank, role in ((24, 0, "query"), (312, 1, "key")):
        middle = x + 132
        d.panel(x, 110, 264, 178)
        d.text(x + 14, 130, f"**rank {rank}**", anchor="start")
        d.box(x + 30, 150, 204, 40, f"rows {', '.join(str(i) for i in range(rank, 6, 2))}", role)
        d.box(x + 30, 214, 96, 50, "parameters", "parameter", size=15)
        d.box(x + 152, 214, 96, 50, "gradients", role, size=15)
        d.arrow((x + 78, 190), (x + 78, 212))
        d.arrow((x + 126, 239), (x + 150, 239))
        d.arrow((x + 200, 264), (x + 200, 322))
        d.arrow((middle, 366), (middle, 398))
        d.box(x + 14, 400, 236, 40, "same step of Adam")
        d.arrow((middle, 440), (middle, 466))
        d.box(x + 14, 468, 236, 40, "same parameters", "parameter")
    d.box(24, 324, 552, 42, "**all-reduce**: the average of the gradients, to all")
    return d
