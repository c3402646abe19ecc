"""Exercises of lesson 07: layer norm, and the target shifted by one."""
import torch

from helpers.exercises.exercise import Exercise, numbers


def slow_layer_norm(x, eps):
    output = torch.zeros_like(x)
    for b in range(x.shape[0]):
        for t in range(x.shape[1]):
            word = x[b, t]
            mean = word.sum() / len(word)
            variance = ((word - mean) ** 2).sum() / len(word)
            output[b, t] = (word - mean) / (variance + eps) ** 0.5
    return output


def slow_shift_right(target, bos):
    rows = []
    for row in target.tolist():
        rows.append([bos, *row[:-1]])
    return torch.tensor(rows)


def normalised(x, eps, axes=-1, correction=0):
    variance, mean = torch.var_mean(x, axes, correction=correction, keepdim=True)
    return (x - mean) / (variance + eps).sqrt()


EXERCISES = {
    "layer_norm": Exercise(
        slow_layer_norm,
        [(torch.tensor([[[1.0, 3.0], [4.0, 4.0]]]), 3.0),
         (5 + 2 * numbers(1, 2, 6, seed=7), 0.5), (numbers(2, 3, 4, seed=8), 1e-5)],
        {
            "mean and variance run over a whole sentence; normalise each token by itself, over the last axis":
                lambda x, eps: normalised(x, eps, axes=(1, 2)),
            "mean and variance run over the batch, which is batch norm; normalise each token by itself":
                lambda x, eps: normalised(x, eps, axes=(0, 1)),
            "the variance divides by n - 1; layer norm uses the mean square, which divides by n":
                lambda x, eps: normalised(x, eps, correction=1),
            "you add eps to the root; add it to the variance, under the root":
                lambda x, eps: (x - x.mean(-1, keepdim=True)) / (x.std(-1, correction=0, keepdim=True) + eps),
            "mean and variance run over everything; normalise each token by itself, over the last axis":
                lambda x, eps: normalised(x, eps, axes=(0, 1, 2)),
            "`x.std(-1)` divides by n - 1, and eps belongs under the root; add it to the mean square":
                lambda x, eps: (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps),
            "the mean is still in it; subtract it first":
                lambda x, eps: x / (x.var(-1, correction=0, keepdim=True) + eps).sqrt(),
            "you divide by the variance; divide by its root":
                lambda x, eps: (x - x.mean(-1, keepdim=True)) / (x.var(-1, correction=0, keepdim=True) + eps),
            "eps is missing; without it a token of equal numbers gives NaN, which is 0 / 0":
                lambda x, eps: normalised(x, 0),
        }),
    "shift_right": Exercise(
        slow_shift_right,
        [(torch.tensor([[5, 6]]), 2), (torch.tensor([[4, 9, 3]]), 1),
         (torch.tensor([[5, 6, 7, 3], [8, 3, 0, 0]]), 2)],
        {
            "the last id comes back at the front, as with roll; `bos` belongs there":
                lambda target, bos: target.roll(1, 1),
            "the target is shifted the other way, so the decoder reads what it has to predict next":
                lambda target, bos: torch.cat([target[:, 1:], torch.full_like(target[:, :1], bos)], 1),
            "`bos` replaced the first id, and nothing was shifted":
                lambda target, bos: torch.cat([torch.full_like(target[:, :1], bos), target[:, 1:]], 1),
            "the result is one longer than the target; drop the last id":
                lambda target, bos: torch.cat([torch.full_like(target[:, :1], bos), target], 1),
            "the batch is shifted, one row to the next; shift along the positions, the last axis":
                lambda target, bos: torch.cat([torch.full_like(target[:1], bos), target[:-1]]),
        }),
}
