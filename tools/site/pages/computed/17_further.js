// The lab of lesson 17: the memory and the time of training a BERT, from its sizes.
const CARDS = [8, 24, 80], KEPT = ["parameters", "gradients", "Adam", "activations", "output head"];
const PEAK = { float32: 19.5e12, mixed: 312e12 };                     // FLOPs a second of an A100
const HOUR = 3600, YEAR = 365 * 86400, UNITS = [["years", YEAR], ["days", 86400], ["hours", HOUR], ["minutes", 60], ["seconds", 1]];
const START = { layers: 24, d_model: 1024, length: 512, batch: 256, attention: "fused", checkpointing: "off", precision: "float32", utilisation: 44 };
const GIGABYTES = [0.01, 0.1, 1, 10, 100, 1000], TIMES = { hour: HOUR, day: 24 * HOUR, month: 730 * HOUR, year: YEAR, "100 years": 100 * YEAR };

const parametersOf = (layers, d) => layers * (12 * d ** 2 + 13 * d) + (30522 + 512 + 2 + 2) * d + d ** 2 + d;

// The bytes of parameters, gradients, Adam, activations, and of the output head for masked tokens.
function memoryOf({ layers, d_model: d, length, batch, attention, checkpointing, precision }) {
  const count = parametersOf(layers, d), tokens = batch * length, all = checkpointing === "off", whole = all ? layers : 1;
  const full = precision === "float32", heads = Math.max(1, Math.floor(d / 64)), fused = attention === "fused", ofWeight = full ? 4 : 4 + 2;
  const copies = full ? 0 : 2 * whole * 12 * d ** 2;
  const inputs = full ? layers - whole : all ? 0 : layers;   // in float32 a whole layer has its input
  const vectors = full ? 4 * 16 : 2 * 16 + 4 * 2;
  const ofHead = fused ? 4 : ofWeight * length;
  const ofLayers = tokens * (whole * (vectors * d + 16 + heads * ofHead) + inputs * 4 * d);
  return [4 * count + copies, 4 * count, 8 * count, ofLayers, 3 * 4 * 0.15 * tokens * 30522];
}

function stepFlops({ layers, d_model: d, length, batch, attention, checkpointing }) {
  const again = checkpointing === "off" ? 0 : 1, scores = (attention === "fused" ? 3.5 : 3) + again;
  return batch * length * (layers * ((3 + again) * 24 * d ** 2 + scores * 4 * d * length) + 0.15 * 3 * 2 * (d ** 2 + 30522 * d));
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

const summed = (sizes) => sizes.reduce((a, b) => a + b);

// A panel of bars on a logarithmic axis: words above each bar, and a line where the lab began. Returns the panel, what places a value
// on its axis, and what shows values and words.
function barsOf({ height, head, rows, label, ticks, ends, classes, began }) {
  const named = Object.entries(ticks).map(([name, value]) => [Math.log10(value), name]);
  const pane = panel({ width: 420, height, y: { label: "", from: 0, to: rows + head, ticks: [] }, x: { label, from: Math.log10(ends[0]), to: Math.log10(ends[1]),
    ticks: named.map(([value]) => value), names: Object.fromEntries(named) } });
  const at = (value) => pane.X(Math.log10(Math.min(Math.max(value, ends[0]), ends[1]))), place = (row, part) => pane.Y(head + row + part);
  const bars = began.map((_, row) => add(pane, "rect", { class: classes[row], x: at(0), y: place(row, 0.5), height: place(row, 0.9) - place(row, 0.5) }));
  began.forEach((value, row) => add(pane, "path", { class: "curve ink", d: `M${at(value)} ${place(row, 0.46)}V${place(row, 0.98)}` }));
  const words = began.map((_, row) => add(pane, "text", { x: pane.X(Math.log10(ends[0])) + 4, y: place(row, 0.38) }));
  return { pane, at, place, show(values, said) {
    values.forEach((value, row) => {
      bars[row].setAttribute("width", at(value) - at(0));
      words[row].textContent = said[row];
    });
  } };
}

computedLabs.cost = (box, { rate }) => {
  const before = memoryOf(START).map((bytes) => bytes / 1e9);
  const memory = barsOf({ height: 340, head: 1.1, rows: 6, label: "GB", ends: [0.01, 1e4], began: [...before, summed(before)],
    ticks: Object.fromEntries(GIGABYTES.map((tick) => [tick.toLocaleString("en-US"), tick])), classes: [...KEPT.map((name) => `kept ${name}`), ""] });
  const clock = barsOf({ height: 130, head: 0, rows: 2, label: "time for 43 billion tokens", ticks: TIMES, ends: [HOUR / 6, 1e4 * YEAR], classes: ["", ""],
    began: timesOf(START, rate) });
  const peak = add(memory.pane, "rect", { class: "kept", "fill-opacity": 0.6, y: memory.place(5, 0.55), height: memory.place(5, 0.85) - memory.place(5, 0.55) });
  const verdicts = CARDS.map((card, i) => {                  // the middle one stands higher, the others beside it
    add(memory.pane, "path", { stroke: "currentColor", "stroke-dasharray": "5 4", d: `M${memory.at(card)} ${memory.pane.Y(i === 1 ? 0.5 : 0.6)}V${memory.pane.Y(7.1)}` });
    return add(memory.pane, "text", { x: memory.at(card), y: memory.pane.Y(i === 1 ? 0.4 : 0.9), dx: [-4, 0, 4][i], "text-anchor": ["end", "middle", "start"][i] });
  });
  box.append(panelRow(memory.pane.node, clock.pane.node));
  return {
    pane: memory.pane,
    drag: [],
    reset() {},
    draw(values) {
      const sizes = memoryOf(values).map((bytes) => bytes / 1e9), whole = summed(sizes), times = timesOf(values, rate), { utilisation } = values;
      const [low, high] = peakBetween(whole, tableOf(values)), most = sizes.indexOf(Math.max(...sizes));
      const fits = CARDS.map((card) => (high <= card ? "yes" : low > card ? "no" : "maybe"));
      memory.show([...sizes, whole], [...sizes.map((size, i) => `${KEPT[i]}: ${short(size)} GB`), `sum: ${short(whole)} GB (pale: its peak)`]);
      Object.entries({ x: memory.at(low), width: memory.at(high) - memory.at(low) }).forEach(([name, value]) => peak.setAttribute(name, value));
      verdicts.forEach((node, i) => { node.textContent = `${CARDS[i]} GB: ${fits[i]}`; });
      clock.show(times, [`one A100 at ${utilisation} % of its peak: ${duration(times[0])}`, `the core that made this page, in float32: ${duration(times[1])}`]);
      return `${values.layers} layers of width ${values.d_model}, ${values.batch} texts of ${values.length} tokens, attention ${values.attention}, `
        + `checkpointing ${values.checkpointing}, ${values.precision}. In sum ${short(whole)} GB, the peak from ${short(low)} to ${short(high)} GB. `
        + `Is a card enough? ${CARDS.map((card, i) => `${card} GB: ${fits[i]}`).join(", ")}. The largest part: ${KEPT[most]}, `
        + `${((100 * sizes[most]) / whole).toFixed(0)} %. 43 billion tokens take an A100 at ${utilisation} % of its peak ${duration(times[0])}.`;
    },
  };
};
