"""Lessons 0 to 3, 5 and 6: attention, and what it is made of."""
import torch
from matplotlib.patches import FancyBboxPatch

from helpers import figures
from helpers.attention import MultiHeadAttention
from helpers.kernels import nadaraya_watson
from helpers.masks import causal_mask, masked_softmax, padding_mask
from helpers.positions import sinusoids
from helpers.recording import record
from helpers.training import train


def lesson_00():
    """One query among four keys: what it gets is a weighted average of their values."""
    keys, values = ["sunday", "november", "30", "1997"], ["a Sunday", "month 11", "day 30", "year 97"]
    weights, place, aside = [0.03, 0.90, 0.05, 0.02], [0.26, 0.48, 0.70, 0.92], [-0.04, -0.07, 0.04, 0.04]
    picture, ax = figures.panels(9.2, 3.7, alt=(
        "Above, a query: which month? From it a line to each of four keys, sunday, november, 30 and 1997, the thicker the greater "
        "the weight: november has 0.90. Under each key is its value, and all values together, weighted, give the output: 11."))
    ax.set(xlim=(0, 1.02), ylim=(-0.05, 1.05))
    ax.axis("off")

    def box(x, y, text, color, width=0.17):
        ax.add_patch(FancyBboxPatch((x - width / 2, y - 0.06), width, 0.12, boxstyle="round,pad=0.01", facecolor="white",
                                    edgecolor=color, linewidth=2))
        ax.text(x, y, text, ha="center", va="center")

    for x, y, name, color in ((0.0, 0.95, "query", figures.QUERY), (0.0, 0.52, "keys", figures.KEY),
                              (0.0, 0.31, "values", figures.VALUE), (0.0, 0.03, "output", "black")):
        ax.text(x, y, name, color=color, weight="bold", va="center")
    for x, key, value, weight, beside in zip(place, keys, values, weights, aside):
        ax.plot([0.59, x], [0.95, 0.52], zorder=0, color=figures.QUERY, linewidth=1 + 12 * weight, solid_capstyle="butt")
        ax.plot([x, 0.59], [0.31, 0.03], zorder=0, color=figures.VALUE, linewidth=1 + 12 * weight, solid_capstyle="butt")
        ax.text(x + beside, 0.64, f"{weight:.2f}", ha="center", weight="bold")
        box(x, 0.52, key, figures.KEY)
        box(x, 0.31, value, figures.VALUE)
    box(0.59, 0.95, "which month?", figures.QUERY)
    box(0.59, 0.03, "month 11, and a trace of the rest", "black", 0.34)
    return picture


def lesson_01():
    """One query among noisy points, and the map of weights of many queries."""
    generator = torch.Generator().manual_seed(0)
    x = (5 * torch.rand(50, generator=generator)).sort().values
    y = 2 * x.sin() + x**0.8 + 0.5 * torch.randn(50, generator=generator)
    queries = torch.linspace(0, 5, 51)
    output, weights = nadaraya_watson(queries, x, y, width=0.25)
    picture, (left, right) = figures.panels(9.2, 3.8, 1, 2, width_ratios=[3, 2], alt=(
        "Left: fifty noisy points and one query at x = 2; the points near it are large and dark, and their average is marked. "
        "Right: the weights of 51 queries as a map, dark along the diagonal."))
    figures.draw_weighted_points(left, queries[20], x, y, weights[20], output[20])
    left.set_ylim(-0.5, 7)
    image = figures.draw_map(right, weights, vmax=0.2)
    right.axhline(20, color=figures.QUERY, linewidth=2, linestyle=":")
    picture.colorbar(image, ax=right, label="weight (the scale ends at 0.2)")
    return picture


