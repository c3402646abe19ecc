"""The source of the standard library: split by file, the same in every version; and folders of one's own."""
import os

import pytest

from helpers.data.programs import load_programs
from helpers.text import Vocab


def test_the_standard_library_is_split_by_files():
    programs = load_programs()
    sizes = {part: sum(map(len, files)) for part, files in programs.items()}
    assert 2e6 < sizes["train"] < 6e6 and all(1e5 < sizes[part] < 8e5 for part in ("validation", "test"))
    files = [text for part in programs.values() for text in part if text]
    assert len(set(files)) == len(files) and all(map(str.isascii, files))
    assert sum("def copytree(" in text for text in programs["test"]) == 1               # shutil, in every version
    assert {character for text in programs["test"] for character in text} <= set(Vocab(programs["train"]).tokens)


def test_a_folder_of_ones_own(tmp_path):
    (tmp_path / "inside").mkdir()
    for i in range(200):
        (tmp_path / "inside" / f"f{i}.py").write_text(f"x = {i}\n")
    (tmp_path / "other.py").write_text("é", encoding="utf-8")
    programs = load_programs(tmp_path)
    assert sum(map(len, programs.values())) == 200 and len(programs["train"]) > 160
    assert programs == load_programs(tmp_path)


def test_what_is_no_file_is_no_program(tmp_path):
    for part in range(60):
        (tmp_path / f"{part}.py").write_text(str(part))
    alone = load_programs(tmp_path)
    (tmp_path / "folder.py").mkdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.py")
    assert load_programs(tmp_path) == alone


def test_too_few_files_are_refused(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n")
    with pytest.raises(ValueError, match="more files are needed"):
        load_programs(tmp_path)
