// The lab of lesson 17: the memory and the operations of training a BERT, from its sizes.
const CARDS = [8, 24, 80], KEPT = ["parameters", "gradients", "Adam", "activations", "output head"];
const PEAK = { float32: 19.5e12, mixed: 312e12 };                     // FLOPs a second of an A100
const STRONG = [1, 0.6, 0.3, 1, 0.5];                                 // how opaque each is, from left to right
const UNITS = [["years", 365 * 86400], ["days", 86400], ["hours", 3600], ["minutes", 60], ["seconds", 1]];

const parametersOf = (layers, d) => layers * (12 * d ** 2 + 13 * d) + (30522 + 512 + 2 + 2) * d + d ** 2 + d;

// The bytes of parameters, gradients, Adam, activations, and of the output head for masked tokens.
function memoryOf({ layers, d_model: d, length, batch, attention, keep, numbers }) {
  const count = parametersOf(layers, d), tokens = batch * length, all = keep === "all", whole = all ? layers : 1;
  const full = numbers === "float32", heads = Math.max(1, Math.floor(d / 64)), fused = attention === "fused", ofWeight = full ? 4 : 4 + 2;
  const copies = full ? 0 : 2 * whole * 12 * d ** 2;
  const inputs = full ? layers - whole : all ? 0 : layers;   // in float32 a whole layer has its input
  const vectors = full ? 4 * 16 : 2 * 16 + 4 * 2;
  const ofHead = fused ? 4 : ofWeight * length;
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

// What a peak may be where the sum is `whole`.
const peakBetween = (whole, { attention, keep }) => [0.85 * whole, (attention === "explicit" && keep !== "all" ? 1.7 : 1.4) * whole];

computedLabs.cost = (box, { rate }) => {
  const ticks = [0.1, 1, 10, 100, 1000], ends = [0.05, 10000], at = (size) => sum.X(Math.log10(Math.min(Math.max(size, ends[0]), ends[1])));
  const sum = panel({ width: 420, height: 130, y: { label: "", from: 0, to: 1, ticks: [] }, x: { label: "GB: dark the sum, pale where the peak may be",
    from: Math.log10(ends[0]), to: Math.log10(ends[1]), ticks: ticks.map(Math.log10), names: Object.fromEntries(ticks.map((tick) => [Math.log10(tick), tick.toLocaleString("en-US")])) } });
  const may = add(sum, "rect", { class: "kept", y: sum.Y(0.5), height: sum.Y(0.9) - sum.Y(0.5) });
  const dark = add(sum, "rect", { fill: "currentColor", width: 6, y: sum.Y(0.55), height: sum.Y(0.85) - sum.Y(0.55) });
  CARDS.forEach((card) => {
    add(sum, "path", { stroke: "currentColor", "stroke-dasharray": "5 4", d: `M${at(card)} ${sum.Y(0.2)}V${sum.Y(1)}` });
    add(sum, "text", { x: at(card), y: sum.Y(0.15), "text-anchor": "middle" }).textContent = card;
  });
  const shares = panel({ width: 420, height: 120, y: { label: "", from: 0, to: 1, ticks: [] }, x: { label: "share of the sum, %", from: 0, to: 1.04,
    ticks: [0, 0.2, 0.4, 0.6, 0.8, 1], names: { 0.2: 20, 0.4: 40, 0.6: 60, 0.8: 80, 1: 100 } } });
  const rects = KEPT.map((name, i) => add(shares, "rect", { class: `kept ${name}`, "fill-opacity": STRONG[i], y: shares.Y(0.1), height: shares.Y(0.9) - shares.Y(0.1) }));
  const lines = element("p", { class: "lines", "aria-hidden": "true" });
  box.append(panelRow(element("div", {}, sum.node, shares.node), lines));
  return {
    pane: shares,
    drag: [],
    reset() {},
    draw(values) {
      const sizes = memoryOf(values).map((bytes) => bytes / 1e9), whole = sizes.reduce((a, b) => a + b), flops = stepFlops(values);
      const [low, high] = peakBetween(whole, values), { utilisation } = values;
      Object.entries({ x: at(low), width: at(high) - at(low) }).forEach(([name, value]) => may.setAttribute(name, value));
      dark.setAttribute("x", Math.min(at(whole) - 3, at(ends[1]) - 6));
      let begin = 0;
      sizes.forEach((size, i) => {
        Object.entries({ x: shares.X(begin), width: shares.X(size / whole) - shares.X(0) }).forEach(([name, value]) => rects[i].setAttribute(name, value));
        begin += size / whole;
      });
      const fits = CARDS.map((card) => `${card} GB: ${high <= card ? "fits" : low > card ? "does not fit" : "may fit"}`);
      const between = `peak from ${short(low)} to ${short(high)} GB`, trillion = `${short(flops / 1e12)} trillion FLOPs a step`;
      const ofRun = (43e9 / (values.batch * values.length)) * flops, took = ofRun / ((PEAK[values.numbers] * utilisation) / 100);
      const most = sizes.indexOf(Math.max(...sizes)), share = (size) => `${((100 * size) / whole).toFixed(0)} %`;
      lines.replaceChildren(
        element("strong", {}, `${short(whole)} GB in sum`), `\n${between}\n${fits.join(", ")}`,
        `\nfrom left to right: ${KEPT.map((name, i) => `${name} ${short(sizes[i])} (${share(sizes[i])})`).join(", ")}`,
        `\n${trillion}\n\n`, element("strong", {}, `${duration(took)} on one A100`),
        `\nat ${utilisation} % of its peak, for 43 billion tokens\n${duration(ofRun / rate)} on the core that made this page, in float32`);
      return `${values.layers} layers of width ${values.d_model}, ${values.batch} texts of ${values.length} tokens, attention ${values.attention}, `
        + `kept: ${values.keep}, ${values.numbers}. In sum ${short(whole)} GB, ${between}; ${fits.join("; ")}. The largest part: ${KEPT[most]}, `
        + `${share(sizes[most])}. ${trillion}; 43 billion tokens take an A100 at ${utilisation} % of its peak ${duration(took)}.`;
    },
  };
};
