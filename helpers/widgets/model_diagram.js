import { FOCUS, element, paper } from "./drawing.js";

const THUMB = { width: 96, height: 40 };

// A name without that of the block around it: "self_attn" inside of "encoder.layers[0]".
export const within = (name, outer) => (outer && name.startsWith(`${outer}.`) ? name.slice(outer.length + 1) : name);

// A name that may be broken before a dot and after an underscore.
export const breakable = (name) => name.split(/(?=\.)|(?<=_)/).flatMap((part) => [part, element("wbr")]);

export const shapeOf = (step) => `[${step.axes.join(", ")}] = [${step.shape.join(", ")}]`;

// Draws a step's tensor into a small canvas, its heads side by side; rows that are not written yet are pale.
export function drawThumb(canvas, pass, number, { width, height } = THUMB) {
  const step = pass.content.steps[number], [heads, rows] = pass.sizes(step), gap = heads > 1 ? 2 : 0;
  const g = paper(canvas, width, height), each = (width - gap * (heads - 1)) / heads;
  g.imageSmoothingEnabled = false;
  for (let head = 0; head < heads; head++) g.drawImage(pass.tile(number, head), head * (each + gap), 0, each, height);
  if (!pass.followsPosition(step)) return;
  const line = height / rows, soFar = Math.min(rows, pass.rowsSoFar(step));
  g.fillStyle = "#ffffffcc";
  g.fillRect(0, soFar * line, width, height - soFar * line);
  g.fillStyle = FOCUS;
  g.fillRect(0, pass.position * line, 3, line);
  g.fillRect(width - 3, pass.position * line, 3, line);
}

// The whole model as nested blocks; open(number) is called for a step that is chosen.
export class Diagram {
  constructor(pass, folded, open) {
    this.pass = pass;
    this.folded = folded;                              // by name: what the reader folded or unfolded
    this.open = open;
    this.thumbs = [];                                  // [canvas, number of the step]
    this.buttons = new Map();                          // by name
    const columns = [];
    for (const block of pass.content.blocks) {
      if (!columns.length || block.class?.endsWith("Embedding")) columns.push([]);
      columns.at(-1).push(block);
    }
    this.node = element("div", { class: "diagram" }, element("div", { class: "all" }, this.foldAll("fold all", true), this.foldAll("unfold all", false)),
      ...columns.map((blocks) => element("div", { class: "stream" }, ...this.nodes(blocks, ""))));
    this.node.addEventListener("keydown", (event) => this.move(event));
  }

  // A button that folds or unfolds every block.
  foldAll(text, fold) {
    const button = element("button", { type: "button" }, text);
    button.addEventListener("click", () => {
      for (let before = -1; before < this.buttons.size;) {   // what unfolds may hold more to unfold
        before = this.buttons.size;
        for (const [name, other] of [...this.buttons]) if (this.folded.has(name) && this.folded.get(name) !== fold) other.click();
      }
    });
    return button;
  }

  // The elements of blocks that follow each other: neighbouring tiles share a row.
  nodes(blocks, outer) {
    const nodes = [];
    for (const block of blocks) {
      if (block.inside.length) nodes.push(this.group(block, outer));
      else {
        if (!nodes.at(-1)?.classList.contains("tiles") || block.kind === "sum") nodes.push(element("div", { class: "tiles" }));
        nodes.at(-1).append(this.tile(block, outer));
        if (block.kind === "sum") nodes.at(-1).classList.add("sum");
      }
    }
    return nodes;
  }

  tile(block, outer) {
    const step = this.pass.content.steps[block.step], name = within(block.name.replace("input of ", ""), outer);
    const label = block.name.startsWith("input of ") ? `input of ${name}` : name;
    const shape = element("span", { class: "shape" }, `[${step.axes.join(", ")}] = `,
      element("span", { class: "sizes" }, `[${step.shape.join(", ")}]`));
    const tile = element("button", { type: "button", class: `tile ${block.name.split(".").at(-1)}`, title: block.name,
      "aria-label": `${block.name}, ${shapeOf(step)}` }, this.thumb(block.step), element("span", { class: "words" }, element("span", { class: "name" }, ...breakable(label)), shape));
    tile.addEventListener("click", () => this.open(block.step));
    this.buttons.set(block.name, tile);
    return tile;
  }

