// Labs, recorded when the site was made or computed here. A page holds a lab's controls and what it needs for its first picture; what
// it needs for others is in a file beside the page, a script because a page from the disk may read nothing else. It is loaded at the
// first touch.
const arrived = {};
window.loaded = (file, data) => arrived[file](data);

function load(file) {
  return new Promise((resolve, reject) => {
    arrived[file] = resolve;
    const script = document.createElement("script");
    script.addEventListener("error", () => reject(new Error(`The lab could not be loaded: the file ${file} belongs beside this page.`)));
    script.src = file;
    document.head.append(script);
  });
}

// How far a stop is from where the reader put the controls `moved`; one more control that differs is farther than any way of these.
function distance(controls, want, stop, moved) {
  const way = ({ kind, values }, i) => (kind === "slider" ? Math.abs(want[i] - stop[i]) / values.length : 1);
  return controls.reduce((sum, control, i) => sum
    + (want[i] === stop[i] ? 0 : way(control, i) + (moved.includes(i) ? 0 : controls.length)), 0);
}

function nearest(controls, stops, want, moved) {
  const far = stops.map((stop) => distance(controls, want, stop, moved));
  return stops[far.indexOf(Math.min(...far))];
}

// The stop to go to from the stop `at`, when the controls `moved` are put where `want` says. The others stay where they are if anything
// that way was recorded so. A slider goes on to the next stop, so that no key is in vain; dragged, it goes to the nearest.
function settle(controls, stops, at, want, moved, dragged) {
  const towards = (stop) => moved.some((i) => (
    controls[i].kind === "slider" ? (want[i] - at[i]) * (stop[i] - at[i]) > 0 : want[i] !== at[i] && want[i] === stop[i]));
  const ahead = stops.filter(towards), beside = ahead.filter((stop) => controls.every((_, i) => moved.includes(i) || stop[i] === at[i]));
  if (!beside.length) return nearest(controls, ahead, want, moved) ?? at;
  return nearest(controls, dragged ? [at, ...beside] : beside, want, moved);
}

// Each kind of control: its elements, how to read the number of its value, and how to set it.
const KINDS = {
  slider({ values }, id) {
    const range = element("input", { type: "range", id, min: 0, max: values.length - 1, step: 1 }), out = element("output", { for: id, "aria-live": "off" });
    return { nodes: [range, out], read: () => Number(range.value), set(i) {
      range.value = i;
      range.setAttribute("aria-valuetext", values[i]);
      out.textContent = values[i];
    } };
  },
  menu({ values }, id) {
    const select = element("select", { id }, ...values.map((value) => element("option", {}, value)));
    return { nodes: [select], read: () => select.selectedIndex, set(i) { select.selectedIndex = i; } };
  },
  switch(control, id) {
    const box = element("input", { type: "checkbox", id });
    return { nodes: [box], read: () => Number(box.checked), set(i) { box.checked = Boolean(i); } };
  },
  text({ values }, id) {
    const box = element("textarea", { id, rows: Math.min(6, Math.ceil(values[0].length / 40) + values[0].split("\n").length - 1) || 1, disabled: "" });
    box.value = values[0];
    return { nodes: [box], read: () => 0, set() {} };
  },
};

function makeControls(controls, name, move, onReset) {
  const form = element("div", { class: "controls", role: "group", "aria-label": "controls of the lab" });
  const made = controls.map((control, i) => {
    const id = `${name}-${i}`, one = KINDS[control.kind](control, id);
    const box = element("div", { class: control.kind }, element("label", { for: id }, control.label), ...one.nodes);
    form.append(box);
    one.nodes[0].addEventListener("input", ({ target }) => move([[i, one.read()]], target.matches(":active")));
    one.set(control.start);
    return { ...one, box };
  });
  const reset = element("button", { type: "button" }, "reset");
  reset.addEventListener("click", () => {
    onReset?.();
    move(controls.map(({ start }, i) => [i, start]));
  });
  form.append(reset);
  return { form, made };
}

// A patch as a picture, unpacked once.
function unpacker(patches) {
  const known = new Map();
  return (number) => {
    if (!known.has(number)) {
      const image = new Image();
      image.src = `data:image/webp;base64,${patches[number - 1]}`;
      known.set(number, image.decode().then(() => image));
    }
    return known.get(number);
  };
}

// Draws the frame of a stop: the first picture, and above it what differs.
function painter(first, canvas, { patches, frames }) {
  const g = canvas.getContext("2d"), unpacked = unpacker(patches);
  let newest = 0;
  return async (number) => {
    const mine = ++newest, [alt, [width, height], parts] = frames[number];
    const images = await Promise.all(parts.map(([patch]) => unpacked(patch)));
    if (mine !== newest) return;                                       // another move has come
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height }).style.width = `${width}px`;
    g.fillStyle = "#ffffff";
    g.fillRect(0, 0, width, height);
    g.drawImage(first, 0, 0);
    parts.forEach(([, x, y], i) => g.drawImage(images[i], x, y));
    canvas.setAttribute("aria-label", alt);
  };
}

function toCanvas(image) {
  const canvas = element("canvas", { role: "img", "aria-label": image.alt, width: image.naturalWidth, height: image.naturalHeight });
  canvas.style.width = `${image.getAttribute("width")}px`;
  canvas.getContext("2d").drawImage(image, 0, 0);
  image.replaceWith(canvas);
  return canvas;
}

