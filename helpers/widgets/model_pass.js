import { channelsOf, clamp, palette } from "./drawing.js";

const HIDDEN = 255;                                   // the byte of a weight that a mask hides

// One pass of a model: its steps, and a picture of the tensor of each.
export class Pass {
  constructor(model) {
    const colors = model.get("colors"), bytes = model.get("data");
    this.model = model;
    this.content = model.get("content");
    this.bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.palettes = { weights: palette(colors.weights), signed: palette(colors.signed) };
    this.colors = colors;
    this.hidden = channelsOf(colors.hidden);
    this.tiles = new Map();
    this.numbers = new Map(this.content.steps.map((step, i) => [step.name, i]));
  }

  get opened() { return this.numbers.get(this.model.get("step")) ?? -1; }

  get position() { return clamp(this.model.get("position"), 0, Math.max(0, this.content.likeliest.length - 1)); }

  set(name, value) { this.model.set(name, value); this.model.save_changes(); }

  // The sizes of a step's tensor as it was sent: [heads, rows, columns].
  sizes(step) {
    const sent = step.sent;
    return [sent.length === 3 ? sent[0] : 1, sent.length > 1 ? sent.at(-2) : 1, sent.at(-1)];
  }

  labels(number) { return number < 0 ? null : this.content.labels[number]; }

  value(step, head, row, column) {
    const [, rows, columns] = this.sizes(step), code = this.bytes[step.start + (head * rows + row) * columns + column];
    return code === HIDDEN ? NaN : step.low + code * step.unit;
  }

  signed(step) { return step.low < 0; }

  // The largest number that a step's colours stand for.
  top(step) { return step.low + 254 * step.unit; }

  // A picture of one head of a step, a pixel a number.
  tile(number, head) {
    const key = `${number} ${head}`;
    if (!this.tiles.has(key)) this.tiles.set(key, this.makeTile(this.content.steps[number], head));
    return this.tiles.get(key);
  }

  makeTile(step, head) {
    const [, rows, columns] = this.sizes(step), start = step.start + head * rows * columns;
    const colors = this.palettes[this.signed(step) ? "signed" : "weights"];
    const tile = Object.assign(document.createElement("canvas"), { width: columns, height: rows });
    const g = tile.getContext("2d"), picture = g.createImageData(columns, rows);
    for (let i = 0; i < rows * columns; i++) {
      const code = this.bytes[start + i], [red, green, blue] = code === HIDDEN ? this.hidden : colors[Math.round((code * 255) / 254)];
      picture.data.set([red, green, blue, 255], 4 * i);
    }
    g.putImageData(picture, 0, 0);
    return tile;
  }

  // Does a row of this step stand for the token that the chosen logits follow?
  followsPosition(step) {
    const { answer, steps } = this.content;
    return answer >= 0 && step.rows >= 0 && step.rows === steps[answer].rows;
  }

  // How many rows there are at the chosen position when the model writes token by token.
  rowsSoFar(step) {
    const writing = this.content.causal >= 0 && step.rows === this.content.causal && this.followsPosition(step);
    return writing ? this.position + 1 : Infinity;
  }
}
