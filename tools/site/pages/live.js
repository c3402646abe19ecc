/* global readerOf */
/* exported shipped */
// The models on the first page: what is typed is read here, and a click on a weight cuts it.
const PAUSE = 60;                                            // milliseconds from one token of an answer to the next
const SCALE = [[255, 255, 255], [159, 216, 196], [0, 158, 115], [0, 61, 45]];               // PAPER_TO_INK of helpers/plots.py
const arrived = {};                                          // what the scripts with the weights have brought

// Called by these scripts.
function shipped(name, values) { arrived[name] = values; }

const shownAs = (token) => (token === " " ? "␣" : token);

// What comes after i others: 1st, 2nd, 3rd, 4th, ..., 11th, ...
function ordinal(i) {
  const n = i + 1, teen = n % 100 > 10 && n % 100 < 14;
  return n + ((!teen && ["th", "st", "nd", "rd"][n % 10]) || "th");
}

// A token in quotes; where it stands more than once, its place.
function quoted(tokens, i) {
  const place = tokens.indexOf(tokens[i]) === tokens.lastIndexOf(tokens[i]) ? "" : ` (${ordinal(i)})`;
  return `“${shownAs(tokens[i])}”${place}`;
}

const percent = (log) => `${(100 * Math.exp(log)).toFixed(1)} %`;
const signed = (x) => (x < 0 ? "−" : "+") + Math.abs(x).toFixed(2);
// The colour of a weight from 0 to 1.
function colorOf(weight) {
  const x = weight * (SCALE.length - 1), i = Math.min(Math.floor(x), SCALE.length - 2);
  return `rgb(${SCALE[i].map((c, j) => Math.round(c + (x - i) * (SCALE[i + 1][j] - c))).join(", ")})`;
}

class Live {
  constructor(section) {
    const found = (selector) => section.querySelector(selector);
    Object.assign(this, { section, name: section.dataset.model, form: found("form"), box: found("input[type=text]"), map: found(".map"), said: found(".said"),
      trouble: found(".trouble"), before: found(".before"), after: found(".after"), reset: found(".reset"), readout: found(".readout") });
    this.cuts = [];
    this.cursor = { query: Number(section.dataset.query), key: Number(section.dataset.key) };
  }

  // The script with the weights comes after the page is shown, or when it is asked for.
  load() {
    const script = element("script", { src: `${this.name}.weights.js` });
    script.addEventListener("load", async () => this.start(await readerOf(arrived[this.name])));
    script.addEventListener("error", () => { this.trouble.textContent = `${this.name}.weights.js has to lie beside this page.`; });
    document.head.append(script);
  }

  start(reader) {
    this.reader = reader;
    ["role", "aria-label"].forEach((name) => this.map.parentElement.removeAttribute(name));        // it was a picture
    this.form.addEventListener("submit", (event) => { event.preventDefault(); this.type(); });
    this.form.addEventListener("change", ({ target }) => { if (target.type === "radio") this.draw(); });
    if (!this.form.querySelector("button")) {                // quick enough for every key
      this.box.addEventListener("input", () => {
        window.clearTimeout(this.waiting);
        this.waiting = window.setTimeout(() => this.type(), 250);
      });
    }
    this.reset.addEventListener("click", () => { this.cuts = []; this.answer(0); });
    this.map.addEventListener("click", ({ target }) => { if (target.matches("td[tabindex]")) this.cut({ ...this.place, ...placeOf(target) }); });
    this.map.addEventListener("keydown", (event) => this.press(event));
    ["focusin", "pointerover"].forEach((name) => this.map.addEventListener(name, ({ target }) => this.point(target)));
    const asked = this.section.querySelector(".asked");
    if (asked) {
      this.section.querySelector(".ask").parentElement.remove();
      asked.hidden = false;
      this.box.focus();
    }
    this.type(!asked && this.box.value === this.box.defaultValue);
    this.section.dataset.state = "ready";
  }

  get place() {
    const [layer, head] = ["layer", "head"].map((axis) => this.form.querySelector(`input[name$=${axis}]:checked`));
    return { layer: Number(layer?.value ?? 0), head: Number(head?.value ?? 0) };
  }

