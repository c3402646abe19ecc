"""Drive notebooks in a real JupyterLab, in the system's Chromium.

    with lab_server(folder) as lab, chromium() as browser:
        with open_notebook(browser, lab, "01_lesson.ipynb") as notebook:
            notebook.run_all()
            notebook.press(handle, "ArrowRight")
"""
import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

CHROMIUM = os.environ.get("CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"))), None)
# A page that must work without a network should not see one try to be reached either.
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"]
# Cells out of sight must be in the page too, no cell may carry the times of its run, and no lesson that ran may be saved unasked:
# the next test would open that file instead of the one in the clone.
SETTINGS = {"@jupyterlab/notebook-extension/tracker": {"windowingMode": "none", "recordTiming": False},
            "@jupyterlab/docmanager-extension/plugin": {"autosave": False}}
ERRORS = '[data-mime-type="application/vnd.jupyter.error"], [data-mime-type="application/vnd.jupyter.stderr"]'

# The kernel connects after the page says that it is idle; a run in that gap asks for a kernel.
WAIT_FOR_KERNEL = """async () => {
  const end = Date.now() + 60000;
  const pause = async () => {
    if (Date.now() > end) throw new Error('no kernel within 60 s');
    await new Promise((done) => setTimeout(done, 50));
  };
  let panel;
  while (!(panel = window.jupyterapp?.shell.currentWidget)?.sessionContext) await pause();
  await panel.context.ready; await panel.sessionContext.ready;
  while (!panel.sessionContext.session?.kernel) await pause();
  await panel.sessionContext.session.kernel.info;
}"""

# A short fingerprint of an <img> or <canvas>; '' while there is nothing in it.
FINGERPRINT = """(node) => {
  if (!node || (node.tagName === 'IMG' && !(node.complete && node.naturalWidth))) return '';
  const small = document.createElement('canvas'); small.width = 240; small.height = 180;
  const g = small.getContext('2d', {willReadFrequently: true});
  g.drawImage(node, 0, 0, 240, 180);
  const data = g.getImageData(0, 0, 240, 180).data;
  let hash = 2166136261, ink = 0;
  for (let i = 0; i < data.length; i++) { hash = Math.imul(hash ^ data[i], 16777619); if (data[i] !== 255 && data[i]) ink++; }
  return ink ? (hash >>> 0).toString(16) : '';
}"""

# Every lab has drawn its picture anew with the pixels of this screen.
SHARP = """() => [...document.querySelectorAll('.live-picture canvas')].every((canvas) =>
  Math.abs(canvas.width - parseFloat(canvas.style.maxWidth) * Math.min(1.5, window.devicePixelRatio)) < 2)"""


