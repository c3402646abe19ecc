"""Runs the tests on each Python that the course supports, and with each kind of arithmetic that its CPU has.

Pythons: the tests, without the notebooks, with each Python from 3.10 to 3.13 and once with the oldest torch; all 200 texts are
typed into each lab. Each run gets an environment of its own, made by `make` and removed afterwards. CPU: all tests and
notebooks in the environment at hand, with torch held to SSE4.1, held to AVX2, and as the machine is, with one thread and with
two. These runs say how close comparisons came to failing (tools/margins.py). What this machine does not have is skipped, and
named. The exit status is 1 if anything failed or nothing passed. All of it takes hours; without an option both parts run.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from time import perf_counter

ROOT = pathlib.Path(__file__).resolve().parent.parent
PYTHONS = ["3.10", "3.11", "3.12", "3.13"]
OLDEST_TORCH = "torch==2.6.*"                                           # of the code; the lessons print what the newest does
CPU_BUILDS = ["--retries", "1", "--extra-index-url", "https://download.pytorch.org/whl/cpu"]
ANOTHER_TORCH = "tests/unit/test_environment.py"                        # which says that this torch is not the newest
# What torch says of itself, and the environment that makes it so.
CPUS = {"DEFAULT": {"ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41"},
        "AVX2": {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2"}, "as it is": {}}
CAPABILITY = "import torch; print(torch.backends.cpu.get_cpu_capability())"


def run(*command, **environment):
    """(whether it worked, all that it said)."""
    free = {name: value for name, value in os.environ.items() if name not in CPUS["AVX2"]}
    try:
        done = subprocess.run(command, cwd=ROOT, env=free | environment, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except FileNotFoundError as error:
        return False, str(error)
    return done.returncode == 0, done.stdout.strip()


def outcome(done, said):
    """("passed" or "failed", pytest's last line); what failed is printed."""
    if not done:
        print("\n".join(said.splitlines()[-40:]))
    return "passed" if done else "failed", said.splitlines()[-1].strip("= ")


def try_python(python, torch=None):
    """("passed", "failed" or "skipped", what there is to say about it)."""
    version = {"PYENV_VERSION": python}                                  # where pyenv is what gives pythons
    if not run(f"python{python}", "--version", **version)[0]:
        return "skipped", "this machine does not have it"
    with tempfile.TemporaryDirectory() as folder:
        there = pathlib.Path(folder) / ("Scripts" if os.name == "nt" else "bin") / "python"
        done, said = run("make", f"VENV={folder}", f"PYTHON=python{python}", f"{folder}/ready", **version)
        if done and torch:
            done, said = run(there, "-m", "pip", "install", *CPU_BUILDS, torch)
        if not done and "No matching distribution found for torch" in said:
            return "skipped", "there is no torch for it here"
        if done:
            done, said = run(there, "-m", "pytest", "tests", *(["--deselect", ANOTHER_TORCH] if torch else []), EVERY_TEXT="1")
    return outcome(done, said)


def try_pythons(pythons):
    """Print a row for each Python, and one for the oldest torch with the first that is there; return their words."""
    words = []
    for python in pythons:
        words.append(print_row(f"Python {python}", "torch", *try_python(python)))
    found = [python for python, word in zip(pythons, words) if word != "skipped"]
    return words + [print_row(f"Python {python}", OLDEST_TORCH, *try_python(python, OLDEST_TORCH)) for python in found[:1]]


def try_cpu(cpu, threads, tests):
    """("passed", "failed" or "skipped", what there is to say about it, pytest's lines on margins)."""
    environment = CPUS[cpu] | {"OMP_NUM_THREADS": str(threads)}
    found = run(sys.executable, "-c", CAPABILITY, **environment)[1]
    if CPUS[cpu] and found != cpu:
        return "skipped", f"torch takes {found} here", []
    start, workers = perf_counter(), max(1, (os.cpu_count() or 1) // threads)
    done, said = run(sys.executable, "-m", "pytest", "-p", "tools.margins", f"--numprocesses={workers}", *tests, **environment)
    word, last = outcome(done, said)
    margins = re.findall(r"^margin +\S+: .*", said, flags=re.M)
    thinnest = margins[0].split(":")[0] if margins else "no margin"
    return word, f"{perf_counter() - start:.0f} s, thinnest {thinnest}, {found}, {last}", margins


def try_cpus(tests):
    """Print a row for each setting and number of threads, each with its ten thinnest margins; return their words."""
    words = []
    for cpu in CPUS:
        for threads in (1, 2):
            word, reason, margins = try_cpu(cpu, threads, tests)
            words.append(print_row(cpu, f"{threads} thread" + "s" * (threads > 1), word, reason))
            print(*margins, sep="\n", end="\n" if margins else "", flush=True)
    return words


def print_row(what, how, word, reason):
    """Print a row of the table; return its word."""
    print(f"{what:13}{how:14}{word:9}{reason}", flush=True)
    return word


def main(pythons, cpu, tests):
    """Print the tables, and last how many runs passed, failed and were skipped; return what the process exits with."""
    words = try_pythons(pythons) + (try_cpus(tests) if cpu else [])
    print(", ".join(f"{words.count(word)} {word}" for word in ("passed", "failed", "skipped")))
    return 1 if "failed" in words or "passed" not in words else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.matrix", description=__doc__)
    parser.add_argument("--pythons", nargs="*", metavar="VERSION",
                        help=f"only the Pythons, or only these of them (default: {' '.join(PYTHONS)})")
    parser.add_argument("--cpu", action="store_true", help="only the CPU's arithmetic")
    parser.add_argument("--tests", nargs="*", default=[], metavar="PATH",
                        help="what the CPU's runs are limited to, such as tests/unit/test_masks.py")
    given = parser.parse_args()
    everything = given.pythons is None and not given.cpu
    asked = PYTHONS if everything or given.pythons == [] else given.pythons or []
    sys.exit(main(asked, everything or given.cpu, given.tests))
