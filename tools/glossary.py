"""Writes notebooks/glossary.ipynb, and links each lesson's new words to it where they are first used.

The words and their meanings are in tools/glossary.tsv: the lesson that teaches a word, the word, other names (parted by ;),
its meaning. Which lessons name a word, and under which headings, is read from the lessons' New words and bold words.
"""
import argparse
import csv
import itertools
import pathlib
import re
from typing import NamedTuple

import nbformat

from tests.notebooks import PATHS, ROOT, read, text_cells
from tools.execute import KERNEL
from tools.site.prose import anchor

WORDS = pathlib.Path(__file__).with_suffix(".tsv")
GLOSSARY = ROOT / "notebooks" / "glossary.ipynb"
TITLE = """# Glossary

The new words of all lessons, each with the lesson that explains it. In the lessons, the first use of a word leads here.
In JupyterLab the first click opens this page at its top; while it is open, each further click leads to its word."""
NEW = "**New words:**"
LINKED = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])+)\]\(glossary\.ipynb#[^)]*\)")      # its text may hold [CLS]


class Word(NamedTuple):
    """A line of glossary.tsv."""

    lesson: int
    term: str
    names: set[str]                                          # all of them, in lower case
    meaning: str

    @property
    def heading(self) -> str:
        return re.sub(r" \(.*?\)", "", self.term)

    @property
    def cell(self) -> str:
        """The id of its cell in the glossary, and of its heading on the site."""
        return anchor(self.heading)

    @property
    def link(self) -> str:
        """JupyterLab finds a cell by its id; a heading only where the notebook is open already."""
        return f"glossary.ipynb#cell-id={self.cell}"


def words():
    with WORDS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [Word(int(row["lesson"]), row["term"], name_set(row["term"], *row["also"].split(";")), row["meaning"])
            for row in rows]


def name_set(*names):
    """Each name as it stands, without what is in brackets, and the plural; all in lower case."""
    plain = {name.lower() for name in names if name} | {re.sub(r" \(.*?\)", "", name).lower() for name in names if name}
    return plain | {name + ending for name in plain for ending in ("s", "es")}


def new_words(notebook):
    """The texts between the commas under New words, links and code marks left out."""
    text = "\n".join(cell.source for cell in text_cells(notebook))
    line = re.search(rf"^{re.escape(NEW)}(.*)", text, flags=re.M)[1]
    parts = re.split(r"[,;] (?:in the [\w ]+, )?(?![^()]*\))", LINKED.sub(r"\1", line))
    return [part.strip(" .`*").replace("`", "") for part in joined(parts)]


def joined(parts):
    """The parts, those of "training, validation and test data" as one again."""
    text = "\n".join(parts).replace("training\nvalidation", "training, validation")
    return text.split("\n")


def taught(notebook, number, known):
    """(new word, its Word or None) of a lesson; where two Words have a name, the one of this lesson."""
    for new in new_words(notebook):
        plain = new.lower()
        fitting = [word for word in known if plain in word.names or re.sub(r" \(.*?\)", "", plain) in word.names]
        yield new, min(fitting, key=lambda word: (word.lesson != number, word.lesson), default=None)


def first_use(notebook, word):
    """(cell, match) of the first bold use, or None. Headings, and the New words themselves, are no use."""
    for cell in text_cells(notebook):
        source = re.sub(r"`[^`\n]+`", lambda code: code[0].replace("*", " "), cell.source)         # x ** 2 is not bold
        for match in re.finditer(r"(?<!\*)\*\*([^*\n]+)\*\*(?!\*)", source):
            line = source[:match.start()].rpartition("\n")[2]
            if match[1].strip(" .:`").lower() in word.names and not line.startswith(("#", NEW)):
                return cell, match
    return None


def link(notebook, number, known):
    """Link each new word at its first bold use, or, where it is bold nowhere, under New words. Changes the notebook."""
    for cell in text_cells(notebook):
        cell.source = LINKED.sub(r"\1", cell.source)
    for new, word in {id(word): (new, word) for new, word in taught(notebook, number, known) if word}.values():
        cell, match = first_use(notebook, word) or (None, None)
        if match and cell.source[match.start() - 1:match.start()] != "[":
            cell.source = f"{cell.source[:match.start()]}[{match[0]}]({word.link}){cell.source[match.end():]}"
        else:
            cell = next(cell for cell in text_cells(notebook) if NEW in cell.source)
            before, line = cell.source.split(NEW)
            cell.source = before + NEW + re.sub(rf"(?<![\[\w-])(`?{re.escape(new)}`?)(?![\w\]-])",
                                                rf"[\1]({word.link})", line, count=1)


def heading_above(notebook, use):
    """The heading under which a word is used, or None."""
    cells = text_cells(notebook)
    before = [cell.source for cell in itertools.takewhile(lambda cell: cell is not use[0], cells)]
    headings = re.findall(r"^##+ (.*)$", "\n".join([*before, use[0].source[:use[1].start()]]), flags=re.M)
    return headings[-1] if headings else None


def places(word, lessons, known):
    """Markdown links to the lessons that name the word as new, each to its heading."""
    links = []
    for path, notebook in lessons:
        number = int(path.stem[:2])
        if any(other is word for _, other in taught(notebook, number, known)):
            use = first_use(notebook, word)
            heading = heading_above(notebook, use) if use else None
            links.append(f"[{number}: {heading}]({path.name}#cell-id={use[0].id})" if heading else f"[{number}]({path.name})")
    if not links:
        links = [f"[{word.lesson}]({path.name})" for path, _ in lessons if path.name.startswith(f"{word.lesson:02}")]
    return links


def entry(word, lessons, known):
    first, *others = places(word, lessons, known)
    short = re.search(r" \((.*?)\)", word.term)
    again = f"; again in {', '.join(others)}" if others else ""
    stop = "" if "?](" in [first, *others][-1] else "."                    # a heading that asks ends the sentence
    return f"### {word.heading}\n\n{f'({short[1]}) ' if short else ''}{word.meaning} Lesson {first}{again}{stop}"


def glossary(lessons):
    """The notebook: a cell for each word, with the letter above the first of each."""
    known = words()
    ordered = sorted(known, key=lambda word: word.heading.lower())
    cells = [nbformat.v4.new_markdown_cell(TITLE, id="glossary")]
    for letter, group in itertools.groupby(ordered, key=lambda word: word.heading[0].upper()):
        cells += [nbformat.v4.new_markdown_cell(entry(word, lessons, known), id=word.cell) for word in group]
        first = next(cell for cell in cells if cell.source.startswith("### ") and cell.source[4].upper() == letter)
        first.source = f"## {letter}\n\n{first.source}"
    metadata = {"kernelspec": KERNEL, "language_info": {"name": "python", "file_extension": ".py"}}
    return nbformat.v4.new_notebook(cells=cells, metadata=metadata)


def main():
    known, lessons = words(), [(path, read(path)) for path in PATHS]
    for path, notebook in lessons:
        before = [cell.source for cell in text_cells(notebook)]
        link(notebook, int(path.stem[:2]), known)
        if before != [cell.source for cell in text_cells(notebook)]:
            nbformat.write(notebook, path)
            print("linked", path.name)
        if missing := [new for new, word in taught(notebook, int(path.stem[:2]), known) if not word]:
            print(f"{path.name}: not in {WORDS.name}: {', '.join(missing)}")
    nbformat.write(glossary(lessons), GLOSSARY)


if __name__ == "__main__":
    argparse.ArgumentParser(prog="python -m tools.glossary", description=__doc__,
                            formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    main()
