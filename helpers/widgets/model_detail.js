import { BOLD, FAINT, FOCUS, INK, STROKE, TEXT, clamp, element, paper, shorten, widest } from "./drawing.js";
import { breakable, pathTo, shapeOf, within } from "./model_diagram.js";

const TOP = 6, KEYS_OF_A_TENSOR = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

// A formula as text with <sub> and <sup>: W_{q}^{T}.
export function formulaOf(text) {
  const node = element("p", { class: "formula" });
  for (const [, plain, mark, small] of text.matchAll(/([^_^]+)|([_^])\{(.*?)\}/g)) {
    node.append(plain ?? element(mark === "_" ? "sub" : "sup", {}, small));
  }
  return node;
}

// The largest distance of a shown number from the one computed, rounded up: the bytes have 254 steps.
const errorOf = (step) => Number((step.unit / 2).toPrecision(1));

// One tensor of a step, with the tokens at its rows.
export class TensorPicture {
  constructor(canvas, pass, number) {
    Object.assign(this, { canvas, pass, number, row: 0, column: 0, below: null });     // below: the cell below the pointer
    this.step = pass.content.steps[number];
    [this.heads, this.rows, this.columns] = pass.sizes(this.step);
    this.rowLabels = pass.labels(this.step.rows);
    this.columnLabels = pass.labels(this.step.columns);
    this.follow();
  }

  // The row of the chosen position is chosen.
  follow() {
    if (this.pass.followsPosition(this.step)) this.row = Math.min(this.pass.position, this.rows - 1);
  }

  get head() { return clamp(this.pass.model.get("head"), 0, this.heads - 1); }

  // Where everything stands, for a width of the page.
  layOut(available) {
    const { canvas, rows, columns, rowLabels, columnLabels } = this, numbers = [`${rows - 1}`];
    this.left = widest(canvas, rowLabels ?? numbers, BOLD) + 26;
    const room = Math.max(120, available - this.left - 4);
    this.cellWidth = columnLabels ? clamp(Math.floor(room / columns), 4, 40) : Math.min(16, room / columns);
    this.cellHeight = columnLabels && rowLabels ? clamp(Math.min(this.cellWidth, 420 / rows), 8, 34) : clamp(360 / rows, 8, 22);
    const longest = columnLabels ? widest(canvas, columnLabels, TEXT) : 0;
    this.upright = longest + 4 > this.cellWidth;
    this.width = this.cellWidth * columns;
    this.height = this.cellHeight * rows;
    this.bottom = (this.upright && columnLabels ? longest : 14) + 24;
    this.everyRow = Math.ceil(14 / this.cellHeight);
    this.everyColumn = columnLabels ? Math.ceil(13 / this.cellWidth) : niceStep(34 / this.cellWidth);
  }

  draw(available) {
    this.layOut(available);
    const { left, width, height, step } = this, g = paper(this.canvas, left + width + 4, TOP + height + this.bottom);
    g.imageSmoothingEnabled = false;
    g.drawImage(this.pass.tile(this.number, this.head), left, TOP, width, height);
    this.drawHidden(g);
    this.drawFuture(g);
    Object.assign(g, { strokeStyle: FAINT, lineWidth: 1 });
    g.strokeRect(left - 0.5, TOP - 0.5, width + 1, height + 1);
    this.drawFrame(g, FOCUS, this.row, this.column);
    if (this.below) this.drawFrame(g, INK, ...this.below);
    this.drawRowLabels(g);
    this.drawColumnLabels(g);
    Object.assign(g, { font: BOLD, textAlign: "center", fillStyle: INK });
    g.fillText(step.axes.at(-1), left + width / 2, TOP + height + this.bottom - 7);
    if (step.axes.length < 2) return;
    g.save();
    g.translate(9, TOP + Math.max(height / 2, 16));
    g.rotate(-Math.PI / 2);
    g.fillText(step.axes.at(-2), 0, 0);
    g.restore();
  }

  drawFrame(g, color, row, column) {
    Object.assign(g, { strokeStyle: color, lineWidth: 2 });
    g.strokeRect(this.left + column * this.cellWidth, TOP + row * this.cellHeight, this.cellWidth, this.cellHeight);
  }

  drawHidden(g) {
    const { pass, step, head, rows, columns, left, cellWidth, cellHeight } = this;
    if (step.columns < 0) return;
    Object.assign(g, { strokeStyle: STROKE, lineWidth: 1 });
    g.beginPath();
    for (let row = 0; row < rows; row++) for (let column = 0; column < columns; column++) {
      if (!Number.isNaN(pass.value(step, head, row, column))) continue;
      g.moveTo(left + column * cellWidth + 2, TOP + (row + 1) * cellHeight - 2);
      g.lineTo(left + (column + 1) * cellWidth - 2, TOP + row * cellHeight + 2);
    }
    g.stroke();
  }

