"""One way to read files: alone, in a folder or in an archive; one's own, or published ones."""
import bz2
import contextlib
import csv
import fnmatch
import functools
import gzip
import io
import lzma
import os
import pathlib
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

import pooch
import requests

CACHE = "ATTENTION_COURSE_CACHE"               # names another cache folder, one that a class shares, say
SHIPPED = pathlib.Path(__file__).parent        # the texts that tools/make_data wrote
ARCHIVE = re.compile(r".*\.(zip|tar|tgz|tar\.\w+)")
DECOMPRESS = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}
print_once = functools.cache(print)
DAMAGE = (OSError, EOFError, RuntimeError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, tarfile.TarError)


class File(NamedTuple):
    """A text, and the path it was read from."""
    path: str
    text: str

    def lines(self) -> list[str]:
        """The lines, without their ends."""
        return self.text.removesuffix("\n").split("\n")      # splitlines would break at other characters, too

    def error(self, line: int, came: object, needed: str) -> ValueError:
        """What to raise where a line, counted from 1, is not what is needed."""
        return ValueError(f"{self.path}, line {line:,}: {str(came)[:100]!r}, where {needed} is needed")


def cache_folder() -> pathlib.Path:
    """Where published data is kept: in what ATTENTION_COURSE_CACHE names, or in the user's cache."""
    return pathlib.Path(os.environ.get(CACHE) or pooch.os_cache("attention-course")).expanduser()


def read_files(path, *layouts: tuple[str, ...]) -> list[File]:
    """A file for each pattern, as "*train.tsv", of the first layout whose files are all there.

    path: a folder that holds them, at most one folder further down, or a zip or tar archive; a single file of
    any name, compressed or not, which is then the only one returned; or a tuple of such files. Where several
    fit a pattern, the one nearest the top is read, one with "train" in its path before others. Raises
    FileNotFoundError where files are missing, ValueError where one is damaged, not UTF-8, or a pipe.
    """
    if isinstance(path, (tuple, list)):
        if len(path) != max(map(len, layouts)):
            raise ValueError(f"{len(path)} paths, where {max(map(len, layouts))} are needed")
        return [file for part in path for file in read_files(part, ("*",))]
    path = pathlib.Path(path).expanduser()
    with contents(path) as readers:
        names = [name for name in readers if not re.search(r"(^|/)\.[^/]", name)]
        names.sort(key=lambda name: (len(pathlib.PurePath(name).parts), "train" not in name, name))
        if len(names) == 1 and not path.is_dir():
            return [decode(path / names[0], readers[names[0]]())]
        for layout in layouts:
            found = [[name for name in names if fnmatch.fnmatchcase(name.rpartition("/")[2], pattern)] for pattern in layout]
            if all(found):
                return [decode(path / name, readers[name]()) for name, *_ in found]
    needed = ", or ".join(" and ".join(layout) for layout in layouts)
    raise FileNotFoundError(f"{path} holds {', '.join(names[:8]) or 'no file'}, where {needed} is needed")


@contextlib.contextmanager
def contents(path: pathlib.Path) -> Iterator[dict[str, Callable[[], bytes]]]:
    """What reads the bytes of each file in a folder or archive, by its name there; a single file has none."""
    try:
        if path.is_dir():
            inside = [*path.glob("*"), *path.glob("*/*")]
            yield {file.relative_to(path).as_posix(): functools.partial(read_bytes, file) for file in inside}
        elif path.is_file() and path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                yield {name: functools.partial(archive.read, name) for name in archive.namelist() if not name.endswith("/")}
        elif path.is_file() and ARCHIVE.fullmatch(path.name):
            with tarfile.open(path) as archive:
                yield {member.name: archive.extractfile(member).read for member in archive if member.isfile()}
        else:
            yield {"": lambda: DECOMPRESS.get(path.suffix, bytes)(read_bytes(path))}
    except FileNotFoundError:
        raise
    except DAMAGE as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise ValueError(f"{path} is damaged or cannot be read: {reason}. Put a whole copy there.") from error


def read_bytes(path: pathlib.Path) -> bytes:
    """What a file holds; a pipe, which might never end, is refused, and a folder."""
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there")
    if not path.is_file():
        raise ValueError(f"{path} is a folder or a pipe, where a file is needed")
    return path.read_bytes()


def decode(path: pathlib.Path, content: bytes) -> File:
    """The text of a file, with the line ends of every system."""
    try:
        text, wrong = content.decode("utf-8-sig").replace("\r\n", "\n"), content.find(b"\0")
    except UnicodeDecodeError as error:
        text, wrong = "", error.start
    if wrong >= 0:
        line, came = content.count(b"\n", 0, wrong) + 1, content[wrong:][:4]
        raise ValueError(f"{path}, line {line:,}: {came!r}, where UTF-8 is needed")
    return File(str(path), text if "\n" in text else text.replace("\r", "\n"))


