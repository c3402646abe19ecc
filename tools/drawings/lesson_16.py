"""Lesson 16: where the model comes from, what a hook point lets through, and the gap between two senses."""
import math

from tools.drawings.svg import INK, SOFT, Drawing

TOKENS = "[CLS] the crane laid two eggs [SEP]".split()
WEIGHTS = [[0.9, 0.1, 0.05, 0.05, 0.05, 0.05, 0.1], [0.6, 0.1, 0.4, 0.1, 0.05, 0.1, 0.1], [0.5, 0.05, 0.1, 0.1, 0.1, 0.7, 0.1],
           [0.6, 0.05, 0.5, 0.1, 0.05, 0.2, 0.1], [0.7, 0.05, 0.1, 0.1, 0.1, 0.4, 0.1], [0.6, 0.05, 0.2, 0.4, 0.1, 0.1, 0.1],
           [0.8, 0.05, 0.1, 0.05, 0.05, 0.1, 0.2]]


def origin():
    d = Drawing(590, "From a large teacher to all-MiniLM-L6-v2", (
        "Four models below one another, each with its layers as upright bars. The teacher, of the size of BERT-base, has 12 layers "
        "of width 768. By knowledge distillation a student with 12 layers of width 384 learns to attend as the teacher does. Every "
        "second layer of the student is dropped, and 6 are left. Contrastive learning on pairs of texts, in which each text has to "
        "find its partner in the batch, makes the published model of them."))
    rows = [(40, 76, [[0.5] * 12], "the teacher,\nof BERT-base size:\n`12` layers, `768` wide"),
            (212, 38, [[0.5] * 12], "MiniLM-L12-H384,\nthe student:\n`12` layers, `384` wide"),
            (346, 38, [[None, 0.85] * 6], "MiniLM-L6-H384:\n`6` layers are left,\n`384` wide"),
            (480, 38, [[0.85] * 6], "**all-MiniLM-L6-v2**:\n`6` layers, `12` heads,\na vector for a text")]
    for top, height, values, words in rows:
        d.cells(214, top, values, "parameter", 17, height, framed=False)
        d.text(434, top + height / 2, words, anchor="start", size=15)
    for y, end, words in ((124, 204, "**knowledge distillation**:\nthe student learns to\nattend as the teacher does"),
                          (258, 338, "every second layer\nis dropped"),
                          (392, 472, "**contrastive learning**:\neach text finds its partner\nin a batch of many")):
        d.arrow((238, y), (238, end), width=2.4)
        d.text(222, (y + end) / 2 - 4, words, anchor="end", size=15)
    d.text(300, 556, "Each bar is a layer; the hatched ones are dropped.", size=15, colour=SOFT)
    return d


def ablation():
    d = Drawing(492, "What a hook point lets through", (
        "Tokens pass the layers below. In one layer, the map of one head, seven rows of seven weights with a dark first column, "
        "passes a hook point. It lets one of three maps go on: the weights as they are, zeros, called off, or equal weights, "
        "called even. The map that goes on is "
        "multiplied by the values. The other heads, the feed-forward network and the layers above "
        "run as before."))
    for i, token in enumerate(TOKENS):
        d.arrow(d.box(24 + 79.5 * i, 24, 74, 34, f"`{token}`", size=15).bottom, (61 + 79.5 * i, 80))
    d.box(24, 80, 551, 36, "layers below", "parameter")
    d.arrow((101, 116), (101, 176))
    d.text(116, 148, "**one head of one layer**", anchor="start", size=15)
    d.cells(52, 180, WEIGHTS, "weight", 14)
    d.text(101, 304, "its map:\n`7` rows of `7` weights", size=15)
    hook = d.box(214, 207, 92, 44, "hook point", size=15)
    d.arrow((154, 229), hook.left)
    d.text(260, 276, "one of three\ngoes on", size=15)
    versions = [("as they are", WEIGHTS), ("**off**: zeros", [[0.0] * 7] * 7), ("**even**: equal", [[0.2] * 7] * 7)]
    for y, (words, values) in zip((140, 228, 316), versions):
        box = d.cells(450, y, values, "weight", 11)
        d.arrow((306, 229), (334, 229), (334, y + 38.5), (350, y + 38.5))
        d.text(356, y + 38.5, words, anchor="start", size=15)
        d.arrow(box.right, (552, y + 38.5), (552, 400), head=False)
    d.arrow((552, 395), (552, 410), (300, 410))
    d.box(46, 392, 254, 36, "`weights @ v`", size=15)
    d.arrow((173, 428), (173, 444))
    d.box(24, 444, 551, 36, "other heads, feed-forward, layers above: as before", "parameter")
    return d


def gap():
    d = Drawing(420, "The gap between two senses, by hand", (
        "Four points, two usages of the machine on the left and two of the bird on the right, joined by six lines with the cosine "
        "of each pair. Within a sense, on thick lines: 0.9 and 0.8, with the mean w of 0.85. Across the senses, on dashed "
        "lines: 0.6, 0.5, 0.7 and 0.6, with the mean a of 0.60. The gap "
        "is 0.85 minus 0.60, divided by 1 minus 0.60, which is 0.625."))
    places = {"lifted": (130, 70), "lowered": (130, 230), "laid": (470, 70), "caught": (470, 230)}
    pairs = [("lifted", "lowered", "0.9", 0.5), ("laid", "caught", "0.8", 0.5), ("lifted", "laid", "0.6", 0.5),
             ("lowered", "caught", "0.6", 0.5), ("lifted", "caught", "0.5", 0.3), ("lowered", "laid", "0.7", 0.3)]
    for one, other, cosine, at in pairs:
        (x0, y0), (x1, y1) = places[one], places[other]
        x, y = x0 + at * (x1 - x0), y0 + at * (y1 - y0)
        for end_x, end_y in ((x0, y0), (x1, y1)):                            # from the edge of a dot to the number
            length = math.hypot(x - end_x, y - end_y)
            along_x, along_y = (x - end_x) / length, (y - end_y) / length
            near = 16 if along_x == 0 else 22                                # half the size of the number, and some air
            d.curve([(end_x + 12 * along_x, end_y + 12 * along_y), (x - near * along_x, y - near * along_y)],
                    *((INK, 3) if x0 == x1 else (SOFT, 1.6, "6 5")))
        d.text(x, y, f"`{cosine}`")
    for word, (x, y) in places.items():
        side = -1 if x < 300 else 1
        d.dot(x, y, 12, "value" if x < 300 else "key")
        d.text(x + 20 * side, y, f"… {word} …", anchor="end" if x < 300 else "start", size=15)
    d.text(130, 26, "**machine**")
    d.text(470, 26, "**bird**")
    d.text(300, 290, "within a sense (thick): $w$ `= (0.9 + 0.8) / 2 = 0.85`")
    d.text(300, 324, "across the senses (dashed): $a$ `= (0.6 + 0.5 + 0.7 + 0.6) / 4 = 0.60`", size=15)
    d.text(300, 372, "gap `= (0.85 - 0.60) / (1 - 0.60) = 0.625`", size=18)
    return d
