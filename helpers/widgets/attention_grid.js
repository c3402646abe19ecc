// The maps of the last two leading axes at once, small and without tokens, but for keys of one character below maps of one axis.
import { BOLD, FAINT, FOCUS, INK, KEY, LINE, QUERY, STROKE, TEXT, clamp, element, paper, shorten, widest } from "./drawing.js";

const BETWEEN_MAPS = 6, NARROWEST_NAMED = 34, NARROWEST_KEY = 9;      // a map or a column must be that wide to have a label

export class GridPanel {
  constructor(weights) {
    this.weights = weights;
    this.places = [];                                 // of the maps: {x, y, index}
    this.canvas = element("canvas", { tabindex: 0, role: "application", class: "map",
      "aria-roledescription": "grid of attention maps",
      "aria-label": "All attention maps. Arrow keys move from map to map, Enter locks the choice, Escape unlocks it." });
    this.node = this.canvas;
  }

  draw(room) {
    this.measure(room);
    this.paint(paper(this.canvas, this.width, this.height));
  }

  // With two axes, the names of rows and columns stand at the side and above; with one, each map has its own.
  measure(room) {
    const { weights } = this, { T_q, T_k } = weights, sizes = weights.sizes.slice(-2), two = sizes.length === 2;
    const names = Array.from({ length: two ? sizes[0] : 0 }, (_, row) => `${weights.axes.at(-2)} ${row}`);
    this.left = two ? widest(this.canvas, names, BOLD) + 10 : 2;
    this.top = two ? 20 : 4;
    const across = (columns) => (room.width - this.left) / columns - BETWEEN_MAPS;       // the width of a map
    const isNamed = !two || across(sizes[1]) >= NARROWEST_NAMED;
    this.lines = isNamed ? Math.max(0, ...weights.labels.map((label) => this.linesOf(label).length)) : 0;     // of labels
    this.line = (two ? 0 : LINE + 2) + this.lines * LINE;             // above each map
    const isShort = !two && weights.keys.every((key) => [...key].length < 2);
    const belowOf = (columns) => (isShort && across(columns) >= NARROWEST_KEY * T_k ? LINE + 2 : 0);         // room for the keys
    const cellOf = (columns) => {
      const rows = two ? sizes[0] : Math.ceil(sizes[0] / columns);
      return Math.min(across(columns) / T_k, ((room.height - this.top) / rows - this.line - belowOf(columns) - BETWEEN_MAPS) / T_q, 16);
    };
    const choices = Array.from({ length: two ? 0 : sizes[0] }, (_, i) => i + 1);
    const columns = two ? sizes[1] : choices.reduce((best, n) => (cellOf(n) > cellOf(best) ? n : best));
    const cell = Math.max(cellOf(columns), 0.1), rows = two ? sizes[0] : Math.ceil(sizes[0] / columns);
    this.cell = cell >= 2 ? Math.floor(cell * 2) / 2 : cell;
    this.below = this.cell >= NARROWEST_KEY ? belowOf(columns) : 0;
    Object.assign(this, { sizes, columns, rows, two });
    this.mapWidth = T_k * this.cell;
    this.mapHeight = T_q * this.cell;
    this.width = Math.max(this.left + columns * (this.mapWidth + BETWEEN_MAPS) + 2, 120);
    this.height = this.top + rows * (this.mapHeight + this.line + this.below + BETWEEN_MAPS);
  }

  paint(g) {
    const { weights, sizes, columns, two, mapWidth, mapHeight, left, top, line, below } = this;
    const fixed = weights.index.slice(0, weights.sizes.length - sizes.length);
    this.places = Array.from({ length: sizes.reduce((a, b) => a * b) }, (_, n) => {
      const row = Math.floor(n / columns), column = n % columns, index = [...fixed, ...(two ? [row, column] : [n])];
      return { x: left + column * (mapWidth + BETWEEN_MAPS), y: top + line + row * (mapHeight + line + below + BETWEEN_MAPS), index };
    });
    Object.assign(g, { imageSmoothingEnabled: this.cell < 2, textBaseline: "bottom" });
    if (two) this.drawNames(g);
    this.places.forEach((place) => this.drawOne(g, place));
  }

