// The lab of lesson 6: one query and one key as four pairs, each pair a clock with two hands.
const PAIRS = 4, HAND = 6;                                              // hands of this length give the scores of the weights
const OFFSETS = Array.from({ length: 801 }, (_, i) => i / 4 - 100), PAST = Array.from({ length: 101 }, (_, i) => i - 100);

// The angles of the query's and the key's hands at position 0, [PAIRS] each, and how far both turn from one position to the next.
function anglesOf({ aim, aim_1: aimOfOne, content, base }, drawn) {
  const turn = Array.from({ length: PAIRS }, (_, i) => base ** (-i / PAIRS)), random = (i) => drawn[2 * PAIRS * content + i];
  const query = turn.map((_, i) => random(i));
  const key = turn.map((angle, i) => query[i] - (i === 1 ? aimOfOne : aim) * angle + (content ? random(PAIRS + i) : 0));
  return { turn, query, key };
}

// The parts of the score, one of each pair, of a key that stands `offset` after the query.
const partsAt = ({ turn, query, key }, offset) => turn.map((angle, i) => Math.cos(key[i] - query[i] + offset * angle));

const sumOf = (parts) => parts.reduce((sum, part) => sum + part, 0);

// The weights of the keys from position 0 to the query, which stands at m.
function causalWeights(angles, m) {
  const scores = PAST.filter((offset) => offset >= -m).map((offset) => (HAND ** 2 * sumOf(partsAt(angles, offset))) / Math.sqrt(2 * PAIRS));
  const top = Math.max(...scores), parts = scores.map((score) => Math.exp(score - top)), sum = sumOf(parts);
  return parts.map((part) => part / sum);
}

// A clock, and what turns its hands.
function makeClock() {
  const hands = ["query", "key"].map((kind) => svg("path", { class: `curve ${kind}` })), title = element("p", { class: "title", "aria-hidden": "true" });
  const face = svg("svg", { class: "clock", viewBox: "-55 -55 110 110", "aria-hidden": "true" }, svg("circle", { class: "axes face", r: 50 }), ...hands);
  return { node: element("div", {}, title, face), show(angles, part, name) {
    angles.forEach((angle, i) => hands[i].setAttribute("d", `M0 0L${50 * Math.cos(angle)} ${-50 * Math.sin(angle)}`));
    title.textContent = `${name}: ${part.toFixed(2)}`;
  } };
}

computedLabs.clocks = (box, { angles: packed }) => {
  const drawn = floatsOf(packed), clocks = Array.from({ length: PAIRS }, makeClock), ticks = [-100, -50, 0, 50, 100];
  const scores = panel({ width: 420, height: 240, grid: true, x: { label: "offset: key minus query", from: -104, to: 104, ticks },
    y: { label: "score", from: 4.3, to: -4.3, ticks: [4, 2, 0, -2, -4] }, legend: [["ink", "sum of all clocks"], ["grey thin", "clock 0"]] });
  const past = panel({ width: 420, height: 200, grid: true, x: { label: "offset", from: -104, to: 104, ticks },
    y: { label: "weight", from: 1.05, to: -0.05, ticks: [1, 0.5, 0] } });
  const pair = add(scores, "path", { class: "curve grey thin" }), sum = add(scores, "path", { class: "curve ink thin" });
  const dots = add(scores, "g", { class: "dots" }), ring = add(scores, "circle", { class: "ring", r: 7 });
  const line = add(past, "path", { class: "curve ink thin" }), weights = add(past, "g", { class: "dots" });
  const dotsAt = (pane, xs, ys) => xs.map((x, i) => svg("circle", { cx: pane.X(x), cy: pane.Y(ys[i]), r: 1.8 }));
  box.append(element("div", { class: "clocks" }, ...clocks.map((clock) => clock.node)), scores.node, past.node);
  return {
    pane: scores,
    drag: [],
    reset() {},
    draw(values) {
      const angles = anglesOf(values, drawn), m = values.query + values.both, n = values.key + values.both;
      const parts = partsAt(angles, n - m), score = sumOf(parts), all = OFFSETS.map((offset) => partsAt(angles, offset)), sums = all.map(sumOf);
      clocks.forEach((clock, i) => clock.show([angles.query[i] + m * angles.turn[i], angles.key[i] + n * angles.turn[i]], parts[i], `clock ${i}`));
      sum.setAttribute("d", pathOf(scores, OFFSETS, sums));
      pair.setAttribute("d", pathOf(scores, OFFSETS, all.map(([first]) => first)));
      const whole = (_, i) => i % 4 === 0;
      dots.replaceChildren(...dotsAt(scores, OFFSETS.filter(whole), sums.filter(whole)));
      ring.setAttribute("cx", scores.X(n - m));
      ring.setAttribute("cy", scores.Y(score));
      const found = causalWeights(angles, m), places = PAST.slice(-found.length);
      line.setAttribute("d", pathOf(past, places, found));
      weights.replaceChildren(...dotsAt(past, places, found));
      const weight = n <= m ? found[n].toFixed(2) : "none, after the query";
      const atWhole = sums.filter(whole), top = OFFSETS.filter(whole)[atWhole.indexOf(Math.max(...atWhole))];
      scores.write(`query at ${m}, key at ${n}: score ${score.toFixed(2)}; highest at ${top}`);
      const most = found.indexOf(Math.max(...found));
      past.write(`weight of this key: ${weight}; largest at ${places[most]}: ${found[most].toFixed(2)}`);
      return `Query at ${m}, key at ${n}, base ${values.base}: score ≈ ${score.toFixed(2)}, highest at ${top}, clock 0 ≈ ${parts[0].toFixed(2)}, weight: ${weight}.`;
    },
  };
};
