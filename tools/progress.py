"""Counts the exercises that are solved, tried and not attempted in notebooks that students have returned, by what `check` printed.

It runs nothing. A lesson's file keeps its name. It lies in its student's folder, or that name stands before or after the lesson's:
anna/03_masked_softmax.ipynb, anna_03_masked_softmax.ipynb.
"""
import argparse
import pathlib
import re
import sys

import nbformat

from helpers.exercises import LESSONS
from tests.notebooks import NAMES, printed

ASKED = {name: LESSONS[number].EXERCISES for number, name in enumerate(NAMES)}


def progress(folder):
    """[(student, lesson, solved, tried, not attempted)] of all lessons under the folder, in the order of their names.

    A copy counts with its original: of each exercise the best.
    """
    best = {}
    for path in sorted(folder.rglob("*.ipynb")):
        where, lesson = path.relative_to(folder).parts, next((name for name in NAMES if name in path.stem), None)
        if lesson is None or ".ipynb_checkpoints" in where:
            continue
        student = where[0] if len(where) > 1 else path.stem.replace(lesson, "").strip(" _-.")
        try:
            found = states(nbformat.read(path, as_version=4), ASKED[lesson])
        except Exception as error:                                      # a file from outside: whatever is wrong with it
            print(f"{path} was left out: {error!r:.200}", file=sys.stderr)
            continue
        known = best.setdefault((student, lesson), dict.fromkeys(ASKED[lesson], 0))
        best[student, lesson] = {name: max(known[name], found[name]) for name in known}
    return [(*key, *(list(found.values()).count(state) for state in (2, 1, 0))) for key, found in sorted(best.items())]


def states(notebook, names):
    """Of each exercise 2 if it is solved, 1 if it was tried, 0 if not."""
    found = dict.fromkeys(names, 0)
    for cell in notebook.cells:
        if cell.cell_type == "code" and "check(" in cell.source:
            said = re.findall(r"^(\w+): (.*)", printed(cell), flags=re.M)
            if any(output.output_type == "error" for output in cell.outputs):
                said += [(name, "") for name in re.findall(r"^check\((\w+)\)", cell.source, flags=re.M)]
            for name, verdict in said:
                if name in found and not verdict.startswith("not attempted yet"):
                    found[name] = max(found[name], 2 if verdict.startswith("correct") else 1)
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.progress", description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    rows = progress(parser.parse_args().folder)
    width = max([7, *(len(student) for student, *_ in rows)])
    for row in [("student", "lesson", "solved", "tried", "not attempted"), *rows]:
        print("{:{}}  {:24} {:>6} {:>6} {:>14}".format(row[0], width, *row[1:]))
