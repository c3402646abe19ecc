"""A line and its answer in one sequence, of which only the answer is learned: for models without an encoder."""
import torch
import torch.nn.functional as F

from helpers.decoding import greedy
from helpers.text import EOS, PAD, groups_of_like_length, pad
from helpers.transformer import Cache

SEP = "<sep>"                                                # the token between the two lines


def lined_up(first, second, sep):
    """Lists of ids: what is read, `first <sep> second`, and what is to be predicted there.

    That is the next id, up to `<eos>`; but `<pad>`, nothing to learn, on the first line.
    """
    whole = [*first, sep, *second, EOS]
    return whole[:-1], [PAD] * len(first) + whole[len(first) + 1:]


def answer_batches(pairs, batch_size, steps, sep, seed=0):
    """`steps` batches of (ids, targets), both [B, T], as `lined_up` makes them, filled up with `<pad>`.

    pairs: (first line, second line), lists of ids. Raises ValueError for no pairs or a batch_size below 1.
    """
    sizes = [len(first) + len(second) for first, second in pairs]
    for group in groups_of_like_length(sizes, batch_size, steps, seed):
        ids, targets = zip(*(lined_up(*pairs[i], sep) for i in group))
        yield pad(ids)[0], pad(targets)[0]


def answer_loss(model, ids, targets):
    """The mean loss of the targets [B, T] that are not `<pad>`, given ids [B, T]: a number."""
    scores = model(ids)                                                    # [B, T, vocab_size]
    return F.cross_entropy(scores.flatten(0, 1), targets.flatten(), ignore_index=PAD)


def answers(model, firsts, sep, write=greedy, **options):
    """Second lines to first lines, lists of ids, in their order, each cut at its `<eos>`.

    write: `greedy` or `sample` of `helpers.decoding`, which gets the options. An answer that finds no end stops at
    twice the length of its line. Lines of one length are written together: then no prompt needs padding.
    Raises ValueError for an empty line.
    """
    found = [None] * len(firsts)
    for length in sorted({len(first) for first in firsts}):
        if length == 0:
            raise ValueError("an empty line: there is nothing to answer")
        rows = [i for i, first in enumerate(firsts) if len(first) == length]
        start = torch.tensor([[*firsts[i], sep] for i in rows])            # [B, length + 1]
        for i, ids in zip(rows, write(model, Cache(), start, 2 * length, **options)):
            found[i] = cut(ids.tolist())
    return found


def cut(ids):
    """A list of ids up to the first `<eos>`."""
    return ids[:ids.index(EOS)] if EOS in ids else ids


def read_line(text, known, shortest, longest):
    """The line that somebody typed, without its spaces.

    known: from each character that can be read to how it is read. Raises ValueError, with a sentence for the person who typed,
    for characters that are not known and for a line that is too short or too long.
    """
    line = "".join(text.split())
    unknown = list(dict.fromkeys(character for character in line if character not in known))
    if unknown:
        named = ", ".join(f"{character!r}" for character in unknown[:5]) + (" and more" if len(unknown) > 5 else "")
        some = ", ".join(f"{character} {reading}" for character, reading in list(known.items())[:8])
        raise ValueError("Copy Chinese characters from the table above; readings cannot be typed. "
                         f"It does not know {named}. It knows {len(known)} characters, as {some}.")
    if not shortest <= len(line) <= longest:
        raise ValueError(f"{len(line)} character{'s' * (len(line) != 1)}: it learned lines of {shortest} to {longest}.")
    return line
