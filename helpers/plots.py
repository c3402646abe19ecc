"""Every static picture of the course: maps of weights, curves, and what the labs draw into.

Functions that begin with `draw_` draw into axes that are there; the others return a whole `Picture`.
Rows of a map are queries, columns are keys.
"""
import base64
import functools
import io
import math

import matplotlib
import numpy as np
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager
from matplotlib.ft2font import FT2Font
from matplotlib.patches import Rectangle
from matplotlib.ticker import ScalarFormatter
from PIL import Image

QUERY, KEY, VALUE = "#CC79A7", "#E69F00", "#0072B2"                    # the same in every figure of the course
LINE_STYLES = [("#000000", "-"), ("#D55E00", "--"), ("#009E73", "-."), ("#56B4E9", ":"), ("#7F7F7F", (0, (5, 1, 1, 1)))]
MASKED = "#D9D9D9"
PAPER_TO_INK = ("#FFFFFF", "#9FD8C4", "#009E73", "#003D2D")            # zero is paper; lightness falls all the way
WEIGHTS = LinearSegmentedColormap.from_list("weights", PAPER_TO_INK).with_extremes(bad=MASKED)
SIGNED = LinearSegmentedColormap.from_list("signed", ("#B35806", "#FFFFFF", "#542788")).with_extremes(bad=MASKED)
MOST_TICKS = 20
AXES = ("queries", "keys")                                             # rows and columns of a map
MARKERS = "osD^v"
BOXES = ("lastresort", "fallback", "tofu", "notdef")         # fonts that draw a box, or a code, for every character
DOTS_PER_INCH, CSS_PIXELS_PER_INCH = 144, 96


class Picture(Figure):
    """A figure of `width` x `height` inches with `alt`, a text for those who cannot see it.

    pyplot does not know it: there is nothing to close, and it is shown once.
    """

    def __init__(self, width, height, alt=""):
        super().__init__(figsize=(width, height), dpi=DOTS_PER_INCH, layout="constrained")
        FigureCanvasAgg(self)
        self.alt = alt

    def _repr_mimebundle_(self, include=None, exclude=None):
        self.canvas.draw()
        return self.as_shown()

    def as_shown(self):
        """The pixels that are on the canvas now, and in words what is to be seen, for a notebook."""
        width, height = self.get_size_inches() * CSS_PIXELS_PER_INCH
        data = {"image/png": base64.b64encode(png(self.canvas, small=True)).decode(), "text/plain": f"Picture: {self.alt}"}
        return data, {"image/png": {"alt": self.alt, "width": round(width), "height": round(height)}}


def png(canvas, small=False):
    """The pixels of an Agg canvas as PNG bytes: quickly, or small enough to keep in a notebook."""
    pixels = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    buffer = io.BytesIO()
    if small:
        pixels.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(buffer, "png", optimize=True)
    else:
        pixels.save(buffer, "png", compress_level=1)
    return buffer.getvalue()


def panels(width, height, rows=1, columns=1, alt="", **options):
    """An empty picture and its axes: one, or an array of rows x columns."""
    picture = Picture(width, height, alt)
    return picture, picture.subplots(rows, columns, **options)


def as_numpy(values):
    """A tensor, on whatever device and of whatever dtype, or anything that numpy takes, as an array."""
    if isinstance(values, torch.Tensor):
        values = values.detach().cpu()
        values = values if values.dtype == torch.bool else values.float()
    return np.asarray(values)


def broadcast_mask(mask, shape):
    """The mask as an array of `shape`, True = may look; raise unless it is boolean and fits."""
    mask = as_numpy(mask)
    if mask.dtype != bool:
        raise TypeError(f"the mask is {mask.dtype}: it needs to be boolean, True where a query may look")
    try:
        return np.broadcast_to(mask, shape)
    except ValueError:
        raise ValueError(f"the mask has shape {list(mask.shape)}: it needs to broadcast to the map, {list(shape)}") from None


