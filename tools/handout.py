"""Writes the course without its solutions to a new folder, to hand out to a class.

The folder holds all that `make lab` needs there: the notebooks, the helpers, and the files that say what to install.
"""
import argparse
import pathlib
import re
import shutil
import sys

import nbformat

from tests.notebooks import PATHS, ROOT, has_tag, is_solution, read

README = pathlib.Path(__file__).parent / "handout.md"
COPIED = ("helpers", "notebooks/images", "notebooks/glossary.ipynb", "environment.yml", "pyproject.toml", "requirements.lock",
          "LICENSE", "tools/make_weights/depth.py")             # which lesson 7 shows
SITE = """The lessons are also pages to read in a browser, with nothing to install: [open them](../{}/index.html).
Their solutions are folded.

"""
RULES = ("help", "lab", "clean", "$(VENV)/ready", ".PHONY")             # of the Makefile; the others need the tests


def hand_out(folder):
    """Write the whole course without its solutions. If the site lies beside the folder, each links to the other.

    Raises FileExistsError if the folder exists, so that no work in it is lost.
    """
    if folder.exists():
        raise FileExistsError(f"{folder} exists, and may hold work: move it away or delete it first")
    for name in COPIED:
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        else:
            shutil.copy(source, target)
    for path in PATHS:
        nbformat.write(without_solutions(read(path)), folder / "notebooks" / path.name)
    (folder / "Makefile").write_text(without_tests((ROOT / "Makefile").read_text(encoding="utf-8")), encoding="utf-8")
    lessons = re.search(r"^\| lesson .*?\n\n", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.M | re.S)[0]
    readme = f"{README.read_text(encoding='utf-8')}\n{lessons.rstrip()}\n"
    (folder / "README.md").write_text(readme, encoding="utf-8")
    link(folder.resolve(), folder.resolve().parent / "site")


def link(handout, site):
    """Let the README of the handout and the site's page for teachers lead to each other, if both are there."""
    readme, page = handout / "README.md", site / "teach.html"
    if not readme.exists() or not page.exists():
        return
    text, said = readme.read_text(encoding="utf-8"), SITE.format(site.name)
    readme.write_text(text if said in text else text.replace("| lesson |", f"{said}| lesson |", 1), encoding="utf-8")
    leads = f'to the folder <a href="../{handout.name}/README.md">{handout.name}</a>'
    page.write_text(page.read_text(encoding="utf-8").replace("to the folder <code>student</code>", leads), encoding="utf-8")


def without_solutions(notebook):
    """The notebook as its student finds it: an exercise that has no cell to work in gets one in the solution's place.

    Nor does it say what a Predict asks for: the cells that answer one come without output.
    """
    cells = []
    for cell in notebook.cells:
        if not is_solution(cell):
            cells.append(cell)
        elif cells[-1].cell_type == "markdown":
            cells.append(nbformat.v4.new_code_cell("# Your answer.", id=cell.id))
    counts = iter(range(1, len(cells) + 1))
    for cell in cells:
        cell.source = re.sub(r" The solution is in a collapsed cell[^.]*\.", "", cell.source)
        if has_tag(cell, "predict"):
            cell.outputs = []
            del cell.metadata["jupyter"]["outputs_hidden"]
        if cell.cell_type == "code" and cell.execution_count:
            cell.execution_count = next(counts)
            for output in cell.outputs:
                if output.output_type == "execute_result":
                    output.execution_count = cell.execution_count
    notebook.cells = cells
    return notebook


def without_tests(makefile):
    """The Makefile with the rules that work in a folder without tests, and their lines of help."""
    kept = [rule for rule in makefile.split("\n\n")
            if not (target := re.search(r"^([\w.$()/-]+):(?!=)", rule, flags=re.M)) or target[1] in RULES]
    text = re.sub(r'^\t@echo "make (?!lab|clean).*\n', "", "\n\n".join(kept), flags=re.M)
    text = re.sub(r"^\.PHONY: .*", ".PHONY: help lab clean", text, flags=re.M)
    return re.sub(r"^# make lab and make test do", "# make lab does", text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.handout", description=__doc__)
    parser.add_argument("folder", type=pathlib.Path, nargs="?", default=ROOT / "student", help="a new one; default: student")
    target = parser.parse_args().folder
    try:
        hand_out(target)
    except FileExistsError as error:
        sys.exit(str(error))
    print(f"wrote {len(PATHS)} lessons without solutions to {target}")
