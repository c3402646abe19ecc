// The rules for the widgets' and the site's JavaScript, run by `make lint`.
const rules = {
  "eqeqeq": "error",
  "max-lines-per-function": ["error", { max: 60, skipBlankLines: true, skipComments: true }],
  "no-shadow": "error",
  "no-undef": "error",
  "no-unused-vars": "error",
  "no-var": "error",
  "prefer-const": "error",
};
const browser = ["Blob", "DecompressionStream", "Event", "Image", "ImageData", "ResizeObserver", "Response", "TextDecoder", "URL", "URLSearchParams", "atob", "document", "queueMicrotask", "window"];
const computing = ["DIGITS", "PLACES", "add", "colourScale", "element", "floatsOf", "mapIn", "panel", "panelRow", "pathOf", "svg", "trainReader"];
const globals = Object.fromEntries(browser.map((name) => [name, "readonly"]));

export default [
  { files: ["**/*.js"], languageOptions: { globals }, rules },
  // The site writes the modules of the explorers above page.js, into one file.
  { files: ["**/site/pages/page.js"], languageOptions: { globals: { explorers: "readonly" } } },
  // Every page has both of these scripts.
  { files: ["**/site/pages/shell.js"], languageOptions: { globals: { loadIndex: "readonly" } } },
  // Scripts that lie beside a page; from the disk it could load no module.
  { files: ["**/site/pages/{model,reading,live,labs,shell,drawing,computed/*}.js"], languageOptions: { sourceType: "script" } },
  { files: ["**/site/pages/{live,labs,search,drawing}.js"], languageOptions: { globals: { element: "readonly" } } },
  // The scripts of the labs that a page computes are one file.
  { files: ["**/site/pages/{labs,computed/*}.js"], languageOptions: { globals: { computedLabs: "readonly" } } },
  { files: ["**/site/pages/computed/*.js"], languageOptions: { globals: Object.fromEntries(computing.map((name) => [name, "readonly"])) } },
];
