"""The unit tests under each Python that the course supports, and with the oldest torch: python tools/matrix.py [python3.12 ...]

Each gets an environment of its own, made as a reader's is, by `make`, and removed afterwards. What this machine does not have is
skipped, and said. It fails where a test failed, and where none ran.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PYTHONS = ["python3.10", "python3.11", "python3.12", "python3.13"]
OLDEST_TORCH = "torch==2.6.*"                                           # of the code; the lessons print what the newest does
CPU = ["--retries", "1", "--extra-index-url", "https://download.pytorch.org/whl/cpu"]
ANOTHER_TORCH = "tests/test_environment.py"                             # which says that this torch is not the newest


def run(*command, **environment):
    """(whether it worked, all that it said)."""
    try:
        done = subprocess.run(command, cwd=ROOT, env=os.environ | environment, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except FileNotFoundError as error:
        return False, str(error)
    return done.returncode == 0, done.stdout.strip()


def verdict(python, torch=None):
    """("passed", "failed" or "skipped", what there is to say about it)."""
    version = {"PYENV_VERSION": python.removeprefix("python")}           # where pyenv is what gives pythons
    if not run(python, "--version", **version)[0]:
        return "skipped", "this machine does not have it"
    with tempfile.TemporaryDirectory() as folder:
        there = pathlib.Path(folder) / ("Scripts" if os.name == "nt" else "bin") / "python"
        done, said = run("make", f"VENV={folder}", f"PYTHON={python}", f"{folder}/ready", **version)
        if done and torch:
            done, said = run(there, "-m", "pip", "install", *CPU, torch)
        if not done and "No matching distribution found for torch" in said:
            return "skipped", "there is no torch for it here"
        if done:
            done, said = run(there, "-m", "pytest", "tests", *(["--deselect", ANOTHER_TORCH] if torch else []))
    if not done:
        print("\n".join(said.splitlines()[-40:]))
    return "passed" if done else "failed", said.splitlines()[-1].strip("= ")


def report(python, torch=None):
    """Print a row of the table; return its word."""
    word, reason = verdict(python, torch)
    print(f"{python:12}{torch or 'torch':14}{word:9}{reason}", flush=True)
    return word


def main(pythons):
    """Print the table, and last how many passed, failed and were skipped; return what the process exits with."""
    words = {python: report(python) for python in pythons}
    found = [python for python, word in words.items() if word != "skipped"]
    words = [*words.values(), *(report(python, OLDEST_TORCH) for python in found[:1])]           # one of them is enough for that
    print(", ".join(f"{words.count(word)} {word}" for word in ("passed", "failed", "skipped")))
    return 1 if "failed" in words or "passed" not in words else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or PYTHONS))
