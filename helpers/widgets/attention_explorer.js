// The browser's half of AttentionExplorer: it holds all the weights, so that a slider needs no kernel.

const TEXT = "12px system-ui, sans-serif", BOLD = "bold 12px system-ui, sans-serif";
const INK = "#1a1a1a", FAINT = "#767676", STROKE = "#8c8c8c", FOCUS = "#d55e00";
const QUERY = "#a9558a", KEY = "#a06c00";             // the course's purple and orange, dark enough for small text
const KEYS_OF_A_MAP = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

const clamp = (x, low, high) => Math.min(Math.max(x, low), high);
const plural = (name, n) => (n === 1 ? name : name + "s");

function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

// 256 colours from 0 to the end of the scale, between evenly spaced stops such as "#9FD8C4".
function palette(stops) {
  const channels = stops.map((s) => [1, 3, 5].map((i) => parseInt(s.slice(i, i + 2), 16)));
  return Array.from({ length: 256 }, (_, i) => {
    const x = (i / 255) * (stops.length - 1), k = Math.min(Math.floor(x), stops.length - 2);
    return channels[k].map((c, j) => Math.round(c + (x - k) * (channels[k + 1][j] - c)));
  });
}

// A canvas of so many CSS pixels, sharp on every screen; returns its drawing context, cleared to paper.
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

