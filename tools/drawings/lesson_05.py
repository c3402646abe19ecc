"""Lesson 5: scaled dot-product attention, and several heads of it."""
import math

from tools.drawings.svg import SOFT, Drawing

X = [[0.2, 0.7, 0.1, 0.5, 0.3], [0.8, 0.1, 0.4, 0.2, 0.6], [0.3, 0.3, 0.9, 0.1, 0.2], [0.1, 0.6, 0.2, 0.8, 0.4]]
Q = [[0.5, 0.2, 0.7], [0.1, 0.8, 0.3], [0.6, 0.4, 0.1], [0.2, 0.3, 0.9]]
K_TRANSPOSED = [[0.7, 0.1, 0.4, 0.2], [0.2, 0.6, 0.3, 0.8], [0.4, 0.9, 0.1, 0.5]]
V = [[0.3, 0.8, 0.2], [0.9, 0.1, 0.5], [0.2, 0.4, 0.7], [0.6, 0.3, 0.1]]
SLICES = [[0.3, 0.7, 0.2], [0.8, 0.4, 0.1], [0.2, 0.5, 0.9], [0.6, 0.1, 0.4]]      # one vector, cut for four heads
HEADS = [[[0.7, 0.1, 0.1, 0.1], [0.1, 0.6, 0.2, 0.1], [0.1, 0.1, 0.7, 0.1], [0.2, 0.1, 0.1, 0.6]],
         [[0.4, 0.4, 0.1, 0.1], [0.6, 0.2, 0.1, 0.1], [0.1, 0.7, 0.1, 0.1], [0.1, 0.1, 0.6, 0.2]],
         [[0.2, 0.6, 0.1, 0.1], [0.1, 0.1, 0.7, 0.1], [0.1, 0.1, 0.2, 0.6], [0.1, 0.1, 0.3, 0.5]],
         [[0.3, 0.2, 0.3, 0.2], [0.2, 0.3, 0.2, 0.3], [0.3, 0.2, 0.2, 0.3], [0.2, 0.3, 0.3, 0.2]]]


