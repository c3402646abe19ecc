"""The toolkit of the drawings: text, boxes, arrows and small matrices as SVG, all in one style.

Units are those of the viewBox, which is 600 wide: shown on a telephone, 390 pixels wide, the smallest text has 9.75 pixels.
Query, key, value and weight have the colours of `helpers.plots` and a second cue each: a query has round ends, a key has
sharp corners, a value has a double line, and a weight is a plain green cell. Parameters have a thick black line.
"""
import re
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from helpers.plots import KEY, MASKED, PAPER_TO_INK, QUERY, STROKE, VALUE

WIDTH = 600
TEXT, SMALLEST = 16, 15
INK, SOFT, LINE, WASH, PAPER = "#1D1D24", "#585866", "#D9DAE0", "#F5F6F8", "#FFFFFF"
ROLES = {"query": QUERY, "key": KEY, "value": VALUE, "weight": PAPER_TO_INK[2], "parameter": INK,
         "plain": SOFT}
PALETTE = {LINE, WASH, PAPER, MASKED, STROKE, *ROLES.values()}
# Arial, Liberation Sans and Helvetica are equally wide, and so are the serifs: words fit everywhere as they fit here.
SANS = "Arial, 'Liberation Sans', Helvetica, sans-serif"
SERIF = "'Times New Roman', 'Liberation Serif', Times, serif"
MONO = "Menlo, 'DejaVu Sans Mono', Consolas, monospace"
MARKUP = re.compile(r"\$(.+?)\$|`(.+?)`|\*\*(.+?)\*\*|([^$`*]+)")          # $formula$, `code`, **bold**, plain
FORMULA = re.compile(r"_\{(.+?)\}|_(.)|([A-Za-z]{2,})|([A-Za-zα-ω])|([^_A-Za-zα-ω]+)")
Point = tuple[float, float]


class Box(NamedTuple):
    """A rectangle, and the points at the middle of its sides, where arrows begin and end."""

    x: float
    y: float
    width: float
    height: float

    @property
    def top(self) -> Point:
        return self.x + self.width / 2, self.y

    @property
    def bottom(self) -> Point:
        return self.x + self.width / 2, self.y + self.height

    @property
    def left(self) -> Point:
        return self.x, self.y + self.height / 2

    @property
    def right(self) -> Point:
        return self.x + self.width, self.y + self.height / 2