  // Rows that are not written yet at the chosen position are pale.
  drawFuture(g) {
    const from = this.pass.rowsSoFar(this.step);
    if (from >= this.rows) return;
    g.fillStyle = "#ffffffcc";
    g.fillRect(this.left, TOP + from * this.cellHeight, this.width, (this.rows - from) * this.cellHeight);
  }

  drawRowLabels(g) {
    Object.assign(g, { textAlign: "right", textBaseline: "middle" });
    const labels = this.rowLabels ?? (this.rows > 1 ? Array.from({ length: this.rows }, (_, i) => String(i)) : []);
    labels.forEach((label, row) => {
      const chosen = row === this.row;
      if (!chosen && (row % this.everyRow || Math.abs(row - this.row) < this.everyRow)) return;
      Object.assign(g, chosen ? { font: BOLD, fillStyle: FOCUS_TEXT } : { font: TEXT, fillStyle: INK });
      g.fillText(shorten(g, label, 110), this.left - 6, TOP + (row + 0.5) * this.cellHeight);
    });
  }

  drawColumnLabels(g) {
    const { columns, column: chosen, everyColumn, columnLabels, upright, left, cellWidth, height } = this;
    for (let column = 0; column < columns; column++) {
      const isChosen = column === chosen;
      if (!isChosen && (column % everyColumn || Math.abs(column - chosen) < everyColumn)) continue;
      Object.assign(g, isChosen ? { font: BOLD, fillStyle: FOCUS_TEXT } : { font: TEXT, fillStyle: INK });
      g.save();
      g.translate(left + (column + 0.5) * cellWidth, TOP + height + 7);
      g.textAlign = upright && columnLabels ? "right" : "center";
      if (upright && columnLabels) g.rotate(-Math.PI / 2); else g.translate(0, 6);
      g.fillText(shorten(g, columnLabels ? columnLabels[column] : String(column), 110), 0, 0);
      g.restore();
    }
  }

  // The cell at a point of the canvas, if there is one.
  cellAt(x, y) {
    const row = Math.floor((y - TOP) / this.cellHeight), column = Math.floor((x - this.left) / this.cellWidth);
    return row >= 0 && row < this.rows && column >= 0 && column < this.columns ? [row, column] : null;
  }

  // A number in words: the one below the pointer, else the chosen one.
  sentence() {
    const { pass, step, head, rowLabels, columnLabels } = this, [row, column] = this.below ?? [this.row, this.column];
    const value = pass.value(step, head, row, column);
    const where = [this.heads > 1 && `head ${head}`,
      rowLabels ? `“${rowLabels[row]}” (row ${row})` : this.rows > 1 && `row ${row}`,
      columnLabels ? `“${columnLabels[column]}”` : `${step.axes.at(-1)} ${column}`];
    const digits = clamp(Math.ceil(-Math.log10(step.unit)), 0, 6);
    return `${where.filter(Boolean).join(", ")}: ${Number.isNaN(value) ? "hidden by the mask" : value.toFixed(digits)}`;
  }
}

const FOCUS_TEXT = "#a83f00";                          // the colour of the frame, dark enough for text

// 1, 2, 4, 8, ...: the first that is at least x.
const niceStep = (x) => 2 ** Math.max(0, Math.ceil(Math.log2(x)));

// The pointer shows the number below it; a click or an arrow key chooses a cell, which stays.
function listenTo(canvas, picture, redraw) {
  const cellOf = (event) => {
    const box = canvas.getBoundingClientRect();
    return picture.cellAt(event.clientX - box.left, event.clientY - box.top);
  };
  const choose = (row, column) => {
    picture.row = clamp(row, 0, picture.rows - 1);
    picture.column = clamp(column, 0, picture.columns - 1);
    picture.below = null;
    redraw();
  };
  canvas.addEventListener("pointermove", (event) => { picture.below = cellOf(event); redraw(); });
  canvas.addEventListener("pointerleave", () => { picture.below = null; redraw(); });
  canvas.addEventListener("click", (event) => { const cell = cellOf(event); if (cell) choose(...cell); });
  canvas.addEventListener("keydown", (event) => {
    const move = KEYS_OF_A_TENSOR[event.key];
    if (!move) return;
    event.preventDefault();
    event.stopPropagation();
    choose(picture.row + move[0], picture.column + move[1]);
  });
}