def beside(live, still, text):
    """Put a PNG and a stable text beside the live view, for pages without a kernel and for the strict check."""
    data, metadata = live if isinstance(live, tuple) else (live, {})
    return data | still[0] | {"text/plain": text}, metadata | still[1]


def heatmap(weights, query_tokens=None, key_tokens=None, mask=None, title="", **options):
    """A picture of one map, `[T_q, T_k]`. The arguments are those of `heatmaps`."""
    return heatmaps({title: weights}, query_tokens, key_tokens, mask, **options)


def heatmaps(maps, query_tokens=None, key_tokens=None, mask=None, vmax=1.0, signed=False, label=None, alt="", names=AXES):
    """Maps side by side on one scale, with one colour bar.

    maps: a dictionary from titles to tensors `[T_q, T_k]`, all of one shape. mask: `[T_q, T_k]`, True = may look; hidden cells
    are grey and struck through. vmax: the end of the scale, which starts at 0, or at -vmax if `signed`.
    label: what the colour bar measures, "weight" if not given. alt: if not given, it says where each query looks most.
    names: of the rows and the columns, where they are not queries and keys.
    Raises ValueError for maps that are not two-dimensional, and for labels or a mask that do not fit.
    """
    first = visible(next(iter(maps.values())), mask)[0]
    width = min(9.2, min(4.6, max(2.2, 0.36 * first.shape[-1] + 0.9)) * len(maps) + 0.8)
    cell = (width - 0.8) / len(maps) / (first.shape[-1] + 2)
    height = min(6.5, max(1.9, cell * first.shape[-2] + 1.1))
    picture, axes = panels(width, height, 1, len(maps), squeeze=False)
    for ax, (title, weights) in zip(axes[0], maps.items()):
        image = draw_map(ax, weights, query_tokens, key_tokens, mask, vmax, signed, names=names)
        ax.set_title(title)
        if ax is not axes[0, 0]:
            ax.set(ylabel="", yticks=[])
    picture.alt = alt or describe(maps, query_tokens, key_tokens)
    picture.colorbar(image, ax=axes[0], label=label or ("weight" if not signed else "score"), shrink=0.9, pad=0.02)
    return picture


def draw_map(ax, weights, query_tokens=None, key_tokens=None, mask=None, vmax=1.0, signed=False, numbers=True, names=AXES):
    """Draw one map into `ax`, with its numbers in the cells if it is small; return the image. See `heatmaps`."""
    values, hidden = visible(weights, mask)
    norm = Normalize(-vmax if signed else 0, vmax)
    image = ax.imshow(np.ma.array(values, mask=hidden), cmap=SIGNED if signed else WEIGHTS, norm=norm, aspect="auto")
    image.strokes = LineCollection(strokes_through(hidden), colors="#8C8C8C", linewidths=1)
    ax.add_collection(image.strokes, autolim=False)
    label_axis(ax.xaxis, key_tokens, values.shape[1], names[1])
    label_axis(ax.yaxis, query_tokens, values.shape[0], names[0])
    if numbers and values.size <= 60:
        write_numbers(ax, values, hidden, vmax)
    return image


def move_map(image, weights, mask=None):
    """Put other weights, and another mask, into a map that `draw_map` drew; `image` and `image.strokes` move."""
    values, hidden = visible(weights, mask)
    image.set_data(np.ma.array(values, mask=hidden))
    image.strokes.set_segments(strokes_through(hidden))


def visible(weights, mask):
    """A map as an array, and which of its cells are hidden: by the mask, or as NaN."""
    values = as_numpy(weights)
    if values.ndim != 2:
        raise ValueError(f"a map needs two axes, [T_q, T_k], but this tensor has shape {list(values.shape)}")
    hidden = np.isnan(values)
    return values, hidden if mask is None else hidden | ~broadcast_mask(mask, values.shape)


def strokes_through(hidden):
    """A diagonal through every hidden cell: grey alone is not a cue for everyone."""
    return [[(k - 0.4, q + 0.4), (k + 0.4, q - 0.4)] for q, k in zip(*hidden.nonzero())]


