// The lab of lesson 17: the memory and the operations of training a BERT, from its sizes.
const CARDS = [8, 24, 80], KEPT = ["parameters", "gradients", "Adam", "activations", "output head"];
const STRONG = [1, 0.6, 0.3, 1, 0.5];                                 // how opaque each is, from left to right
const UNITS = [["years", 365 * 86400], ["days", 86400], ["hours", 3600], ["minutes", 60], ["seconds", 1]];

const parametersOf = (layers, d) => layers * (12 * d ** 2 + 13 * d) + (30522 + 512 + 2 + 2) * d + d ** 2 + d;

// The bytes of parameters, gradients, Adam, activations, and of the output head for masked tokens.
function memoryOf({ layers, d_model: d, length, batch, attention, keep, numbers }) {
  const count = parametersOf(layers, d), tokens = batch * length, all = keep === "all", whole = all ? layers : 1;
  const full = numbers === "float32", heads = Math.max(1, Math.floor(d / 64)), fused = attention === "fused", ofNumber = full ? 4 : 2;
  const copies = full ? 0 : 2 * whole * 12 * d ** 2;
  const inputs = full ? layers - whole : all ? 0 : layers;   // in float32 a whole layer has its input
  const vectors = full ? 4 * 16 : 2 * 16 + 4 * 2;
  const ofHead = fused ? 4 : ofNumber * length;
  const ofLayers = tokens * (whole * (vectors * d + 16 + heads * ofHead) + inputs * 4 * d);
  return [4 * count + copies, 4 * count, 8 * count, ofLayers, 3 * 4 * 0.15 * tokens * 30522];
}

function stepFlops({ layers, d_model: d, length, batch, attention, keep }) {
  const again = keep === "all" ? 0 : 1, scores = (attention === "fused" ? 3.5 : 3) + again;
  return batch * length * (layers * ((3 + again) * 24 * d ** 2 + scores * 4 * d * length) + 0.15 * 3 * 2 * (d ** 2 + 30522 * d));
}

const short = (x) => (x >= 99.5 ? Math.round(x).toLocaleString("en-US") : String(Number(x.toPrecision(2))));

function duration(seconds) {
  const [unit, size] = UNITS.find((one) => seconds >= 2 * one[1]) ?? UNITS.at(-1);
  return `${short(seconds / size)} ${unit}`;
}

// A triangle that points to the right: the bar goes on.
const arrowAt = (x, y) => `${x},${y - 7} ${x + 11},${y} ${x},${y + 7}`;

computedLabs.cost = (box, { rate }) => {
  const bars = panel({ width: 420, height: 260, grid: true, y: { label: "", from: -0.8, to: 2.5, ticks: [] },
    x: { label: "share of the card", from: 0, to: 2.1, ticks: [0, 1, 2], names: { 0: "0", 1: "100 %", 2: "200 %" } } });
  const drawn = CARDS.map((card, row) => ({
    rects: KEPT.map((name, i) => add(bars, "rect", { class: `kept ${name}`, "fill-opacity": STRONG[i], y: bars.Y(row - 0.2), height: bars.Y(0.5) - bars.Y(0) })),
    text: add(bars, "text", { x: bars.X(0) + 4, y: bars.Y(row - 0.2) - 4 }),
    more: add(bars, "polygon", { fill: "currentColor", points: arrowAt(bars.X(2) + 2, (bars.Y(row - 0.2) + bars.Y(row + 0.3)) / 2) }),
  }));
  const lines = element("p", { class: "lines", "aria-hidden": "true" });
  box.append(panelRow(bars.node, lines));
  return {
    pane: bars,
    drag: [],
    reset() {},
    draw(values) {
      const sizes = memoryOf(values).map((bytes) => bytes / 1e9), whole = sizes.reduce((a, b) => a + b), flops = stepFlops(values);
      CARDS.forEach((card, row) => {
        let begin = 0;
        sizes.forEach((size, i) => {                                    // what is above 200 % is cut off: an arrow says so
          const end = begin + size / card, [from, to] = [begin, end].map((share) => bars.X(Math.min(share, 2)));
          Object.entries({ x: from, width: to - from }).forEach(([name, value]) => drawn[row].rects[i].setAttribute(name, value));
          begin = end;
        });
        drawn[row].more.setAttribute("visibility", begin > 2 ? "visible" : "hidden");
        drawn[row].text.textContent = `${card} GB: ${short(100 * begin)} %`;
      });
      const fits = CARDS.map((card) => `${card} GB: ${whole <= card ? "fits" : "does not fit"}`), { billions } = values;
      const gpu = flops / (values.numbers === "float32" ? 7e12 : 1e14), steps = (billions * 1e9) / (values.batch * values.length);
      const trillion = `${short(flops / 1e12)} trillion FLOPs a step`;
      lines.replaceChildren(
        element("strong", {}, `${short(whole)} GB in sum`), `\nfrom left to right: ${KEPT.map((name, i) => `${name} ${short(sizes[i])} (${Math.round((100 * sizes[i]) / whole)} %)`).join(", ")}`,
        `\n${trillion}\n\n${billions} billion tokens, by FLOPs alone:\n`, element("strong", {}, `${duration(steps * gpu)} on one A100`),
        `\n${duration((steps * gpu) / 64)} on 64, each with this batch\n${duration((steps * flops) / rate)} on the core that made this page, in float32`);
      return `${values.layers} layers of width ${values.d_model}, ${values.batch} texts of ${values.length} tokens, attention ${values.attention}, `
        + `kept: ${values.keep}, ${values.numbers}. In sum ${short(whole)} GB; ${fits.join("; ")}. ${trillion}; `
        + `${billions} billion tokens take an A100 ${duration(steps * gpu)}.`;
    },
  };
};