  thumb(number) {
    const canvas = element("canvas", { "aria-hidden": "true" });
    this.thumbs.push([canvas, number]);
    return canvas;
  }

  group(block, outer) {
    if (block.kind === "residual") return this.residual(block, outer);
    const body = element("div", { class: "inside" }), mark = element("span", { class: "mark", "aria-hidden": "true" });
    const button = element("button", { type: "button", class: "fold" }, mark,
      element("span", { class: "name" }, ...breakable(within(block.name, outer))), element("span", { class: "class" }, block.class));
    if (block.step >= 0) button.append(this.thumb(block.step));
    const section = element("section", { class: `group ${block.kind || block.name.split(".").at(-1)}`, "aria-label": block.name }, button, body);
    const show = () => {
      const folded = this.folded.get(block.name);
      if (!folded && !body.children.length) {           // filled when it is first opened
        if (block.memory >= 0) body.append(this.memory(block.memory));
        body.append(...this.nodes(block.inside, block.name));
        this.drawThumbs();
      }
      body.hidden = folded;
      mark.textContent = folded ? "▸" : "▾";
      button.setAttribute("aria-expanded", String(!folded));
      section.classList.toggle("folded", folded);
    };
    button.addEventListener("click", () => { this.folded.set(block.name, !this.folded.get(block.name)); show(); });
    this.buttons.set(block.name, button);
    show();
    return section;
  }

  // Cross-attention: a way to the step that its keys and values are made of.
  memory(number) {
    const { name } = this.pass.content.steps[number], button = element("button", { type: "button", class: "name" }, name);
    button.addEventListener("click", () => this.open(number));
    return element("div", { class: "memory" }, "memory, for keys and values: ", button);
  }

  // What leaves the residual stream, as a branch beside it, and the sum that comes back to it.
  residual(block, outer) {
    const sum = block.inside.findIndex((inner) => inner.kind === "sum");
    return element("div", { class: "residual" },
      element("div", { class: "branch" }, ...this.nodes(block.inside.slice(0, sum), outer)),
      ...this.nodes(block.inside.slice(sum), outer));
  }

  // Arrow keys go from block to block.
  move(event) {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const all = [...this.node.querySelectorAll("button")].filter((button) => button.offsetParent);
    all[all.indexOf(document.activeElement) + step]?.focus();
  }

  // Unfolds what is around a block, and gives it the focus.
  focus(name) {
    for (const block of pathTo(this.pass.content.blocks, name)) {
      if (this.folded.get(block.name)) this.buttons.get(block.name)?.click();
    }
    this.buttons.get(name)?.focus();
  }

  drawThumbs() { this.thumbs.forEach(([canvas, number]) => drawThumb(canvas, this.pass, number)); }
}

// The blocks around the one of this name, from the outermost; empty if there is none.
export function pathTo(blocks, name) {
  for (const block of blocks) {
    if (block.inside.some((inner) => inner.name === name)) return [block];
    const path = pathTo(block.inside, name);
    if (path.length) return [block, ...path];
  }
  return [];
}

// At first attention and feed-forward are folded, and so are the layers after the first of each stack.
export function foldedAtFirst(blocks, folded = new Map()) {
  for (const block of blocks) {
    if (!block.inside.length) continue;
    const later = block.kind === "layer" && !block.name.endsWith("[0]");
    if (block.kind !== "residual") folded.set(block.name, later || /(_attn|feed_forward)$/.test(block.name));
    foldedAtFirst(block.inside, folded);
  }
  return folded;
}
