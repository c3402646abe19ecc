// Query tokens left, key tokens right, between them a line as strong as its weight.
import { BOLD, FOCUS, INK, KEY, QUERY, ScrollBox, TEXT, element, shorten, unique } from "./drawing.js";

const ABOVE_LINES = 24, SIDE = 124;                           // room for the titles, and for the tokens of one side
const LEAST = 0.01;                                   // a line of less than this part of the scale is not drawn
const OTHERS = "#7a9b92";                             // the lines of all queries but the chosen one
const SIDES = ["query", "key"];

// "crane looks most at crane 0.69, [SEP] 0.12", for whoever cannot see the lines.
function spoken(map, side, i) {
  const others = side === "query" ? map.keys : map.queries;
  const weights = others.map((token, j) => [side === "query" ? map.weight(i, j) : map.weight(j, i), token]);
  const largest = weights.filter(([w]) => map.scale.strength(w) > 0).sort((a, b) => Math.abs(b[0]) - Math.abs(a[0])).slice(0, 3);
  const said = largest.map(([w, token]) => `${token} ${map.scale.say(w, 2)}`).join(", ") || "nothing";
  if (map.scale.isSigned) return `largest effects: ${said}`;
  return side === "query" ? `looks most at ${said}` : `most looked at by ${said}`;
}

export class LinesPanel {
  constructor(weights, source) {
    this.weights = weights;
    this.source = source;                             // returns the map to show
    this.name = unique("lines");
    this.canvas = element("canvas", { class: "lines", "aria-hidden": "true" });
    this.box = new ScrollBox(this.canvas, () => this.draw(this.room));
    this.lists = Object.fromEntries(SIDES.map((side) => [side, this.makeList(side)]));
    this.title = element("span");
    const titles = element("div", { class: "titles", "aria-hidden": "true" }, element("span", { class: "of-query" }, "queries"),
      this.title, element("span", { class: "of-key" }, "keys"));
    this.box.inner.prepend(titles);
    this.box.inner.append(...Object.values(this.lists));
    this.node = this.box.outer;
  }

  // The tokens of a side, as a list in which the chosen one is marked.
  makeList(side) {
    const { weights } = this, list = element("div", { role: "listbox", tabindex: 0, class: `tokens of-${side}`,
      "aria-label": side === "query" ? "queries" : "keys" });
    list.addEventListener("focus", () => { this.focused = side; this.draw(this.room); });
    list.addEventListener("blur", () => { this.focused = null; this.draw(this.room); });
    list.addEventListener("pointermove", (event) => this.hover(event, side));
    list.addEventListener("pointerleave", (event) => this.hover(event, null));
    list.addEventListener("click", (event) => {
      const i = this.tokenAt(event);
      if (i >= 0) weights.click({ ...weights.choice, [side]: i, side });
    });
    list.addEventListener("keydown", (event) => {
      const down = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (event.key === "Enter") weights.click(weights.choice);
      if (event.key === "Escape") weights.choose({ locked: false });
      if (!down) return;
      event.preventDefault();
      weights.choose({ [side]: weights.choice[side] + down });
      this.box.reveal("y", weights.choice[side] * this.row, (weights.choice[side] + 1) * this.row, this.height - ABOVE_LINES);
    });
    return list;
  }

  tokenAt(event) { return [...event.currentTarget.children].indexOf(event.target.closest("[role=option]")); }

  hover(event, side) {
    const i = side && event.pointerType !== "touch" ? this.tokenAt(event) : -1;
    this.hovered = i >= 0 ? { side, i } : null;
    const note = () => `${event.target.textContent} ${spoken(this.map, side, i)}`;
    this.weights.preview = i >= 0 ? { ...this.weights.choice, [side]: i, note: note() } : null;
    this.changed?.(event);
  }

  // The one token whose lines alone are drawn: where the pointer is, or the chosen one of the list with the focus.
  get only() {
    const { hovered, focused, weights } = this;
    return hovered || (focused ? { side: focused, i: weights.choice[focused] } : null);
  }

