"""From text to batches of numbers: tokens, their ids, and padding."""
import re
import unicodedata
from collections import Counter

import torch

PAD, UNK, BOS, EOS = range(4)
SPECIAL = ["<pad>", "<unk>", "<bos>", "<eos>"]


def split_words(text):
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

    def encode(self, tokens):
        """The id of each token; that of `<unk>` for those not known."""
        return [self.index.get(token, UNK) for token in tokens]

    def decode(self, ids):
        """The tokens up to the first `<eos>`, without `<pad>` and `<bos>`."""
        tokens = []
        for i in map(int, ids):
            if i == EOS:
                break
            if i not in (PAD, BOS):
                tokens.append(self.tokens[i])
        return tokens


def pad(sequences):
    """Lists of ids as one tensor [B, T], filled up with `<pad>`, and their lengths [B].

    Raises ValueError where there is nothing to pad.
    """
    if not sequences:
        raise ValueError("no sequences: a batch needs at least one")
    lengths = torch.tensor([len(sequence) for sequence in sequences])
    ids = torch.full((len(sequences), int(lengths.max())), PAD)
    for row, sequence in zip(ids, sequences):
        row[:len(sequence)] = torch.tensor(sequence, dtype=torch.long)
    return ids, lengths


def batches(pairs, batch_size, steps, seed=0):
    """`steps` batches of (source, source lengths, target), each [B, T] of sequences about as long as one another.

    pairs: (source ids, target ids). The target is put between `<bos>` and `<eos>`. Every pass over the pairs is
    shuffled anew, from the seed. Raises ValueError for no pairs or a batch_size below 1.
    """
    for group in groups_of_like_length([len(src) + len(tgt) for src, tgt in pairs], batch_size, steps, seed):
        src, lengths = pad([pairs[i][0] for i in group])
        tgt, _ = pad([[BOS, *pairs[i][1], EOS] for i in group])
        yield src, lengths, tgt


def labelled_batches(examples, batch_size, steps, seed=0):
    """`steps` batches of (ids, lengths, labels), [B, T], [B] and [B], grouped and shuffled as in `batches`.

    examples: (ids, label), the label a whole number. Raises ValueError for no examples or a batch_size below 1.
    """
    for group in groups_of_like_length([len(ids) for ids, _ in examples], batch_size, steps, seed):
        ids, lengths = pad([examples[i][0] for i in group])
        yield ids, lengths, torch.tensor([examples[i][1] for i in group])


def groups_of_like_length(sizes, batch_size, steps, seed):
    """`steps` lists of the indices of at most batch_size examples about as large as one another.

    sizes: that of each example. Every pass over them is shuffled anew, from the seed.
    Raises ValueError for no examples or a batch_size below 1.
    """
    if not sizes or batch_size < 1:
        raise ValueError(f"{len(sizes)} examples in batches of {batch_size}: both need to be at least 1")
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
