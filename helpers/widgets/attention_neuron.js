// The neuron view: how the weight of the chosen cell comes from its query and key vectors, number by number.
import { BOLD, FOCUS, INK, KEY, QUERY, TEXT, batched, clamp, element, palette, paper } from "./drawing.js";
import { makeAction, words } from "./attention_touch.js";

const LEFT = 52, RIGHT = 62, STRIP = 24, GAP = 10;           // of the strips: room for the name and the scale, height, space
const CLOSE = 1e-3;                                          // to the weight on the map
const number = (x, digits = 4) => x.toFixed(digits).replace("-", "−");
const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);

// The numbers behind the weight of a cell: its vectors, the scores of its row, the softmax over the keys that the mask shows.
export class Explanation {
  constructor(model, chosen) {
    const { index, query, key } = chosen.choice, shape = model.get("shape"), [T_q, T_k] = shape.slice(-2), d = model.get("d_head");
    const map = index.reduce((flat, i, axis) => flat * shape[axis] + i, 0);
    const qs = chosen.values("q_vectors"), ks = chosen.values("k_vectors");
    const vector = (values, row) => values.subarray(row * d, (row + 1) * d);
    this.d = d;
    this.q = vector(qs, map * T_q + query);
    this.k = vector(ks, map * T_k + key);
    this.products = this.q.map((x, i) => x * this.k[i]);
    this.sum = dot(this.q, this.k);
    this.score = this.sum / Math.sqrt(d);
    this.weight = chosen.weightOf({ index, query, key });
    const scores = Array.from({ length: T_k }, (_, j) => dot(this.q, vector(ks, map * T_k + j)) / Math.sqrt(d));
    const visible = scores.filter((_, j) => !Number.isNaN(chosen.weightOf({ index, query, key: j })));
    this.keys = visible.length;
    this.largest = Math.max(...visible);
    this.total = visible.reduce((total, score) => total + Math.exp(score - this.largest), 0);
    this.computed = Math.exp(this.score - this.largest) / this.total;
  }

  // The steps from the vectors to the weight, each with its numbers.
  get steps() {
    const { d, sum, score, largest, total, keys, computed, weight } = this, hidden = Number.isNaN(weight);
    const steps = [["sum of q × k", number(sum)], [`score = sum / √${d}`, `${number(sum)} / ${number(Math.sqrt(d))} = ${number(score)}`]];
    if (hidden) return [...steps, ["weight", "none: the mask hides this key"]];
    steps.push([`softmax over ${keys} ${keys === 1 ? "key" : "keys"}`,
      `exp(${number(score)} − ${number(largest)}) / ${number(total)} = ${number(computed)}`], ["weight on the map", number(weight)]);
    const far = Math.abs(weight - computed) > CLOSE;
    return far ? [...steps, ["position bias or other terms", `weight − softmax = ${number(weight - computed)}`]] : steps;
  }
}

// The vectors as strips of colours; a slider or the pointer chooses one of their components.
class Strips {
  constructor(model) {
    this.colors = palette(model.get("signed_colors"));
    this.component = 0;
    this.canvas = element("canvas", { class: "strips", role: "img" });
    this.slider = element("input", { type: "range", min: 0, step: 1, "aria-label": "component" });
    this.text = element("span", { class: "component" });
    this.node = element("div", { class: "vectors" }, this.canvas,
      element("label", {}, element("span", { class: "name" }, "component"), this.slider, this.text));
    this.slider.addEventListener("input", () => this.choose(Number(this.slider.value)));
    this.canvas.addEventListener("pointermove", ({ clientX }) => {
      this.choose(Math.floor((clientX - this.canvas.getBoundingClientRect().left - LEFT) / this.cell));
    });
  }

  choose(component) {
    this.component = clamp(component, 0, this.explanation.d - 1);
    this.draw();
  }

  show(explanation) {
    this.explanation = explanation;
    this.slider.max = explanation.d - 1;
    this.choose(this.component);
  }

