"""`Writing`: a text that appears in the page while it is written."""
import html
import re
import time
from collections.abc import Iterable

from IPython.display import display

LEAST_SECONDS = 0.05        # between two updates of the page
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")      # but for tabs and ends of lines
STYLE = "white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; line-height: 1.35"


class Writing:
    """A text, the prompt in bold, which `follow` continues piece by piece; outside a notebook nothing is shown.

    What a trained model writes differs between machines, so it is HTML; the plain text beside it does not. title: above the text.
    """

    def __init__(self, prompt: str, title: str = ""):
        self.prompt, self.title, self.written = prompt, title, ""

    def follow(self, pieces: Iterable[str]) -> None:
        """Show the pieces as they come."""
        output, next_update = display(self, display_id=True), 0.0       # None outside a notebook
        for piece in pieces:
            self.written += piece
            if output and time.perf_counter() >= next_update:
                output.update(self)
                next_update = time.perf_counter() + LEAST_SECONDS
        if output:
            output.update(self)

    def __repr__(self):
        return f"Writing({self.prompt!r}{self.title and f', {self.title!r}'})"

    def _repr_mimebundle_(self, include=None, exclude=None):
        title, prompt, written = (html.escape(CONTROL.sub("·", text)) for text in (self.title, self.prompt, self.written))
        text = f'<pre style="{STYLE}"><b>{prompt}</b>{written}</pre>'
        return {"text/html": f"<p>{title}</p>{text}" if title else text, "text/plain": repr(self)}
