"""Every static picture of the course: maps of weights, curves, the scenes of the labs; labels in Chinese.

A function whose name begins with `draw_` draws into existing axes; the others return a whole `Picture`.
Rows of a map are queries, columns are keys. Values may be tensors or whatever numpy takes.
"""
import base64
import functools
import html
import io
import itertools
import logging
import math
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import matplotlib
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager
from matplotlib.ft2font import FT2Font
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Rectangle
from matplotlib.text import Text
from matplotlib.ticker import LogLocator
from numpy.typing import ArrayLike
from PIL import Image

logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)      # a Chinese font may lack a bold face
warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)    # of an explorer's still picture; browsers have fonts
QUERY, KEY, VALUE = "#CC79A7", "#E69F00", "#0072B2"          # the same in every figure of the course
LINE_STYLES = [                                              # colour, dashes, marker; none of the three above, nor green
    ("#000000", "-", "o"), ("#B2182B", "--", "s"), ("#7F7F7F", "-.", "D"), ("#000000", ":", "^"),
    ("#B2182B", (0, (5, 1, 1, 1)), "v")]
MASKED, STROKE = "#D9D9D9", "#8C8C8C"                        # a hidden cell, and the line through it
PAPER_TO_INK = ("#FFFFFF", "#9FD8C4", "#009E73", "#003D2D")  # 0 is white; lightness falls all the way
ORANGE_TO_PURPLE = ("#B35806", "#FFFFFF", "#542788")
WEIGHTS = LinearSegmentedColormap.from_list("weights", PAPER_TO_INK).with_extremes(bad=MASKED)
SIGNED = LinearSegmentedColormap.from_list("signed", ORANGE_TO_PURPLE).with_extremes(bad=MASKED)
MOST_TICKS = 20
MOST_STROKES = 40_000
BOXES = re.compile("last ?resort|fallback|tofu|notdef", re.IGNORECASE)       # fonts that draw boxes for characters
DOTS_PER_INCH, CSS_PIXELS_PER_INCH = 144, 96
STILL, STILL_INCHES = "A still picture. Run this cell to touch it.", 0.3
Values = torch.Tensor | ArrayLike


class Picture(Figure):
    """A figure of `width` x `height` inches. `alt` describes it for readers who cannot see it.

    pyplot does not know it, so there is nothing to close and it is shown once.
    """

    def __init__(self, width: float, height: float, alt: str = ""):
        super().__init__(figsize=(width, height), dpi=DOTS_PER_INCH, layout="constrained")
        FigureCanvasAgg(self)
        self.alt = alt

    def draw(self, renderer):
        """Draw all. A dollar sign begins a formula in matplotlib's own numbers alone."""
        for text in self.findobj(lambda part: isinstance(part, Text) and "mathdefault" not in (part.get_text() or "mathdefault")):
            text.set_parse_math(False)
        super().draw(renderer)

    def _repr_mimebundle_(self, include=None, exclude=None):
        self.canvas.draw()
        return self.as_shown()

    def as_still(self) -> tuple[dict, dict]:
        """What stands for a widget until its cell is run; a line below says so."""
        self.canvas.draw()
        return self.as_shown(STILL)

    def as_shown(self, note: str = "", small: bool = True) -> tuple[dict, dict]:
        """What the canvas holds now, above a note, as a notebook's output with `alt`; small: encoded to be saved, not quickly."""
        pixels, buffer = np.asarray(self.canvas.buffer_rgba()), io.BytesIO()
        if note:
            below = Picture(self.get_figwidth(), STILL_INCHES)
            below.set_dpi(self.dpi)
            below.text(0.5, 0.5, note, ha="center", va="center", fontsize=9, color="#595959")
            below.canvas.draw()
            pixels = np.concatenate([pixels, below.canvas.buffer_rgba()])
        image = Image.fromarray(pixels).convert("RGB")
        if small:                                            # kmeans: without it, pale green becomes pale pink
            image = image.quantize(256, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE)
        image.save(buffer, "png", optimize=small, compress_level=1)
        width, height = (round(size / self.dpi * CSS_PIXELS_PER_INCH) for size in image.size)
        return ({"image/png": base64.b64encode(buffer.getvalue()).decode(), "text/plain": f"Picture: {self.alt}"},
                {"image/png": {"alt": self.alt, "width": width, "height": height}})


class Table:
    """Rows of texts as a table, whose words can be copied and searched; `alt` says what it holds.

    rows: cells, a text each. header: the names of the columns. For texts that depend on the machine: tests compare `alt` alone.
    """

    def __init__(self, rows: Iterable[Sequence], header: Sequence[str], alt: str):
        self.rows, self.header, self.alt = list(rows), header, alt

    def _repr_mimebundle_(self, include=None, exclude=None):
        def line(tag, cells):
            inside = "".join(f'<{tag} style="text-align: left">{html.escape(str(cell))}</{tag}>' for cell in cells)
            return f"<tr>{inside}</tr>"

        body = "".join(line("td", row) for row in self.rows)
        return {"text/html": f"<table><thead>{line('th', self.header)}</thead><tbody>{body}</tbody></table>",
                "text/plain": f"Table: {self.alt}"}


