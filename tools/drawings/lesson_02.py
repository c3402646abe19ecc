"""Lesson 2: four ways for a query to meet a key, what the additive one broadcasts, and the task of training."""
from tools.drawings.svg import INK, LINE, SOFT, Drawing

Q, K = [0.6, 0.2, 0.9, 0.4], [0.3, 0.7, 0.5, 0.2]
SHORT = [0.8, 0.3, 0.5]                                        # a key of another size
TOPS, HEIGHT, CELL = (14, 194, 374, 554), 860, 17


def four_scores():
    d = Drawing(HEIGHT, "Four scores: distance, dot product, bilinear, additive", (
        "Four rows, in each a query q and a key k become one score. Distance: subtract, square and add. Dot product: multiply "
        "the numbers in pairs, and add. Neither has parameters. Bilinear: a learned matrix W carries the key to the query's "
        "size; then a dot product. Additive: two learned matrices, W_q and W_k, carry query and key to d_hidden numbers "
        "each. Their sum passes tanh, and its dot product with a learned vector w_v is the score."))
    two_columns(d, TOPS[0], "distance", "$−½ ‖ q − k ‖$²", "−", [0.3, 0.5, 0.4, 0.2], "square, add, times −½")
    two_columns(d, TOPS[1], "dot product", "$q · k$", "×", [0.18, 0.14, 0.45, 0.08], "add")
    bilinear(d, TOPS[2])
    additive(d, TOPS[3])
    for top in TOPS[1:]:
        d.arrow((24, top), (576, top), colour=LINE, width=1, head=False)
    return d


def header(d, top, name, formula, parameters):
    d.text(24, top + 26, f"**{name}**", anchor="start")
    d.text(200, top + 26, formula, anchor="start")
    d.text(576, top + 26, parameters, anchor="end", size=15)


def column(d, x, y, values, role="plain", name=""):
    """A vector upright around the height y, with its name above."""
    top = y - CELL * len(values) / 2
    if name:
        d.text(x + CELL / 2, top - 19, f"${name}$")
    d.cells(x, top, [[value] for value in values], role, CELL)


def to_score(d, start, y, words, at=None):
    d.arrow((start, y), (516, y))
    d.text(at or (start + 516) / 2 - 4, y - 15, words, size=15)
    d.cells(518, y - 12, [[0.55]], "plain", 24)
    d.text(530, y + 32, "score")


def two_columns(d, top, name, formula, sign, result, words):
    header(d, top, name, formula, "no parameters")
    y = top + 112
    column(d, 60, y, Q, "query", "q")
    d.text(98, y, sign)
    column(d, 120, y, K, "key", "k")
    d.text(158, y, "=")
    column(d, 180, y, result)
    to_score(d, 216, y, words)


def carried(d, y, x, values, role, name, matrix, width, result):
    """A vector, the box of a learned matrix, and their product: `name` times `matrix`."""
    column(d, x, y, values, role, name)
    d.arrow((x + 28, y), (x + 60, y))
    box = d.box(x + 62, y - 25, width, 50, f"${matrix}$", "parameter")
    d.arrow(box.right, (box.right[0] + 34, y))
    column(d, box.right[0] + 36, y, result)


def bilinear(d, top):
    header(d, top, "bilinear", "$q · (W k)$", "parameters `W [d_query, d_key]`")
    y = top + 112
    carried(d, y, 60, SHORT, "key", "k", "W", 62, [0.29, 0.17, 0.73, 0.13])
    d.text(254, y, "×")
    column(d, 276, y, Q, "query", "q")
    to_score(d, 312, y, "multiply, add")


def additive(d, top):
    header(d, top, "additive", "$w_v · tanh(W_q q + W_k k)$", "parameters below")
    for y, values, role, name, result in ((top + 108, Q, "query", "q", [0.3, 0.7, 0.4, 0.1, 0.5]),
                                          (top + 214, SHORT, "key", "k", [0.2, 0.3, 0.2, 0.1, 0.4])):
        carried(d, y, 60, values, role, name, f"W_{name}", 62, result)
        d.arrow((241, y), (284, y), (284, top + 161 + (14 if name == "k" else -14)))
    y = top + 161
    d.sign(284, y)
    d.arrow((297, y), (356, y))
    d.text(326, y - 15, "tanh", size=15)
    column(d, 358, y, [0.45, 0.75, 0.5, 0.2, 0.7])
    d.text(392, y, "×")
    d.box(408, y - 43, 40, 86, "$w_v$", "parameter")
    to_score(d, 450, y, "add")
    d.text(24, top + 284, "`W_q [d_hidden, d_query]  W_k [d_hidden, d_key]  w_v [d_hidden]`", anchor="start", size=15)


