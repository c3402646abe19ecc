"""`bundle`: the JavaScript of a widget as the one module that a notebook or a page loads."""
import pathlib
import re

HERE = pathlib.Path(__file__).parent
IMPORT = re.compile(r'^import [^;]*? from "\./(.+?)";\n', flags=re.M)


def bundle(name: str) -> str:
    """The file of this folder below all that it imports, each file once, without `import`, `export` and comments.

    The files share one scope then, so no two of them may define the same name.
    """
    texts = {}

    def add(file):
        text = (HERE / file).read_text(encoding="utf-8")
        for needed in IMPORT.findall(text):
            if needed not in texts:
                add(needed)
        texts[file] = re.sub(r"^export (?!default)|^ *//.*\n", "", IMPORT.sub("", text), flags=re.M)

    add(name)
    return "\n".join(texts.values())
