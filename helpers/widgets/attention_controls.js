// The explorer's controls: the view, a slider for each axis, what is compared.
import { element, plural } from "./drawing.js";

const VIEWS = ["map", "lines", "bars"];
let groups = 0;                                       // how many switches there have been: the radio buttons of one share a name

// A labelled slider, and a function that moves it to where get() says. size(): of its stops; word(i): what stands beside it.
function makeSlider(name, size, get, set, word) {
  const input = element("input", { type: "range", min: 0, step: 1, "aria-label": name });
  const value = element("span", { class: "value" });
  input.addEventListener("input", () => set(Number(input.value)));
  const show = () => {
    const text = word(get());
    input.max = size() - 1;
    input.value = get();
    value.textContent = text;
    value.title = text;
    input.setAttribute("aria-valuetext", text);
  };
  const node = element("label", { class: "slider" }, element("span", { class: "name" }, name), input, value);
  return { node, show };
}

function sliderOfAxis(weights, axis) {
  const stops = () => weights.stops(axis), last = axis === weights.axes.length - 1;
  return makeSlider(
    weights.axes[axis], () => stops().length, () => stops().indexOf(weights.index[axis]),
    (i) => weights.set("index", weights.index.with(axis, stops()[i])),
    (i) => (last ? `${stops()[i]} ${weights.label()}`.trim() : String(stops()[i])),
  );
}

// One of several views, as buttons of which one is pressed.
function makeSwitch(weights) {
  const group = `attention-view-${groups++}`;
  const buttons = VIEWS.map((view) => {
    const input = element("input", { type: "radio", name: group, value: view });
    input.addEventListener("change", () => weights.set("view", view));
    return element("label", {}, input, element("span", {}, view));
  });
  const show = () => buttons.forEach(({ firstChild }) => { firstChild.checked = firstChild.value === weights.model.get("view"); });
  return { node: element("div", { class: "switch", role: "radiogroup", "aria-label": "view" }, ...buttons), show };
}

function makeCheckbox(label, get, set, isEnabled) {
  const box = element("input", { type: "checkbox" });
  box.addEventListener("change", () => set(box.checked));
  const show = () => Object.assign(box, { checked: get(), disabled: !isEnabled() });
  return { node: element("label", { class: "check" }, box, label), show };
}

// All controls but the text boxes; `show` moves them to where the model is.
export function makeControls(weights) {
  const { model, axes, sizes } = weights, many = sizes.some((n) => n > 1);
  const controls = axes.map((_, axis) => axis).filter((axis) => sizes[axis] > 1).map((axis) => sliderOfAxis(weights, axis));
  controls.push(makeSlider("query", () => weights.T_q, () => weights.query, (q) => weights.set("query", q),
    (q) => weights.queries[q]));
  const checks = [];
  if (sizes.slice(-2).some((n) => n > 1)) {
    checks.push(makeCheckbox(`all ${plural(axes.at(-1), 2)}`, () => model.get("grid"), (grid) => weights.set("grid", grid),
      () => model.get("view") === "map"));
  }
  if (many || Object.keys(model.get("texts")).length) {
    checks.push(makeCheckbox("compare", () => Boolean(weights.pinned), (wanted) => weights.pin(wanted), () => !weights.isGrid));
  }
  const view = makeSwitch(weights), all = [view, ...controls, ...checks];
  const node = element("div", { class: "controls" }, view.node, ...controls.map((control) => control.node),
    element("div", { class: "checks" }, ...checks.map((check) => check.node)));
  return { node, show: () => all.forEach(({ show }) => show()) };
}
