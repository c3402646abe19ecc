"""Lesson 12: a prompt and its answer in one sequence, a rule before the softmax, and two ways to find what is next."""
from tools.drawings.svg import ROLES, SOFT, Drawing

ROW = ["$a_1$", "$a_2$", "$a_3$", "$a_4$", "`<sep>`", "$b_1$", "$b_2$"]
WIDTHS = [52, 52, 52, 52, 68, 52, 52]
LEFT, GAP, TOP = 50, 8, 62
FACING = 2                                                   # the character that the next one has to face
LOGITS = [0.3, 0.7, 0.2, 0.5, 0.9, 0.4, 0.15, 0.6]           # no measured numbers: shades alone
ALLOWED = {3, 7}


def prompt_and_rule():
    d = Drawing(560, "A prompt, an answer and a rule", (
        "One sequence holds the prompt, a1 to a4 and a separator, and what is written of the answer so far, b1 and b2. A GPT with "
        "a causal mask reads it, and its last position gives logits for the next token. The rule looks at a3, the character "
        "that the next one faces, and lets through only the tokens that may face it; all other logits are masked. The softmax "
        "makes probabilities of the rest, b3 is drawn from them and added to the sequence. Logits, rule and probabilities have the "
        "shape [B, vocab_size], the prompt [B, n + 1], the answer so far [B, t - 1], and what is drawn [B]."))
    boxes, x = [], LEFT
    for name, width in zip(ROW, WIDTHS):
        boxes.append(d.box(x, TOP, width, 38, name, "key" if name.startswith("$a") else None))
        x += width + GAP
    d.add("rect", x=x, y=TOP, width=52, height=38, rx=6, fill="none", stroke=SOFT, stroke_dasharray="5 4")
    d.text(x + 26, TOP + 19, "$b_3$")
    new = x + 26
    for start, end, words in ((0, 4, "**prompt** `[B, n + 1]`"), (5, 6, "**answer** so far `[B, t - 1]`")):
        left, right = boxes[start].x, boxes[end].x + boxes[end].width
        d.arrow((left, 50), (left, 42), (right, 42), (right, 50), head=False)
        d.text((left + right) / 2, 24, words)
    last = boxes[-1].bottom[0]
    wide = boxes[-1].x + boxes[-1].width - LEFT
    d.box(LEFT, 150, wide, 44, "**GPT**, causal mask", "parameter")
    for box in boxes:
        d.arrow(box.bottom, (box.bottom[0], 148))
    cell, start = 34, last - 8 * 34 + 17
    d.arrow((last, 194), (last, 240))
    d.text(start - 12, 255, "logits\n`[B, vocab_size]`", anchor="end")
    d.cells(start, 242, [LOGITS], "weight", cell, 26)
    d.arrow((last, 268), (last, 306))
    d.text(start - 12, 321, "**rule**: may\nit face $a_3$?\n`[B, vocab_size]`", anchor="end")
    d.cells(start, 308, [[value if i in ALLOWED else None for i, value in enumerate(LOGITS)]], "weight", cell, 26)
    d.arrow((last, 334), (last, 372))
    d.text(start - 12, 387, "softmax\n`[B, vocab_size]`", anchor="end")
    d.cells(start, 374, [[{3: 0.35, 7: 0.65}.get(i, 0.0) for i in range(8)]], "weight", cell, 26)
    d.arrow((last, 400), (last, 430), (new, 430), (new, TOP + 40), colour=ROLES["weight"], width=2)
    d.text(last - 14, 430, "draw $b_3$ `[B]`", anchor="end")
    facing = boxes[FACING].bottom[0] - 14
    d.arrow((facing, TOP + 38), (facing, 124), (26, 124), (26, 321), (start - 108, 321), colour=ROLES["key"], dashes="6 4")
    d.text(50, 474, "The **rule** looks at $a_3$, the character that $b_3$ faces:", anchor="start")
    d.text(50, 500, "tokens that may not face it are masked, their logits become −∞.", anchor="start")
    d.text(50, 532, "Without a rule, all logits go to the softmax.", anchor="start")
    return d


def position_or_content():
    d = Drawing(316, "By position or by content", (
        "The first line has five places: dawn, sun, shine, level, plain. The answer has begun with moon, which answers sun, though "
        "sun is at place 2. The next character of the answer is at its place 2. By position it faces sun, at place 2 too. By "
        "content it faces shine, which stands after sun, the one that moon answers."))
    left, step, side, top, below = 120, 92, 80, 54, 222
    middles = [left + step * i + side / 2 for i in range(5)]
    d.text(20, top + 19, "**first line**", anchor="start")
    d.text(20, below + 19, "**answer**", anchor="start")
    for i, (x, word) in enumerate(zip(middles, ["dawn", "sun", "shine", "level", "plain"]), 1):
        d.box(x - side / 2, top, side, 38, word, "key")
        d.text(x, 34, f"place {i}", size=15, colour=SOFT)
    d.box(middles[0] - side / 2, below, side, 38, "moon")
    d.add("rect", x=middles[1] - side / 2, y=below, width=side, height=38, rx=6, fill="none", stroke=SOFT, stroke_dasharray="5 4")
    d.text(middles[1], below + 19, "**?**")
    for i in (0, 1):
        d.text(middles[i], below + 56, f"place {i + 1}", size=15, colour=SOFT)
    d.arrow((middles[0], below), (middles[1] - 22, top + 40), colour=ROLES["key"], dashes="6 4")
    d.text(middles[0] + 4, 146, "answers", size=15, anchor="end")
    d.arrow((middles[1], below), (middles[1], top + 40), width=2.2)
    d.arrow((middles[1] + 22, below), (middles[2], top + 40), width=2.2)
    d.text(middles[2] - 6, 160, "by **content**: after the one\nthat moon answers", size=15, anchor="start")
    d.text(middles[1] + 52, below + 19, "by **position**: straight up, to the same place", size=15, anchor="start")
    return d
