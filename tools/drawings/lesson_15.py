"""Lesson 15: one pretrained body, and the head of each of four kinds of task."""
from tools.drawings.svg import SOFT, Drawing

WIDTH, GAP = 133, 12
COLUMNS = [16 + (WIDTH + GAP) * i for i in range(4)]
NAMES = ["one text", "two texts", "each word", "a span"]
READ = ["`[CLS]`\n`text`\n`[SEP]`", "`[CLS] premise`\n`[SEP]`\n`hypothesis [SEP]`", "`[CLS]`\n`word word ...`\n`[SEP]`",
        "`[CLS] question`\n`[SEP]`\n`passage [SEP]`"]
USED = ["vector of\n`[CLS]`", "vector of\n`[CLS]`", "vector of\neach token", "vector of\neach token"]
SHAPES = ["`[B, classes]`", "`[B, 3]`", "`[B, T, tags]`", "`[B, T, 2]`"]
LABELS = ["one class\nfor the text\n`[B]`", "one class\nfor the pair\n`[B]`", "one tag for\neach word\n`[B, T]`",
          "first and last\ntoken\n`[B, 2]`"]


def heads():
    d = Drawing(606, "One pretrained body, four heads", (
        "Four columns, a task each: one text, two texts, each word, a span. Below each name stands what is read: a text; a premise "
        "and a hypothesis; words; a question and a passage. Each enters a BERT that starts from a copy of the same pretrained "
        "weights and returns a vector for each token. For one text and for two the vector of the class token goes on, through the "
        "pooler; for each word and for a span the vector of each token. Then each task has a linear layer of its own, the head, "
        "which is new. Its logits have the shapes B by classes, B by 3, B by T by tags, and B by T by 2. The labels are one class "
        "for the text, one class for the pair, one tag for each word, and the first and the last token of the answer; their shapes "
        "are B, B, B by T, and B by 2."))
    body = d.box(16, 172, 568, 56, "**BERT**: each task starts from a copy of the pretrained weights", "parameter")
    d.text(300, 246, "`[B, T, d_model]`", size=15, colour=SOFT)
    d.text(300, 514, "The label, with which the loss compares these logits:", size=15, colour=SOFT)
    for x, name, read, used, shape, label in zip(COLUMNS, NAMES, READ, USED, SHAPES, LABELS):
        middle = x + WIDTH / 2
        d.text(middle, 30, f"**{name}**")
        d.text(middle, 96, read, size=15)
        d.arrow((middle, 136), (middle, body.y - 2))
        d.arrow((middle, 264), (middle, 288))
        d.text(middle, 312, used, size=15)
        if name in NAMES[:2]:
            d.box(middle - 45, 340, 90, 34, "`pooler`", "parameter", size=15)
        d.arrow((middle, 374 if name in NAMES[:2] else 340), (middle, 398))
        d.box(x + 4, 400, WIDTH - 8, 38, "**head**, new", "weight")
        d.arrow((middle, 438), (middle, 462))
        d.text(middle, 476, shape, size=15)
        d.text(middle, 556, label, size=15)
    return d
