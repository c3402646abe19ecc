"""SST-2: phrases of film reviews, and whether they praise or blame (Socher et al. 2013), in the published layout of GLUE."""
from helpers.data.published import read_published

# The sha256 of each file, and its bytes. Known here are GLUE's 67,349 training rows as two files, nine tenths and one tenth,
# not the files of its archive: whoever trusts a copy of those adds their checksums.
PUBLISHED = {
    "sst2/train.tsv": {"920e317b2c52e12cd22db1da2c6708312bd7dc4f3712b9bbf1b50ee6c2c792ba": 3_422_882},
    "sst2/dev.tsv": {"92353770071a2a889f75d000a38a9e541ea8f0a5499e50f040b17917a5cbf66f": 383_214},
}
ADVICE = ("SST-2 is at https://dl.fbaipublicfiles.com/glue/data/SST-2.zip (its licence is not stated). Of that archive, "
          "SST-2/train.tsv and SST-2/dev.tsv go there as sst2/train.tsv and sst2/dev.tsv; their sha256 and sizes go into "
          "helpers/data/sentiment.py, which reads no file that it cannot check.")


def load_sentiment(name="sst2"):
    """(train, dev): lists of (sentence, label), the label 1 for praise and 0 for blame, in the order of the files.

    Read from sst2/train.tsv and sst2/dev.tsv in the cache folder: a header, then `sentence TAB label` on each line.
    Raises ValueError for another name and for a file that is not one of those known, FileNotFoundError where one is not there.
    """
    if name != "sst2":
        raise ValueError(f'{name!r} is not known here: it needs to be "sst2"')
    texts = [read_published(file, sizes, advice=ADVICE) for file, sizes in PUBLISHED.items()]
    return tuple([read_row(row) for row in text.splitlines()[1:]] for text in texts)


def read_row(row):
    """The sentence and the label of one line; the published sentences end with a space, which is dropped."""
    sentence, label = row.split("\t")
    return sentence.strip(), int(label)
