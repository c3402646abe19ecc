"""Whether a model uses what stands in its window: words that stood there before, and counting with a rule to copy."""
import re

import torch
from torch import Tensor

FROM, TO = 3, 24                                             # how long a match in the window may be
PARTS = 100                                                  # a copy gets 0, 0.01, ... 0.99 of the probability


def words_in(rows: Tensor, tokens: list[str], measured: int) -> Tensor:
    """Of the last characters of windows [N, T]: 1 in a word that is new there, 2 in one that stood there before, 0 elsewhere.

    Words have at least four characters, and count from their third on. Returns [N, measured].
    """
    kinds = torch.zeros(len(rows), measured, dtype=torch.long)
    left_out = rows.shape[1] - measured
    for i, row in enumerate(rows.tolist()):
        window = "".join(tokens[token] for token in row)
        for word in re.finditer(r"[A-Za-z_]\w{3,}", window):
            before = re.search(rf"\b{word[0]}\b", window[:word.start()])
            start, end = (max(0, place - left_out) for place in (word.start() + 2, word.end()))
            kinds[i, start:end] = 2 if before else 1
    return kinds


def copies_in(rows: Tensor, tokens: list[str], measured: int) -> tuple[Tensor, Tensor]:
    """What followed the longest match of the last characters in the window, and its length, 0 for none: [N, measured] each."""
    copies = torch.zeros(2, len(rows), measured, dtype=torch.long)
    for i, row in enumerate(rows.tolist()):
        window = "".join(tokens[token] for token in row)
        for place, t in enumerate(range(len(row) - measured, len(row))):    # the window before t is known
            n = max((n for n in range(FROM, min(TO, t) + 1) if window[t - n:t] in window[:t - 1]), default=0)
            if n:
                copies[:, i, place] = torch.tensor([row[n + window.rfind(window[t - n:t], 0, t - 1)], n])
    return copies[0], copies[1]


def bits_by_part(rows: Tensor, probs: Tensor, tokens: list[str]) -> tuple[Tensor, Tensor]:
    """Bits of the characters that have the probabilities [N, M], by the part that a copy gets: [PARTS, N, M].

    And the kind of each place, [N, M]: the length of the match, and whether it is inside a name.
    """
    measured = probs.shape[1]
    copies, lengths = copies_in(rows, tokens, measured)
    in_name = torch.tensor([token.isalnum() or token == "_" for token in tokens])[rows[:, -measured - 1:-1]]
    part = torch.arange(PARTS)[:, None, None] / PARTS * (lengths > 0)
    return -((1 - part) * probs + part * (copies == rows[:, -measured:])).log2(), 2 * lengths + in_name


def with_copies(fit_rows: Tensor, fit_probs: Tensor, rows: Tensor, probs: Tensor, tokens: list[str]) -> Tensor:
    """Bits of the last characters of rows [N, T], whose probabilities are [N, M], where a copy gets a part: [N, M].

    The part is the best for the rows to fit on, of each length of the match, inside a name and elsewhere.
    """
    tried, kinds = bits_by_part(fit_rows, fit_probs, tokens)
    best = torch.zeros(PARTS, 2 * TO + 2).index_add(1, kinds.flatten(), tried.flatten(1).float()).argmin(0)
    tried, kinds = bits_by_part(rows, probs, tokens)
    return tried.gather(0, best[kinds][None])[0]