def write_numbers(ax, values, hidden, vmax):
    """Write each visible cell's number into it, dark on light and light on dark."""
    for (q, k), value in np.ndenumerate(values):
        if not hidden[q, k]:
            ax.text(k, q, f"{value:.2f}", ha="center", va="center", fontsize=9,
                    color="white" if abs(value) > 0.6 * vmax else "black")


def label_axis(axis, tokens, size, title):
    """Label one axis of a map with its tokens, or every few of them where there are many."""
    if tokens is not None and len(tokens) != size:
        what = "key_tokens" if axis.axis_name == "x" or title == "keys" else "query_tokens"
        raise ValueError(f"{len(tokens)} {what} for {size} {title}: each needs one label")
    most = 11 if tokens is None else MOST_TICKS if max(map(len, map(str, tokens)), default=0) > 1 else 2 * MOST_TICKS
    ticks = range(0, size, -(-size // most))                             # single characters stand closer
    labels = [str(i if tokens is None else tokens[i]) for i in ticks]
    room = axis.axes.get_window_extent().width / size                    # for one column, in dots
    crowded = axis.axis_name == "x" and tokens is not None and max(map(len, labels)) > room * 72 / 7.5 / DOTS_PER_INCH
    axis.set_ticks(ticks, labels, fontsize=9, rotation=90 if crowded else 0)
    axis.set_label_text(title, color={"queries": QUERY, "keys": KEY}.get(title, "black"), weight="bold")
    axis.set_tick_params(length=0)


def describe(maps, query_tokens=None, key_tokens=None, most=8):
    """In words, the key that each query looks at most, for the first few queries of each map."""
    def name(tokens, i):
        return str(i if tokens is None else tokens[i])

    def rows(weights):
        for q, row in enumerate(np.nan_to_num(as_numpy(weights))[:most]):
            largest = f"{name(key_tokens, int(row.argmax()))} ({row.max():.2f})" if row.any() else "nothing"
            yield f"{name(query_tokens, q)} to {largest}"

    return ". ".join(f"{title or 'Attention'}: each query's largest: {', '.join(rows(weights))}" for title, weights in maps.items())


def map_and_row(weights, query, key, query_tokens, key_tokens, title="", vmax=1.0):
    """A picture of one map, and beside it the weights of one of its queries as bars."""
    weight = as_numpy(weights)[query, key]
    chosen = f"{query_tokens[query]} to {key_tokens[key]}: " + ("hidden" if np.isnan(weight) else f"{weight:.2f}")
    picture, (left, right) = panels(8.4, min(6.5, max(2.6, 0.3 * len(query_tokens) + 1.2)), 1, 2, width_ratios=[5, 4],
                                    alt=f"{title}: {chosen}. ".removeprefix(": "))
    picture.alt += describe({"": weights}, query_tokens, key_tokens)
    image = draw_map(left, weights, query_tokens, key_tokens, vmax=vmax)
    left.add_patch(Rectangle((key - 0.5, query - 0.5), 1, 1, fill=False, edgecolor="#D55E00", linewidth=2))
    left.set_title(title)
    draw_bars(right, as_numpy(weights)[query], key_tokens, f'query "{query_tokens[query]}"', vmax)
    picture.colorbar(image, ax=left, label="weight")
    return picture


def grid_of_maps(weights, axes, chosen=None, vmax=1.0, labels=None):
    """All maps of `[head, T_q, T_k]` or `[layer, head, T_q, T_k]`, without tokens, one of them framed; labels: a word for each."""
    values = as_numpy(weights)
    columns = values.shape[1] if values.ndim == 4 else math.ceil(math.sqrt(len(values)))
    maps = {index: values[index] for index in np.ndindex(values.shape[:-2])}
    rows = math.ceil(len(maps) / columns)
    side = min(1.7, 8.4 / columns)
    named = labels is not None and any(map(bool, labels.flat))
    picture, grid = panels(columns * side + 0.9, rows * (side + 0.14 * named) + 0.4, rows, columns, squeeze=False,
                           alt=f"All {len(maps)} maps" + (f"; {' '.join(map(str, chosen))} is framed." if chosen else "."))
    for ax in grid.flat[len(maps):]:
        ax.set_visible(False)
    for ax, (index, one) in zip(grid.flat, maps.items()):
        image = ax.imshow(np.ma.masked_invalid(one), cmap=WEIGHTS, vmin=0, vmax=vmax, aspect="auto")
        ax.add_collection(LineCollection(strokes_through(np.isnan(one)), colors="#8C8C8C", linewidths=0.5), autolim=False)
        ax.set(xticks=[], yticks=[])
        where = " ".join(f"{name} {i}" for name, i in zip(axes, index))
        title = where if columns < 7 else ".".join(map(str, index))
        ax.set_title(f"{title}\n{labels[index]}" if named else title, fontsize=9, pad=3 if named else None)
        if chosen and list(index) == list(chosen):
            ax.spines[:].set(edgecolor="#D55E00", linewidth=2.5)
    picture.colorbar(image, ax=grid, label="weight")
    return picture


def draw_bars(ax, row, key_tokens, title="", vmax=1.0):
    """Draw the weights of one query as bars, one a key, from the top down."""
    row = as_numpy(row)
    ax.barh(range(len(row)), np.nan_to_num(row), color="#009E73")
    label_axis(ax.yaxis, key_tokens, len(row), "keys")
    ax.set(xlim=(0, 1.18 * vmax), ylim=(len(row) - 0.5, -0.5), title=title, xlabel="weight")
    if len(row) <= MOST_TICKS:
        for k, weight in enumerate(row):
            text = "hidden" if np.isnan(weight) else f"{weight:.2f}"
            ax.text(np.nan_to_num(weight) + 0.01 * vmax, k, text, va="center", fontsize=9)
    ax.spines[["top", "right"]].set_visible(False)


def lines(series, xlabel, ylabel, title="", alt="", points=None, log=""):
    """A picture of curves. The arguments are those of `draw_lines`."""
    picture, ax = panels(6.4, 3.4, alt=alt)
    draw_lines(ax, series, xlabel, ylabel, title, points, log)
    return picture


def draw_lines(ax, series, xlabel, ylabel, title="", points=None, log=""):
    """Draw curves, each with a colour and a dash of its own, into `ax`.

    series: a dictionary from labels to (x, y), at most five. points: (x, y) of dots drawn beneath. log: "x", "y" or "xy".
    Returns the drawn artists, dots first, for a lab to move.
    """
    artists = []
    if points is not None:
        artists += ax.plot(*map(as_numpy, points), "o", color="#777777", markersize=4, label="data")
    for (label, (x, y)), (color, dash), marker in zip(series.items(), LINE_STYLES, MARKERS, strict=False):
        marker = marker if len(x) <= 10 else None
        artists += ax.plot(as_numpy(x), as_numpy(y), color=color, linestyle=dash, marker=marker, linewidth=2, label=label)
    ax.set(xlabel=xlabel, ylabel=ylabel, title=title)
    if "x" in log:
        ax.set_xscale("log", base=2)
        ax.xaxis.set_major_formatter(ScalarFormatter())
    if "y" in log:
        ax.set_yscale("log")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.25)
    if len(artists) > 3:                                                  # beside the curves: no corner is free of so many
        ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    elif len(artists) > 1:
        ax.legend(framealpha=0.8, edgecolor="white")
    return artists


def draw_weighted_points(ax, query, key, value, weights, output):
    """Draw one query among points: the larger and darker a point, the more its value counts in the output."""
    weights = as_numpy(weights)
    share = weights / max(weights.max(), 1e-12)                          # no key may be in reach
    ax.scatter(as_numpy(key), as_numpy(value), s=15 + 90 * share, c=share, cmap=WEIGHTS, vmin=-0.15, edgecolors="#555555",
               linewidths=0.6, label="a point: its x is the key, its y the value")
    ax.axvline(float(query), color=QUERY, linewidth=2, linestyle=":", label="the query")
    ax.plot(float(query), float(output), "D", color="#D55E00", markersize=10, label="the output, a weighted average")
    ax.set(xlabel="x", ylabel="y")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(framealpha=1, edgecolor="white", loc="upper right")


def draw_plane(ax, keys, names, reach=4):
    """Draw named keys as arrows in a plane; return the query's line from the origin, for a lab to move."""
    for (x, y), name in zip(as_numpy(keys), names, strict=True):
        ax.annotate("", (x, y), (0, 0), arrowprops={"arrowstyle": "-|>", "color": KEY, "linewidth": 2.5, "shrinkB": 0})
        length = math.hypot(x, y)
        ax.text(x + 0.35 * x / length, y + 0.35 * y / length, name, weight="bold", ha="center", va="center")
    query, = ax.plot([0, 1], [0, 1], "o-", color=QUERY, linewidth=3, markersize=11, markevery=[1], label="query: drag it")
    ax.plot([], [], color=KEY, linewidth=2.5, label="keys")
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", xlabel="x", ylabel="y")
    ax.grid(alpha=0.25)
    ax.legend(frameon=False, loc="lower right")
    return query


def draw_pairs(ax, names, *labels):
    """Draw two groups of bars of height 0, a pair a name; return both, for a lab to move."""
    looks = ({"color": "#009E73"}, {"color": "#56B4E9", "hatch": "//"})
    groups = [ax.bar([i + offset for i in range(len(names))], [0] * len(names), 0.38, label=label, edgecolor="white", **look)
              for label, offset, look in zip(labels, (-0.2, 0.2), looks, strict=True)]
    ax.set_xticks(range(len(names)), names, weight="bold")
    ax.set(ylim=(0, 1.15), ylabel="weight", xlabel="keys")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="upper right", ncols=2)
    return groups


