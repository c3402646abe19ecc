// The weights of one query, a bar for each key; or those of one key, a bar for each query: who looks at it?
import {
  BOLD, INK, KEY, QUERY, ScrollBox, TEXT, TRACK, WIDEST_TOKEN, clamp, element, quoted, shorten, widest,
} from "./drawing.js";

const NUMBER = 52;                                    // room for a weight

export class BarPanel {
  constructor(weights, source, side, named = false) {
    this.weights = weights;
    this.source = source;                             // returns the map to show
    this.sideNow = side;                              // returns "query" or "key": what is one, and not many
    this.above = named ? 42 : 26;                     // room for the title, in two lines if it names the map
    this.canvas = element("canvas", { tabindex: 0, role: "application", "aria-roledescription": "bars" });
    this.box = new ScrollBox(this.canvas, () => this.draw(this.room));
    this.node = this.box.outer;
  }

  get side() { return this.sideNow(); }

  get other() { return this.side === "query" ? "key" : "query"; }

  draw(room) {
    const name = `bars of-${this.side}`;
    if (this.canvas.className !== name) this.canvas.className = name;
    const map = this.source(), tokens = this.side === "query" ? map.keys : map.queries;
    this.room = room;
    this.left = widest(this.canvas, tokens, BOLD) + 10;
    this.row = clamp(Math.floor((room.height - this.above - 4) / tokens.length), 13, 22);
    const height = Math.min(room.height, this.above + tokens.length * this.row + 4);
    const g = this.box.paper(room.width, height, room.width, this.above + tokens.length * this.row + 4);
    Object.assign(this, { map, tokens, width: this.box.width, height: this.box.height });
    this.paint(g);
  }

  get title() {
    const { query, key } = this.weights.shown;
    return this.side === "query"
      ? `query ${quoted(this.map.queries, query)} looks at` : `key ${quoted(this.map.keys, key)} is looked at by`;
  }

  paint(g) {
    const { width, height, box, row, weights } = this;
    g.textBaseline = "middle";
    const first = Math.floor(box.y / row), last = Math.min(this.tokens.length - 1, Math.ceil((box.y + height - this.above) / row));
    for (let i = first; i <= last; i++) this.drawBar(g, i, i === weights.shown[this.other]);
    g.fillStyle = "#ffffff";
    g.fillRect(0, 0, width, this.above - 4);                 // over what is scrolled away
    Object.assign(g, { font: BOLD, fillStyle: this.side === "query" ? QUERY : KEY, textAlign: "left" });
    g.fillText(shorten(g, this.title, width - 8), 4, this.above - 16);
    g.fillStyle = INK;
    if (this.above > 26) g.fillText(shorten(g, this.map.title, width - 8), 4, 10);
    this.canvas.setAttribute("aria-label", `${this.title}: one bar for each ${this.other}. Up and down choose one.`);
  }

  drawBar(g, i, chosen) {
    const { weights, map, left, row, width, box } = this, length = Math.max(20, width - left - NUMBER);
    const shown = weights.shown, w = this.side === "query" ? map.weight(shown.query, i) : map.weight(i, shown.key);
    const hidden = Number.isNaN(w), y = this.above + i * row - box.y, [start, part] = map.scale.bar(w);
    g.fillStyle = TRACK;
    g.fillRect(left, y + 1, length, row - 2);
    g.fillStyle = hidden ? map.scale.masked : map.scale.ink(w);
    g.fillRect(hidden ? left : left + length * start, y + 1, hidden ? length : length * part, row - 2);
    Object.assign(g, chosen ? { font: BOLD, fillStyle: this.side === "query" ? KEY : QUERY } : { font: TEXT, fillStyle: INK });
    g.textAlign = "right";
    g.fillText(shorten(g, this.tokens[i], WIDEST_TOKEN), left - 6, y + row / 2);
    g.textAlign = "left";
    g.fillText(hidden ? "hidden" : map.scale.say(w, 2), left + length + 5, y + row / 2);
  }

  // The cell whose bar is at a point of the canvas, if there is one.
  cellAt(x, y) {
    const i = Math.floor((y - this.above + this.box.y) / this.row), { query, key } = this.weights.choice;
    if (y < this.above || i < 0 || i >= this.tokens.length) return null;
    return this.side === "query" ? { query, key: i } : { query: i, key };
  }

  // Chooses the next bar below or above, and brings it into sight.
  step(right, down) {
    const { weights, other, row, box } = this;
    weights.choose({ [other]: weights.choice[other] + down });
    box.reveal("y", weights.choice[other] * row, (weights.choice[other] + 1) * row, this.height - this.above);
  }
}
