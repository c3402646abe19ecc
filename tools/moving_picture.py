"""Makes the README's moving picture: the explorer of lesson 15, moved by its sliders (needs Chromium)."""
import argparse
import io
import pathlib
import tempfile

from PIL import Image

from tests.notebooks import ROOT
from tools.site import __main__ as website

LESSON, PICTURE = "15_real_bert", ROOT / "notebooks" / "images" / "explorer.gif"
# Which slider, and to where: through the query's words, the heads of its layer, and the layers.
MOVES = [("query", 5), ("query", 6), ("query", 8), ("query", 14), ("head", 8), ("head", 7), ("head", 6), ("head", 5), ("head", 9),
         ("layer", 0), ("layer", 1), ("layer", 3), ("layer", 4), ("layer", 5), ("layer", 2), ("query", 3)]


def frames(page):
    """The explorer as it is first, and after each move."""
    explorer = page.locator(".attention-explorer").last
    explorer.scroll_into_view_if_needed()

    def shown():
        page.wait_for_timeout(100)
        return Image.open(io.BytesIO(explorer.screenshot())).convert("RGB")

    yield shown()
    for name, value in MOVES:
        explorer.get_by_role("slider", name=name).fill(str(value))
        yield shown()


def main():
    from tests.browser.labdriver import chromium  # here: Playwright is installed for developers only
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        website.build(pathlib.Path(folder), [LESSON])
        page = browser.new_page(viewport={"width": 1000, "height": 800})
        page.goto((pathlib.Path(folder) / f"{LESSON}.html").as_uri())
        pictures = list(frames(page))
    colors = pictures[0].quantize(64)
    small = [picture.quantize(palette=colors, dither=Image.Dither.NONE) for picture in pictures]
    small[0].save(PICTURE, save_all=True, append_images=small[1:], duration=900, loop=0)


if __name__ == "__main__":
    argparse.ArgumentParser(prog="python -m tools.moving_picture", description=__doc__).parse_args()
    main()
