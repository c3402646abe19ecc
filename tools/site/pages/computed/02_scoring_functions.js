// The first lab of lesson 2: one query and four keys in a plane, weighted by dot product and by distance.
const NAMES_OF_KEYS = ["A", "B", "C", "D"], MOVED_KEY = 2;              // C

// The weights of the keys [4, 2], by each score.
function weightsInPlane([x, y], keys) {
  const softmaxOf = (scores) => {
    const parts = scores.map((score) => Math.exp(score - Math.max(...scores))), sum = parts.reduce((a, b) => a + b);
    return parts.map((part) => part / sum);
  };
  const byDot = keys.map((key) => x * key[0] + y * key[1]), byDistance = keys.map((key) => -((x - key[0]) ** 2 + (y - key[1]) ** 2) / 2);
  return [softmaxOf(byDot), softmaxOf(byDistance)];
}

// The corners of the wedge of queries, within a plane from -4 to 4, that prefer the moved key by dot product: [x], [y].
function wedgeOfMoved(keys) {
  const [moved, middle] = [keys[MOVED_KEY], Math.atan2(keys[MOVED_KEY][1], keys[MOVED_KEY][0])], rim = [[0, 0]];
  for (let i = -360; i <= 360; i++) {
    const x = Math.cos(middle + (i * Math.PI) / 360), y = Math.sin(middle + (i * Math.PI) / 360), far = 4 / Math.max(Math.abs(x), Math.abs(y));
    const best = Math.max(...keys.map((key) => x * key[0] + y * key[1]));
    if (x * moved[0] + y * moved[1] >= best) rim.push([far * x, far * y]);
  }
  return [0, 1].map((axis) => rim.map((place) => place[axis]));
}

// An arrow from the middle of the plane, and the name at its end; returns what moves both.
function arrowIn(plane, name) {
  const shaft = add(plane, "path", { class: "curve key" }), head = add(plane, "path", { class: "head" }), label = add(plane, "text", { class: "label" });
  label.textContent = name;
  return ([x, y], [nameX, nameY]) => {
    const [toX, toY] = [plane.X(x), plane.Y(y)], angle = Math.atan2(toY - plane.Y(0), toX - plane.X(0));
    shaft.setAttribute("d", pathOf(plane, [0, x], [0, y]));
    head.setAttribute("d", "M0 0L-12 -5L-12 5z");
    head.setAttribute("transform", `translate(${toX} ${toY}) rotate(${(angle * 180) / Math.PI})`);
    label.setAttribute("x", plane.X(nameX));
    label.setAttribute("y", plane.Y(nameY) + 4);
  };
}

function planePanels() {
  const axis = (label, from) => ({ label, from, to: -from, ticks: [-4, -2, 0, 2, 4] });
  const plane = panel({ width: 376, height: 386, grid: true, x: axis("x", -4), y: axis("y", 4), legend: [["query", "query"], ["grey dashed", "nearest key"], ["wedge", "C preferred"]] });
  const bars = panel({ width: 376, height: 386, x: { label: "keys", role: "key", from: -0.6, to: 3.6, ticks: [0, 1, 2, 3], names: NAMES_OF_KEYS },
    y: { label: "weight", from: 1.15, to: 0, ticks: [0, 0.2, 0.4, 0.6, 0.8, 1] }, legend: [["by-dot", "dot product"], ["by-distance", "distance"]] });
  return { plane, bars };
}

computedLabs.plane = (box, { keys }) => {
  const { plane, bars } = planePanels(), wedge = add(plane, "path", { class: "wedge" });
  const arrows = NAMES_OF_KEYS.map((name) => arrowIn(plane, name));
  const corners = [...keys.keys(), 0].filter((i) => i !== MOVED_KEY);
  add(plane, "path", { class: "curve grey", d: pathOf(plane, ...[0, 1].map((axis) => corners.map((i) => keys[i][axis]))) });
  const toNearest = add(plane, "path", { class: "curve grey dashed" });
  const line = add(plane, "path", { class: "curve query" }), tip = add(plane, "circle", { class: "tip", r: 7.5 });
  const groups = ["by-dot", "by-distance"].map((kind, group) => NAMES_OF_KEYS.map((_, i) => {
    const left = i + 0.4 * group - 0.39;
    return add(bars, "rect", { class: kind, x: bars.X(left), width: bars.X(left + 0.38) - bars.X(left) });
  }));
  box.append(panelRow(plane.node, bars.node));
  return {
    pane: plane,
    drag: ["x", "y"],
    reset() {},
    draw({ x, y, c_x: keyX, c_y: keyY }) {
      const moved = keys.map((key, i) => (i === MOVED_KEY ? [keyX, keyY] : key));
      moved.forEach((key, i) => {
        const [kx, ky] = key, length = Math.hypot(kx, ky);
        arrows[i](key, i === MOVED_KEY ? [kx + 0.3, ky + 0.3] : [kx + (0.35 * kx) / length, ky + (0.35 * ky) / length]);
      });
      wedge.setAttribute("d", pathOf(plane, ...wedgeOfMoved(moved)));
      line.setAttribute("d", pathOf(plane, [0, x], [0, y]));
      tip.setAttribute("cx", plane.X(x));
      tip.setAttribute("cy", plane.Y(y));
      const found = weightsInPlane([x, y], moved), near = moved[found[1].indexOf(Math.max(...found[1]))];
      toNearest.setAttribute("d", pathOf(plane, [x, near[0]], [y, near[1]]));
      found.forEach((weights, group) => weights.forEach((weight, i) => {
        groups[group][i].setAttribute("y", bars.Y(weight));
        groups[group][i].setAttribute("height", bars.Y(0) - bars.Y(weight));
      }));
      const at = (...place) => `(${place.map((value) => value.toFixed(1)).join(", ")})`;
      const [byDot, byDistance] = found.map((weights) => {
        const largest = Math.max(...weights);
        const name = largest < Math.min(...weights) + 1e-4 ? "all equal" : NAMES_OF_KEYS[weights.indexOf(largest)];
        return `${name} (${largest.toFixed(2)})`;
      });
      bars.write(`largest: dot product ${byDot}, distance ${byDistance}`);
      return `Query at ${at(x, y)}, C at ${at(keyX, keyY)}. Largest weight: dot product ${byDot}, distance ${byDistance}.`;
    },
  };
};
