"""Draws the lessons' Mermaid diagrams for the site, as JupyterLab draws them (needs Chromium)."""
import argparse
import pathlib
import re
import tempfile
import urllib.parse

import nbformat

from tests.notebooks import PATHS, read, text_cells
from tools.execute import KERNEL
from tools.site.prose import drawing_of


def diagrams():
    """The source of every diagram of the course."""
    sources = [cell.source for path in PATHS for cell in text_cells(read(path))]
    return [code for source in sources for code in re.findall(r"```mermaid\n(.*?)```", source, flags=re.S)]


def as_file(drawn):
    """The SVG with a size of its own, and without what a picture does not need: a list of entities, ten decimal places."""
    svg = re.sub(r"(\d\.\d)\d+", r"\1", drawn[drawn.index("<svg"):])
    width, height = re.search(r'viewBox="0 0 (\S+) (\S+)"', svg).groups()
    return svg.replace('width="100%"', f'width="{width}" height="{height}"', 1) + "\n"


def draw(codes):
    from tests.browser.labdriver import chromium, lab_server, open_notebook  # here: Playwright is installed for developers only
    with tempfile.TemporaryDirectory() as folder, lab_server(folder) as server, chromium() as browser:
        cells = [nbformat.v4.new_markdown_cell(f"```mermaid\n{code}```") for code in codes]
        notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNEL})
        nbformat.write(notebook, pathlib.Path(folder) / "diagrams.ipynb")
        with open_notebook(browser, server, "diagrams.ipynb") as opened:
            for number, code in enumerate(codes):
                data = opened.cell(number).locator(".jp-RenderedMermaid img").get_attribute("src")
                drawing_of(code).write_text(as_file(urllib.parse.unquote(data)), encoding="utf-8")


if __name__ == "__main__":
    argparse.ArgumentParser(prog="python -m tools.drawings.mermaid", description=__doc__).parse_args()
    for drawing in drawing_of("").parent.glob("*.svg"):
        drawing.unlink()
    draw(diagrams())
