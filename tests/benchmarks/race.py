"""Translators that are trained in turns, each for as many seconds of the processor: this course's models, and those of plain.py.

Each plain model runs twice: with the recipe of its book, and with the course's (sizes, no dropout, batches of 64 of like
length, label smoothing and learning rate), so that a lead of the recipe is not taken for one of the code. The course's batch
size and dropout were chosen on 500 other English sentences, held out of the training pairs.
"""
import itertools
from time import process_time

import torch
import torch.nn.functional as F
from torch import nn

import plain
from helpers.positions import sinusoids
from helpers.recurrent import Seq2Seq
from helpers.text import BOS, EOS, PAD
from helpers.training import one_cycle, sequence_loss, train
from helpers.transformer import Transformer

PLACES, TURNS = 10, 20
SIZES = {"d_model": 128, "num_heads": 4, "d_ff": 256, "num_layers": 1, "dropout": 0.0}
BASE = 20                                                    # of the waves of the positions: for sentences of a few words
TRANSFORMER, ANNOTATED, BOOK = "this course's Transformer", "The Annotated Transformer", "Dive into Deep Learning"
RECURRENT, ONE_VECTOR = "this course's GRU with Bahdanau's attention", "this course's GRU without attention"
OURS = {TRANSFORMER: "transformer", RECURRENT: "bahdanau", ONE_VECTOR: "none"}       # as lesson 9 names its models


class Entrant:
    """A model and its recipe, trained a turn at a time.

    rate: the learning rate, from the steps taken and the share of the time that is over. fixed: each text fills PLACES places, or
    is cut off there, as in the book. adam: settings of the optimizer.
    """

    def __init__(self, model, loss, rate, batch_size=64, fixed=False, **adam):
        self.model, self.loss, self.rate, self.batch_size, self.fixed = model, loss, rate, batch_size, fixed
        self.optimizer = torch.optim.Adam(model.parameters(), fused=True, **adam)
        self.steps, self.spent = 0, 0.0

    def turn(self, batches, seconds, until):
        """Train until this share of the seconds is over."""
        start, before = process_time() - self.spent, self.steps

        def done():
            return (process_time() - start) / seconds

        some = itertools.takewhile(lambda _: done() < until, batches)
        if self.fixed:
            some = ((filled(src), lengths, filled(tgt, 1)) for src, lengths, tgt in some)
        self.steps += len(train(self.model, some, self.loss, 1.0, lambda step: self.rate(before + step, done()), clip=1.0,
                                optimizer=self.optimizer))
        self.spent = process_time() - start

    @torch.no_grad()
    def write(self, src, lengths, T=15):
        """Greedy translations, the whole beginning read again at each word: any model can do that."""
        src, ids = filled(src) if self.fixed else src, torch.full((len(src), 1), BOS)
        while ids.shape[1] <= T and not (ids == EOS).any(1).all():
            ids = torch.cat([ids, self.model(src, lengths, ids)[:, -1:].argmax(-1)], 1)
        return ids


def filled(ids, more=0):
    return F.pad(ids, (0, PLACES + more - ids.shape[1]), value=PAD)


def smooth_loss(model, *batch):
    return sequence_loss(model, *batch, label_smoothing=0.1)


def falling(peak):
    """The course's rate, which ends with the time, however many steps that was."""
    factor = one_cycle(1000, warm=0.2)
    return lambda step, done: peak * factor(int(1000 * done))


def paper(d_model, warm):
    """The rate of the Transformer's paper, equation 3."""
    return lambda step, done: d_model**-0.5 * min((step + 1)**-0.5, (step + 1) * warm**-1.5)


def xavier(model, kinds=nn.Module):
    """The model, all matrices of these kinds of layers drawn anew, as both books do."""
    for layer in model.modules():
        for parameter in layer.parameters(recurse=False) if isinstance(layer, kinds) else ():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)
    return model


def with_our_start(annotated, V):
    """A plain Transformer in the course's sizes and with its first weights and positions."""
    ours = Transformer(V, V, **SIZES, norm="pre" if annotated else "post")
    model = plain.Transformer(V, **SIZES, bias=annotated, annotated=annotated)
    plain.same_weights(ours, model)
    model.places = sinusoids(1000, SIZES["d_model"], base=BASE)
    return model


# From the size of the vocabulary to an entrant.
ENTRANTS = {
    TRANSFORMER: lambda V: Entrant(Transformer(V, V, **SIZES, base=BASE), smooth_loss, falling(4e-3)),
    f"{ANNOTATED}'s code, our recipe": lambda V: Entrant(with_our_start(True, V), smooth_loss, falling(4e-3)),
    f"{BOOK}'s Transformer, our recipe": lambda V: Entrant(with_our_start(False, V), smooth_loss, falling(2e-3)),
    f"{BOOK}'s GRU, our recipe": lambda V: Entrant(plain.Recurrent(V, 128, 1, 0.0), smooth_loss, falling(4e-3)),
    RECURRENT: lambda V: Entrant(Seq2Seq(V, V, 128), smooth_loss, falling(8e-3)),
    ONE_VECTOR: lambda V: Entrant(Seq2Seq(V, V, 128, attention=False), smooth_loss, falling(8e-3)),
    f"{ANNOTATED}, 2 layers of 128, its recipe": lambda V: Entrant(
        xavier(plain.Transformer(V, 128, 8, 512, 2, 0.1, annotated=True)), smooth_loss, paper(128, warm=400), 128,
        betas=(0.9, 0.98), eps=1e-9),
    f"{BOOK}'s Transformer, its recipe": lambda V: Entrant(
        plain.Transformer(V, 256, 4, 64, 2, 0.2, bias=False), plain.translation_loss, lambda *_: 1.5e-3, 128, fixed=True),
    f"{BOOK}'s GRU, its recipe": lambda V: Entrant(
        xavier(plain.Recurrent(V, 256, 2, 0.2), (nn.Linear, nn.GRU)), plain.translation_loss, lambda *_: 5e-3, 128, fixed=True),
}


def run(names, V, batches, seconds, seed):
    """The entrants of these names, trained; batches: from a batch size to an iterator that does not end."""
    racers, data = {}, {}
    for name in names:
        torch.manual_seed(seed)
        racers[name] = ENTRANTS[name](V)
        data[name] = batches(racers[name].batch_size)
    for turn in range(1, TURNS + 1):
        for name, entrant in racers.items():
            entrant.turn(data[name], seconds, turn / TURNS)
    return racers
