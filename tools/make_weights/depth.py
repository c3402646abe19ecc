"""Trains the encoders of lesson 7 that reverse eight digits, in every setting of its lab, and writes their losses.

Residual on and off, norm before, after or none, or none and a small start, by depth and learning rate, post-norm also with a
warm-up: three seeds each. The controls: 24 layers without norms that clip the gradient, or that get more steps; 24 with post-norm,
and two to eight without residuals, that get more steps; four with residuals around one kind of sublayer alone and more steps; and
eight pre-norm layers with a warm-up, and eight with either norm at a higher learning rate.
"""
import argparse
import csv
import itertools
import pathlib

import torch
import torch.nn.functional as F
from torch import nn

from helpers.pretrained.weights import SHIPPED
from helpers.training import train
from helpers.transformer import Embedding, EncoderLayer, Stack

STEPS, MORE, EVERY = 200, 800, 10                            # of the training; of some controls; to a point of the curve
KINDS = "self-attention", "feed-forward"                      # of sublayers
GRID = {"residual": (True, False, *KINDS), "norm": ("pre", "post", "none", "small start"), "warm": (0, 20),
        "depth": (1, 2, 4, 8, 16, 24), "lr": (0.001, 0.003, 0.01, 0.03), "steps": (STEPS, MORE), "clip": (None, 1.0),
        "seed": (0, 1, 2)}


class Around(nn.Module):
    """What surrounds a sublayer, with switches: residual True or False; norm "pre", "post", or else none."""

    def __init__(self, d_model, residual, norm):
        super().__init__()
        self.residual, self.norm_first = residual, norm != "post"
        self.norm = nn.LayerNorm(d_model) if norm in ("pre", "post") else nn.Identity()

    def forward(self, x, layer):
        y = layer(self.norm(x)) if self.norm_first else layer(x)
        y = x + y if self.residual else y
        return y if self.norm_first else self.norm(y)


class Reverser(nn.Module):
    """Encoder layers with switches: digits [B, T] to logits [B, T, 10] of the digit at the mirrored position.

    residual: True, False, or the one of KINDS that alone has it.
    """

    def __init__(self, depth, residual=True, norm="pre"):
        super().__init__()
        layers = [EncoderLayer(32, num_heads=2, d_ff=64) for _ in range(depth)]
        for layer in layers:
            layer.residuals = nn.ModuleList(Around(32, residual in (True, kind), norm) for kind in KINDS)
        self.embed, self.stack = Embedding(10, 32), Stack(layers, 32, norm)
        self.output = nn.Linear(32, 10)
        if norm == "small start":                            # as in GPT-2, by the root of the number of sublayers
            with torch.no_grad():
                for layer in layers:
                    layer.self_attn.out_proj.weight /= (2 * depth) ** 0.5
                    layer.feed_forward.down.weight /= (2 * depth) ** 0.5

    def forward(self, digits):
        return self.output(self.stack(self.embed(digits)))                  # [B, T, 10]


def reverse(depth, residual=True, norm="pre", lr=0.003, warm=0, seed=0, steps=STEPS, clip=None):
    """A trained `Reverser` and its losses; warm: the steps in which the learning rate grows to lr; clip: as in `train`."""
    def loss(model, digits):
        return F.cross_entropy(model(digits).flatten(0, 1), digits.flip(1).flatten())

    torch.manual_seed(seed)
    model, generator = Reverser(depth, residual, norm), torch.Generator().manual_seed(100 + seed)
    examples = [(torch.randint(10, (32, 8), generator=generator),) for _ in range(steps)]
    return model, train(model, examples, loss, lr, lambda step: min(1, (step + 1) / (warm + 1)), clip)


def reversed_right(model):
    """The share of digits that a model puts right, of 500 sequences that it was not trained on."""
    digits = torch.randint(10, (500, 8), generator=torch.Generator().manual_seed(9))
    with torch.no_grad():
        return (model(digits).argmax(-1) == digits.flip(1)).float().mean().item()


def wanted(residual, norm, warm, depth, lr, steps, clip, seed):
    """Whether a setting is trained: a warm-up for post-norm, which is said to need it; each control at one depth alone."""
    if lr == GRID["lr"][-1]:
        return (residual, depth, steps, clip) == (True, 8, STEPS, None) and norm in ("pre", "post")
    deep_without_norms = (residual, norm, warm, depth) == (True, "none", 0, 24)
    if residual in KINDS:
        return (norm, warm, depth, steps, clip) == ("pre", 0, 4, MORE, None)
    if steps == MORE:
        without_residual = not residual and norm == "pre" and not warm and depth in (2, 4, 8)
        return not clip and (deep_without_norms or without_residual or residual and norm == "post" and depth == 24)
    if clip:
        return deep_without_norms
    return not warm or norm == "post" or norm == "pre" and residual and depth == 8


def rows(grid=GRID):
    """A dictionary for each setting: the setting, the accuracy, and the mean losses of every few steps, in one string."""
    for values in itertools.product(*grid.values()):
        setting = dict(zip(grid, values))
        if not wanted(**setting):
            continue
        try:
            model, losses = reverse(**setting)
        except ValueError:                                   # the loss is no number any more
            yield setting | {"accuracy": "nan", "losses": ""}
            continue
        curve = torch.tensor(losses).unfold(0, EVERY, EVERY).mean(-1).tolist()
        yield setting | {"accuracy": f"{reversed_right(model):.3f}", "losses": " ".join(f"{loss:.3g}" for loss in curve)}


def write(path, found):
    """Write the rows as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*GRID, "accuracy", "losses"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.make_weights.depth", description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=SHIPPED,
                        help="the folder to write depth.csv to (default: the one of the weights that ship)")
    torch.set_num_threads(1)
    write(parser.parse_args().out / "depth.csv", rows())
