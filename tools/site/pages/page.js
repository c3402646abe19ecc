// What an explorer needs of a notebook: a model that keeps values, and tells who listens when one changes.
function modelOf(state, save_changes) {
  const listeners = {}, of = (names) => names.split(" ").map((name) => (listeners[name] ??= new Set()));
  return {
    get: (name) => state[name],
    set(name, value) {
      state[name] = value;
      of(`change:${name}`)[0].forEach((listener) => listener());
    },
    on: (names, listener) => of(names).forEach((set) => set.add(listener)),
    off: (names, listener) => of(names).forEach((set) => set.delete(listener)),
    save_changes,
  };
}

const IN_ADDRESS = ["index", "query", "key", "view", "grid", "locked"];

// The state of the n-th explorer as the page's address: #explorer=1&index=2.mean&query=3&...
function addressOf(n, state) {
  const values = IN_ADDRESS.map((name) => [name, name === "index" ? state.index.join(".") : String(state[name])]);
  return `#${new URLSearchParams([["explorer", n], ...values])}`;
}

// What such an address says of the n-th explorer, if it is about that one and fits it.
function fromAddress(n, { axes, shape, summaries }) {
  const said = new URLSearchParams(window.location.hash.slice(1)), number = (text) => (/^\d+$/.test(text) ? Number(text) : text);
  if (said.get("explorer") !== String(n)) return null;
  const index = (said.get("index") || "").split(".").filter(Boolean).map(number);
  const [query, key] = [number(said.get("query")), number(said.get("key"))], [T_q, T_k] = shape.slice(-2);
  const fits = index.length === axes.length && query < T_q && key < T_k && ["map", "lines", "bars"].includes(said.get("view"))
    && index.every((i, axis) => i < shape[axis] || (axes[axis] === "head" && summaries.includes(i)));
  const isSaid = (name) => said.get(name) === "true";
  return fits ? { index, query, key, view: said.get("view"), grid: isSaid("grid"), locked: isSaid("locked") } : null;
}

// Bytes as the site writes them.
const revive = (_, value) => (value?.base64 !== undefined ? Uint8Array.from(atob(value.base64), (c) => c.charCodeAt(0)) : value);

document.querySelectorAll(".explorer").forEach((el, n) => {
  const state = JSON.parse(el.querySelector("script").textContent, revive), { kind } = el.dataset;
  const addressed = kind === "AttentionExplorer", said = addressed && fromAddress(n, state);
  let timer;
  const keepInAddress = () => {                         // there is no kernel to tell
    if (!addressed) return;
    window.clearTimeout(timer);
    timer = window.setTimeout(() => window.history.replaceState(null, "", addressOf(n, state)), 200);
  };
  if (said) Object.assign(state, said);
  explorers[kind]({ model: modelOf(state, keepInAddress), el });
  el.querySelectorAll("input[type=text]").forEach((box) => { box.disabled = true; });
  if (!said) return;
  for (let fold = el.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  el.scrollIntoView();
});

// What is wider than the page moves in its box, by keyboard too.
const boxes = document.querySelectorAll("pre, .wide");
const mark = () => boxes.forEach((box) => {
  if (box.scrollWidth > box.clientWidth) box.tabIndex = 0; else box.removeAttribute("tabindex");
});
new ResizeObserver(mark).observe(document.documentElement);
