"""Lesson 8: from the text that a reader types to an answer and its confidence."""
from tools.drawings.svg import SOFT, Drawing

TYPED, NORMALISED = "3  MAY 2001", "3 may 2001"
ANSWER = [*"2001-05-03", "<eos>"]
WIDE, LEFT = 49, 24


def row(d, y, tokens, size=15):
    """Tokens side by side, each in a box; the boxes."""
    return [d.box(LEFT + i * WIDE, y, WIDE - 3, 34, token, size=size) for i, token in enumerate(tokens)]


def text_to_answer():
    d = Drawing(732, "From a text to an answer and its confidence", (
        "A typed date is normalised and cut into characters, its tokens. The encoder makes a memory of them, a vector for each "
        "character. The decoder reads the characters written so far, beginning with bos, looks at the memory, and gives a "
        "probability for each character of the answer. The product of these probabilities is the confidence."))
    typed = d.box(LEFT, 24, 150, 36, TYPED)
    plain = d.box(346, 24, 150, 36, NORMALISED)
    d.arrow(typed.right, plain.left)
    d.text(263, 24, "`normalise`", size=15, colour=SOFT)
    d.text(263, 62, "lower case,\nsingle spaces", size=15, colour=SOFT)

    d.text(LEFT, 116, "**tokens**: the characters, `[1, T_src]` as ids", anchor="start")
    tokens = row(d, 136, ["`␣`" if character == " " else character for character in NORMALISED])
    encoder = d.box(LEFT, 206, 487, 44, "encoder", "parameter")
    memory = [d.box(LEFT + i * WIDE, 288, WIDE - 3, 34, f"$m_{{{i}}}$", "key") for i in range(len(NORMALISED))]
    for token, vector in zip(tokens, memory):
        d.arrow(token.bottom, (token.bottom[0], encoder.y))
        d.arrow((vector.top[0], encoder.y + encoder.height), vector.top)
    d.text(LEFT, 344, "**memory** `[1, T_src, d_model]`", anchor="start")

    d.text(LEFT, 392, "**written so far**, read back", anchor="start")
    read = row(d, 412, ["<bos>", *ANSWER[:-1]])
    decoder = d.box(LEFT, 486, 536, 44, "decoder", "parameter")
    d.arrow(memory[-1].right, (581, 305), (581, 508), decoder.right)
    d.text(566, 362, "cross-attention:\nkeys and values", anchor="end", size=15, colour=SOFT)
    written = row(d, 572, ANSWER)
    for box, answered in zip(read, written):
        d.arrow(box.bottom, (box.top[0], decoder.y))
        d.arrow((answered.top[0], 530), answered.top)
    for i, box in enumerate(written):
        d.text(box.top[0], 626, f"$p_{{{i + 1}}}$")
    d.text(LEFT, 664, "**the answer**, and the probability of each character", anchor="start")
    d.text(LEFT, 704, "**confidence** $= p_1 · p_2 · … · p_{11}$", anchor="start")
    return d