class Drawing:
    """A picture 600 units wide; its methods add to it, later parts over earlier ones.

    title: a name of a few words; description: what is to be seen, for readers who cannot see it.
    """

    def __init__(self, height: float, title: str, description: str):
        self.height, self.title, self.description, self.parts = height, title, description, []
        self.add("rect", x=0.5, y=0.5, width=WIDTH - 1, height=height - 1, rx=12, fill=PAPER, stroke=LINE)

    def add(self, tag: str, content: str = "", **attributes):
        """Add an element; `stroke_width` stands for stroke-width, None for an attribute that is left out."""
        self.parts.append(element(tag, content, **attributes))

    def svg(self) -> str:
        """The whole file."""
        head = [element("title", escape(self.title, quote=False)), element("desc", escape(self.description, quote=False))]
        whole = element("svg", "\n".join(["", *head, *self.parts, ""]), xmlns="http://www.w3.org/2000/svg", width=WIDTH,
                        height=self.height, viewBox=f"0 0 {WIDTH} {number(self.height)}", role="img", font_family=SANS,
                        font_size=TEXT, fill=INK)
        return whole + "\n"

    def text(self, x: float, y: float, words: str, size: float = TEXT, anchor: str = "middle", colour: str = INK):
        """Words around the height y, in lines where they hold line breaks.

        Markup: `code`, **bold**, and $formula$, whose single letters are slanted and where _ lowers a letter or {letters}.
        anchor: what x is of them, "start", "middle" or "end".
        """
        lines = words.split("\n")
        for row, line in enumerate(lines):
            middle = y + (row - (len(lines) - 1) / 2) * 1.3 * size
            self.add("text", spans(line, size), x=x, y=middle + 0.35 * size, font_size=None if size == TEXT else size,
                     text_anchor=None if anchor == "start" else anchor, fill=None if colour == INK else colour)

    def box(self, x: float, y: float, width: float, height: float, words: str = "", role: str | None = None,
            size: float = TEXT) -> Box:
        """A box with words in it, grey or in the colour and the shape of its role."""
        self.frame(x, y, width, height, role, fill=ROLES[role] if role else WASH, fill_opacity=0.22 if role else None)
        if words:
            self.text(x + width / 2, y + height / 2, words, size)
        return Box(x, y, width, height)

    def frame(self, x: float, y: float, width: float, height: float, role: str | None = None, fill: str = "none",
              **attributes):
        """The outline that tells a role without its colour."""
        radius = {"query": min(width / 2, height / 2, 18), None: 6}.get(role, 0)
        stroke = ROLES[role] if role else STROKE
        self.add("rect", x=x, y=y, width=width, height=height, rx=radius, fill=fill, stroke=stroke,
                 stroke_width=2 if role else 1.2, **attributes)
        if role == "value":
            self.add("rect", x=x + 3.5, y=y + 3.5, width=width - 7, height=height - 7, fill="none", stroke=stroke)

    def panel(self, x: float, y: float, width: float, height: float) -> Box:
        """A dashed frame around what belongs together."""
        self.add("rect", x=x, y=y, width=width, height=height, rx=10, fill="none", stroke=STROKE, stroke_dasharray="5 4")
        return Box(x, y, width, height)

    def arrow(self, *points: Point, colour: str = SOFT, width: float = 1.6, head: bool = True, dashes: str | None = None):
        """A line through the points, round at its corners, with its head at the last."""
        (x0, y0), (x, y) = points[-2:]
        length = ((x - x0) ** 2 + (y - y0) ** 2) ** 0.5
        dx, dy = (x - x0) / length, (y - y0) / length
        if head:                                                        # 9 long and 8 wide; the line ends inside it
            base = x - 9 * dx, y - 9 * dy
            points = *points[:-1], (x - 7 * dx, y - 7 * dy)
        path = [f"M{place(points[0])}"]
        for before, corner, after in zip(points, points[1:], points[2:]):
            path.append(f"L{place(towards(corner, before))}Q{place(corner)} {place(towards(corner, after))}")
        path.append(f"L{place(points[-1])}")
        self.add("path", d="".join(path), fill="none", stroke=colour, stroke_width=width, stroke_dasharray=dashes)
        if head:
            corners = (x, y), (base[0] - 4 * dy, base[1] + 4 * dx), (base[0] + 4 * dy, base[1] - 4 * dx)
            self.add("path", d=f"M{'L'.join(map(place, corners))}Z", fill=colour)

    def cells(self, x: float, y: float, values: Sequence[Sequence[float | None]], role: str = "weight", width: float = 20,
              height: float | None = None, framed: bool = True) -> Box:
        """A matrix whose cells are as strong as their values, from 0 to 1; None is a masked cell, grey and struck through."""
        height, parts = height or width, []
        for i, row in enumerate(values):
            for j, value in enumerate(row):
                left, top = x + j * width, y + i * height
                strength = {"fill": MASKED} if value is None else {"fill_opacity": value}
                parts.append(element("rect", x=left, y=top, width=width, height=height, **strength))
                if value is None:
                    parts.append(element("path", d=f"M{place((left + 2, top + height - 2))}L{place((left + width - 2, top + 2))}"))
        self.add("g", "".join(parts), fill=ROLES[role], stroke=STROKE, stroke_width=0.8)
        whole = Box(x, y, width * len(values[0]), height * len(values))
        if framed and role not in ("weight", "plain"):
            by = 5 if role == "query" else 3.5
            self.frame(x - by, y - by, whole.width + 2 * by, whole.height + 2 * by, role)
        return whole

    def curve(self, points: Sequence[Point], colour: str = INK, width: float = 2, dashes: str | None = None):
        """A line through many points."""
        self.add("path", d=f"M{'L'.join(map(place, points))}", fill="none", stroke=colour, stroke_width=width,
                 stroke_dasharray=dashes)

    def dot(self, x: float, y: float, radius: float, role: str):
        """A point in the colour of its role; that of a value has a second line, as its box has."""
        self.add("circle", cx=x, cy=y, r=radius, fill=ROLES[role], fill_opacity=0.22, stroke=ROLES[role], stroke_width=2)
        if role == "value" and radius > 6:
            self.add("circle", cx=x, cy=y, r=radius - 3.5, fill="none", stroke=ROLES[role])

    def sign(self, x: float, y: float, words: str = "+") -> Box:
        """A circle with a sign of arithmetic in it."""
        self.add("circle", cx=x, cy=y, r=12, fill=PAPER, stroke=SOFT, stroke_width=1.6)
        self.text(x, y, words, 18)
        return Box(x - 12, y - 12, 24, 24)


def element(tag, content="", **attributes):
    given = "".join(f' {name.replace("_", "-")}="{number(value)}"' for name, value in attributes.items() if value is not None)
    return f"<{tag}{given}>{content}</{tag}>" if content else f"<{tag}{given}/>"


def number(value):
    """A number with two decimal places at most; other values as they are."""
    return f"{round(value, 2):g}" if isinstance(value, (int, float)) else value


def place(point):
    return f"{number(point[0])} {number(point[1])}"


def towards(corner, other, by=8):
    """The point on the way from a corner to another point where its rounding begins."""
    dx, dy = other[0] - corner[0], other[1] - corner[1]
    part = min(by / (dx * dx + dy * dy) ** 0.5, 0.5)
    return corner[0] + part * dx, corner[1] + part * dy


def spans(line, size):
    """A line of text with markup as SVG."""
    parts, found = [], MARKUP.findall(line)
    for i, (formula, code, bold, plain) in enumerate(found, 1):
        if formula:
            parts.append(math(formula, size, last=i == len(found)))
        elif code:
            parts.append(element("tspan", escape(code, quote=False), font_family=MONO, font_size=max(SMALLEST, size - 1)))
        elif bold:
            parts.append(element("tspan", escape(bold, quote=False), font_weight="bold"))
        else:
            parts.append(escape(plain, quote=False))
    return "".join(parts)


def math(formula, size, last):
    """A formula as SVG: single letters slanted, words such as tanh upright, indices lowered and smaller.

    last: nothing follows on the line, so an index at its end needs no step back up.
    """
    parts, lowered, by = [], False, 0.22 * size
    for braces, index, word, letter, rest in FORMULA.findall(formula):
        low = bool(braces or index)
        shift = {(False, True): by, (True, False): -by}.get((lowered, low))
        content = braces or index or word or letter or rest
        slanted = letter or index.isalpha() or re.fullmatch(r"[a-z]\W.*", braces)
        parts.append(element("tspan", escape(content, quote=False), dy=shift, font_size=max(SMALLEST, 0.7 * size) if low else None,
                             font_style="italic" if slanted else None))
        lowered = low
    if lowered and not last:                                            # back up, in a character of no width
        parts.append(element("tspan", "\u200b", dy=-by))
    return element("tspan", "".join(parts), font_family=SERIF, font_size=size + 3)
