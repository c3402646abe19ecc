"""Writes the course as web pages that need neither a network nor a server.

Every page shows what is committed. A lesson with an explorer is run up to its last explorer, for the weights in it.
"""
import argparse
import functools
import operator
import pathlib
import re

import jinja2
from nbclient import NotebookClient
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from helpers.widgets.bundle import bundle
from tests.notebooks import NAMES, PATHS, ROOT, has_tag, read
from tools.glossary import GLOSSARY
from tools.site import models
from tools.site.prose import Prose

PAGES = pathlib.Path(__file__).parent / "pages"
WIDGETS = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"
EXPLORERS = {"AttentionExplorer": "attention_explorer", "ModelExplorer": "model_explorer"}          # and the names of their files
TEMPLATES = jinja2.Environment(loader=jinja2.FileSystemLoader(PAGES), autoescape=True, trim_blocks=True, lstrip_blocks=True,
                               undefined=jinja2.StrictUndefined)


def build(folder, live=NAMES):
    """Write the site; the explorers of the lessons named in `live` answer, the others are pictures.

    Raises ValueError for a name that is no lesson's.
    """
    if unknown := set(live) - set(NAMES):
        raise ValueError(f"no lesson is named {', '.join(sorted(unknown))}: there are {', '.join(NAMES)}")
    folder.mkdir(parents=True, exist_ok=True)
    readme = text_of(ROOT / "README.md")
    intro, start = re.match(r"(.*?)(^## Start.*?)^## ", readme, flags=re.M | re.S).groups()
    shared = {"course": re.match(r"# (.*)", readme)[1], "lessons": lessons(readme), "script": text_of(PAGES / "page.js")}
    prose = Prose(ROOT)
    intro = re.sub(r"^!\[.*\.gif\)\n", "", intro, flags=re.M)              # here the model itself moves
    write(folder / "index.html", "index.html", **shared, intro=prose.render(intro), start=prose.render(start),
          **models.write(folder))
    sheets = [PAGES / "style.css", PAGES / "live.css", *sorted((ROOT / "helpers" / "widgets").glob("*.css"))]
    styles = "".join(map(text_of, sheets))
    (folder / "style.css").write_text(styles, encoding="utf-8")
    prose = Prose(GLOSSARY.parent)
    letters = [prose.render(cell.source) for cell in read(GLOSSARY).cells]
    write(folder / "glossary.html", "glossary.html", **shared, letters=letters, headings=prose.headings)
    for number, path in enumerate(PATHS):
        states = explorers_of(path) if path.stem in live else {}
        prose = Prose(path.parent)
        write(folder / f"{path.stem}.html", "lesson.html", **shared, number=number, headings=prose.headings,
              cells=[shown(cell, prose, states.get(i)) for i, cell in enumerate(read(path).cells)],
              explorers=scripts() if states else "")
        print("wrote", path.stem + (f", explorers that answer: {len(states)}" if states else ""), flush=True)


def scripts():
    """The JavaScript of the explorers, each in a scope of its own: they share names."""
    def scope(kind, file):
        return "{" + bundle(f"{file}.js").replace("export default { render };", f"explorers.{kind} = render;") + "}"
    return "\n".join(["const explorers = {};", *(scope(*names) for names in EXPLORERS.items())])


def text_of(path):
    return path.read_text(encoding="utf-8")


def write(path, template, **values):
    path.write_text(TEMPLATES.get_template(template).render(values), encoding="utf-8")


def lessons(readme):
    """Of each lesson what the README's table says: title, name, minutes, and what you can do after it."""
    rows = re.findall(r"^\| \[(.*?)\]\(notebooks/(\w+)\.ipynb\) \| (\d+) \| (.*?) \|$", readme, flags=re.M)
    return [dict(zip(("title", "name", "minutes", "ability"), row)) for row in rows]


def shown(cell, prose, state):
    """What a template needs of a cell; state: of its explorer, if that is to answer."""
    if cell.cell_type == "markdown":
        return {"prose": prose.render(cell.source), "id": cell.id}
    code = highlight(cell.source, PythonLexer(), HtmlFormatter(nowrap=True))
    folded = next((tag for tag in ("solution", "claims", "predict") if has_tag(cell, tag)), None)
    return {"code": code, "folded": folded, "outputs": [output_of(output, state) for output in cell.outputs]}


def output_of(output, state):
    """A text, printed or written by a model, a table, or a picture with what it says aloud: alone, of a lab or of an explorer."""
    if output.output_type == "stream":
        return {"text": output.text}
    if "text/html" in output.data:
        table = output.data["text/html"].startswith("<table>")
        return {"html": output.data["text/html"], "kind": "wide" if table else "written"}
    picture = output.metadata["image/png"]
    part = re.match(rf"Lab|{'|'.join(EXPLORERS)}", output.data["text/plain"]) if VIEW in output.data else None
    return {"png": output.data["image/png"].replace("\n", ""), "alt": picture["alt"], "width": picture["width"],
            "part": part and part[0], "state": state}


def explorers_of(path):
    """The states of a lesson's explorers, by the number of their cells, from a run up to the last of them."""
    notebook = read(path)
    numbers = [i for i, cell in enumerate(notebook.cells) for output in cell.get("outputs", [])
               if output.get("data", {}).get("text/plain", "").startswith(tuple(f"{kind}(" for kind in EXPLORERS))]
    if not numbers:
        return {}
    notebook.cells = notebook.cells[:numbers[-1] + 1]
    NotebookClient(notebook, timeout=600, store_widget_state=True, resources={"metadata": {"path": str(path.parent)}}).execute()
    states = notebook.metadata.widgets[WIDGETS]["state"]
    return {i: state_of(states[output.data[VIEW]["model_id"]]) for i in numbers
            for output in notebook.cells[i].outputs if VIEW in output.get("data", {})}


def state_of(widget):
    """What the JavaScript reads of an explorer; in place of bytes {"base64": text}."""
    values = {name: value for name, value in widget["state"].items() if not name.startswith("_")}
    for buffer in widget["buffers"]:
        *path, last = buffer["path"]
        functools.reduce(operator.getitem, path, values)[last] = {"base64": buffer["data"]}
    return values


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.site", description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--live", nargs="*", metavar="NAME", default=NAMES,
                        help="the lessons to run, such as 03_masked_softmax; in the others explorers are pictures (default: all)")
    given = parser.parse_args()
    build(given.folder, given.live)
