"""Lesson 5: scaled dot-product attention, and several heads of it."""
import math

from tools.drawings.svg import ROLES, SOFT, Drawing

X = [[0.2, 0.7, 0.1, 0.5], [0.8, 0.1, 0.4, 0.2], [0.3, 0.3, 0.9, 0.1], [0.1, 0.6, 0.2, 0.8]]
Q = [[0.5, 0.2, 0.7], [0.1, 0.8, 0.3], [0.6, 0.4, 0.1], [0.2, 0.3, 0.9]]
K_TRANSPOSED = [[0.7, 0.1, 0.4], [0.2, 0.6, 0.3]]
V = [[0.3, 0.8, 0.2], [0.9, 0.1, 0.5], [0.2, 0.4, 0.7], [0.6, 0.3, 0.1]]
HEADS = [[[0.7, 0.1, 0.1, 0.1], [0.1, 0.6, 0.2, 0.1], [0.1, 0.1, 0.7, 0.1], [0.2, 0.1, 0.1, 0.6]],
         [[0.4, 0.4, 0.1, 0.1], [0.6, 0.2, 0.1, 0.1], [0.1, 0.7, 0.1, 0.1], [0.1, 0.1, 0.6, 0.2]],
         [[0.3, 0.2, 0.3, 0.2], [0.2, 0.3, 0.2, 0.3], [0.3, 0.2, 0.2, 0.3], [0.2, 0.3, 0.3, 0.2]]]


