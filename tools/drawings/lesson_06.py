"""Lesson 6: rotary positions as clock hands, and where each scheme of positions enters."""
import math

from tools.drawings.svg import INK, LINE, PAPER, ROLES, SOFT, STROKE, Drawing


def hand(d, centre, radius, degrees, role, length=1.0):
    """A clock's hand, counterclockwise from the right; a query's ends in a circle, a key's in a square."""
    angle = math.radians(degrees)
    x, y = centre[0] + length * radius * math.cos(angle), centre[1] - length * radius * math.sin(angle)
    d.curve([centre, (x, y)], ROLES[role], 3, None if role == "query" else "6 3")
    if role == "query":
        d.add("circle", cx=x, cy=y, r=5, fill=ROLES[role])
    else:
        d.add("rect", x=x - 5, y=y - 5, width=10, height=10, fill=ROLES[role])


def clock(d, centre, radius):
    d.add("circle", cx=centre[0], cy=centre[1], r=radius, fill="none", stroke=STROKE)
    d.add("circle", cx=centre[0], cy=centre[1], r=2.5, fill=SOFT)


TURNS = [math.degrees(100 ** (-2 * pair / 8)) for pair in range(3)]      # a step's turn; the fourth pair is left out


def clock_hands():
    d = Drawing(372, "Rotary positions as clock hands", (
        "One query of a head, q with 8 columns, at the positions 0 to 5, with base 100. Two columns are a pair, and each pair is "
        "the hand of a clock. From position to position the hand of pair 0 turns by 57 degrees, that of pair 1 by 18, that of "
        "pair 2 by 6. The function rotate keeps the shape: T positions by d_head columns."))
    d.text(24, 34, "**One query at six positions:** $q$ `[d_head]`, 8 columns, base 100", anchor="start")
    for row, (turn, words) in enumerate(zip(TURNS, ("fast", "", "slow"))):
        y = 122 + 76 * row
        d.text(24, y - (10 if words else 0), f"pair {row}", anchor="start")
        if words:
            d.text(24, y + 12, words, anchor="start", colour=SOFT)
        for position in range(6):
            clock(d, (134 + 82 * position, y), 29)
            hand(d, (134 + 82 * position, y), 29, 20 + turn * position, "query", 0.8)
    for position in range(6):
        d.text(134 + 82 * position, 74, f"{position}", colour=SOFT)
    d.text(24, 74, "position", anchor="start", colour=SOFT)
    d.text(300, 338, "`rotate(q)`: `[T, d_head]` to `[T, d_head]`, each row turned further", 15)
    return d


def clock_offset():
    d = Drawing(400, "A query and a key that move together", (
        "Pair 1 of a query and of a key two positions later, each with d_head columns. When both move on by three positions, both "
        "hands turn by the same angle, and the angle between them, on which their dot product depends, stays as it was."))
    d.text(24, 34, "**The same query and a key**, $q$ and $k$ `[d_head]`: pair 1 of both", anchor="start")
    for x, first in ((160, 1), (440, 4)):
        centre, start, end = (x, 166), round(20 + TURNS[1] * first), round(60 + TURNS[1] * (first + 2))
        clock(d, centre, 84)
        hand(d, centre, 84, start, "query", 0.86)
        hand(d, centre, 84, end, "key", 0.86)
        arc = [(x + 34 * math.cos(math.radians(a)), 166 - 34 * math.sin(math.radians(a))) for a in range(start, end + 1, 3)]
        d.curve(arc, INK, 2)
        d.box(x - 122, 280, 116, 34, f"query at {first}", "query")
        d.box(x + 6, 280, 116, 34, f"key at {first + 2}", "key")
    d.arrow((264, 166), (336, 166))
    d.text(300, 142, "both 3\nfurther", 15)
    d.text(300, 348, "The hands have turned, the angle between them has not.")
    d.text(300, 374, "The score depends on content and on the signed offset.", colour=SOFT)
    return d