// What is said when the controls could not go where the reader put them.
function remark(controls, want, stop, moved) {
  const differ = [...controls.keys()].filter((i) => want[i] !== stop[i]);
  const told = [...controls.keys()].filter((i) => differ.includes(i) || moved.includes(i));
  const places = (here) => told.map((i) => `${controls[i].label} ${controls[i].values[here[i]]}`).join(", ");
  return differ.length ? `Not recorded: ${places(want)}. The controls now stand at ${places(stop)}.` : "";
}

// Dragging in the picture sets controls; a finger scrolls, and sets them by a tap.
function makeDraggable(box, { area: [left, top, right, bottom], axes }, controls, move) {
  let dragging = false;
  const place = (event) => {
    const { x, y, width, height } = box.firstElementChild.getBoundingClientRect();
    return [((event.clientX - x) / width - left) / (right - left), ((event.clientY - y) / height - top) / (bottom - top)];
  };
  const inside = (event) => place(event).every((part) => 0 <= part && part <= 1);
  const send = (event) => move(axes.map(([i, from, to], k) => {
    const value = from + place(event)[k] * (to - from), far = controls[i].values.map((text) => Math.abs(Number(text) - value));
    return [i, far.indexOf(Math.min(...far))];
  }), true);
  box.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch" || !inside(event)) return;
    dragging = true;
    event.preventDefault();                             // a picture would be carried away
    box.setPointerCapture(event.pointerId);
    send(event);
  });
  box.addEventListener("pointermove", (event) => {
    box.style.cursor = inside(event) ? "grab" : "";
    if (dragging) send(event);
  });
  for (const end of ["pointerup", "pointercancel"]) box.addEventListener(end, () => { dragging = false; });
  box.addEventListener("click", (event) => { if (event.pointerType === "touch" && inside(event)) send(event); });
}

// Moves the controls in `places`, [number, value] each, and shows the picture of where all then stand; the recording is loaded when this is
// first asked.
function mover(root, { file, controls }, made, note) {
  const image = root.querySelector("img"), starts = controls.map(({ start }) => start);
  let ready, at = starts;
  const stand = (stop, moved) => made.forEach((one, i) => {
    one.set(stop[i]);
    one.box.classList.toggle("carried", stop[i] !== at[i] && !moved.includes(i));
  });
  const open = async () => {
    const [recording] = await Promise.all([load(file), image.decode()]), paint = painter(image, toCanvas(image), recording);
    at = nearest(controls, recording.stops, starts, []);
    return (want, moved, dragged) => {
      const stop = settle(controls, recording.stops, at, want, moved, dragged);
      stand(stop, moved);
      note.textContent = remark(controls, want, stop, moved);
      at = stop;
      return paint(stop.at(-1));
    };
  };
  return async (places, dragged = false) => {
    try {
      ready ??= open();
      const go = await ready, wished = new Map(places);
      await go(controls.map((_, i) => wished.get(i) ?? at[i]), [...wished.keys()], dragged);
    } catch (error) {
      stand(starts, []);
      note.textContent = error.message;
    }
  };
}

// Controls above what a lab shows. They, dragging in the pane and a first touch call move(places, dragged); reset() comes before its move.
function setUp(root, name, { controls, drag }, pane, note, move, reset) {
  const { form, made } = makeControls(controls, name, move, reset);
  if (drag) makeDraggable(pane, drag, controls, move);
  for (const touch of ["focusin", "pointerdown"]) root.addEventListener(touch, () => move([]), { once: true });
  root.prepend(form, note);
  return made;
}

const describedIn = (root) => JSON.parse(root.querySelector("script").textContent);

function beginRecorded(root, n) {
  const lab = describedIn(root), note = element("p", { role: "status" });
  const made = setUp(root, `lab-${n}`, lab, root.querySelector(".wide"), note, (...asked) => move(...asked));
  const move = mover(root, lab, made, note);
}

// A lab that this page computes; sets: by a control's name, another one and the value that it gets with each move of the first. Moves made
// while the file is on its way are drawn in their order.
function beginComputed(root, n) {
  const { lab, file, controls, data } = describedIn(root), note = element("p", { role: "status" });
  const box = element("div", { role: "img" }), { pane, drag, draw, reset, sets = {} } = computedLabs[lab](box, data);
  const valueOf = ({ kind, values }, i) => (kind === "slider" ? Number(values[i]) : values[i]);
  const show = async (at, from) => {
    const said = await draw(Object.fromEntries(controls.map((control, i) => [control.name, valueOf(control, at[i])])), from);
    if (said) box.setAttribute("aria-label", said);
  };
  const numberOf = (name) => controls.findIndex((control) => control.name === name);
  const axes = drag.map((name, axis) => [numberOf(name), ...pane.ends[axis]]);
  const set = ([i, value]) => {
    made[i].set(value);
    const [name, entry] = sets[controls[i].name] ?? [];
    if (name) set([numberOf(name), controls[numberOf(name)].values.indexOf(entry)]);
  };
  let rest;
  root.append(box);
  const made = setUp(root, `computed-${n}`, { controls, drag: axes.length ? { area: pane.area, axes } : null }, pane.stage, note, async (places) => {
    places.forEach(set);
    const at = made.map((one) => one.read());
    try {
      rest ??= load(file);
      await show(at, { ...data, ...(await rest) });
    } catch (error) {
      note.textContent = error.message;
    }
  }, reset);
  show(made.map((one) => one.read()), data);
}

document.querySelectorAll(".recorded").forEach(beginRecorded);
document.querySelectorAll(".computed").forEach(beginComputed);
