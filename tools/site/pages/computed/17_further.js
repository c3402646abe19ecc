// The lab of lesson 17: the memory and the time of training a BERT, from its sizes.
const CARDS = [8, 24, 80], PARTS = ["parameters, gradients, Adam", "activations", "output head"], DAY = 86400;
const PEAK = { float32: 19.5e12, mixed: 312e12 };                     // FLOPs a second of an A100
const UNITS = [["years", 365 * DAY], ["days", DAY], ["hours", 3600], ["minutes", 60], ["seconds", 1]];
const START = { layers: 12, d_model: 768, length: 512, batch: 256, attention: "fused", checkpointing: "off", precision: "float32", dropout: "on",
  utilisation: 44 };

const parametersOf = (layers, d) => layers * (12 * d ** 2 + 13 * d) + (30522 + 512 + 2 + 2) * d + d ** 2 + d;

// The bytes of parameters, gradients, Adam, activations, and of the output head for masked tokens.
function memoryOf({ layers, d_model: d, length, batch, attention, checkpointing, precision, dropout }) {
  const count = parametersOf(layers, d), tokens = batch * length, all = checkpointing === "off", whole = all ? layers : 1;
  const full = precision === "float32", heads = Math.max(1, Math.floor(d / 64)), fused = attention === "fused", drops = dropout === "on";
  const product = full ? 4 : 2, ofWeight = drops ? 4 + 1 + product : full ? 4 : 4 + 2;       // before a mask of a byte, the mask, after it
  const copies = full ? 0 : 2 * whole * 12 * d ** 2;
  const inputs = full ? layers - whole : all ? 0 : layers;   // in float32 a whole layer has its input
  const vectors = (full ? 4 * 16 : 2 * 16 + 4 * 2) + (drops ? 6 : 0);
  const ofHead = fused ? 4 : ofWeight * length;
  const ofLayers = tokens * (whole * (vectors * d + 16 + heads * ofHead) + inputs * 4 * d);
  return [4 * count + copies, 4 * count, 8 * count, ofLayers, 3 * 4 * 0.15 * tokens * 30522];
}

function stepFlops({ layers, d_model: d, length, batch, checkpointing }) {
  const passes = checkpointing === "off" ? 3 : 4;
  return batch * length * (layers * passes * (24 * d ** 2 + 4 * d * length) + 0.15 * 3 * 2 * (d ** 2 + 30522 * d));
}

// The seconds for 43 billion tokens, on an A100 and on the core with this rate.
function timesOf(values, rate) {
  const ofRun = (43e9 / (values.batch * values.length)) * stepFlops(values);
  return [ofRun / ((PEAK[values.precision] * values.utilisation) / 100), ofRun / rate];
}

const short = (x) => (x >= 99.5 ? Math.round(x).toLocaleString("en-US") : String(Number(x.toPrecision(2))));

function duration(seconds) {
  const [unit, size] = UNITS.find((one) => seconds >= 2 * one[1]) ?? UNITS.at(-1);
  return `${short(seconds / size)} ${unit}`;
}

// GB of one layer's weights of attention in float32, where they are formed; and what a peak may be where the sum is `whole` GB.
const tableOf = ({ d_model: d, length, batch, attention }) => (attention === "explicit" ? 4e-9 * batch * Math.max(1, Math.floor(d / 64)) * length ** 2 : 0);
const peakBetween = (whole, table) => [0.75 * whole, 1.4 * whole + 2 * table];

const HALO = "paint-order: stroke; stroke: var(--paper); stroke-width: 4px";            // lines stop around words

const summed = (sizes) => sizes.reduce((a, b) => a + b);

function billOf(values, rate) {
  const [parameters, gradients, adam, ...rest] = memoryOf(values).map((bytes) => bytes / 1e9), parts = [parameters + gradients + adam, ...rest];
  const whole = summed(parts), [low, high] = peakBetween(whole, tableOf(values)), [took, here] = timesOf(values, rate);
  return { parts, whole, low, high, took, here, fits: CARDS.map((card) => (high <= card ? "yes" : low > card ? "no" : "maybe")) };
}

function scoreOf(values, { fits, took }) {
  if (["layers", "d_model", "length", "dropout", "utilisation"].some((name) => values[name] !== START[name])) {
    return "Score: only for 12 layers of width 768, 512 tokens, dropout on, 44 %";
  }
  return fits[1] === "yes" ? `Score: ${duration(took)} with a batch of ${values.batch}` : "Score: none yet, 24 GB needs a yes";
}

