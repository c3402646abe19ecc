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
from tools.handout import link
from tools.site import labs, models, search, teaching
from tools.site.prose import Prose
from tools.site.running import EXPLORERS, VIEW, run

PAGES = pathlib.Path(__file__).parent / "pages"
MOST, PAGE = 40, 1                                                     # megabytes of the whole site, and of a page
FILES = dict(zip(EXPLORERS, ("attention_explorer", "model_explorer")))
TEMPLATES = jinja2.Environment(loader=jinja2.FileSystemLoader(PAGES), autoescape=True, trim_blocks=True, lstrip_blocks=True,
                               undefined=jinja2.StrictUndefined)


def build(folder, live=NAMES):
    """Write the site; the explorers and labs of the lessons named in `live` answer, the others are pictures.

    Where the recordings would make it too large, the largest of them keep fewer positions.
    Raises ValueError for a name that is no lesson's, RuntimeError for a lesson that cannot be run, and for what is too large.
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
    ran = {}                                                             # of each lesson (explorers, labs)
    for path in PATHS:
        began = time.monotonic()
        if path.stem in live:
            print("running", path.stem, end=" ... ", flush=True)
        ran[path] = run(path) if path.stem in live else ({}, {})
        write_lesson(folder, shared, path, *ran[path])
        print("wrote", path.stem + told(*ran[path], time.monotonic() - began), flush=True)
    for_teachers(folder, shared)
    index = search.script([folder / f"{name}.html" for name in (*(path.stem for path in PATHS), "glossary")])
    (folder / "search_index.js").write_text(index, encoding="utf-8")
    for name in ("search.js", "shell.js", "labs.js"):
        shutil.copy(PAGES / name, folder)
    (folder / "explorers.js").write_text(scripts(), encoding="utf-8")
    (folder / "computed.js").write_text("".join(map(text_of, (PAGES / "drawing.js", *sorted((PAGES / "computed").glob("*.js"))))),
                                        encoding="utf-8")
    make_room(folder, shared, ran)
    link(folder.resolve().parent / "student", folder.resolve())
    megabytes = size_of(folder) / 1e6
    print(f"wrote {folder}, {megabytes:.1f} MB")
    if megabytes > MOST:
        raise RuntimeError(f"the site has {megabytes:.1f} MB, and {MOST} are enough")


def size_of(folder):
    """The bytes of all files."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def write_lesson(folder, shared, path, explorers, made):
    """The page of a lesson, and what its labs load at the first touch."""
    states, prose = dict(explorers), Prose(path.parent)
    shutil.rmtree(folder / f"{path.stem}.labs", ignore_errors=True)     # what was written before
    for i, lab in made.items():
        states[i] = lab["page"] | {"file": f"{path.stem}.labs/{i}.js", "positions": len(lab["data"].get("stops", []))}
        (folder / f"{path.stem}.labs").mkdir(exist_ok=True)
        text = json.dumps(lab["data"], separators=(",", ":"))
        (folder / states[i]["file"]).write_text(f"loaded({json.dumps(states[i]['file'])}, {text});\n", encoding="utf-8")
    write(folder / f"{path.stem}.html", "lesson.html", **shared, number=PATHS.index(path), headings=prose.headings,
          cells=[shown(cell, prose, states.get(i)) for i, cell in enumerate(read(path).cells) if not has_tag(cell, "install")],
          explorers=bool(explorers), labs=bool(made), computed=any("lab" in lab["page"] for lab in made.values()),
          live=models.LIVE.get(path.stem))


def make_room(folder, shared, ran):
    """Thin the largest recordings until the site has at most MOST megabytes; what is too large without them stays so."""
    sizes = [labs.bytes_of(lab["data"]) for _, made in ran.values() for lab in made.values() if "stops" in lab["data"]]
    room = int(MOST * 1e6) - size_of(folder) + sum(sizes)
    if sum(sizes) <= room:
        return
    most = largest(sizes, room)
    for path, (explorers, made) in ran.items():
        for i, lab in made.items():
            if "stops" in lab["data"] and labs.bytes_of(lab["data"]) > most:
                made[i] = labs.lighter(**lab, most=most)
                print(f"thinned to stay below {MOST} MB: {path.stem}, {told_of(made[i])}", flush=True)
        write_lesson(folder, shared, path, explorers, made)


def largest(sizes, room):
    """What no size may exceed so that all together fit into the room, where they do not."""
    left = len(sizes)
    for size in sorted(sizes):
        if size * left > room:
            return room // left
        room, left = room - size, left - 1


def told(explorers, made, seconds):
    """What was made of a lesson that was run."""
    if not explorers and not made:
        return ""
    return "; ".join([f" in {seconds:.0f} s, explorers that answer: {len(explorers)}", *map(told_of, made.values())])


def told_of(lab):
    positions = len(lab["data"].get("stops", []))
    kind = f"at {positions} positions" if positions else "that is computed"
    return f"a lab {kind}, {labs.bytes_of(lab['data']) / 1e6:.2f} MB"


def for_teachers(folder, shared):
    """Write the page for teachers, and the answers to which it alone leads."""
    prose = Prose(ROOT)
    computed = {function.__name__: function for function in (teaching.plan, teaching.lesson_table, teaching.mistakes)}
    text = prose.render(jinja2.Template(text_of(PAGES / "teach.md")).render(computed, minutes=teaching.SESSION))
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
    """Write a page. Raises RuntimeError for one that is too large to open at once."""
    path.write_text(TEMPLATES.get_template(template).render(values), encoding="utf-8")
    if path.stat().st_size > PAGE * 1e6:
        raise RuntimeError(f"{path.name} has {path.stat().st_size / 1e6:.2f} MB, and {PAGE} is enough")


def lessons(readme):
    """Of each lesson what the README's table says: title, name, minutes, and what you can do after it."""
    rows = re.findall(r"^\| \[(.*?)\]\(notebooks/(\w+)\.ipynb\) \| (\d+) \| (.*?) \|$", readme, flags=re.M)
    return [dict(zip(("title", "name", "minutes", "ability"), row)) for row in rows]


def shown(cell, prose, state):
    """What a template needs of a cell; state: of its explorer, if that is to answer."""
    if cell.cell_type == "markdown":
        return {"prose": prose.render(cell.source), "id": cell.id, "opens": cell.metadata.get(COLLAPSED, False)}
    folded = next((tag for tag in ("solution", "claims", "predict") if has_tag(cell, tag)), None)
    aside = has_tag(cell, "drawing") or has_tag(cell, "aside")
    return {"code": highlight(cell.source, PythonLexer(), HtmlFormatter(nowrap=True)), "folded": folded,
            "says": aside and re.sub("^# |`", "", cell.source.partition("\n")[0]),
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
