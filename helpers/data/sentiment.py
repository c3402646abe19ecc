"""Sentences with labels: one's own, or SST-2, phrases of reviews, praise or blame (Socher et al. 2013)."""
import re

from helpers.data.published import columns, read_files, read_published, two_parts

# Known are GLUE's 67,349 training rows as two files, nine tenths and one tenth, and not those of its archive.
KNOWN = ["920e317b2c52e12cd22db1da2c6708312bd7dc4f3712b9bbf1b50ee6c2c792ba",
         "92353770071a2a889f75d000a38a9e541ea8f0a5499e50f040b17917a5cbf66f"]
ADVICE = ("SST-2 is at https://dl.fbaipublicfiles.com/glue/data/SST-2.zip (its licence is not stated): put the "
          "archive there, or its files train.tsv and dev.tsv.")
LAYOUTS = tuple(("*train*.?sv", other) for other in ("*dev*.?sv", "*val*.?sv", "*test*.?sv"))


def load_sentiment(path=None) -> tuple[list, list]:
    """(train, validation): lists of (sentence, label), as in the files; in SST-2 1 is praise, and 0 blame.

    SST-2 is read from sst2 in the cache folder (see `read_published`), where you put GLUE's archive.
    path: in place of it, a folder or archive with train.tsv and dev.tsv, or CSV, or one table, of which
        a tenth is for validation. Labels in words get numbers in the order of the alphabet.
    Raises ValueError for a damaged file, FileNotFoundError where one is not there.
    """
    files = read_published("sst2", *LAYOUTS, path=path, known=KNOWN, advice=ADVICE)
    return two_parts(labelled(files)[0])


def load_labelled(path) -> tuple[list, list[str]]:
    """(examples, names): a list of (sentence, label), the label an index in names, which are in order.

    path: a table, between tabs or CSV: a header that names the columns text (or sentence, review) and label
        (or class, sentiment) in any order, or the text in the first column and the label in the second.
    """
    parts, names = labelled(read_files(path, ("*train*.?sv",), ("*.?sv",)))
    return parts[0], names


def load_parts(path) -> tuple[list, list, list, list[str]]:
    """(train, validation, test, names) of one's own table; see `load_labelled` and `load_messages`."""
    parts, names = labelled(read_files(path, *LAYOUTS, ("*.?sv",)))
    known, test = two_parts(parts)
    return *two_parts([known]), test, names


def labelled(files):
    """(a list of (sentence, label) for each file, names of the labels)."""
    tables = [columns(file, "sentence text review", "label class sentiment") for file in files]
    found = {label.strip() for rows in tables for _, (_, label) in rows}
    names = sorted(found, key=int if all(re.fullmatch(r"-?\d+", label) for label in found) else str)
    index = {name: i for i, name in enumerate(names)}
    return [[(text.strip(), index[label.strip()]) for _, (text, label) in rows] for rows in tables], names
