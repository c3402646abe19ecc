"""Lesson 13: what BERT reads, its encoder, and the heads that can stand on it."""
from tools.drawings.svg import LINE, ROLES, SOFT, Drawing

TOKENS = "[CLS] re ##key [SEP] the door [SEP]".split()
SEGMENTS = [0, 0, 0, 0, 1, 1, 1]
LEFT, STEP, SIDE = 160, 60, 58                               # the first column, from one to the next, the width of a box
COLUMNS = [LEFT + STEP * i for i in range(len(TOKENS))]
MIDDLES = [x + SIDE / 2 for x in COLUMNS]
VECTORS = [[0.7, 0.2, 0.5], [0.3, 0.8, 0.1], [0.6, 0.3, 0.9], [0.1, 0.5, 0.4], [0.8, 0.6, 0.2], [0.2, 0.9, 0.7], [0.4, 0.1, 0.6]]
WHOLE = COLUMNS[-1] + SIDE - LEFT
CHOSEN = 5                                                   # the hidden token


def bert_input():
    d = Drawing(500, "What BERT reads", (
        "Seven tokens of two texts: the class token, re, its continuation key, a separator, the, door, and a separator. "
        "Each column has a token, its segment, 0 for the first text and 1 for the second, and its position, 0 to 6. The column "
        "of door is framed, and below it three rows of numbers are added as on paper: the row of door in the table of tokens, "
        "row 1 in the table of segments, and row 5 in the table of positions. Below a line stands their sum, and below that "
        "the same numbers after LayerNorm, the vector of this token."))
    left, step, side = 154, 57, 51
    rows = [("**token**", "`input_ids`", TOKENS), ("**segment**", "`token_type_ids`", SEGMENTS), ("**position**", "", range(7))]
    for y, (name, theirs, values) in zip((22, 66, 110), rows):
        d.text(20, y + (8 if theirs else 16), name, anchor="start")
        if theirs:
            d.text(20, y + 27, theirs, anchor="start", size=15)
        for i, value in enumerate(values):
            d.box(left + step * i, y, side, 34, f"`{value}`", size=15)
    d.panel(left + step * CHOSEN - 3, 14, side + 6, 138)
    d.arrow((left + step * CHOSEN + side / 2, 152), (left + step * CHOSEN + side / 2, 180))

    def numbers(y, name, values, role=None):
        d.text(20, y + 17, name, anchor="start", size=15)
        for i, value in enumerate(values):
            d.box(294 + 62 * i, y, 62, 34, f"{value:.1f}".replace("-", "−"), role, size=15)
        d.text(558, y + 17, "...", size=15)

    added = [[0.5, -0.3, 0.2, 0.8], [0.1, 0.1, -0.2, 0.0], [-0.2, 0.4, 0.1, -0.1]]
    for y, name, values in zip((184, 236, 288), (
            "**token**: row of `door`\nin `[vocab_size, d_model]`", "**segment**: row 1\nin `[2, d_model]`",
            "**position**: row 5\nin `[max_len, d_model]`"), added):
        numbers(y, name, values, "parameter")
        if y > 184:
            d.sign(270, y + 17)
    d.curve([(258, 334), (570, 334)])
    total = [sum(column) for column in zip(*added)]
    mean = sum(total) / 4
    scale = (sum((value - mean) ** 2 for value in total) / 4) ** 0.5
    d.sign(270, 363, "=")
    numbers(346, "the sum", total)
    d.arrow((418, 380), (418, 436))
    d.text(432, 408, "LayerNorm", anchor="start", size=15)
    numbers(440, "the vector of the\ntoken, `[d_model]`", [(value - mean) / scale for value in total])
    return d


def read_and_embed(d, words):
    """The tokens, one of them hidden, and what makes vectors of them."""
    d.text(20, 47, "**read** `[B, T]`", anchor="start")
    for x, token in zip(COLUMNS, [*TOKENS[:CHOSEN], "[MASK]", *TOKENS[CHOSEN + 1:]]):
        d.box(x, 30, SIDE, 34, f"`{token}`", size=15)
        d.arrow((x + SIDE / 2, 64), (x + SIDE / 2, 88))
    d.box(LEFT, 90, WHOLE, 34, words, "parameter")


