"""Published data sets: found in the cache folder, or fetched into it, and never read before they are checked."""
import hashlib
import os
import pathlib
import zipfile

import pooch
import requests

CACHE = "ATTENTION_COURSE_CACHE"                     # names another cache folder, one that a class shares, say
ARCHIVE = ("Move it away, and put the whole archive beside it instead, {}, as it is: that is read without unpacking, and "
           "fetched by the next call where there is a network.")                       # advice, of the archive's address


def cache_folder():
    """Where published data is kept: what the environment variable ATTENTION_COURSE_CACHE names, or the user's cache."""
    return pathlib.Path(os.environ.get(CACHE) or pooch.os_cache("attention-course"))


def read_published(file, sizes, url=None, checksum=None, member=None, advice=""):
    """The text of `file`, as "fra-eng/fra.txt", in the cache folder; fetched from `url` where it is not there.

    sizes: the published versions of the file, from the sha256 of each to its bytes.
    checksum: of what the url gives, as "sha1:..."; member: the file's name in it, where that is a zip archive.
    advice: where to get a copy by hand, for errors where there is no url.
    Raises ValueError for a file that is damaged or another one, FileNotFoundError where it is not there and cannot be fetched, and
    OSError where what is fetched cannot be written.
    """
    path = cache_folder() / file
    if path.exists():
        content = path.read_bytes()
        check(path, content, sizes, advice or "Move it away and call again to fetch it, or put a good copy in its place.")
    elif url is None:
        raise FileNotFoundError(f"{path} is not there, and there is no address to fetch it from. {advice}".strip())
    else:
        content = fetch(url, checksum, path.parent)
        content = from_archive(content, member) if member else content.read_bytes()
    return content.decode("utf-8")


def check(path, content, sizes, advice):
    """Raise ValueError unless the content is one of the published versions, and say how it differs and what to do."""
    if hashlib.sha256(content).hexdigest() in sizes:
        return
    if len(content) in sizes.values():
        reason = "as many bytes as were published, but not the same: it was changed"
    elif len(content) < min(sizes.values()):
        reason = f"{len(content):,} bytes of {min(sizes.values()):,}: it is cut short, or another file"
    else:
        published = " or ".join(f"{size:,}" for size in sizes.values())
        reason = f"{len(content):,} bytes, where {published} were published: it is another file"
    raise ValueError(f"{path} has {reason}. {advice}")


def fetch(url, checksum, folder):
    """The path of what the url gives, in `folder`; a download that fails its checksum replaces nothing."""
    path = folder / url.rsplit("/", 1)[-1]
    try:
        return pathlib.Path(pooch.retrieve(url, checksum, fname=path.name, path=folder, progressbar=True))
    except requests.RequestException as error:
        trouble = "damaged" if path.exists() else "not there"
        raise FileNotFoundError(f"{path} is {trouble}, and fetching {url} failed ({type(error).__name__}). Is there a network? "
                                f"A good copy can be put there by hand; {CACHE} names another folder.") from error
    except OSError as error:
        raise OSError(f"{url} cannot be kept as {path}: {error}. It needs a folder that can be written to, and room; "
                      f"{CACHE} names another one.") from error


def from_archive(path, member):
    """The bytes of one file of a zip archive; nothing is unpacked onto the disk."""
    with zipfile.ZipFile(path) as archive:
        return archive.read(member)
