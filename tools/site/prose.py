"""Text cells as HTML that needs no network: formulas as MathML, drawings as SVG in the page."""
import base64
import html
import mimetypes
import re

from latex2mathml.converter import convert
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from PIL import Image


class Prose(IPythonRenderer):
    """The renderer of one page: links lead to pages, not to notebooks, and headings are kept in `headings`."""

    def __init__(self, folder):
        super().__init__(escape=False)
        self.folder, self.headings = folder, []                         # (level, id, html)

    def render(self, text):
        return MarkdownWithMath(renderer=self).render(text)

    def heading(self, text, level, **attributes):
        name = anchor(html.unescape(re.sub(r"<.*?>", "", text)))
        self.headings.append((level, name, text))
        linked = text if level == 1 or "<a " in text else f'<a href="#{name}">{text}</a>'
        return f'<h{level} id="{name}">{linked}</h{level}>\n'

    def link(self, text, url, title=None):
        if page := re.match(r"(?:notebooks/)?(\w+)\.ipynb(?:#(.*))?$", url):
            url = f"{page[1]}.html" + (f"#{anchor(page[2].removeprefix('cell-id='))}" if page[2] else "")
        return super().link(text, url, title)

    def image(self, text, url, title=None):
        path, alt = self.folder / url, html.unescape(text)
        return f'<span class="wide picture drawing">{inline(path, alt)}</span>' if path.suffix == ".svg" else image(path, alt)

    def inline_math(self, body):
        return mathml(body)

    def block_math(self, body):
        return f'<span class="formula">{mathml(body, display="block")}</span>'

    def table(self, text):
        return f'<div class="wide"><table>\n{text}</table></div>\n'

    def table_head(self, text):                                         # a card has none: its head would be read as empty cells
        return f"<thead>\n<tr>{text}</tr>\n</thead>\n" if re.sub(r"<.*?>|\s", "", text) else ""


def anchor(heading):
    """The id of a heading on its page."""
    return re.sub(r"\W+", "-", heading.lower()).strip("-")


def image(path, alt):
    """An <img> that holds its file, with its size, so that nothing moves when it comes."""
    kind, _ = mimetypes.guess_type(path)
    if path.suffix == ".svg":
        width, height = re.search(r'width="([\d.]+)" height="([\d.]+)"', path.read_text(encoding="utf-8")).groups()
    else:
        with Image.open(path) as picture:
            width, height = picture.size
    data = base64.b64encode(path.read_bytes()).decode()
    return (f'<img src="data:{kind};base64,{data}" alt="{html.escape(alt)}" '
            f'width="{float(width):.0f}" height="{float(height):.0f}">')


def inline(path, alt):
    """A drawing in the page itself, so that its words can be selected and found."""
    return path.read_text(encoding="utf-8").replace("<svg ", f'<svg aria-label="{html.escape(alt)}" ', 1)


def mathml(formula, display="inline"):
    """A formula as MathML, with the spaces that TeX would leave."""
    markup = convert(formula, display=display)
    markup = re.sub(r"(<mi>[a-z]{2,}</mi>)(?=<m(?:i|sub)>)", r'\1<mspace width="0.17em" />', markup)       # log w
    markup = re.sub(r"<mo>(&#x(?:0007C|02016);)</mo>", r'<mo stretchy="false">\1</mo>', markup)          # both bars of a norm alike
    return markup.replace("<mo>&#x0002F;</mo>", '<mo lspace="0" rspace="0">/</mo>')
