// What stands beside the controls: the panels of the present view, each as large as its room allows.
import { BarPanel } from "./attention_bars.js";
import { GridPanel } from "./attention_grid.js";
import { LinesPanel } from "./attention_lines.js";
import { MapPanel } from "./attention_map.js";
import { clamp, element } from "./drawing.js";

// What is not the picture's of a window's height: text boxes, readout, the page's own bars. Where the controls are above the
// picture, not all can be in view at once, and less is left out.
const BESIDE = 246, BELOW = 110;
const BETWEEN_PANELS = 12, NARROW = 420;                         // below this width, panels stand one below the other
const DIRECTIONS = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };

// Lets the pointer and the keys choose on a panel's canvas; changed(event) is called when the pointer has moved.
function listen(panel, weights, changed) {
  const cellOf = (event) => {
    const box = panel.canvas.getBoundingClientRect(), cell = panel.cellAt(event.clientX - box.left, event.clientY - box.top);
    return cell && { index: weights.index, ...cell };
  };
  const preview = (event, cell) => { weights.preview = cell; changed(event); };
  panel.canvas.addEventListener("pointermove", (event) => { if (event.pointerType !== "touch") preview(event, cellOf(event)); });
  panel.node.addEventListener("scroll", (event) => preview(event, null));
  panel.canvas.addEventListener("pointerleave", (event) => preview(event, null));
  panel.canvas.addEventListener("click", (event) => { const cell = cellOf(event); if (cell) weights.click(cell); });
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
  constructor(weights, above, changed) {
    this.weights = weights;
    this.above = above;                               // what stands between the top and the panels
    this.changed = changed;
    this.panels = [];                                 // the large ones
    this.node = element("div", { class: "pictures" });
    this.aside = element("div", { class: "aside" });  // for the bars below the controls
    this.kind = "";
  }

  // The panels of the present view, made anew only when it is another one.
  arrange() {
    const { weights } = this, view = weights.model.get("view"), compared = !weights.isGrid && Boolean(weights.pinned);
    const kind = `${weights.isGrid ? "grid" : view} ${compared}`;
    if (kind === this.kind) return;
    this.kind = kind;
    const now = () => weights.map(weights.shown.index), pinned = () => weights.pinned;
    const panels = {
      map: (source) => [new MapPanel(weights, source)],
      lines: (source) => [new LinesPanel(weights, source)],
      bars: (source) => (compared ? ["query"] : ["query", "key"]).map((side) => new BarPanel(weights, source, side, compared)),
    }[view];
    this.panels = weights.isGrid ? [new GridPanel(weights)] : [...(compared ? panels(pinned) : []), ...panels(now)];
    this.bars = view === "bars" ? null : new BarPanel(weights, now, "query");
    for (const panel of this.all) if (panel.cellAt) listen(panel, weights, this.changed); else panel.changed = this.changed;
    this.node.replaceChildren(...this.panels.map((panel) => panel.node));
    this.aside.replaceChildren(...(this.bars ? [this.bars.node] : []));
  }

  get all() { return this.bars ? [...this.panels, this.bars] : this.panels; }

  draw() {
    this.arrange();
    const { panels, bars, aside, above } = this;
    const isBeside = aside.getBoundingClientRect().left < this.node.getBoundingClientRect().left;
    const height = clamp(window.innerHeight - (isBeside ? BESIDE + above.offsetHeight : BELOW), 320, 1000);
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
