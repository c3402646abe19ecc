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
    d = Drawing(800, "A query among points", (
        "Four pictures under one another, with one axis x. First, seven keys on the axis and a query among them; an arrow "
        "marks the distance from the query to a key. Second, a bell centred at the query, the kernel, gives each key a "
        "height: the nearer, the higher. Third, the heights divided by their sum are the weights. Fourth, the points at the "
        "heights of their values, as large as their weights; their weighted average is the output at the query."))
    weights = [kernel(x) for x, _ in POINTS]
    weights = [weight / sum(weights) for weight in weights]
    keys, query = [across(x) for x, _ in POINTS], across(AT)
    for top, bottom in ((92, 130), (206, 330), (406, 490), (566, 720)):
        d.curve([(query, top), (query, bottom)], QUERY, 1.6, "6 5")

    d.text(24, 32, "**1** distance from the query $q$ to every key $x_i$", anchor="start")
    axis(d, 130, keys)
    d.box(query - 46, 56, 92, 36, "query $q$", "query")
    d.arrow((query, 108), (keys[4], 108))
    d.text((query + keys[4]) / 2 + 34, 92, "|$q − x_i$|")

    d.text(24, 186, "**2** kernel: a near key counts more", anchor="start")
    steps = [i / 20 for i in range(105)]
    d.curve([(across(x), 330 - 110 * kernel(x)) for x in steps])
    for x, key in zip((x for x, _ in POINTS), keys):
        d.curve([(key, 330), (key, 330 - 110 * kernel(x))], ROLES["weight"], 3)
    axis(d, 330, keys)
    d.text(query + 96, 232, "$K(q − x_i)$", anchor="start")

    d.text(24, 386, "**3** weights: the heights, divided by their sum", anchor="start")
    for key, weight in zip(keys, weights):
        d.add("rect", x=key - 13, y=490 - 230 * weight, width=26, height=230 * weight, fill=ROLES["weight"])
    axis(d, 490, keys)

    d.text(24, 546, "**4** output: the average of the values $y_i$, by weight", anchor="start")
    for (_, value), key, weight in zip(POINTS, keys, weights):
        radius = 5 + 26 * weight
        d.curve([(key, 714), (key, level(value) + radius)], STROKE, 1, "2 4")
        d.dot(key, level(value), radius, "value")
    axis(d, 720, keys)
    output = level(sum(weight * value for (_, value), weight in zip(POINTS, weights)))
    d.add("circle", cx=query, cy=output, r=12, fill=PAPER, stroke=INK, stroke_width=2)
    d.arrow((query + 118, 600), (query + 14, output - 3))
    d.text(query + 124, 598, "output $f(q)$", anchor="start")
    d.text(across(4.7) - 16, level(1.9) - 20, "value $y_i$")
    d.text(300, 770, "$f(q) = $ sum of $K(q − x_i) y_i$ over all $i$, divided by the sum of $K(q − x_i)$")
    return d


def level(value):
    return 720 - 40 * value


def axis(d, y, keys):
    d.arrow((36, y), (572, y), colour=STROKE)
    for key in keys:
        d.frame(key - 6, y - 6, 12, 12, "key", fill=PAPER)
    d.text(580, y + 16, "$x$")
