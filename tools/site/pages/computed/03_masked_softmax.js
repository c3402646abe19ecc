// The lab of lesson 3: a mask drawn by hand, and the model of random digits trained under it.
function readerPanels(colors) {
  const counted = (label, role) => ({ label, role, from: -0.5, to: PLACES - 0.5, ticks: [...Array(PLACES).keys()] });
  const map = () => panel({ width: 360, height: 300, x: counted("keys", "key"), y: counted("queries", "query") });
  const [mask, first, second] = [map(), map(), map()];
  const losses = panel({ width: 360, height: 300, x: { label: "loss", from: 0, to: 3, ticks: [0, 0.5, 1, 1.5, 2, 2.5, 3] }, y: counted("position") });
  const shown = [mask, first, second].map((pane) => mapIn(pane, colors));
  const bars = [...Array(PLACES).keys()].map((i) => add(losses, "rect", { class: "loss", x: losses.X(0), y: losses.Y(i - 0.4), height: losses.Y(0.4) - losses.Y(-0.4) }));
  add(losses, "path", { class: "curve guessing", d: pathOf(losses, [Math.log(DIGITS), Math.log(DIGITS)], [-0.5, PLACES - 0.5]) });
  const pen = add(mask, "rect", { class: "pen", width: mask.X(0.6) - mask.X(0), height: mask.Y(0.6) - mask.Y(0) });
  return { mask, losses, first, second, shown, bars, pen };
}

computedLabs.masked_softmax = (box, { colors, starts, known }) => {
  const { mask, losses, first, second, shown, bars, pen } = readerPanels(colors), nothing = new Float64Array(PLACES ** 2);
  const trained = new Map(Object.entries(known)), drawn = {};           // drawn: the start, and the mask as changed by hand
  let wanted = null;                                                    // what is being trained
  mask.write("the mask: grey is hidden");
  first.write("weights of layer 1");
  box.append(panelRow(mask.node, losses.node), panelRow(first.node, second.node), colourScale("mean weight", colors));
  const show = (layers, result, title) => {
    const { losses: found, weights } = result ?? { losses: new Float64Array(PLACES), weights: [nothing, nothing] };
    [nothing, weights[0], weights[1] ?? nothing].forEach((values, i) => shown[i](values, PLACES, drawn.mask.map((cell) => cell || i > layers)));
    bars.forEach((bar, i) => bar.setAttribute("width", losses.X(found[i]) - losses.X(0)));
    losses.write(title);
    second.write(layers === 2 ? "weights of layer 2" : "there is no layer 2");
    const low = [...found.keys()].filter((i) => found[i] > 0 && found[i] < 1);
    return `${drawn.mask.filter(Boolean).length} visible cells, layers: ${layers}. Losses below 1 at positions [${low.join(", ")}].`;
  };
  const train = (key, layers, reader) => {                              // a promise, kept as long as what it trains is wanted
    const goesOn = (part) => wanted === key && Boolean(show(layers, null, `training: ${Math.round(100 * part)} %`));
    const digits = Uint8Array.from(reader.digits, Number), start = floatsOf(reader.start);
    return trainReader({ start, digits }, layers, [...drawn.mask], goesOn);
  };
  return {
    pane: mask,
    drag: ["key", "query"],
    sets: { start: ["pen", "lifted"] },
    reset() { delete drawn.start; },
    async draw({ start, layers: number, pen: mode, query, key: column }, { readers }) {
      const layers = Number(number);
      if (drawn.start !== start) Object.assign(drawn, { start, mask: [...starts[start]].map((cell) => cell === "1") });
      if (mode !== "lifted") drawn.mask[query * PLACES + column] = mode === "show";
      Object.entries({ x: mask.X(column - 0.3), y: mask.Y(query - 0.3), "data-pen": mode }).forEach(([name, value]) => pen.setAttribute(name, value));
      const key = `${layers} ${drawn.mask.map(Number).join("")}`;
      wanted = mode === "lifted" ? key : null;
      if (!wanted) return show(layers, null, "lift the pen to train");
      if (!trained.has(key)) trained.set(key, train(key, layers, readers[layers]));
      const result = await trained.get(key);
      if (!result) trained.delete(key);
      return result && wanted === key ? show(layers, result, "loss after training") : null;
    },
  };
};
