import { clamp, palette } from "./drawing.js";

// The weights of a model, and which of them is chosen.
export class Weights {
  constructor(model) {
    const shape = model.get("shape"), bytes = model.get("weights");
    this.model = model;
    this.values = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
    this.sizes = shape.slice(0, -2);                  // of the leading axes
    [this.T_q, this.T_k] = shape.slice(-2);
    this.axes = model.get("axes");
    this.queries = model.get("query_tokens");
    this.keys = model.get("key_tokens");
    this.labels = model.get("labels");
    this.vmax = model.get("vmax");
    this.masked = model.get("masked");
    this.colors = palette(model.get("colors"));
    this.anyMasked = this.values.some(Number.isNaN);
  }

  get index() { return this.model.get("index"); }

  get query() { return this.model.get("query"); }

  get key() { return this.model.get("key"); }

  // Where the weights of a map start.
  start(index = this.index) {
    return index.reduce((flat, i, axis) => flat * this.sizes[axis] + i, 0) * this.T_q * this.T_k;
  }

  label(index = this.index) { return this.labels[this.start(index) / (this.T_q * this.T_k)] || ""; }

  weight(q, k) { return this.values[this.start() + q * this.T_k + k]; }

  channels(w) { return this.colors[clamp(Math.round((w / this.vmax) * 255), 0, 255)]; }

  color(w) { return Number.isNaN(w) ? this.masked : `rgb(${this.channels(w)})`; }

  choose(q, k) {
    this.model.set("query", clamp(q, 0, this.T_q - 1));
    this.model.set("key", clamp(k, 0, this.T_k - 1));
  }
}