class Server:
    def __init__(self, url, token):
        self.url, self.token = url, token

    def api(self, path, method="GET"):
        request = urllib.request.Request(f"{self.url}/api/{path}", method=method, headers={"Authorization": f"token {self.token}"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer) if method == "GET" else None


@contextlib.contextmanager
def lab_server(root, timeout=90):
    """JupyterLab on this machine alone, with empty folders for its settings."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary, socket.socket() as probe:
        folder = pathlib.Path(temporary)
        for name, values in SETTINGS.items():
            file = folder / "settings" / f"{name}.jupyterlab-settings"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(values))
        probe.bind(("127.0.0.1", 0))
        port, token = probe.getsockname()[1], os.urandom(12).hex()
        probe.close()
        folders = {"JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data", "JUPYTER_RUNTIME_DIR": "runtime",
                   "JUPYTERLAB_SETTINGS_DIR": "settings", "JUPYTERLAB_WORKSPACES_DIR": "workspaces", "IPYTHONDIR": "ipython"}
        with open(folder / "log", "w") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--expose-app-in-browser",
                 "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}", "--ServerApp.port_retries=0",
                 f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={pathlib.Path(root).resolve()}"],
                env=os.environ | {name: str(folder / path) for name, path in folders.items()}, stdout=log, stderr=log)
            server = Server(f"http://127.0.0.1:{port}", token)
            try:
                wait_until(lambda: answers(server), timeout, lambda: "JupyterLab did not start:\n" + (folder / "log").read_text())
                yield server
            finally:
                process.terminate()
                try:
                    process.wait(15)
                except subprocess.TimeoutExpired:
                    process.kill()


def answers(server):
    with contextlib.suppress(OSError):
        server.api("status")
        return True


def wait_until(condition, timeout, message):
    """The first true value of condition(); AssertionError with message() when there is none in time."""
    end = time.monotonic() + timeout
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError(message())
        time.sleep(0.05)
    return value


def findings(page, scope="body", **options):
    """What the accessibility checker axe finds serious or critical in the parts that the selector `scope` names."""
    options |= {"resultTypes": ["violations"], "preload": False}        # else it asks for the page's files once more
    found = Axe().run(page, scope, options).response["violations"]
    grave = [rule for rule in found if rule["impact"] in ("serious", "critical")]
    return [f"{rule['id']}: {node['html'][:200]}" for rule in grave for node in rule["nodes"]]


@contextlib.contextmanager
def chromium():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@contextlib.contextmanager
def open_notebook(browser, server, path, picture_of_failure=None):
    """A notebook in its own page; its kernel ends with it."""
    page = browser.new_page(viewport={"width": 1400, "height": 1400})
    page.set_default_timeout(60_000)
    try:
        page.goto(f"{server.url}/lab/tree/{path}?reset&token={server.token}")
        page.wait_for_selector(".jp-NotebookPanel .jp-Notebook .jp-Cell")
        page.evaluate(WAIT_FOR_KERNEL)
        notebook = Notebook(page)
        notebook.wait_idle()
        yield notebook
    except Exception:
        if picture_of_failure:
            page.screenshot(path=picture_of_failure)
        raise
    finally:
        page.close()
        for session in server.api("sessions"):
            server.api(f"sessions/{session['id']}", "DELETE")


class Notebook:
    """asked: the addresses that the page asked for. complaints: the errors in its console."""

    def __init__(self, page):
        self.page, self.asked, self.complaints = page, [], []
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("console", lambda message: message.type == "error" and self.complaints.append(message.text))

    def wait_idle(self, timeout=120):
        self.page.wait_for_selector('.jp-Notebook-ExecutionIndicator[data-status="idle"]', state="attached", timeout=timeout * 1000)

    def run_all(self, timeout=400):
        """Run all cells; fails on a cell that raises or writes to stderr."""
        self.page.set_default_timeout(timeout * 1000)
        self.page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
        self.wait_idle(timeout)
        self.page.set_default_timeout(60_000)
        errors = self.page.locator(ERRORS)
        assert errors.count() == 0, "cell error or stderr: " + errors.first.inner_text()[:2000]
        self.page.wait_for_function(SHARP)

    def save(self):
        self.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")

    def unfold(self):
        """Show what JupyterLab hides under a collapsed heading; returns how many such headings there were."""
        buttons = self.page.locator(".jp-showHiddenCellsButton:visible").all()
        for button in buttons:
            button.click()
        return len(buttons)

    def cell(self, n):
        """The n-th cell, text cells included."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(n)

    def press(self, handle, key):
        handle.scroll_into_view_if_needed()
        handle.focus()
        self.page.keyboard.press(key)

    def drag(self, start, goal, steps=20, pause_ms=16):
        """Drag with the mouse from one point of the page to another."""
        self.page.mouse.move(*start)
        self.page.mouse.down()
        for i in range(1, steps + 1):
            self.page.mouse.move(*(a + (b - a) * i / steps for a, b in zip(start, goal)))
            self.page.wait_for_timeout(pause_ms)
        self.page.mouse.up()

    def drag_slider(self, handle, to, **how):
        """Drag a slider to a fraction 0..1 of its track: ipywidgets' handle, or an <input type=range>."""
        handle.scroll_into_view_if_needed()
        box = handle.bounding_box()
        if handle.evaluate("(node) => node.tagName") == "INPUT":
            now = handle.evaluate("(node) => (node.value - node.min) / (node.max - node.min)")
            left, width = box["x"] + 8, box["width"] - 16
            x = left + now * width
        else:
            track = handle.locator("xpath=ancestor::*[contains(@class,'noUi-base')]").bounding_box()
            left, width = track["x"], track["width"]
            x = box["x"] + box["width"] / 2
        y = box["y"] + box["height"] / 2
        self.drag((x, y), (left + to * width, y), **how)

    def fingerprint(self, picture):
        """Of an <img> or <canvas>, once there is something in it."""
        return wait_until(lambda: picture.count() and picture.first.evaluate(FINGERPRINT), 20, lambda: f"no picture in {picture}")

    def wait_change(self, picture, before, timeout=10):
        def changed():
            now = picture.first.evaluate(FINGERPRINT)
            return now if now != before else None
        return wait_until(changed, timeout, lambda: f"the picture did not change within {timeout} s")

    def settled(self, picture, pause=500):
        """The fingerprint when two looks, `pause` milliseconds apart, agree: what was typed before has been drawn."""
        def twice():
            before = self.fingerprint(picture)
            self.page.wait_for_timeout(pause)
            return before if self.fingerprint(picture) == before else None
        return wait_until(twice, 20, lambda: f"{picture} does not come to rest")

    def say(self, code):
        """What the kernel prints when it runs this, beside the cells."""
        self.page.evaluate("""async (code) => {
          const future = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.requestExecute({code});
          window.said = '';
          future.onIOPub = (message) => { if (message.header.msg_type === 'stream') window.said += message.content.text; };
          await future.done;
        }""", code)
        return self.page.evaluate("() => window.said").strip()

    def count_cells(self):
        return self.page.locator(".jp-Notebook .jp-Cell").count()
