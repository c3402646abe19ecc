// The browser's half of AttentionExplorer: it holds all the weights, so that a slider needs no kernel.
// It stays one file without imports: a notebook loads it as one module, and the site writes it into its pages.

const TEXT = "12px system-ui, sans-serif", BOLD = "bold 12px system-ui, sans-serif";
const INK = "#1a1a1a", FAINT = "#767676", STROKE = "#8c8c8c", FOCUS = "#d55e00", BAR = "#009e73", TRACK = "#f1f1f1";
const QUERY = "#a9558a", KEY = "#a06c00";             // the course's purple and orange, dark enough for small text
const KEYS_OF_A_MAP = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
const WIDEST_TOKEN = 110;                             // in CSS pixels, like all sizes here

const clamp = (x, low, high) => Math.min(Math.max(x, low), high);
const plural = (name, n) => (n === 1 ? name : name + "s");

function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

// [red, green, blue] of a colour such as "#9FD8C4".
const channelsOf = (color) => [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16));

// 256 colours from 0 to the end of the scale, between evenly spaced stops.
function palette(stops) {
  const channels = stops.map(channelsOf);
  return Array.from({ length: 256 }, (_, i) => {
    const x = (i / 255) * (stops.length - 1), k = Math.min(Math.floor(x), stops.length - 2);
    return channels[k].map((c, j) => Math.round(c + (x - k) * (channels[k + 1][j] - c)));
  });
}

// Gives a canvas its size, sharp on every screen; returns its drawing context, cleared to white.
function paper(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1, w = Math.round(width * ratio), h = Math.round(height * ratio);
  if (canvas.width !== w || canvas.height !== h) {
    Object.assign(canvas, { width: w, height: h });
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  }
  const g = canvas.getContext("2d");
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.fillStyle = "#ffffff";
  g.fillRect(0, 0, width, height);
  return g;
}

function shorten(g, text, width) {
  if (g.measureText(text).width <= width) return text;
  while (text && g.measureText(text + "…").width > width) text = text.slice(0, -1);
  return text + "…";
}

function widest(canvas, tokens, font) {
  const g = canvas.getContext("2d");
  g.font = font;
  return Math.min(WIDEST_TOKEN, Math.max(...tokens.map((token) => g.measureText(token).width)));
}

// The weights of a model, and which of them is chosen.
class Weights {
  constructor(model) {
    const shape = model.get("shape"), bytes = model.get("weights");
    this.model = model;
    this.values = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
    this.sizes = shape.slice(0, -2);                  // of the leading axes
    [this.T_q, this.T_k] = shape.slice(-2);
    this.axes = model.get("axes");
    this.queries = model.get("query_tokens");
    this.keys = model.get("key_tokens");
    this.labels = model.get("labels");
    this.vmax = model.get("vmax");
    this.masked = model.get("masked");
    this.colors = palette(model.get("colors"));
    this.anyMasked = this.values.some(Number.isNaN);
  }

  get index() { return this.model.get("index"); }

  get query() { return this.model.get("query"); }

  get key() { return this.model.get("key"); }

  // Where the weights of a map start.
  start(index = this.index) {
    return index.reduce((flat, i, axis) => flat * this.sizes[axis] + i, 0) * this.T_q * this.T_k;
  }

  label(index = this.index) { return this.labels[this.start(index) / (this.T_q * this.T_k)] || ""; }

  weight(q, k) { return this.values[this.start() + q * this.T_k + k]; }

  channels(w) { return this.colors[clamp(Math.round((w / this.vmax) * 255), 0, 255)]; }

  color(w) { return Number.isNaN(w) ? this.masked : `rgb(${this.channels(w)})`; }

  choose(q, k) {
    this.model.set("query", clamp(q, 0, this.T_q - 1));
    this.model.set("key", clamp(k, 0, this.T_k - 1));
  }
}

// One map, with its tokens.
class MapPicture {
  constructor(canvas, weights) {
    const { T_q, T_k, queries, keys } = weights, tokens = widest(canvas, keys, TEXT);
    this.canvas = canvas;
    this.weights = weights;
    this.cell = clamp(Math.floor(400 / Math.max(T_q, T_k)), 7, 40);
    this.every = Math.max(1, Math.ceil(14 / this.cell));              // which tokens have room for their label
    this.upright = tokens + 4 > this.cell * this.every;
    this.left = widest(canvas, queries, TEXT) + 30;
    this.top = 2;
    this.width = T_k * this.cell;
    this.height = T_q * this.cell;
    this.bottom = (this.upright ? tokens : 14) + 26;
  }

  draw() {
    const g = paper(this.canvas, this.left + this.width + 4, this.height + this.bottom + 4);
    this.drawCells(g);
    this.drawFrames(g);
    g.textBaseline = "middle";
    this.drawQueries(g);
    this.drawKeys(g);
    this.drawTitles(g);
  }

