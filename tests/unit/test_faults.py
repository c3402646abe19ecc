"""What can go wrong outside the course: the reader is told what to do, what was good stays good, and nothing is left behind.

Here are the faults of a file that is fetched or written. Of the others,
    a download that fails its checksum, a damaged file or archive     test_published.py
    a model of the hub: the line breaks, no network, a damaged file   test_hub.py, test_checkpoints.py
    pretraining: stopped, killed, a full disk                         test_pretrain.py
    a kernel that is interrupted, cells run twice                     test_reruns.py
"""
import hashlib
import io
import socket
import subprocess
import sys
import threading
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler

import pytest
import requests
import torch
from safetensors import SafetensorError
from torch import nn

from breaking import Cut, full_disk, read_only
from helpers.bert import Bert, BertForPretraining
from helpers.data.published import read_published
from helpers.pretrained.format import load_bert, save_bert
from helpers.pretrained.weights import SHIPPED, load_weights, save_weights
from helpers.text import read_wordpiece
from sites import serve
from tests.notebooks import ROOT

TEXT = "Go.\tVa !\n" * 1000
with zipfile.ZipFile(packed := io.BytesIO(), "w") as archive:
    archive.writestr("fra-eng/fra.txt", TEXT)
CONTENT = packed.getvalue()
CHECKSUM = f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"


@pytest.fixture
def folder(tmp_path):
    """What a site serves: one published archive."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "a.zip").write_bytes(CONTENT)
    return tmp_path / "site"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache folder, not made yet."""
    monkeypatch.setenv("ATTENTION_COURSE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def fetch(address):
    [file] = read_published("pairs", ("fra.txt",), url=f"{address}/a.zip", checksum=CHECKSUM)
    return file.text


def files(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# The network

def test_the_tests_have_no_network():
    for look_up in (partial(socket.getaddrinfo, "course.invalid", 80), partial(socket.gethostbyname, "course.invalid"),
                    partial(socket.create_connection, ("192.0.2.1", 80), 1)):
        with pytest.raises(OSError, match="the tests have no network"):
            look_up()
    with pytest.raises(requests.ConnectionError, match="the tests have no network"):
        requests.get("http://course.invalid", timeout=1)


def test_a_line_that_breaks_leaves_nothing_and_the_next_try_fetches_all(folder, cache):
    with serve(Cut, directory=folder) as address, pytest.raises(FileNotFoundError, match=r"is not there.*Is there a network\?"):
        fetch(address)
    assert files(cache) == {}
    with serve(SimpleHTTPRequestHandler, directory=folder) as address:
        assert fetch(address) == TEXT


def test_two_processes_fetch_the_same_file_at_once(folder, cache):
    together = threading.Barrier(2, timeout=60)

    class Both(SimpleHTTPRequestHandler):
        def copyfile(self, source, outputfile):
            together.wait()                                             # until the other one has asked too
            super().copyfile(source, outputfile)

    with serve(Both, directory=folder) as address:
        call = f"read_published('pairs', ('fra.txt',), url='{address}/a.zip', checksum='{CHECKSUM}')[0].text"
        command = [sys.executable, "-c", f"from helpers.data.published import read_published; assert len({call}) == {len(TEXT)}"]
        both = [subprocess.Popen(command, cwd=ROOT) for _ in range(2)]
        assert [process.wait(60) for process in both] == [0, 0]
    assert files(cache) == {"a.zip": CONTENT}


# The disk

def test_a_disk_that_is_full_in_a_download(folder, cache):
    with serve(SimpleHTTPRequestHandler, directory=folder) as address:
        with full_disk(), pytest.raises(OSError, match=r"a.zip cannot be kept as .*and room; ATTENTION_COURSE_CACHE names another"):
            fetch(address)
        assert files(cache) == {}
        assert fetch(address) == TEXT


def test_a_cache_that_cannot_be_written_to(folder, cache, tmp_path):
    with serve(SimpleHTTPRequestHandler, directory=folder) as address:
        with read_only(tmp_path), pytest.raises(OSError, match="Read-only.* needs a folder that can be written to"):
            fetch(address)
        cache.write_text("a file where the folder should be")
        with pytest.raises(OSError, match="cannot be kept as .* needs a folder that can be written to"):
            fetch(address)


def test_a_cache_that_a_class_can_only_read(cache, tmp_path):
    (cache / "pairs").mkdir(parents=True)
    (cache / "pairs" / "a.zip").write_bytes(CONTENT)
    with read_only(tmp_path):
        assert fetch("https://course.invalid") == TEXT


def test_weights_on_a_full_disk_leave_those_before(tmp_path):
    path = tmp_path / "model.safetensors"
    save_weights(nn.Linear(20, 20), path)
    before, model = files(tmp_path), nn.Linear(20, 20)
    with full_disk(), pytest.raises((OSError, SafetensorError), match="too large|No space"):
        save_weights(model, path)
    assert files(tmp_path) == before and load_weights(model, path)


def test_a_bert_on_a_full_disk_leaves_the_one_before(tmp_path):
    """There is room for all of its files but the last, the vocabulary."""
    tokenizer = read_wordpiece(SHIPPED / "bert" / "vocab.txt")
    save_bert(load_bert(SHIPPED / "bert"), tmp_path, tokenizer, dtype=torch.float16)
    before = files(tmp_path)
    narrow = BertForPretraining(Bert(tokenizer.get_vocab_size(), 2, 1, 2, 1, 8, norm="post"))
    with full_disk(len(before["vocab.txt"]) - 1), pytest.raises(OSError, match="too large|No space"):
        save_bert(narrow, tmp_path, tokenizer, dtype=torch.float16)
    assert files(tmp_path) == before
    save_bert(narrow, tmp_path, tokenizer, dtype=torch.float16)
    assert load_bert(tmp_path) and files(tmp_path).keys() == before.keys()
