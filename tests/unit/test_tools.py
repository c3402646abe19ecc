"""Every tool says what it does when it is asked, and does nothing else then."""
import subprocess
import sys

import pytest

from tests.notebooks import ROOT

TOOLS = [path for path in sorted((ROOT / "tools").rglob("*.py")) if '__name__ == "__main__"' in path.read_text(encoding="utf-8")]


def name_of(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__main__")


@pytest.mark.parametrize("path", TOOLS, ids=name_of)
def test_help(path):
    assert "ArgumentParser" in path.read_text(encoding="utf-8")         # before it is run: some tools take hours
    run = subprocess.run([sys.executable, "-m", name_of(path), "--help"], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0 and run.stdout.startswith(f"usage: python -m {name_of(path)}"), run.stderr
    assert len(run.stdout.split("\n\n")[1]) > 40                        # the description
