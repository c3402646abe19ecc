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


def slow_logits_at(x, positions, table, bias):
    texts = []
    for vectors, wanted in zip(x, positions.tolist()):       # one text: [T, d_model], and P positions
        rows = []
        for t in wanted:
            rows.append(torch.stack([torch.dot(vectors[t], row) + b for row, b in zip(table, bias)]))
        texts.append(torch.stack(rows))                      # [P, vocab_size]
    return torch.stack(texts)


def ended(ids, sep):
    """How many of `sep` stand before each token, and how many with it, [B, T] each."""
    found = (ids == sep).long()
    return found.cumsum(1) - found, found.cumsum(1)


def picked(x, positions):
    return x.take_along_dim(positions.unsqueeze(-1), 1)


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
            "`x[torch.arange(B), positions]` takes one text for each column of `positions`; each row belongs to one text":
                lambda x, positions, table, bias: x[torch.arange(len(x)), positions] @ table.T + bias,
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
