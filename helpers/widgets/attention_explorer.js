// The browser's half of AttentionExplorer: it holds all the weights, so that a slider needs no kernel.
import { BarPicture, GridPicture, MapPicture } from "./attention_pictures.js";
import { Weights } from "./attention_weights.js";
import { element, plural } from "./drawing.js";

const KEYS_OF_A_MAP = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

// A labelled slider, and a function that moves it to where get() says. word(i): what stands beside it.
function makeSlider(name, size, get, set, word) {
  const input = element("input", { type: "range", min: 0, max: size - 1, step: 1, "aria-label": name });
  const value = element("span", { class: "value" });
  input.addEventListener("input", () => set(Number(input.value)));
  const show = () => {
    input.value = get();
    value.textContent = word(get());
    input.setAttribute("aria-valuetext", word(get()));
  };
  return [element("label", {}, element("span", { class: "name" }, name), input, value), show];
}

// A slider for each leading axis with more than one map, one for the query, and a checkbox for all maps at once.
function makeControls(weights) {
  const { model, axes, sizes, queries } = weights, last = sizes.length - 1;
  const change = (name, value) => { model.set(name, value); model.save_changes(); };
  const controls = axes.map((name, axis) => makeSlider(
    name, sizes[axis], () => weights.index[axis],
    (i) => change("index", weights.index.map((now, a) => (a === axis ? i : now))),
    (i) => (axis === last ? `${i} ${weights.label()}`.trim() : String(i)),
  )).filter((_, axis) => sizes[axis] > 1);
  controls.push(makeSlider("query", queries.length, () => weights.query, (q) => change("query", q), (q) => queries[q]));
  if (sizes.slice(-2).some((n) => n > 1)) {
    const box = element("input", { type: "checkbox" });
    box.addEventListener("change", () => change("grid", box.checked));
    const label = element("label", { class: "all" }, box, `all ${plural(axes.at(-1), 2)}`);
    controls.push([label, () => { box.checked = model.get("grid"); }]);
  }
  const node = element("div", { class: "controls" }, ...controls.map(([label]) => label));
  return { node, show: () => controls.forEach(([, show]) => show()) };
}

function makeLegend({ model, vmax, anyMasked }) {
  const background = `background: linear-gradient(to right, ${model.get("colors").join(", ")})`;
  const hidden = anyMasked ? [element("span", { class: "masked" }), "hidden by the mask"] : [];
  return element("div", { class: "legend" }, "weight 0", element("span", { class: "scale", style: background }),
    String(vmax), ...hidden);
}

// The chosen weight in words, exactly.
function sentence(weights) {
  const { axes, index, query, key, queries, keys } = weights, w = weights.weight(query, key), label = weights.label();
  const numbers = axes.map((axis, i) => `${axis} ${index[i]}`).join(", ");
  const where = numbers && `${numbers}${label && ` (${label})`}, `;
  const weight = Number.isNaN(w) ? "hidden by the mask" : w.toFixed(4);
  return `${where}query “${queries[query]}” → key “${keys[key]}”: ${weight}`;
}

// Lets the pointer and the arrow keys choose a cell of the canvas; picture() is what it shows.
function listen(canvas, weights, picture) {
  const { model } = weights;
  const point = (event) => {
    const box = canvas.getBoundingClientRect();
    const cell = picture().cellAt(event.clientX - box.left, event.clientY - box.top);
    if (!cell) return;
    weights.choose(cell.query, cell.key);
    model.set("index", cell.index);
  };
  canvas.addEventListener("pointermove", point);
  canvas.addEventListener("click", (event) => { point(event); model.save_changes(); });
  canvas.addEventListener("keydown", (event) => {
    const move = KEYS_OF_A_MAP[event.key];
    if (!move) return;
    event.preventDefault();
    event.stopPropagation();
    weights.choose(weights.query + move[0], weights.key + move[1]);
    model.save_changes();
  });
}

// All but the text boxes, for the weights that the model has now; returns a function that takes it down.
function build(model, el) {
  const weights = new Weights(model), controls = makeControls(weights);
  const map = element("canvas", { tabindex: 0, role: "application", class: "map",
    "aria-roledescription": "attention map",
    "aria-label": "Attention map: rows are queries, columns are keys. Arrow keys move from cell to cell." });
  const bars = element("canvas", { role: "img", class: "bars" });
  const readout = element("div", { class: "readout", role: "status", "aria-live": "polite" });
  el.classList.add("attention-explorer");
  el.replaceChildren(controls.node, element("div", { class: "pictures" }, map, bars), readout, makeLegend(weights));

  const single = new MapPicture(map, weights), row = new BarPicture(bars, weights);
  const grid = new GridPicture(map, weights), picture = () => (model.get("grid") ? grid : single);
  let waiting = false, stopped = false;
  function draw() {
    waiting = false;
    if (stopped) return;
    controls.show();
    picture().draw();
    row.draw();
    readout.textContent = sentence(weights);
  }
  function drawSoon() {                               // several changes at once, one drawing
    if (!waiting) { waiting = true; queueMicrotask(draw); }
  }
  listen(map, weights, picture);
  const watched = ["index", "query", "key", "grid"].map((name) => `change:${name}`);
  watched.forEach((name) => model.on(name, drawSoon));
  draw();
  return () => { stopped = true; watched.forEach((name) => model.off(name, drawSoon)); };
}

// A box for each text that can be typed, and the message about one that could not be read.
function makeTexts(model) {
  const node = element("div", { class: "attention-explorer" }), shows = [];
  for (const name of Object.keys(model.get("texts"))) {
    const input = element("input", { type: "text", "aria-label": name });
    const read = () => { model.set("texts", { ...model.get("texts"), [name]: input.value }); model.save_changes(); };
    input.addEventListener("change", read);
    input.addEventListener("keydown", (event) => {    // Notebook has other plans for some keys
      event.stopPropagation();
      if (event.key === "Enter") read();
    });
    shows.push(() => { input.value = model.get("texts")[name]; });
    node.append(element("label", { class: "text" }, element("span", { class: "name" }, name), input));
  }
  const message = element("div", { role: "alert", class: "message" });
  node.append(message);
  shows.push(() => { message.textContent = model.get("message"); });
  return { node, show: () => shows.forEach((show) => show()) };
}

function render({ model, el }) {
  // Whatever has the focus keeps its keys: else JupyterLab cuts the cell at an "x".
  el.addEventListener("focusin", (event) => event.target.setAttribute("data-lm-suppress-shortcuts", "true"));
  const texts = makeTexts(model), inner = element("div");
  el.replaceChildren(texts.node, inner);
  let stop = build(model, inner);
  const again = () => { stop(); stop = build(model, inner); };
  model.on("change:message change:texts", texts.show);
  model.on("change:weights", again);
  texts.show();
  return () => { stop(); model.off("change:message change:texts", texts.show); model.off("change:weights", again); };
}

export default { render };
