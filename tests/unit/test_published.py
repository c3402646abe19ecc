"""Files are found alone, in folders and in archives, fetched only with their checksum, and refused where they are damaged."""
import bz2
import gzip
import hashlib
import http.server
import io
import lzma
import os
import tarfile
import zipfile
from functools import partial

import pytest

from helpers.data import published
from helpers.data.published import CACHE, cache_folder, read_files, read_published
from sites import serve

TEXT = "Go.\tVa\u202f!\nŒuf, été, 春\u2028\x85\n"
CONTENT = TEXT.encode("utf-8")
LAYOUTS = ("*train*.tsv", "dev.tsv"), ("*.en", "*.fr")


def zipped(files):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as inside:
        for name, content in files.items():
            inside.writestr(zipfile.ZipInfo(name), content)    # the time in ZipInfo is fixed: the same bytes each time
    return archive.getvalue()


def tarred(files):
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as inside:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            inside.addfile(member, io.BytesIO(content))
    return archive.getvalue()


def texts(path, *layouts):
    return [file.text for file in read_files(path, *layouts or LAYOUTS)]


@pytest.fixture
def put(tmp_path):
    """Writes files into a folder, given by name, and returns it."""
    def write(files, folder="data"):
        for name, content in files.items():
            (tmp_path / folder / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / folder / name).write_bytes(content)
        return tmp_path / folder
    return write


# ---- one's own ------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name, pack", [("a.any", bytes), ("a.txt.gz", gzip.compress), ("a.txt.bz2", bz2.compress),
                                        ("a.xz", lzma.compress), ("a.zip", lambda content: zipped({"any/a.any": content}))])
def test_a_single_file_is_read_whatever_its_name_every_character_kept(put, name, pack):
    assert texts(put({name: pack(CONTENT)}) / name) == [TEXT]


def test_every_system_s_line_ends_are_read(put):
    assert texts(put({"a.txt": b"\xef\xbb\xbfGo.\r\nStop.\r\n"}) / "a.txt") == ["Go.\nStop.\n"]
    assert texts(put({"a.txt": b"Go.\rStop.\r"}) / "a.txt") == ["Go.\nStop.\n"]
    assert texts(put({"a.txt": b"Go.\rGo on.\nStop.\n"}) / "a.txt") == ["Go.\rGo on.\nStop.\n"]


@pytest.mark.parametrize("inside", ["", "SST-2/", "./"])
@pytest.mark.parametrize("pack, name", [(zipped, "a.zip"), (tarred, "a.tar.gz"), (tarred, "a.tgz"), (None, "")])
def test_folders_and_archives_are_read_alike(put, inside, pack, name):
    files = {f"{inside}{part}.tsv": part.encode() for part in ("dev", "test", "train")} | {"__MACOSX/._train.tsv": b"\0"}
    files |= {f"{inside}.train.tsv": b"hidden", f"{inside}old/train.tsv": b"deeper", f"{inside}readme.txt": b"\xff"}
    folder = put({name: pack(files)} if pack else files)
    assert texts(folder / name) == ["train", "dev"]
    assert sorted(path.name for path in folder.iterdir() if pack) == [name] * bool(pack)               # nothing is unpacked


def test_another_layout_is_looked_for_where_one_is_not_complete(put):
    folder = put({"train.tsv": b"1", "test.en": b"2", "train.fr": b"3", "train.en": b"4"})
    assert texts(folder) == ["4", "3"]
    assert texts([folder / "test.en", str(folder / "train.tsv")]) == ["2", "1"]
    with pytest.raises(ValueError, match="3 paths, where 2 are needed"):
        texts((folder, folder, folder))
    (folder / "train.en").unlink()
    (folder / "test.en").unlink()
    with pytest.raises(FileNotFoundError, match=r"holds train.fr, train.tsv, where \*train\*.tsv and dev.tsv, or \*.en and"):
        texts(folder)


def test_a_home_is_found(put, monkeypatch):
    monkeypatch.setenv("HOME", str(put({"train.tsv": b"1", "dev.tsv": b"2"})))
    monkeypatch.setenv("USERPROFILE", os.environ["HOME"])
    assert texts("~") == ["1", "2"] and texts("~/dev.tsv") == ["2"]


def test_what_is_no_file_is_an_error_and_no_hang(put):
    folder = put({"dev.tsv": b"1"})
    with pytest.raises(FileNotFoundError, match="none.txt is not there"):
        texts(folder / "none.txt")
    (folder / "train.tsv").mkdir()
    with pytest.raises(ValueError, match="train.tsv is a folder or a pipe, where a file is needed"):
        texts(folder)
    (folder / "train.tsv").rmdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / "train.tsv")
        for path in (folder, folder / "train.tsv"):
            with pytest.raises(ValueError, match="train.tsv is a folder or a pipe, where a file is needed"):
                texts(path)


@pytest.mark.parametrize("content, line, came", [(b"Go.\n\xe9t\xe9\n", 2, r"\\xe9t"), ("Go.\n".encode("utf-16"), 1, r"\\xff\\xfe"),
                                                 (b"Go.\nSt\0p.\n", 2, r"\\x00p"), ("Go.".encode("utf-16-be"), 1, r"\\x00G")])
def test_text_that_is_not_utf_8_is_refused_with_the_line(put, content, line, came):
    folder = put({"a.txt": content, "a.zip": zipped({"b.txt": content})})
    for name in ("a.txt", "a.zip"):
        with pytest.raises(ValueError, match=rf"{name}.*, line {line}: b'{came}.*', where UTF-8 is needed"):
            texts(folder / name)