def vectors(d, y):
    """One vector for each column."""
    for x, vector in zip(MIDDLES, VECTORS):
        d.arrow((x, y - 40), (x, y - 2))
        d.cells(x - 10, y, [[part] for part in vector], "plain", 20, 16)
    d.text(20, y + 24, "`[B, T, d_model]`", anchor="start", size=15)


def bert():
    d = Drawing(536, "BERT, from tokens to vectors", (
        "The tokens of two texts are read, one of them hidden behind the mask token. Embedding, then encoder layers. In each, every"
        " column looks at all columns, on its left and on its right; then what came in is added, and layer normalisation follows "
        "(post-norm); then comes a feed-forward network, again with a sum and layer normalisation behind it. One vector for each "
        "column comes out, of shape B, T, d_model."))
    read_and_embed(d, "`embed`: token + segment + position, normalised")
    d.panel(LEFT - 12, 144, WHOLE + 24, 308)
    for x in MIDDLES:
        d.arrow((x, 124), (x, 174), head=False)
    for i in [*(i for i in range(len(TOKENS)) if i != CHOSEN), CHOSEN]:
        for j in range(len(TOKENS)):
            strong = i == CHOSEN
            d.curve([(MIDDLES[j], 174), (MIDDLES[i], 250)], ROLES["weight"] if strong else LINE, 2.2 if strong else 1.2)
    for x in MIDDLES:
        d.dot(x, 174, 4, "plain")
        d.dot(x, 250, 4, "plain")
        d.arrow((x, 256), (x, 276))
        d.arrow((x, 308), (x, 340))
        d.box(x - SIDE / 2 + 8, 342, SIDE - 16, 32, "", "parameter")
        d.arrow((x, 374), (x, 402))
    vectors(d, 474)
    for start, y in ((160, 292), (322, 418)):                # what a sublayer reads passes it by
        norm = d.box(LEFT + 12, y - 15, WHOLE - 12, 30, "add, then layer normalisation", "parameter", size=15)
        d.arrow((MIDDLES[0], start), (LEFT - 2, start), (LEFT - 2, y), norm.left)
    d.text(20, 160, "encoder layer × $N$", anchor="start", colour=SOFT, size=15)
    d.text(20, 213, "self-attention\nto both sides", anchor="start", size=15)
    d.text(20, 292, "post-norm", anchor="start", size=15)
    d.text(20, 358, "feed-forward", anchor="start", size=15)
    d.text(20, 418, "post-norm", anchor="start", size=15)
    return d


def heads():
    d = Drawing(526, "The heads that can stand on BERT", (
        "BERT makes one vector for each column, of shape B, T, d_model. Three output heads stand on these vectors. The token head, "
        "one linear layer, stands in each column and gives the logits of its token, B, T, C. The pooler takes the vector of the "
        "class token, and the head for the whole text, such as that of next sentence prediction, gives a logit for each class, "
        "B, C. The masked language modelling head takes the vectors at the hidden positions and gives a logit for each token of "
        "the vocabulary, B, P, vocab_size."))
    read_and_embed(d, "BERT")
    vectors(d, 164)
    first, masked = MIDDLES[0], MIDDLES[CHOSEN]
    d.text(20, 262, "token head,\nin each column", anchor="start", size=15)
    d.text(20, 320, "logits `[B, T, C]`", anchor="start", size=15)
    for x in MIDDLES:
        d.arrow((x, 216), (x, 254), head=False)
        d.box(x - SIDE / 2 + 8, 254, SIDE - 16, 32, "", "parameter")
        d.arrow((x, 286), (x, 316))
    passing = masked + STEP / 2                              # between two of the token heads
    d.arrow((first, 232), (first - 31, 232), (first - 31, 334), (first, 334), (first, 352))
    d.box(first - 31, 354, 62, 34, "`pooler`", "parameter", size=15)
    d.arrow((first, 388), (first, 412))
    d.arrow((masked, 232), (passing, 232), (passing, 412))
    d.text(passing + 12, 362, "hidden\npositions", anchor="start", size=15)
    for x, width, words, shape in ((first, 106, "text head,\nsuch as NSP", "`[B, C]`"),
                                   (masked, 130, "`mlm_head`", "`[B, P, vocab_size]`")):
        d.arrow(d.box(x - width / 2, 414, width, 48, words, "parameter", size=15).bottom, (x, 486))
        d.text(x, 502, shape, size=15)
    d.text(20, 502, "logits", anchor="start", size=15)
    return d
