// The browser's half of LivePicture.
import { element } from "./drawing.js";
import { mendNumbers } from "./lab_numbers.js";

const LEGIBLE = 0.75;       // as in lab.py

// Whatever has the focus keeps its keys: else JupyterLab cuts the cell at an "x".
const keepKeys = (event) => event.target.setAttribute("data-lm-suppress-shortcuts", "true");

// Dragging, where it begins inside the area; `send` gets the place in fractions of the picture.
function makeDraggable(image, [left, top, right, bottom], send) {
  const place = (event) => {
    const box = image.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  };
  const inside = ([x, y]) => left <= x && x <= right && top <= y && y <= bottom;
  let dragging = false;
  image.addEventListener("pointerdown", (event) => {
    dragging = inside(place(event));
    if (!dragging) return;
    image.setPointerCapture(event.pointerId);
    send(place(event));
  });
  image.addEventListener("pointermove", (event) => {
    image.style.cursor = inside(place(event)) ? "grab" : "";
    if (dragging) send(place(event));
  });
  for (const end of ["pointerup", "pointercancel"]) image.addEventListener(end, () => { dragging = false; });
}

// Unpacked in another thread, many times as fast as an <img> decodes a PNG.
async function unpacked(bytes) {
  const packed = new Blob([bytes]).stream();
  return new Uint8ClampedArray(await new Response(packed.pipeThrough(new DecompressionStream("deflate"))).arrayBuffer());
}

// Shows the newest pixels of the model on a canvas.
function painter(model, canvas) {
  const g = canvas.getContext("2d");
  let newest = 0;
  return async () => {
    const mine = ++newest, [width, height] = model.get("size");
    canvas.setAttribute("aria-label", model.get("alt"));
    canvas.style.maxWidth = `${model.get("width")}px`;
    const pixels = await unpacked(model.get("pixels"));
    if (mine !== newest) return;                                       // another picture has come
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    g.putImageData(new ImageData(pixels, width, height), 0, 0);
  };
}

// Where the picture is too small to be read, a button gives it its size, to be scrolled.
function makeEnlarge(el, canvas, model) {
  const button = element("button", { type: "button", class: "enlarge" });
  const show = (large) => {
    el.classList.toggle("large", large);
    canvas.style.minWidth = large ? `${model.get("width")}px` : "";
    button.textContent = large ? "fit to the page" : "full size";
  };
  button.addEventListener("click", () => show(!el.classList.contains("large")));
  show(false);
  return { button, fit: () => { button.hidden = el.clientWidth >= LEGIBLE * model.get("width"); if (button.hidden) show(false); } };
}

function render({ model, el }) {
  const canvas = element("canvas", { role: "img" }), area = model.get("area"), scroll = element("div", { class: "scroll" }, canvas);
  const send = (name, value) => { model.set(name, value); model.save_changes(); };
  const { button, fit } = makeEnlarge(el, canvas, model), draw = painter(model, canvas);
  el.classList.add("live-picture");
  el.append(scroll, button);
  if (area.length) {
    el.classList.add("draggable");
    makeDraggable(canvas, area, (place) => send("pointer", place));
  }
  const shown = new ResizeObserver(() => {
    const lab = el.closest(".lab");
    lab?.addEventListener("focusin", keepKeys);
    if (lab) mendNumbers(lab);
    fit();
    scroll.tabIndex = scroll.scrollWidth > scroll.clientWidth ? 0 : -1;        // scrolled by keyboard, too
    if (model.get("ratio") !== window.devicePixelRatio) send("ratio", window.devicePixelRatio);
  });
  shown.observe(el);
  model.on("change:pixels", draw);
  draw();
  return () => { shown.disconnect(); model.off("change:pixels", draw); };
}

export default { render };