  drawCells(g) {
    const { T_q, T_k } = this.weights, { cell } = this;
    for (let q = 0; q < T_q; q++) for (let k = 0; k < T_k; k++) {
      const w = this.weights.weight(q, k), x = this.left + k * cell, y = this.top + q * cell;
      g.fillStyle = this.weights.color(w);
      g.fillRect(x, y, cell, cell);
      if (Number.isNaN(w)) {
        g.strokeStyle = STROKE;
        g.beginPath();
        g.moveTo(x + 2, y + cell - 2);
        g.lineTo(x + cell - 2, y + 2);
        g.stroke();
      }
    }
  }

  // Around the map, the chosen cell, and the chosen query's row.
  drawFrames(g) {
    const { query, key } = this.weights, { left, top, width, height, cell } = this;
    Object.assign(g, { strokeStyle: FAINT, lineWidth: 1 });
    g.strokeRect(left - 0.5, top - 0.5, width + 1, height + 1);
    Object.assign(g, { strokeStyle: FOCUS, lineWidth: 2 });
    g.strokeRect(left + key * cell, top + query * cell, cell, cell);
    Object.assign(g, { strokeStyle: QUERY, lineWidth: 1.5 });
    g.strokeRect(left - 1, top - 1 + query * cell, width + 2, cell + 2);
  }

  // The chosen token has its label, and so has every few of the others, but those too near to it.
  isLabelled(i, chosen) {
    return i === chosen || (i % this.every === 0 && Math.abs(i - chosen) >= this.every);
  }

  drawQueries(g) {
    const { queries, query } = this.weights;
    g.textAlign = "right";
    queries.forEach((token, q) => {
      if (!this.isLabelled(q, query)) return;
      Object.assign(g, q === query ? { font: BOLD, fillStyle: QUERY } : { font: TEXT, fillStyle: INK });
      g.fillText(shorten(g, token, WIDEST_TOKEN), this.left - 6, this.top + (q + 0.5) * this.cell);
    });
  }

  drawKeys(g) {
    const { keys, key } = this.weights;
    g.textAlign = this.upright ? "right" : "center";
    keys.forEach((token, k) => {
      if (!this.isLabelled(k, key)) return;
      Object.assign(g, k === key ? { font: BOLD, fillStyle: KEY } : { font: TEXT, fillStyle: INK });
      g.save();
      g.translate(this.left + (k + 0.5) * this.cell, this.height + 8);
      if (this.upright) g.rotate(-Math.PI / 2); else g.translate(0, 7);
      g.fillText(shorten(g, token, WIDEST_TOKEN), 0, 0);
      g.restore();
    });
  }

  drawTitles(g) {
    Object.assign(g, { font: BOLD, textAlign: "center", fillStyle: KEY });
    g.fillText("keys", this.left + this.width / 2, this.height + this.bottom - 6);
    g.save();
    g.translate(9, this.top + this.height / 2);
    g.rotate(-Math.PI / 2);
    g.fillStyle = QUERY;
    g.fillText("queries", 0, 0);
    g.restore();
  }

  // The cell at a point of the canvas, if there is one.
  cellAt(x, y) {
    const query = Math.floor((y - this.top) / this.cell), key = Math.floor((x - this.left) / this.cell);
    const inside = query >= 0 && query < this.weights.T_q && key >= 0 && key < this.weights.T_k;
    return inside ? { index: this.weights.index, query, key } : null;
  }
}

// The maps of the last two leading axes at once, small and without tokens.
class GridPicture {
  constructor(canvas, weights) {
    const { T_q, T_k } = weights, sizes = weights.sizes.slice(-2);
    this.canvas = canvas;
    this.weights = weights;
    this.tiles = new Map();                           // pictures of maps, a pixel a cell, by where their weights start
    this.places = [];                                 // of the maps: {x, y, index}
    this.sizes = sizes;
    this.columns = sizes.length === 2 ? sizes[1] : Math.ceil(Math.sqrt(sizes[0]));
    this.rows = sizes.length === 2 ? sizes[0] : Math.ceil(sizes[0] / this.columns);
    this.unit = clamp(Math.min(Math.floor(800 / this.columns / T_k), Math.floor(480 / this.rows / T_q)), 1, 16);
    this.width = T_k * this.unit;
    this.height = T_q * this.unit;
    this.line = 14;
    this.gap = 10;
    this.head = weights.labels.length ? 2 + 2 * this.line : 16;
  }

  draw() {
    const { weights, sizes, columns, rows, width, height, gap, head } = this;
    const fixed = weights.index.slice(0, weights.sizes.length - sizes.length);
    const g = paper(this.canvas, Math.max(180, columns * (width + gap) + gap), rows * (height + gap + head) + gap);
    Object.assign(g, { imageSmoothingEnabled: false, textBaseline: "bottom", textAlign: "left" });
    this.places = Array.from({ length: sizes.reduce((a, b) => a * b) }, (_, n) => {
      const row = Math.floor(n / columns), column = n % columns;
      const index = [...fixed, ...(sizes.length === 2 ? [row, column] : [n])];
      return { x: gap + column * (width + gap), y: gap + head + row * (height + gap + head), index };
    });
    this.places.forEach((place) => this.drawOne(g, place));
  }