// A panel of two bars, each of parts, on an axis from 0: above what was before the last change, below what is now. A bar that is cut at
// the end of the axis has an arrow there. Returns the panel, what places a value on its axis, and what shows a row.
function stacksOf({ height, head, rows, label, end, step, classes }) {
  const ticks = Array.from({ length: end / step + 1 }, (_, i) => i * step), tops = [head + 0.5, head + 1.4], tall = [0.25, 0.45];
  const pane = panel({ width: 420, height, y: { label: "", from: 0, to: rows + head, ticks: [] }, x: { label, from: 0, to: end, ticks } });
  const at = (value) => pane.X(Math.min(value, end));
  const bars = tops.map((top, row) => classes.map((name) => add(pane, "rect", { class: name, "fill-opacity": row ? 1 : 0.5, y: pane.Y(top),
    height: pane.Y(tall[row]) - pane.Y(0) })));
  const words = tops.map((top) => add(pane, "text", { x: pane.X(0) + 4, y: pane.Y(top - 0.12), style: HALO }));
  const arrows = tops.map((top, row) => {
    const x = pane.X(end), y = pane.Y(top + tall[row] / 2);
    return add(pane, "path", { style: "fill: var(--ink); stroke: var(--paper)", d: `M${x - 14} ${y - 9}L${x} ${y}L${x - 14} ${y + 9}z` });
  });
  return { pane, at, show(row, sizes, said) {
    let left = 0;
    sizes.forEach((size, i) => {
      bars[row][i].setAttribute("x", at(left));
      bars[row][i].setAttribute("width", at(left + size) - at(left));
      left += size;
    });
    arrows[row].setAttribute("visibility", left > end ? "visible" : "hidden");
    words[row].textContent = said;
  } };
}

computedLabs.cost = (box, { rate }) => {
  const names = Object.keys(START), score = element("p", { "aria-hidden": "true" }, element("strong")), last = { now: START, before: null, moved: "" };
  const memory = stacksOf({ height: 230, head: 1.1, rows: 2.5, label: "GB", end: 140, step: 20, classes: ["kept", "kept activations", "kept head"] });
  const clock = stacksOf({ height: 160, head: 0, rows: 2.1, label: "days on an A100, for 43 billion tokens", end: 60, step: 10, classes: [""] });
  const legend = element("p", { "aria-hidden": "true" }), peak = add(memory.pane, "path", { class: "curve ink" });
  const verdicts = CARDS.map((card, i) => {                  // the middle one stands higher, the others beside it
    add(memory.pane, "path", { stroke: "currentColor", "stroke-dasharray": "5 4", d: `M${memory.at(card)} ${memory.pane.Y(0.8)}V${memory.pane.Y(3.6)}` });
    return add(memory.pane, "text", { x: memory.at(card), y: memory.pane.Y(i === 1 ? 0.35 : 0.7), dx: [-10, 0, 0][i], "text-anchor": i ? "middle" : "start" });
  });
  // The state before the control that moved last was touched; none where the lab began.
  const beforeOf = (values) => {
    const moved = names.filter((name) => values[name] !== last.now[name]).join();
    if (names.every((name) => values[name] === START[name])) Object.assign(last, { before: null, moved: "" });
    else if (moved && moved !== last.moved) Object.assign(last, { before: last.now, moved });
    last.now = values;
    return last.before;
  };
  box.append(score, panelRow(memory.pane.node, clock.pane.node), legend);
  return {
    pane: memory.pane,
    drag: [],
    reset() {},
    draw(values) {
      const before = beforeOf(values), bill = billOf(values, rate), { parts, whole, low, high, took, here, fits } = bill, { utilisation } = values;
      const most = parts.indexOf(Math.max(...parts)), scored = scoreOf(values, bill), old = before && billOf(before, rate);
      score.firstChild.textContent = scored;
      memory.show(0, old ? old.parts : [0, 0, 0], old ? `before the change: ${short(old.whole)} GB` : "move a control: the state before stays here");
      memory.show(1, parts, `now: ${short(whole)} GB (line below: its peak, ${short(low)} to ${short(high)} GB)`);
      clock.show(0, [old ? old.took / DAY : 0], old ? `before the change: ${duration(old.took)}` : "");
      clock.show(1, [took / DAY], `now, at ${utilisation} % of its peak: ${duration(took)}`);
      legend.textContent = `From the left: ${PARTS.map((name, i) => `${name} ${short(parts[i])} GB`).join("; ")}. `
        + `The core that made this page takes ${duration(here)}, in float32.`;
      peak.setAttribute("d", `M${memory.at(low)} ${memory.pane.Y(3.15)}H${memory.at(high)}`);
      verdicts.forEach((node, i) => { node.textContent = `${CARDS[i]} GB: ${fits[i]}`; });
      return `${values.layers} layers of width ${values.d_model}, ${values.batch} texts of ${values.length} tokens, attention ${values.attention}, `
        + `checkpointing ${values.checkpointing}, ${values.precision}, dropout ${values.dropout}. In sum ${short(whole)} GB, `
        + `the peak from ${short(low)} to ${short(high)} GB. Is a card enough? ${CARDS.map((card, i) => `${card} GB: ${fits[i]}`).join(", ")}. `
        + `The largest part: ${PARTS[most]}, ${((100 * parts[most]) / whole).toFixed(0)} %. 43 billion tokens take an A100 at ${utilisation} % `
        + `of its peak ${duration(took)}. ${scored}.${old ? ` Before the last change: ${short(old.whole)} GB, ${duration(old.took)}.` : ""}`;
    },
  };
};
