"""Lesson 4: a recurrent step, an encoder and a decoder, and attention between them."""
from tools.drawings.svg import INK, LINE, ROLES, SOFT, Drawing

SOURCE, READ, WRITTEN = "the cat sleeps .".split(), "<bos> le chat dort .".split(), "le chat dort . <eos>".split()
OUTPUTS = [[0.4, 0.7, 0.2], [0.8, 0.3, 0.5], [0.2, 0.9, 0.6], [0.5, 0.1, 0.3]]
WEIGHTS = [0.04, 0.12, 0.8, 0.04]


def recurrent_step():
    d = Drawing(790, "A recurrent network, and one step of a GRU", (
        "Above, four words enter the same network one after another; each step gets a word and the state of the step before, "
        "and passes on a new state. Below, one step of a GRU: word and state together give an update gate z, a reset gate r "
        "and a candidate n. The old state, times z, and the candidate, times 1 - z, are added up to the new state."))
    d.text(24, 34, "**One network, step by step**", anchor="start")
    for i, word in enumerate(SOURCE):
        left = 88 + 124 * i
        step = d.box(left, 70, 76, 44, "GRU", "parameter")
        d.arrow(d.box(left, 152, 76, 34, word).top, step.bottom)
        d.arrow((left - 46, 92), step.left)
        d.text(left - 24, 72, f"$h_{i}$")
    d.arrow((536, 92), (578, 92))
    d.text(558, 72, "$h_4$")
    d.arrow((24, 220), (576, 220), colour=LINE, head=False)

    d.text(24, 256, "**Inside one step**", anchor="start")
    before = d.box(24, 312, 76, 44, "$h_{t−1}$")
    keep, total, add = d.sign(184, 334, "×"), d.sign(496, 334), d.sign(496, 396, "×")
    d.arrow(before.right, keep.left)
    d.arrow(keep.right, total.left)
    d.arrow(total.right, (580, 334))
    d.arrow(add.top, total.bottom)
    d.text(340, 316, "$z ⊙ h_{t−1}$")
    d.text(484, 365, "$(1 − z) ⊙ n$", anchor="end")
    d.text(556, 314, "$h_t$")
    update, reset, candidate = (d.box(left, 456, 108, 60, words, "parameter") for left, words in (
        (130, "update\ngate"), (286, "reset\ngate"), (442, "candidate")))
    d.arrow(update.top, keep.bottom)
    d.arrow((184, 396), add.left)
    d.arrow(candidate.top, add.bottom)
    d.arrow(reset.right, candidate.left)
    d.text(168, 366, "$z$")
    d.text(340, 378, "$1 − z$")
    d.text(512, 432, "$n$")
    d.text(418, 470, "$r$")
    word = d.box(24, 594, 76, 36, "$x_t$")
    d.arrow(before.bottom, (62, 540))
    d.arrow(word.top, (62, 572))
    both = d.box(38, 540, 48, 32, "$x, h$")
    d.arrow(both.right, (496, 556), candidate.bottom)
    for box in (update, reset):
        d.arrow((box.bottom[0], 556), box.bottom)
    d.text(330, 576, "the word $x_t$ and the state $h_{t−1}$, `[B, d_model]` each", colour=SOFT)
    for y, formula in ((622, "$r = σ(W_r x_t + U_r h_{t−1})$"), (654, "$z = σ(W_z x_t + U_z h_{t−1})$"),
                       (686, "$n = tanh(W_n x_t + r ⊙ U_n h_{t−1})$"), (718, "$h_t = (1 − z) ⊙ n + z ⊙ h_{t−1}$")):
        d.text(160, y, formula, anchor="start")
    d.text(160, 758, "$σ$ gives numbers from 0 to 1, so $r$ and $z$ are shares", anchor="start", colour=SOFT)
    return d


