// The search over all lessons and the glossary. Its index is a script, for a page from the disk may not fetch; it loads when first needed.
let loading;
function loadIndex() {
  loading ??= new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = "search_index.js";
    script.onload = () => done(window.searchIndex.flatMap(([page, title, sections]) => sections.map(
      ([anchor, heading, terms, text, cells]) => ({ page, title, anchor, heading, terms, text, cells }))));
    script.onerror = failed;
    document.head.append(script);
  });
  return loading;
}

// A word of the query, at the start of a word: "sinks" finds sink, "soft" finds softmax.
function patternOf(word) {
  const stem = word.length > 3 ? word.replace(/([^s])s$/i, "$1") : word;
  return `(?<![a-zA-Z0-9])${stem.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`;
}

// How well a section answers: each word counts by the best place that has it, and all must be there.
function score({ title, heading, terms, text }, patterns, whole) {
  const places = [[heading, 8], [terms.join(" "), 6], [title, 2], [text, 1]];
  const found = patterns.map((pattern) => places.find(([place]) => pattern.test(place))?.[1] ?? 0);
  if (found.includes(0)) return 0;
  const exact = [heading, ...terms].some((name) => whole.exec(name)?.[0].length >= name.length - 1);
  const beside = whole.test(heading) ? 5 : whole.test(text) ? 3 : 0;
  return found.reduce((a, b) => a + b) + beside + (exact ? 20 : 0);
}

const wordsOf = (text) => text.toLowerCase().split(/[^a-z0-9\u00c0-\uffff]+/).filter(Boolean);
let allWords;
function vocabularyOf(sections) {
  allWords ??= [...new Set(wordsOf(sections.flatMap(({ heading, terms, text }) => [heading, ...terms, text]).join(" ")))];
  return allWords;
}

// Whether another word starts as this one does but for one mistake: a letter changed, put in, left out, or exchanged with the next.
function isMistyped(word, other) {
  let k = 0;
  while (k < word.length && word[k] === other[k]) k += 1;
  const goesOn = (skipped, at) => other.startsWith(word.slice(k + skipped), k + at);
  return goesOn(1, 1) || goesOn(1, 0) || goesOn(0, 1) || (word[k] === other[k + 1] && word[k + 1] === other[k] && goesOn(2, 2));
}

// The words of the course that a word of the query stands for, if none is written or starts as it is: those one mistake away, else those
// that start with one mistake, else those with the same start and another ending.
function meantBy(word, vocabulary) {
  if (word.length < 4 || vocabulary.some((other) => other.startsWith(word))) return [word];
  const near = vocabulary.filter((other) => isMistyped(word, other)), stem = word.slice(0, Math.max(4, word.length - 3));
  const kinds = [near.filter((other) => Math.abs(other.length - word.length) < 2), near, vocabulary.filter((other) => other.startsWith(stem))];
  return kinds.find((found) => found.length) ?? [word];
}

// {results, meant}: the sections that have all words of the query; if none has, those that have what was meant, and these words.
function search(sections, query) {
  const results = sectionsWith(sections, query.split(/\s+/).filter(Boolean).map(patternOf));
  if (results.length) return { results, meant: [] };
  const words = wordsOf(query), meant = words.map((word) => meantBy(word, vocabularyOf(sections)));
  return { results: sectionsWith(sections, meant.map((others) => `(?<![a-zA-Z0-9])(?:${others.join("|")})`)),
    meant: meant.filter(([other], i) => other !== words[i]).flat() };
}

// The sections that have all these patterns, best first; of equals the one that comes first in the course.
function sectionsWith(sections, sources) {
  if (!sources.length) return [];
  const patterns = sources.map((source) => new RegExp(source, "i")), whole = new RegExp(sources.join("\\W+"), "i");
  const each = new RegExp(`(${sources.join("|")})`, "i");
  const placeIn = (text) => Math.max(text.search(whole.test(text) ? whole : patterns[0]), 0);
  const place = ({ heading, text }) => (whole.test(heading) ? 0 : placeIn(text));
  return sections.map((section) => ({ ...section, points: score(section, patterns, whole), place: place(section), each }))
    .filter(({ points }) => points).sort((a, b) => b.points - a.points);
}

// A text in which the words of the query are marked.
const marked = (text, each) => text.split(each).map((part, i) => (i % 2 ? element("mark", {}, part) : part));

function optionOf({ page, title, anchor, heading, text, cells, place, each }, i) {
  const start = place < 60 ? 0 : text.indexOf(" ", place - 50) + 1;
  const end = start + 190 < text.length ? text.lastIndexOf(" ", start + 190) : text.length;
  const snippet = [start ? "… " : "", ...marked(text.slice(start, end), each), end < text.length ? " …" : ""];
  const option = element("a", {}, element("b", {}, ...marked(heading, each)),
    element("span", { class: "where" }, heading === title ? "" : title), element("span", { class: "snippet" }, ...snippet));
  const cell = cells.filter(([begin]) => begin <= place).at(-1)?.[1];               // a section can be long
  return Object.assign(option, { href: `${page}.html#${cell ?? anchor}`, id: `found-${i}`, tabIndex: -1, role: "option", ariaSelected: "false" });
}

const MOST = 20;

function searchBox(box, panel) {
  const [status, list] = panel.children;
  const close = () => {
    panel.hidden = true;
    box.ariaExpanded = "false";
    box.removeAttribute("aria-activedescendant");
  };
  const choose = (option) => {
    list.querySelector("[aria-selected=true]")?.setAttribute("aria-selected", "false");
    option.ariaSelected = "true";
    option.scrollIntoView({ block: "nearest" });
    box.setAttribute("aria-activedescendant", option.id);
  };
  const show = async () => {
    const sections = await loadIndex(), { results, meant } = search(sections, box.value);
    list.replaceChildren(...results.slice(0, MOST).map(optionOf));
    box.removeAttribute("aria-activedescendant");
    const places = results.length === 1 ? "1 place" : `${results.length || "no"} places`;
    const asked = meant.length ? `not found as typed; with ${meant.slice(0, 4).join(", ")}${meant.length > 4 ? " …" : ""}: ` : "";
    status.textContent = asked + (results.length > MOST ? `the best ${MOST} of ${places}` : places);
    panel.hidden = !box.value.trim();
    box.ariaExpanded = String(!panel.hidden && results.length > 0);
  };
  const keys = {
    ArrowDown: (options, at) => choose(options[(at + 1) % options.length]),
    ArrowUp: (options, at) => choose(options.at(Math.max(at, 0) - 1)),
    Enter: (options, at) => options[Math.max(at, 0)].click(),
  };
  box.addEventListener("focus", async () => (box.value ? show() : vocabularyOf(await loadIndex())));      // before the first letter
  box.addEventListener("input", show);
  box.addEventListener("blur", close);
  box.addEventListener("keydown", (event) => {
    const options = [...list.children], at = options.findIndex((option) => option.ariaSelected === "true");
    if (event.key === "Escape" && !panel.hidden) close();
    else if (!panel.hidden && options.length && keys[event.key]) keys[event.key](options, at);
    else return;
    event.preventDefault();
  });
  panel.addEventListener("mousedown", (event) => event.preventDefault());          // the box keeps the focus
  list.addEventListener("click", close);
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input:not([type=range], [type=radio], [type=checkbox]), textarea, select, [contenteditable]");
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || typing) return;
    event.preventDefault();
    box.focus({ preventScroll: true });
    box.select();
  });
}

searchBox(document.querySelector("#search"), document.querySelector(".found"));