def product(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def softmax(row):
    exponentials = [math.exp(8 * score) for score in row]      # 8: so that the largest weights stand out
    return [exponential / sum(exponentials) for exponential in exponentials]


def scaled_dot_product():
    d = Drawing(800, "Scaled dot-product attention", (
        "The matrix x of four words is projected three times, to queries, keys and values. The queries stand at the left of "
        "the scores and the transposed keys above them, so that each score is in the row of its query and the column of its "
        "key. Scores are divided by the root of d_head, may be masked, and pass a softmax in each row, which gives the "
        "weights. The weights times the values are the output, one row for each query."))
    scores = product(Q, K_TRANSPOSED)
    weights = [softmax(row) for row in scores]
    d.cells(193, 34, X, "plain", 22)
    d.text(180, 66, "$x$", anchor="end")
    d.text(180, 90, "`[T, d_model]`", anchor="end", size=15)
    d.text(330, 66, "**1** project", anchor="start")
    d.text(330, 90, "$q = x W_q$,  $k = x W_k$,  $v = x W_v$", anchor="start")

    W_q, W_k, W_v = (d.box(left, 170, 64, 38, f"$W_{name}$", "parameter") for left, name in ((80, "q"), (216, "k"), (468, "v")))
    d.arrow((248, 126), W_k.top)
    for box in (W_q, W_v):
        d.arrow((248, 126), (248, 148), (box.top[0], 148), box.top)

    d.cells(204, 244, K_TRANSPOSED, "key", 22)
    d.arrow(W_k.bottom, (248, 240))
    d.text(306, 266, "$k$ transposed", anchor="start")
    d.text(306, 290, "`[d_head, T_k]`", anchor="start", size=15)
    d.cells(79, 336, Q, "query", 22)
    d.arrow(W_q.bottom, (112, 332))
    d.text(112, 446, "$q$")
    d.text(112, 470, "`[T_q, d_head]`", size=15)
    d.cells(204, 336, scores, "plain", 22)
    d.arrow((152, 380), (200, 380))
    d.arrow((248, 315), (248, 333))
    d.text(306, 352, "**2** score", anchor="start")
    d.text(306, 376, "$q · k$ of every pair", anchor="start")
    d.text(306, 400, "`[T_q, T_k]`", anchor="start", size=15)

    d.arrow((248, 424), (248, 540))
    d.text(262, 452, "**3** divide by $√d_{head}$", anchor="start")
    d.text(262, 480, "mask, if there is one", anchor="start", colour=SOFT)
    d.text(262, 508, "**4** softmax of each row", anchor="start")
    d.cells(204, 540, weights, "weight", 22)
    d.text(190, 574, "weights", anchor="end")
    d.text(190, 598, "`[T_q, T_k]`", anchor="end", size=15)
    d.cells(467, 540, V, "value", 22)
    d.arrow(W_v.bottom, (500, 536))
    d.text(500, 650, "$v$")
    d.text(500, 674, "`[T_k, d_head]`", size=15)

    times = d.sign(378, 584, "×")
    d.arrow((294, 584), times.left)
    d.arrow((462, 584), times.right)
    d.arrow(times.bottom, (378, 666))
    d.cells(345, 670, product(weights, V), "value", 22)
    d.text(326, 690, "**5** weigh, **6** add:", anchor="end")
    d.text(326, 714, "output = weights × $v$", anchor="end")
    d.text(326, 738, "`[T_q, d_head]`", anchor="end", size=15)
    return d


def multi_head():
    d = Drawing(738, "Multi-head attention", (
        "The vectors x pass three projections. Each projected vector is cut into four pieces, one for each head. In every "
        "head the piece of the query meets the pieces of the keys, which gives a map of weights of its own, and the weights "
        "average the pieces of the values. The outputs of the heads are laid side by side again and pass the output "
        "projection."))
    lefts = [268 + 80 * head for head in range(4)]
    for head, left in enumerate(lefts):
        d.panel(left - 10, 46, 74, 424)
        d.text(left + 27, 28, f"head {head}", colour=SOFT)
    x = d.box(24, 93, 36, 36, "$x$")
    boxes = [d.box(92, y, 96, 36, f"`{name}_proj`", "parameter") for y, name in ((66, "q"), (120, "k"), (326, "v"))]
    for shift, (box, role) in enumerate(zip(boxes, ("query", "key", "value"))):
        middle = box.left[1]
        for head, left in enumerate(lefts):
            d.cells(left, middle - 9, [SLICES[(head + shift) % 4]], role, 18)
        d.arrow(box.right, (lefts[0] - 10, middle))
    for box in boxes[:2]:
        d.arrow(x.right, (76, 111), (76, box.left[1]), box.left)
    d.arrow(x.bottom, (42, boxes[2].left[1]), boxes[2].left)
    for left, weights, output in zip(lefts, HEADS, reversed(SLICES)):
        d.arrow((left + 27, 152), (left + 27, 194))
        d.cells(left - 1, 198, weights, "weight", 14)
        d.arrow((left + 27, 258), (left + 27, 330))
        d.arrow((left + 27, 358), (left + 27, 422))
        d.cells(left, 428, [output], "value", 18)
    d.text(24, 28, "$x$ `[B, T, d_model]`", anchor="start")
    d.text(58, 174, "cut into heads", anchor="start")
    d.text(58, 196, "`[B, H, T, d_head]`", anchor="start", size=15)
    d.text(58, 232, "weights of each head", anchor="start")
    d.text(58, 254, "`[B, H, T_q, T_k]`", anchor="start", size=15)
    d.text(58, 426, "weights × $v$", anchor="start")
    d.text(58, 450, "`[B, H, T_q, d_head]`", anchor="start", size=15)

    middle = (lefts[0] + lefts[3] + 54) / 2
    for head, left in enumerate(lefts):
        end = middle - 108 + 54 * head
        d.arrow((left + 27, 454), (left + 27, 492), (end + 27, 508), (end + 27, 530))
        d.cells(end, 536, [SLICES[3 - head]], "value", 18, framed=False)
    d.frame(middle - 112, 532, 224, 26, "value")
    d.text(58, 534, "side by side again", anchor="start")
    d.text(58, 558, "`[B, T_q, d_model]`", anchor="start", size=15)
    out = d.box(middle - 54, 600, 108, 36, "`out_proj`", "parameter")
    d.arrow((middle, 560), out.top)
    d.arrow(out.bottom, (middle, 676))
    d.cells(middle - 108, 680, [SLICES[1] + SLICES[3] + SLICES[0] + SLICES[2]], "plain", 18)
    d.text(58, 680, "output", anchor="start")
    d.text(58, 704, "`[B, T_q, d_model]`", anchor="start", size=15)
    return d
