"""Lesson 10: an encoder, one vector for the whole text, and a linear layer."""
from tools.drawings.svg import SOFT, Drawing

TOKENS = "<cls> the soup was cold <pad>".split()
VECTORS = [[0.8, 0.3, 0.6], [0.3, 0.6, 0.2], [0.6, 0.2, 0.8], [0.2, 0.4, 0.5], [0.7, 0.7, 0.1], [0.1, 0.1, 0.1]]


def classifier():
    d = Drawing(800, "An encoder and one vector make a classifier", (
        "The tokens of a text, with the class token in front and padding at the end, become vectors with their positions. "
        "Encoder layers of self-attention and feed-forward let every token look at all others, but not at the padding. "
        "Of the vectors that come out, the first one, that of the class token, enters a linear layer, which gives a logit for each "
        "class; a softmax makes probabilities of them. Another way to one vector is the mean over the real tokens."))
    middles = [66 + 79 * i for i in range(6)]
    for middle, token in zip(middles, TOKENS):
        d.arrow(d.box(middle - 35, 28, 70, 34, f"`{token}`", size=15).bottom, (middle, 96))
    d.text(514, 78, "`[B, T]`", anchor="start", size=15)
    d.box(24, 96, 480, 44, "embedding + position", "parameter")
    encoder = d.box(24, 196, 480, 84, "encoder layers: self-attention, feed-forward\nkeys of the padding are masked", "parameter")
    for i, (middle, vector) in enumerate(zip(middles, VECTORS)):
        values = [[None] if i == 5 else [part] for part in vector]
        d.arrow((middle, 140), (middle, encoder.y))
        d.arrow((middle, encoder.y + encoder.height), (middle, 314))
        d.cells(middle - 11, 316, values, "plain" if i == 5 else "value", 22, 18, framed=i == 0)
    for y in (168, 345):
        d.text(514, y, "`[B, T,`\n`d_model]`", anchor="start", size=15)

    d.arrow((66, 376), (66, 488), width=2.4)
    d.text(82, 412, "**class token:**\nthe first vector", anchor="start")
    mean = d.box(286, 410, 150, 40, "mean")
    for middle in middles[:5]:
        d.arrow((middle, 374), (mean.top[0], mean.y), colour=SOFT, width=1.2, head=False)
    d.arrow(mean.bottom, (361, 508), (200, 508), colour=SOFT, dashes="5 4")
    d.text(446, 430, "or: over the\nreal tokens", anchor="start")

    d.text(82, 466, "`[B, d_model]`", anchor="start", size=15)
    linear = d.box(24, 488, 176, 44, "linear layer", "parameter")
    d.arrow((66, linear.y + linear.height), (66, 580))
    d.cells(36, 584, [[0.2, 0.5, 0.9]], "plain", 30, 28)
    d.text(140, 598, "logits `[B, num_classes]`", anchor="start")
    d.arrow((66, 612), (66, 648))
    d.box(24, 650, 176, 40, "softmax")
    d.arrow((66, 690), (66, 732))
    d.cells(36, 736, [[0.1, 0.2, 0.7]], "weight", 30, 28)
    d.text(140, 750, "probabilities of the classes, which sum to 1", anchor="start")
    return d