// Where the step stands: each part of its name goes back to the model, to that block.
function crumbs(pass, step, back) {
  const list = element("ol");
  const add = (text, target) => {
    const button = element("button", { type: "button" }, text);
    button.addEventListener("click", () => back(target));
    list.append(element("li", {}, button));
  };
  add(pass.content.name, step.name);
  let outer = "";
  for (const block of pathTo(pass.content.blocks, step.name)) {
    if (block.kind === "residual") continue;
    add(within(block.name, outer), block.name);
    outer = block.name;
  }
  list.append(element("li", { "aria-current": "true" }, within(step.name, outer)));
  return element("nav", { class: "crumbs", "aria-label": "Where this step is in the model" }, list);
}

function headChoice(pass, heads) {
  const box = element("fieldset", { class: "head-choice" }, element("legend", {}, "head"));
  const inputs = Array.from({ length: heads }, (_, head) => {
    const input = element("input", { type: "radio", name: `head-${Math.random()}`, value: head });
    input.addEventListener("change", () => pass.set("head", head));
    box.append(element("label", {}, input, String(head)));
    return input;
  });
  inputs.forEach((input) => { input.name = inputs[0].name; });
  return { box, show: (head) => { inputs[head].checked = true; } };
}

function codeOf(pass, step) {
  const source = pass.content.sources[step.source];
  if (!source) return "";
  const lines = source.lines.map((line, i) => element(i === step.line ? "mark" : "span", {}, `${line}\n`));
  return element("div", { class: "code" }, element("div", { class: "where" }, source.name),
    element("pre", { tabindex: 0, "aria-label": `The code of ${source.name}; the marked line ran` }, element("code", {}, ...lines)));
}

function legendOf(pass, step) {
  const signed = pass.signed(step), top = Number(pass.top(step).toPrecision(3));
  const background = `background: linear-gradient(to right, ${pass.colors[signed ? "signed" : "weights"].join(", ")})`;
  const note = step.sent.at(-1) < step.shape.at(-1) ? ` Shown are ${step.sent.at(-1)} of ${step.shape.at(-1)} columns, the likeliest.` : "";
  return element("div", { class: "legend" }, String(signed ? -top : 0), element("span", { class: "scale", style: background }), String(top),
    element("span", { class: "note" }, `Kept to within ${errorOf(step)} (8 bits a number).${note}`));
}

// Scrolls to the line that ran; a long function has more lines than are seen at once.
function revealLine(code) {
  const pre = code.querySelector("pre"), mark = code.querySelector("mark");
  if (mark) pre.scrollTop = mark.offsetTop - pre.clientHeight / 2;
}

// One step opened: its tensor, its formula, the line of code. back(name) returns to the model.
export function makeDetail(pass, number, back, open) {
  const step = pass.content.steps[number], [heads] = pass.sizes(step), last = pass.content.steps.length - 1;
  const canvas = element("canvas", { tabindex: 0, role: "application", class: "tensor", "aria-roledescription": "tensor",
    "aria-label": `${step.name}, ${shapeOf(step)}. Arrow keys move from number to number.` });
  const readout = element("div", { class: "readout", role: "status", "aria-live": "polite" });
  const picture = new TensorPicture(canvas, pass, number), choice = heads > 1 ? headChoice(pass, heads) : null;
  const box = element("div", { class: "tensor-box" }, canvas), code = codeOf(pass, step);
  const neighbour = (text, to) => {
    const button = element("button", { type: "button", ...(to < 0 || to > last ? { disabled: "" } : {}) }, text);
    button.addEventListener("click", () => open(to));
    return button;
  };
  const ends = element("div", { class: "ends" }, neighbour("← step before", number - 1), neighbour("step after →", number + 1));
  const node = element("div", { class: "detail" }, element("div", { class: "top" }, crumbs(pass, step, back), ends),
    element("h3", {}, element("code", {}, ...breakable(step.name)), element("span", { class: "shape" }, shapeOf(step))),
    step.formula ? formulaOf(step.formula) : "", element("div", { class: "views" },
      element("div", { class: "numbers" }, choice ? choice.box : "", box, readout, legendOf(pass, step)), code));
  let revealed = false;
  function draw() {
    if (!box.clientWidth) return;                       // not in the page yet
    if (!revealed && code) revealLine(code);
    revealed = true;
    choice?.show(picture.head);
    picture.draw(box.clientWidth);
    readout.textContent = picture.sentence();
  }
  listenTo(canvas, picture, draw);
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    back(step.name);
  });
  return { node, draw, canvas, follow: () => picture.follow() };
}
