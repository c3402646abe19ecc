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

// What an address can hold of an explorer's state, and how each value is read; undefined for what this explorer does not have.
function readersOf({ axes, shape, summaries, effects, q_vectors }) {
  const [T_q, T_k] = shape.slice(-2), oneOf = (...values) => (text) => values.find((value) => String(value) === text);
  const below = (n) => oneOf(...Array(n).keys()), flag = oneOf(false, true);
  const stops = (axis) => [...Array(shape[axis]).keys(), ...(axes[axis] === "head" ? summaries : [])];
  const place = (text) => {
    const index = text.split(".").filter(Boolean).map((part, axis) => oneOf(...stops(axis))(part));
    return index.length === axes.length && !index.includes(undefined) ? index : undefined;
  };
  const effect = effects.byteLength ? flag : oneOf(false), neuron = q_vectors.byteLength ? flag : oneOf(false);
  return { index: place, query: below(T_q), key: below(T_k), view: oneOf("map", "lines", "bars"), side: oneOf("query", "key"),
    grid: flag, locked: flag, effect, neuron, compare: place, compare_effect: effect };
}

// The state of the n-th explorer as the page's address: #explorer=1&index=2.mean&query=3&...; compare: where the other map is.
function addressOf(n, state) {
  const { index, vmin } = state.pinned, values = index ? { ...state, compare: index, compare_effect: vmin < 0 } : state;
  const names = Object.keys(readersOf(state)).filter((name) => name in values);
  const text = (value) => (Array.isArray(value) ? value.join(".") : String(value));
  return `#${new URLSearchParams([["explorer", n], ...names.map((name) => [name, text(values[name])])])}`;
}

// What such an address says of the n-th explorer, if it is about that one and fits it.
function fromAddress(n, state) {
  const said = new URLSearchParams(window.location.hash.slice(1));
  if (said.get("explorer") !== String(n)) return null;
  const readers = Object.entries(readersOf(state)).filter(([name]) => said.has(name));
  const found = Object.fromEntries(readers.map(([name, read]) => [name, read(said.get(name))]));
  const { compare, compare_effect: effect, ...values } = found;
  if (Object.values(found).includes(undefined)) return null;
  return { ...values, pinned: compare ? { index: compare, effect } : {} };
}

// Bytes as the site writes them.
const revive = (_, value) => (value?.base64 !== undefined ? Uint8Array.from(atob(value.base64), (c) => c.charCodeAt(0)) : value);

document.querySelectorAll(".explorer").forEach((el, n) => {
  const state = JSON.parse(el.querySelector("script").textContent, revive), { kind } = el.dataset, saved = el.querySelector("img");
  const addressed = kind === "AttentionExplorer", said = addressed && fromAddress(n, state);
  let timer;
  const keepInAddress = () => {                         // there is no kernel to tell
    if (!addressed) return;
    window.clearTimeout(timer);
    timer = window.setTimeout(() => window.history.replaceState(null, "", addressOf(n, state)), 200);
  };
  if (said) Object.assign(state, said);
  explorers[kind]({ model: modelOf(state, keepInAddress), el });
  saved.className = "paper";
  el.append(saved);
  if (el.nextElementSibling?.matches(".elsewhere")) el.querySelector(".touch").before(el.nextElementSibling);
  el.querySelectorAll("input[type=text]").forEach((box) => { box.disabled = true; });
  if (!said) return;
  for (let fold = el.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  el.scrollIntoView();
});
