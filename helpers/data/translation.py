"""English sentences and their French: from a small grammar that is always there, or the published Tatoeba pairs."""
import functools
import re

from helpers.data.published import read_published
from helpers.data.sentences import sentence_pairs

SIZES = {"ca5511a012cdbe2c135160af469f1b5ae1b39d4863e522cca69e05e8cd1ad69d": 11_431_742}
URL, CHECKSUM = "http://d2l-data.s3-accelerate.amazonaws.com/fra-eng.zip", "sha1:94646ad1522d915e7b0f9296181140edcf86a4f5"


def load_translation(name="grammar"):
    """Pairs (English, French) of sentences as they are written, in an order that is the same everywhere.

    "grammar": 30,000 different English sentences from the course's own grammar, each with its one French translation, in a
        random order: the first n are a fair sample.
    "fra-eng": about 167,000 pairs, shortest first, many English sentences with several translations. Source: Tatoeba,
        put together by ManyThings, CC BY 2.0. Read from the cache folder (see helpers.data.published), fetched the first time.
    Raises ValueError for another name and for a damaged file, FileNotFoundError where there is neither file nor network.
    """
    if name == "grammar":
        return list(grammar_pairs())
    if name == "fra-eng":
        return read_pairs(read_published("fra-eng/fra.txt", SIZES, URL, CHECKSUM, member="fra-eng/fra.txt"))
    raise ValueError(f'no pairs are called {name!r}: choose "grammar" or "fra-eng"')


@functools.cache
def grammar_pairs():
    """The pairs of the grammar, written once."""
    return sentence_pairs()


def read_pairs(text):
    """The first two columns, with plain spaces alone and without invisible characters."""
    text = re.sub("[\u00a0\u2009\u202f]", " ", text)
    text = re.sub("[\u00ad\u200b]", "", text)                  # a soft hyphen, a space of no width
    return [tuple(line.split("\t")[:2]) for line in text.splitlines()]