def panels(width: float, height: float, rows: int = 1, columns: int = 1, alt: str = "", **options) -> tuple[Picture, Axes]:
    """An empty picture, its sizes in inches, and its axes: one, or an array of rows x columns."""
    picture = Picture(width, height, alt)
    return picture, picture.subplots(rows, columns, **options)


def beside(live: tuple | dict, still: tuple, text: str) -> tuple[dict, dict]:
    """A widget's output: its live view, a PNG for pages without a kernel, and a text that no run changes."""
    data, metadata = live if isinstance(live, tuple) else (live, {})
    return data | still[0] | {"text/plain": text}, metadata | still[1]


def as_numpy(values: Values) -> np.ndarray:
    """The values as an array. A tensor may have any dtype and be on any device."""
    if isinstance(values, torch.Tensor):
        values = values.detach().cpu()
        values = values if values.dtype == torch.bool else values.float()
    return np.asarray(values)


def heatmap(weights: Values, query_tokens: Sequence | None = None, key_tokens: Sequence | None = None,
            mask: Values | None = None, title: str = "", **options) -> Picture:
    """A picture of one map, `[T_q, T_k]`. The arguments are those of `heatmaps`."""
    return heatmaps({title: weights}, query_tokens, key_tokens, mask, **options)


def heatmaps(maps: Mapping[str, Values], query_tokens: Sequence | None = None,
             key_tokens: Sequence | None = None, mask: Values | None = None, vmax: float = 1.0,
             signed: bool = False, label: str | None = None, alt: str = "",
             names: tuple[str, str] = ("queries", "keys")) -> Picture:
    """Maps side by side on one scale, with one colour bar.

    maps: from titles to values `[T_q, T_k]`, all of one shape. mask: `[T_q, T_k]`, True = may look; masked
    cells are grey and struck through. vmax: the end of the scale, which starts at 0, or at -vmax if `signed`.
    label: what the colour bar measures, "weight" (or "score" if `signed`) if not given.
    alt: if not given, it says which key has each query's largest weight. names: of the rows and the columns.
    Raises ValueError for no maps, maps of several shapes or not two-dimensional, and tokens or a mask that do
    not fit; TypeError for a mask that is not boolean.
    """
    shapes = {visible(weights, mask)[0].shape for weights in maps.values()}
    if len(shapes) != 1:
        came = " and ".join(map(str, map(list, sorted(shapes)))) or "none"
        raise ValueError(f"heatmaps draws maps of one shape, and these are {came}")
    (T_q, T_k), = shapes
    width = min(9.2, min(4.6, max(2.2, 0.36 * T_k + 0.9)) * len(maps) + 0.8)
    cell = (width - 0.8) / len(maps) / (T_k + 2)
    height = min(6.5, max(1.9, cell * T_q + 1.1))
    picture, axes = panels(width, height, 1, len(maps), squeeze=False)
    for ax, (title, weights) in zip(axes[0], maps.items()):
        image = draw_map(ax, weights, query_tokens, key_tokens, mask, vmax, signed, names=names)
        ax.set_title(title)
        if ax is not axes[0, 0]:
            ax.set(ylabel="", yticks=[])
    picture.alt = alt or largest_weights(maps, query_tokens, key_tokens)
    picture.colorbar(image, ax=axes[0], label=label or ("score" if signed else "weight"), shrink=0.9, pad=0.02)
    return picture


def map_and_row(weights: Values, query: int, key: int, query_tokens: Sequence, key_tokens: Sequence,
                title: str = "", vmax: float = 1.0, signed: bool = False, label: str = "weight") -> Picture:
    """A picture of one map, its cell (query, key) framed, and beside it the weights of that query as bars.

    signed: the scale goes from -vmax to vmax. label: what it measures.
    """
    row = as_numpy(weights)[query]
    shown = "hidden" if np.isnan(row[key]) else f"{row[key]:.2f}"
    height = min(6.5, max(2.6, 0.3 * len(query_tokens) + 1.2, 0.25 * len(key_tokens) + 1.2))
    picture, (left, right) = panels(8.4, height, 1, 2, width_ratios=[5, 4])
    largest = f"{label} from -{vmax:.3g} to {vmax:.3g}" if signed else largest_weights({"": weights}, query_tokens, key_tokens)
    chosen = f"{query_tokens[query]} to {key_tokens[key]}: {shown}"
    picture.alt = f"{title}: {chosen}. ".removeprefix(": ") + largest
    image = draw_map(left, weights, query_tokens, key_tokens, vmax=vmax, signed=signed)
    left.add_patch(Rectangle((key - 0.5, query - 0.5), 1, 1, fill=False, edgecolor="#D55E00", linewidth=2))
    left.set_title(title)
    draw_bars(right, row, key_tokens, f'query "{query_tokens[query]}"', vmax, "", signed, label)
    picture.colorbar(image, ax=left).ax.set_xlabel(label)            # at its side it would stand among the tokens of the bars
    return picture


