"""Published data is read only as it was published: everything else is refused, and harms nothing."""
import hashlib
import http.server
import io
import zipfile
from functools import partial

import pytest

from helpers.data.published import cache_folder, read_published
from sites import serve

TEXT = "Go.\tVa\u202f!\nŒuf, été, 春\n"
CONTENT = TEXT.encode("utf-8")
SIZES = {hashlib.sha256(CONTENT).hexdigest(): len(CONTENT)}


def zipped(text, name="pairs/a.txt"):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as files:
        files.writestr(zipfile.ZipInfo(name), text)            # the time in ZipInfo is fixed: the same bytes each time
    return archive.getvalue()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache folder that the environment names."""
    monkeypatch.setenv("ATTENTION_COURSE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache" / "pairs").mkdir(parents=True)
    return tmp_path / "cache" / "pairs"


@pytest.fixture
def site(tmp_path):
    """(folder, address): what is put in the folder can be fetched."""
    folder = tmp_path / "site"
    folder.mkdir()
    with serve(http.server.SimpleHTTPRequestHandler, directory=folder) as address:
        yield folder, address


def test_a_good_copy_is_read_without_a_network_every_character_kept(cache):
    (cache / "a.txt").write_bytes(CONTENT)
    assert read_published("pairs/a.txt", SIZES, "https://course.invalid/a.txt", "sha1:0") == TEXT


def test_any_of_several_published_versions_will_do(cache):
    other = b"another edition, longer than the first one\n"
    sizes = SIZES | {hashlib.sha256(other).hexdigest(): len(other)}
    for content in (CONTENT, other):
        (cache / "a.txt").write_bytes(content)
        assert read_published("pairs/a.txt", sizes) == content.decode()


@pytest.mark.parametrize(("content", "reason"), [
    (CONTENT[:-7], "cut short"),
    (b"", "0 bytes of 28: it is cut short"),
    (CONTENT.replace(b"Go", b"No"), "it was changed"),
    (CONTENT + b"more", "32 bytes, where 28 were published: it is another file"),
    (b"\xff\xfe" * 100, "another file"),
])
def test_a_damaged_file_is_refused_with_the_reason_and_kept(cache, content, reason):
    (cache / "a.txt").write_bytes(content)
    with pytest.raises(ValueError, match=reason) as error:
        read_published("pairs/a.txt", SIZES, "https://course.invalid/a.txt", "sha1:0")
    assert str(cache / "a.txt") in str(error.value)
    assert (cache / "a.txt").read_bytes() == content


def test_a_missing_file_without_an_address_is_named(cache):
    with pytest.raises(FileNotFoundError, match="a.txt is not there, and there is no address"):
        read_published("pairs/a.txt", SIZES)


def test_without_a_network_the_error_says_what_to_do(cache):
    with pytest.raises(FileNotFoundError, match=r"ConnectionError.*Is there a network\?.*ATTENTION_COURSE_CACHE"):
        read_published("pairs/a.txt", SIZES, "https://course.invalid/a.zip", "sha1:0", member="a.txt")
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize("member", [None, "pairs/a.txt"])
def test_a_file_is_fetched_once_from_a_site_or_from_an_archive_there(cache, site, member):
    folder, address = site
    content = zipped(TEXT) if member else CONTENT
    (folder / "a.any").write_bytes(content)
    read = partial(read_published, "pairs/a.txt", SIZES, f"{address}/a.any", f"sha1:{hashlib.sha1(content).hexdigest()}", member)
    assert read() == TEXT
    (folder / "a.any").unlink()
    assert read() == TEXT


def test_a_download_that_fails_its_checksum_replaces_nothing(cache, site):
    folder, address = site
    good, bad = zipped(TEXT), zipped("something else")
    (folder / "a.zip").write_bytes(bad)
    (cache / "other.txt").write_bytes(CONTENT)
    checksum = f"sha1:{hashlib.sha1(good).hexdigest()}"
    read = partial(read_published, "pairs/a.txt", SIZES, f"{address}/a.zip", checksum, "pairs/a.txt")
    with pytest.raises(ValueError, match="does not match"):
        read()
    assert [path.name for path in cache.iterdir()] == ["other.txt"]
    (cache / "a.zip").write_bytes(good)                        # once a good one is there, the site is not asked
    assert read() == TEXT
    assert (cache / "a.zip").read_bytes() == good


def test_a_damaged_archive_in_the_cache_is_fetched_anew(cache, site):
    folder, address = site
    good = zipped(TEXT)
    (folder / "a.zip").write_bytes(good)
    (cache / "a.zip").write_bytes(good[:50])
    checksum = f"sha1:{hashlib.sha1(good).hexdigest()}"
    assert read_published("pairs/a.txt", SIZES, f"{address}/a.zip", checksum, "pairs/a.txt") == TEXT


def test_nothing_of_an_archive_is_unpacked(cache, site, tmp_path):
    folder, address = site
    content = zipped(TEXT, name="../../escaped.txt")
    (folder / "a.zip").write_bytes(content)
    checksum = f"sha1:{hashlib.sha1(content).hexdigest()}"
    assert read_published("pairs/a.txt", SIZES, f"{address}/a.zip", checksum, "../../escaped.txt") == TEXT
    assert not list(tmp_path.rglob("escaped.txt"))


def test_a_site_that_does_not_have_it_says_so(cache, site):
    with pytest.raises(FileNotFoundError, match="HTTPError"):
        read_published("pairs/a.txt", SIZES, f"{site[1]}/none.zip", "sha1:0", "a.txt")


def test_the_environment_names_the_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTENTION_COURSE_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    for unset in (lambda: monkeypatch.setenv("ATTENTION_COURSE_CACHE", ""), lambda: monkeypatch.delenv("ATTENTION_COURSE_CACHE")):
        unset()
        assert cache_folder().name == "attention-course"