def read_published(folder: str, *layouts: tuple[str, ...], path=None, known: Collection[str] = (), url: str = "",
                   checksum: str = "", advice: str = "") -> list[File]:
    """The files of a published set: from this folder of the cache, from an archive there, or fetched.

    path: in place of all that, where a copy or one's own files are, as in `read_files`.
    known: the sha256 of each known edition of the files; another one is read, too, and a printed line says so.
    url, checksum: of the archive to fetch, as "sha1:..."; advice: where to get it, if there is no url. Raises
    as `read_files` does, ValueError for a download with another checksum, OSError where it cannot be kept.
    """
    if path is not None:
        return read_files(path, *layouts)
    here = cache_folder() / folder
    try:
        files = read_files(here, *layouts)
        unknown = [file.path for file in files if pooch.file_hash(file.path) not in known]
    except FileNotFoundError as error:
        archives = sorted(path for path in here.glob("*") if ARCHIVE.fullmatch(path.name))
        if not (archives or url):
            raise FileNotFoundError(f"{error}. {advice}") from None
        archive = archives[0] if archives else fetch(url, checksum, here)
        files = read_files(archive, *layouts)
        algorithm = checksum.partition(":")[0] or "sha256"
        unknown = [archive] * (f"{algorithm}:{pooch.file_hash(archive, algorithm)}" != checksum)
    for path in unknown:
        print_once(f"{path} is an edition that is not known here; it is read as it is.")
    return files


def fetch(url: str, checksum: str, folder: pathlib.Path) -> pathlib.Path:
    """The path of what the url gives, in `folder`; a download that fails its checksum leaves nothing."""
    path = folder / url.rsplit("/", 1)[-1]
    try:
        return pathlib.Path(pooch.retrieve(url, checksum, fname=path.name, path=folder, progressbar=True))
    except requests.RequestException as error:
        raise FileNotFoundError(f"{path} is not there, and fetching {url} failed ({type(error).__name__}). Is there a "
                                f"network? A copy can be put there; {CACHE} names another folder.") from error
    except OSError as error:
        raise OSError(f"{url} cannot be kept as {path}: {error}. It needs a folder that can be written to, "
                      f"and room; {CACHE} names another one.") from error


def columns(file: File, *names: str) -> list[tuple[int, list[str]]]:
    """(number of its line, cells) of each row of a table: the cells of the columns that `names` wants.

    Cells stand between tabs where the first line has one; otherwise the file is CSV. names: for each column,
    what a header may call it, the best first: "text sentence". Without a header the first columns are taken.
    Raises ValueError, naming the line, for a table without rows, and for a row without one of the columns.
    """
    needed = f"a table with {', '.join(some.split()[0] for some in names)}"
    has_tabs = "\t" in file.lines()[0]
    reader = csv.reader(io.StringIO(file.text, newline=""), strict=True)
    try:
        cells = (line.split("\t") for line in file.lines())
        rows = enumerate(cells, 1) if has_tabs else ((reader.line_num, row) for row in reader)
        rows = [(number, row) for number, row in rows if any(row)]
    except csv.Error as error:
        raise file.error(reader.line_num, error, needed) from error
    header = [cell.strip().lower() for cell in rows[0][1]] if rows else []
    places = [next((header.index(name) for name in some.split() if name in header), None) for some in names]
    if any(place is not None for place in places):
        rows = rows[1:]
        if any(header.count(header[place]) > 1 for place in places if place is not None):
            raise file.error(1, file.lines()[0], f"{needed}, once each,")
    elif not has_tabs and len(header) > len(names):
        raise file.error(1, file.lines()[0], f"a first line that names the columns, or {needed} alone,")
    else:
        places = list(range(len(names)))
    if not rows or None in places:
        raise file.error(1, file.lines()[0], needed)
    for number, row in rows:
        if len(row) <= max(places) or not (has_tabs or len(row) == len(header)):
            raise file.error(number, row, needed)
    return [(number, [row[place] for place in places]) for number, row in rows]


def read_made(name: str, names: list[str], n_train: int, n_test: int) -> list[list[list[str]]]:
    """The first rows of what ships as name_train and name_test; ValueError for more than there are."""
    parts = [columns(*read_files(SHIPPED / f"{name}_{part}.tsv.xz"), *names) for part in ("train", "test")]
    most = list(map(len, parts))
    if not (0 <= n_train <= most[0] and 0 <= n_test <= most[1]):
        raise ValueError(f"n_train={n_train}, n_test={n_test}: {most[0]:,} and {most[1]:,} are there")
    return [[row for _, row in part[:count]] for part, count in zip(parts, (n_train, n_test))]


def parallel(first: File, second: File) -> list[tuple[str, str]]:
    """The lines of two files, side by side; ValueError unless there are as many in both."""
    one, other = first.lines(), second.lines()
    if len(one) != len(other):
        raise ValueError(f"{first.path} has {len(one):,} lines, {second.path} {len(other):,}: as many are needed")
    return list(zip(one, other))


def two_parts(parts: list[list], key: Callable = lambda row: row[0]) -> tuple[list, list]:
    """(train, held out): the rows of two files; or of one, a tenth of its keys held out with all their rows."""
    if len(parts) == 2:
        return tuple(parts)
    [rows] = parts
    keys = sorted({key(row) for row in rows}, key=lambda text: zlib.crc32(text.encode()))
    if len(keys) < 2:
        raise ValueError(f"{len(rows)} rows, of which {len(keys)} differ: at least two are needed, one of them to hold out")
    held_out = set(keys[:max(1, len(keys) // 10)])
    return [row for row in rows if key(row) not in held_out], [row for row in rows if key(row) in held_out]
