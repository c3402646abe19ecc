"""Text to pretrain on: WikiText (Merity et al. 2017), good articles of Wikipedia, CC BY-SA; or one's own."""
import itertools
import re

from helpers.data.published import File, read_files, read_published, two_parts

# Beside the archive, its validation text is known, and the first 154 articles of WikiText-103's training text.
KNOWN = ["8d4a00bc91005a91627ba5e0022894dcab530813f1be1f9c48a2f5371c9da5cc",
         "f0737ed31fc1329026e95cb8b98e19c2a182c39c240ab909dc31abf2f8af58e8"]
URL = "https://wikitext.smerity.com/wikitext-2-v1.zip"
CHECKSUM = "sha256:92675f1d63015c1c8b51f1656a52d5bdbc33aafa60cc47a218a66e7ee817488c"
LAYOUTS = ("wiki.train.*", "wiki.valid.*"), ("*train*.txt", "*valid*.txt")

HEADING = re.compile(r"^ *= .* = *$", re.MULTILINE)
# A sentence ends at a mark that stands alone, or has a quotation mark or bracket at it, where another one can begin.
SENTENCE_END = re.compile(r"""(?<= [.?!]|[.?!][")]) (?=["'(\[A-Z])""")
PLAIN_END = re.compile(r"""(?:(?<=[.?!])|(?<=[.?!]["')])) +(?=["'(A-Z])""")      # in text as it is written


def load_wikitext(path=None) -> tuple[list, list]:
    """(train, validation): lists of paragraphs, each a list of two or more sentences (see `read_text`).

    WikiText-2 is read from wikitext-2 in the cache folder (see `read_published`), or fetched.
    path: in place of it, a folder or archive with wiki.train.tokens and wiki.valid.tokens, or .raw, of
        WikiText-2 or 103, or train.txt and valid.txt; or one file, of which a tenth is for validation.
    Raises ValueError for a damaged file, FileNotFoundError without file and network.
    """
    files = read_published("wikitext-2", *LAYOUTS, path=path, known=KNOWN, url=URL, checksum=CHECKSUM)
    return two_parts([paragraphs_of(file) for file in files])


def read_text(path) -> list[list[str]]:
    """The paragraphs of a text file, each a list of two or more sentences that follow each other.

    Where the text has headings as WikiText does, ` = Title = `, a paragraph is a line; headings are left out,
    words are spelled as people write them, and `<unk>`, what the publishers wrote for rare words, is "[UNK]",
    WordPiece's unknown token. Any other text has empty lines between paragraphs, and each sentence or paragraph on one line.
    Raises FileNotFoundError, or ValueError where the file is damaged or has no such paragraph.
    """
    [file] = read_files(path, ("*.txt",))
    return paragraphs_of(file)


def paragraphs_of(file: File) -> list[list[str]]:
    """The paragraphs of a file, as `read_text` has it."""
    if HEADING.search(file.text):
        lines = [line.strip() for line in file.lines() if not HEADING.fullmatch(line)]
        paragraphs = [read_sentences(line) for line in lines if line]
    else:
        groups = itertools.groupby(map(str.strip, file.lines()), bool)
        blocks = [list(group) for filled, group in groups if filled]
        paragraphs = [block if len(block) > 1 else PLAIN_END.split(block[0]) for block in blocks]
    paragraphs = [sentences for sentences in paragraphs if len(sentences) > 1]
    if not paragraphs:
        raise file.error(1, file.lines()[0], "a text with a paragraph of two sentences, a line each,")
    return paragraphs


def read_sentences(line: str) -> list[str]:
    """The sentences of a paragraph as people spell them: "a well @-@ known lobster ." as "a well-known lobster."."""
    text = re.sub(r" @(\S)@ ?", r"\1", line).replace("<unk>", "[UNK]")
    text = re.sub(r"([(\[]) | (?=[)\]])", r"\1", text)
    text = re.sub(r'" (.*?) "', r'"\1"', text)                  # so that a sentence keeps the mark that closes its quotation
    return [re.sub(r" (?=[.,;:?!%]|'[a-z])", "", sentence) for sentence in SENTENCE_END.split(text)]
