// The lab of lesson 1: Nadaraya-Watson regression, the query dragged.
const LOG_KERNELS = {
  gaussian: (u) => -(u ** 2) / 2,
  boxcar: (u) => (Math.abs(u) <= 1 ? 0 : -Infinity),
  epanechnikov: (u) => (Math.abs(u) < 1 ? Math.log(1 - u ** 2) : -Infinity),
};
const GRID = Array.from({ length: 101 }, (_, i) => i / 20);             // the queries

const trueCurve = (x) => 2 * Math.sin(x) + x ** 0.8;
const meanOf = (values, of) => values.reduce((sum, value, i) => sum + of(value, i), 0) / values.length;

// The output of one query, and its weights [T_k] before they are divided by their sum; `left`: a key to leave out.
function nadarayaWatson(query, { x, y }, logKernel, width, weights, left = -1) {
  let top = -Infinity, sum = 0, output = 0;
  for (let j = 0; j < x.length; j++) {
    weights[j] = j === left ? -Infinity : logKernel((query - x[j]) / width);
    if (weights[j] > top) top = weights[j];
  }
  for (let j = 0; j < x.length; j++) {
    weights[j] = top === -Infinity ? 0 : Math.exp(weights[j] - top);
    sum += weights[j];
    output += weights[j] * y[j];
  }
  return { output: sum && output / sum, sum };                          // 0 where no key is in reach
}

// Of all queries the outputs [101], the weights [101 * T_k] and the error against the true curve.
function regression(sample, logKernel, width) {
  const size = sample.x.length, weights = new Float64Array(GRID.length * size);
  const output = GRID.map((query, i) => {
    const own = weights.subarray(i * size, (i + 1) * size), found = nadarayaWatson(query, sample, logKernel, width, own);
    own.forEach((weight, j) => { own[j] = found.sum && weight / found.sum; });
    return found.output;
  });
  return { output, weights, error: errorOf(output) };
}

const errorOf = (output) => meanOf(output, (value, i) => (value - trueCurve(GRID[i])) ** 2);

// The leave-one-out loss of a width.
function leftOut(sample, logKernel, width) {
  const scratch = new Float64Array(sample.x.length);
  return meanOf(sample.x, (x, i) => (nadarayaWatson(x, sample, logKernel, width, scratch, i).output - sample.y[i]) ** 2);
}

// The error and the leave-one-out loss of each width.
function ofAllWidths(sample, logKernel, widths) {
  const scratch = new Float64Array(sample.x.length);
  const errors = widths.map((width) => errorOf(GRID.map((query) => nadarayaWatson(query, sample, logKernel, width, scratch).output)));
  return [errors, widths.map((width) => leftOut(sample, logKernel, width))];
}

function kernelPanels() {
  const points = panel({ width: 420, height: 380, grid: true, x: { label: "x", from: -0.25, to: 5.25, ticks: [0, 1, 2, 3, 4, 5] },
    y: { label: "y", from: 6, to: -1.5, ticks: [6, 5, 4, 3, 2, 1, 0, -1] }, legend: [["ink", "true curve"], ["red dashed", "weighted average"]] });
  const map = panel({ width: 340, height: 200, x: { label: "keys: points, left to right", role: "key", from: 0, to: 1, ticks: [] },
    y: { label: "queries: x", role: "query", from: -0.5, to: 100.5, ticks: [] } });
  const ticks = [0.05, 0.1, 0.2, 0.5, 1, 2], names = Object.fromEntries(ticks.map((tick) => [Math.log(tick), tick]));
  const widths = panel({ width: 340, height: 220, grid: true,                      // the axis of widths is logarithmic
    x: { label: "width", from: Math.log(0.045), to: Math.log(3.3), ticks: ticks.map(Math.log), names },
    y: { label: "squared error", from: 2.5, to: 0, ticks: [2.5, 2, 1.5, 1, 0.5, 0] }, legend: [["grey dashdot", "error"], ["ink dotted", "leave-one-out loss"]] });
  return { points, map, widths };
}