def product(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def softmax(row):
    exponentials = [math.exp(8 * score) for score in row]      # 8: so that the largest weights stand out
    return [exponential / sum(exponentials) for exponential in exponentials]


def scaled_dot_product():
    d = Drawing(800, "Scaled dot-product attention", (
        "The matrix x of three words is projected three times, to queries, keys and values. The queries stand at the left of "
        "the scores and the transposed keys above them, so that each score is in the row of its query and the column of its "
        "key. Scores are divided by the root of d_head, may be masked, and pass a softmax in each row, which gives the "
        "weights. The weights times the values are the output, one row for each query."))
    x, q, v = X[:3], [row[:2] for row in Q[:3]], [row[:2] for row in V[:3]]
    scores = product(q, K_TRANSPOSED)
    weights = [softmax(row) for row in scores]
    d.cells(192, 36, x, "plain", 28)
    d.text(180, 66, "$x$", anchor="end")
    d.text(180, 90, "`[T, d_model]`", anchor="end", size=15)
    d.text(330, 66, "**1** project", anchor="start")
    d.text(330, 90, "$q = x W_q$,  $k = x W_k$,  $v = x W_v$", anchor="start")

    W_q, W_k, W_v = (d.box(left, 170, 64, 38, f"$W_{name}$", "parameter") for left, name in ((80, "q"), (216, "k"), (468, "v")))
    d.arrow((248, 126), W_k.top)
    for box in (W_q, W_v):
        d.arrow((248, 126), (248, 148), (box.top[0], 148), box.top)

    d.cells(206, 250, K_TRANSPOSED, "key", 28)
    d.arrow(W_k.bottom, (248, 240))
    d.text(306, 266, "$k$ transposed", anchor="start")
    d.text(306, 290, "`[d_head, T]`", anchor="start", size=15)
    d.cells(84, 338, q, "query", 28)
    d.arrow(W_q.bottom, (112, 332))
    d.text(112, 446, "$q$")
    d.text(112, 470, "`[T, d_head]`", size=15)
    d.cells(206, 338, scores, "plain", 28)
    d.arrow((152, 380), (200, 380))
    d.arrow((248, 315), (248, 333))
    d.text(306, 352, "**2** score", anchor="start")
    d.text(306, 376, "$q · k$ of every pair", anchor="start")
    d.text(306, 400, "`[T, T]`", anchor="start", size=15)

    d.arrow((248, 424), (248, 540))
    d.text(262, 452, "**3** divide by $√d_{head}$", anchor="start")
    d.text(262, 480, "mask, if there is one", anchor="start", colour=SOFT)
    d.text(262, 508, "**4** softmax of each row", anchor="start")
    d.cells(206, 542, weights, "weight", 28)
    d.text(190, 574, "weights", anchor="end")
    d.text(190, 598, "`[T, T]`", anchor="end", size=15)
    d.cells(472, 542, v, "value", 28)
    d.arrow(W_v.bottom, (500, 536))
    d.text(500, 650, "$v$")
    d.text(500, 674, "`[T, d_head]`", size=15)

    times = d.sign(378, 584, "×")
    d.arrow((294, 584), times.left)
    d.arrow((462, 584), times.right)
    d.arrow(times.bottom, (378, 666))
    d.cells(350, 672, product(weights, v), "value", 28)
    d.text(326, 690, "**5** weigh, **6** add:", anchor="end")
    d.text(326, 714, "output = weights × $v$", anchor="end")
    d.text(326, 738, "`[T, d_head]`", anchor="end", size=15)
    return d


def multi_head():
    d = Drawing(816, "Multi-head attention", (
        "The vectors x of four words pass three projections, each cut into three pieces, one for each head. In every head the "
        "scores of queries and keys are scaled, become weights by a softmax, and multiply the values. The outputs are laid side by "
        "side and pass the output projection."))
    middles = [316 + 110 * head for head in range(3)]
    for head, middle in enumerate(middles):
        d.panel(middle - 51, 46, 102, 468)
        d.text(middle, 28, f"head {head}", colour=SOFT)
    x = d.box(24, 96, 36, 36, "$x$")
    boxes = {name: d.box(92, y, 96, 36, f"`{name}_proj`", "parameter") for name, y in (("q", 54), ("k", 138), ("v", 320))}
    for name in "qk":
        d.arrow(x.right, (76, 114), (76, boxes[name].left[1]), boxes[name].left)
    d.arrow(x.bottom, (42, 338), boxes["v"].left)
    for name, role, side in (("q", "query", -24), ("k", "key", 24), ("v", "value", 24)):       # to each head
        start, ends = boxes[name].right, [middle + side for middle in middles]
        d.arrow(start, (ends[-1], start[1]), (ends[-1], start[1] + 18), colour=ROLES[role])
        for end in ends[:-1]:
            d.arrow((end, start[1]), (end, start[1] + 18), colour=ROLES[role])

    pieces, joined = [[row[first:first + 2] for row in rows] for rows, first in ((Q, 1), (V, 0), (V, 1))], []
    for head, (middle, weights) in enumerate(zip(middles, HEADS)):
        q, k, v = (pieces[(head + shift) % 3] for shift in range(3))
        output = [[round(number, 1) for number in row] for row in product(weights, v)]
        joined.append(output)
        left, right = middle - 24, middle + 24
        d.cells(left - 15, 96, q, "query", 15, 10)
        d.cells(right - 15, 178, k, "key", 15, 10)
        d.cells(middle - 28, 252, weights, "weight", 14)
        d.arrow((left, 142), (left, 248))
        d.arrow((right, 223), (right, 248))
        times = d.sign(left, 380, "×")
        d.arrow((left, 310), times.top)
        d.cells(right - 15, 360, v, "value", 15, 10)
        d.arrow((right - 20, 380), times.right)
        d.arrow(times.bottom, (left, 452))
        d.cells(left - 15, 460, output, "value", 15, 10)
    for name, *place in (("q", 326, 116), ("k", 308, 198), ("v", 340, 416)):    # in the first head
        d.text(*place, f"${name}$")
    d.text(24, 28, "$x$ `[B, T, d_model]`", anchor="start")
    d.text(58, 198, "cut into heads", anchor="start")
    d.text(58, 220, "`[B, H, T, d_head]`", anchor="start", size=15)
    d.text(58, 252, "score, scale, softmax:", anchor="start")
    d.text(58, 276, "weights of each head", anchor="start")
    d.text(58, 299, "`[B, H, T, T]`", anchor="start", size=15)
    d.text(58, 470, "weights × $v$", anchor="start")
    d.text(58, 494, "`[B, H, T, d_head]`", anchor="start", size=15)

    centre = middles[1]
    for head, (middle, output) in enumerate(zip(middles, joined)):
        end = centre + 48 * (head - 1)
        d.arrow((middle - 24, 506), (middle - 24, 532), (end, 546), (end, 568))
        d.cells(end - 24, 576, output, "value", 24, 10, framed=False)
    d.frame(centre - 76, 572, 152, 48, "value")
    d.text(58, 584, "side by side again", anchor="start")
    d.text(58, 608, "`[B, T, d_model]`", anchor="start", size=15)
    out = d.box(centre - 54, 656, 108, 36, "`out_proj`", "parameter")
    d.arrow((centre, 622), out.top)
    d.arrow(out.bottom, (centre, 732))
    d.cells(centre - 72, 738, [a + b[:3] for a, b in zip(Q, X)], "plain", 24, 10)
    d.text(58, 746, "output", anchor="start")
    d.text(58, 770, "`[B, T, d_model]`", anchor="start", size=15)
    return d