  // Reads the box. asDrawn: the page shows this answer already.
  type(asDrawn = false) {
    window.clearTimeout(this.waiting);
    const reading = this.reader.read(this.box.value), { unknown, trouble } = reading;
    this.trouble.textContent = trouble || (unknown.length
      ? `The model knows no ${unknown.map((token) => `“${token}”`).join(", ")}: it reads <unk> there.` : "");
    this.section.classList.toggle("silent", Boolean(trouble));
    if (trouble) return;
    const isNew = reading.tokens.join() !== this.reading?.tokens.join();
    Object.assign(this, { reading, cuts: [], plain: this.reader.answer(reading.ids) });
    this.answers = [this.plain];
    if (asDrawn || !isNew) { this.answer(0); return; }
    this.cursor = { query: 0, key: 0 };
    this.answer(0);
    this.reveal();
  }

  // answers[i]: what is written after the first i cuts. Those of the first `kept` are known.
  answer(kept) {
    const later = this.cuts.slice(kept).map((_, i) => this.reader.answer(this.reading.ids, this.cuts.slice(0, kept + i + 1)));
    this.answers = [...this.answers.slice(0, kept + 1), ...later];
    this.steps = this.answers.at(-1);
    this.draw();
  }

  // Cuts a weight, or puts it back.
  cut(chosen) {
    const same = (one) => Object.keys(one).every((name) => one[name] === chosen[name]);
    this.cursor = { query: chosen.query, key: chosen.key };
    const at = this.cuts.findIndex(same), kept = at < 0 ? this.cuts.length : at;
    this.cuts = at < 0 ? [...this.cuts, chosen] : this.cuts.filter((one) => !same(one));
    this.answer(kept);
  }

  draw() {
    window.clearInterval(this.revealing);
    const hadFocus = this.map.contains(document.activeElement);
    this.written = this.steps.map(({ token }) => token);
    this.cursor.query = Math.max(0, Math.min(this.cursor.query, this.steps.length - 1));
    this.cursor.key = Math.min(this.cursor.key, this.reading.ids.length - 1);
    this.before.textContent = this.reader.text(this.plain);
    this.after.replaceChildren(...(this.cuts.length ? this.marked() : ["–"]));
    this.reset.disabled = !this.cuts.length;
    this.said.replaceChildren(...this.cuts.map((cut, i) => this.toldOf(cut, i)));
    this.drawMap();
    if (hadFocus) this.map.querySelector("[tabindex='0']")?.focus({ preventScroll: true });
    this.point(this.map.querySelector("[tabindex='0']"));
  }

  // The answer after the cuts, what is new in it marked.
  marked() {
    const text = (count) => this.reader.text(this.steps.slice(0, count));
    const parts = this.steps.map(({ id }, i) => {
      const own = text(i + 1).slice(text(i).length);
      return id === this.plain[i]?.id ? own : element("ins", {}, own);
    });
    return parts.length ? parts : ["(nothing)"];
  }

  // What was cut and what that did, in words, and a button that puts it back.
  toldOf(cut, i) {
    const undo = element("button", { type: "button" }, "put it back");
    undo.addEventListener("click", () => {
      this.cut(cut);
      this.map.querySelector("[tabindex='0']").focus({ preventScroll: true });
    });
    return element("li", {}, this.effect(cut, this.answers[i], this.answers[i + 1]), " ", undo);
  }

  // Of a cut, between the answers before and after it, those before it made.
  effect({ layer, head, query, key }, before, after) {
    const [first, then] = [before[query], after[query]], unit = this.reader.unit.slice(0, -1);
    const where = this.form.querySelector("input[name$=layer]") ? `In head ${head} of layer ${layer}` : `In head ${head}`;
    const looked = `no longer looks at “${shownAs(this.reading.tokens[key])}”, the ${ordinal(key)} ${unit} typed.`;
    if (!first || !then) return `${where}, the ${ordinal(query)} ${unit} written ${looked}`;
    const [from, to] = [first.logs[first.id], then.logs[first.id]];
    return `${where}, “${first.token}”, the ${ordinal(query)} ${unit} written, ${looked} The probability of this “${first.token}” goes `
      + `from ${percent(from)} to ${percent(to)} (effect ${signed(to - from)}).`;
  }