def lesson_02():
    """How widely attention spreads, and how much it can still learn, with and without the root of d."""
    sizes, generator = [2**i for i in range(2, 11)], torch.Generator().manual_seed(0)
    spread, slope = {1: [], 2: []}, {1: [], 2: []}
    for d in sizes:
        scores = (torch.randn(500, 10, d, generator=generator) @ torch.randn(500, d, 1, generator=generator)).squeeze(-1)
        for root, divisor in ((1, 1), (2, d**0.5)):
            weights = (scores / divisor).softmax(-1)
            slopes = torch.diag_embed(weights) - weights.unsqueeze(-1) * weights.unsqueeze(-2)
            spread[root].append(-(weights * weights.clamp(min=1e-30).log()).sum(-1).mean())
            slope[root].append(slopes.square().sum((1, 2)).sqrt().mean())
    picture, axes = figures.panels(9.2, 3.4, 1, 2, alt=(
        "Left: the entropy of a row of weights falls to nearly 0 as d grows, but stays level when divided by the root. "
        "Right: the gradient of the softmax falls to nearly 0, but stays level when divided by the root."))
    for ax, values, title in zip(axes, (spread, slope), ("entropy: how widely it looks", "gradient: how much it can learn")):
        figures.draw_lines(ax, {"q.k": (sizes, values[1]), "q.k / sqrt(d)": (sizes, values[2])}, "d", "", title, log="x")
        ax.set_ylim(0)
    return picture


def lesson_03():
    """One map of weights without a mask, with a padding mask, with a causal mask, and with both."""
    words = ["the", "cat", "sleeps", "<pad>", "<pad>"]
    scores = 1.5 * torch.randn(5, 5, generator=torch.Generator().manual_seed(3))
    padding = padding_mask(torch.tensor([3]), 5)[0].expand(5, 5)
    masks = {"no mask": padding | True, "padding": padding, "causal": causal_mask(5), "both": padding & causal_mask(5)}
    picture, axes = figures.panels(9.2, 2.9, 1, 4, alt=(
        "Four maps of the same scores. Without a mask every cell is visible; the padding mask hides the last two columns, "
        "the causal mask all above the diagonal, and both together leave a triangle of the first three columns."))
    for ax, (title, mask) in zip(axes, masks.items()):
        image = figures.draw_map(ax, masked_softmax(scores, mask), words, words, mask, numbers=False)
        ax.set_title(title)
        ax.set_ylabel("queries" if ax is axes[0] else "")
    picture.colorbar(image, ax=axes, label="weight")
    return picture


def lesson_05():
    """The two heads of a model that learned to report the neighbours of each position, one map each."""
    torch.manual_seed(0)
    place, model = 2 * torch.eye(8).expand(64, 8, 8), MultiHeadAttention(16, 2)

    def batch():
        numbers = torch.randn(64, 8, 4)
        return torch.cat([numbers, torch.zeros(64, 8, 4), place], -1), torch.cat([numbers.roll(1, 1), numbers.roll(-1, 1)], -1)

    train(model, [batch() for _ in range(300)], lambda model, x, y: ((model(x, x, x)[..., :8] - y) ** 2).mean(), lr=1e-2)
    with record(model) as seen:
        model(*[batch()[0][:1]] * 3)
    maps = {f"head {h}": weights for h, weights in enumerate(seen["attention_weights"][0][0])}
    return figures.heatmaps(maps, alt="Two maps: in one each place looks at the place before it, in the other at the place after.")


def lesson_06():
    """The table of sines and cosines, and how alike its rows are."""
    table = sinusoids(32, 64)
    picture, (left, right) = figures.panels(9.2, 4.0, 1, 2, alt=(
        "Left: the table of 32 places, waves that are fast in the first columns and slow in the last. "
        "Right: dot products of its rows, largest on the diagonal and falling with distance."))
    image = figures.draw_map(left, table, signed=True, names=("places", "columns"))
    left.set(title="sines and cosines")
    picture.colorbar(image, ax=left, label="value")
    image = figures.draw_map(right, table @ table.T / 32, signed=True, names=("places", "places"))
    right.set(title="how alike")
    picture.colorbar(image, ax=right, label="dot product, relative")
    return picture
