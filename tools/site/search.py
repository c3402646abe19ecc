"""The index of the site's search: a script beside the pages, so that it is there without a server.

It is the text itself: for each page its sections, and for each section its heading, the words that it explains, what it says, and
where each of its cells begins.
What is folded (answers, solutions) is left out, so that no result gives it away.
"""
import html
import json
import re

PROSE = re.compile(r'<section class="prose".*?</section>', flags=re.S)
HEADING = re.compile(r'<h([1-3]) id="(.*?)">(.*?)</h\1>', flags=re.S)
CELL = re.compile(r'<section class="prose" id="(.*?)">')
TERM = re.compile(r'<a href="glossary\.html#[^"]*">(.*?)</a>', flags=re.S)
NOT_READ = re.compile(r"<details.*?</details>|<svg.*?</svg>|<style.*?</style>", flags=re.S)
BLOCK_END = re.compile(r"</(?:p|li|t[dhr]|h\d|div|pre|summary)>|<br>")


def plain(markup):
    """What a reader sees of it, in one line."""
    return " ".join(html.unescape(re.sub(r"<.*?>", "", BLOCK_END.sub(" ", markup), flags=re.S)).split())


def sections(markup):
    """From each heading of a page to the next: [anchor, heading, the words that it links to the glossary, text, cells].

    cells: [where it begins in the text, its id] of each further cell.
    """
    _, *parts = HEADING.split(NOT_READ.sub("", markup))
    found = []
    for anchor, heading, body in zip(parts[1::4], parts[2::4], parts[3::4]):
        first, *others = CELL.split(body)
        text, cells = plain(first), []
        for name, more in zip(others[::2], map(plain, others[1::2])):
            if more:
                cells.append([len(text) + 1, name])
                text += " " + more
        found.append([anchor, plain(heading), sorted({plain(term) for term in TERM.findall(body)}), text, cells])
    return found


def script(paths):
    """The file that the search box loads when it is used, from the text cells of these pages."""
    index = []
    for path in paths:
        page = path.read_text(encoding="utf-8")
        title = html.unescape(re.search("<title>(.*?) [|] ", page)[1])
        index.append([path.stem, title, sections("".join(PROSE.findall(page)))])
    return f"window.searchIndex = {json.dumps(index, ensure_ascii=False, separators=(',', ':'))};\n"
