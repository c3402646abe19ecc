// What if? Buttons and keys that change the model at the chosen cell, the changes made, the answer before and after.
import { batched, element, quoted } from "./drawing.js";

const KINDS = { cut: "c", zero: "z", force: "f", off: "o" };
const HELP = { cut: "set this weight to 0 and scale the rest of its row up to the sum 1", off: "set all weights to 0",
  zero: "set this weight to 0 and leave the rest of its row", force: "let this query look at this key alone" };
export const floatsOf = (view) => new Float32Array(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength));
const WATCHED = ["asked", "changes", "answer_before", "answer_after", "error", "can_change", "q_vectors", "texts", "query_tokens",
  "key_tokens", "index", "query", "key", "locked"];
const OF_PAGE = 'Changing the model needs a running notebook: run this cell in Jupyter.';

// The chosen cell of a model, and the weights that it came with.
export class Chosen {
  constructor(model) { Object.assign(this, { model, kept: {} }); }

  get choice() {
    const { model } = this;
    return { index: model.get("index"), query: model.get("query"), key: model.get("key") };
  }

  get locked() { return this.model.get("locked") ?? true; }

  // The numbers that a trait holds, read once.
  values(name) {
    const bytes = this.model.get(name), kept = this.kept[name];
    if (kept?.bytes !== bytes) this.kept[name] = { bytes, values: floatsOf(bytes) };
    return this.kept[name].values;
  }

  // The number of a cell in a trait that is shaped like the weights; undefined outside them.
  at(name, { index, query, key }) {
    const shape = this.model.get("shape"), [T_q, T_k] = shape.slice(-2);
    const map = index.reduce((flat, i, axis) => flat * shape[axis] + i, 0);
    return query < T_q && key < T_k ? this.values(name)[(map * T_q + query) * T_k + key] : undefined;
  }

  weightOf(cell) { return this.at("weights", cell); }
}

// A button whose key stands in it. While it is off it keeps the focus and says so, but does nothing.
export function makeAction(text, key, press, attributes = {}) {
  const shortcut = key ? { "aria-keyshortcuts": key } : {};
  const node = element("button", { type: "button", ...shortcut, ...attributes }, text);
  if (key) node.append(" ", element("kbd", { "aria-hidden": "true" }, key));
  const isOn = () => node.getAttribute("aria-disabled") !== "true";
  node.addEventListener("click", () => isOn() && press());
  return { node, isOn, enable: (on) => node.setAttribute("aria-disabled", String(!on)) };
}

// A text in pieces: words and the space between them, or characters where there are no words.
const pieces = (text) => (text.includes(" ") ? text.split(/(\s+)/).filter(Boolean) : [...text]);

// How long the longest common subsequence of a from i and b from j is.
function commonLengths(a, b) {
  const rows = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--) {
    rows[i][j] = a[i] === b[j] ? rows[i + 1][j + 1] + 1 : Math.max(rows[i + 1][j], rows[i][j + 1]);
  }
  return rows;
}

// Two texts as [[kind, text], ...]: "same", "del" for what the first has alone, "ins" for what the second has alone.
export function difference(before, after) {
  const a = pieces(before), b = pieces(after), common = commonLengths(a, b), runs = [];
  const add = (kind, piece) => {
    if (runs.at(-1)?.[0] === kind) runs.at(-1)[1] += piece; else runs.push([kind, piece]);
  };
  let i = 0, j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) { add("same", a[i]); i++; j++; }
    else if (j === b.length || (i < a.length && common[i + 1][j] >= common[i][j + 1])) add("del", a[i++]);
    else add("ins", b[j++]);
  }
  return runs;
}

// One of the two answers, with its own pieces marked; a line of its own for each line of the text.
function marked(runs, kind) {
  return runs.filter(([k]) => k === "same" || k === kind).map(([k, text]) => (k === "same" ? text : element(k, {}, text)));
}

function makeAnswers() {
  const before = element("output"), after = element("output"), verdict = element("span", { class: "verdict" });
  const node = element("div", { class: "answers" },
    element("div", {}, element("span", { class: "name" }, "answer before"), before),
    element("div", {}, element("span", { class: "name" }, "answer after "), verdict, after));
  const show = (model) => {
    const texts = [model.get("answer_before"), model.get("answer_after")], changed = model.get("changes").length > 0;
    const runs = difference(...texts);
    before.replaceChildren(...marked(runs, "del"));
    after.replaceChildren(...(changed ? marked(runs, "ins") : ["–"]));
    verdict.textContent = changed && texts[0] === texts[1] ? "(the same)" : "";
  };
  return { node, show };
}

// A change in words, such as: cut, layer 0, head 2, query “1” → key “v”.
export function words(model, { kind, index, query, key }) {
  const place = model.get("axes").map((axis, i) => `${axis} ${index[i]}`);
  const cell = kind === "off" ? [] : [`query ${quoted(model.get("query_tokens"), query)} → key ${quoted(model.get("key_tokens"), key)}`];
  return `${kind}: ${[...place, ...cell].join(", ")}`;
}

const changeOf = (kind, { index, query, key }) => (kind === "off" ? { kind, index } : { kind, index, query, key });

// The requests to Python, which answers with other traits of the model.
class Requests {
  constructor(model) { this.model = model; }

  get changes() { return this.model.get("changes"); }

