"""Lesson 9: a beam of two hypotheses."""
from tools.drawings.svg import LINE, ROLES, SOFT, Drawing

LEFT, STEP, WIDE, HIGH = 24, 150, 102, 34                   # the first column, from one to the next, the size of a box
COLUMNS = [                                                  # each candidate: its word, its parent's row, is it kept?
    [("<bos>", None, True)],
    [("elle", 0, True), ("la", 0, False), ("on", 0, True), ("une", 0, False)],
    [("chante", 0, True), ("chantait", 0, False), ("chante", 2, True), ("a", 2, False)],
    [("<eos>", 0, True), ("bien", 0, True), ("toujours", 2, False), ("<eos>", 2, False)],
]
CHANCES = [[1.0], [0.5, 0.1, 0.25, 0.05], [0.4, 0.05, 0.2, 0.05], [0.24, 0.12, 0.02, 0.1]]    # made up, as the drawing says
BAR = 120                                                    # the length of a probability of 1


def beam():
    d = Drawing(626, "A beam of two hypotheses", (
        "The encoder reads she sings once, and its memory is copied for each hypothesis. From bos, four candidates for the first "
        "word are drawn: elle, la, on and une. The two with the best scores, elle and on, are kept. Each is continued with every "
        "word of the vocabulary; of all these candidates together the two best are kept again: elle chante and on chante. In the "
        "third step both of the best candidates continue elle chante, one by eos, so it is finished; on chante is dropped. Shapes: "
        "src [B, T_src], memory [B * width, T_src, d_model], logits [B * width, vocab_size], candidates [B, width * vocab_size], "
        "ids [B, width, T]."))
    typed = d.box(LEFT, 24, 104, HIGH, "she sings")
    encoder = d.box(166, 24, 104, HIGH, "encoder", "parameter")
    memory = d.box(308, 24, 268, HIGH, "memory, a copy for each hypothesis", "key", 15)
    d.arrow(typed.right, encoder.left)
    d.arrow(encoder.right, memory.left)
    d.text(LEFT, 78, "`src [B, T_src]`", anchor="start", size=15, colour=SOFT)
    d.text(428, 78, "`[B * width, T_src, d_model]`", anchor="end", size=15, colour=SOFT)
    d.box(LEFT, 100, 552, HIGH, "decoder: the log-probability of each next word, for each hypothesis", "parameter", 15)
    d.arrow(memory.bottom, (memory.bottom[0], 98))
    d.text(LEFT, 150, "`logits [B * width, vocab_size]`", anchor="start", size=15, colour=SOFT)

    for step, title in enumerate(("begin", "step 1", "step 2", "step 3")):
        d.text(LEFT + step * STEP + WIDE / 2 - 15 * (step == 0), 186, title, size=15, colour=SOFT)
    boxes = []
    for step, (column, chances) in enumerate(zip(COLUMNS, CHANCES)):
        boxes.append([])
        for row, ((word, parent, kept), chance) in enumerate(zip(column, chances)):
            x, y = LEFT + step * STEP, 212 + 62 * (row if step else 1.5)
            width = WIDE if step else 72
            if parent is not None:
                before = boxes[-2][parent]
                d.arrow(before.right, (x - 3, y + HIGH / 2), colour=ROLES["weight"] if kept else LINE, width=2.2 if kept else 1.4)
            if kept:
                boxes[-1].append(d.box(x, y, width, HIGH, f"`{word}`" if word in ("<bos>", "<eos>") else word, "weight"))
            else:
                d.add("rect", x=x, y=y, width=width, height=HIGH, rx=6, fill="none", stroke=SOFT, stroke_dasharray="4 4")
                d.text(x + width / 2, y + HIGH / 2, f"`{word}`" if word == "<eos>" else word, colour=SOFT)
                boxes[-1].append(None)
            if step:
                d.add("rect", x=x, y=y + HIGH + 7, width=BAR * chance, height=7, fill=ROLES["weight" if kept else "plain"])
                d.text(x + WIDE, y + HIGH + 11, f"{chance:.2f}", anchor="end", size=15, colour=SOFT)
    steps = ["**1 continue** each kept hypothesis with every word of the vocabulary.",
             "**2 score**: logarithms are added, so probabilities multiply (bars, made up):",
             "elle chante 0.50 · 0.8 = 0.40. All: `candidates [B, width * vocab_size]`.",
             "**3 keep** the `width` best of all together (here 2): `ids [B, width, T]`.",
             "After `<eos>` a hypothesis is finished: it keeps its score, and competes."]
    for i, words in enumerate(steps):
        d.text(LEFT, 484 + 28 * i, words, anchor="start", size=15)
    return d
