import { BAR, channelsOf, clamp, palette } from "./drawing.js";

const WORD = { mean: "mean over heads", rollout: "rollout" };      // what stands in a title for a further stop of the heads

// Colours between two values; hidden cells, which are NaN, have their own.
export class Scale {
  constructor(stops, low, high, masked) {
    Object.assign(this, { stops, low, high, masked, colors: palette(stops), grey: channelsOf(masked) });
  }

  channels(w) {
    if (Number.isNaN(w)) return this.grey;
    return this.colors[clamp(Math.round(((w - this.low) / (this.high - this.low)) * 255), 0, 255)];
  }

  color(w) { return `rgb(${this.channels(w)})`; }

  get isSigned() { return this.low < 0; }

  // How strong a value is, from 0 to 1, whatever its sign.
  strength(w) { return clamp(Math.abs(w) / this.high, 0, 1); }

  // Where the bar of a value starts, and how long it is, as parts of the room for it.
  bar(w) {
    const zero = this.isSigned ? 0.5 : 0, length = this.strength(w) * (1 - zero);
    return [w < 0 ? zero - length : zero, length];
  }

  // The colour of a bar or a line.
  ink(w) { return this.isSigned ? this.stops.at(w < 0 ? 0 : -1) : BAR; }

  say(w, digits) {
    const text = Math.abs(w).toFixed(digits), sign = w < 0 ? "−" : this.isSigned ? "+" : "";
    return Number(text) ? sign + text : text;
  }
}

// One map with its tokens: values has a number for each query and key, row by row.
export class AttentionMap {
  constructor(values, queries, keys, scale, title) {
    Object.assign(this, { values, queries, keys, scale, title, T_q: queries.length, T_k: keys.length });
    this.anyMasked = values.includes(NaN);
  }

  weight(q, k) { return this.values[q * this.T_k + k]; }

  color(q, k) { return this.scale.color(this.weight(q, k)); }

  // A canvas with a pixel for each cell, made once.
  get tile() {
    if (!this.made) {
      const { T_q, T_k, values, scale } = this;
      this.made = Object.assign(document.createElement("canvas"), { width: T_k, height: T_q });
      const g = this.made.getContext("2d"), picture = g.createImageData(T_k, T_q), { data } = picture;
      for (let i = 0; i < values.length; i++) {
        [data[4 * i], data[4 * i + 1], data[4 * i + 2]] = scale.channels(values[i]);
        data[4 * i + 3] = 255;
      }
      g.putImageData(picture, 0, 0);
    }
    return this.made;
  }
}

const HIDDEN = { float32: NaN, uint16: 65535 };         // what is sent of a hidden cell

// A buffer of the model as it is sent: float32, or uint16 with 0 to 65534 for 0 to 1.
function numbersOf(view, dtype) {
  const bytes = view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength);
  return dtype === "float32" ? new Float32Array(bytes) : new Uint16Array(bytes);
}

// The weights that such numbers stand for; hidden cells as NaN.
function decode(numbers, dtype) {
  if (dtype === "float32") return numbers;
  return Float32Array.from(numbers, (n) => (n === HIDDEN.uint16 ? NaN : n / 65534));
}

// 0.5 A + 0.5 I, its rows normalised; hidden cells count as 0.
function withResidual({ values, T_k }) {
  const mixed = Float64Array.from(values, (w, i) => 0.5 * (w || 0) + (i % (T_k + 1) === 0 ? 0.5 : 0));
  for (let start = 0; start < mixed.length; start += T_k) {
    const row = mixed.subarray(start, start + T_k), sum = row.reduce((a, b) => a + b, 0);
    row.forEach((w, k) => { row[k] = w / sum; });
  }
  return mixed;
}

// The product of two square matrices, T x T; NaN counts as 0.
function product(a, b, T) {
  const result = new Float64Array(T * T);
  for (let q = 0; q < T; q++) for (let j = 0; j < T; j++) {
    const w = a[q * T + j];
    if (w) for (let k = 0; k < T; k++) result[q * T + k] += w * (b[j * T + k] || 0);
  }
  return result;
}

// The weights of a model, which of them are chosen, and which of them the pointer is at.
export class Weights {
  constructor(model) {
    this.model = model;
    this.preview = null;                              // {index, query, key} at the pointer
    this.beside = () => "";                           // of a cell: what else is known of it, in words
    this.read();
  }

  // Once more, after the model's weights have changed.
  read() {
    const { model } = this, shape = model.get("shape");
    this.dtype = model.get("dtype");
    this.all = numbersOf(model.get("weights"), this.dtype);
    this.sizes = shape.slice(0, -2);                  // of the leading axes
    [this.T_q, this.T_k] = shape.slice(-2);
    this.axes = model.get("axes");
    this.queries = model.get("query_tokens");
    this.keys = model.get("key_tokens");
    this.labels = model.get("labels");
    this.scale = new Scale(model.get("colors"), model.get("vmin"), model.get("vmax"), model.get("masked"));
    this.anyMasked = this.all.includes(HIDDEN[this.dtype]);
    this.maps = new Map();
    this.preview = null;
  }

  get index() { return this.model.get("index"); }

