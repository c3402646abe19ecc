"""Is everything there that the course needs? Asked once, on the first page, and answered in words."""
import importlib.metadata
import sys

COURSE, OLDEST, NEWEST = "attention-course", (3, 10), (3, 13)


def check_environment():
    """Print what is missing, or that nothing is."""
    print("\n".join(troubles()) or "Everything that the course needs is here.")


def troubles(python=sys.version_info[:2], version=importlib.metadata.version):
    """A list of sentences, one for each thing that is missing or too old, and what to do about it.

    python: the version, such as (3, 12). version: from the name of a package to that of what is installed.
    """
    found = []
    if not OLDEST <= python <= NEWEST:
        found.append(f"This is Python {'.'.join(map(str, python))}: the course needs 3.10 to 3.13. "
                     "`make lab PYTHON=python3.12` takes another one that you have.")
    try:
        from packaging.requirements import Requirement  # here: it may be what is missing
    except ModuleNotFoundError:
        return [*found, f"packaging is missing: {how_to_get('packaging')}"]
    try:
        requirements = importlib.metadata.requires(COURSE)
    except importlib.metadata.PackageNotFoundError:
        return [*found, "The course is not installed in this Python: open it by `make lab`, as the README says, "
                        'or run `pip install -e ".[test]"` in its folder.']
    for needed in map(Requirement, requirements):
        if needed.marker is not None and not needed.marker.evaluate():       # what only the tests need
            continue
        advice = how_to_get(needed.name, needed.specifier)
        try:
            there = version(needed.name)
        except importlib.metadata.PackageNotFoundError:
            found.append(f"{needed.name} is missing: {advice}")
        else:
            if not needed.specifier.contains(there, prereleases=True):
                found.append(f"{needed.name} is {there}, and {needed.specifier} is needed: {advice}")
    return found


def how_to_get(name, specifier=""):
    """What to type, for this very Python."""
    return f'run `"{sys.executable}" -m pip install "{name}{specifier}"`, or `make lab` again.'
