"""Trains the model of lesson 8 with three seeds, as the lesson does and with tokens and positions of other sizes.

Writes what each reaches: the mean loss of the last 50 of 300 steps and, after 2,000, what the lesson measures. Five minutes of
one core.
"""
import argparse
import datetime
import pathlib
import random
from functools import partial
from string import ascii_lowercase

import torch

from helpers.data.dates import MONTHS, load_dates, normalise
from helpers.data.translation import load_translation
from helpers.generation import answer_scores, translate
from helpers.hooks import effects, record, what_if
from helpers.pretrained.weights import SHIPPED
from helpers.text import BOS, Vocab, batches, pad
from helpers.training import one_cycle, sequence_loss, train
from helpers.transformer import Transformer
from tools.make_weights import tables

LESSON, SEEDS = (1, 1, 10_000, 2_000), (0, 1, 2)             # LESSON: size of tokens, of positions, base, steps
GRID = [LESSON, (8, 1, 10_000, 2_000), (8, 1, 10_000, 300), (8, 8, 10_000, 300), (1, 0.125, 10_000, 300), (1, 1, 10_000, 300),
        (1, 1, 20, 300)]
SETTING = ["tokens", "positions", "base", "steps", "seed"]
MEASURED = ["loss", "exact_match", "calibration_error", "cuts_that_matter", "cuts_on_own_part", "misspelt",
            "misspelt_calibration_error", "auroc_sentences", "sentences_sure", "auroc_impossible", "impossible_sure",
            "misspelt_surest", "swapped", "swapped_surest", "replaced", "replaced_surest", "doubled", "doubled_surest",
            "wrong_small_cut", "wrong_harmless_cut", "auroc_same_form", "no_day_sure"]


class Task:
    """The data and vocabularies of the lesson: pairs of training and test dates, none of those held out for validation."""

    def __init__(self, n_train=100_000):
        pairs, self.test_pairs = load_dates(n_train)
        held_out = {iso for _, iso in pairs[:500]}
        pairs = [pair for pair in pairs if pair[1] not in held_out]
        self.source, self.target = Vocab([list(normalise(written)) for written, _ in pairs]), Vocab([list("0123456789-")])
        self.data = [(self.encode(written), self.target.encode(iso)) for written, iso in pairs]

    def encode(self, text):
        return self.source.encode(normalise(text))

    def trained(self, tokens, positions, base, steps, seed):
        """(model, losses) of one training."""
        torch.manual_seed(seed)
        model = Transformer(len(self.source), len(self.target), d_model=64, num_heads=4, d_ff=128, num_layers=1, dropout=0.0,
                            base=base)
        for embedding in (model.src_embed, model.tgt_embed):
            embedding.tokens.weight.data *= tokens
            embedding.positions.table *= positions
        lr = 1e-2 if steps > 300 else 6e-3
        losses = train(model, batches(self.data, 64, steps, seed), sequence_loss, lr, one_cycle(steps), clip=1.0)
        return model.eval(), losses

    def read(self, model, texts):
        """The answers as texts, and their confidence, [B]."""
        src, lengths = pad([self.encode(text) for text in texts])
        ids = translate(model, src, lengths, max_len=12)
        confidence = answer_scores(model, src, lengths, ids, length_penalty=0.0).exp()
        return ["".join(self.target.decode(row)) for row in ids], confidence

    def right(self, model, pairs):
        """Which of the pairs are read without a mistake, and how confidently: [N] each."""
        answers, confidence = self.read(model, [written for written, _ in pairs])
        return torch.tensor([answer == iso for answer, (_, iso) in zip(answers, pairs)]), confidence

    def look_and_cut(self, model, text):
        """Of the ten characters of an answer: weights [4, 10, T_src], and the effect of cutting each."""
        src, lengths = pad([self.encode(text)])
        ids = translate(model, src, lengths, max_len=12)
        inputs = src, lengths, torch.cat([torch.tensor([[BOS]]), ids[:, :-1]], 1)
        with torch.no_grad(), record(model) as seen:
            model(*inputs)

        def log_probability(logits):
            return logits.log_softmax(-1).gather(-1, ids.expand(len(logits), -1).unsqueeze(-1)).sum((1, 2))

        effect = effects(model, inputs, log_probability, where="cross_attn")[0]
        return seen["decoder.layers.0.cross_attn.attention_weights"][0][0][:, :10], effect[:, :10]


def cuts(task, model):
    """Of the large weights the share that matters, and of the cuts that matter the least share on a digit's own part."""
    days = [day for _, iso in task.test_pairs if (day := datetime.date.fromisoformat(iso)).day > 9][:20]
    large = matter = 0
    own, everywhere = torch.zeros(3), torch.zeros(3)             # of year, month, day
    for day in days:
        words = f"{day:%A %B} {day.day} {day.year}".lower().split()
        weights, effect = task.look_and_cut(model, " ".join(words))
        top, key = weights.max(-1, keepdim=True)
        large += (top > 0.5).sum().item()
        matter += ((top > 0.5) & (effect.gather(-1, key) < -0.1)).sum().item()
        costly, starts = effect < -0.1, [len(" ".join(words[:i] + [""])) for i in range(4)]
        for i, (rows, part) in enumerate(((slice(0, 4), 3), (slice(5, 7), 1), (slice(8, 10), 2))):
            own[i] += costly[:, rows, starts[part]:starts[part] + len(words[part])].sum()
            everywhere[i] += costly[:, rows].sum()
    return matter / large, (own / everywhere).min().item()