// Everything but the boxes to type into; returns how to stop.
function build(model, el) {
  const shape = model.get("shape"), axes = model.get("axes");
  const [T_q, T_k] = shape.slice(-2), sizes = shape.slice(0, -2), labels = model.get("labels");
  const queries = model.get("query_tokens"), keys = model.get("key_tokens"), vmax = model.get("vmax");
  const bytes = model.get("weights");
  const weights = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  const colors = palette(model.get("colors")), masked = model.get("masked"), stops = model.get("colors").join(", ");
  const anyMasked = weights.some(Number.isNaN), gridAxes = sizes.length < 2 ? sizes : sizes.slice(-2);

  const at = (index) => index.reduce((flat, i, axis) => flat * sizes[axis] + i, 0) * T_q * T_k;
  const label = (index) => labels[at(index) / (T_q * T_k)] || "";
  const weight = (q, k, index = model.get("index")) => weights[at(index) + q * T_k + k];
  const color = (w) => (Number.isNaN(w) ? masked : `rgb(${colors[clamp(Math.round((w / vmax) * 255), 0, 255)]})`);

  // Controls
  const sliders = [], controls = element("div", { class: "controls" });
  function addSlider(name, size, get, set, word) {
    const input = element("input", { type: "range", min: 0, max: size - 1, step: 1, "data-lm-suppress-shortcuts": "true", "aria-label": name });
    const value = element("span", { class: "value" });
    input.addEventListener("input", () => { set(Number(input.value)); model.save_changes(); });
    sliders.push(() => { input.value = get(); value.textContent = word(get()); input.setAttribute("aria-valuetext", word(get())); });
    controls.append(element("label", {}, element("span", { class: "name" }, name), input, value));
  }
  sizes.forEach((size, axis) => {
    if (size > 1) addSlider(axes[axis], size, () => model.get("index")[axis],
      (i) => model.set("index", model.get("index").map((now, a) => (a === axis ? i : now))),
      (i) => (axis === sizes.length - 1 ? `${i} ${label(model.get("index"))}`.trim() : String(i)));
  });
  addSlider("query", T_q, () => model.get("query"), (q) => model.set("query", q), (q) => queries[q]);
  if (gridAxes.some((n) => n > 1)) {
    const box = element("input", { type: "checkbox" });
    box.addEventListener("change", () => { model.set("grid", box.checked); model.save_changes(); });
    sliders.push(() => { box.checked = model.get("grid"); });
    controls.append(element("label", { class: "all" }, box, `all ${plural(axes.at(-1), 2)}`));
  }

  // The map, the row as bars, the readout, the legend
  const map = element("canvas", { tabindex: 0, role: "application", "data-lm-suppress-shortcuts": "true", class: "map",
    "aria-roledescription": "attention map", "aria-label": "Attention map: rows are queries, columns are keys. Arrow keys move from cell to cell." });
  const bars = element("canvas", { role: "img", class: "bars" });
  const readout = element("div", { class: "readout", role: "status", "aria-live": "polite" });
  const legend = element("div", { class: "legend" }, "weight 0", element("span", { class: "scale", style: `background: linear-gradient(to right, ${stops})` }),
    String(vmax), ...(anyMasked ? [element("span", { class: "masked" }), "hidden by the mask"] : []));
  el.classList.add("attention-explorer");
  el.replaceChildren(controls, element("div", { class: "pictures" }, map, bars), readout, legend);

  // Sizes that do not change
  const g0 = map.getContext("2d");
  g0.font = TEXT;
  const wide = (tokens) => Math.min(110, Math.max(...tokens.map((t) => g0.measureText(t).width)));
  const cell = clamp(Math.floor(400 / Math.max(T_q, T_k)), 7, 40), every = Math.max(1, Math.ceil(14 / cell));
  const upright = wide(keys) + 4 > cell * every;
  const left = wide(queries) + 30, bottom = (upright ? wide(keys) : 14) + 26;

  let places = [];                                    // of the maps of a grid: {x, y, width, height, index}

  function drawMap() {
    const g = paper(map, left + T_k * cell + 4, T_q * cell + bottom + 4);
    for (let q = 0; q < T_q; q++) for (let k = 0; k < T_k; k++) {
      const w = weight(q, k), x = left + k * cell, y = 2 + q * cell;
      g.fillStyle = color(w);
      g.fillRect(x, y, cell, cell);
      if (Number.isNaN(w)) { g.strokeStyle = STROKE; g.beginPath(); g.moveTo(x + 2, y + cell - 2); g.lineTo(x + cell - 2, y + 2); g.stroke(); }
    }
    g.strokeStyle = FAINT; g.lineWidth = 1;
    g.strokeRect(left - 0.5, 1.5, T_k * cell + 1, T_q * cell + 1);
    const query = model.get("query"), key = model.get("key");
    g.strokeStyle = FOCUS; g.lineWidth = 2;
    g.strokeRect(left + key * cell, 2 + query * cell, cell, cell);
    g.strokeStyle = QUERY; g.lineWidth = 1.5;
    g.strokeRect(left - 1, 1 + query * cell, T_k * cell + 2, cell + 2);
    g.textBaseline = "middle"; g.textAlign = "right";
    for (let q = 0; q < T_q; q++) if (q % every === 0 || q === query) {
      if (q !== query && Math.abs(q - query) < every) continue;     // room for the chosen label
      g.font = q === query ? BOLD : TEXT; g.fillStyle = q === query ? QUERY : INK;
      g.fillText(shorten(g, queries[q], 110), left - 6, 2 + (q + 0.5) * cell);
    }
    for (let k = 0; k < T_k; k++) if (k % every === 0 || k === key) {
      if (k !== key && Math.abs(k - key) < every) continue;
      g.font = k === key ? BOLD : TEXT; g.fillStyle = k === key ? KEY : INK;
      g.save();
      g.translate(left + (k + 0.5) * cell, T_q * cell + 8);
      if (upright) g.rotate(-Math.PI / 2); else g.translate(0, 7);
      g.textAlign = upright ? "right" : "center";
      g.fillText(shorten(g, keys[k], 110), 0, 0);
      g.restore();
    }
    g.font = BOLD; g.textAlign = "center"; g.fillStyle = KEY;
    g.fillText("keys", left + (T_k * cell) / 2, T_q * cell + bottom - 6);
    g.save(); g.translate(9, 2 + (T_q * cell) / 2); g.rotate(-Math.PI / 2); g.fillStyle = QUERY; g.fillText("queries", 0, 0); g.restore();
  }

  const tiles = new Map();                            // of each map that was in a grid, by where its weights start, a pixel a cell
  function tileAt(start) {
    if (!tiles.has(start)) {
      const tile = Object.assign(document.createElement("canvas"), { width: T_k, height: T_q }), t = tile.getContext("2d");
      const picture = t.createImageData(T_k, T_q), grey = palette([masked, masked])[0];
      for (let i = 0; i < T_q * T_k; i++) {
        const w = weights[start + i], c = Number.isNaN(w) ? grey : colors[clamp(Math.round((w / vmax) * 255), 0, 255)];
        picture.data.set([...c, 255], 4 * i);
      }
      t.putImageData(picture, 0, 0);
      tiles.set(start, tile);
    }
    return tiles.get(start);
  }

  function drawGrid() {
    const columns = gridAxes.length === 2 ? gridAxes[1] : Math.ceil(Math.sqrt(gridAxes[0]));
    const rows = gridAxes.length === 2 ? gridAxes[0] : Math.ceil(gridAxes[0] / columns);
    const unit = clamp(Math.min(Math.floor(800 / columns / T_k), Math.floor(480 / rows / T_q)), 1, 16);
    const line = 14, gap = 10, head = labels.length ? 2 + 2 * line : 16;
    const width = T_k * unit, height = T_q * unit, fixed = model.get("index").slice(0, sizes.length - gridAxes.length);
    const g = paper(map, Math.max(180, columns * (width + gap) + gap), rows * (height + gap + head) + gap);
    g.imageSmoothingEnabled = false;
    g.textBaseline = "bottom"; g.textAlign = "left";
    places = [];
    for (let n = 0; n < gridAxes.reduce((a, b) => a * b); n++) {
      const row = Math.floor(n / columns), column = n % columns;
      const index = [...fixed, ...(gridAxes.length === 2 ? [row, column] : [n])], start = at(index);
      const x = gap + column * (width + gap), y = gap + head + row * (height + gap + head);
      const chosen = index.every((i, axis) => i === model.get("index")[axis]);
      g.drawImage(tileAt(start), x, y, width, height);
      if (anyMasked && unit >= 4) {                   // grey alone is not a cue for everyone
        g.lineWidth = 0.5; g.strokeStyle = STROKE; g.beginPath();
        for (let i = 0; i < T_q * T_k; i++) if (Number.isNaN(weights[start + i])) {
          const left = x + (i % T_k) * unit, top = y + Math.floor(i / T_k) * unit;
          g.moveTo(left, top + unit); g.lineTo(left + unit, top);
        }
        g.stroke();
      }
      g.lineWidth = chosen ? 3 : 1; g.strokeStyle = chosen ? FOCUS : FAINT;
      g.strokeRect(x - 0.5, y - 0.5, width + 1, height + 1);
      g.fillStyle = chosen ? FOCUS : INK; g.font = chosen ? BOLD : TEXT;
      const title = index.slice(-gridAxes.length).join("."), name = axes.at(-1) + " ";
      g.fillText(g.measureText(name + title).width < width + gap ? name + title : title, x, y - 2 - (labels.length ? line : 0));
      g.font = TEXT;
      if (label(index)) g.fillText(shorten(g, label(index), width + gap - 1), x, y - 2);
      places.push({ x, y, width, height, index });
    }
  }

  function drawBars() {
    const q = model.get("query"), row = clamp(Math.floor(400 / T_k), 7, 22), step = Math.max(1, Math.ceil(13 / row));
    const label = wide(keys) + 8, length = 170, number = 54;
    const g = paper(bars, label + length + number, T_k * row + 26);
    g.textBaseline = "middle"; g.font = BOLD; g.fillStyle = QUERY; g.textAlign = "left";
    g.fillText(shorten(g, `query “${queries[q]}”`, label + length + number - 4), 4, 10);
    for (let k = 0; k < T_k; k++) {
      const w = weight(q, k), y = 24 + k * row, middle = y + row / 2, chosen = k === model.get("key");
      const shown = k % step === 0 || chosen;
      g.font = chosen ? BOLD : TEXT; g.fillStyle = chosen ? KEY : INK; g.textAlign = "right";
      if (shown) g.fillText(shorten(g, keys[k], 110), label - 6, middle);
      g.fillStyle = "#f1f1f1"; g.fillRect(label, y + 1, length, row - 2);
      g.fillStyle = Number.isNaN(w) ? masked : "#009e73";
      g.fillRect(label, y + 1, Number.isNaN(w) ? length : length * clamp(w / vmax, 0, 1), row - 2);
      g.fillStyle = chosen ? KEY : INK; g.textAlign = "left";
      if (shown) g.fillText(Number.isNaN(w) ? "hidden" : w.toFixed(2), label + length + 5, middle);
    }
    bars.setAttribute("aria-label", `Weights of query “${queries[q]}”, one bar a key`);
  }

  function speak() {
    const q = model.get("query"), k = model.get("key"), w = weight(q, k);
    const name = label(model.get("index")), numbers = axes.map((axis, i) => `${axis} ${model.get("index")[i]}`).join(", ");
    const where = numbers && `${numbers}${name && ` (${name})`}, `;
    readout.textContent = `${where}query “${queries[q]}” → key “${keys[k]}”: ${Number.isNaN(w) ? "hidden by the mask" : w.toFixed(4)}`;
  }

  let waiting = false, stopped = false;
  function draw() {
    waiting = false;
    if (stopped) return;
    sliders.forEach((show) => show());
    if (model.get("grid")) drawGrid(); else drawMap();
    drawBars();
    speak();
  }
  function drawSoon() {                               // several changes at once, one drawing
    if (!waiting) { waiting = true; queueMicrotask(draw); }
  }

  function select(q, k) {
    model.set("query", clamp(q, 0, T_q - 1));
    model.set("key", clamp(k, 0, T_k - 1));
  }
  function point(event, click) {
    const box = map.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    if (!model.get("grid")) {
      const k = Math.floor((x - left) / cell), q = Math.floor((y - 2) / cell);
      if (k >= 0 && k < T_k && q >= 0 && q < T_q) select(q, k);
    } else {
      const place = places.find((p) => x >= p.x && x < p.x + p.width && y >= p.y && y < p.y + p.height);
      if (place) {
        select(Math.floor(((y - place.y) / place.height) * T_q), Math.floor(((x - place.x) / place.width) * T_k));
        model.set("index", place.index);
      }
    }
    if (click) model.save_changes();
  }
  map.addEventListener("pointermove", (event) => point(event, false));
  map.addEventListener("click", (event) => point(event, true));
  map.addEventListener("keydown", (event) => {
    const move = KEYS_OF_A_MAP[event.key];
    if (!move) return;
    event.preventDefault();
    event.stopPropagation();
    select(model.get("query") + move[0], model.get("key") + move[1]);
    model.save_changes();
  });

  const watched = ["index", "query", "key", "grid"].map((name) => `change:${name}`);
  watched.forEach((name) => model.on(name, drawSoon));
  draw();
  return () => { stopped = true; watched.forEach((name) => model.off(name, drawSoon)); };
}

function render({ model, el }) {
  const boxes = element("div", { class: "attention-explorer" }), inner = element("div"), shows = [];
  for (const name of Object.keys(model.get("texts"))) {
    const input = element("input", { type: "text", "data-lm-suppress-shortcuts": "true", "aria-label": name });
    const show = () => { input.value = model.get("texts")[name]; };
    const read = () => { model.set("texts", { ...model.get("texts"), [name]: input.value }); model.save_changes(); };
    input.addEventListener("change", read);
    input.addEventListener("keydown", (event) => {      // JupyterLab has other plans for some keys
      event.stopPropagation();
      if (event.key === "Enter") read();
    });
    shows.push(show);
    boxes.append(element("label", { class: "text" }, element("span", { class: "name" }, name), input));
  }
  const alert = element("div", { role: "alert", class: "message" });
  boxes.append(alert);
  const say = () => { alert.textContent = model.get("message"); shows.forEach((show) => show()); };
  el.replaceChildren(boxes, inner);
  let stop = build(model, inner);
  const again = () => { stop(); stop = build(model, inner); };
  model.on("change:message change:texts", say);
  model.on("change:weights", again);
  say();
  return () => { stop(); model.off("change:message change:texts", say); model.off("change:weights", again); };
}

export default { render };