  // Jupyter's model knows whether its kernel still listens; set() returns it. Elsewhere there is no kernel.
  get isLive() { return Boolean(this.model.set({})?.comm_live); }

  get isRunning() { return this.isLive && JSON.stringify(this.model.get("asked")) !== JSON.stringify(this.changes); }

  get isFree() { return this.isLive && !this.isRunning; }

  ask(changes) {
    if (!this.isFree) return;
    this.model.set("asked", changes);
    this.model.save_changes();
  }

  change(kind, choice) { this.ask([...this.changes, changeOf(kind, choice)]); }

  // Whether this change is made already.
  has(kind, choice) {
    const change = changeOf(kind, choice), names = Object.keys(change);
    return this.changes.some((made) => names.every((name) => String(made[name]) === String(change[name])));
  }

  remove(i) { this.ask(this.changes.filter((_, j) => j !== i)); }
}

// Why nothing can be changed now, or what is chosen.
function status(model, requests, chosen) {
  if (!requests.isLive) return OF_PAGE;
  if (requests.isRunning) return "Running the model …";
  const { index, query, key } = chosen.choice;
  if (!index.every(Number.isInteger)) return "Choose a single head to change: this map is made of several.";
  if (!chosen.locked) return "Click a cell of the map to lock it. Then change it here.";
  const cell = words(model, { kind: "Locked", index, query, key });
  return Number.isNaN(chosen.weightOf(chosen.choice)) ? `${cell}: hidden by the mask.` : `${cell}.`;
}

// The list of changes, each with a button that takes it back. Where the list shrinks under the focus, the focus goes
// to the next of these buttons, or to `last`: else JupyterLab would take the next key.
function makeList(model, requests, last) {
  const node = element("ol", { class: "changes", "aria-label": "changes" });
  let shown = [], buttons = [];
  const makeItem = (change, i) => {
    const text = words(model, change);
    buttons.push(makeAction("×", "", () => requests.remove(i), { "aria-label": `remove: ${text}`, title: "remove" }));
    return element("li", {}, `${i + 1}. ${text} `, buttons[i].node);
  };
  const show = () => {
    if (shown !== requests.changes) {
      const focused = buttons.findIndex((button) => button.node === document.activeElement);
      [shown, buttons] = [requests.changes, []];
      node.replaceChildren(...shown.map(makeItem));
      if (focused >= 0) (buttons.at(Math.min(focused, buttons.length - 1))?.node ?? last).focus();
    }
    buttons.forEach((button) => button.enable(requests.isFree));
  };
  return { node, show };
}

// The panel for changes. Its node has `more` at the end of the row of buttons; press(key) says whether the key was one of its own.
export function makeTouch(model, chosen, more) {
  const requests = new Requests(model), answers = makeAnswers();
  const off = `${model.get("axes").at(-1) ?? "map"} off`;
  const buttons = Object.entries(KINDS).map(([kind, key]) => [kind, key, makeAction(
    kind === "off" ? off : kind, key, () => requests.change(kind, chosen.choice), { title: HELP[kind] })]);
  const undo = makeAction("undo", "u", () => requests.remove(requests.changes.length - 1));
  const reset = makeAction("reset", "r", () => requests.ask([]));
  const list = makeList(model, requests, reset.node);
  const own = [...buttons.map(([, , { node }]) => node), undo.node, reset.node];
  const why = element("div", { class: "why", role: "status" }), error = element("div", { class: "message", role: "alert" });
  const said = element("div", { class: "said" }, why, error);
  const row = element("div", { class: "buttons", role: "group", "aria-label": "the chosen cell" });
  const node = element("section", { class: "touch", "aria-label": "What if?" });
  let built = "";

  function show() {
    const isThere = model.get("can_change"), now = `${isThere} ${more.hidden}`;
    if (now !== built) {                             // what is not there is not in the page either
      built = now;
      row.replaceChildren(...(isThere ? own : []), ...(more.hidden ? [] : [more]));
      node.replaceChildren(row, ...(isThere ? [said, answers.node, list.node] : []));
    }
    node.hidden = !isThere && more.hidden;
    if (!isThere) return;
    const { index } = chosen.choice, free = requests.isFree && index.every(Number.isInteger);
    const hidden = free && Number.isNaN(chosen.weightOf(chosen.choice));
    buttons.forEach(([kind, , button]) => button.enable(
      free && chosen.locked && (kind === "off" || !hidden) && !requests.has(kind, chosen.choice)));
    [undo, reset].forEach((button) => button.enable(requests.isFree && requests.changes.length > 0));
    error.textContent = requests.isRunning ? "" : model.get("error");
    why.textContent = status(model, requests, chosen);
    why.hidden = Boolean(error.textContent);
    answers.show(model);
    list.show();
  }
  const press = (key) => {
    const found = [...buttons.map(([, k, button]) => [k, button]), ["u", undo], ["r", reset]].find(([k]) => k === key);
    if (found && model.get("can_change")) { show(); found[1].node.click(); }
    return Boolean(found);
  };
  const events = [...WATCHED.map((name) => `change:${name}`), "comm_live_update"], showSoon = batched(show);
  events.forEach((event) => model.on(event, showSoon));
  show();
  return { node, press, stop: () => events.forEach((event) => model.off(event, showSoon)) };
}
