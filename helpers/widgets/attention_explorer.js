// The browser's half of AttentionExplorer: it holds all the weights, so that a slider needs no kernel.
import { makeBeside } from "./attention_beside.js";
import { makeControls } from "./attention_controls.js";
import { restorePinned, seen } from "./attention_effect.js";
import { makeSaving } from "./attention_saving.js";
import { Stage } from "./attention_stage.js";
import { Weights } from "./attention_weights.js";
import { batched, clamp, element, placeOf } from "./drawing.js";
import { makeTexts } from "./typed.js";

const TRAITS_THAT_MOVE = ["index", "query", "key", "grid", "view", "side", "locked", "pinned"];

function makeLegend({ model, scale, anyMasked }) {
  const background = `background: linear-gradient(to right, ${scale.stops.join(", ")})`;
  const hidden = anyMasked ? [element("span", { class: "masked" }), "hidden by the mask"] : [];
  const precision = model.get("dtype") === "float32" ? [] : [element("span", { class: "precision" }, "weights to ±0.00001")];
  const ends = scale.isSigned ? [scale.say(scale.low, 2), `${scale.say(scale.high, 2)} log-probability of the answer`] : [scale.low, scale.high];
  return element("div", { class: "legend" }, `${scale.isSigned ? "effect" : "weight"} ${ends[0]}`,
    element("span", { class: "scale", style: background }), String(ends[1]), ...hidden, ...precision);
}

// The number of a map in words, exactly.
function inWords({ scale }, w) {
  if (Number.isNaN(w)) return scale.isSigned ? "no effect" : "hidden by the mask";
  return scale.isSigned ? `effect ${scale.say(w, 4)}` : w.toFixed(4);
}

const cited = (tokens, i) => `“${tokens[i]}”${placeOf(tokens, i, "position ")}`;

// A cell in words.
function sentence(weights, { index, query, key }) {
  const { queries, keys } = weights, map = weights.map(index), title = weights.title(index), where = title && `${title}, `;
  return `${where}query ${cited(queries, query)} → key ${cited(keys, key)}: `
    + inWords(map, map.weight(query, key)) + weights.beside({ index, query, key });
}

// What stands at the pointer: the weight there, that of the locked choice, and that of the map that is compared.
function atPointer(weights) {
  const { preview, choice, pinned, locked } = weights, said = [preview.note || sentence(weights, preview)];
  if (!preview.note && pinned && preview.query < pinned.T_q && preview.key < pinned.T_k) {
    said.push(`${pinned.title || "compared"}: ${inWords(pinned, pinned.weight(preview.query, preview.key))}`);
  }
  if (locked) said.push(`locked: ${sentence(weights, choice)}`);
  return said.join("\n");
}

// A note that follows the pointer within the explorer `el`.
function makeTip(el, weights) {
  const node = element("div", { class: "tip", "aria-hidden": "true" });
  const show = (event) => {
    node.hidden = !weights.preview;
    if (node.hidden) return;
    node.textContent = atPointer(weights);
    const box = el.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    node.style.left = `${clamp(x + 14, 0, Math.max(0, box.width - node.offsetWidth - 4))}px`;
    node.style.top = `${y + 20 + node.offsetHeight > box.height ? y - node.offsetHeight - 12 : y + 20}px`;
  };
  const hide = () => { node.hidden = true; };
  hide();
  return { node, show, hide };
}

function toolButton(text, label, act) {
  const button = element("button", { type: "button", "aria-label": label }, text);
  button.addEventListener("click", act);
  return button;
}

function build(model, el) {
  restorePinned(model);
  const weights = new Weights(seen(model)), beside = makeBeside(model, weights, () => again()), tip = makeTip(el, weights);
  const readout = element("div", { class: "readout", role: "status", "aria-live": "polite" });
  const stage = new Stage(weights, (event) => { stage.draw(); tip.show(event); });
  const texts = makeTexts(model);
  let controls = makeControls(weights);
  const draw = () => {
    controls.show();
    stage.draw();
    tip.hide();                                       // it told of the state before; the next move of the pointer shows it
    readout.textContent = sentence(weights, weights.choice) + (weights.locked ? " · locked" : "");
  };
  const zoom = [toolButton("−", "zoom out", () => stage.zoomBy(1 / 1.5)), toolButton("+", "zoom in", () => stage.zoomBy(1.5))];
  const saving = makeSaving(() => stage.panels, () => readout.textContent);
  const tools = element("div", { class: "tools" }, "zoom", ...zoom, "save", ...saving);
  const foot = element("div", { class: "foot" }, makeLegend(weights), tools);
  el.replaceChildren(texts.node, beside.shows, controls.node, beside.touch, element("div", { class: "shown" }, stage.node, readout),
    stage.aside, foot, beside.neuron, tip.node);
  el.addEventListener("keydown", beside.press);

  const drawSoon = batched(draw), structure = () => JSON.stringify([weights.axes, weights.sizes, model.get("summaries")]);
  const again = () => {                               // other weights: the controls stay, and one of them keeps the focus
    const before = structure();
    weights.read();
    foot.replaceChildren(makeLegend(weights), tools);
    if (structure() !== before) {
      const old = controls.node;
      controls = makeControls(weights);
      old.replaceWith(controls.node);
    }
    draw();
  };
  const watched = TRAITS_THAT_MOVE.map((name) => `change:${name}`).join(" ");
  model.on(watched, drawSoon);
  model.on("change:weights", again);
  model.on("change:message change:texts", texts.show);
  texts.show();
  draw();
  const observer = new ResizeObserver(draw);
  observer.observe(stage.node);
  return () => {
    observer.disconnect();
    beside.stop();
    model.off(watched, drawSoon);
    model.off("change:weights", again);
    model.off("change:message change:texts", texts.show);
  };
}

function render({ model, el }) {
  // Whatever has the focus keeps its keys: else JupyterLab cuts the cell at an "x".
  el.addEventListener("focusin", (event) => event.target.setAttribute("data-lm-suppress-shortcuts", "true"));
  el.addEventListener("keydown", (event) => event.stopPropagation());
  const inner = element("div", { class: "attention-explorer" });
  el.replaceChildren(inner);
  return build(model, inner);
}

export default { render };
