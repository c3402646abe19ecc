// What an explorer needs of a notebook: a model that keeps values, and tells who listens when one changes.
function modelOf(state) {
  const listeners = {}, of = (names) => names.split(" ").map((name) => (listeners[name] ??= new Set()));
  return {
    get: (name) => state[name],
    set(name, value) {
      state[name] = value;
      of(`change:${name}`)[0].forEach((listener) => listener());
    },
    on: (names, listener) => of(names).forEach((set) => set.add(listener)),
    off: (names, listener) => of(names).forEach((set) => set.delete(listener)),
    save_changes() {},                                  // there is nobody to tell
  };
}

// Bytes as the site writes them.
const revive = (_, value) => (value?.base64 ? Uint8Array.from(atob(value.base64), (c) => c.charCodeAt(0)) : value);

for (const el of document.querySelectorAll(".explorer")) {
  const state = JSON.parse(el.querySelector("script").textContent, revive);
  explorers[el.dataset.kind]({ model: modelOf(state), el });
  el.querySelectorAll("input[type=text]").forEach((box) => { box.disabled = true; });
}

// What is wider than the page moves in its box, by keyboard too.
const boxes = document.querySelectorAll("pre, .wide");
const mark = () => boxes.forEach((box) => {
  if (box.scrollWidth > box.clientWidth) box.tabIndex = 0; else box.removeAttribute("tabindex");
});
new ResizeObserver(mark).observe(document.documentElement);