  drawMap() {
    const { layer, head } = this.place, { tokens } = this.reading, { cursor } = this;
    const isCut = (query, key) => this.cuts.some((c) => c.layer === layer && c.head === head && c.query === query && c.key === key);
    const columns = tokens.map((token) => element("th", { scope: "col" }, shownAs(token)));
    const rows = this.steps.map(({ id, token, logs, maps }, query) => {
      const cells = Array.from(maps[layer][head], (weight, key) => {
        const cut = isCut(query, key), words = `${quoted(this.written, query)} to ${quoted(tokens, key)}: ${weight.toFixed(2)}`;
        return element("td", { style: `background: ${colorOf(weight)}`, class: cut ? "cut" : "", "aria-label": words + (cut ? ", cut" : ""),
          tabindex: query === cursor.query && key === cursor.key ? 0 : -1 }, cut ? "×" : "");
      });
      return element("tr", {}, element("th", { scope: "row" }, shownAs(token)), ...cells, element("td", { class: "p" }, percent(logs[id])));
    });
    this.map.style.setProperty("--keys", tokens.length);
    this.map.classList.toggle("words", tokens.some((token) => token.length > 2));
    this.map.querySelector("thead tr").replaceChildren(element("td"), ...columns, element("td", { class: "p" }, "p"));
    this.map.querySelector("tbody").replaceChildren(...rows);
  }

  // The tokens come one after another.
  reveal() {
    if (window.matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const rows = [...this.map.querySelectorAll("tbody tr")];
    let count = 0;
    const show = () => {
      rows.forEach((row, i) => row.classList.toggle("waiting", i >= count));
      this.before.textContent = this.reader.text(this.steps.slice(0, count));
      this.before.setAttribute("aria-busy", count < rows.length);         // only the whole answer is read aloud
      if (count++ === rows.length) window.clearInterval(this.revealing);
    };
    show();
    this.revealing = window.setInterval(show, PAUSE);
  }

  // Names the cell that is pointed at, or has the focus.
  point(cell) {
    if (!cell?.matches("td[tabindex]")) return;
    const { query, key } = placeOf(cell), { layer, head } = this.place;
    this.map.querySelectorAll("th.here").forEach((node) => node.classList.remove("here"));
    [cell.parentElement.cells[0], this.map.tHead.rows[0].cells[key + 1]].forEach((node) => node.classList.add("here"));
    const weight = this.steps[query].maps[layer][head][key];
    this.readout.textContent = `query ${quoted(this.written, query)} → key ${quoted(this.reading.tokens, key)}: weight ${weight.toFixed(4)}`;
  }

  press(event) {
    const { target, key } = event, steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
      Home: [0, -Infinity], End: [0, Infinity] };
    const place = placeOf(target), isCut = key === "Enter" || key === " ";
    if (!isCut && !steps[key]) return;
    event.preventDefault();
    if (isCut) { this.cut({ ...this.place, ...place }); return; }
    const within = (i, n) => Math.max(0, Math.min(i, n - 1));
    this.cursor = { query: within(place.query + steps[key][0], this.steps.length),
      key: within(place.key + steps[key][1], this.reading.ids.length) };
    const next = this.map.tBodies[0].rows[this.cursor.query].cells[this.cursor.key + 1];
    target.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }
}

// Which weight a cell of the map shows.
function placeOf(cell) { return { query: cell.parentElement.sectionRowIndex, key: cell.cellIndex - 1 }; }

window.addEventListener("load", () => {
  document.querySelectorAll(".live").forEach((section) => {
    const live = new Live(section), ask = section.querySelector(".ask");
    if (!ask) window.setTimeout(() => live.load());
    else ask.addEventListener("click", () => { ask.disabled = true; live.load(); });
  });
});
