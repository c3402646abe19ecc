// The browser's half of ModelExplorer: it holds every tensor of a pass, so that nothing needs a kernel.
import { element } from "./drawing.js";
import { Answer } from "./model_answer.js";
import { makeDetail } from "./model_detail.js";
import { Diagram, foldedAtFirst } from "./model_diagram.js";
import { Pass } from "./model_pass.js";
import { makeTexts } from "./typed.js";

// The blocks or an opened step, for the pass that the model has now; answer and folded outlive it.
function build(model, el, answer, folded) {
  const pass = new Pass(model), place = element("div", { class: "place" });
  let detail = null, byHand = false, stopped = false;
  function go(name) {
    byHand = true;
    pass.set("step", name);
    byHand = false;
  }
  const open = (number) => go(pass.content.steps[number].name);
  const back = (name) => { go(""); diagram.focus(name); };
  const diagram = new Diagram(pass, folded, open);
  el.replaceChildren(place);
  answer.read(pass);
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
    const explorer = el.parentNode;
    if (explorer.getBoundingClientRect().top < 0) explorer.scrollIntoView();        // the model was higher than the window
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
  const texts = makeTexts(model), answer = new Answer(model), inner = element("div"), folded = foldedAtFirst(model.get("content").blocks);
  el.replaceChildren(texts.node, answer.node, inner);
  let stop = build(model, inner, answer, folded);
  const again = () => {
    const focused = inner.contains(document.activeElement);            // on what is about to be replaced
    stop();
    foldedAtFirst(model.get("content").blocks).forEach((value, name) => { if (!folded.has(name)) folded.set(name, value); });
    stop = build(model, inner, answer, folded);
    if (focused) answer.slider.focus({ preventScroll: true });
  };
  model.on("change:data", again);
  model.on("change:texts change:message", texts.show);
  texts.show();
  return () => { stop(); model.off("change:data", again); model.off("change:texts change:message", texts.show); };
}

export default { render };
