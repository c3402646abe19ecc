"""Writes the course as web pages that need neither a network nor a server.

Every page shows what is committed. A lesson is run up to its last explorer or lab, for the weights and pictures in them.
"""
import argparse
import json
import pathlib
import re
import shutil
import time

import jinja2
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from helpers.widgets.bundle import bundle
from tests.notebooks import NAMES, PATHS, ROOT, has_tag, read
from tools.execute import COLLAPSED
from tools.glossary import GLOSSARY
from tools.site import models, search, teaching
from tools.site.prose import Prose
from tools.site.running import EXPLORERS, VIEW, run

PAGES = pathlib.Path(__file__).parent / "pages"
MOST = 40                                                              # megabytes of the whole site
FILES = dict(zip(EXPLORERS, ("attention_explorer", "model_explorer")))
TEMPLATES = jinja2.Environment(loader=jinja2.FileSystemLoader(PAGES), autoescape=True, trim_blocks=True, lstrip_blocks=True,
                               undefined=jinja2.StrictUndefined)


def build(folder, live=NAMES):
    """Write the site; the explorers and labs of the lessons named in `live` answer, the others are pictures.

    Raises ValueError for a name that is no lesson's, RuntimeError for a lesson that cannot be run.
    """
    if unknown := set(live) - set(NAMES):
        raise ValueError(f"no lesson is named {', '.join(sorted(unknown))}: there are {', '.join(NAMES)}")
    folder.mkdir(parents=True, exist_ok=True)
    readme = text_of(ROOT / "README.md")
    intro, start = re.match(r"(.*?)(^## Start.*?)^## ", readme, flags=re.M | re.S).groups()
    shared = {"course": re.match(r"# (.*)", readme)[1], "lessons": lessons(readme)}
    prose = Prose(ROOT)
    intro = re.sub(r"^!\[.*\.gif\)\n\n.*\n", "", intro, flags=re.M)      # here the model itself moves: no picture, no caption
    write(folder / "index.html", "index.html", **shared, intro=prose.render(intro), start=prose.render(start),
          **models.write(folder))
    sheets = [PAGES / "style.css", PAGES / "live.css", PAGES / "labs.css", *sorted((ROOT / "helpers" / "widgets").glob("*.css"))]
    styles = "".join(map(text_of, sheets))
    (folder / "style.css").write_text(styles, encoding="utf-8")
    prose = Prose(GLOSSARY.parent)
    letters = [prose.render(cell.source) for cell in read(GLOSSARY).cells]
    write(folder / "glossary.html", "glossary.html", **shared, letters=letters, headings=prose.headings)
    for number, path in enumerate(PATHS):
        began = time.monotonic()
        if path.stem in live:
            print("running", path.stem, end=" ... ", flush=True)
        states, made = run(path) if path.stem in live else ({}, {})
        labs = {i: lab["page"] | write_data(folder, f"{path.stem}.labs/{i}.js", lab["data"]) for i, lab in made.items()}
        states |= labs
        prose = Prose(path.parent)
        write(folder / f"{path.stem}.html", "lesson.html", **shared, number=number, headings=prose.headings,
              cells=[shown(cell, prose, states.get(i)) for i, cell in enumerate(read(path).cells) if not has_tag(cell, "install")],
              explorers=len(states) > len(labs), labs=bool(labs), computed=any("lab" in lab for lab in labs.values()))
        print("wrote", path.stem + told(states, labs, time.monotonic() - began), flush=True)
    for_teachers(folder, shared)
    index = search.script([folder / f"{name}.html" for name in (*(path.stem for path in PATHS), "glossary")])
    (folder / "search_index.js").write_text(index, encoding="utf-8")
    for name in ("search.js", "shell.js", "labs.js"):
        shutil.copy(PAGES / name, folder)
    (folder / "explorers.js").write_text(scripts(), encoding="utf-8")
    (folder / "computed.js").write_text("".join(map(text_of, (PAGES / "drawing.js", *sorted((PAGES / "computed").glob("*.js"))))),
                                        encoding="utf-8")
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
    print(f"wrote {folder}, {size:.1f} MB")
    if size > MOST:
        raise RuntimeError(f"the site has {size:.1f} MB, and {MOST} are enough: lower BYTES in tools/site/labs.py")


