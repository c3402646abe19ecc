"""WikiText-2: good and featured articles of Wikipedia to pretrain on (Merity et al. 2017), CC BY-SA, in the published layout."""
import re

from helpers.data.published import ARCHIVE, read_published

# The sha256 of each file, and its bytes. The archive has a checksum of its own; known here besides are its validation text,
# and in place of its training text the first 154 articles of WikiText-103's.
PUBLISHED = {
    "wikitext-2/wiki.train.tokens": {"8d4a00bc91005a91627ba5e0022894dcab530813f1be1f9c48a2f5371c9da5cc": 2_867_095},
    "wikitext-2/wiki.valid.tokens": {"f0737ed31fc1329026e95cb8b98e19c2a182c39c240ab909dc31abf2f8af58e8": 1_121_681},
}
URL = "https://wikitext.smerity.com/wikitext-2-v1.zip"
ADVICE = ARCHIVE.format(URL)
CHECKSUM = "sha256:92675f1d63015c1c8b51f1656a52d5bdbc33aafa60cc47a218a66e7ee817488c"

# A sentence ends at a mark that stands alone, or has a quotation mark or bracket at it, where another one can begin.
SENTENCE_END = re.compile(r"""(?<= [.?!]|[.?!][")]) (?=["'(\[A-Z])""")


def load_wikitext(name="wikitext-2"):
    """(train, held-out): lists of paragraphs, each a list of two or more sentences that follow each other.

    The held-out ones are the published validation text. Headings are left out, and so are paragraphs of one sentence. `<unk>`, what
    the publishers wrote for words that are rare, is "[UNK]", which WordPiece reads as its own unknown token.
    Read from wikitext-2/wiki.train.tokens and wikitext-2/wiki.valid.tokens in the cache folder (see helpers.data.published), or
    from the archive of both, wikitext-2/wikitext-2-v1.zip, which is fetched where it is not there.
    Raises ValueError for another name and for a damaged file, FileNotFoundError where there is neither file nor network.
    """
    if name != "wikitext-2":
        raise ValueError(f'{name!r} is not known here: it needs to be "wikitext-2"')
    texts = [read_published(file, sizes, URL, CHECKSUM, member=file, advice=ADVICE) for file, sizes in PUBLISHED.items()]
    return tuple(read_paragraphs(text) for text in texts)


def read_paragraphs(text):
    """The paragraphs of two sentences or more of a published text, one on each line."""
    lines = [line.strip() for line in text.split("\n")]
    paragraphs = [read_sentences(line) for line in lines if line and not (line.startswith("= ") and line.endswith(" ="))]
    return [sentences for sentences in paragraphs if len(sentences) > 1]


def read_sentences(line):
    """The sentences of a paragraph, spelled as people write them: "a well @-@ known lobster ." gives "a well-known lobster."."""
    text = re.sub(r" @(\S)@ ?", r"\1", line).replace("<unk>", "[UNK]")
    text = re.sub(r"([(\[]) | (?=[)\]])", r"\1", text)
    text = re.sub(r'" (.*?) "', r'"\1"', text)                  # so that a sentence keeps the mark that closes its quotation
    return [re.sub(r" (?=[.,;:?!%]|'[a-z])", "", sentence) for sentence in SENTENCE_END.split(text)]
