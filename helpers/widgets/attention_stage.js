// What stands beside the controls: the panels of the present view, each as large as its room allows.
import { BarPanel } from "./attention_bars.js";
import { makeSwitch } from "./attention_controls.js";
import { GridPanel } from "./attention_grid.js";
import { LinesPanel } from "./attention_lines.js";
import { MapPanel } from "./attention_map.js";
import { clamp, element } from "./drawing.js";

// What is not the picture's of a window's height: text boxes, readout, the page's own bars. Where the controls are above the
// picture, not all can be in view at once, and less is left out.
const BESIDE = 246, BELOW = 110;
const BETWEEN_PANELS = 12, NARROW = 420;                         // below this width, panels stand one below the other
const DIRECTIONS = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };

const LABEL_HINTS = { query: "click: which keys does this query look at?", key: "click: which queries look at this key?" };
const SIDES_OF_BARS = { query: "of the query", key: "of the key" };

// Lets the pointer and the keys choose on a panel's canvas; changed(event) is called when the pointer has moved.
function listen(panel, weights, changed) {
  const cellOf = (event) => {
    const box = panel.canvas.getBoundingClientRect(), cell = panel.cellAt(event.clientX - box.left, event.clientY - box.top);
    return cell && { index: weights.index, ...cell };
  };
  const preview = (event, cell) => { weights.preview = cell; changed(event); };
  // The token whose label is at the pointer, if there is one.
  const tokenOf = (event) => {
    const box = panel.canvas.getBoundingClientRect();
    return panel.tokenAt?.(event.clientX - box.left, event.clientY - box.top);
  };
  const tokenPreview = ([side, i]) => ({ ...weights.choice, [side]: i, note: LABEL_HINTS[side] });
  panel.canvas.addEventListener("pointermove", (event) => {
    const token = tokenOf(event);
    panel.canvas.style.cursor = token ? "pointer" : "";
    if (event.pointerType !== "touch") preview(event, token ? tokenPreview(token) : cellOf(event));
  });
  panel.box?.node.addEventListener("scroll", (event) => preview(event, null));
  panel.canvas.addEventListener("pointerleave", (event) => preview(event, null));
  panel.canvas.addEventListener("click", (event) => {
    const cell = cellOf(event), token = tokenOf(event);
    if (cell) weights.click(cell); else if (token) weights.choose({ [token[0]]: token[1], side: token[0], locked: true });
  });
  panel.canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const actions = {
      Enter: () => weights.click(weights.choice), Escape: () => weights.choose({ locked: false }),
      "+": () => panel.zoomBy?.(1.5), "-": () => panel.zoomBy?.(1 / 1.5),
    };
    const direction = DIRECTIONS[event.key], act = direction ? () => panel.step(...direction) : actions[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  if (panel.zoomBy) panel.canvas.addEventListener("wheel", (event) => zoomByWheel(event, panel), { passive: false });
}

// With Ctrl, which is also what a pinch on a touchpad sends; without it the wheel scrolls.
function zoomByWheel(event, panel) {
  if (!event.ctrlKey) return;
  event.preventDefault();
  const box = panel.canvas.getBoundingClientRect();
  panel.zoomBy(event.deltaY < 0 ? 1.25 : 0.8, event.clientX - box.left, event.clientY - box.top);
}

export class Stage {
  constructor(weights, changed) {
    this.weights = weights;
    this.changed = changed;
    this.panels = [];                                 // the large ones
    this.node = element("div", { class: "pictures" });
    this.aside = element("div", { class: "aside" });  // for the bars below the controls
    this.kind = "";
    this.sides = makeSwitch(weights, "side", SIDES_OF_BARS, "bars");
  }

  // The panels of the present view, made anew only when it is another one.
  arrange() {
    const { weights } = this, view = weights.model.get("view"), compared = !weights.isGrid && Boolean(weights.pinned);
    const kind = `${weights.isGrid ? "grid" : view} ${compared}`, chosenSide = () => weights.model.get("side");
    this.sides.show();
    if (kind === this.kind) return;
    this.kind = kind;
    const now = () => weights.map(weights.shown.index), pinned = () => weights.pinned;
    const panels = {
      map: (source) => [new MapPanel(weights, source)],
      lines: (source) => [new LinesPanel(weights, source)],
      bars: (source) => (compared ? [chosenSide] : [() => "query", () => "key"]).map((side) => new BarPanel(weights, source, side, compared)),
    }[view];
    this.panels = weights.isGrid ? [new GridPanel(weights)] : [...(compared ? panels(pinned) : []), ...panels(now)];
    this.bars = view === "bars" ? null : new BarPanel(weights, now, chosenSide);
    for (const panel of this.all) if (panel.cellAt) listen(panel, weights, this.changed); else panel.changed = this.changed;
    this.node.replaceChildren(...this.panels.map((panel) => panel.node));
    this.aside.replaceChildren(...(this.bars || compared ? [this.sides.node] : []), ...(this.bars ? [this.bars.node] : []));
  }

  get all() { return this.bars ? [...this.panels, this.bars] : this.panels; }

  draw() {
    this.arrange();
    const { panels, bars, aside } = this, isBeside = aside.offsetLeft !== this.node.offsetLeft;
    const height = clamp(window.innerHeight - (isBeside ? BESIDE : BELOW), 320, 1000);
    const width = this.node.clientWidth, abreast = width >= NARROW ? panels.length : 1;
    const room = { width: (width - (abreast - 1) * BETWEEN_PANELS) / abreast, height };
    panels.forEach((panel) => panel.draw(room));
    if (bars) {
      const lower = aside.offsetTop - this.node.offsetTop;
      bars.draw({ width: aside.clientWidth, height: isBeside ? Math.max(160, height - lower) : height });
    }
  }

  zoomBy(factor) { this.panels.forEach((panel) => panel.zoomBy?.(factor)); }
}
