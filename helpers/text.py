"""From text to batches of numbers: tokens, their ids, WordPiece, and padding."""
import operator
import pathlib
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator

import torch
from tokenizers import BertWordPieceTokenizer
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from helpers.masks import check_whole

PAD, UNK, BOS, EOS = range(4)
SPECIAL = ["<pad>", "<unk>", "<bos>", "<eos>"]
BERT_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def split_words(text: str) -> list[str]:
    """Lower-case words and punctuation, each a token: "L'homme dort." gives l' homme dort .

    A word keeps the apostrophe that ends it, as French articles do, so that what follows is a word of its own;
    an English ending ('s, 're, n't) stays with its word.
    """
    text = unicodedata.normalize("NFC", text.lower()).replace("’", "'")     # an e and its accent: one letter
    return re.findall(r"\w+(?:-\w+)*(?:'(?:s|m|re|ve|ll|d|t)\b|')?|[^\w\s]", text)


class Vocab:
    """The tokens that a model knows, and their ids.

    texts: lists of tokens. Tokens seen fewer than min_count times are left out. The first four ids are those of
    `<pad>`, `<unk>`, `<bos>` and `<eos>`; the rest go by frequency, then by alphabet.
    """

    def __init__(self, texts, min_count=1):
        counts = Counter(token for text in texts for token in text)
        ranked = sorted(counts, key=lambda token: (-counts[token], token))
        self.tokens = SPECIAL + [token for token in ranked if counts[token] >= min_count and token not in SPECIAL]
        self.index = {token: i for i, token in enumerate(self.tokens)}

    def __len__(self):
        return len(self.tokens)

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """The id of each token; that of `<unk>` for those not known."""
        return [self.index.get(token, UNK) for token in tokens]

    def decode(self, ids) -> list[str]:
        """The tokens up to the first `<eos>`, without `<pad>` and `<bos>`. Raises ValueError for unknown ids."""
        tokens = []
        for i in map(operator.index, ids):
            if not 0 <= i < len(self):
                raise ValueError(f"id {i}: this vocabulary has the ids 0 to {len(self) - 1}")
            if i == EOS:
                break
            if i not in (PAD, BOS):
                tokens.append(self.tokens[i])
        return tokens


def train_wordpiece(texts: Iterable[str], vocab_size: int = 8000) -> BertWordPieceTokenizer:
    """A tokenizer whose vocabulary is learned from texts, an iterable of strings; BERT_SPECIAL have the ids 0 to 4.

    It writes one text as `[CLS] a [SEP]`, two as `[CLS] a [SEP] b [SEP]`, with segments 0 and 1.
    The same texts give the same vocabulary. The pair of pieces that is joined next is the most frequent one, as `tokenizers` has
    it. Raises ValueError where the letters alone are more than vocab_size. Source: Wu et al. 2016, section 4.1.
    """
    check_whole(vocab_size=vocab_size)
    tokenizer, texts = BertWordPieceTokenizer(), list(texts)
    chunks = {chunk for text in texts for chunk in tokenizer.normalize(text).split()}
    words = {word for chunk in chunks for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(chunk)}
    # The letters that go on with a word, in order: the trainer would number them by chance, and join by number.
    given = [*BERT_SPECIAL, *sorted({f"##{letter}" for word in words for letter in word[1:]})]
    tokenizer.train_from_iterator(texts, vocab_size, min_frequency=0, limit_alphabet=sys.maxunicode, special_tokens=given,
                                  show_progress=False)
    vocabulary = tokenizer.get_vocab()
    if len(vocabulary) > vocab_size:
        raise ValueError(f"vocab_size={vocab_size}: the special tokens and the letters of these texts are {len(vocabulary)}")
    return BertWordPieceTokenizer(vocabulary)


def read_wordpiece(path, lowercase: bool = True, strip_accents: bool | None = None) -> BertWordPieceTokenizer:
    """A tokenizer from a published vocabulary, `vocab.txt`, one token on each line; lowercase=False for a "cased" one.

    strip_accents: é as e; as lowercase has it if None. Raises FileNotFoundError where there is none, ValueError where a special
    token is missing, a token is there twice, or the text is not UTF-8.
    """
    if (path := pathlib.Path(path)).exists() and not path.is_file():
        raise ValueError(f"{path} is a folder or a pipe, where a file is needed")
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")    # splitlines breaks at other characters, too
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8: {error}") from error
    tokens = lines[:-1] if lines[-1] == "" else lines
    missing = [token for token in BERT_SPECIAL if token not in tokens]
    if missing or len(set(tokens)) < len(tokens):
        trouble = f"no {', '.join(missing)}" if missing else "a token that is there twice"
        raise ValueError(f"{path}: {trouble}; a vocabulary of BERT has one token on each line, and all of {' '.join(BERT_SPECIAL)}")
    return BertWordPieceTokenizer({token: i for i, token in enumerate(tokens)}, lowercase=lowercase, strip_accents=strip_accents)


