"""Lesson 14: from two sentences to the two losses of pretraining."""
from tools.drawings.svg import ROLES, SOFT, Drawing

TOKENS = "[CLS] she turned the key [SEP] it opened [SEP]".split()
SHOWN = {2: "[MASK]", 4: "lamp", 7: "opened"}                # three of six are chosen here, so that each case is there
LEFT, STEP, SIDE = 22, 62, 60
COLUMNS = [LEFT + STEP * i for i in range(len(TOKENS))]
MIDDLES = [x + SIDE / 2 for x in COLUMNS]
WHOLE = COLUMNS[-1] + SIDE - LEFT


def pretraining():
    d = Drawing(640, "From two sentences to the two losses of pretraining", (
        "The class token, the sentence she turned the key, a separator, the sentence it opened, a separator. Three are chosen, "
        "more than the usual 15 %, so that each case is there. "
        "BERT reads the mask token in place of the first, a random token in place of the second, and the third as it is. "
        "The masked language modelling head gives logits over the vocabulary at the three chosen positions; they are compared with "
        "the tokens that were there, and the mean over chosen tokens is the first loss. The pooler and the next sentence head give "
        "two logits for the class token; they are compared with whether the second sentence follows, and the mean over pairs is "
        "the second loss. The two losses are added."))
    d.text(LEFT, 30, "**two sentences**, joined", anchor="start")
    d.text(LEFT + WHOLE, 30, "**chosen**: 15 % of the tokens; here more", anchor="end")
    d.text(LEFT, 104, "**shown to BERT**: a chosen token becomes `[MASK]`, a random token, or stays", anchor="start")
    for i, (x, token) in enumerate(zip(COLUMNS, TOKENS)):
        d.box(x, 48, SIDE, 34, f"`{token}`", "weight" if i in SHOWN else None, size=15)
        d.arrow((MIDDLES[i], 122), (MIDDLES[i], 172))
        d.box(x, 174, SIDE, 34, f"`{SHOWN.get(i, token)}`", "weight" if i in SHOWN else None, size=15)
    for i, words in ((2, "80 %"), (4, "10 %"), (7, "10 %")):
        d.text(MIDDLES[i] + 8, 140, words, anchor="start", size=15)
    for x in MIDDLES:
        d.arrow((x, 208), (x, 236))
    d.box(LEFT, 238, WHOLE, 48, "`bert`: embedding and encoder layers", "parameter")

    first, chosen = MIDDLES[0], [MIDDLES[i] for i in SHOWN]
    d.arrow((first, 286), (first, 338))
    d.box(LEFT, 340, 118, 48, "`pooler`\n`nsp_head`", "parameter", size=15)
    for x in chosen:
        d.arrow((x, 286), (x, 338), colour=ROLES["weight"], width=2.2)
    d.box(COLUMNS[2], 340, COLUMNS[7] + SIDE - COLUMNS[2], 48, "`mlm_head`, at the chosen positions", "parameter")
    left, right = LEFT + 59, (COLUMNS[2] + COLUMNS[7] + SIDE) / 2
    for x, shape, answers, name in ((left, "`[B, 2]`", "`is_next`", "**NSP loss**\nmean over pairs"),
                                    (right, "`[B, P, VOCAB]`", "`labels`: turned, key, opened",
                                     "**MLM loss**\nmean over chosen tokens")):
        d.arrow((x, 388), (x, 404), head=False)
        d.text(x, 416, shape, size=15)
        d.arrow((x, 428), (x, 448))
        d.text(x, 462, "cross-entropy with", size=15, colour=SOFT)
        d.text(x, 484, answers, size=15)
        d.arrow((x, 496), (x, 518))
        d.text(x, 542, name)
    d.arrow((left, 566), (left, 606), (right / 2 + left / 2 - 14, 606))
    d.arrow((right, 566), (right, 606), (right / 2 + left / 2 + 14, 606))
    d.sign(right / 2 + left / 2, 606)
    return d
