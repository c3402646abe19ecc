"""Lesson 16: where the model comes from, and what is measured when a head is ablated."""
from tools.drawings.svg import SOFT, Drawing

WEIGHTS = [[0.9, 0.1, 0.1, 0.1], [0.5, 0.1, 0.2, 0.8], [0.4, 0.7, 0.2, 0.1], [0.7, 0.1, 0.4, 0.1]]


def origin():
    d = Drawing(590, "From a large teacher to all-MiniLM-L6-v2", (
        "Four models below one another, each with its layers as upright bars. The teacher, of the size of BERT-base, has 12 layers "
        "of width 768. By knowledge distillation a student with 12 layers of width 384 learns to attend as the teacher does. Every "
        "second layer of the student is dropped, and 6 are left. Contrastive learning on pairs of texts, in which each text has to "
        "find its partner in the batch, makes the published model of them."))
    rows = [(40, 76, [[0.5] * 12], "teacher: UniLM v2,\nof BERT-base size,\n`12` layers, `768` wide"),
            (212, 38, [[0.5] * 12], "MiniLM-L12-H384,\nthe student:\n`12` layers, `384` wide"),
            (346, 38, [[None, 0.5] * 6], "MiniLM-L6-H384:\n`6` layers are left,\n`384` wide"),
            (480, 38, [[0.5] * 6], "**all-MiniLM-L6-v2**:\n`6` layers, `12` heads,\na vector for a text")]
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
    d = Drawing(784, "One head is ablated, and two measures say what changes", (
        "Tokens pass the layers below. In one layer, the attention weights of one head pass a hook point, which lets them through "
        "as they are, replaces them by zeros, called off, or by equal weights, called even. One of the three is multiplied by the "
        "values. What all heads bring then passes out_proj, the addition and the feed-forward network, which the heads share, and "
        "the layers above. At the end two things are measured: the vector of one word, compared with the same word in other "
        "sentences, and the mean of all vectors, which is the sentence vector and is compared with other sentences."))
    for i, token in enumerate("[CLS] the crane laid two eggs [SEP]".split()):
        d.arrow(d.box(24 + 79.5 * i, 24, 74, 34, f"`{token}`", size=15).bottom, (61 + 79.5 * i, 88))
    d.box(24, 88, 551, 40, "embedding, layers below", "parameter")
    d.arrow((120, 128), (120, 160))
    d.panel(24, 160, 551, 328)
    d.text(46, 184, "**one head of one layer**", anchor="start", size=15)
    d.cells(80, 214, WEIGHTS, "weight", 20)
    d.text(120, 326, "weights:\n`softmax(q @ k.mT`\n`/ √d_head)`", size=15)
    hook = d.box(214, 232, 92, 44, "hook point", size=15)
    d.arrow((164, 254), hook.left)
    d.text(260, 300, "one of three\ngoes on", size=15)
    versions = [("as they are", WEIGHTS), ("**off**: zeros", [[0.0] * 4] * 4), ("**even**: equal", [[0.3] * 4] * 4)]
    for y, (words, values) in zip((220, 302, 384), versions):
        box = d.cells(450, y, values, "weight", 17)
        d.arrow((306, 254), (334, 254), *([(334, y + 34)] if y > 220 else []), (350, y + 34))
        d.text(356, y + 34, words, anchor="start", size=15)
        d.arrow(box.right, (548, y + 34), (548, 440), head=False)
    d.arrow((548, 430), (548, 458), (300, 458))
    d.box(46, 440, 254, 36, "`weights @ v`", size=15)
    d.arrow((120, 476), (120, 516))
    d.box(24, 516, 551, 40, "all heads together: `out_proj`, add, feed-forward", "parameter")
    d.arrow((120, 556), (120, 580))
    d.box(24, 580, 551, 40, "layers above", "parameter")
    for middle, words in ((150, "vector of `crane`\n`[d_model]`"), (440, "mean over the tokens:\nsentence vector `[d_model]`")):
        d.arrow((middle, 620), (middle, 644))
        d.box(middle - 125, 644, 250, 50, words, "value", size=15)
        d.arrow((middle, 694), (middle, 718))
    d.text(150, 744, "Nearer to its own sense?\n(cosine with other cranes)", size=15)
    d.text(440, 744, "Is the right text still first?\n(cosine with other texts)", size=15)
    return d