  get query() { return clamp(this.model.get("query"), 0, this.T_q - 1); }

  get key() { return clamp(this.model.get("key"), 0, this.T_k - 1); }

  get locked() { return this.model.get("locked"); }

  get isGrid() { return this.model.get("grid") && this.model.get("view") === "map"; }

  get choice() { return { index: this.index, query: this.query, key: this.key }; }

  // What to show: a locked choice stays while the pointer passes over other cells.
  get shown() { return this.locked || !this.preview ? this.choice : this.preview; }

  // The stops of the slider of a leading axis.
  stops(axis) {
    const numbers = Array.from({ length: this.sizes[axis] }, (_, i) => i);
    return this.axes[axis] === "head" ? [...numbers, ...this.model.get("summaries")] : numbers;
  }

  // Which map of all, counted through the leading axes.
  number(index) { return index.reduce((flat, i, axis) => flat * this.sizes[axis] + i, 0); }

  label(index = this.index) { return this.labels[this.number(index)] || ""; }

  title(index = this.index) {
    const names = this.axes.map((axis, i) => WORD[index[i]] || `${axis} ${index[i]}`).join(", "), label = this.label(index);
    return [label ? `${names} (${label})` : names, this.model.get("note")].filter(Boolean).join(", ");
  }

  // The map at an index, whose place for the head may also be "mean" or "rollout".
  map(index = this.index) {
    const name = index.join();
    if (!this.maps.has(name)) {
      this.maps.set(name, new AttentionMap(this.valuesAt(index), this.queries, this.keys, this.scale, this.title(index)));
    }
    return this.maps.get(name);
  }

  valuesAt(index) {
    const cells = this.T_q * this.T_k, start = this.number(index) * cells;
    if (index.includes("mean")) return this.meanAt(index);
    return index.includes("rollout") ? this.rolloutAt(index) : decode(this.all.subarray(start, start + cells), this.dtype);
  }

  at(index, axis, place) { return this.map(index.with(this.axes.indexOf(axis), place)); }

  meanAt(index) {
    const heads = this.stops(this.axes.indexOf("head")).filter(Number.isInteger).map((h) => this.at(index, "head", h).values);
    return Float32Array.from(heads[0], (_, i) => heads.reduce((sum, values) => sum + values[i], 0) / heads.length);
  }

  // Attention rollout from a layer down to the input (Abnar and Zuidema 2020, section 3).
  rolloutAt(index) {
    const mean = this.at(index, "head", "mean"), layer = index[this.axes.indexOf("layer")];
    const mixed = withResidual(mean);
    const whole = layer ? product(mixed, this.at(index, "layer", layer - 1).values, this.T_q) : mixed;
    return Float32Array.from(whole, (w, i) => (w === 0 && Number.isNaN(mean.values[i]) ? NaN : w));
  }

  // The map that stays beside the others, if there is one.
  get pinned() {
    const kept = this.model.get("pinned");
    if (kept !== this.kept) {
      this.kept = kept;
      this.pinnedMap = kept.weights
        && new AttentionMap(numbersOf(kept.weights, "float32"), kept.query_tokens, kept.key_tokens, this.scaleOf(kept), kept.title);
    }
    return this.pinnedMap;
  }

  scaleOf({ colors, vmin, vmax }) { return new Scale(colors, vmin, vmax, this.scale.masked); }

  // Where the map was that stays beside the others.
  get pinnedIndex() {
    const { index } = this.model.get("pinned"), fits = (place, axis) => this.stops(axis).includes(place);
    return index?.length === this.axes.length && index.every(fits) ? index : this.index;
  }

  // Keeps the map at an index beside the others.
  pin(index) {
    const { values, queries, keys, title } = this.map(index), { stops, low, high } = this.scale;
    this.set("pinned", {
      weights: new Uint8Array(Float32Array.from(values).buffer), query_tokens: queries, key_tokens: keys, title, index,
      colors: stops, vmin: low, vmax: high,
    });
  }

  // Keeps the present map, and goes on to the next one along the last axis that has several; or shows one map again.
  compare(wanted) {
    const { index, sizes } = this, axis = sizes.findLastIndex((n) => n > 1), place = index[axis];
    if (!wanted) { this.set("pinned", {}); return; }
    this.pin(index);
    if (axis >= 0) this.set("index", index.with(axis, Number.isInteger(place) ? (place + 1) % sizes[axis] : 0));
  }

  set(name, value) {
    this.model.set(name, value);
    this.model.save_changes();
  }

  choose({ index, query, key, locked, side }) {
    this.model.set("side", side ?? this.model.get("side"));
    this.model.set("index", index ?? this.index);
    this.model.set("query", clamp(query ?? this.query, 0, this.T_q - 1));
    this.model.set("key", clamp(key ?? this.key, 0, this.T_k - 1));
    this.set("locked", locked ?? this.locked);
  }

  // A cell that was clicked: it is chosen and locked, or unlocked if it was the locked one. side: whose bars to show then.
  click({ index, query, key, side }) {
    const same = this.locked && query === this.query && key === this.key && index.join() === this.index.join();
    this.choose({ index, query, key, side, locked: !same });
  }
}
