"""Lesson 7: the whole Transformer, and one step of writing from a cache."""
from tools.drawings.svg import INK, LINE, PAPER, SOFT, WIDTH, Drawing

WIDE, THIN, THICK = 172, 1.6, 4.5
BUILT = {"1": "weighted average", "2": "scoring function", "3": "masked softmax", "4": "attention to another text",
         "5": "several heads", "6": "positions"}


class Side:
    """The encoder's or the decoder's half of the picture.

    Its spine is the line that runs through from top to bottom, and to which each sublayer adds. Boxes stand on it or beside
    it, towards the middle. `y`: how far the spine is drawn; `residual`: whether it is the residual stream here, and thick.
    """

    def __init__(self, d, left):
        self.d, self.left, self.spine, self.y, self.residual = d, left, 48 if left else WIDTH - 48, None, False

    def on(self, y, height, words, role=None, lessons="", width=WIDE):
        """A box on the spine."""
        box = self.d.box(24 if self.left else WIDTH - 24 - width, y, width, height, words, role)
        self.reach(y)
        self.y = y + height
        self.marks(box, lessons)
        return box

    def beside(self, y, height, words, role=None, lessons=""):
        """A box beside the spine."""
        box = self.d.box(90 if self.left else WIDTH - 90 - WIDE, y, WIDE, height, words, role)
        self.marks(box, lessons)
        return box

    def marks(self, box, lessons):
        """Numbers of lessons at the lower edge, away from the spine."""
        x = box.x + (box.width - 16 - 24 * (len(lessons) - 1) if self.left else 16)
        for place, lesson in enumerate(lessons):
            mark(self.d, x + 24 * place, box.y + box.height + 3, lesson)

    def reach(self, y):
        """Draw the spine down to y."""
        if self.y:
            self.d.arrow((self.spine, self.y), (self.spine, y), width=THICK if self.residual else THIN)

    def side_of(self, box):
        """The point of a box or a sign that is nearest to the spine."""
        return box.left if self.left else box.right

    def add(self, box):
        """A sum on the spine, with what comes from a box."""
        y = box.left[1]
        plus = self.d.sign(self.spine, y)
        self.d.arrow(self.side_of(box), plus.right if self.left else plus.left)
        self.reach(plus.y)
        self.y = plus.y + plus.height

    def sublayer(self, y, words, lessons="", query=False):
        """A norm and below it, behind a query or not, the sublayer, which adds to the spine; returns the sublayer's box."""
        norm = self.beside(y, 30, "norm")
        self.d.arrow((self.spine, norm.left[1]), self.side_of(norm))
        before = norm
        if query:
            before = self.d.box(norm.bottom[0] - 20, y + 58, 40, 30, "$q$", "query")
            self.d.arrow(norm.bottom, before.top)
        box = self.beside(before.y + 30 + (46 if query else 24), 44, words, "parameter", lessons)
        self.d.arrow(before.bottom, box.top)
        self.add(box)
        return box


def mark(d, x, y, lesson):
    d.add("circle", cx=x, cy=y, r=11, fill=PAPER, stroke=SOFT)
    d.text(x, y, lesson, 15)


