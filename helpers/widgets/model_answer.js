import { element } from "./drawing.js";

// What the model answers: its likeliest token at every row of the logits, a slider that chooses a row, and the likeliest tokens
// of the chosen one. It outlives a pass, so that a text that is read while the slider is dragged does not end the drag.
export class Answer {
  constructor(model) {
    const go = (position) => { model.set("position", position); model.save_changes(); };
    this.go = go;
    this.slider = element("input", { type: "range", min: 0, step: 1, "aria-label": "position" });
    this.slider.addEventListener("input", () => go(Number(this.slider.value)));
    this.name = element("span");
    this.question = element("span", { class: "question" });
    this.control = element("label", { class: "position" }, this.name, this.slider);
    this.caption = element("span");
    this.tokens = element("ol", { class: "tokens" });
    this.list = element("ol", { class: "likeliest", "aria-live": "polite", "aria-label": "likeliest tokens" });
    this.node = element("div", { class: "answer" },
      element("div", { class: "steps" }, element("div", { class: "position" }, this.control, this.question),
        element("div", { class: "written" }, this.caption, this.tokens)), this.list);
  }

  // Takes the answer of another pass.
  read(pass) {
    const { likeliest, answer, causal } = pass.content;
    this.pass = pass;
    this.node.hidden = answer < 0;
    if (answer < 0) return;
    this.slider.max = likeliest.length - 1;
    this.control.hidden = this.tokens.parentNode.hidden = likeliest.length === 1;
    this.name.textContent = causal >= 0 ? "decoding step" : "position";
    this.caption.textContent = causal >= 0 ? "likeliest next token at each step:" : "likeliest token at each position:";
    this.tokens.replaceChildren(...likeliest.map(([[word]], position) => this.token(word, position)));
    this.rows = likeliest[0].map(() => ({ word: element("span", { class: "word" }), bar: element("span", { class: "bar" }),
      number: element("span", { class: "number" }) }));
    this.list.replaceChildren(...this.rows.map(({ word, bar, number }) =>
      element("li", {}, word, element("span", { class: "track", "aria-hidden": "true" }, bar), number)));
  }

  // One token of the answer; a click on it does what the slider does by keyboard, too.
  token(word, position) {
    const token = element("li", {}, word);
    token.addEventListener("click", () => this.go(position));
    return token;
  }

  // Shows the row of the chosen position.
  show() {
    const { likeliest, answer, causal, steps } = this.pass.content, { position } = this.pass;
    if (answer < 0) return;
    const token = this.pass.labels(steps[answer].rows)?.[position];
    const said = token === undefined ? "output" : `${causal >= 0 ? "after" : "at"} “${token}” (${position})`;
    this.slider.value = position;
    this.slider.setAttribute("aria-valuetext", said);
    this.question.textContent = `${said}:`;
    [...this.tokens.children].forEach((item, i) => item.classList.toggle("chosen", i === position));
    likeliest[position].forEach(([word, probability], i) => {
      this.rows[i].word.textContent = word;
      this.rows[i].bar.style.width = `${100 * probability}%`;
      this.rows[i].number.textContent = probability.toFixed(3);
    });
  }
}
