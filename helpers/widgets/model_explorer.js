// The browser's half of ModelExplorer: it holds every tensor of a pass, so that nothing needs a kernel.
import { element } from "./drawing.js";
import { makeDetail } from "./model_detail.js";
import { Diagram, foldedAtFirst } from "./model_diagram.js";
import { Pass } from "./model_pass.js";
import { makeTexts } from "./typed.js";

// The slider through the rows of the logits, and the likeliest tokens of the chosen one.
function makeAnswer(pass) {
  const { likeliest, answer, steps, causal } = pass.content;
  if (answer < 0) return { node: "", show() {} };
  const tokens = pass.labels(steps[answer].rows), question = element("span", { class: "question" });
  const slider = element("input", { type: "range", min: 0, max: likeliest.length - 1, step: 1, "aria-label": "position" });
  slider.addEventListener("input", () => pass.set("position", Number(slider.value)));
  const list = element("ol", { class: "likeliest", "aria-live": "polite", "aria-label": "likeliest tokens" });
  const rows = likeliest[0].map(() => {
    const word = element("span", { class: "word" }), bar = element("span", { class: "bar" }), number = element("span", { class: "number" });
    list.append(element("li", {}, word, element("span", { class: "track", "aria-hidden": "true" }, bar), number));
    return { word, bar, number };
  });
  const control = likeliest.length > 1
    ? element("label", { class: "position" }, element("span", {}, causal >= 0 ? "decoding step" : "position"), slider, question) : question;
  const show = () => {
    const position = pass.position, token = tokens?.[position];
    const said = token === undefined ? "output" : `${causal >= 0 ? "after" : "at"} “${token}” (${position})`;
    slider.value = position;
    slider.setAttribute("aria-valuetext", said);
    question.textContent = `${said}:`;
    likeliest[position].forEach(([word, probability], i) => {
      rows[i].word.textContent = word;
      rows[i].bar.style.width = `${100 * probability}%`;
      rows[i].number.textContent = probability.toFixed(3);
    });
  };
  return { node: element("div", { class: "answer" }, control, list), show };
}

// All but the text boxes, for the pass that the model has now; folded outlives it.
function build(model, el, folded) {
  const pass = new Pass(model), answer = makeAnswer(pass), place = element("div", { class: "place" });
  let detail = null, byHand = false, stopped = false;
  function go(name) {
    byHand = true;
    pass.set("step", name);
    byHand = false;
  }
  const open = (number) => go(pass.content.steps[number].name);
  const back = (name) => { go(""); diagram.focus(name); };
  const diagram = new Diagram(pass, folded, open);
  el.replaceChildren(answer.node, place);
  function redraw() {
    answer.show();
    if (detail) detail.draw(); else diagram.drawThumbs();
  }
  function change() {
    detail = pass.opened < 0 ? null : makeDetail(pass, pass.opened, back, open);
    place.replaceChildren(detail ? detail.node : diagram.node);
    redraw();
    if (!byHand || !detail) return;
    detail.canvas.focus({ preventScroll: true });
    if (el.getBoundingClientRect().top < 0) el.scrollIntoView();        // the model was higher than the window
  }
  function move() {
    detail?.follow();
    redraw();
  }
  const observer = new ResizeObserver(() => { if (!stopped) detail?.draw(); });
  observer.observe(place);
  model.on("change:step", change);
  model.on("change:position", move);
  model.on("change:head", redraw);
  change();
  return () => {
    stopped = true;
    observer.disconnect();
    model.off("change:step", change);
    model.off("change:position", move);
    model.off("change:head", redraw);
  };
}

function render({ model, el }) {
  // Whatever has the focus keeps its keys: else JupyterLab cuts the cell at an "x".
  el.addEventListener("focusin", (event) => event.target.setAttribute("data-lm-suppress-shortcuts", "true"));
  el.classList.add("model-explorer");
  const texts = makeTexts(model), inner = element("div"), folded = foldedAtFirst(model.get("content").blocks);
  el.replaceChildren(texts.node, inner);
  let stop = build(model, inner, folded);
  const again = () => {
    const focused = inner.contains(document.activeElement);            // on what is about to be replaced
    stop();
    foldedAtFirst(model.get("content").blocks).forEach((value, name) => { if (!folded.has(name)) folded.set(name, value); });
    stop = build(model, inner, folded);
    if (focused) inner.querySelector("input[type=range]")?.focus({ preventScroll: true });
  };
  model.on("change:data", again);
  model.on("change:texts change:message", texts.show);
  texts.show();
  return () => { stop(); model.off("change:data", again); model.off("change:texts change:message", texts.show); };
}

export default { render };
