/* exported computedLabs, panel, panelRow, add, pathOf, mapIn, colourScale, bytesOf, floatsOf */
// What the labs that a page computes draw with: panels with axes, each an SVG in the colours of the theme.

// By name, what makes a lab in its box: { pane, drag, draw, reset }. Dragging in `pane` sets the controls named in `drag`: [x, y].
// draw(values, data) shows where the controls stand and returns what is shown, in words; reset() forgets what earlier moves left.
const computedLabs = {};

const HIDDEN = 256;                                                     // behind the 256 colours of weights

function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

const bytesOf = (base64) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
const floatsOf = (base64) => Float64Array.from(new Float32Array(bytesOf(base64).buffer));

// The line that tells the curves apart: [class, label] of each, above the axes.
function legendOf(entries, left, y) {
  let x = left;
  return entries.flatMap(([kind, label]) => {
    const from = x;
    x += 42 + 7 * label.length;
    return [svg("path", { class: `curve ${kind}`, d: `M${from} ${y - 4}h28` }), svg("text", { x: from + 34, y }, label)];
  });
}

// Axes, and what lies between them, cut at their ends. width, height: in CSS pixels, where it is not made smaller. x, y: the axes,
// { label, from, to, ticks, names, role }; y.from is at the top. X and Y turn values into places. With a grid there is no frame.
function panel({ width, height, x, y, legend = [], grid = false }) {
  const left = 46, top = legend.length ? 26 : 6, bottom = x.ticks.length ? 40 : 22, wide = width - left - 10, high = height - top - bottom;
  const X = (value) => left + ((value - x.from) / (x.to - x.from)) * wide, Y = (value) => top + ((value - y.from) / (y.to - y.from)) * high;
  const plot = svg("svg", { x: left, y: top, width: wide, height: high, viewBox: `${left} ${top} ${wide} ${high}` });
  const label = ({ role = "", label: text }, place) => svg("text", { class: `label ${role}`, ...place }, text);
  const lines = [...x.ticks.map((tick) => `M${X(tick)} ${top}v${high}`), ...y.ticks.map((tick) => `M${left} ${Y(tick)}h${wide}`)];
  const drawn = svg("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" }, ...legendOf(legend, left, 14),
    ...x.ticks.map((tick) => svg("text", { x: X(tick), y: height - bottom + 16, "text-anchor": "middle" }, x.names?.[tick] ?? tick)),
    ...y.ticks.map((tick) => svg("text", { x: left - 6, y: Y(tick) + 4, "text-anchor": "end" }, tick)),
    label(x, { x: left + wide / 2, y: height - 6 }),
    label(y, { transform: `translate(12 ${top + high / 2}) rotate(-90)` }),
    svg("path", { class: "grid", d: grid ? lines.join("") : "" }), plot,
    svg("path", { class: "axes", d: `M${left} ${top}v${high}h${wide}${grid ? "" : `v${-high}z`}` }));
  const title = element("p", { class: "title", "aria-hidden": "true" }), stage = element("div", { class: "stage" }, drawn);
  return { node: element("div", { class: "panel" }, title, stage), stage, plot, X, Y, ends: [[x.from, x.to], [y.from, y.to]],
    area: [left / width, top / height, (left + wide) / width, (top + high) / height], write: (text) => { title.textContent = text; } };
}

function panelRow(...nodes) {
  return element("div", { class: "panels" }, ...nodes);
}

function add({ plot }, tag, attributes) {
  const node = svg(tag, attributes);
  plot.append(node);
  return node;
}

// The path through points of a panel.
function pathOf({ X, Y }, xs, ys) {
  return `M${Array.from(xs, (x, i) => `${X(x).toFixed(2)} ${Y(ys[i]).toFixed(2)}`).join("L")}`;
}

// A map below the axes of a panel that count its columns and rows. Returns what shows weights [rows * columns], those cells hidden
// for which `visible` [rows * columns] is false; `most` is the end of the scale.
function mapIn(pane, colors, most = 1) {
  const [left, top, right, bottom] = pane.area.map((part) => `${100 * part}%`), canvas = element("canvas"), g = canvas.getContext("2d");
  const strokes = add(pane, "path", { class: "strokes" }), palette = new Uint32Array(bytesOf(colors).buffer);
  Object.assign(canvas.style, { left, top, width: `calc(${right} - ${left})`, height: `calc(${bottom} - ${top})` });
  pane.stage.append(canvas);
  return (weights, columns, visible = null) => {
    const rows = weights.length / columns, hidden = (i) => visible && !visible[i];
    const cells = Uint32Array.from(weights, (weight, i) => palette[hidden(i) ? HIDDEN : Math.min(255, Math.round((weight / most) * 255))]);
    Object.assign(canvas, { width: columns, height: rows });
    g.putImageData(new ImageData(new Uint8ClampedArray(cells.buffer), columns, rows), 0, 0);
    const places = [...cells.keys()].filter(hidden).map((i) => [i % columns, Math.floor(i / columns)]);
    strokes.setAttribute("d", places.map(([k, q]) => pathOf(pane, [k - 0.4, k + 0.4], [q + 0.4, q - 0.4])).join(""));
  };
}

// The scale of maps, from 0 to `most`.
function colourScale(label, colors, most = 1) {
  const canvas = element("canvas", { width: 256, height: 1 });
  canvas.getContext("2d").putImageData(new ImageData(new Uint8ClampedArray(bytesOf(colors).slice(0, 4 * HIDDEN)), HIDDEN, 1), 0, 0);
  return element("p", { class: "scale" }, `${label} 0`, canvas, `${most}`);
}
