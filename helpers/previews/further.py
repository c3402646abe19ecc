"""Lesson 16: what attention costs, and how processes share a batch."""
from helpers import figures
from helpers.previews.boxes import draw_arrow, draw_box


def lesson_16():
    """What a layer of BERT-base keeps for the way back, by length; and two processes that share a batch."""
    picture, (left, right) = figures.panels(9.2, 3.6, 1, 2, width_ratios=[4, 5], alt=(
        "Left: the memory that one layer keeps for one text, against its length: with the table of weights a curve that bends up, "
        "without it a straight line below. Right: a batch of four rows; two processes take two rows each, each with a copy of the "
        "model; their gradients are averaged, and both take the same step."))
    lengths = range(0, 4097, 256)
    series = {"with the table": (lengths, [T * (16 * 768 + 4 + 12 * T) * 4e-9 for T in lengths]),
              "without it": (lengths, [T * (16 * 768 + 4 + 12) * 4e-9 for T in lengths])}
    figures.draw_lines(left, series, "words", "GB kept, one layer, one text")
    right.set(xlim=(0, 10), ylim=(-0.2, 5.6))
    right.axis("off")

    for row, x in enumerate((2, 4, 6, 8)):
        color, center = ("#BFE3F5", "#9FD8C4")[row % 2], (2.5, 7.5)[row % 2]
        draw_box(right, x, 5.1, f"row {row}", color, 1.7, 0.7)
        draw_arrow(right, (x, 4.72), (center + (x - center) / 4, 3.95))
    for rank, (x, color) in enumerate(((2.5, "#BFE3F5"), (7.5, "#9FD8C4"))):
        draw_box(right, x, 3.35, f"process {rank}:\nmodel, its gradients", color, 4, 1.1)
        draw_arrow(right, (x, 2.77), (5 + (x - 5) / 2, 2.2))
        draw_arrow(right, (5 + (x - 5) / 2, 1.4), (x, 0.83))
        draw_box(right, x, 0.4, "the same step", color, 4, 0.7)
    draw_box(right, 5, 1.8, "the average of all gradients", "white", 5.5, 0.7)
    return picture
