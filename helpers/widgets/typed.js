// The boxes to type into that an explorer may have, and why a text could not be read.
import { element } from "./drawing.js";

export function makeTexts(model) {
  const node = element("div", { class: "texts" }), message = element("div", { role: "alert", class: "message" });
  const boxes = Object.keys(model.get("texts")).map((name) => {
    const box = element("input", { type: "text", "aria-label": name });
    const send = () => {
      if (box.value === model.get("texts")[name]) return;
      model.set("texts", { ...model.get("texts"), [name]: box.value });
      model.save_changes();
    };
    box.addEventListener("blur", send);
    box.addEventListener("keydown", (event) => { if (event.key === "Enter") send(); event.stopPropagation(); });
    node.append(element("label", { class: "text" }, element("span", {}, name), box, element("span", { class: "hint" }, "press Enter")));
    return [name, box];
  });
  node.append(message);
  const show = () => {
    for (const [name, box] of boxes) box.value = model.get("texts")[name];
    message.textContent = model.get("message");
  };
  return { node, show };
}