@pytest.mark.parametrize("name, pack", [("a.zip", zipped), ("a.tar.gz", tarred), ("a.gz", lambda files: gzip.compress(b"1" * 999)),
                                        ("a.xz", lambda files: lzma.compress(b"1" * 999))])
def test_an_archive_that_is_cut_is_called_damaged_unless_all_files_are_there(put, name, pack):
    whole = pack({"train.tsv": bytes(range(32, 127)) * 9, "dev.tsv": b"2"})
    good, errors = texts(put({name: whole}) / name), 0
    for size in range(1, len(whole), 7):
        try:
            assert texts(put({name: whole[:size]}) / name) == good
        except ValueError as error:
            assert f"{name} is damaged or cannot be read: " in str(error) and "\n" not in str(error)
            errors += 1
    assert errors > 0.7 * len(whole) / 7


# ---- published ------------------------------------------------------------------------------------------------------

GOOD = {"any/train.tsv": CONTENT, "any/dev.tsv": b"dev"}
KNOWN = [hashlib.sha256(content).hexdigest() for content in GOOD.values()]
ARCHIVE = zipped(GOOD)
CHECKSUM = f"sha1:{hashlib.sha1(ARCHIVE).hexdigest()}"


@pytest.fixture
def cache(put, monkeypatch):
    """Puts files into the folder of a set, in a cache folder that the environment names."""
    def write(files):
        folder = put(files, "cache/pairs")
        folder.mkdir(parents=True, exist_ok=True)
        return folder
    monkeypatch.setenv(CACHE, str(put({}, "cache")))
    published.print_once.cache_clear()
    return write


@pytest.fixture
def site(put):
    """(folder, address): what is put in the folder can be fetched."""
    folder = put({"a.zip": ARCHIVE}, "site")
    with serve(http.server.SimpleHTTPRequestHandler, directory=folder) as address:
        yield folder, address


def read(url="https://course.invalid/a.zip"):
    return [file.text for file in read_published("pairs", *LAYOUTS, known=KNOWN, url=url, checksum=CHECKSUM)]


@pytest.mark.parametrize("files", [{"train.tsv": CONTENT, "dev.tsv": b"dev"}, GOOD, {"a.zip": ARCHIVE}])
def test_a_known_copy_is_read_without_a_network_or_a_word(cache, files, capsys):
    cache(files)
    assert read() == [TEXT, "dev"] and capsys.readouterr() == ("", "")


@pytest.mark.parametrize("files, unknown", [({"train.tsv": CONTENT, "dev.tsv": b"new"}, "dev.tsv"),
                                            ({"b.zip": zipped(GOOD | {"any/dev.tsv": b"new"})}, "b.zip"),
                                            ({"b.tar.gz": tarred(GOOD | {"any/dev.tsv": b"new"})}, "b.tar.gz")])
def test_an_unknown_edition_is_read_and_said_to_be_unknown_once(cache, files, unknown, capsys):
    cache(files)
    assert read() == read() == [TEXT, "new"]
    assert [line.split("/")[-1] for line in capsys.readouterr().out.splitlines()] == [
        f"{unknown} is an edition that is not known here; it is read as it is."]


def test_a_damaged_archive_is_refused_and_kept(cache):
    folder = cache({"a.zip": ARCHIVE[:50]})
    with pytest.raises(ValueError, match="a.zip is damaged"):
        read()
    assert (folder / "a.zip").read_bytes() == ARCHIVE[:50]


def test_a_file_without_an_address_is_asked_for(cache):
    with pytest.raises(FileNotFoundError, match="pairs is not there. Write to us."):
        read_published("pairs", *LAYOUTS, known=KNOWN, advice="Write to us.")


def test_without_a_network_the_error_says_what_to_do(cache):
    folder = cache({})
    with pytest.raises(FileNotFoundError, match=r"ConnectionError.*Is there a network\?.*ATTENTION_COURSE_CACHE"):
        read()
    assert list(folder.iterdir()) == []


def test_an_archive_is_fetched_once(cache, site, capsys):
    folder, address = site
    assert read(f"{address}/a.zip") == [TEXT, "dev"]
    (folder / "a.zip").unlink()
    assert read(f"{address}/a.zip") == [TEXT, "dev"]
    assert capsys.readouterr().out == ""


def test_a_download_that_fails_its_checksum_leaves_nothing(cache, site):
    folder, address = site
    (folder / "a.zip").write_bytes(zipped(GOOD | {"any/dev.tsv": b"new"}))
    here = cache({"dev.tsv": b"dev"})
    with pytest.raises(ValueError, match="does not match"):
        read(f"{address}/a.zip")
    assert [path.name for path in here.iterdir()] == ["dev.tsv"]


def test_a_site_that_does_not_have_it_says_so(cache, site):
    with pytest.raises(FileNotFoundError, match="HTTPError"):
        read(f"{site[1]}/none.zip")


def test_nothing_of_an_archive_is_unpacked(cache, tmp_path):
    cache({"a.zip": zipped({"/train.tsv": CONTENT, "/any/dev.tsv": b"dev"})})
    assert read() == [TEXT, "dev"]
    assert not list(tmp_path.rglob("*.tsv")) and not os.path.exists("/train.tsv")


def test_the_environment_names_the_folder(monkeypatch, tmp_path):
    monkeypatch.setenv(CACHE, str(tmp_path))
    assert cache_folder() == tmp_path
    for home in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(home, str(tmp_path))
    monkeypatch.setenv(CACHE, "~/c")
    assert cache_folder() == tmp_path / "c"
    for unset in (partial(monkeypatch.setenv, CACHE, ""), partial(monkeypatch.delenv, CACHE)):
        unset()
        assert cache_folder().name == "attention-course"
