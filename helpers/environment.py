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
        found.append(f"This is Python {'.'.join(map(str, python))}: the course needs 3.10 to 3.13. `make lab PYTHON=python3.12` "
                     "takes another one that you have.")
    try:
        from packaging.requirements import Requirement  # here: it may be what is missing
    except ModuleNotFoundError:
        return [*found, f"packaging is missing: {how_to_get('packaging')}"]
    try:
        requirements = importlib.metadata.requires(COURSE)
    except importlib.metadata.PackageNotFoundError:
        return [*found, "The course is not installed in this Python: open it by `make lab`, as the README says, "
                        'or run `pip install -e ".[test]"` in its folder.']
    for requirement in map(Requirement, requirements):
        if requirement.marker is None or requirement.marker.evaluate():      # not what only the tests need
            found += trouble_with(requirement, version)
    return found


def trouble_with(requirement, version):
    """No sentence if a package is there and new enough, else one."""
    try:
        there = version(requirement.name)
    except importlib.metadata.PackageNotFoundError:
        return [f"{requirement.name} is missing: {how_to_get(requirement.name, requirement.specifier)}"]
    if not requirement.specifier.contains(there, prereleases=True):
        return [f"{requirement.name} is {there}, and {requirement.specifier} is needed: "
                f"{how_to_get(requirement.name, requirement.specifier)}"]
    return []


def how_to_get(name, specifier=""):
    """What to type, for this very Python."""
    return f'run `"{sys.executable}" -m pip install "{name}{specifier}"`, or `make lab` again.'
