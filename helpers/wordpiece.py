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

    Source: Wu et al. 2016, section 4.1.
    """
    tokenizer = Tokenizer(WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = BertNormalizer(lowercase=True), BertPreTokenizer()
    tokenizer.train_from_iterator(texts, WordPieceTrainer(vocab_size=vocab_size, special_tokens=SPECIAL, show_progress=False))
    return from_vocabulary(tokenizer.get_vocab())


def read_wordpiece(path, lowercase=True):
    """A tokenizer from a published vocabulary, `vocab.txt`, one token on each line; lowercase=False for a "cased" one.

    Raises FileNotFoundError where there is none, ValueError where a special token is missing or a token is there twice.
    """
    tokens = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    missing = [token for token in SPECIAL if token not in tokens]
    if missing or len(set(tokens)) < len(tokens):
        trouble = f"no {', '.join(missing)}" if missing else "a token that is there twice"
        raise ValueError(f"{path}: {trouble}; a vocabulary of BERT has one token on each line, {', '.join(SPECIAL)} among them")
    return from_vocabulary({token: i for i, token in enumerate(tokens)}, lowercase)


def from_vocabulary(vocabulary, lowercase=True):
    """A tokenizer that writes one text as `[CLS] a [SEP]`, two as `[CLS] a [SEP] b [SEP]`, with segments 0 and 1."""
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = BertNormalizer(lowercase=lowercase), BertPreTokenizer()
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
