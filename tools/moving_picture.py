"""Makes the README's moving picture: in lesson 0 a weight is cut, and the answer changes (needs Chromium)."""
import argparse
import io
import pathlib
import tempfile

import nbformat
from PIL import Image

from tests.notebooks import PATHS, ROOT, read

PICTURE = ROOT / "notebooks" / "images" / "explorer.gif"
SECONDS = [1.2, 1.2, 3, 1.2, 1.2, 3]                         # of each frame


def frames(explorer):
    """Cut the weight on `v` in head 2, where that changes the second digit of the month, and in head 1, where it does not."""
    def shown():
        explorer.page.wait_for_timeout(600)
        return Image.open(io.BytesIO(explorer.screenshot())).convert("RGB")

    map_of_weights = explorer.locator("canvas.map")
    explorer.get_by_role("slider", name="query").fill("6")
    for head in ("2", "1"):
        explorer.get_by_role("slider", name="head").fill(head)
        yield shown()
        map_of_weights.press("Enter")                        # locks the chosen cell
        yield shown()
        map_of_weights.press("c")
        yield shown()
        explorer.get_by_role("button", name="reset").click()
        map_of_weights.press("Escape")


def main():
    from tests.browser.labdriver import chromium, lab_server, open_notebook  # here: Playwright is installed for developers only
    lesson = read(PATHS[0])
    touch = next(i for i, cell in enumerate(lesson.cells) if "AttentionExplorer.of_texts" in cell.source)
    lesson.cells = [cell for cell in lesson.cells[:touch + 1] if cell.cell_type == "code"]
    with tempfile.TemporaryDirectory() as folder, lab_server(folder) as server, chromium() as browser:
        nbformat.write(lesson, pathlib.Path(folder) / "lesson.ipynb")
        with open_notebook(browser, server, "lesson.ipynb") as notebook:
            notebook.page.set_viewport_size({"width": 1400, "height": 900})
            notebook.run_all()
            explorer = notebook.page.locator(".attention-explorer").last
            explorer.scroll_into_view_if_needed()
            pictures = list(frames(explorer))
    width, height = max(p.width for p in pictures), max(p.height for p in pictures)
    colors = pictures[-1].quantize(64)
    small = [Image.new("RGB", (width, height), "white") for _ in pictures]
    for page, picture in zip(small, pictures):
        page.paste(picture)
    small = [page.quantize(palette=colors, dither=Image.Dither.NONE) for page in small]
    durations = [round(1000 * seconds) for seconds in SECONDS]
    small[0].save(PICTURE, save_all=True, append_images=small[1:], duration=durations, loop=0)


if __name__ == "__main__":
    argparse.ArgumentParser(prog="python -m tools.moving_picture", description=__doc__).parse_args()
    main()
