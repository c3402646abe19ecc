// Saves what an explorer shows: as PNG at twice its size, or as SVG.
import { INK, TEXT, element } from "./drawing.js";

const SCALE = 2, MARGIN = 8;
const escaped = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

// Takes the drawing commands that the panels give to a canvas, and writes them down as SVG.
class SvgPaper {
  constructor(g) {
    this.g = g;                                       // a canvas's context, which can measure text
    this.parts = [];
    this.transform = "";
    this.saved = [];                                  // transforms
    this.globalAlpha = 1;
  }

  measureText(text) { this.g.font = this.font; return this.g.measureText(text); }

  save() { this.saved.push(this.transform); }

  restore() { this.transform = this.saved.pop(); }

  translate(x, y) { this.transform += `translate(${x} ${y})`; }

  rotate(angle) { this.transform += `rotate(${(angle * 180) / Math.PI})`; }

  add(tag, attributes, content = "") {
    const written = Object.entries(attributes).map(([name, value]) => `${name}="${escaped(String(value))}"`).join(" ");
    const group = `<g transform="${this.transform}" opacity="${this.globalAlpha}">`;
    this.parts.push(`${group}<${tag} ${written}>${content}</${tag}></g>`);
  }

  fillRect(x, y, width, height) { this.add("rect", { x, y, width: Math.max(0, width), height, fill: this.fillStyle }); }

  strokeRect(x, y, width, height) { this.add("rect", { x, y, width, height, fill: "none", ...this.stroked }); }

  get stroked() { return { stroke: this.strokeStyle, "stroke-width": this.lineWidth, "stroke-linecap": this.lineCap || "butt" }; }

  beginPath() { this.path = ""; }

  moveTo(x, y) { this.path += `M${x} ${y}`; }

  lineTo(x, y) { this.path += `L${x} ${y}`; }

  stroke() { if (this.path) this.add("path", { d: this.path, fill: "none", ...this.stroked }); }

  fillText(text, x, y, most = Infinity) {
    const anchor = { left: "start", center: "middle", right: "end" }[this.textAlign];
    const baseline = this.textBaseline === "middle" ? "central" : "text-after-edge";
    const squeezed = this.measureText(text).width > most ? { textLength: most, lengthAdjust: "spacingAndGlyphs" } : {};
    this.add("text", { x, y, fill: this.fillStyle, style: `font: ${this.font}`, "text-anchor": anchor,
      "dominant-baseline": baseline, ...squeezed }, escaped(text));
  }

  // A part of a picture, as in a canvas: an inner <svg> cuts it out.
  drawImage(picture, fromX, fromY, fromWidth, fromHeight, x, y, width, height) {
    const image = `<image href="${picture.toDataURL()}" width="${picture.width}" height="${picture.height}" `
      + `style="image-rendering: ${this.imageSmoothingEnabled ? "auto" : "pixelated"}"/>`;
    this.add("svg", { x, y, width, height, viewBox: `${fromX} ${fromY} ${fromWidth} ${fromHeight}`,
      preserveAspectRatio: "none" }, image);
  }
}

// Paints the panels side by side, and beneath them what the readout says.
function paintAll(g, panels, text, width, height) {
  Object.assign(g, { fillStyle: "#ffffff" });
  g.fillRect(0, 0, width, height);
  let x = MARGIN;
  for (const panel of panels) {
    g.save();
    g.translate(x, MARGIN);
    if (panel.paintWhole) panel.paintWhole(g); else panel.paint(g);
    g.restore();
    x += panel.width + 2 * MARGIN;
  }
  Object.assign(g, { fillStyle: INK, font: TEXT, textAlign: "left", textBaseline: "middle" });
  g.fillText(text, MARGIN, height - 2 * MARGIN);
}

function download(blob, name) {
  const url = URL.createObjectURL(blob), link = element("a", { href: url, download: name });
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(url), 1000);
}

// A button for each format; panels(): those on show; text(): what they show, in words.
export function makeSaving(panels, text) {
  const area = () => [panels().reduce((sum, { width }) => sum + width + 2 * MARGIN, 0),
    Math.max(...panels().map(({ height }) => height)) + 5 * MARGIN];
  const savePng = () => {
    const [width, height] = area(), canvas = document.createElement("canvas");
    Object.assign(canvas, { width: SCALE * width, height: SCALE * height });
    const g = canvas.getContext("2d");
    g.scale(SCALE, SCALE);
    paintAll(g, panels(), text(), width, height);
    canvas.toBlob((blob) => download(blob, "attention.png"));
  };
  const saveSvg = () => {
    const [width, height] = area(), g = new SvgPaper(document.createElement("canvas").getContext("2d"));
    paintAll(g, panels(), text(), width, height);
    const whole = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${g.parts.join("\n")}</svg>`;
    download(new Blob([whole], { type: "image/svg+xml" }), "attention.svg");
  };
  return [["PNG", savePng], ["SVG", saveSvg]].map(([format, save]) => {
    const button = element("button", { type: "button", "aria-label": `save picture as ${format}` }, format);
    button.addEventListener("click", save);
    return button;
  });
}