def row_and_column(weights: Values, query: int, key: int, query_tokens: Sequence, key_tokens: Sequence,
                   title: str = "", vmax: float = 1.0) -> Picture:
    """A picture of what one query looks at and of which queries look at one key, as bars; see `map_and_row`."""
    values = as_numpy(weights)
    height = min(6.5, max(2.6, 0.3 * max(values.shape) + 1.2))
    picture, (left, right) = panels(8.4, height, 1, 2)
    picture.alt = f"{title}: what {query_tokens[query]} looks at, and what looks at {key_tokens[key]}.".removeprefix(": ")
    draw_bars(left, values[query], key_tokens, f'query "{query_tokens[query]}" looks at', vmax)
    draw_bars(right, values[:, key], query_tokens, f'key "{key_tokens[key]}" is looked at by', vmax, "queries")
    picture.suptitle(title, parse_math=False)
    return picture


def links(weights: Values, query: int, key: int, query_tokens: Sequence, key_tokens: Sequence,
          title: str = "", vmax: float = 1.0) -> Picture:
    """A picture of one map as lines, those of one query in its colour; see `map_and_row` and `draw_links`."""
    height = min(10.0, max(2.6, 0.2 * max(len(query_tokens), len(key_tokens)) + 0.8))
    picture, ax = panels(6.4, height)
    largest = largest_weights({"": weights}, query_tokens, key_tokens)
    picture.alt = f"{title}: lines of {query_tokens[query]}. ".removeprefix(": ") + largest
    draw_links(ax, weights, query, key, query_tokens, key_tokens, title, vmax)
    return picture


def compared(maps: Sequence[tuple], view: str, query: int, key: int, vmax: float = 1.0) -> Picture:
    """A picture of two maps side by side, each (weights, query_tokens, key_tokens, title).

    view: "map", "lines", or "bars", which shows the weights of the query alone.
    """
    height = min(6.5, max(2.6, 0.3 * max(len(queries) for _, queries, _, _ in maps) + 1.2))
    picture, axes = panels(8.4, height, 1, len(maps))
    picture.alt = " beside ".join(title or "a map" for *_, title in maps) + f", query {query}, key {key}."
    for ax, (weights, queries, keys, title) in zip(axes, maps):
        q, k = min(query, len(queries) - 1), min(key, len(keys) - 1)
        if view == "map":
            draw_map(ax, weights, queries, keys, vmax=vmax)
            ax.add_patch(Rectangle((k - 0.5, q - 0.5), 1, 1, fill=False, edgecolor="#D55E00", linewidth=2))
            ax.set_title(title, parse_math=False)
        elif view == "lines":
            draw_links(ax, weights, q, k, queries, keys, title, vmax)
        else:
            draw_bars(ax, weights[q], keys, f'{title}\nquery "{queries[q]}"', vmax)
    return picture


def grid_of_maps(weights: Values, axes: Sequence[str], chosen: Sequence[int] | None = None, vmax: float = 1.0,
                 labels: np.ndarray | None = None, signed: bool = False, label: str = "weight") -> Picture:
    """All maps of `[head, T_q, T_k]` or `[layer, head, T_q, T_k]`, without tokens.

    axes: names of the leading axes. chosen: index of a map to frame. labels: a word for each map. signed, label: see `map_and_row`.
    """
    values = as_numpy(weights)
    if values.ndim not in (3, 4) or not values.size:
        raise ValueError(f"weights of shape {list(values.shape)}: a grid needs [head, T_q, T_k] or [layer, head, T_q, T_k]")
    columns = values.shape[1] if values.ndim == 4 else math.ceil(math.sqrt(len(values)))
    indices = list(np.ndindex(values.shape[:-2]))
    rows = math.ceil(len(indices) / columns)
    side = min(1.7, 8.4 / columns)
    named = labels is not None and any(map(bool, labels.flat))
    height = rows * (side + 0.14 * named) + 0.4
    picture, grid = panels(columns * side + 0.9, height, rows, columns, squeeze=False)
    picture.alt = f"All {len(indices)} maps" + (f"; {' '.join(map(str, chosen))} is framed." if chosen else ".")
    for ax in grid.flat[len(indices):]:
        ax.set_visible(False)
    for ax, index in zip(grid.flat, indices):
        image = draw_map(ax, values[index], vmax=vmax, signed=signed, numbers=False)
        image.strokes.set_linewidth(0.5)
        ax.set(xticks=[], yticks=[], xlabel="", ylabel="")
        title = " ".join(f"{name} {i}" for name, i in zip(axes, index)) if columns < 7 else ".".join(map(str, index))
        ax.set_title(f"{title}\n{labels[index]}" if named else title, fontsize=9, pad=3 if named else None)
        if chosen and list(index) == list(chosen):
            ax.spines[:].set(edgecolor="#D55E00", linewidth=2.5)
    picture.colorbar(image, ax=grid, label=label)
    return picture