def transformer():
    d = Drawing(860, "The whole Transformer", (
        "Two columns. On the left the encoder: token embedding plus positions; then, N times, self-attention and "
        "feed-forward, each behind a norm, each added to a line that runs through, the residual connection. A last norm "
        "gives the memory. On the right the decoder does the same with the target; its self-attention is masked, and "
        "between the two stands cross-attention, with queries from the target and keys and values from the memory. A last "
        "norm and a linear layer give the logits. Small numbers name the earlier lesson that built a part."))
    encoder, decoder = Side(d, True), Side(d, False)
    for side, ids in ((encoder, "`src [B, T_src]`"), (decoder, "`tgt [B, T]`")):
        side.on(24, 34, ids)
        side.on(86, 36, "token embedding", "parameter")
        side.add(side.beside(144, 32, "positions", lessons="6"))
        side.residual = True
    d.panel(24, 214, 252, 252)
    d.text(276, 200, "encoder layer × $N$", anchor="end", colour=SOFT)
    d.panel(324, 214, 252, 442)
    d.text(324, 200, "decoder layer × $N$", anchor="start", colour=SOFT)

    encoder.sublayer(230, "`self_attn`", "1235")
    encoder.sublayer(350, "`feed_forward`")
    norm = encoder.on(488, 36, "norm", width=86)
    memory = d.box(130, 484, 84, 44, "memory")
    d.arrow(norm.right, memory.left)
    d.text(24, 552, "`[B, T_src, d_model]`", anchor="start", size=15)

    decoder.sublayer(230, "masked `self_attn`", "1235")
    cross = decoder.sublayer(350, "`cross_attn`", "45", query=True)
    for y, name, role in ((491, "k", "key"), (521, "v", "value")):
        projected = d.box(236, y - 13, 34, 26, f"${name}$", role)
        d.arrow((memory.right[0], y), projected.left)
        d.arrow(projected.right, (cross.x, y))
    decoder.sublayer(550, "`feed_forward`")
    decoder.on(678, 36, "norm", width=86)
    decoder.residual = False
    output = decoder.on(736, 36, "`output`", "parameter")
    d.arrow(output.bottom, (output.bottom[0], 806))
    d.text(576, 824, "logits `[B, T, tgt_vocab_size]`", anchor="end")
    for place, (lesson, words) in enumerate(BUILT.items()):
        mark(d, 36, 662 + 28 * place, lesson)
        d.text(58, 662 + 28 * place, words, anchor="start")
    d.text(24, 630, "Built in lesson", anchor="start", colour=SOFT)
    d.curve([(24, 588), (48, 588)], SOFT, THICK)
    d.text(58, 588, "residual connection", anchor="start")
    return d


def cached_step():
    """The fourth step of writing, without a cache and with one: what is computed, and what is kept."""
    d = Drawing(404, "One step of writing, without a cache and with one", (
        "Four tokens have been read, and the fifth is wanted. At the left, without a cache, all four tokens are read again: "
        "four queries, four keys, four values, and ten weights, of which the last row alone is used. At the right, with a "
        "cache, the keys and values of the first three tokens are kept from the steps before. One token is read: one query, "
        "one key and one value are new, and one row of four weights is computed."))
    for left, title, new in ((24, "**without a cache**", 4), (328, "**with a cache**", 1)):
        d.text(left, 30, title, anchor="start")
        columns = [left + 52 + 48 * i for i in range(4)]
        for i, (x, token) in enumerate(zip(columns, ("<bos>", "c", "b", "a"))):
            fresh = i >= 4 - new
            d.text(x + 18, 62, f"`{token}`", size=15, colour=INK if fresh else SOFT)
            if fresh:
                d.arrow((x + 18, 76), (x + 18, 94))
                d.box(x, 96, 36, 30, f"$q_{i + 1}$", "query")
            for y, role in ((142, "key"), (186, "value")):
                if fresh:
                    d.box(x, y, 36, 30, f"${role[0]}_{i + 1}$", role)
                else:
                    d.frame(x, y, 36, 30, role)
                    d.text(x + 18, y + 15, f"${role[0]}_{i + 1}$", colour=SOFT)
        if new == 1:
            d.panel(columns[0] - 6, 135, 144, 88)
            d.text(left, 179, "kept", anchor="start", size=15, colour=SOFT)
        for i in range(4):
            for j in range(4):
                x, y = columns[j] + 3, 250 + 28 * i
                if j <= i and i >= 4 - new:
                    d.cells(x, y, [[0.75 if i == 3 else 0.2]], "weight", 30, 24)
                elif j <= i:
                    d.add("rect", x=x, y=y, width=30, height=24, fill="none", stroke=LINE, stroke_dasharray="3 3")
            d.text(left, 262 + 28 * i, f"$q_{i + 1}$", anchor="start", colour=INK if i >= 4 - new else SOFT)
        d.text(left, 237, "weights", anchor="start", size=15, colour=SOFT)
        for y, line in zip((256, 276), ("computed again,", "not needed") if new == 4 else ("not computed",)):
            d.text(columns[2], y, line, anchor="start", size=15, colour=SOFT)
        d.arrow((columns[3] + 33, 346), (columns[3] + 44, 346), (columns[3] + 44, 378), (columns[3] + 18, 378), head=False)
        d.text(columns[3] + 14, 380, "gives the next token", anchor="end", size=15)
    return d
