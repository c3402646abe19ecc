// The browser's half of LivePicture.

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
  // ipywidgets leaves the handle of a slider without a name; the label beside it is one.
  const shown = new ResizeObserver(() => el.closest(".widget-vbox")?.querySelectorAll(".noUi-handle").forEach((handle) => {
    handle.setAttribute("aria-label", handle.closest(".widget-slider").querySelector(".widget-label").textContent);
  }));
  shown.observe(image);
  model.on("change:png", draw);
  draw();
  return () => { shown.disconnect(); model.off("change:png", draw); URL.revokeObjectURL(image.src); };
}

export default { render };