def write_data(folder, file, data):
    """Write what a lab's page loads at the first touch; returns what the page must know of it."""
    text = f"loaded({json.dumps(file)}, {json.dumps(data, separators=(',', ':'))});\n"
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_text(text, encoding="utf-8")
    return {"file": file, "positions": len(data.get("stops", [])), "bytes": len(text)}


def told(states, labs, seconds):
    """What was made of a lesson that was run."""
    if not states:
        return ""
    parts = [f" in {seconds:.0f} s, explorers that answer: {len(states) - len(labs)}"]
    for lab in labs.values():
        kind = f"at {lab['positions']} positions" if lab["positions"] else "that is computed"
        parts.append(f"a lab {kind}, {lab['bytes'] / 1e6:.2f} MB")
    return "; ".join(parts)


def for_teachers(folder, shared):
    """Write the page for teachers, and the answers to which it alone leads."""
    prose = Prose(ROOT)
    handout = (folder.resolve().parent / "student" / "README.md").exists()
    computed = {function.__name__: function for function in (teaching.plan, teaching.lesson_table, teaching.mistakes)}
    text = prose.render(jinja2.Template(text_of(PAGES / "teach.md")).render(computed, handout=handout, minutes=teaching.SESSION))
    write(folder / "teach.html", "teach.html", **shared, text=text, headings=prose.headings)
    prose = Prose(ROOT / "notebooks")
    answers = [(lesson, [shown(cell, prose, None) for cell in cells]) for lesson, cells in teaching.answers()]
    write(folder / "answers.html", "answers.html", **shared, answers=answers,
          headings=[(2, lesson.name, lesson.title) for lesson, _ in answers])


def scripts():
    """The JavaScript of the explorers, each in a scope of its own: they share names. A page from the disk may load no module."""
    def scope(kind, file):
        return "{" + bundle(f"{file}.js").replace("export default { render };", f"explorers.{kind} = render;") + "}"
    parts = ["{", "const explorers = {};", *(scope(*names) for names in FILES.items()), text_of(PAGES / "page.js"), "}"]
    return "\n".join(["\"use strict\";", *parts])


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
        return {"prose": prose.render(cell.source), "id": cell.id, "opens": cell.metadata.get(COLLAPSED, False)}
    folded = next((tag for tag in ("solution", "claims", "predict", "drawing") if has_tag(cell, tag)), None)
    return {"code": highlight(cell.source, PythonLexer(), HtmlFormatter(nowrap=True)), "folded": folded,
            "opens": False, "outputs": [output_of(output, state) for output in cell.outputs]}


def output_of(output, state):
    """A text, printed or written by a model, a table, or a picture with what it says aloud: alone, of a lab or of an explorer."""
    if output.output_type == "stream":
        return {"text": output.text}
    if "text/html" in output.data:
        table = output.data["text/html"].startswith("<table>")
        return {"html": output.data["text/html"], "kind": "wide" if table else "written"}
    picture = output.metadata["image/png"]
    part = re.match(rf"Lab|{'|'.join(EXPLORERS)}", output.data["text/plain"]) if VIEW in output.data else None
    return {"png": output.data["image/png"].replace("\n", ""), "alt": picture["alt"],
            "width": picture["width"], "height": picture["height"], "part": part and part[0], "state": state}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.site", description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--live", nargs="*", metavar="NAME", default=NAMES,
                        help="the lessons to run, such as 03_masked_softmax; in the others nothing answers (default: all)")
    given = parser.parse_args()
    build(given.folder, given.live)
