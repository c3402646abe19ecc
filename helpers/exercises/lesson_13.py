"""Exercises of lesson 13: the segments of a batch, and the logits at the hidden positions alone."""
import torch

from helpers.exercises.exercise import Exercise, numbers


def slow_segments_of(ids, sep, pad):
    segments = torch.zeros_like(ids)
    for row, text in enumerate(ids.tolist()):
        ended = 0                                            # how many texts have ended before this token
        for t, token in enumerate(text):
            if token != pad and ended == 1:
                segments[row, t] = 1
            ended += token == sep
    return segments


def slow_logits_at(x, pairs, table, bias):
    rows = []
    for text, t in pairs.tolist():                           # one hidden token: its text, and its position there
        rows.append(torch.stack([torch.dot(x[text, t], row) + b for row, b in zip(table, bias)]))
    return torch.stack(rows)                                 # [N, vocab_size]


def ended(ids, sep):
    """How many of `sep` stand before each token, and how many with it, [B, T] each."""
    found = (ids == sep).long()
    return found.cumsum(1) - found, found.cumsum(1)


def picked(x, pairs):
    return x[tuple(pairs.T)]


def in_order(x, pairs):
    """What a boolean mask [B, T] picks."""
    mask = torch.zeros(x.shape[:2], dtype=torch.bool)
    mask[tuple(pairs.T)] = True
    return x[mask]


EXERCISES = {
    "segments_of": Exercise(
        slow_segments_of,
        [(torch.tensor([[2, 5, 3, 6, 7, 3]]), 3, 0),
         (torch.tensor([[2, 5, 3, 7, 3, 0, 0], [2, 6, 3, 0, 0, 0, 0], [2, 5, 6, 3, 8, 9, 3]]), 3, 0),
         (torch.tensor([[7, 5, 6, 9, 3, 9, 4, 4], [7, 3, 9, 4, 4, 4, 4, 4], [7, 6, 5, 9, 8, 0, 0, 9]]), 9, 4)],
        {
            "the `[SEP]` that ends the first text belongs to it, so its segment is 0":
                lambda ids, sep, pad: ((ended(ids, sep)[1] >= 1) & (ids != pad)).long(),
            "the `[SEP]` that ends the first text belongs to it, and padding gets 0":
                lambda ids, sep, pad: (ended(ids, sep)[1] >= 1).long(),
            "you count every `[SEP]`, so that the last one gets 2; its segment is 1":
                lambda ids, sep, pad: ended(ids, sep)[1],
            "the `[SEP]` that ends the second text belongs to it, so its segment is 1":
                lambda ids, sep, pad: ((ended(ids, sep)[1] == 1) & (ids != sep) & (ids != pad)).long(),
            "the two `[SEP]` are exchanged, each belongs to the text that it ends; and padding gets 0":
                lambda ids, sep, pad: (ended(ids, sep)[1] == 1).long(),
            "the two `[SEP]` are exchanged: each belongs to the text that it ends":
                lambda ids, sep, pad: ((ended(ids, sep)[1] == 1) & (ids != pad)).long(),
            "padding gets 0, whatever stands before it":
                lambda ids, sep, pad: (ended(ids, sep)[0] >= 1).long(),
            "padding after two texts gets 2, and it needs 0, as all padding does":
                lambda ids, sep, pad: ended(ids, sep)[0],
            "padding after a single text gets 1, and it needs 0, as all padding does":
                lambda ids, sep, pad: (ended(ids, sep)[0] == 1).long(),
            "padding is the id `pad`, which need not be 0":
                lambda ids, sep, pad: ((ended(ids, sep)[0] == 1) & (ids != 0)).long(),
            "the segments are exchanged; the first text has 0":
                lambda ids, sep, pad: ((ended(ids, sep)[0] == 0) & (ids != pad)).long(),
            "the segments are exchanged; the first text has 0, and so has padding":
                lambda ids, sep, pad: 1 - slow_segments_of(ids, sep, pad),
            "you count down the columns; each row is a text of its own":
                lambda ids, sep, pad: (((ids == sep).cumsum(0) - (ids == sep).long() == 1) & (ids != pad)).long(),
            "`roll` brings the last token to the front, also a `[SEP]`; begin each row with 0 in its place":
                lambda ids, sep, pad: (((ids == sep).roll(1, 1).cumsum(1) == 1) & (ids != pad)).long(),
            "every row gets the segments of the first one; its `[SEP]` stands where it likes":
                lambda ids, sep, pad: slow_segments_of(ids[:1], sep, pad).expand_as(ids),
        },
        at_once=True),
    "logits_at": Exercise(
        slow_logits_at,
        [(torch.tensor([[[3.0, 0.0], [0.0, 2.0]]]), torch.tensor([[0, 1], [0, 0]]),
          torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), torch.tensor([0.0, 0.5, 0.0])),
         (numbers(4, 3, 3, seed=0), torch.tensor([[3, 1], [0, 2], [3, 0]]), numbers(5, 3, seed=1), numbers(5, seed=2)),
         (numbers(2, 8, 3, seed=3), torch.tensor([[0, 1], [0, 5], [0, 2], [1, 6], [0, 7]]), numbers(10, 3, seed=4),
          numbers(10, seed=5))],
        {
            "the bias is missing; each token of the vocabulary has one":
                lambda x, pairs, table, bias: picked(x, pairs) @ table.T,
            "the dot products with the rows of `table` are `@ table.T`; `F.linear` takes `table` as it is":
                lambda x, pairs, table, bias: picked(x, pairs) @ table + bias,
            "`x[pairs]` takes both columns for numbers of texts; index `x` by the texts and by the positions":
                lambda x, pairs, table, bias: x[pairs] @ table.T + bias,
            "texts and positions are exchanged; `x` is indexed by the text first":
                lambda x, pairs, table, bias: picked(x, pairs.flip(1)) @ table.T + bias,
            "`x[:, positions]` takes the positions of all pairs from every text; each belongs to one text":
                lambda x, pairs, table, bias: x[:, pairs[:, 1]] @ table.T + bias,
            "`x[texts][:, positions]` takes all positions for each pair; index by both at once":
                lambda x, pairs, table, bias: x[pairs[:, 0]][:, pairs[:, 1]] @ table.T + bias,
            "these are all positions of each pair's text; only its own is asked for":
                lambda x, pairs, table, bias: x[pairs[:, 0]] @ table.T + bias,
            "every position is taken from the first text; `flatten` puts that of text i at i * T + t":
                lambda x, pairs, table, bias: x[0][pairs[:, 1]] @ table.T + bias,
            "these are the logits at every position; only those at `pairs` are asked for":
                lambda x, pairs, table, bias: x @ table.T + bias,
            "the pairs come out in rising order; they need to be as given":
                lambda x, pairs, table, bias: in_order(x, pairs) @ table.T + bias,
            "you count positions from 1; the first one is 0":
                lambda x, pairs, table, bias: x[pairs[:, 0], pairs[:, 1] - 1] @ table.T + bias,
            "you add 1 to the positions; they count from 0 already":
                lambda x, pairs, table, bias: x[pairs[:, 0], pairs[:, 1] + 1] @ table.T + bias,
            "these are probabilities; logits come before the softmax":
                lambda x, pairs, table, bias: (picked(x, pairs) @ table.T + bias).softmax(-1),
            "these are log-probabilities; logits come before the softmax":
                lambda x, pairs, table, bias: (picked(x, pairs) @ table.T + bias).log_softmax(-1),
        },
        most=100,                                            # [5, 10] is needed; [2, 8, 10] and [5, 8, 3] are too much
        at_once=True),
}
