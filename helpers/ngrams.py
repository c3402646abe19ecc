"""N-gram models: the next token by counting what followed the last few, with Witten-Bell smoothing."""
import torch
from torch import Tensor


class NGrams:
    """Counts of all n-grams of the ids [T], for every n from 1 to `order`.

    Raises ValueError where there are fewer ids than the order, or where an n-gram does not fit a 64-bit number.
    Source: Witten and Bell 1991, method C; Chen and Goodman 1999, section 2.6.
    """

    def __init__(self, ids: Tensor, vocab_size: int, order: int):
        if len(ids) < order or vocab_size**order >= 2**63:
            raise ValueError(f"order={order} for {len(ids)} ids of a vocabulary of {vocab_size}: at least as many ids "
                             "as the order, and a vocab_size ** order below 2 ** 63 are needed")
        self.vocab_size, self.tables = vocab_size, []
        for n in range(1, order + 1):
            grams, counts = self.code(ids.unfold(0, n, 1)).unique(return_counts=True)
            contexts, of_context = (grams // vocab_size).unique(return_inverse=True)
            totals = torch.zeros_like(contexts).index_add(0, of_context, counts)
            kinds = of_context.bincount()                    # how many different tokens follow each context
            self.tables.append((grams, counts, contexts, totals, kinds))

    def code(self, rows: Tensor) -> Tensor:
        """One number for each row of ids, [..., n] to [...]."""
        code = torch.zeros(rows.shape[:-1], dtype=torch.long)
        for column in rows.unbind(-1):
            code = code * self.vocab_size + column
        return code

    def probs(self, contexts: Tensor, tokens: Tensor) -> Tensor:
        """How probable the tokens [..., K] are after contexts [..., order - 1], for every order: [order, ..., K].

        p_n(c | h) = (count(h c) + kinds(h) p_{n-1}(c | h)) / (count(h) + kinds(h)), where h is the last n - 1 tokens;
        p_0 is uniform. Where h was never seen, p_n = p_{n-1}.
        """
        p, found = torch.full(tokens.shape, 1 / self.vocab_size, dtype=torch.float64), []
        for n, (grams, counts, known, totals, kinds) in enumerate(self.tables, 1):
            context = self.code(contexts[..., contexts.shape[-1] - n + 1:]).unsqueeze(-1)      # [..., 1]
            count = look_up(grams, counts, context * self.vocab_size + tokens)                 # [..., K]
            total, kind = look_up(known, totals, context), look_up(known, kinds, context)
            p = torch.where(total > 0, (count + kind * p) / (total + kind).clamp(min=1), p)
            found.append(p)
        return torch.stack(found)


def look_up(keys: Tensor, values: Tensor, wanted: Tensor) -> Tensor:
    """The values that belong to the wanted keys, as many as there are; 0 for what is not among the sorted keys."""
    places = torch.searchsorted(keys, wanted).clamp(max=len(keys) - 1)
    return torch.where(keys[places] == wanted, values[places], 0)