def tensor(values: Values, row_labels: Sequence | None, column_labels: Sequence | None, title: str,
           axes: Sequence[str], marked: int | None = None) -> Picture:
    """One tensor `[rows, columns]`, its colours centred at 0 if any number is below; marked: a row to frame."""
    top = float(np.nanmax(np.abs(as_numpy(values)))) or 1.0
    names = tuple(["", *axes][-2:])
    picture = heatmap(values, row_labels, column_labels, title=title, vmax=top, signed=np.nanmin(as_numpy(values)) < 0,
                      label="value", alt=f"{title} [{', '.join(axes)}]", names=names)
    if marked is not None:
        size = as_numpy(values).shape[1]
        picture.axes[0].add_patch(Rectangle((-0.5, marked - 0.5), size, 1, fill=False, edgecolor="#D55E00", linewidth=2))
    return picture


def tensors(maps: Mapping[str, Values], bars: Mapping[str, float], question: str, alt: str) -> Picture:
    """Many tensors `[rows, columns]`, each on a scale of its own, and at the end `bars` under the title `question`."""
    rows = -(-(len(maps) + 1) // 3)
    picture, grid = panels(9.2, 1.35 * rows + 0.2, rows, 3, alt, squeeze=False)
    for ax in grid.flat[len(maps) + bool(bars):]:
        ax.set_visible(False)
    for ax, (name, values) in zip(grid.flat, maps.items()):
        values, hidden = visible(values, None)
        top, signed = float(np.nanmax(np.abs(values))) or 1.0, np.nanmin(values) < 0
        ax.set(xticks=[], yticks=[])
        ax.imshow(values, SIGNED if signed else WEIGHTS, vmin=-top if signed else 0, vmax=top, aspect="auto")
        ax.add_collection(LineCollection(strokes_through(hidden), colors=STROKE, linewidths=1), autolim=False)
        ax.set_title(re.sub(r"\.(\w+)$", r"\n.\1", name) if len(name) > 24 else name, fontsize=9)
    if bars:
        draw_bars(grid.flat[len(maps)], list(bars.values()), list(bars), question)
        grid.flat[len(maps)].set(xlabel="probability", ylabel="")
    return picture


def draw_map(ax: Axes, weights: Values, query_tokens: Sequence | None = None,
             key_tokens: Sequence | None = None, mask: Values | None = None, vmax: float = 1.0,
             signed: bool = False, numbers: bool = True, names: tuple[str, str] = ("queries", "keys")) -> AxesImage:
    """Draw one map, with its numbers in the cells if it is small; return the image. See `heatmaps`."""
    values, hidden = visible(weights, mask)
    image = ax.imshow(np.ma.array(values, mask=hidden), cmap=SIGNED if signed else WEIGHTS,
                      vmin=-vmax if signed else 0, vmax=vmax, aspect="auto")
    image.strokes = LineCollection(strokes_through(hidden), colors=STROKE, linewidths=1)
    ax.add_collection(image.strokes, autolim=False)
    label_axis(ax.xaxis, key_tokens, values.shape[1], names[1])
    label_axis(ax.yaxis, query_tokens, values.shape[0], names[0])
    if numbers and values.size <= 60:
        for (q, k), value in np.ndenumerate(values):
            if not hidden[q, k]:
                ax.text(k, q, f"{value:.2f}", ha="center", va="center", fontsize=9,
                        color="white" if abs(value) > 0.6 * vmax else "black")
    return image


def move_map(image: AxesImage, weights: Values, mask: Values | None = None) -> None:
    """Put other weights and another mask into a map of `draw_map`; `image` and `image.strokes` change."""
    values, hidden = visible(weights, mask)
    image.set_data(np.ma.array(values, mask=hidden))
    image.strokes.set_segments(strokes_through(hidden))


@dataclass
class Tiles:
    """Several maps in one image, for a lab that shows a varying number of them."""

    image: AxesImage
    names: list[Text]

    @property
    def artists(self) -> list:
        """What moves."""
        return [self.image, *self.names, self.image.axes.xaxis, self.image.axes.yaxis]


def draw_tiles(ax: Axes, most: int) -> Tiles:
    """Draw an empty square with room for the names of `most` maps; `move_tiles` fills it."""
    image = ax.imshow([[np.nan]], cmap=WEIGHTS, vmin=0, vmax=1, extent=(0, 1, 1, 0), interpolation="nearest")
    ax.tick_params(length=0, labelsize=9)
    ax.set_xlabel("keys", color=KEY, weight="bold")
    ax.set_ylabel("queries", color=QUERY, weight="bold")
    return Tiles(image, [ax.text(0, 0, "", fontsize=9, ha="center", va="center") for _ in range(most)])


def move_tiles(tiles: Tiles, maps: Values, names: Sequence[str]) -> None:
    """Put maps `[H, T, T]` into the square, in rows of the root of H rounded up, each under its name.

    The axes have the numbers of each map's first and last query and key.
    """
    values = as_numpy(maps).repeat(2, -1).repeat(2, -2)      # two pixels a cell, so that half a cell is the least of gaps
    columns, size = math.ceil(math.sqrt(len(values))), values.shape[-1]
    gap = math.ceil(columns / 2)                             # as wide in every square, whatever the number of maps
    step = np.array([size + 2 * gap, size + gap])            # grey above each map for its name, and beside it
    square = np.full(columns * step + (gap, gap), np.nan)
    height, width = square.shape
    for text in tiles.names:
        text.set_text("")
    for h, (text, name) in enumerate(zip(tiles.names, names, strict=False)):
        top, left = step * divmod(h, columns) + (2 * gap, gap)
        square[top:top + size, left:left + size] = values[h]
        text.set(text=name, position=((left + size / 2) / width, (top - gap) / height))
    ends, rows = np.array([1, size - 1]), math.ceil(len(values) / columns)
    for set_ticks, number, each, first, whole in ((tiles.image.axes.set_xticks, columns, step[1], gap, width),
                                                  (tiles.image.axes.set_yticks, rows, step[0], 2 * gap, height)):
        places = (first + each * np.arange(number)[:, None] + ends).ravel()
        set_ticks(places / whole, number * ["0", str(size // 2 - 1)])
    tiles.image.set_data(np.ma.masked_invalid(square))


def draw_bars(ax: Axes, row: Values, tokens: Sequence, title: str = "", vmax: float = 1.0, names: str = "keys",
              signed: bool = False, label: str = "weight") -> None:
    """Draw the weights of one query, `[T_k]`, as bars, one for each key, from the top down.

    Or those of one key, `[T_q]`, where names is "queries". signed, label: see `map_and_row`.
    """
    row = as_numpy(row)
    ends = (SIGNED(0.0), SIGNED(1.0)) if signed else ("#009E73", "#009E73")                   # below 0, above
    if len(row) <= 100:
        ax.barh(range(len(row)), np.nan_to_num(row), color=[ends[int(value >= 0)] for value in np.nan_to_num(row)])
    else:                                                    # one shape is drawn faster than hundreds
        for color, part in zip(ends, (np.minimum, np.maximum)):
            ax.stairs(part(np.nan_to_num(row), 0), np.arange(len(row) + 1) - 0.5, orientation="horizontal", fill=True, color=color)
    label_axis(ax.yaxis, tokens, len(row), names)
    ax.set(xlim=(-1.18 * vmax if signed else 0, 1.18 * vmax), ylim=(len(row) - 0.5, -0.5), xlabel=label)
    ax.set_title(title, parse_math=False)
    if len(row) <= MOST_TICKS:
        for k, weight in enumerate(row):
            text = "hidden" if np.isnan(weight) else f"{weight:.2f}"
            ax.text(max(np.nan_to_num(weight), 0) + 0.01 * vmax, k, text, va="center", fontsize=9)
    ax.spines[["top", "right"]].set_visible(False)


def written(prompt: str, characters: Sequence[str], cursor: int, probs: Values, raw: Values,
            vocab: Sequence[str], title: str = "") -> Picture:
    """A text that was written after a prompt, and the likeliest characters at the cursor and all others, `probs` [vocab_size].

    cursor: which of the characters is marked, its bar orange; those after it are grey. vocab: what the columns of probs stand for.
    raw: what `probs` was before temperature and top-p, [vocab_size]; a black line at each bar.
    """
    lines, columns, rows, advance = [[]], 46, 15, 6                        # 6 points are whole pixels on any screen
    picture = Picture(7.8, 3.5, f"After the prompt {prompt!r}: {''.join(characters[:cursor])!r}, and next "
                                   f"{characters[cursor]!r}, the likeliest being {vocab[int(as_numpy(probs).argmax())]!r}.")
    picture.set_layout_engine("none")
    ax = picture.add_axes((0.01, 0.02, columns * advance / 72 / 7.8, 0.96), xlim=(0, columns), ylim=(rows, 0))
    ax.axis("off")
    for place, (before, character) in enumerate(itertools.pairwise(["", *prompt, *characters]), -len(prompt)):
        if len(lines[-1]) == columns:
            lines.append([])
        plain = "\n" if before in (" ", "\n") else " \n"                      # a space after a space is seen
        shown = character if character in plain and place != cursor else visible_character(character)
        if shown != "\n":
            lines[-1].append((shown, "#737373" if place > cursor else "black", "bold" if place < 0 else "normal", place == cursor))
        if character == "\n":
            lines.append([])
    marked = next(number for number, line in enumerate(lines) if any(here for *_, here in line))
    first = max(0, min(marked - rows + 4, len(lines) - rows))
    for row, line in enumerate(lines[first:first + rows]):
        column = 0
        for (colour, weight, here), group in itertools.groupby(line, lambda part: part[1:]):
            text = "".join(part[0] for part in group)
            ax.text(column, row + 0.5, text, family="monospace", size=advance / 0.602, color=colour, weight=weight, va="center",
                    parse_math=False, bbox={"facecolor": "#D55E00", "alpha": 0.5, "edgecolor": "none", "pad": 1} if here else None)
            column += len(text)
    probs, raw, drawn = as_numpy(probs), as_numpy(raw), vocab.index(characters[cursor])
    top = sorted({drawn, *(i for i in raw.argsort()[::-1][:11].tolist() if probs[i] + raw[i] >= 0.005)}, key=lambda i: -raw[i])
    bars = picture.add_axes((0.65, 0.14, 0.34, 0.76))
    values, before = (np.append(some[top], some.sum() - some[top].sum()).clip(0) for some in (probs, raw))
    draw_bars(bars, values, [*(visible_character(vocab[i]) for i in top), "all others"], title, names="", label="probability")
    bars.set_ylim(12.5, -0.5)                                              # as many places as there are bars at most
    bars.patches[top.index(drawn)].set_color("#D55E00")
    bars.vlines(before, np.arange(len(before)) - 0.5, np.arange(len(before)) + 0.5, color="black", linewidth=1.5)
    for number, end in zip(bars.texts, np.maximum(values, before)):
        number.set_x(end + 0.01)
    bars.title.set(fontsize=9, ha="right", x=1)
    return picture


def visible_character(character: str) -> str:
    """A sign for a space, for the end of a line and for control characters; any other character as it is."""
    return {" ": "␣", "\n": "↵"}.get(character, character if character.isprintable() else "·")


def draw_links(ax: Axes, weights: Values, query: int, key: int, query_tokens: Sequence, key_tokens: Sequence,
               title: str = "", vmax: float = 1.0) -> None:
    """Draw queries left, keys right, and between them lines as strong as the weights.

    The lines of `query` are purple, and the one to `key` orange-red; hidden cells and weights below vmax / 100 have none.
    """
    strength = np.clip(np.nan_to_num(as_numpy(weights)) / vmax, 0, 1)
    queries, keys = (strength >= 0.01).nonzero()
    last = np.argsort(queries == query, kind="stable")       # the query's lines lie above the others
    queries, keys = queries[last], keys[last]
    part, chosen = strength[queries, keys], queries == query
    colors = np.where(chosen & (keys == key), "#D55E00", np.where(chosen, "#A9558A", "#7A9B92"))
    if len(part):                                            # matplotlib takes no empty alpha
        ax.add_collection(LineCollection([[(0, q), (1, k)] for q, k in zip(queries, keys)], colors=colors,
                                         linewidths=0.4 + 3 * part, alpha=0.08 + 0.92 * part))
    sides = ((query_tokens, query, -0.03, "right", QUERY, "queries"), (key_tokens, key, 1.03, "left", KEY, "keys"))
    for tokens, one, x, side, color, name in sides:
        for i, token in enumerate(tokens):
            ax.text(x, i, token, ha=side, va="center", fontsize=9, weight="bold" if i == one else "normal", parse_math=False)
        ax.text(x, -1.2, name, ha=side, va="center", color=color, weight="bold")
    ax.set(xlim=(-0.5, 1.5), ylim=(max(strength.shape) - 0.4, -1.8))
    ax.set_title(title, parse_math=False)
    ax.axis("off")


def broadcast_mask(mask: Values, shape: tuple[int, ...]) -> np.ndarray:
    """The mask as an array of `shape`; TypeError unless it is boolean, ValueError unless it broadcasts to `shape`."""
    mask = as_numpy(mask)
    if mask.dtype != bool:
        raise TypeError(f"the mask is {mask.dtype}: it needs to be boolean, True where a query may look")
    try:
        return np.broadcast_to(mask, shape)
    except ValueError:
        raise ValueError(f"the mask has shape {list(mask.shape)}: it needs to broadcast to the map, {list(shape)}") from None


def visible(weights: Values, mask: Values | None) -> tuple[np.ndarray, np.ndarray]:
    """A map as an array, and which of its cells are hidden: by the mask, or as NaN."""
    values = as_numpy(weights)
    if values.ndim != 2 or not values.size:
        raise ValueError(f"a map needs two axes, [T_q, T_k], and a cell, but this tensor has shape {list(values.shape)}")
    hidden = np.isnan(values)
    return values, hidden if mask is None else hidden | ~broadcast_mask(mask, values.shape)


def strokes_through(hidden: np.ndarray) -> list:
    """A diagonal through every hidden cell, since not everyone can tell grey from a colour; none where cells are dots."""
    if hidden.size > MOST_STROKES:
        return []
    return [[(k - 0.4, q + 0.4), (k + 0.4, q - 0.4)] for q, k in zip(*hidden.nonzero())]


def label_axis(axis, tokens: Sequence | None, size: int, title: str) -> None:
    """Label one axis of a map with its tokens, or with every few of them where there are many."""
    if tokens is not None and len(tokens) != size:
        what = "key_tokens" if axis.axis_name == "x" or title == "keys" else "query_tokens"
        raise ValueError(f"{len(tokens)} {what} for {size} {title}: each needs one label")
    if tokens is None:
        tokens, most = range(size), 11
    else:                                                    # single characters stand closer
        most = MOST_TICKS if max(map(len, map(str, tokens)), default=0) > 1 else 2 * MOST_TICKS
    ticks = range(0, size, -(-size // most))
    labels = [str(tokens[i]) for i in ticks]
    room = axis.axes.get_window_extent().width / size * 72 / axis.get_figure().dpi          # for one column, in points
    crowded = axis.axis_name == "x" and not isinstance(tokens, range) and max(map(len, labels)) > max(1, room / 7.5)
    axis.set_ticks(ticks, labels, fontsize=9, rotation=90 if crowded else 0, parse_math=False)
    axis.set_label_text(title, color={"queries": QUERY, "keys": KEY}.get(title, "black"), weight="bold")
    axis.set_tick_params(length=0)


def largest_weights(maps: Mapping[str, Values], query_tokens: Sequence | None = None,
                    key_tokens: Sequence | None = None, most: int = 8) -> str:
    """In words, the key with the largest weight of each query, for the first `most` queries of each map."""
    said = []
    for title, weights in maps.items():
        rows = []
        for q, row in enumerate(np.nan_to_num(as_numpy(weights))[:most]):
            k = int(row.argmax())
            largest = f"{k if key_tokens is None else key_tokens[k]} ({row[k]:.2f})" if row.any() else "nothing"
            rows.append(f"{q if query_tokens is None else query_tokens[q]} to {largest}")
        said.append(f"{title or 'Attention'}: each query's largest: {', '.join(rows)}")
    return ". ".join(said)


def lines(series: Mapping[str, tuple], xlabel: str, ylabel: str, title: str = "", alt: str = "",
          points: tuple | None = None, log: str = "", styles: Sequence[tuple] = LINE_STYLES) -> Picture:
    """A picture of curves. The arguments are those of `draw_lines`."""
    picture, ax = panels(6.4, 3.4, alt=alt)
    draw_lines(ax, series, xlabel, ylabel, title, points, log, styles)
    return picture


def draw_lines(ax: Axes, series: Mapping[str, tuple], xlabel: str, ylabel: str, title: str = "",
               points: tuple | None = None, log: str = "", styles: Sequence[tuple] = LINE_STYLES) -> list[Line2D]:
    """Draw curves, each with its own colour and dashes, or with the (colour, dashes, marker) that `styles` has for it.

    series: from labels to (x, y), at most as many as styles. points: (x, y) of dots drawn beneath. log: "x", "y" or "xy".
    Returns the drawn artists, dots first, for a lab to move. Raises ValueError for no curve, and for more than that.
    """
    if not 1 <= len(series) <= len(styles):
        raise ValueError(f"{len(series)} curves: one picture can tell {len(styles)} apart, and needs one")
    artists = []
    if points is not None:
        artists += ax.plot(*map(as_numpy, points), "o", color=VALUE, alpha=0.6, markersize=4, label="data")
    for (label, (x, y)), (color, dash, marker) in zip(series.items(), styles):
        artists += ax.plot(as_numpy(x), as_numpy(y), color=color, linestyle=dash, linewidth=2, label=label,
                           marker=marker if len(x) <= 10 else None)
    ax.set(xlabel=xlabel, ylabel=ylabel, title=title)
    if "x" in log:
        ax.set_xscale("log", base=2)
        ax.xaxis.set_major_formatter("{x:g}")
    if "y" in log:
        ax.set_yscale("log")
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.yaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_minor_formatter("")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.25)
    if len(artists) > 3:                                     # beside the curves: no corner is free of so many
        ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    elif len(artists) > 1:
        ax.legend(framealpha=0.8, edgecolor="white")
    return artists


def histograms(groups: Mapping[str, Values], xlabel: str, alt: str) -> Picture:
    """A picture of how values are spread: for each group `[N]` 20 bins on a log axis from 1e-4, with all below, to 1."""
    if not groups or not all(map(len, groups.values())):
        raise ValueError(f"groups of {list(map(len, groups.values()))} values: at least one group is needed, and a value in each")
    rows = math.ceil(len(groups) / 2)
    picture, axes = panels(6.4, 2 * rows, rows, 2, alt, sharey=True, squeeze=False)
    for ax in axes.flat[len(groups):]:
        ax.set_visible(False)
    for ax, (name, values) in zip(axes.flat, groups.items()):
        values = as_numpy(values).astype(float).clip(1e-4, 1)
        ax.hist(values, np.geomspace(1e-4, 1, 21), weights=np.full(len(values), 1 / len(values)), color=PAPER_TO_INK[2])
        ax.set(title=name, xlabel=xlabel, xlim=(1e-4, 1), xscale="log")
        ax.spines[["top", "right"]].set_visible(False)
    for ax in axes[:, 0]:
        ax.set_ylabel("share")
    return picture


def draw_plane(ax: Axes, keys: Values, names: Iterable[str], reach: float = 4) -> Line2D:
    """Draw named keys, `[T_k, 2]`, as arrows in a plane; return the query's line, for a lab to move."""
    arrow = {"arrowstyle": "-|>", "color": KEY, "linewidth": 2.5, "shrinkB": 0}
    for (x, y), name in zip(as_numpy(keys), names, strict=True):
        ax.annotate("", (x, y), (0, 0), arrowprops=arrow)
        length = math.hypot(x, y) or 1.0
        ax.text(x + 0.35 * x / length, y + 0.35 * y / length, name, weight="bold", ha="center", va="center")
    query, = ax.plot([0, 1], [0, 1], "o-", color=QUERY, linewidth=3, markersize=11, markevery=[1], label="query: drag it")
    ax.plot([], [], color=KEY, linewidth=2.5, label="keys")
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", xlabel="x", ylabel="y")
    ax.grid(alpha=0.25)
    ax.legend(frameon=False, loc="lower right")
    return query


def draw_clock(ax: Axes) -> tuple[Line2D, Line2D]:
    """Draw a clock with two hands of length 1: a query's and a key's, for a lab to move by `set_data`."""
    ax.add_patch(Circle((0, 0), 1.15, fill=False, edgecolor=STROKE))
    key, = ax.plot([0, 1], [0, 0], "--s", color=KEY, linewidth=3, markersize=9, markevery=[1])
    query, = ax.plot([0, 1], [0, 0], "-o", color=QUERY, linewidth=3, markersize=9, markevery=[1])
    ax.set(xlim=(-1.3, 1.3), ylim=(-1.3, 1.3), aspect="equal")
    ax.set_axis_off()
    return query, key


def draw_pairs(ax: Axes, names: Sequence[str], *labels: str) -> list[BarContainer]:
    """Draw two groups of bars of height 0, a pair for each name; return both groups, for a lab to move."""
    looks = ({"color": PAPER_TO_INK[2]}, {"color": "#B9B9B9", "hatch": "//"})
    places = np.arange(len(names))
    groups = [ax.bar(places + offset, 0 * places, 0.38, label=label, edgecolor="white", **look)
              for label, offset, look in zip(labels, (-0.2, 0.2), looks, strict=True)]
    ax.set_xticks(places, names, weight="bold")
    ax.set(ylim=(0, 1.15), ylabel="weight", xlabel="keys")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="upper right", ncols=2)
    return groups


def draw_columns(ax: Axes, size: int, title: str, limits: tuple[float, float]) -> BarContainer:
    """Draw bars of height 0, one for each key; return them, for a lab to move."""
    bars = ax.bar(range(size), [0] * size, color="#009E73")
    ax.set(ylim=limits, xlabel="keys", title=title, xticks=range(size))
    ax.axhline(0, color="#555555", linewidth=0.8)
    ax.spines[["top", "right"]].set_visible(False)
    return bars


def chinese_labels(tokens: Iterable[str], readings: Iterable[str]) -> list[str]:
    """Labels such as "天 tiān" where one font has the Chinese characters of all tokens, else "tiān".

    readings: how each token is read, in letters that every font has.
    The first call that finds a font adds it to matplotlib's `font.family`, for what the usual font lacks.
    Raises ValueError where there are not as many readings as tokens.
    """
    tokens, readings = list(tokens), list(readings)
    if len(tokens) != len(readings):
        raise ValueError(f"{len(readings)} readings for {len(tokens)} tokens: each token needs one")
    characters = frozenset("".join(token for token in tokens if not token.isascii()))
    font = chinese_font(characters) if characters else None
    if font is None:
        return readings
    matplotlib.rcParams["font.family"] = list(dict.fromkeys([*matplotlib.rcParams["font.family"], font]))
    return [reading if token.isascii() else f"{token} {reading}" for token, reading in zip(tokens, readings)]


@functools.cache
def chinese_font(characters: frozenset[str]) -> str | None:
    """The name of an installed font with all these characters, a regular one if possible, or None."""
    def rank(font):
        return font.style != "normal", str(font.weight) not in ("400", "normal", "regular"), font.name

    needed = set(map(ord, characters))
    for font in sorted(fontManager.ttflist, key=rank):
        if not BOXES.search(font.name) and needed <= characters_of(font.fname):
            return font.name


@functools.cache
def characters_of(file: str) -> frozenset[int]:
    """The codes of the characters that a font file has; none for a file that cannot be read."""
    try:
        return frozenset(FT2Font(file).get_charmap())
    except (OSError, RuntimeError):
        return frozenset()
