import { element } from "./drawing.js";

// A number is read when its box is left, too: ipywidgets waits for a blur that bubbles, and a real one does not.
function readNumber(event) {
  const box = event.target;
  if (event.type === "blur" ? event.bubbles : event.key !== "Enter") return;
  checkNumber(box, box.closest(".widget-slider"));
  if (event.type === "blur") box.dispatchEvent(new Event("blur", { bubbles: true }));
}

// Writes a decimal comma as a point, and says what is wrong with what was typed. ipywidgets does the rest: it keeps the
// last number if this is none, and takes the nearest one if it lies outside the range, which the slider's title says.
function checkNumber(box, slider) {
  const typed = box.textContent.trim(), range = slider.querySelector(".widget-label").title;
  if (!range.includes(" to ")) return;                                 // a widget of the reader's own
  const [low, high] = range.split(" ").filter((word) => word !== "to").map(Number);
  const number = Number(typed.replace("−", "-").replace(",", ".") || NaN);
  if (Number.isNaN(number)) return complain(slider, `“${typed}”: a number is needed, ${range}`);
  box.textContent = String(number);
  if (number < low || number > high) complain(slider, `“${typed}” lies outside ${range}: the nearest number is taken`);
}

function complain(slider, text) {
  slider.append(element("div", { role: "alert", class: "lab-alert" }, text));
}

// A complaint stays until the next key or click in the lab.
function forget(event) {
  event.currentTarget.querySelectorAll(".widget-slider .lab-alert").forEach((alert) => alert.remove());
}

// Names of the sliders and of the numbers beside them, which ipywidgets leaves out.
export function mendNumbers(lab) {
  lab.addEventListener("keydown", forget, { capture: true });
  lab.addEventListener("pointerdown", forget, { capture: true });
  lab.querySelectorAll(".widget-slider").forEach((slider) => {
    const name = slider.querySelector(".widget-label").textContent, number = slider.querySelector("[contenteditable]");
    slider.querySelector(".noUi-handle").setAttribute("aria-label", name);
    const attributes = { role: "textbox", inputmode: "decimal", tabindex: "0", "aria-label": `${name}, as a number` };
    for (const [attribute, value] of Object.entries(attributes)) number?.setAttribute(attribute, value);
    for (const type of ["keydown", "blur"]) number?.addEventListener(type, readNumber);
  });
}
