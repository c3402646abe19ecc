// The browser's half of LivePicture.

// Whatever has the focus keeps its keys: else JupyterLab cuts the cell at an "x".
const keepKeys = (event) => event.target.setAttribute("data-lm-suppress-shortcuts", "true");

// What ipywidgets leaves out of the lab around the picture.
function mendLab(lab) {
  lab?.addEventListener("focusin", keepKeys);
  lab?.querySelectorAll(".noUi-handle").forEach((handle) => {         // the label beside it is the handle's name
    handle.setAttribute("aria-label", handle.closest(".widget-slider").querySelector(".widget-label").textContent);
  });
}

function render({ model, el }) {
  const image = document.createElement("img");
  image.style.maxWidth = "100%";
  el.append(image);
  function draw() {
    const old = image.src;
    image.src = URL.createObjectURL(new Blob([model.get("png")], { type: "image/png" }));
    image.width = model.get("width");
    image.alt = model.get("alt");
    if (old) URL.revokeObjectURL(old);
  }
  if (model.get("grab")) {
    Object.assign(image.style, { cursor: "grab", touchAction: "none" });
    image.draggable = false;
    const point = (event) => {
      const box = image.getBoundingClientRect();
      model.set("pointer", [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height]);
      model.save_changes();
    };
    image.addEventListener("pointerdown", (event) => { image.setPointerCapture(event.pointerId); point(event); });
    image.addEventListener("pointermove", (event) => { if (event.buttons) point(event); });
  }
  const shown = new ResizeObserver(() => mendLab(el.closest(".widget-vbox")));
  shown.observe(image);
  model.on("change:png", draw);
  draw();
  return () => { shown.disconnect(); model.off("change:png", draw); URL.revokeObjectURL(image.src); };
}

export default { render };