  drawNames(g) {
    const { weights, rows, columns, mapWidth, mapHeight, left, top, line } = this, [row, column] = weights.index.slice(-2);
    const [rowAxis, columnAxis] = weights.axes.slice(-2);
    const text = (name, chosen, x, y, width) => {
      Object.assign(g, chosen ? { font: BOLD, fillStyle: FOCUS } : { font: TEXT, fillStyle: INK });
      g.fillText(shorten(g, name, width), x, y);
    };
    g.font = BOLD;
    const fits = g.measureText(`${columnAxis} ${columns - 1}`).width <= mapWidth;
    g.textAlign = "center";
    for (let i = 0; i < columns; i++) {
      const x = left + i * (mapWidth + BETWEEN_MAPS) + mapWidth / 2;
      text(fits ? `${columnAxis} ${i}` : String(i), i === column, x, 16, mapWidth + BETWEEN_MAPS);
    }
    g.textAlign = "right";
    if (!fits) text(columnAxis, false, left - 8, 16, left);
    for (let i = 0; i < rows; i++) {
      text(`${rowAxis} ${i}`, i === row, left - 8, top + line + i * (mapHeight + line + BETWEEN_MAPS) + mapHeight / 2 + 7, left);
    }
  }

  drawOne(g, { x, y, index }) {
    const { weights, mapWidth, mapHeight, cell, two } = this, map = weights.map(index), label = weights.label(index);
    const chosen = index.join() === weights.index.join();
    g.drawImage(map.tile, 0, 0, map.T_k, map.T_q, x, y, mapWidth, mapHeight);
    if (map.anyMasked && cell >= 4) this.drawStrokes(g, x, y, map);
    Object.assign(g, chosen ? { lineWidth: 3, strokeStyle: FOCUS } : { lineWidth: 1, strokeStyle: FAINT });
    g.strokeRect(x - 0.5, y - 0.5, mapWidth + 1, mapHeight + 1);
    const { query, key } = weights.shown;
    g.fillStyle = QUERY;
    g.fillRect(x - 4, y + query * cell, 4, Math.max(cell, 2));
    g.fillStyle = KEY;
    g.fillRect(x + key * cell, y + mapHeight, Math.max(cell, 2), 4);
    if (this.below) this.drawKeys(g, x, y + mapHeight + this.below, key);
    Object.assign(g, { textAlign: "left", fillStyle: chosen ? FOCUS : INK, font: chosen ? BOLD : TEXT });
    const written = this.lines ? this.linesOf(label) : [], room = mapWidth;
    if (!two) g.fillText(`${weights.axes.at(-1)} ${index.at(-1)}`, x, y - 2 - this.lines * LINE, room);
    written.forEach((text, i) => {
      g.fillText(shorten(g, text, 1.4 * room), x, y - 2 - (written.length - 1 - i) * LINE, room);      // set a little closer
    });
  }

  drawKeys(g, x, y, chosen) {
    g.textAlign = "center";
    this.weights.keys.forEach((token, k) => {
      Object.assign(g, k === chosen ? { font: BOLD, fillStyle: KEY } : { font: TEXT, fillStyle: INK });
      g.fillText(token, x + (k + 0.5) * this.cell, y, this.cell);
    });
  }

  // A label in at most two lines.
  linesOf(label) {
    const [first, ...rest] = label.split(" ").filter(Boolean);
    return [first, rest.join(" ")].filter(Boolean);
  }

  // A line through each hidden cell: grey alone is not a cue for everyone.
  drawStrokes(g, x, y, { values, T_k }) {
    const { cell } = this;
    Object.assign(g, { lineWidth: 0.5, strokeStyle: STROKE });
    g.beginPath();
    values.forEach((w, i) => {
      if (!Number.isNaN(w)) return;
      const left = x + (i % T_k) * cell, top = y + Math.floor(i / T_k) * cell;
      g.moveTo(left, top + cell);
      g.lineTo(left + cell, top);
    });
    g.stroke();
  }

  // The map and cell at a point of the canvas, if there is one.
  cellAt(x, y) {
    const { mapWidth, mapHeight, cell } = this;
    const place = this.places.find((p) => x >= p.x && x < p.x + mapWidth && y >= p.y && y < p.y + mapHeight);
    return place
      ? { index: place.index, query: Math.floor((y - place.y) / cell), key: Math.floor((x - place.x) / cell) } : null;
  }

  // Chooses the next map in a direction.
  step(right, down) {
    const { weights, sizes, columns, two } = this, fixed = weights.index.slice(0, -sizes.length);
    const place = weights.index.slice(-sizes.length).map((i) => (Number.isInteger(i) ? i : 0));
    const next = two ? [place[0] + down, place[1] + right] : [place[0] + right + columns * down];
    weights.choose({ index: [...fixed, ...next.map((i, axis) => clamp(i, 0, sizes[axis] - 1))] });
  }
}
