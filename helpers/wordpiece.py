"""WordPiece: words in pieces, from a vocabulary that is learned, so that no word is unknown. `tokenizers` does the work."""
import pathlib

from tokenizers import Tokenizer
from tokenizers.decoders import WordPiece as Joiner
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing
from tokenizers.trainers import WordPieceTrainer

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def train_wordpiece(texts, vocab_size=8000):
    """A tokenizer whose vocabulary is learned from texts, an iterable of strings; SPECIAL have the ids 0 to 4.

    The same texts give the same vocabulary. The pair of pieces that is joined next is the most frequent one, as `tokenizers` has
    it. Raises ValueError where the letters alone are more than vocab_size. Source: Wu et al. 2016, section 4.1.
    """
    tokenizer = Tokenizer(WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = BertNormalizer(lowercase=True), BertPreTokenizer()
    texts = list(texts)
    given = [*SPECIAL, *letters_inside(texts, tokenizer)]
    tokenizer.train_from_iterator(texts, WordPieceTrainer(vocab_size=vocab_size, special_tokens=given, show_progress=False))
    vocabulary = tokenizer.get_vocab()
    if len(vocabulary) > vocab_size:
        raise ValueError(f"vocab_size={vocab_size}: the special tokens and the letters of these texts are {len(vocabulary)}")
    return from_vocabulary(vocabulary)


def letters_inside(texts, tokenizer):
    """The letters that go on with a word, as pieces, in order: the trainer would number them by chance, and join by number."""
    chunks = {chunk for text in texts for chunk in tokenizer.normalizer.normalize_str(text).split()}
    words = {word for chunk in chunks for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(chunk)}
    return sorted({f"##{letter}" for word in words for letter in word[1:]})


def read_wordpiece(path, lowercase=True, strip_accents=None):
    """A tokenizer from a published vocabulary, `vocab.txt`, one token on each line; lowercase=False for a "cased" one.

    strip_accents: é as e; as lowercase has it if None. Raises FileNotFoundError where there is none, ValueError where a special
    token is missing or a token is there twice.
    """
    lines = pathlib.Path(path).read_text(encoding="utf-8").split("\n")       # splitlines would break at other characters, too
    tokens = lines[:-1] if lines[-1] == "" else lines
    missing = [token for token in SPECIAL if token not in tokens]
    if missing or len(set(tokens)) < len(tokens):
        trouble = f"no {', '.join(missing)}" if missing else "a token that is there twice"
        raise ValueError(f"{path}: {trouble}; a vocabulary of BERT has one token on each line, {', '.join(SPECIAL)} among them")
    return from_vocabulary({token: i for i, token in enumerate(tokens)}, lowercase, strip_accents)


def from_vocabulary(vocabulary, lowercase=True, strip_accents=None):
    """A tokenizer that writes one text as `[CLS] a [SEP]`, two as `[CLS] a [SEP] b [SEP]`, with segments 0 and 1."""
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = BertNormalizer(lowercase=lowercase, strip_accents=strip_accents)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.decoder = Joiner()
    tokenizer.add_special_tokens(SPECIAL)
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, vocabulary[token]) for token in ("[CLS]", "[SEP]")])
    return tokenizer


def save_wordpiece(tokenizer, path):
    """Write the vocabulary in the published layout, a token on each line, by id."""
    vocabulary = tokenizer.get_vocab()
    lines = "".join(f"{token}\n" for token in sorted(vocabulary, key=vocabulary.get))
    pathlib.Path(path).write_text(lines, encoding="utf-8", newline="\n")