  draw(room) {
    const map = this.source(), most = Math.max(map.T_q, map.T_k);
    this.room = room;
    if (map.queries !== this.map?.queries || map.keys !== this.map?.keys) this.fill(map);
    if (map !== this.map) this.describeSoon();
    if (this.title.textContent !== map.title) this.title.textContent = map.title;
    const fitting = Math.floor((room.height - ABOVE_LINES - 4) / most);
    this.row = fitting < 15 ? 20 : Math.min(fitting, 30);             // close together only where that shows all of them
    const full = ABOVE_LINES + most * this.row + 4, width = Math.min(room.width, 760);
    const g = this.box.paper(width, Math.min(room.height, full), width, full);
    Object.assign(this, { map, width: this.box.width, height: this.box.height });
    SIDES.forEach((side) => this.mark(side));
    this.paint(g);
  }

  fill(map) {
    for (const side of SIDES) {
      const tokens = side === "query" ? map.queries : map.keys;
      this.lists[side].replaceChildren(...tokens.map((token, i) => element("div", {
        role: "option", id: `${this.name}-${side}-${i}`, title: token,
      }, token)));
    }
  }

  // Says in words what each token's lines show, once the slider rests: this takes longer than to draw the lines.
  describeSoon() {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => SIDES.forEach((side) => [...this.lists[side].children].forEach((option, i) => {
      option.setAttribute("aria-label", `${option.textContent}, ${spoken(this.map, side, i)}`);
    })), 100);
  }

  mark(side) {
    const list = this.lists[side], chosen = this.weights.shown[side];
    const style = `top: ${ABOVE_LINES}px; width: ${SIDE}px; --row: ${this.row}px`;
    if (list.getAttribute("style") !== style) list.setAttribute("style", style);
    [...list.children].forEach((option, i) => {
      const selected = String(i === chosen);          // an attribute that is set again would cost a layout
      if (option.getAttribute("aria-selected") !== selected) option.setAttribute("aria-selected", selected);
    });
    list.setAttribute("aria-activedescendant", `${this.name}-${side}-${Math.min(chosen, list.children.length - 1)}`);
  }

  paint(g) {
    const { map, only } = this, { query, key } = this.weights.shown;
    const drawn = (q, k) => !only || (only.side === "query" ? q === only.i : k === only.i);
    g.lineCap = "round";
    for (let q = 0; q < map.T_q; q++) for (let k = 0; k < map.T_k; k++) {
      if (drawn(q, k)) this.drawLine(g, q, k, !only && q !== query ? OTHERS : only?.side === "key" ? KEY : QUERY);
    }
    if (drawn(query, key) && query < map.T_q && key < map.T_k) this.drawLine(g, query, key, FOCUS);
    g.globalAlpha = 1;
  }

  drawLine(g, q, k, color) {
    const { map, row, width, height, box } = this, w = map.weight(q, k), part = map.scale.strength(w);
    const from = ABOVE_LINES + (q + 0.5) * row - box.y, to = ABOVE_LINES + (k + 0.5) * row - box.y;
    const seen = Math.max(from, to) >= 0 && Math.min(from, to) <= height;
    if (!seen || !(part >= LEAST)) return;            // also where it is hidden: then it is NaN
    const globalAlpha = Math.min(1, (color === OTHERS ? 0.06 : 0.25) + part);
    Object.assign(g, { strokeStyle: map.scale.isSigned && color !== FOCUS ? map.scale.ink(w) : color, globalAlpha, lineWidth: 0.5 + 4.5 * part });
    g.beginPath();
    g.moveTo(SIDE, from);
    g.lineTo(width - SIDE, to);
    g.stroke();
  }

  // The tokens and titles, too: for a picture that is saved they are drawn.
  paintWhole(g) {
    this.paint(g);
    g.textBaseline = "middle";
    const { map, row, box, width, height } = this, { query, key } = this.weights.shown;
    const column = (tokens, chosen, color, textAlign, x) => tokens.forEach((token, i) => {
      const y = ABOVE_LINES + (i + 0.5) * row - box.y;
      if (y < ABOVE_LINES || y > height) return;
      Object.assign(g, { textAlign, font: i === chosen ? BOLD : TEXT, fillStyle: i === chosen ? color : INK });
      g.fillText(shorten(g, token, SIDE - 12), x, y);
    });
    column(map.queries, query, QUERY, "right", SIDE - 6);
    column(map.keys, key, KEY, "left", width - SIDE + 6);
    const title = (text, fillStyle, textAlign, x) => {
      Object.assign(g, { font: BOLD, fillStyle, textAlign });
      g.fillText(shorten(g, text, width - 2 * SIDE), x, 11);
    };
    title("queries", QUERY, "right", SIDE - 6);
    title(map.title, INK, "center", width / 2);
    title("keys", KEY, "left", width - SIDE + 6);
  }
}
