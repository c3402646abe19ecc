"""Ways to break a disk and a line, for the tests of what comes of it."""
import contextlib
import errno
import http.server
import os
import pathlib
import sys

import pytest

READ_ONLY = set()                                                       # folders


def refuse_to_write(event, args):
    """An audit hook, since no permission stops a test that runs as root."""
    writes = event == "open" and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) or event in ("os.mkdir", "os.rename", "os.remove")
    if READ_ONLY and writes and isinstance(args[0], (str, os.PathLike)) and READ_ONLY & set(pathlib.Path(args[0]).parents):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(args[0]))


sys.addaudithook(refuse_to_write)


@contextlib.contextmanager
def read_only(folder):
    """In the block, Python writes nothing into a folder."""
    READ_ONLY.add(folder)
    try:
        yield
    finally:
        READ_ONLY.remove(folder)


@contextlib.contextmanager
def full_disk(size=1000):
    """In the block, no file grows beyond so many bytes, whoever writes it; skips the test where the system cannot do that."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


class Cut(http.server.SimpleHTTPRequestHandler):
    """Serves the files of a folder, and breaks off in the middle of each."""

    def copyfile(self, source, outputfile):
        content = source.read()
        outputfile.write(content[:len(content) // 2])
