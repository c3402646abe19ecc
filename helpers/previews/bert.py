"""Lessons from 12 on: BERT."""
import textwrap

from helpers import figures
from helpers.checkpoints import load_bert, load_tokenizer
from helpers.hub import fetch_bert
from helpers.inside import maps_of, sentence_vectors
from helpers.loading import SHIPPED
from helpers.masking import fill_gaps
from helpers.previews.boxes import draw_arrow, draw_box

SEGMENTS = ("#BFE3F5", "#9FD8C4")                                      # of the first text, of the second


def lesson_12():
    """Two sentences as BERT reads them, from their pieces to the answers of its two heads."""
    first, second = "[CLS] she turn ##ed the [MASK] [SEP]".split(), "the door un ##lock ##ed [SEP]".split()
    pieces, T = first + second, len(first + second)
    picture, ax = figures.panels(9.2, 4.4, alt=(
        "From the bottom up: two sentences in pieces, between [CLS] and [SEP]; under each piece its segment, 0 or 1, and its "
        "position. The three are added and normalised, and go through the layers, where every piece looks at every piece. On top, "
        "the vector of [CLS] answers whether the second sentence follows, and that of [MASK] which word was hidden: key."))
    ax.set(xlim=(-1.6, T - 0.3), ylim=(-0.6, 6.75))
    ax.axis("off")

    for y, name in ((1.9, "pieces"), (0.95, "segments"), (0, "positions")):
        ax.text(-0.7, y, name, ha="right", va="center", weight="bold")
        if y:
            ax.text((T - 1) / 2, y - 0.475, "+", ha="center", va="center")
    for t, piece in enumerate(pieces):
        segment = int(t >= len(first))
        for y, text in ((1.9, piece), (0.95, segment), (0, t)):
            draw_box(ax, t, y, text, SEGMENTS[segment] if y else "white")
        used = piece in ("[CLS]", "[MASK]")
        draw_arrow(ax, (t, 2.25), (t, 2.65))
        draw_arrow(ax, (t, 4.3), (t, 5.25 if used else 4.75), "black" if used else "#999999")
    draw_box(ax, (T - 1) / 2, 2.95, "add, normalise", width=T - 0.08)
    draw_box(ax, (T - 1) / 2, 3.95, "encoder layers: every piece looks at every piece, on both sides", width=T - 0.08)
    draw_box(ax, 0.55, 5.6, "does it follow?  yes", width=2.4, weight="bold")
    draw_box(ax, 5, 5.6, "which word?  key", width=2.2, weight="bold")
    ax.text(0.55, 6.4, "next-sentence head", ha="center", va="center")
    ax.text(5, 6.4, "masked-word head", ha="center", va="center")
    return picture


def lesson_14():
    """The four kinds of task: what BERT reads, which of its vectors a head takes, and what it answers."""
    tasks = [
        ("one text: a class", ["[CLS]", "a", "tensor", "of", "ones", "[SEP]"], 6, {0: "torch"}),
        ("two texts: a class, or a number", ["[CLS]", "it", "opens", "two", "[SEP]", "it", "opens", "some", "[SEP]"], 5,
         {0: "follows"}),
        ("a tag for each word", ["[CLS]", "call", "the", "print", "##er", "[SEP]"], 6, {1: "word", 2: "word", 3: "name"}),
        ("a span: where it starts, where it ends", ["[CLS]", "opens", "what", "?", "[SEP]", "it", "opens", "the", "file", "[SEP]"],
         5, {7: "start", 8: "end"}),
    ]
    picture, axes = figures.panels(9.2, 4.6, 2, 2, alt=(
        "Four times a BERT with one small head. One text: the vector of [CLS] gives a class. Two texts: the same, with two colours "
        "of segments. A tag for each word: the first piece of each gives one. A span: one token of the second text is the start, "
        "another one the end."))
    for ax, (title, pieces, second, answers) in zip(axes.flat, tasks):
        T = len(pieces)
        ax.set(xlim=(-0.6, T - 0.4), ylim=(-0.5, 3.3), title=title)
        ax.axis("off")
        draw_box(ax, (T - 1) / 2, 1.2, "BERT", width=T - 0.08)
        for t, piece in enumerate(pieces):
            draw_box(ax, t, 0, piece, SEGMENTS[int(t >= second)])
            draw_arrow(ax, (t, 0.34), (t, 0.86))
        for t, answer in answers.items():
            draw_arrow(ax, (t, 1.54), (t, 2.35), "black")
            ax.text(t, 2.65, answer, ha="center", va="center", weight="bold")
    return picture


def lesson_13():
    """The best guesses of the shipped BERT for three gaps."""
    model, tokenizer = load_bert(SHIPPED / "bert"), load_tokenizer(SHIPPED / "bert")
    gaps = ["Return the [MASK] of the array.", "If [MASK], the output is sorted.", "The default [MASK] is used."]
    picture, axes = figures.panels(9.2, 2.8, 1, 3, alt=f"Bars for the five best guesses in {' and in '.join(gaps)}")
    guesses = [fill_gaps(model, tokenizer, text)[0] for text in gaps]
    most = max(best[0][1] for best in guesses)                         # one scale for all
    for ax, text, best in zip(axes, gaps, guesses):
        pieces, probabilities = zip(*best)
        figures.draw_bars(ax, probabilities, pieces, vmax=most)
        ax.set_title(text, fontsize=10)
        ax.set(xlabel="probability", ylabel="")
    return picture


def lesson_15():
    """One head of the published BERT that looks for the same word, and which of four sentences it finds nearest to another one."""
    folder = fetch_bert("all-MiniLM-L6-v2")
    bert, tokenizer = load_bert(folder).bert, load_tokenizer(folder)
    found = tokenizer.encode("The old bridge is closed.", "Cars cross the new bridge.")
    asked, answers = "Delayed flight", ["Our plane landed two hours late.", "She cooked pasta for dinner.",
                                        "The cat is sleeping on the sofa.", "It will rain all day tomorrow."]
    first, *others = sentence_vectors(bert, tokenizer, [asked, *answers])
    picture, (left, right) = figures.panels(9.2, 3.8, 1, 2, width_ratios=[5, 4], alt=(
        "Left: a map of one head on two sentences: each bridge looks at the other one, and most other pieces look at [CLS]. "
        "Right: cosines of four sentences with the words Delayed flight; the plane that landed late is far ahead."))
    image = figures.draw_map(left, maps_of(bert, found)[2, 9], found.tokens, found.tokens, numbers=False)
    picture.colorbar(image, ax=left, label="weight")
    left.set_title("layer 2, head 9")
    figures.draw_bars(right, [max(0, float(first @ other)) for other in others], [textwrap.fill(text, 20) for text in answers])
    right.set(xlabel="cosine", ylabel="", title=f'nearest to "{asked}"')
    return picture