  draw() {
    const { q, k, products, d } = this.explanation, { canvas, component, slider } = this;
    this.cell = clamp((this.node.clientWidth - LEFT - RIGHT) / d, 2, 26);
    const g = paper(canvas, LEFT + d * this.cell + RIGHT, 3 * (STRIP + GAP));
    const most = Math.max(...q.map(Math.abs), ...k.map(Math.abs)), text = this.sentence();
    [["q", q, QUERY, most], ["k", k, KEY, most], ["q × k", products, INK, Math.max(...products.map(Math.abs))]]
      .forEach((strip, i) => this.drawStrip(g, i * (STRIP + GAP) + GAP / 2, ...strip));
    g.strokeStyle = FOCUS;
    g.lineWidth = 2;
    g.strokeRect(LEFT + component * this.cell, 1, this.cell, 3 * (STRIP + GAP) - 2);
    canvas.setAttribute("aria-label", `The vectors q and k, and q × k, ${d} numbers each. ${text}`);
    slider.value = component;
    slider.setAttribute("aria-valuetext", text);
    this.text.textContent = text;
  }

  sentence() {
    const { q, k, products } = this.explanation, i = this.component;
    return `${i}: q ${number(q[i])} × k ${number(k[i])} = ${number(products[i])}`;
  }

  drawStrip(g, y, name, values, color, most) {
    const { cell } = this;
    values.forEach((x, i) => {
      g.fillStyle = `rgb(${this.colors[Math.round((x / (most || 1) + 1) / 2 * 255)]})`;
      g.fillRect(LEFT + i * cell, y, Math.ceil(cell), STRIP);
    });
    g.strokeStyle = "#767676";
    g.lineWidth = 1;
    g.strokeRect(LEFT - 0.5, y - 0.5, values.length * cell + 1, STRIP + 1);
    Object.assign(g, { textBaseline: "middle", textAlign: "right", font: BOLD, fillStyle: color });
    g.fillText(name, LEFT - 6, y + STRIP / 2);
    Object.assign(g, { textAlign: "left", font: TEXT, fillStyle: INK });
    g.fillText(`±${most.toPrecision(3)}`, LEFT + values.length * cell + 6, y + STRIP / 2);
  }
}

// Its button, its node, and press(key), which says whether the key was its own.
export function makeNeuron(model, chosen) {
  const strips = new Strips(model), steps = element("table", { class: "steps" }), title = element("div", { class: "title" });
  const note = element("div"), node = element("section", { class: "neuron", "aria-label": "neuron view" });
  const toggle = () => { model.set("neuron", !model.get("neuron")); model.save_changes(); };
  const { node: button } = makeAction("neuron view", "n", toggle, { title: "q, k, score and softmax of the chosen cell" });

  function show() {
    const { index, query, key } = chosen.choice, [T_q, T_k] = model.get("shape").slice(-2);
    button.hidden = model.get("q_vectors").byteLength === 0;
    button.setAttribute("aria-expanded", String(model.get("neuron")));
    node.hidden = !model.get("neuron") || button.hidden;
    if (node.hidden) node.replaceChildren(); else if (!node.children.length) node.append(title, strips.node, steps, note);
    if (node.hidden) return;
    const isCell = index.every(Number.isInteger) && query < T_q && key < T_k;
    [title, strips.node, steps].forEach((part) => { part.hidden = !isCell; });
    note.textContent = isCell ? "" : "This cell has no vectors of its own: choose a single head, and a cell of the map before the changes.";
    if (!isCell) return;
    const explanation = new Explanation(model, chosen), before = model.get("changes").length ? ", before the changes" : "";
    title.textContent = `${words(model, { kind: "Neuron view", index, query, key })}${before}`;
    steps.replaceChildren(...explanation.steps.map(([name, value]) => element("tr", {},
      element("th", { scope: "row" }, name), element("td", {}, value))));
    strips.show(explanation);
  }
  const showSoon = batched(show), observer = new ResizeObserver(showSoon);
  const events = ["neuron", "q_vectors", "weights", "index", "query", "key", "changes"].map((name) => `change:${name}`);
  events.forEach((event) => model.on(event, showSoon));
  observer.observe(node);
  show();
  const press = (key) => {
    if (key === "n" && !button.hidden) toggle();
    return key === "n";
  };
  return { button, node, press, stop: () => { observer.disconnect(); events.forEach((event) => model.off(event, showSoon)); } };
}
