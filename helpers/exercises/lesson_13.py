"""Exercises of lesson 13: which text each token belongs to, and the logits at the hidden positions alone."""
import torch

from helpers.exercises.exercise import Exercise, numbers


def slow_segments_of(ids, sep, pad):
    rows = []
    for row in ids.tolist():
        segment, segments = 0, []
        for i in row:
            segments.append(0 if i == pad else segment)
            if i == sep:
                segment = 1
        rows.append(segments)
    return torch.tensor(rows)


def slow_logits_at(x, positions, table, bias):
    texts = []
    for vectors, wanted in zip(x, positions.tolist()):       # one text: [T, d_model], and P positions
        rows = []
        for t in wanted:
            rows.append(torch.stack([torch.dot(vectors[t], row) + b for row, b in zip(table, bias)]))
        texts.append(torch.stack(rows))                      # [P, vocab_size]
    return torch.stack(texts)


def ends_before(ids, sep):
    """How many [SEP] stand before each position."""
    return (ids == sep).cumsum(1) - (ids == sep).long()


def picked(x, positions):
    return x.take_along_dim(positions.unsqueeze(-1), 1)


EXERCISES = {
    "segments_of": Exercise(
        slow_segments_of,
        [(torch.tensor([[4, 5, 0, 8, 5, 1]]), 5, 1), (torch.tensor([[2, 9, 3, 0], [2, 3, 7, 3]]), 3, 0),
         (torch.tensor([[2, 9, 8, 3, 7, 6, 3], [2, 5, 3, 9, 3, 0, 0], [2, 9, 9, 3, 0, 0, 0]]), 3, 0)],
        {
            "the first [SEP] belongs to the text that it ends; its segment is 0":
                lambda ids, sep, pad: ((ids == sep).cumsum(1) > 0).long() * (ids != pad),
            "the padding is in segment 1; it needs to be 0":
                lambda ids, sep, pad: (ends_before(ids, sep) > 0).long(),
            "the padding is in a third segment, 2; it needs to be 0":
                lambda ids, sep, pad: ends_before(ids, sep),
            "0 and 1 are exchanged; the first text has segment 0":
                lambda ids, sep, pad: (ends_before(ids, sep) == 0).long(),
            "the last [SEP] belongs to the text that it ends; its segment is 1 where there are two texts":
                lambda ids, sep, pad: (ends_before(ids, sep) > 0).long() * (ids != pad) * (ids != sep),
            "you take 0 for the padding; its id is `pad`":
                lambda ids, sep, pad: (ends_before(ids, sep) > 0).long() * (ids != 0),
        }),
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
        }, most=100),                                        # [2, 3, 10] is needed, and [2, 8, 10] too much
}
