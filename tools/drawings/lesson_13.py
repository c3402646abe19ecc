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
    d = Drawing(526, "What BERT reads", (
        "Seven tokens of two texts: the class token, re, its continuation key, a separator, the, door, and a separator. "
        "Each column has three numbers: the id of its token, its segment, 0 for the first text and 1 for the second, and its "
        "position, 0 to 6. Each of the three chooses a row of a learned table. In each column the three rows are added and "
        "normalised, and the result is one vector for each column, of shape B, T, d_model."))
    left, step, side = 154, 57, 55
    columns, wide, bus = [left + step * i for i in range(len(TOKENS))], step * 6 + side, 577
    rows = [(40, "**token**", "`input_ids`", TOKENS, 'vocab_size'), (160, "**segment**", "`token_type_ids`", SEGMENTS, '2'),
            (280, "**position**", "`0 ... T - 1`", range(len(TOKENS)), 'max_len')]
    norm = d.box(left, 400, wide, 36, "in each column: the three rows added, normalised", "parameter", size=15)
    for y, name, theirs, values, size in rows:
        d.text(20, y + 10, name, anchor="start")
        d.text(20, y + 34, theirs, anchor="start", size=15)
        for x, value in zip(columns, values):
            d.box(x, y, side, 34, f"`{value}`", size=15)
            d.arrow((x + side / 2, y + 34), (x + side / 2, y + 60))
        table = d.box(left, y + 60, wide, 36, f"table `[{size}, d_model]`", "parameter", size=15)
        d.arrow(table.right, (bus, y + 78), (bus, 418), norm.right)
    for x, vector in zip(columns, VECTORS):
        d.arrow((x + side / 2, 436), (x + side / 2, 458))
        d.cells(x + side / 2 - 10, 458, [[part] for part in vector], "plain", 20, 16)
    d.text(20, 482, "`[B, T, d_model]`", anchor="start", size=15)
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