def draw_columns(ax, size, title, limits):
    """Draw bars of height 0, one a key; return them, for a lab to move."""
    bars = ax.bar(range(size), [0] * size, color="#009E73")
    ax.set(ylim=limits, xlabel="keys", title=title, xticks=range(size))
    ax.axhline(0, color="#555555", linewidth=0.8)
    ax.spines[["top", "right"]].set_visible(False)
    return bars


def chinese_labels(tokens, readings):
    """Labels for a picture: "天 tiān" where a font of this machine has the Chinese characters of all tokens, else "tiān".

    readings: how each token is read, in letters that every font has. The first call that finds a font adds it to
    matplotlib's `font.family`: every later picture then asks it for what the usual font lacks.
    """
    tokens, readings = list(tokens), list(readings)
    font = chinese_font(frozenset("".join(token for token in tokens if not token.isascii())))
    if font is None:
        return readings
    families = matplotlib.rcParams["font.family"]
    if font not in families:
        matplotlib.rcParams["font.family"] = [*families, font]
    return [reading if token.isascii() else f"{token} {reading}" for token, reading in zip(tokens, readings, strict=True)]


@functools.cache
def chinese_font(characters):
    """The family name of an installed font with every one of these characters, the most regular; None if there is none."""
    needed = set(map(ord, characters))
    usable = [entry for entry in fontManager.ttflist if not any(box in entry.name.lower().replace(" ", "") for box in BOXES)]
    regular = ("400", "normal", "regular")
    regular_first = sorted(usable, key=lambda entry: (entry.style != "normal", str(entry.weight) not in regular, entry.name))
    return next((entry.name for entry in regular_first if needed <= characters_of(entry.fname)), None)


@functools.cache
def characters_of(file):
    """The codes of the characters that a font file has; none for a file that cannot be read."""
    try:
        return frozenset(FT2Font(file).get_charmap())
    except (OSError, RuntimeError):
        return frozenset()
