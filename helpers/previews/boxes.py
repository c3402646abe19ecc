"""Boxes and arrows, of which several previews are made."""
from matplotlib.patches import FancyBboxPatch


def draw_box(ax, x, y, text, color="white", width=0.92, height=0.6, **style):
    """A box with rounded corners and a text, both centred on (x, y), in the units of the axes; style: of the text."""
    ax.add_patch(FancyBboxPatch((x - width / 2, y - height / 2), width, height, facecolor=color, edgecolor="#777777", linewidth=0.8,
                                boxstyle="round,pad=0,rounding_size=0.08"))
    ax.text(x, y, text, ha="center", va="center", fontsize=9, **style)


def draw_arrow(ax, start, end, color="#999999"):
    """An arrow from one point to another."""
    ax.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": color})