// The keys and the values at these controls.
function sampleAt({ points, noise, sample }, { samples }) {
  const [x, random] = samples[`${points} ${sample}`].map(floatsOf);
  return { x, y: x.map((place, i) => trueCurve(place) + noise * random[i]) };
}

// Draws what one query and one width give; the function returned shows them.
function drawRegression({ points, map, widths }, colors) {
  const showMap = mapIn(map, colors), path = (pane, kind) => add(pane, "path", { class: `curve ${kind}` });
  add(points, "path", { class: "curve ink", d: pathOf(points, GRID, GRID.map(trueCurve)) });
  const fit = path(points, "red dashed"), line = path(points, "query"), row = svg("path", { class: "curve query" }), atWidth = path(widths, "thin grey");
  const dots = add(points, "g", { class: "values" }), answer = add(points, "circle", { class: "answer", r: 7.5 });
  map.plot.after(row);                                                  // beside the map, not on it
  return ({ query, width }, { x, y }, { output, weights }, own) => {
    const place = Math.round(20 * query), largest = weights.reduce((most, weight) => Math.max(most, weight), 0) || 1;
    const dot = (key, i) => svg("circle", { cx: points.X(key), cy: points.Y(y[i]), r: Math.sqrt((12 + 900 * own[i]) / Math.PI) * 96 / 72 });
    dots.replaceChildren(...Array.from(x, dot));
    showMap(weights.map((weight) => weight / largest), x.length);
    fit.setAttribute("d", pathOf(points, GRID, output));
    line.setAttribute("d", pathOf(points, [query, query], [-1.5, 6]));
    row.setAttribute("d", [map.X(0) - 9, map.X(1) + 1].map((edge) => `M${edge} ${map.Y(place)}h8`).join(""));
    atWidth.setAttribute("d", pathOf(widths, [Math.log(width), Math.log(width)], [0, 2.5]));
    answer.setAttribute("cx", points.X(query));
    answer.setAttribute("cy", points.Y(output[place]));
  };
}

computedLabs.kernel_regression = (box, { colors, widths: tried }) => {
  const panels = kernelPanels(), { points, map, widths } = panels, show = drawRegression(panels, colors), known = new Map();
  const curves = ["grey dashdot", "ink dotted"].map((kind) => add(widths, "path", { class: `curve ${kind}` }));
  const lowest = curves.map(() => add(widths, "circle", { class: "lowest", r: 4 }));
  let newest;
  box.classList.add("controls-stay");                                   // on a phone, above whatever is on the screen
  box.append(panelRow(points.node, element("div", { class: "column" }, map.node, widths.node)));
  return {
    pane: points,
    drag: ["query"],
    reset() {},
    async draw(values, data) {
      const { query, width, points: size, noise, sample: number, kernel } = newest = values, place = Math.round(20 * query);
      const sample = sampleAt(values, data), logKernel = LOG_KERNELS[kernel], found = regression(sample, logKernel, width);
      const own = found.weights.subarray(place * size, (place + 1) * size), key = [size, noise, number, kernel].join(" ");
      const ofQuery = `output ≈ ${found.output[place].toFixed(2)}, largest weight ≈ ${Math.max(...own).toFixed(2)}`;
      const ofWidth = `loss ≈ ${leftOut(sample, logKernel, width).toFixed(3)}, error ≈ ${found.error.toFixed(3)}`;
      show(values, sample, found, own);
      points.write(ofQuery);
      widths.write(ofWidth);
      if (!known.has(key)) {                                            // sixty widths take longer than one: they are drawn a moment later
        await new Promise((done) => { window.setTimeout(done); });
        if (newest !== values) return null;
        known.set(key, ofAllWidths(sample, logKernel, tried));
      }
      known.get(key).forEach((errors, i) => {
        const least = Math.min(...errors);
        curves[i].setAttribute("d", pathOf(widths, tried.map(Math.log), errors));
        lowest[i].setAttribute("cx", widths.X(Math.log(tried[errors.indexOf(least)])));
        lowest[i].setAttribute("cy", widths.Y(least));
      });
      return `${kernel} kernel, width ${width.toFixed(2)}, ${size} points: ${ofQuery}; ${ofWidth}.`;
    },
  };
};