def joint_cuts(task, model):
    """Of 20 dates, how many are read wrong once all weights below 0.1 are cut at once, and all large ones with no effect alone."""
    wrong = [0, 0]
    for day in [day for _, iso in task.test_pairs if (day := datetime.date.fromisoformat(iso)).day > 9][:20]:
        text = f"{day:%A %B} {day.day} {day.year}".lower()
        weights, effect = task.look_and_cut(model, text)
        run = what_if(model, partial(translate, model, *pad([task.encode(text)]), max_len=12), where="cross_attn")
        for i, cells in enumerate((weights < 0.1, (weights > 0.5) & (effect > -0.1))):
            ids = run([{"kind": "cut", "index": [h], "query": q, "key": k} for h, q, k in cells.nonzero().tolist()])[0]
            wrong[i] += "".join(task.target.decode(ids[0])) != day.isoformat()
    return wrong


def calibration_error(confidence, found, bins=10):
    """Expected calibration error, Guo et al. 2017."""
    places = (confidence * bins).long().clamp(max=bins - 1)
    return torch.zeros(bins).index_add(0, places, confidence - found.float()).abs().sum().item() / len(found)


def auroc(ours, others):
    """The chance that one of ours is larger than one of the others, a tie half."""
    ours = ours.unsqueeze(1)
    return ((ours > others).float() + 0.5 * (ours == others).float()).mean().item()


def misspell(text, mistake, rng):
    """The text with one letter left out, doubled, replaced by another, or swapped with the letter behind it."""
    places = [i for i, letter in enumerate(text) if letter.isalpha()]
    if mistake == "swapped":
        places = [i for i in places if text[i + 1:i + 2].isalpha() and text[i].lower() != text[i + 1].lower()]
    i = rng.choice(places)
    if mistake == "swapped":
        return text[:i] + text[i + 1] + text[i] + text[i + 2:]
    others = ascii_lowercase.replace(text[i].lower(), "")
    put = rng.choice(others) if mistake == "replaced" else 2 * text[i] if mistake == "doubled" else ""
    return text[:i] + put + text[i + 1:]


def share(found):
    return found.float().mean().item()


def measured(task, model):
    """All of MEASURED but the loss, by name."""
    years = range(1930, 2065, 3)
    named = [pair for pair in task.test_pairs if any(month[:3].lower() in pair[0].lower() for month in MONTHS)]
    misread = {}
    for mistake in ("left out", "swapped", "replaced", "doubled"):
        rng = random.Random(1)
        misread[mistake] = task.right(model, [(misspell(written, mistake, rng), iso) for written, iso in named])
    shares = {f"{mistake}{name}": share(right[sure > line]) for mistake, (right, sure) in misread.items()
              for name, line in (("", -1), ("_surest", 0.99))}
    sentences = [english for english, _ in load_translation() if len(english) <= 41][:500]
    impossible = [f"{day} {month} {year}" for year in years for day, month in (
        (31, "April"), (31, "June"), (31, "September"), (31, "November"), (30, "February"), (31, "February"))]
    possible = [f"{day} {month} {year}" for year in years for day, month in (
        (30, "April"), (30, "June"), (30, "September"), (30, "November"), (27, "February"), (28, "February"))]
    month_alone = [f"{month} {year}" for year in years for month in MONTHS]
    found, sure = task.right(model, task.test_pairs)
    no_date, no_day = task.read(model, sentences)[1], task.read(model, impossible)[1]
    matter, own = cuts(task, model)
    small, harmless = joint_cuts(task, model)
    return {"exact_match": share(found), "calibration_error": calibration_error(sure, found), "cuts_that_matter": matter,
            "cuts_on_own_part": own, "misspelt": shares.pop("left out"), "misspelt_surest": shares.pop("left out_surest"), **shares,
            "misspelt_calibration_error": calibration_error(*misread["left out"][::-1]),
            "auroc_sentences": auroc(sure, no_date), "sentences_sure": share(no_date > 0.9),
            "auroc_impossible": auroc(sure, no_day), "impossible_sure": share(no_day > 0.9),
            "auroc_same_form": auroc(task.read(model, possible)[1], no_day), "wrong_small_cut": small,
            "wrong_harmless_cut": harmless, "no_day_sure": share(task.read(model, month_alone)[1] > 0.9)}


def rows(grid=GRID, seeds=SEEDS, task=None):
    """A dictionary for each training: its setting, and what was measured, as words."""
    task = task or Task()
    for setting in grid:
        for seed in seeds:
            model, losses = task.trained(*setting, seed)
            if setting == LESSON:
                found = measured(task, model)
            elif setting[-1] > 300:
                found = {"exact_match": share(task.right(model, task.test_pairs)[0])}
            else:
                found = {"loss": sum(losses[-50:]) / len(losses[-50:])}
            yield dict(zip(SETTING, (*setting, seed))) | {name: f"{value:.4g}" for name, value in found.items()}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.make_weights.date_runs", description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=SHIPPED,
                        help="the folder to write dates.csv to (default: the one of the weights that ship)")
    torch.set_num_threads(1)
    tables.write(parser.parse_args().out / "dates.csv", [*SETTING, *MEASURED], rows())
