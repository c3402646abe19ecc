/* exported element */
// What is around the text of every page: the theme, the contents that follow, copy buttons, and the meanings of words.

// An element of the page; every script of the site makes its elements with it.
function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

// The button shows and changes the theme; without a choice, the system's holds. Storage may be forbidden to a page from the disk.
function themeButton(button) {
  const root = document.documentElement, system = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const show = () => { button.ariaPressed = String(isDark()); };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { window.localStorage.setItem("theme", root.dataset.theme); } catch { /* it holds for this page */ }
    show();
  });
  system.addEventListener("change", show);
  show();
}

// Beside the text the contents are open, above it folded; the section that is read is marked.
function followContents(nav) {
  const wide = window.matchMedia("(min-width: 75rem)"), fold = nav.querySelector("details");
  const links = [...nav.querySelectorAll("a")], headings = links.map((link) => document.getElementById(link.hash.slice(1)));
  const follow = () => {
    const seen = headings.filter((heading) => heading.checkVisibility());          // not those of a part that is folded
    const below = seen.findIndex((heading) => heading.getBoundingClientRect().top > 120);
    const now = links[headings.indexOf(seen.at(below < 0 ? -1 : Math.max(below - 1, 0)))];
    if (now.ariaCurrent) return;
    links.forEach((link) => link.removeAttribute("aria-current"));
    now.ariaCurrent = "true";
    nav.scrollTop = now.offsetTop - nav.clientHeight / 2;
  };
  wide.addEventListener("change", () => { fold.open = wide.matches; });
  window.addEventListener("scroll", follow, { passive: true });
  follow();
}

// A button that copies, above the right end of a listing.
function copyButton(pre) {
  const box = document.createElement("div"), button = document.createElement("button");
  Object.assign(box, { className: "listing" });
  Object.assign(button, { type: "button", className: "copy", textContent: "Copy", ariaLabel: "Copy this code" });
  button.addEventListener("click", async () => {
    const text = pre.textContent.replace(/\n$/, "");
    try {
      await window.navigator.clipboard.writeText(text);
    } catch {                                           // not allowed to a page from the disk: as by Ctrl+C
      window.getSelection().selectAllChildren(pre);
      document.execCommand("copy");
    }
    button.textContent = "Copied";
    window.setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  pre.replaceWith(box);
  box.append(pre, button);
}

// Shows what the glossary says of a word where a lesson links to it: under the mouse, with the focus, or at the first tap.
function meanings(links) {
  const note = document.createElement("div");
  Object.assign(note, { className: "meaning", id: "meaning", role: "tooltip", hidden: true });
  document.body.append(note);
  let link = null, timer;
  const hide = () => {
    window.clearTimeout(timer);
    note.hidden = true;
    link?.removeAttribute("aria-describedby");
    link = null;
  };
  const place = () => {                                 // below the word, above it at the end of the window
    const word = [...link.getClientRects()].at(-1), { clientWidth, clientHeight } = document.documentElement;
    const below = word.bottom + 6, top = below + note.offsetHeight < clientHeight ? below : word.top - 6 - note.offsetHeight;
    const left = Math.max(12, Math.min(word.left, clientWidth - note.offsetWidth - 12));
    Object.assign(note.style, { left: `${left + window.scrollX}px`, top: `${top + window.scrollY}px` });
  };
  const show = async (chosen) => {
    hide();
    link = chosen;
    const sections = await loadIndex();
    const found = sections.find(({ page, anchor }) => page === "glossary" && `#${anchor}` === chosen.hash);
    if (link !== chosen || !found) return;
    note.textContent = found.text.replace(/ Lesson \d+\b.*$/, "");
    note.hidden = false;
    link.setAttribute("aria-describedby", note.id);
    place();
  };
  const later = (what) => {
    window.clearTimeout(timer);
    timer = window.setTimeout(what, 250);
  };
  let firstTap = false;
  links.forEach((word) => {
    word.addEventListener("mouseenter", () => later(() => show(word)));
    word.addEventListener("mouseleave", () => later(hide));
    word.addEventListener("focus", () => show(word));
    word.addEventListener("blur", hide);
    word.addEventListener("pointerdown", (event) => { firstTap = event.pointerType === "touch" && link !== word; });
    word.addEventListener("click", (event) => {
      if (!firstTap) return;
      event.preventDefault();
      firstTap = false;
      word.focus();
      show(word);
    });
  });
  note.addEventListener("mouseenter", () => window.clearTimeout(timer));           // so that it can be read, and selected
  note.addEventListener("mouseleave", () => later(hide));
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
}

// What is wider than the page moves in its box, by keyboard too, and the box shows on which sides there is more.
function wideBoxes(boxes) {
  const sides = ({ scrollLeft, clientWidth, scrollWidth }) => [scrollLeft > 1 ? "left" : "", scrollLeft + clientWidth < scrollWidth - 1 ? "right" : ""];
  const mark = (some) => some.map(sides).forEach(([left, right], i) => {             // all are measured before one is changed
    if (left || right) Object.assign(some[i], { tabIndex: 0 }).dataset.more = `${left} ${right}`;
    else ["tabindex", "data-more"].forEach((name) => some[i].removeAttribute(name));
  });
  boxes.forEach((box) => box.addEventListener("scroll", () => mark([box]), { passive: true }));
  new ResizeObserver(() => mark(boxes)).observe(document.documentElement);
}

themeButton(document.querySelector(".theme"));
document.querySelectorAll("nav.contents").forEach(followContents);
document.querySelectorAll(".prose pre, pre.code").forEach(copyButton);
meanings(document.querySelectorAll('main a[href^="glossary.html#"]'));
wideBoxes([...document.querySelectorAll("pre, .wide, .formula")]);
