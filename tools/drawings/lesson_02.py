"""Lesson 2: four ways for a query to meet a key."""
from tools.drawings.svg import LINE, Drawing

Q, K = [0.6, 0.2, 0.9, 0.4], [0.3, 0.7, 0.5, 0.2]
SHORT = [0.8, 0.3, 0.5]                                        # a key of another size
W = [[0.2, 0.6, 0.3], [0.7, 0.1, 0.5], [0.4, 0.3, 0.8], [0.1, 0.5, 0.2]]
W_Q = [[0.5, 0.2, 0.3, 0.6], [0.1, 0.7, 0.4, 0.2], [0.6, 0.3, 0.1, 0.5], [0.2, 0.4, 0.8, 0.1], [0.3, 0.1, 0.5, 0.4]]
W_K = [[0.4, 0.1, 0.6], [0.2, 0.5, 0.3], [0.7, 0.2, 0.1], [0.1, 0.6, 0.4], [0.5, 0.3, 0.2]]
HIDDEN, W_V = [0.3, 0.8, 0.5, 0.1, 0.6], [0.6, 0.2, 0.4, 0.7, 0.3]
PITCH, CELL = 192, 17


def four_scores():
    d = Drawing(42 + 4 * PITCH, "Four scores: distance, dot product, bilinear, additive", (
        "Four rows, in each a query q and a key k become one score. Distance: subtract, square and add. Scaled dot product: "
        "multiply the numbers in pairs, add, divide by the root of d. Neither has parameters. Bilinear: a learned matrix W "
        "carries the key to the query's size, then a dot product. Additive: two learned matrices carry both to a hidden "
        "size, the sum passes tanh, and a learned vector w_v weighs and adds it."))
    for row, draw in enumerate((distance, dot_product, bilinear, additive)):
        draw(d, row * PITCH + 14)
        if row:
            d.arrow((24, row * PITCH + 14), (576, row * PITCH + 14), colour=LINE, width=1, head=False)
    return d


def header(d, top, name, formula, parameters):
    d.text(24, top + 26, f"**{name}**", anchor="start")
    d.text(200, top + 26, formula, anchor="start")
    d.text(576, top + 26, parameters, anchor="end", size=15)


def column(d, x, top, values, role, name):
    """A vector upright, with its name above."""
    height = CELL * len(values)
    if name:
        d.text(x + CELL / 2, top + 116 - height / 2 - 18, f"${name}$")
    d.cells(x, top + 116 - height / 2, [[value] for value in values], role, CELL)


def matrix(d, x, top, values, name):
    height, width = CELL * len(values), CELL * len(values[0])
    d.text(x + width / 2, top + 116 - height / 2 - 18, f"${name}$")
    d.cells(x, top + 116 - height / 2, values, "parameter", CELL)


def to_score(d, top, start, words):
    d.arrow((start, top + 116), (516, top + 116))
    d.text((start + 516) / 2 - 4, top + 101, words, size=15)
    d.cells(518, top + 104, [[0.55]], "plain", 24)
    d.text(530, top + 148, "score")


def distance(d, top):
    header(d, top, "distance", "$−½ ‖ q − k ‖$²", "no parameters")
    column(d, 60, top, Q, "query", "q")
    d.text(98, top + 116, "−")
    column(d, 120, top, K, "key", "k")
    d.text(158, top + 116, "=")
    column(d, 180, top, [0.3, 0.5, 0.4, 0.2], "plain", "q − k")
    to_score(d, top, 216, "square, add, times −½")


def dot_product(d, top):
    header(d, top, "scaled dot product", "$q · k / √d$", "no parameters")
    column(d, 60, top, Q, "query", "q")
    d.text(98, top + 116, "×")
    column(d, 120, top, K, "key", "k")
    d.text(158, top + 116, "=")
    column(d, 180, top, [0.18, 0.14, 0.45, 0.08], "plain", "")
    to_score(d, top, 216, "add, divide by $√d$")


def bilinear(d, top):
    header(d, top, "bilinear", "$q · (W k)$", "parameters `W [d_query, d_key]`")
    column(d, 60, top, Q, "query", "q")
    d.text(98, top + 116, "×")
    d.text(122, top + 116, "(", 28)
    matrix(d, 136, top, W, "W")
    column(d, 208, top, SHORT, "key", "k")
    d.text(242, top + 116, ")", 28)
    d.text(264, top + 116, "=")
    column(d, 284, top, [0.29, 0.17, 0.73, 0.13], "plain", "")
    to_score(d, top, 318, "add")


def additive(d, top):
    header(d, top, "additive", "$w_v · tanh(W_q q + W_k k)$", "parameters below")
    matrix(d, 60, top, W_Q, "W_q")
    column(d, 148, top, Q, "query", "q")
    d.text(188, top + 116, "+")
    matrix(d, 212, top, W_K, "W_k")
    column(d, 283, top, SHORT, "key", "k")
    d.arrow((308, top + 116), (366, top + 116))
    d.text(334, top + 101, "tanh", size=15)
    column(d, 372, top, HIDDEN, "plain", "")
    d.text(406, top + 116, "×")
    column(d, 424, top, W_V, "parameter", "w_v")
    to_score(d, top, 450, "add")
    d.text(24, top + 187, "`W_q [d_hidden, d_query]  W_k [d_hidden, d_key]  w_v [d_hidden]`", anchor="start", size=15)
