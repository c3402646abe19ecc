"""English sentences and their French: from a small grammar, the published Tatoeba pairs, or one's own."""
from helpers.data.published import SHIPPED, columns, parallel, read_published

KNOWN = ["ca5511a012cdbe2c135160af469f1b5ae1b39d4863e522cca69e05e8cd1ad69d"]       # 163,698 of its 167,130 lines
URL = "http://d2l-data.s3-accelerate.amazonaws.com/fra-eng.zip"
CHECKSUM = "sha1:94646ad1522d915e7b0f9296181140edcf86a4f5"
PLAIN = str.maketrans("\u00a0\u2009\u202f", "   ", "\u00ad\u200b")       # spaces; a soft hyphen, a space of no width
LAYOUTS = ("???.txt",), ("*.en", "*.fr")


def load_translation(name: str = "grammar", path=None) -> list[tuple[str, str]]:
    """Pairs (English, French) of sentences as they are written, in an order that is the same everywhere.

    name: "grammar", 30,000 different English sentences from the course's own grammar (tools/make_data), each
        with its one French translation, in a random order: the first n are a fair sample.
        "fra-eng", 167,000 pairs of Tatoeba and ManyThings, CC BY 2.0, shortest first, many English sentences
        with several translations; read from fra-eng in the cache folder (see `read_published`), or fetched.
    path: in place of a name, fra.txt or another table with English in its first column and French in the
        second; or two files with a sentence on each line, (English, French); or a folder or archive that
        holds fra.txt, or train.en and train.fr. Pairs with an empty side are left out.
    Raises ValueError for another name and a damaged file, FileNotFoundError without file and network.
    """
    if path is None and name == "grammar":
        path = SHIPPED / "translation.tsv.xz"
    elif path is None and name != "fra-eng":
        raise ValueError(f'no pairs are called {name!r}: choose "grammar" or "fra-eng", or give a path')
    files = read_published("fra-eng", *LAYOUTS, path=path, known=KNOWN, url=URL, checksum=CHECKSUM)
    rows = columns(*files, "english en", "french fr") if len(files) == 1 else enumerate(parallel(*files))
    pairs = [tuple(text.translate(PLAIN).strip() for text in pair) for _, pair in rows]
    return [pair for pair in pairs if all(pair)]
