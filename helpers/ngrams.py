"""N-gram models: the next token by counting what followed the last few, with Witten-Bell or Kneser-Ney smoothing."""
import torch
from torch import Tensor

FACTOR = 6364136223846793005                                 # odd, and of 63 bits: that of Knuth's random numbers


class NGrams:
    """N-gram models of the ids [T], for every n from 1 to `order`.

    kneser_ney: modified Kneser-Ney smoothing, interpolated, in place of Witten-Bell's.
    Raises ValueError where there are fewer ids than the order, or that is below 1.
    Source: Witten and Bell 1991, method C; Kneser and Ney 1995; Chen and Goodman 1999.
    """

    def __init__(self, ids: Tensor, vocab_size: int, order: int, kneser_ney: bool = False):
        if not 1 <= order <= len(ids):
            raise ValueError(f"order={order} for {len(ids)} ids: it needs to be from 1 to {len(ids)}")
        self.vocab_size, self.kneser_ney = vocab_size, kneser_ney
        self.tables, self.shorter = [], []                   # of each order; and where a longer one asks it
        for n in range(1, order + 1):
            grams, counts = count(ids.unfold(0, n, 1))
            self.tables.append(self.table(grams, counts))
            if kneser_ney and n > 1:                         # counts how many different tokens stood before each
                self.shorter.append(self.table(*count(grams[:, 1:])))

    def table(self, grams, counts):
        """Of n-grams [N, n]: what each keeps of its count; what each context gives to a shorter one; its total."""
        taken, given = torch.zeros_like(counts), torch.ones_like(counts)       # summed: the number of kinds
        if self.kneser_ney:
            taken = given = discounts(counts)
        contexts, of_context = code(grams[:, :-1]).unique(return_inverse=True)
        kept, given = counts - taken, of_context.bincount(given)
        return code(grams), kept, contexts, given, of_context.bincount(kept) + given

    def probs(self, contexts: Tensor, tokens: Tensor) -> Tensor:
        """How probable the tokens [..., K] are after contexts [..., order - 1], for every order: [order, ..., K].

        p_n(c | h) = (kept(h c) + given(h) p_{n-1}(c | h)) / total(h), where h is the last n - 1 tokens.
        p_0 is uniform. Where h was never seen, p_n = p_{n-1}.
        """
        p, found = torch.full(tokens.shape, 1 / self.vocab_size, dtype=torch.float64), []
        for n, table in enumerate(self.tables, 1):
            context = code(contexts[..., contexts.shape[-1] - n + 1:]).unsqueeze(-1)           # [..., 1]
            found.append(mix(table, context, tokens, p))
            p = mix(self.shorter[n - 1], context, tokens, p) if n <= len(self.shorter) else found[-1]
        return torch.stack(found)


def code(rows: Tensor) -> Tensor:
    """One number for each row of ids, [..., n] to [...]: a hash of 64 bits, as good as never the same for two rows."""
    number = torch.zeros(rows.shape[:-1], dtype=torch.long)
    for column in rows.unbind(-1):
        number = number * FACTOR + column                    # what exceeds 64 bits is lost
    return number


def count(rows: Tensor) -> tuple[Tensor, Tensor]:
    """The different rows of [T, n], in the order of their codes, [N, n], and how often each occurs, [N]."""
    codes, of_row, counts = code(rows).unique(return_inverse=True, return_counts=True)
    return rows[torch.zeros_like(codes).scatter(0, of_row, torch.arange(len(rows)))], counts


def discounts(counts: Tensor) -> Tensor:
    """What modified Kneser-Ney smoothing takes from each count: one number for 1, one for 2, one for 3 and more.

    It is estimated from how many counts are 1, 2, 3 and 4. Where these are too few for that, it is 0.5, 1 or 1.5.
    """
    n = counts.clamp(max=5).bincount(minlength=6)[1:5].double()            # [4]
    i = torch.arange(1, 4)
    found = i - (i + 1) * n[0] / (n[0] + 2 * n[1]) * n[1:] / n[:3]
    return torch.where((found > 0) & (found < i), found, i / 2)[counts.clamp(max=3) - 1]


def mix(table, context: Tensor, tokens: Tensor, p: Tensor) -> Tensor:
    """The probabilities of tokens [..., K] after a context's code [..., 1], given those after the shorter one, p."""
    grams, kept, known, given, totals = table
    total = look_up(known, totals, context)
    mixed = look_up(grams, kept, context * FACTOR + tokens) + look_up(known, given, context) * p
    return torch.where(total > 0, mixed / total, p)


def look_up(keys: Tensor, values: Tensor, wanted: Tensor) -> Tensor:
    """The values that belong to the wanted keys, as many as there are; 0 for what is not among the sorted keys."""
    places = torch.searchsorted(keys, wanted).clamp(max=len(keys) - 1)
    return torch.where(keys[places] == wanted, values[places], 0)
