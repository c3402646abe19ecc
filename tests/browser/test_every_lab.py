"""Every control of every lab, moved by keyboard and by mouse in JupyterLab: one lesson by `-k 09`."""
import pytest

from tests.browser.labdriver import wait_until
from tests.notebooks import NAMES, ROOT, read

SLIDER, MENU, TEXT = ".noUi-handle", "select", "input[type=text]"


def labs_of(name):
    """The numbers of the cells that show a lab."""
    return [number for number, cell in enumerate(read(ROOT / "notebooks" / f"{name}.ipynb").cells)
            if any(output.get("data", {}).get("text/plain", "").startswith("Lab(") for output in cell.get("outputs", []))]


def settle(notebook, lab):
    """Wait until the lab's picture stays as it is; its fingerprint."""
    picture, seen = lab.locator("img").first, []

    def still():
        seen.append(notebook.fingerprint(picture))
        notebook.page.wait_for_timeout(400)
        return len(seen) > 2 and seen[-1] == seen[-2] == seen[-3]
    wait_until(still, 120, lambda: "the picture does not come to rest")
    return seen[-1]


def moved(notebook, lab, *actions):
    """Do these one after the other; fails unless one of them changes the picture, and none of them the place of its corner."""
    picture = lab.locator("img").first
    before, corner = {settle(notebook, lab)}, None
    for action in actions:
        action()
        before.add(settle(notebook, lab))
        box = picture.bounding_box()
        assert corner in (None, (box["x"], box["width"])), "the picture jumps"
        corner = box["x"], box["width"]
    assert len(before) > 1, "the picture stays as it was"


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


def touch(notebook, lab):
    """Move each control of a lab, then take all back."""
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
            settle(notebook, lab)
    notebook.press(lab.get_by_role("button", name="reset"), "Enter")


@pytest.mark.parametrize("name", [name for name in NAMES if labs_of(name)])
def test_every_control_moves_the_picture_by_keyboard_and_by_mouse(opened, name):
    with opened(name) as notebook:
        notebook.run_all()
        cells = notebook.count_cells()
        for number in labs_of(name):
            lab = notebook.cell(number).locator(".lab")
            first = settle(notebook, lab)
            touch(notebook, lab)
            assert settle(notebook, lab) == first, "reset does not bring the first picture back"
            assert not lab.get_by_role("alert").filter(visible=True).count()
        assert notebook.count_cells() == cells and not notebook.complaints
