"""`bundle`: the JavaScript of a widget as the one module that a notebook or a page loads."""
import pathlib
import re

HERE = pathlib.Path(__file__).parent
IMPORT = re.compile(r'^import [^;]*? from "\./(.+?)";\n', flags=re.M)
EXPORT = re.compile(r"^export (?!default)", flags=re.M)


def bundle(name: str) -> str:
    """The file of this folder below all that it imports, each file once, without `import` and `export`.

    The files share one scope then, so no two of them may define the same name.
    """
    files = []

    def add(file):
        if file not in files:
            for needed in IMPORT.findall((HERE / file).read_text(encoding="utf-8")):
                add(needed)
            files.append(file)

    add(name)
    return "\n".join(EXPORT.sub("", IMPORT.sub("", (HERE / file).read_text(encoding="utf-8"))) for file in files)
