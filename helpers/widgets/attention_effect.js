// What the map shows: the weights, their effects, or the weights after the reader's changes.
import { floatsOf } from "./attention_touch.js";
import { Weights } from "./attention_weights.js";
import { batched, element, unique } from "./drawing.js";

const AFTER = ["weights", "dtype", "shape", "query_tokens", "key_tokens"];      // traits that the changes have of their own
const NAMES = { weight: "weight", effect: "effect", after: "after" };
const HINTS = {
  weight: "the weights", effect: "how the answer’s log-probability changes when a weight is cut",
  after: "the weights after the changes",
};
const TRAITS = ["effect", "after", "effects", "weights_after", "changes"].map((name) => `change:${name}`);

export const signed = (x) => (x < 0 ? "−" : "+") + Math.abs(x).toFixed(4);

// The largest absolute value of the effects: the scale is symmetric.
function mostOf(model) {
  const most = floatsOf(model.get("effects")).reduce((max, x) => (Math.abs(x) > max ? Math.abs(x) : max), 0);
  return most || 1;
}

const shows = (model) => (model.get("effect") ? "effect" : model.get("after") && model.get("changes").length ? "after" : "weight");

// The model as the map sees it: the numbers, their scale from vmin to vmax, and the note in their title are those that the switch names.
export function seen(model) {
  const of = {
    weight: { vmin: () => 0, note: () => "" },
    after: { vmin: () => 0, note: () => "after", ...Object.fromEntries(AFTER.map((name) => [name, () => model.get(`${name}_after`)])) },
    effect: {
      weights: () => model.get("effects"), colors: () => model.get("signed_colors"), dtype: () => "float32",
      note: () => "effect", vmin: () => -mostOf(model), vmax: () => mostOf(model),
      summaries: () => model.get("summaries").filter((name) => name !== "rollout"),
    },
  };
  return { ...model, get: (name) => (of[shows(model)][name] ?? (() => model.get(name)))() };
}

// A map to compare with, of which a page's address says only where it is and whether it shows effects: its numbers, too.
export function restorePinned(model) {
  const { index, weights, effect } = model.get("pinned");
  if (!index || weights) return;
  new Weights(seen({ ...model, get: (name) => (name === "effect" ? effect : model.get(name)) })).pin(index);
}

// What the readout adds to the number on the map: the effect to a weight, the weight to an effect.
export function otherNumber(model, chosen, { index, query, key }) {
  const now = shows(model), effects = model.get("effects");
  if (!effects.byteLength || now === "after" || !index.every(Number.isInteger)) return "";
  if (now === "effect") return `, weight ${chosen.weightOf({ index, query, key }).toFixed(4)}`;
  const effect = chosen.at("effects", { index, query, key });
  return `, effect ${Number.isNaN(effect) ? "none" : signed(effect)}`;
}

// The switch; again() is called when the map has to show other numbers.
export function makeShows(model, again) {
  const name = unique("shows");
  const radios = Object.keys(NAMES).map((value) => element("input", { type: "radio", name, value }));
  const labels = radios.map((radio) => element("label", { title: HINTS[radio.value] }, radio, element("span", {}, NAMES[radio.value])));
  const node = element("div", { class: "switch shows", role: "radiogroup", "aria-label": "the map shows" });
  radios.forEach((radio) => radio.addEventListener("change", () => {
    model.set("effect", radio.value === "effect");
    model.set("after", radio.value === "after");
    model.save_changes();
  }));
  const isOff = {
    weight: () => false, effect: () => model.get("index").includes("rollout"), after: () => !model.get("changes").length,
  };
  function show() {
    const isThere = { effect: model.get("effects").byteLength > 0, after: model.get("can_change") };
    const there = labels.filter((_, i) => isThere[radios[i].value] ?? (isThere.effect || isThere.after));
    if (there.length !== node.children.length) node.replaceChildren(...there);
    radios.forEach((radio) => {
      radio.checked = radio.value === shows(model);
      radio.disabled = isOff[radio.value]();
    });
    node.hidden = there.length === 0;
  }
  const change = batched(() => { show(); again(); });
  TRAITS.forEach((event) => model.on(event, change));
  model.on("change:index", show);
  show();
  const stop = () => { TRAITS.forEach((event) => model.off(event, change)); model.off("change:index", show); };
  return { node, stop };
}
