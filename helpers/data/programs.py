"""Programs to learn to write from: Python's standard library, as the Python that runs has it.

Nothing is downloaded or imported: the source files are read. They differ a little between versions of Python.
"""
import pathlib
import sysconfig
import zlib

PARTS = 20                                                   # of these, one is for testing and one for validation


def load_programs(path=None) -> dict[str, list[str]]:
    """{"train": [...], "validation": [...], "test": [...]}: source files, each a text, in the order of their names.

    The modules of the standard library that are one file each, such as `shutil.py`, and whose name begins with a
    letter. A checksum of its name decides the part that a file belongs to, so that it is the same in every version;
    about one file in twenty is for validation, one for testing. Files with characters outside ASCII are left out.
    path: a folder of programs of one's own, in place of the library; its subfolders are read, too.
    Raises ValueError where one of the three parts would be empty.
    """
    folder = pathlib.Path(path or sysconfig.get_path("stdlib"))
    files = folder.rglob("*.py") if path else folder.glob("[a-z]*.py")
    programs = {"train": [], "validation": [], "test": []}
    for file in sorted(filter(pathlib.Path.is_file, files)):
        text = file.read_text(encoding="utf-8", errors="replace")
        if text.isascii():
            part = zlib.crc32(file.name.encode()) % PARTS
            programs[{0: "test", 1: "validation"}.get(part, "train")].append(text)
    if empty := [part for part, texts in programs.items() if not texts]:
        raise ValueError(f"{folder}: no .py files for {', '.join(empty)}; about one in {PARTS} goes there, more files are needed")
    return programs
