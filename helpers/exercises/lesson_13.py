"""Exercises of lesson 13: a gap filled by counting on both sides, and the logits at the hidden positions alone."""
import torch

from helpers.exercises.exercise import Exercise, numbers


def slow_between(ids, left, right, vocab_size):
    products = torch.zeros(vocab_size)
    for w in range(vocab_size):
        after_left = ((ids[:-1] == left) & (ids[1:] == w)).sum() + 1
        before_right = ((ids[:-1] == w) & (ids[1:] == right)).sum() + 1
        products[w] = after_left * before_right / ((ids == w).sum() + 1)
    return products / products.sum()


def slow_logits_at(x, positions, table, bias):
    texts = []
    for vectors, wanted in zip(x, positions.tolist()):       # one text: [T, d_model], and P positions
        rows = []
        for t in wanted:
            rows.append(torch.stack([torch.dot(vectors[t], row) + b for row, b in zip(table, bias)]))
        texts.append(torch.stack(rows))                      # [P, vocab_size]
    return torch.stack(texts)


def sides(ids, left, right, vocab_size, add=1):
    """[3, vocab_size]: how often each token follows `left`, precedes `right`, and occurs; each with `add` more."""
    of = ids[1:][ids[:-1] == left], ids[:-1][ids[1:] == right], ids
    return torch.stack([some.bincount(minlength=vocab_size) + add for some in of]).float()


def share(found):
    return found / found.sum()


def picked(x, positions):
    return x.take_along_dim(positions.unsqueeze(-1), 1)


EXERCISES = {
    "between": Exercise(
        slow_between,
        [(torch.tensor([0, 1, 2, 0, 1, 3]), 0, 2, 4), (torch.tensor([4, 0, 1, 4, 0, 2, 1, 4, 3, 2, 0, 1]), 4, 1, 5),
         (torch.randint(0, 6, (40,), generator=torch.Generator().manual_seed(0)), 3, 5, 7)],
        {
            "the sum needs to be 1; divide by what it is":
                lambda *case: sides(*case)[0] * sides(*case)[1] / sides(*case)[2],
            "the division by the count of the token itself is missing; both sides hold it, so it counts twice":
                lambda *case: share(sides(*case)[0] * sides(*case)[1]),
            "you count what follows `right`; it is what precedes it that you need":
                lambda ids, left, right, vocab_size: share(
                    sides(ids, left, right, vocab_size)[0] * sides(ids, right, right, vocab_size)[0]
                    / sides(ids, left, right, vocab_size)[2]),
            "`left` and `right` are exchanged":
                lambda ids, left, right, vocab_size: slow_between(ids, right, left, vocab_size),
            "this is the left side alone":
                lambda *case: share(sides(*case)[0]),
            "this is the right side alone":
                lambda *case: share(sides(*case)[1]),
            "the two sides are added; they need to be multiplied":
                lambda *case: share((sides(*case)[0] + sides(*case)[1]) / sides(*case)[2]),
            "the 1 is missing in the counts of pairs; what was never seen beside a neighbour gets 0":
                lambda *case: share(sides(*case, 0)[0] * sides(*case, 0)[1] / sides(*case)[2]),
            "the 1 is missing in the count of the token itself":
                lambda *case: share(sides(*case)[0] * sides(*case)[1] / sides(*case, 0)[2]),
            "the 1 is missing in all counts":
                lambda *case: share(sides(*case, 0)[0] * sides(*case, 0)[1] / sides(*case, 0)[2]),
            "a softmax of the products; they need to be divided by their sum":
                lambda *case: (sides(*case)[0] * sides(*case)[1] / sides(*case)[2]).softmax(0),
            "you count the three tokens together; the formula needs what follows `left` and what precedes `right`, each alone":
                lambda ids, left, right, vocab_size: share(1.0 + ids[1:-1][
                    (ids[:-2] == left) & (ids[2:] == right)].bincount(minlength=vocab_size)),
        },
        at_once=True),
    "logits_at": Exercise(
        slow_logits_at,
        [(torch.tensor([[[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]]]), torch.tensor([[2, 1]]),
          torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), torch.tensor([0.0, 0.5, 0.0])),
         (numbers(2, 4, 3, seed=0), torch.tensor([[3, 0], [1, 3]]), numbers(5, 3, seed=1), numbers(5, seed=2)),
         (numbers(2, 8, 3, seed=3), torch.tensor([[1, 5, 2], [6, 1, 5]]), numbers(10, 3, seed=4), numbers(10, seed=5))],
        {
            "the bias is missing; each token of the vocabulary has one":
                lambda x, positions, table, bias: picked(x, positions) @ table.T,
            "every text gets the positions of the first one; each has a row of its own":
                lambda x, positions, table, bias: x[:, positions[0]] @ table.T + bias,
            "`x[:, positions]` takes the positions of all texts from every text; each has a row of its own":
                lambda x, positions, table, bias: x[:, positions] @ table.T + bias,
            "these are the logits at every position; only those at `positions` are asked for":
                lambda x, positions, table, bias: x @ table.T + bias,
            "the positions come out in rising order; they need to be as given":
                lambda x, positions, table, bias: picked(x, positions.sort(1).values) @ table.T + bias,
            "you count positions from 1; the first one is 0":
                lambda x, positions, table, bias: picked(x, (positions - 1) % x.shape[1]) @ table.T + bias,
            "these are probabilities; logits come before the softmax":
                lambda x, positions, table, bias: (picked(x, positions) @ table.T + bias).softmax(-1),
            "these are log-probabilities; logits come before the softmax":
                lambda x, positions, table, bias: (picked(x, positions) @ table.T + bias).log_softmax(-1),
        },
        most=100,                                            # [2, 3, 10] is needed, and [2, 8, 10] too much
        at_once=True),
}
