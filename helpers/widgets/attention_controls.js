// The explorer's controls: the view, a slider for each axis, what is compared.
import { element, placeOf, plural, unique, write } from "./drawing.js";

const VIEWS = { map: "map", lines: "lines", bars: "bars" };

// A labelled slider, and a function that moves it to where get() says. size(): of its stops; word(i): what stands beside it;
// note(): what stands below it, if anything.
function makeSlider(name, size, get, set, word, note = () => "") {
  const below = element("span", { class: "note" });
  const input = element("input", { type: "range", min: 0, step: 1, "aria-label": name });
  const value = element("span", { class: "value" });
  input.addEventListener("input", () => set(Number(input.value)));
  const show = () => {
    const text = word(get());
    input.max = size() - 1;
    input.value = get();
    write(value, text);
    value.title = text;
    input.setAttribute("aria-valuetext", text);
    write(below, note());
    input.title = below.textContent;
  };
  const node = element("label", { class: "slider" }, element("span", { class: "name" }, name), input, value, below);
  return { node, show };
}

// What the slider of the heads has beyond single heads: its last stops are easily overlooked.
function noteOf(stops) {
  const more = stops.filter((stop) => !Number.isInteger(stop));
  return more.length ? `0 to ${stops.length - more.length - 1}, then ${more.join(", ")}` : "";
}

// index(): which map the slider belongs to; move(index) shows another one.
function sliderOfAxis(weights, axis, index, move) {
  const stops = () => weights.stops(axis), last = axis === weights.axes.length - 1;
  return makeSlider(
    weights.axes[axis], () => stops().length, () => stops().indexOf(index()[axis]),
    (i) => move(index().with(axis, stops()[i])),
    (i) => (last ? `${stops()[i]} ${weights.label(index())}`.trim() : String(stops()[i])),
    () => noteOf(stops()),
  );
}

// The sliders of the leading axes that have several maps. A title stands above them while two maps are compared.
function makeChooser(weights, title, index, move) {
  const axes = weights.axes.map((_, axis) => axis).filter((axis) => weights.sizes[axis] > 1);
  const sliders = axes.map((axis) => sliderOfAxis(weights, axis, index, move));
  const name = element("div", { class: "title" }, title);
  const node = element("div", { class: "chooser", role: "group" }, name, ...sliders.map((slider) => slider.node));
  const show = (isCompared) => {
    name.hidden = !isCompared;
    if (isCompared) node.setAttribute("aria-label", title); else node.removeAttribute("aria-label");
    sliders.forEach((slider) => slider.show());
  };
  return { node, show };
}

// One of several values of a trait, as buttons of which one is pressed; words: what stands on them.
export function makeSwitch(weights, trait, words, label = trait) {
  const group = unique(trait);
  const buttons = Object.entries(words).map(([value, word]) => {
    const input = element("input", { type: "radio", name: group, value });
    input.addEventListener("change", () => weights.set(trait, value));
    return element("label", {}, input, element("span", {}, word));
  });
  const show = () => buttons.forEach(({ firstChild }) => { firstChild.checked = firstChild.value === weights.model.get(trait); });
  return { node: element("div", { class: "switch", role: "radiogroup", "aria-label": label }, ...buttons), show };
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
  const kept = makeChooser(weights, "first map", () => weights.pinnedIndex, (index) => weights.pin(index));
  const shown = makeChooser(weights, "second map", () => weights.index, (index) => weights.set("index", index));
  const query = makeSlider("query", () => weights.T_q, () => weights.query, (q) => weights.set("query", q),
    (q) => weights.queries[q] + placeOf(weights.queries, q));
  const checks = [];
  if (sizes.slice(-2).some((n) => n > 1)) {
    checks.push(makeCheckbox(`all ${plural(axes.at(-1), 2)}`, () => model.get("grid"), (grid) => weights.set("grid", grid),
      () => model.get("view") === "map"));
  }
  if (many || Object.keys(model.get("texts")).length) {
    checks.push(makeCheckbox("compare", () => Boolean(weights.pinned), (wanted) => weights.compare(wanted), () => !weights.isGrid));
  }
  const view = makeSwitch(weights, "view", VIEWS), all = [view, query, ...checks];
  const node = element("div", { class: "controls" }, view.node, shown.node, query.node,
    element("div", { class: "checks" }, ...checks.map((check) => check.node)));
  const show = () => {
    const isCompared = many && !weights.isGrid && Boolean(weights.pinned);
    if (isCompared && !kept.node.isConnected) shown.node.before(kept.node);
    if (!isCompared) kept.node.remove();
    [kept, shown].forEach((chooser) => chooser.show(isCompared));
    all.forEach((control) => control.show());
  };
  return { node, show };
}