def encoder_decoder():
    d = Drawing(640, "Encoder and decoder with one vector between them", (
        "The encoder reads four English words twice: one row of steps forwards, another backwards. The final states of both rows "
        "are joined to one vector, the context. "
        "This one vector is all that the decoder gets: it is the first state, and it enters each of the five steps, "
        "which read the words written so far and write the next French word."))
    d.text(24, 34, "**encoder** reads", anchor="start")
    lefts = [24 + 136 * i for i in range(4)]
    forwards, backwards = ([d.box(left, y, 88, 36, "GRU", "parameter") for left in lefts] for y in (58, 180))
    for ahead, back, word in zip(forwards, backwards, SOURCE):
        box = d.box(ahead.x + 6, 120, 76, 34, word)
        d.arrow(box.top, ahead.bottom)
        d.arrow(box.bottom, back.top)
    for left, right in zip(forwards, forwards[1:]):
        d.arrow(left.right, right.left)
    for left, right in zip(backwards, backwards[1:]):
        d.arrow(right.left, left.right)
    context = d.cells(240, 278, [[0.5, 0.2, 0.8, 0.4, 0.1, 0.6]], "plain", 20, 28)
    d.text(226, 292, "**context**", anchor="end")
    d.arrow(backwards[0].bottom, (backwards[0].bottom[0], 246), (300, 246), context.top, colour=INK, width=2.4)
    d.arrow(forwards[3].right, (556, 76), (556, 246), (300, 246), context.top, colour=INK, width=2.4)
    d.text(86, 232, "read backwards, ends here", anchor="start", size=15, colour=SOFT)
    d.text(540, 232, "read forwards, ends here", anchor="end", size=15, colour=SOFT)
    d.text(376, 282, "one vector of fixed size", anchor="start")
    d.text(376, 304, "`[B, 1, d_model]`", anchor="start", size=15)

    d.text(24, 330, "**decoder** writes", anchor="start")
    lefts = [24 + 113 * i for i in range(5)]
    d.arrow(context.bottom, (300, 356), colour=INK, width=2.4, head=False)
    for left in lefts:
        d.arrow((300, 356), (left + 12, 356), (left + 12, 460), colour=INK, width=2.4)
    boxes = [d.box(left, 460, 88, 44, "GRU", "parameter") for left in lefts]
    for box, read, written in zip(boxes, READ, WRITTEN):
        d.arrow(d.box(box.x + 26, 386, 62, 34, read).bottom, (box.x + 57, 460))
        d.arrow((box.x + 44, 504), (box.x + 44, 550))
        d.box(box.x + 8, 550, 72, 34, written)
    for left, right in zip(boxes, boxes[1:]):
        d.arrow(left.right, right.left)
    d.arrow((300, 356), (9, 356), (9, 482), boxes[0].left, colour=INK, width=2.4)
    d.text(34, 527, "first\nstate", size=15)
    d.text(300, 614, "each step reads the word before and the same context", colour=SOFT)
    return d


def attention_between():
    d = Drawing(776, "Attention between encoder and decoder", (
        "The encoder's output at every English word is kept. "
        "The decoder's state is the query; it is scored against all outputs, its keys. "
        "The softmax of the scores is a row of weights. The outputs, now as values, each times its weight, are "
        "added up to the context of this step. The decoder continues from its state, reads the word chat and the context, "
        "and writes dort; its new state is the query of the next step."))
    middles = [206 + 104 * i for i in range(4)]
    for middle, word, vector, weight in zip(middles, SOURCE, OUTPUTS, WEIGHTS):
        step = d.box(middle - 39, 88, 78, 40, "GRU", "parameter")
        d.arrow(d.box(middle - 39, 26, 78, 34, word).bottom, step.top)
        d.arrow(step.bottom, (middle, 155))
        d.cells(middle - 11, 160, [[part] for part in vector], "key", 22, 18)
        d.arrow((middle, 218), (middle, 252))
        d.arrow((middle, 292), (middle, 330))
        d.cells(middle - 20, 330, [[weight]], width=40, height=26)
        d.text(middle, 374, "×")
        d.cells(middle - 11, 396, [[part] for part in vector], "value", 22, 18)
        d.arrow((middle, 458), (362, 512), colour=ROLES["weight"], width=1.2 + 7 * weight, head=False)
    for left, right in zip(middles, middles[1:]):
        d.arrow((left + 39, 101), (right - 39, 101))
        d.arrow((right - 39, 116), (left + 39, 116))
    d.box(158, 252, 408, 40, "additive score, then softmax", "parameter")
    query = d.box(24, 254, 96, 36, "query", "query")
    d.arrow(query.right, (158, 272), colour=ROLES["query"], width=2.4)
    d.text(48, 106, "encoder", anchor="start")
    d.text(48, 174, "outputs\nas keys", anchor="start")
    d.text(48, 218, "`[B, T_src,`\n`d_model]`", anchor="start", size=15)
    d.text(48, 312, "decoder\nstate", anchor="start", colour=SOFT)
    d.text(48, 351, "weights", anchor="start")
    d.text(48, 424, "the same,\nas values", anchor="start")

    total = d.sign(362, 524)
    d.arrow(total.bottom, (362, 560))
    d.cells(351, 566, [[0.29], [0.79], [0.56]], "value", 22, 18)
    d.text(390, 580, "context of this step", anchor="start")
    d.text(390, 604, "`[B, 1, d_model]`", anchor="start", size=15)
    step = d.box(318, 664, 88, 44, "GRU", "parameter")
    d.arrow((374, 624), (374, 664))
    d.arrow((139, 272), (139, 628), (344, 628), (344, 664), colour=ROLES["query"], width=2.4)
    d.text(156, 610, "the state goes on", anchor="start", colour=SOFT)
    before, word = d.box(184, 669, 76, 34, "chat"), d.box(470, 669, 76, 34, "dort")
    d.arrow(before.right, step.left)
    d.arrow(step.right, word.left)
    d.text(222, 650, "word before", colour=SOFT)
    d.text(508, 650, "next word", colour=SOFT)
    d.arrow(step.bottom, (362, 744), (36, 744), (36, 288), colour=ROLES["query"], width=2.4)
    d.text(52, 724, "new state: the next query", anchor="start", colour=SOFT)
    return d