  drawOne(g, { x, y, index }) {
    const { weights, width, height } = this, start = weights.start(index);
    const chosen = index.every((i, axis) => i === weights.index[axis]);
    g.drawImage(this.tile(start), x, y, width, height);
    if (weights.anyMasked && this.unit >= 4) this.drawStrokes(g, x, y, start);
    Object.assign(g, chosen ? { lineWidth: 3, strokeStyle: FOCUS } : { lineWidth: 1, strokeStyle: FAINT });
    g.strokeRect(x - 0.5, y - 0.5, width + 1, height + 1);
    Object.assign(g, chosen ? { fillStyle: FOCUS, font: BOLD } : { fillStyle: INK, font: TEXT });
    this.drawTitle(g, x, y, index);
  }

  drawTitle(g, x, y, index) {
    const { weights, width, gap, line } = this, label = weights.label(index);
    const numbers = index.slice(-this.sizes.length).join("."), title = `${weights.axes.at(-1)} ${numbers}`;
    const fits = g.measureText(title).width < width + gap;
    g.fillText(fits ? title : numbers, x, y - 2 - (weights.labels.length ? line : 0));
    g.font = TEXT;
    if (label) g.fillText(shorten(g, label, width + gap - 1), x, y - 2);
  }

  // A line through each hidden cell: grey alone is not a cue for everyone.
  drawStrokes(g, x, y, start) {
    const { weights: { values, T_q, T_k }, unit } = this;
    Object.assign(g, { lineWidth: 0.5, strokeStyle: STROKE });
    g.beginPath();
    for (let i = 0; i < T_q * T_k; i++) if (Number.isNaN(values[start + i])) {
      const left = x + (i % T_k) * unit, top = y + Math.floor(i / T_k) * unit;
      g.moveTo(left, top + unit);
      g.lineTo(left + unit, top);
    }
    g.stroke();
  }

  tile(start) {
    if (!this.tiles.has(start)) this.tiles.set(start, this.makeTile(start));
    return this.tiles.get(start);
  }

  makeTile(start) {
    const { T_q, T_k, values, masked } = this.weights, grey = channelsOf(masked);
    const tile = Object.assign(document.createElement("canvas"), { width: T_k, height: T_q });
    const g = tile.getContext("2d"), picture = g.createImageData(T_k, T_q);
    for (let i = 0; i < T_q * T_k; i++) {
      const w = values[start + i], channels = Number.isNaN(w) ? grey : this.weights.channels(w);
      picture.data.set([...channels, 255], 4 * i);
    }
    g.putImageData(picture, 0, 0);
    return tile;
  }

  // The cell at a point of the canvas, if there is one.
  cellAt(x, y) {
    const { width, height, weights } = this;
    const place = this.places.find((p) => x >= p.x && x < p.x + width && y >= p.y && y < p.y + height);
    return place ? {
      index: place.index,
      query: Math.floor(((y - place.y) / height) * weights.T_q),
      key: Math.floor(((x - place.x) / width) * weights.T_k),
    } : null;
  }
}

// The weights of the chosen query, one bar for each key.
class BarPicture {
  constructor(canvas, weights) {
    this.canvas = canvas;
    this.weights = weights;
    this.row = clamp(Math.floor(400 / weights.T_k), 7, 22);
    this.every = Math.max(1, Math.ceil(13 / this.row));
    this.left = widest(canvas, weights.keys, BOLD) + 8;
    this.length = 170;                                // of a bar at vmax
    this.number = 54;                                 // room for a weight
  }

  draw() {
    const { weights, left, length, number, row } = this, title = `query “${weights.queries[weights.query]}”`;
    const g = paper(this.canvas, left + length + number, weights.T_k * row + 26);
    Object.assign(g, { textBaseline: "middle", font: BOLD, fillStyle: QUERY, textAlign: "left" });
    g.fillText(shorten(g, title, left + length + number - 4), 4, 10);
    weights.keys.forEach((token, k) => this.drawBar(g, token, k));
    this.canvas.setAttribute("aria-label", `Weights of ${title}, one bar a key`);
  }

  drawBar(g, token, k) {
    const { weights, left, length, row } = this, w = weights.weight(weights.query, k), hidden = Number.isNaN(w);
    const y = 24 + k * row, middle = y + row / 2, chosen = k === weights.key;
    g.fillStyle = TRACK;
    g.fillRect(left, y + 1, length, row - 2);
    g.fillStyle = hidden ? weights.masked : BAR;
    g.fillRect(left, y + 1, hidden ? length : length * clamp(w / weights.vmax, 0, 1), row - 2);
    if (k % this.every !== 0 && !chosen) return;
    Object.assign(g, chosen ? { font: BOLD, fillStyle: KEY } : { font: TEXT, fillStyle: INK });
    g.textAlign = "right";
    g.fillText(shorten(g, token, WIDEST_TOKEN), left - 6, middle);
    g.textAlign = "left";
    g.fillText(hidden ? "hidden" : w.toFixed(2), left + length + 5, middle);
  }
}

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
