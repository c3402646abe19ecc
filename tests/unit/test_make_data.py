"""What the project makes and ships: the same bytes as ever, and what its makers still write."""
import hashlib
import lzma
import subprocess
import sys

import pytest

from tests.notebooks import ROOT
from tools.make_data import entailment
from tools.make_data.__main__ import FOLDER, MAKERS, main

SHA256 = {
    "couplets.tsv.xz": "19980a4f6170a34840715086215c4a38a91cf7868022fd49d0c19d88e27e831c",
    "entailment_test.tsv.xz": "f18e1dc95996182aae842fdb9a667e85559c626e788e2a86a4b18c48e9526a1c",
    "entailment_train.tsv.xz": "c2fdc2d6e117847d6a968d9300efbc067650ea4534da66cbab7b55702d91d10f",
    "lexicon.tsv": "282ed2daa2f3854230bb052734256acaba079479572515bcd143387f57cd538a",
    "questions_test.tsv.xz": "73ebf361750ae684b679a5716cef148c77155c7d652840b5e3e8b6a3776f0d4c",
    "questions_train.tsv.xz": "e64b5fa52dfe8a93011048bc26882c7735258eb6b687e168140a0eac42a86224",
    "translation.tsv.xz": "9edd54d0884a00e6a5b0e8890734f74339df0fb6f6cda702f26b75924858e64f",
}


def content(file):
    """The text as it was written; git may have changed the line ends of one that is not compressed."""
    found = (FOLDER / file).read_bytes()
    return lzma.decompress(found) if file.endswith(".xz") else found.replace(b"\r\n", b"\n")


def test_every_file_that_ships_is_known():
    assert {file.name for file in FOLDER.iterdir() if file.is_file() and file.suffix != ".py"} == set(SHA256)
    assert sum((FOLDER / file).stat().st_size for file in SHA256) < 3_000_000


@pytest.mark.parametrize("file", SHA256)
def test_it_ships_unchanged(file):
    assert hashlib.sha256(content(file)).hexdigest() == SHA256[file]


@pytest.mark.parametrize("name", ["translation", "couplets", "questions"])
def test_the_makers_still_write_it(name):
    for file, text in MAKERS[name]().items():
        assert text.encode() == content(file), file


def test_the_first_parts_of_entailment_too():
    for part, pairs in zip(("train", "test"), entailment.sets([(1000, 400), (2000, 400)])):
        lines = content(f"entailment_{part}.tsv.xz").decode().split("\n")[1:len(pairs) + 1]
        assert [line.split("\t")[1:] for line in lines] == [[premise, hypothesis] for premise, hypothesis, _ in pairs]


def test_a_file_is_written_the_same_each_time(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("tools.make_data.__main__.FOLDER", tmp_path)
    monkeypatch.setattr(sys, "argv", ["make_data", "questions"])
    main()
    for file in ("questions_train.tsv.xz", "questions_test.tsv.xz"):
        assert (tmp_path / file).read_bytes() == (FOLDER / file).read_bytes()
    assert "questions_test.tsv.xz: 10,528 bytes" in capsys.readouterr().out


@pytest.mark.parametrize("option, code, said", [
    ("--help", 0, "of what to write: translation, couplets"), ("verses", 2, "verses: the names are translation, couplets"),
])
def test_the_command_says_what_it_can_write(option, code, said):
    done = subprocess.run([sys.executable, "-m", "tools.make_data", option], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == code and said in done.stdout + done.stderr
