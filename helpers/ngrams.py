"""N-gram models: the next token by counting what followed the last few, with Witten-Bell or Kneser-Ney smoothing."""
import torch
from torch import Tensor


class NGrams:
    """N-gram models of the ids [T], for every n from 1 to `order`.

    kneser_ney: modified Kneser-Ney smoothing, interpolated, in place of Witten-Bell's.
    Raises ValueError where there are fewer ids than the order, or where an n-gram does not fit a 64-bit number.
    Source: Witten and Bell 1991, method C; Kneser and Ney 1995; Chen and Goodman 1999.
    """

    def __init__(self, ids: Tensor, vocab_size: int, order: int, kneser_ney: bool = False):
        if len(ids) < order or vocab_size**order >= 2**63:
            raise ValueError(f"order={order} for {len(ids)} ids of a vocabulary of {vocab_size}: at least as many ids "
                             "as the order, and a vocab_size ** order below 2 ** 63 are needed")
        self.vocab_size, self.kneser_ney = vocab_size, kneser_ney
        counted = [self.code(ids.unfold(0, n, 1)).unique(return_counts=True) for n in range(1, order + 1)]
        self.tables = [self.table(*found) for found in counted]
        # With Kneser-Ney, a shorter n-gram counts once for each token that stood before it: for each longer one it ends.
        endings = (longer % vocab_size**n for n, (longer, _) in enumerate(counted[1:], 1))
        self.lower = [self.table(*grams.unique(return_counts=True)) for grams in endings] if kneser_ney else []

    def code(self, rows: Tensor) -> Tensor:
        """One number for each row of ids, [..., n] to [...]."""
        code = torch.zeros(rows.shape[:-1], dtype=torch.long)
        for column in rows.unbind(-1):
            code = code * self.vocab_size + column
        return code

    def table(self, grams, counts):
        """N-grams and what each keeps of its count; contexts, what each gives to shorter ones, and its sum of both."""
        taken, given = torch.zeros_like(counts), torch.ones_like(counts)       # summed: the number of kinds
        if self.kneser_ney:
            taken = given = discounts(counts)
        contexts, of_context = (grams // self.vocab_size).unique(return_inverse=True)
        kept, given_by = counts - taken, of_context.bincount(given)
        return grams, kept, contexts, given_by, of_context.bincount(kept) + given_by

    def probs(self, contexts: Tensor, tokens: Tensor) -> Tensor:
        """How probable the tokens [..., K] are after contexts [..., order - 1], for every order: [order, ..., K].

        p_n(c | h) = (kept(h c) + given(h) p_{n-1}(c | h)) / total(h), where h is the last n - 1 tokens; p_0 is uniform.
        Where h was never seen, p_n = p_{n-1}.
        """
        p, found = torch.full(tokens.shape, 1 / self.vocab_size, dtype=torch.float64), []
        for n, table in enumerate(self.tables, 1):
            context = self.code(contexts[..., contexts.shape[-1] - n + 1:]).unsqueeze(-1)      # [..., 1]
            found.append(self.mix(table, context, tokens, p))
            p = self.mix(self.lower[n - 1], context, tokens, p) if n <= len(self.lower) else found[-1]
        return torch.stack(found)

    def mix(self, table, context, tokens, p):
        """p_n from a table of n-grams and p_{n-1}."""
        grams, kept, known, given, totals = table
        total = look_up(known, totals, context)
        mixed = look_up(grams, kept, context * self.vocab_size + tokens) + look_up(known, given, context) * p
        return torch.where(total > 0, mixed / total, p)


def discounts(counts: Tensor) -> Tensor:
    """What modified Kneser-Ney smoothing takes from each count: a number for 1, one for 2, one for 3 and more.

    Where there are too few counts to estimate it from, half of 1, 2 or 3.
    """
    n = counts.clamp(max=5).bincount(minlength=6)[1:5].double()            # how many counts are 1, 2, 3, 4
    i = torch.arange(1, 4)
    found = i - (i + 1) * n[0] / (n[0] + 2 * n[1]) * n[1:] / n[:3]
    return torch.where((found > 0) & (found < i), found, i / 2)[counts.clamp(max=3) - 1]


def look_up(keys: Tensor, values: Tensor, wanted: Tensor) -> Tensor:
    """The values that belong to the wanted keys, as many as there are; 0 for what is not among the sorted keys."""
    places = torch.searchsorted(keys, wanted).clamp(max=len(keys) - 1)
    return torch.where(keys[places] == wanted, values[places], 0)
