"""Every control of every lab, moved by keyboard and by mouse in JupyterLab: one lesson by `-k 09`.

`make browser-test` runs the quick lessons; with EVERY_LAB=1 in the environment all of them, which takes half an hour.
"""
import os

import pytest

from tests.browser.labdriver import wait_until
from tests.notebooks import NAMES, ROOT, read

SLIDER, MENU, TEXT = ".noUi-handle", "select", "input[type=text]"


def labs_of(name):
    """The numbers of the cells that show a lab."""
    return [number for number, cell in enumerate(read(ROOT / "notebooks" / f"{name}.ipynb").cells)
            if any(output.get("data", {}).get("text/plain", "").startswith("Lab(") for output in cell.get("outputs", []))]


def moved(notebook, lab, *actions):
    """Do these one after the other; fails unless the picture changes, and stays in its place."""
    picture = lab.locator("canvas").first
    seen, places = {notebook.fingerprint(picture)}, set()
    for patience in (250, 2000, 8000):                       # ms: a slow kernel may draw only what the last action asks for
        for action in actions:
            action()
            notebook.page.wait_for_timeout(patience)
            notebook.wait_idle()
            seen.add(notebook.fingerprint(picture))
            places.add((picture.bounding_box()["x"], picture.bounding_box()["width"]))
        if len(seen) > 1:
            break
    assert len(seen) > 1, "the picture stays as it was"
    assert len(places) == 1, f"the picture jumps: {places}"


def touch_slider(notebook, lab, slider):
    """To both ends, by keyboard and by mouse."""
    if float(slider.get_attribute("aria-valuemax")) > float(slider.get_attribute("aria-valuemin")):
        moved(notebook, lab, *(lambda key=key: notebook.press(slider, key) for key in ("Home", "End", "ArrowLeft")))
        moved(notebook, lab, *(lambda to=to: notebook.drag_slider(slider, to) for to in (0.0, 1.0, 0.5)))


def touch_menu(notebook, lab, menu):
    """To its last and its first entry, by keyboard and as a mouse would choose them."""
    moved(notebook, lab, *(lambda key=key: notebook.press(menu, key) for key in ("End", "Home")))
    labels = menu.locator("option").all_inner_texts()
    moved(notebook, lab, *(lambda label=label: menu.select_option(label=label) for label in (labels[-1], labels[0])))


def taken_back(notebook, lab, alt):
    """The picture after reset, once it is described as the first one was."""
    picture = lab.locator("canvas").first
    notebook.press(lab.get_by_role("button", name="reset"), "Enter")
    wait_until(lambda: picture.get_attribute("aria-label") == alt, 60, lambda: "reset does not bring the first picture back")
    notebook.page.wait_for_timeout(250)
    notebook.wait_idle()                                     # where a kernel is slow, older moves are drawn first
    return notebook.fingerprint(picture)


def touch(notebook, lab):
    """Move each control of a lab, then take all back. Longer labels may have made the axes smaller, once."""
    alt = lab.locator("canvas").first.get_attribute("aria-label")
    for slider in lab.locator(SLIDER).all():
        touch_slider(notebook, lab, slider)
    for menu in lab.locator(MENU).all():
        touch_menu(notebook, lab, menu)
    for box in lab.locator("input[type=checkbox]").all():
        moved(notebook, lab, lambda box=box: notebook.press(box, "Space"))
        moved(notebook, lab, box.click)
    for text in lab.locator(TEXT).all():
        before = text.input_value()
        for typed in ("", before):
            text.fill(typed)
            text.press("Enter")
            notebook.page.wait_for_timeout(250)
    taken_back(notebook, lab, alt)
    for slider in lab.locator(SLIDER).all()[:1]:
        pictures = set()
        for _ in range(2):
            touch_slider(notebook, lab, slider)
            pictures.add(taken_back(notebook, lab, alt))
        assert len(pictures) == 1


QUICK = NAMES[:4] + NAMES[5:7]                               # 0 to 3, 5 and 6 train next to nothing


@pytest.mark.parametrize("name", [name for name in NAMES if labs_of(name) and (name in QUICK or "EVERY_LAB" in os.environ)])
def test_every_control_moves_the_picture_by_keyboard_and_by_mouse(opened, name):
    with opened(name) as notebook:
        notebook.run_all()
        notebook.unfold()
        cells = notebook.count_cells()
        for number in labs_of(name):
            lab = notebook.cell(number).locator(".lab")
            touch(notebook, lab)
            assert not lab.get_by_role("alert").filter(visible=True).count()
        assert notebook.count_cells() == cells and not notebook.complaints
