// The browser's half of LivePicture.

const LEGIBLE = 0.75;       // as in lab.py: a picture narrower than this part of its width can be scrolled

// Whatever has the focus keeps its keys: else JupyterLab cuts the cell at an "x".
const keepKeys = (event) => event.target.setAttribute("data-lm-suppress-shortcuts", "true");

// A typed number counts when its box is left, too: ipywidgets waits for a blur that bubbles, and a real one does not.
const leave = (event) => { if (!event.bubbles) event.target.dispatchEvent(new Event("blur", { bubbles: true })); };

// What ipywidgets leaves out of the lab around the picture: names of the sliders and of the numbers beside them.
function mendLab(lab) {
  lab?.addEventListener("focusin", keepKeys);
  lab?.querySelectorAll(".widget-slider").forEach((slider) => {
    const name = slider.querySelector(".widget-label").textContent;
    slider.querySelector(".noUi-handle").setAttribute("aria-label", name);
    const number = slider.querySelector("[contenteditable]");
    const attributes = { role: "textbox", inputmode: "decimal", tabindex: "0", "aria-label": `${name}, as a number` };
    for (const [attribute, value] of Object.entries(attributes)) number?.setAttribute(attribute, value);
    number?.addEventListener("blur", leave);
  });
}

// Dragging, where it begins inside the area; `send` gets the place in fractions of the picture.
function makeDraggable(image, [left, top, right, bottom], send) {
  image.draggable = false;
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

function render({ model, el }) {
  const image = document.createElement("img"), area = model.get("area");
  el.classList.add("live-picture");
  el.append(image);
  function draw() {
    const old = image.src, width = model.get("width");
    image.src = URL.createObjectURL(new Blob([model.get("png")], { type: "image/png" }));
    Object.assign(image.style, { maxWidth: `${width}px`, minWidth: `${LEGIBLE * width}px` });
    image.alt = model.get("alt");
    if (old) URL.revokeObjectURL(old);
  }
  if (area.length) {
    el.classList.add("draggable");
    makeDraggable(image, area, (place) => { model.set("pointer", place); model.save_changes(); });
  }
  const shown = new ResizeObserver(() => {
    mendLab(el.closest(".lab"));
    el.tabIndex = el.scrollWidth > el.clientWidth ? 0 : -1;            // scrolled by keyboard, too
  });
  shown.observe(el);
  model.on("change:png", draw);
  draw();
  return () => { shown.disconnect(); model.off("change:png", draw); URL.revokeObjectURL(image.src); };
}

export default { render };