def broadcast():
    d = Drawing(216, "The additive score of all pairs: a vector for each pair before its score", (
        "Three queries and four keys, each carried to five numbers. Each query is added to each key: twelve vectors of five "
        "numbers, a tensor of shape T_q, T_k, d_hidden. Tanh and the product with w_v turn each vector into one score."))
    queries = [[0.3, 0.7, 0.4, 0.1, 0.5], [0.8, 0.2, 0.3, 0.6, 0.1], [0.1, 0.5, 0.9, 0.3, 0.4]]
    keys = [[0.2, 0.3, 0.2, 0.1, 0.4], [0.6, 0.1, 0.5, 0.8, 0.2], [0.4, 0.9, 0.1, 0.3, 0.7], [0.1, 0.4, 0.6, 0.5, 0.3]]
    y, cell = 98, 14
    for x, rows, role, name, shape in ((30, queries, "query", "W_q q", "[T_q, 1, d_hidden]"),
                                       (148, keys, "key", "W_k k", "[1, T_k, d_hidden]")):
        whole = d.cells(x, y - cell * len(rows) / 2, rows, role, cell)
        d.text(whole.top[0], 36, f"${name}$")
        d.text(whole.x - 5, 176 if role == "query" else 198, f"`{shape}`", size=15, anchor="start")
    d.text(124, y, "+")
    d.arrow((228, y), (258, y))
    for i, query in enumerate(queries):
        for j, key in enumerate(keys):
            pair = [[(a + b) / 2 for a, b in zip(query, key)]]
            d.cells(266 + 48 * j, y - 33 + 26 * i, pair, "plain", 8, 14)
    d.text(358, 36, "a vector for each pair")
    d.text(358, 176, "`[T_q, T_k, d_hidden]`", size=15)
    d.arrow((458, y), (500, y))
    d.text(478, y - 22, "$tanh$", size=15)
    d.text(478, y + 20, "$· w_v$", size=15)
    scores = [[0.55, 0.3, 0.7, 0.4], [0.2, 0.6, 0.35, 0.5], [0.65, 0.25, 0.45, 0.8]]
    d.cells(508, y - 27, scores, "plain", 18)
    d.text(544, 36, "scores")
    d.text(544, 176, "`[T_q, T_k]`", size=15)
    return d


def wanted_keys():
    d = Drawing(292, "The task: each query has to return the value of its wanted key", (
        "Three rows with the same four of 32 vectors: as queries, as keys, and below each key its value. An arrow leads from "
        "each query to one key, its wanted key: from the first query to the third key, from the second to the first, from the "
        "third to the fourth, from the fourth to the second. The first arrow is thick, and ends above the value to return."))
    vectors = [Q, K, [0.7, 0.1, 0.4, 0.8], [0.2, 0.9, 0.3, 0.6]]
    values = [[0.2, 0.8, 0.5, 0.4], [0.9, 0.3, 0.1, 0.6], [0.4, 0.6, 0.9, 0.2], [0.7, 0.1, 0.3, 0.8]]
    places = [146, 262, 378, 494]
    for y, words in ((62, "as queries"), (182, "as keys"), (240, "their values")):
        d.text(20, y, words, anchor="start")
    for i, (x, vector, value, wanted) in enumerate(zip(places, vectors, values, (2, 0, 3, 1))):
        d.text(x + 34, 28, f"$x_{i + 1}$")
        d.cells(x, 62 - CELL / 2, [vector], "query", CELL)
        d.cells(x, 182 - CELL / 2, [vector], "key", CELL)
        d.cells(x, 240 - CELL / 2, [value], "value", CELL)
        d.arrow((x + 34, 78), (places[wanted] + 34, 168), colour=SOFT if i else INK, width=1.2 if i else 2.6)
    d.text(places[2] + 34, 269, "to return for $x_1$", size=15)
    return d