def schemes():
    d = Drawing(724, "Where each scheme of positions enters", (
        "Four columns, each from the same x to queries and keys, scores and weights. A plain number is added to the first column "
        "of x; sinusoidal and learned positions add a table of waves or parameters to x, T by d_model. Rotary positions turn the "
        "queries and the keys, in each head T by d_head. ALiBi and a learned bias add a bias to the scores, T by T for each head. "
        "The values and the residual connection get the words and the positions in the first two columns, and the words alone in "
        "the other two. In all columns the future is masked."))
    for y, words, *shape in ((92, "words", "[B, T,", "d_model]"), (256, "$q$ and $k$", "[B, H, T,", "d_head]"),
                             (404, "scores", "[B, H, T, T]"), (556, "weights", "[B, H, T, T]"), (640, "$v$ and\nresidual")):
        d.text(18, y - 12 * len(shape), words, anchor="start")
        for line, part in enumerate(shape):
            d.text(18, y - 12 * len(shape) + 24 + 20 * line, f"`{part}`", 15, anchor="start")
    d.text(300, 700, "struck through: the future, hidden", 15, colour=SOFT)
    d.arrow((20, 606), (580, 606), colour=LINE, head=False)
    for i, (title, added, scheme, passed) in enumerate((
            ("**number**", "words", counted, "words and\nnumber"),
            ("**sinusoidal,**\n**learned**", "words", sines, "words and\npositions"),
            ("**rotary**", None, turns, "words\nalone"),
            ("**ALiBi,**\n**learned bias**", "scores", bias, "words\nalone"))):
        x = 172 + 112 * i
        d.text(x + 8, 36, title)
        column(d, x, added)
        scheme(d, x)
        d.text(x, 640, passed, colour=SOFT)
    return d


def column(d, x, added):
    """What all schemes share: x to q and k, to scores, to weights, around the line x; added: where a sum stands."""
    words = d.box(x - 22, 74, 44, 36, "$x$")
    sums(d, words.bottom, (x, 216), added == "words")
    query, key = d.box(x - 44, 240, 38, 32, "$q$", "query"), d.box(x + 6, 240, 38, 32, "$k$", "key")
    for box in (query, key):
        d.arrow((x, 216), (box.top[0], 216), box.top)
        d.arrow(box.bottom, (box.bottom[0], 374))
    d.cells(x - 30, 376, [[0.3] * 4] * 4, "plain", 15)
    sums(d, (x, 438), (x, 526), added == "scores")
    d.arrow((x, 520), (x, 527))
    d.cells(x - 30, 528, [[0.5] * (m + 1) + [None] * (3 - m) for m in range(4)], "weight", 15)


def sums(d, start, end, added):
    """A line down, with a sum half-way that waits for what comes from the right."""
    if added:
        sign = d.sign(start[0], (start[1] + end[1]) / 2)
        d.arrow((start[0] + 36, sign.y + 12), sign.right)
        d.arrow(start, sign.top)
        start = sign.bottom
    d.arrow(start, end, head=False)


def sines(d, x):
    for row, wave in enumerate((2.2, 1.1, 0.5)):
        d.curve([(x + 42 + step, 147 + 16 * row - 6 * math.sin(wave * step / 6)) for step in range(0, 41, 2)], INK, 1.6)
    d.text(x + 56, 204, "waves or\na table", colour=SOFT)


def counted(d, x):
    d.cells(x + 43, 135, [[0.9 * n / 3, 0, 0] for n in range(4)], "plain", 14)
    d.text(x + 64, 204, "number", colour=SOFT)


def turns(d, x):
    for side in (-25, 25):
        d.add("circle", cx=x + side, cy=318, r=17, fill=PAPER, stroke=INK, stroke_width=1.6)
        hand(d, (x + side, 318), 17, 50, "query" if side < 0 else "key", 0.62)
    d.text(x + 64, 318, "turn", colour=SOFT)


def bias(d, x):
    d.cells(x + 38, 460, [[0.9 - 0.3 * abs(m - n) for n in range(4)] for m in range(4)], "plain", 11)
    d.text(x + 57, 520, "bias", colour=SOFT)
