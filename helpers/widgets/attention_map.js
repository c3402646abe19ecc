// One map with its tokens: scrolled where it is zoomed in, its labels always in sight.
import {
  BOLD, FAINT, FOCUS, INK, KEY, LINE, QUERY, STROKE, ScrollBox, TEXT, WIDEST_TOKEN, clamp, element, isLabelled, shorten, widest,
} from "./drawing.js";

const LARGEST_CELL = 48;

export class MapPanel {
  constructor(weights, source) {
    this.weights = weights;
    this.source = source;                             // returns the map to show
    this.zoom = 1;
    this.canvas = element("canvas", { tabindex: 0, role: "application", class: "map", "aria-roledescription": "attention map",
      "aria-label": "Attention map: rows are queries, columns are keys. Arrow keys move from cell to cell, Enter locks the "
        + "choice, Escape unlocks it, plus and minus zoom." });
    this.box = new ScrollBox(this.canvas, () => this.draw(this.room));
    this.node = this.box.outer;
  }

  draw(room) {
    const { box } = this;
    this.room = room;
    this.measure(this.source(), room);
    const fullWidth = this.left + this.map.T_k * this.cell + 4, fullHeight = this.top + this.map.T_q * this.cell + this.bottom;
    const width = this.left + this.map.T_k * this.fit + 4, height = this.top + this.map.T_q * this.fit + this.bottom;
    const g = box.paper(width, height, Math.max(width, fullWidth), Math.max(height, fullHeight));
    Object.assign(this, { width: box.width, height: box.height });
    this.paint(g);
  }

  // Sizes: `fit` is that of a cell where the whole map is seen, `cell` that of a zoomed one.
  measure(map, room) {
    const tokens = widest(this.canvas, map.keys, BOLD);
    this.map = map;
    this.left = widest(this.canvas, map.queries, BOLD) + 30;
    this.top = map.title ? 22 : 4;
    const most = Math.min((room.width - this.left - 4) / map.T_k, LARGEST_CELL);
    const cellBelow = (bottom) => clamp((room.height - this.top - bottom) / map.T_q, 0.5, most);
    this.upright = tokens + 4 > cellBelow(40) * Math.ceil(LINE / cellBelow(40));
    this.bottom = (this.upright ? tokens : 14) + 24;
    const fit = cellBelow(this.bottom);
    this.fit = fit >= 6 ? Math.floor(fit) : fit;
    this.most = Math.max(1, LARGEST_CELL / this.fit);
    this.zoom = Math.min(this.zoom, this.most);
    this.cell = this.fit * this.zoom;
    this.every = Math.max(1, Math.ceil((LINE - 1) / this.cell));      // which tokens have room for their label
  }

  // What is seen of the map: where its part begins, in pixels of the whole map, and how large it is.
  get seen() {
    const { box, left, top, bottom, width, height } = this;
    return { x: box.x, y: box.y, width: width - left - 4, height: height - top - bottom };
  }

  paint(g) {
    this.drawCells(g);
    this.drawFrames(g);
    g.textBaseline = "middle";
    this.drawQueries(g);
    this.drawKeys(g);
    this.drawTitles(g);
  }

  drawCells(g) {
    const { map, cell, left, top, seen } = this;
    g.imageSmoothingEnabled = cell < 1;
    g.drawImage(map.tile, seen.x / cell, seen.y / cell, seen.width / cell, seen.height / cell, left, top, seen.width, seen.height);
    if (map.anyMasked && cell >= 5) this.drawStrokes(g);
    Object.assign(g, { strokeStyle: FAINT, lineWidth: 1 });
    g.strokeRect(left - 0.5, top - 0.5, seen.width + 1, seen.height + 1);
  }

  // A line through each hidden cell that is seen whole: grey alone is not a cue for everyone.
  drawStrokes(g) {
    const { map, cell, left, top, seen } = this;
    Object.assign(g, { strokeStyle: STROKE, lineWidth: 1 });
    g.beginPath();
    for (let q = Math.ceil(seen.y / cell); (q + 1) * cell <= seen.y + seen.height + 0.1; q++) {
      for (let k = Math.ceil(seen.x / cell); (k + 1) * cell <= seen.x + seen.width + 0.1; k++) {
        if (!Number.isNaN(map.weight(q, k))) continue;
        const x = left - seen.x + k * cell, y = top - seen.y + q * cell;
        g.moveTo(x + 2, y + cell - 2);
        g.lineTo(x + cell - 2, y + 2);
      }
    }
    g.stroke();
  }

  // Around the row of the query, the column of the key, and their cell.
  drawFrames(g) {
    const { weights, map, cell } = this, { query, key } = weights.shown;
    if (query >= map.T_q || key >= map.T_k) return;   // of another text, perhaps
    this.frame(g, -1, query * cell - 1, map.T_k * cell + 2, cell + 2, QUERY, 1.5);
    this.frame(g, key * cell - 1, -1, cell + 2, map.T_q * cell + 2, KEY, 1);
    this.frame(g, key * cell, query * cell, cell, cell, FOCUS, weights.locked ? 3.5 : 2);
    const { preview } = weights;
    if (weights.locked && preview) this.frame(g, preview.key * cell, preview.query * cell, cell, cell, INK, 1);
  }

