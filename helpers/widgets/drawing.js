// What the widgets draw with: colours, text, canvases, elements of a page.

export const TEXT = "12px system-ui, sans-serif", BOLD = "bold 12px system-ui, sans-serif";
export const INK = "#1a1a1a", FAINT = "#767676", STROKE = "#8c8c8c", FOCUS = "#d55e00", BAR = "#009e73", TRACK = "#f1f1f1";
export const QUERY = "#a9558a", KEY = "#a06c00";             // the course's purple and orange, dark enough for small text
export const WIDEST_TOKEN = 110;                             // in CSS pixels, like all sizes here
export const LINE = 14;                                      // from one line of text to the next

export const clamp = (x, low, high) => Math.min(Math.max(x, low), high);
export const plural = (name, n) => (n === 1 ? name : name + "s");

// Of a token that stands more than once, its position.
export function placeOf(tokens, i, before = "") {
  return tokens.indexOf(tokens[i]) === tokens.lastIndexOf(tokens[i]) ? "" : ` (${before}${i})`;
}

export const quoted = (tokens, i) => `“${tokens[i] ?? i}”${placeOf(tokens, i)}`;

// A name that no other element of the page has: each explorer runs its own copy of this file, so that counting does not do.
export const unique = (name) => `${name}-${Math.random().toString(36).slice(2)}`;

// A function that draws once for several calls in a row.
export function batched(draw) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    queueMicrotask(() => { waiting = false; draw(); });
  };
}

// Sets a text only where it is another one: a page is laid out again for each text that is set.
export function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

// [red, green, blue] of a colour such as "#9FD8C4".
export const channelsOf = (color) => [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16));

// 256 colours from one end of the scale to the other, between evenly spaced stops.
export function palette(stops) {
  const channels = stops.map(channelsOf);
  return Array.from({ length: 256 }, (_, i) => {
    const x = (i / 255) * (stops.length - 1), k = Math.min(Math.floor(x), stops.length - 2);
    return channels[k].map((c, j) => Math.round(c + (x - k) * (channels[k + 1][j] - c)));
  });
}

// Gives a canvas its size, sharp on every screen; returns its drawing context, cleared to white.
export function paper(canvas, width, height) {
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

export function shorten(g, text, width) {
  if (g.measureText(text).width <= width) return text;
  while (text && g.measureText(text + "…").width > width) text = text.slice(0, -1);
  return text + "…";
}

export function widest(canvas, tokens, font) {
  const g = canvas.getContext("2d");
  g.font = font;
  return Math.min(WIDEST_TOKEN, Math.max(...tokens.map((token) => g.measureText(token).width)));
}

// Whether token i has its label: the chosen one has, and so has every few of the others, but those too near to it.
export function isLabelled(i, chosen, every) {
  return i === chosen || (i % every === 0 && Math.abs(i - chosen) >= every);
}

// A canvas that stays in place while what it draws, which may be larger than its box, is scrolled by the browser.
export class ScrollBox {
  constructor(canvas, draw) {
    this.canvas = canvas;
    this.inner = element("div", { class: "inner" }, canvas);
    this.node = element("div", { class: "scroll" }, this.inner);
    this.more = element("div", { class: "more", "aria-hidden": "true" });         // scroll bars are hidden on many machines
    this.outer = element("div", { class: "scroll-box" }, this.node, this.more);
    this.node.addEventListener("scroll", draw);
  }

  // Sets the size of the box and of what is in it; returns the drawing context, as large as what is seen.
  paper(width, height, fullWidth, fullHeight) {
    const { node, inner, canvas } = this;
    Object.assign(inner.style, { width: `${fullWidth}px`, height: `${fullHeight}px` });
    Object.assign(node.style, {
      width: `${width}px`, height: `${height}px`,
      overflowX: fullWidth > width ? "scroll" : "hidden", overflowY: fullHeight > height ? "scroll" : "hidden",
    });
    this.width = fullWidth > width || fullHeight > height ? node.clientWidth : width;
    this.height = fullWidth > width || fullHeight > height ? node.clientHeight : height;
    const ways = [[this.x > 0, "←"], [this.y > 0, "↑"], [this.y + this.height < fullHeight - 1, "↓"], [this.x + this.width < fullWidth - 1, "→"]];
    const arrows = ways.filter(([is]) => is).map(([, arrow]) => arrow);
    write(this.more, ["more", ...arrows].join(" "));
    this.more.hidden = arrows.length === 0;
    return paper(canvas, this.width, this.height);
  }

  get x() { return this.node.scrollLeft; }

  get y() { return this.node.scrollTop; }

  // Scrolls as little as needed until what lies from `start` to `end` is seen in a window of `size`.
  reveal(axis, start, end, size) {
    const name = axis === "x" ? "scrollLeft" : "scrollTop", now = this.node[name];
    if (start < now || end - start > size) this.node[name] = start;
    else if (end > now + size) this.node[name] = end - size;
  }
}
