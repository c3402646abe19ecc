// Labs that were recorded when the site was made. A page holds a lab's first picture and its controls; what differs at other positions
// is in a file beside the page, a script because a page from the disk may read nothing else. It is loaded at the first touch.
const arrived = {};
window.recorded = (file, frames) => arrived[file](frames);

function load(file) {
  return new Promise((resolve, reject) => {
    arrived[file] = resolve;
    const script = document.createElement("script");
    script.addEventListener("error", () => reject(new Error(`The recording could not be loaded: the file ${file} belongs beside this page.`)));
    script.src = file;
    document.head.append(script);
  });
}

// How far a stop is from where the controls stand. Names differ or not; sliders differ more or less; what was moved last counts double.
function distance(controls, at, stop, last) {
  const differ = ({ kind, values }, i) => (kind === "slider" ? Math.abs(at[i] - stop[i]) / (values.length - 1) : Number(at[i] !== stop[i]));
  return controls.reduce((sum, control, i) => sum + differ(control, i) * (i === last ? 2 : 1), 0);
}

function nearest(controls, stops, at, last) {
  const far = stops.map((stop) => distance(controls, at, stop, last));
  return stops[far.indexOf(Math.min(...far))];
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

function makeControls(controls, name, moved) {
  const form = element("div", { class: "controls", role: "group", "aria-label": "controls of the lab" });
  const made = controls.map((control, i) => {
    const id = `${name}-${i}`, one = KINDS[control.kind](control, id);
    form.append(element("div", { class: control.kind }, element("label", { for: id }, control.label), ...one.nodes));
    one.nodes[0].addEventListener("input", () => { one.set(one.read()); moved(i); });
    one.set(control.start);
    return one;
  });
  const reset = element("button", { type: "button" }, "reset");
  reset.addEventListener("click", () => { controls.forEach(({ start }, i) => made[i].set(start)); moved(-1); });
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

// What is shown where the controls stand at a place that was not recorded.
function remark(controls, at, stop) {
  const differ = [...controls.keys()].filter((i) => at[i] !== stop[i]);
  const places = (here) => differ.map((i) => `${controls[i].label} ${controls[i].values[here[i]]}`).join(", ");
  return differ.length ? `Not recorded: ${places(at)}. The nearest recorded picture is shown: ${places(stop)}.` : "";
}

// Dragging in the picture sets controls; a finger scrolls.
function makeDraggable(box, { area: [left, top, right, bottom], axes }, controls, move) {
  let dragging = false;
  const place = (event) => {
    const { x, y, width, height } = box.firstElementChild.getBoundingClientRect();
    return [((event.clientX - x) / width - left) / (right - left), ((event.clientY - y) / height - top) / (bottom - top)];
  };
  const inside = (event) => event.pointerType !== "touch" && place(event).every((part) => 0 <= part && part <= 1);
  const send = (event) => move(axes.map(([i, from, to], k) => {
    const value = from + place(event)[k] * (to - from), far = controls[i].values.map((text) => Math.abs(Number(text) - value));
    return [i, far.indexOf(Math.min(...far))];
  }));
  box.addEventListener("pointerdown", (event) => {
    if (!inside(event)) return;
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
}

// Shows the picture for where the controls stand; the recording is loaded when this is first asked.
function shower(image, file, controls, note) {
  let ready;
  const open = async () => {
    const [recording] = await Promise.all([load(file), image.decode()]), paint = painter(image, toCanvas(image), recording);
    return (at, last) => {
      const stop = nearest(controls, recording.stops, at, last);
      note.textContent = remark(controls, at, stop);
      return paint(stop.at(-1));
    };
  };
  return async (at, last) => {
    try {
      ready ??= open();
      await (await ready)(at, last);
    } catch (error) {
      note.textContent = error.message;
    }
  };
}

function begin(root, n) {
  const { file, controls, drag } = JSON.parse(root.querySelector("script").textContent);
  const note = element("p", { role: "status" }), box = root.querySelector(".wide");
  const show = shower(root.querySelector("img"), file, controls, note), at = () => made.map((one) => one.read());
  const { form, made } = makeControls(controls, `lab-${n}`, (last) => show(at(), last));
  if (drag) {
    makeDraggable(box, drag, controls, (places) => {
      places.forEach(([i, value]) => made[i].set(value));
      show(at(), places[0][0]);
    });
  }
  for (const touch of ["focusin", "pointerdown"]) root.addEventListener(touch, () => show(at(), -1), { once: true });
  root.prepend(form, note);
}

document.querySelectorAll(".recorded").forEach(begin);