def save_wordpiece(tokenizer: BertWordPieceTokenizer, path) -> None:
    """Write the vocabulary in the published layout, a token on each line, by id."""
    vocabulary = tokenizer.get_vocab()
    lines = "".join(f"{token}\n" for token in sorted(vocabulary, key=vocabulary.get))
    pathlib.Path(path).write_text(lines, encoding="utf-8", newline="\n")


def pad(sequences: list[list[int]]) -> tuple[Tensor, Tensor]:
    """Lists of ids as one tensor [B, T], filled up with `<pad>`, and their lengths [B].

    Raises ValueError where there is nothing to pad, TypeError for ids that are not whole numbers.
    """
    if not sequences:
        raise ValueError("no sequences: a batch needs at least one")
    rows = [torch.tensor([operator.index(i) for i in sequence], dtype=torch.long) for sequence in sequences]
    return pad_sequence(rows, batch_first=True, padding_value=PAD), torch.tensor(list(map(len, rows)))


def batches(pairs, batch_size: int, steps: int, seed: int = 0) -> Iterator[tuple]:
    """`steps` batches of (source, source lengths, target), each [B, T] of sequences about as long as one another.

    pairs: (source ids, target ids). The target is put between `<bos>` and `<eos>`. Every pass over the pairs is
    shuffled anew, from the seed. Raises ValueError for no pairs or a batch_size below 1.
    """
    for group in groups_of_like_length([len(src) + len(tgt) for src, tgt in pairs], batch_size, steps, seed):
        src, lengths = pad([pairs[i][0] for i in group])
        tgt, _ = pad([[BOS, *pairs[i][1], EOS] for i in group])
        yield src, lengths, tgt


def windows(ids: Tensor, length: int, batch_size: int, steps: int, seed: int = 0) -> Iterator[tuple]:
    """`steps` batches of ([batch_size, length + 1],): pieces of a long text, ids [T], from random places.

    One more than length, for the targets. Raises ValueError where the text is no longer than length, or length 0.
    """
    if not 0 < length < len(ids):
        raise ValueError(f"a text of {len(ids)} tokens: more than length={length} are needed, which is 1 or more")
    check_whole(length=length, batch_size=batch_size)
    generator, offsets = torch.Generator().manual_seed(seed), torch.arange(length + 1)
    for _ in range(steps):
        starts = torch.randint(len(ids) - length, (batch_size, 1), generator=generator)
        yield ids[starts + offsets],


def labelled_batches(examples, batch_size: int, steps: int, seed: int = 0) -> Iterator[tuple]:
    """`steps` batches of (ids, lengths, labels), [B, T], [B] and [B], grouped and shuffled as in `batches`.

    examples: (ids, label), the label a whole number. Raises ValueError for no examples or a batch_size below 1.
    """
    for group in groups_of_like_length([len(ids) for ids, _ in examples], batch_size, steps, seed):
        ids, lengths = pad([examples[i][0] for i in group])
        yield ids, lengths, torch.tensor([examples[i][1] for i in group])


def groups_of_like_length(sizes, batch_size, steps, seed):
    """`steps` lists of the indices of at most batch_size examples about as large as one another.

    sizes: of each example. Each pass is shuffled anew, from the seed. Raises ValueError for no examples or a batch_size below 1.
    """
    check_whole(examples=len(sizes), batch_size=batch_size)
    generator = torch.Generator().manual_seed(seed)
    while steps > 0:
        order = torch.randperm(len(sizes), generator=generator).tolist()
        window = 20 * batch_size                            # sorted within a window: little padding, still random
        groups = []
        for start in range(0, len(order), window):
            near = sorted(order[start:start + window], key=sizes.__getitem__)
            groups += [near[i:i + batch_size] for i in range(0, len(near), batch_size)]
        for g in torch.randperm(len(groups), generator=generator).tolist()[:steps]:
            yield groups[g]
        steps -= len(groups)
