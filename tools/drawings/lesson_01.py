"""Lesson 1: a query among points."""
import math

from tools.drawings.svg import INK, PAPER, QUERY, ROLES, STROKE, Drawing

POINTS = [(0.3, 1.2), (0.9, 2.3), (1.5, 2.9), (2.6, 2.2), (3.1, 1.5), (3.9, 0.9), (4.7, 1.9)]
AT, REACH = 2.1, 0.75                                          # the query, and the width of the kernel


def kernel(x):
    return math.exp(-((x - AT) / REACH) ** 2 / 2)


def across(x):
    """Where x stands in the picture."""
    return 60 + 98 * x


def query_among_points():
    d = Drawing(604, "A query among points", (
        "Four pictures under one another, with one axis x. First, seven keys on the axis and a query among them; an arrow "
        "marks the distance from the query to a key. Second, a bell centred at the query gives each key a height: the nearer, "
        "the higher. Third, the heights divided by their sum are the weights. Fourth, the points at the heights of their "
        "values, as large as their weights; their weighted average is the output at the query. Shapes: query [T_q], here "
        "T_q = 1; key and value [T_k], here T_k = 7; heights and weights [T_q, T_k]; output [T_q]."))
    weights = [kernel(x) for x, _ in POINTS]
    weights = [weight / sum(weights) for weight in weights]
    keys, query = [across(x) for x, _ in POINTS], across(AT)
    for top, bottom in ((82, 112), (168, 254), (320, 380), (446, 570)):
        d.curve([(query, top), (query, bottom)], QUERY, 1.6, "6 5")

    d.text(24, 32, "**1** distance from the query to every key", anchor="start")
    shapes(d, 32, "query [T_q], key [T_k]")
    axis(d, 112, keys)
    d.box(query - 40, 48, 80, 34, "query", "query")
    d.arrow((query, 96), (keys[4], 96))
    d.text((query + keys[4]) / 2 + 40, 78, "distance")

    d.text(24, 162, "**2** height: a near key counts more", anchor="start")
    shapes(d, 162, "heights [T_q, T_k]")
    steps = [i / 20 for i in range(105)]
    d.curve([(across(x), 254 - 76 * kernel(x)) for x in steps])
    for x, key in zip((x for x, _ in POINTS), keys):
        d.curve([(key, 254), (key, 254 - 76 * kernel(x))], STROKE, 3)
    axis(d, 254, keys)

    d.text(24, 304, "**3** weights: the heights, divided by their sum", anchor="start")
    shapes(d, 304, "weights [T_q, T_k]")
    for key, weight in zip(keys, weights):
        d.add("rect", x=key - 13, y=380 - 160 * weight, width=26, height=160 * weight, fill=ROLES["weight"])
    axis(d, 380, keys)

    d.text(24, 430, "**4** output: the average of the values, by weight", anchor="start")
    for (_, value), key, weight in zip(POINTS, keys, weights):
        radius = 5 + 26 * weight
        d.curve([(key, 564), (key, level(value) + radius)], STROKE, 1, "2 4")
        d.add("circle", cx=key, cy=level(value), r=radius, fill=ROLES["value"], fill_opacity=0.22, stroke=ROLES["value"],
              stroke_width=2)
    axis(d, 570, keys)
    output = level(sum(weight * value for (_, value), weight in zip(POINTS, weights)))
    d.add("circle", cx=query, cy=output, r=12, fill=PAPER, stroke=INK, stroke_width=2)
    d.arrow((query + 118, 450), (query + 14, output - 3))
    d.text(query + 124, 446, "output `[T_q]`", anchor="start")
    d.text(across(4.7) - 16, level(1.9) - 18, "value `[T_k]`")
    return d


def shapes(d, y, words):
    """The numbers of a picture, and their shape."""
    d.text(580, y, f"`{words}`", size=15, anchor="end")


def level(value):
    return 570 - 36 * value


def axis(d, y, keys):
    d.arrow((36, y), (572, y), colour=STROKE)
    for key in keys:
        d.frame(key - 6, y - 6, 12, 12, "key", fill=PAPER)
    d.text(580, y + 16, "$x$")
