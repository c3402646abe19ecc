// The lab of lesson 17: the memory and the operations of one step of training a BERT, from its sizes.
const CARDS = [8, 24, 80], LEAST = -4, SIGNS = [0.001, 0.1, ...CARDS, 1e4, 1e6];   // in GB; the axis begins at 10 ** LEAST
const KEPT = ["parameters", "gradients", "Adam", "activations", "output head", "together"];
// The bytes that a layer keeps of a token: for each number of its vector, and for each head, where `length` tokens are looked at.
const OF_A_TOKEN = {
  fused: { float32: [64, () => 4], mixed: [40, () => 4] },
  explicit: { float32: [64, (length) => 4 * length], mixed: [40, (length) => 2 * length] },
  "explicit, dropout": { float32: [88, (length) => 12 * length], mixed: [58, (length) => 12 * length] },
};

const parametersOf = (layers, d) => layers * (12 * d ** 2 + 13 * d) + (30522 + 512 + 2 + 2) * d + d ** 2 + d;

// The bytes of parameters, gradients, Adam, activations, and of the probabilities of masked tokens.
function memoryOf({ layers, d_model: d, length, batch, attention, keep, numbers }) {
  const count = parametersOf(layers, d), tokens = batch * length, all = keep === "all", whole = all ? layers : 1;
  const [ofNumber, ofHead] = OF_A_TOKEN[attention][numbers], heads = Math.max(1, Math.floor(d / 64));
  const copies = numbers === "float32" ? 0 : 2 * whole * 12 * d ** 2, inputs = all ? 0 : layers * 4 * tokens * d;
  const ofLayers = whole * tokens * (ofNumber * d + 16 + heads * ofHead(length)) + inputs;
  return [4 * count + copies, 4 * count, 8 * count, ofLayers, 0.15 * tokens * 30522 * 4];
}

function stepFlops({ layers, d_model: d, length, batch, attention, keep }) {
  const again = keep === "all" ? 0 : 1, scores = (attention === "fused" ? 3.5 : 3) + again;
  return layers * batch * length * ((3 + again) * 24 * d ** 2 + scores * 4 * d * length);
}

const short = (x) => (x >= 99.5 ? Math.round(x).toLocaleString("en-US") : String(Number(x.toPrecision(2))));

computedLabs.cost = (box, { rate }) => {
  const bars = panel({ width: 420, height: 300, grid: true, x: { label: "GB", from: LEAST, to: 8, ticks: SIGNS.map(Math.log10),
    names: Object.fromEntries(SIGNS.map((size) => [Math.log10(size), size.toLocaleString("en-US")])) },
    y: { label: "", from: -0.8, to: 5.5, ticks: [] } });
  const drawn = KEPT.map((name, i) => {
    const rect = add(bars, "rect", { class: `kept ${name}`, x: bars.X(LEAST), y: bars.Y(i - 0.3), height: bars.Y(0.35) - bars.Y(-0.35) });
    return { rect, text: add(bars, "text", { x: bars.X(LEAST) + 4, y: bars.Y(i - 0.3) - 4 }) };
  });
  const lines = element("p", { class: "lines", "aria-hidden": "true" });
  box.append(panelRow(bars.node, lines));
  return {
    pane: bars,
    drag: [],
    reset() {},
    draw(values) {
      const sizes = memoryOf(values).map((bytes) => bytes / 1e9), whole = sizes.reduce((a, b) => a + b), flops = stepFlops(values);
      [...sizes, whole].forEach((size, i) => {
        drawn[i].rect.setAttribute("width", Math.max(0, bars.X(Math.log10(size)) - bars.X(LEAST)));
        drawn[i].text.textContent = `${KEPT[i]} ${short(size)}`;
      });
      const fits = CARDS.map((card) => `${card} GB: ${whole < 0.9 * card ? "fits" : whole <= card ? "hardly" : "does not fit"}`);
      const gpu = flops / (values.numbers === "float32" ? 2e13 : 1e14), trillion = `${short(flops / 1e12)} trillion FLOPs a step`;
      lines.textContent = ["What is kept, on a card of", ...fits, "", `${trillion}, in seconds by FLOPs alone`, `the core that made this page, float32: ${short(flops / rate)}`,
        `a GPU: ${short(gpu)}`, `64 such GPUs: ${short(gpu / 64)}`].join("\n");
      return `${values.layers} layers of width ${values.d_model}, ${values.batch} texts of ${values.length} tokens, attention ${values.attention}, `
        + `kept: ${values.keep}, ${values.numbers}. Together ${short(whole)} GB; ${fits.join("; ")}. ${trillion}.`;
    },
  };
};