  // A rectangle in pixels of the map, cut at the edges of what is seen.
  frame(g, x, y, width, height, strokeStyle, lineWidth) {
    const { seen, left, top } = this;
    const fromX = Math.max(x, seen.x - 1), toX = Math.min(x + width, seen.x + seen.width + 1);
    const fromY = Math.max(y, seen.y - 1), toY = Math.min(y + height, seen.y + seen.height + 1);
    if (toX <= fromX || toY <= fromY) return;
    Object.assign(g, { strokeStyle, lineWidth });
    g.strokeRect(left + fromX - seen.x, top + fromY - seen.y, toX - fromX, toY - fromY);
  }

  drawQueries(g) {
    const { map, cell, left, top, seen } = this, { query } = this.weights.shown;
    g.textAlign = "right";
    map.queries.forEach((token, q) => {
      const y = (q + 0.5) * cell - seen.y;
      if (y < 0 || y > seen.height || !isLabelled(q, query, this.every)) return;
      Object.assign(g, q === query ? { font: BOLD, fillStyle: QUERY } : { font: TEXT, fillStyle: INK });
      g.fillText(shorten(g, token, WIDEST_TOKEN), left - 6, top + y);
    });
  }

  drawKeys(g) {
    const { map, cell, left, top, seen } = this, { key } = this.weights.shown;
    g.textAlign = this.upright ? "right" : "center";
    map.keys.forEach((token, k) => {
      const x = (k + 0.5) * cell - seen.x;
      if (x < 0 || x > seen.width || !isLabelled(k, key, this.every)) return;
      Object.assign(g, k === key ? { font: BOLD, fillStyle: KEY } : { font: TEXT, fillStyle: INK });
      g.save();
      g.translate(left + x, top + seen.height + 6);
      if (this.upright) g.rotate(-Math.PI / 2); else g.translate(0, 8);
      g.fillText(shorten(g, token, WIDEST_TOKEN), 0, 0);
      g.restore();
    });
  }

  drawTitles(g) {
    const { left, top, seen, width, height } = this;
    Object.assign(g, { font: BOLD, textAlign: "left", fillStyle: INK });
    if (this.map.title) g.fillText(shorten(g, this.map.title, width - 8), 4, 10);
    Object.assign(g, { textAlign: "center", fillStyle: KEY });
    g.fillText("keys", left + seen.width / 2, height - 9);
    g.save();
    g.translate(9, top + seen.height / 2);
    g.rotate(-Math.PI / 2);
    g.fillStyle = QUERY;
    g.fillText("queries", 0, 0);
    g.restore();
  }

  // The cell at a point of the canvas, if there is one.
  cellAt(x, y) {
    const { left, top, seen, cell } = this;
    if (x < left || y < top || x >= left + seen.width || y >= top + seen.height) return null;
    return { query: Math.floor((y - top + seen.y) / cell), key: Math.floor((x - left + seen.x) / cell) };
  }

  // The token whose label is at a point of the canvas, if there is one: its side, and which it is.
  tokenAt(x, y) {
    const { left, top, seen, cell } = this, isBelow = y >= top + seen.height && x >= left && x < left + seen.width;
    if (isBelow && y < this.height - 22) return ["key", Math.floor((x - left + seen.x) / cell)];
    const isLeft = x > 20 && x < left && y >= top && y < top + seen.height;
    return isLeft ? ["query", Math.floor((y - top + seen.y) / cell)] : null;
  }

  // Chooses the next cell in a direction, and brings it into sight.
  step(right, down) {
    const { weights, cell, seen } = this;
    weights.choose({ query: weights.query + down, key: weights.key + right });
    this.box.reveal("x", weights.key * cell, (weights.key + 1) * cell, seen.width);
    this.box.reveal("y", weights.query * cell, (weights.query + 1) * cell, seen.height);
  }

  // Zooms in or out; the point (x, y) of the canvas, or else the chosen cell, stays where it is.
  zoomBy(factor, x, y) {
    const { cell, left, top, seen, box } = this, { query, key } = this.weights.choice;
    const chosen = { x: (key + 0.5) * cell, y: (query + 0.5) * cell }, middle = { x: seen.width / 2, y: seen.height / 2 };
    const place = x === undefined ? middle : { x: x - left, y: y - top };
    const spot = x === undefined ? chosen : { x: place.x + seen.x, y: place.y + seen.y };
    this.zoom = clamp(this.zoom * factor, 1, this.most);
    this.draw(this.room);
    const grown = this.cell / cell;
    box.node.scrollTo(spot.x * grown - place.x, spot.y * grown - place.y);
    this.draw(this.room);
  }
}
