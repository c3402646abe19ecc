// One map, all maps, and the weights of one query, each on a canvas.
import {
  BAR, BOLD, FAINT, FOCUS, INK, KEY, QUERY, STROKE, TEXT, TRACK, WIDEST_TOKEN, channelsOf, clamp, paper, shorten, widest,
} from "./drawing.js";

// One map, with its tokens.
export class MapPicture {
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
export class GridPicture {
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
export class BarPicture {
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
