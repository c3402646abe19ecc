"""Exercises of lesson 11: bits per character, Witten-Bell smoothing, and sampling by min-p."""
import math

import torch

from helpers.exercises.exercise import Exercise, numbers


def slow_bits_per_character(logits, ids):
    total, count = 0.0, 0
    for row, tokens in zip(logits.tolist(), ids.tolist()):
        for t in range(len(tokens) - 1):                     # position t predicts the token at t + 1
            all_together = sum(math.exp(value) for value in row[t])
            total -= math.log2(math.exp(row[t][tokens[t + 1]]) / all_together)
            count += 1
    return torch.tensor(total / count)


def slow_witten_bell(counts, lower):
    total, kinds = 0.0, 0
    for count in counts.tolist():
        total += count
        kinds += count > 0                                   # how many different tokens followed
    if total == 0:
        return lower.clone()                                 # a context that was never seen
    return torch.tensor([(count + kinds * p) / (total + kinds) for count, p in zip(counts.tolist(), lower.tolist())])


def slow_min_p(probs, share):
    rows = []
    for row in probs.tolist():
        kept = [p if p >= share * max(row) else 0.0 for p in row]
        rows.append([p / sum(kept) for p in kept])
    return torch.tensor(rows)


def of_targets(logits, ids):
    """The log-probability of each next token, in nats: [B, T - 1]."""
    return logits.log_softmax(-1)[:, :-1].gather(-1, ids[:, 1:].unsqueeze(-1)).squeeze(-1)


def smoothed(counts, lower, kinds):
    """The counts and `kinds` more, shared out by `lower`; `lower` itself where nothing was counted."""
    return torch.where(counts.sum() > 0, (counts + kinds * lower) / (counts.sum() + kinds).clamp(min=1e-9), lower)


def kept_alone(probs, kept):
    return probs * kept / (probs * kept).sum(-1, keepdim=True).clamp(min=1e-9)


LOWER = torch.tensor([0.4, 0.3, 0.2, 0.1])
EXERCISES = {
    "bits_per_character": Exercise(
        slow_bits_per_character,
        [(torch.tensor([[[0.0, 0.0], [1.0, 0.0]]]), torch.tensor([[0, 1]])),
         (torch.tensor([[[120.0, 0.0, 0.0], [0.0, 0.0, 0.0]]]), torch.tensor([[0, 1]])),
         (numbers(1, 4, 5, seed=1), torch.tensor([[2, 0, 3, 1]])),
         (3 * numbers(2, 6, 8, seed=2), torch.tensor([[2, 7, 3, 1, 0, 5], [4, 4, 6, 0, 2, 1]]))],
        {
            "these are nats; divide by the natural logarithm of 2":
                lambda logits, ids: -of_targets(logits, ids).mean(),
            "the softmax is over the positions; take it over the vocabulary, the last axis":
                lambda logits, ids: -logits.log_softmax(1)[:, :-1].gather(-1, ids[:, 1:].unsqueeze(-1)).mean() / math.log(2),
            "the softmax is over the rows of the batch; take it over the vocabulary, the last axis":
                lambda logits, ids: -logits.log_softmax(0)[:, :-1].gather(-1, ids[:, 1:].unsqueeze(-1)).mean() / math.log(2),
            "you compare each position with the token that it reads, and in nats; compare logits[:, :-1] with ids[:, 1:], and "
            "divide by the natural logarithm of 2":
                lambda logits, ids: -logits.log_softmax(-1).gather(-1, ids.unsqueeze(-1)).mean(),
            "you multiply by the logarithm of 2; divide by it":
                lambda logits, ids: -of_targets(logits, ids).mean() * math.log(2),
            "each position predicts the token that follows it; you compare it with the token that it reads":
                lambda logits, ids: -logits.log_softmax(-1).gather(-1, ids.unsqueeze(-1)).mean() / math.log(2),
            "you shift the wrong way; the logits at a position predict the id after it, so compare logits[:, :-1] with ids[:, 1:]":
                lambda logits, ids: -logits.log_softmax(-1)[:, 1:].gather(-1, ids[:, :-1].unsqueeze(-1)).mean() / math.log(2),
            "you compare the logits at a position with the id at the same position; compare logits[:, :-1] with ids[:, 1:]":
                lambda logits, ids: -logits.log_softmax(-1)[:, 1:].gather(-1, ids[:, 1:].unsqueeze(-1)).mean() / math.log(2),
            "each position is compared with the token that it reads, the last one left out; compare logits[:, :-1] with ids[:, 1:]":
                lambda logits, ids: -logits.log_softmax(-1)[:, :-1].gather(-1, ids[:, :-1].unsqueeze(-1)).mean() / math.log(2),
            "roll brings the first id round to the last position, which predicts none of the ids; leave this position out":
                lambda logits, ids: -logits.log_softmax(-1).gather(-1, ids.roll(-1, 1).unsqueeze(-1)).mean() / math.log(2),
            "indexing with ids[:, 1:] takes every target at every position; gather takes that of each position":
                lambda logits, ids: -logits.log_softmax(-1)[:, :-1, ids[:, 1:]].mean() / math.log(2),
            "indexing with ids[:, 1:] takes every target at every position, and in nats; gather takes that of each position, and "
            "bits need a division by the natural logarithm of 2":
                lambda logits, ids: -logits.log_softmax(-1)[:, :-1, ids[:, 1:]].mean(),
            "you divide by the number of all ids; the last position predicts none of them, so divide by B * (T - 1)":
                lambda logits, ids: -of_targets(logits, ids).sum() / ids.numel() / math.log(2),
            "`F.cross_entropy` looks for the classes on the second axis; flatten batch and positions, to [B * (T - 1), vocab_size]":
                lambda logits, ids: torch.nn.functional.cross_entropy(logits[:, :-1], ids[:, 1:]) / math.log(2),
            "softmax gives 0 where a logit is far below the largest, and log2 of 0 is infinite; take log_softmax":
                lambda logits, ids: -logits.softmax(-1)[:, :-1].gather(-1, ids[:, 1:].unsqueeze(-1)).log2().mean(),
            "you take the softmax first; `F.cross_entropy` takes the logits themselves":
                lambda logits, ids: -of_targets(logits.softmax(-1), ids).mean() / math.log(2),
            "this is the logarithm of the loss; divide the loss in nats by the logarithm of 2":
                lambda logits, ids: (-of_targets(logits, ids).mean()).log2(),
            "this is the sum over the positions of a text; take the mean over B * (T - 1) predictions":
                lambda logits, ids: -of_targets(logits, ids).sum() / len(ids) / math.log(2),
            "this is the sum over the positions; take the mean":
                lambda logits, ids: -of_targets(logits, ids).sum() / math.log(2),
            "this is the perplexity; its logarithm to base 2 is needed":
                lambda logits, ids: (-of_targets(logits, ids).mean()).exp(),
            "take the mean of the logarithms, not the logarithm of the mean":
                lambda logits, ids: -of_targets(logits, ids).exp().mean().log2(),
            "the result is negative; the loss is minus the logarithm":
                lambda logits, ids: of_targets(logits, ids).mean() / math.log(2),
            "these are the logits of the targets; log_softmax makes logarithms of probabilities of them":
                lambda logits, ids: -logits[:, :-1].gather(-1, ids[:, 1:].unsqueeze(-1)).mean() / math.log(2),
        }),
    "witten_bell": Exercise(
        slow_witten_bell,
        [(torch.tensor([1.0, 0.0, 0.0, 0.0]), LOWER), (torch.zeros(4), LOWER), (torch.tensor([1.0, 1.0, 3.0, 0.0]), LOWER),
         (torch.tensor([5.0, 0.0, 1.0, 2.0]), LOWER),
         (torch.tensor([0.0, 2.0, 1.0, 2.0, 3.0]), torch.tensor([0.5, 0.1, 0.2, 0.2, 0.0]))],
        {
            "these are the counts alone, without `lower`: what never followed gets 0":
                lambda counts, lower: smoothed(counts, lower, torch.tensor(0.0)),
            "`lower` gets the weight of one token; it needs that of as many as different tokens followed":
                lambda counts, lower: smoothed(counts, lower, torch.tensor(1.0)),
            "`lower` gets the weight of the whole vocabulary; count only the tokens that followed":
                lambda counts, lower: smoothed(counts, lower, torch.tensor(float(len(counts)))),
            "you count the tokens that followed once; count all that followed":
                lambda counts, lower: smoothed(counts, lower, (counts == 1).sum()),
            "you count the tokens that `lower` holds; count those that followed":
                lambda counts, lower: smoothed(counts, lower, (lower > 0).sum()),
            "the counts are divided by their sum alone; divide both parts by the sum of the counts and the number of kinds":
                lambda counts, lower: torch.where(
                    counts.sum() > 0, counts / counts.sum().clamp(min=1) + (counts > 0).sum() * lower
                    / (counts.sum() + (counts > 0).sum()).clamp(min=1), lower),
            "you count how many different counts there are; count the tokens that followed":
                lambda counts, lower: smoothed(counts, lower, torch.tensor(float(len(counts[counts > 0].unique())))),
            "you count how many different counts there are, with 0; count the tokens that followed":
                lambda counts, lower: smoothed(counts, lower, torch.tensor(float(len(counts.unique())))),
            "you count the tokens that never followed; count those that did":
                lambda counts, lower: smoothed(counts, lower, (counts == 0).sum()),
            "the weights are exchanged; the counts have the weight of their sum, `lower` that of the number of kinds":
                lambda counts, lower: torch.where(
                    counts.sum() > 0, ((counts > 0).sum() * counts / counts.sum() + counts.sum() * lower)
                    / (counts.sum() + (counts > 0).sum()), lower),
            "every token gets the same part of the missing weight; `lower` says how it is shared out":
                lambda counts, lower: smoothed(counts, torch.full_like(lower, 1 / len(lower)), (counts > 0).sum()),
            "this adds one to each count; the missing weight is shared out by `lower`":
                lambda counts, lower: (counts + 1) / (counts + 1).sum(),
            "a context that was never seen gives 0 / 0; it needs to give `lower`":
                lambda counts, lower: (counts + (counts > 0).sum() * lower) / (counts.sum() + (counts > 0).sum()),
            "the result does not sum to 1; divide by the sum of the counts and the number of kinds":
                lambda counts, lower: torch.where(counts.sum() > 0, (counts + (counts > 0).sum() * lower) / counts.sum(), lower),
            "the result does not sum to 1; the denominator has the number of kinds, not that of all tokens":
                lambda counts, lower: torch.where(
                    counts.sum() > 0, (counts + (counts > 0).sum() * lower) / (counts.sum() + len(counts)), lower),
            "a context that was never seen gives 0 everywhere; it needs to give `lower`":
                lambda counts, lower: (counts + (counts > 0).sum() * lower) / (counts.sum() + (counts > 0).sum()).clamp(min=1),
            "a context that was never seen gives every token the same; it needs to give `lower`":
                lambda counts, lower: torch.where(counts.sum() > 0, smoothed(counts, lower, (counts > 0).sum()),
                                                  torch.full_like(lower, 1 / len(lower))),
            "tokens that followed get their share of the counts alone; `lower` adds to every token":
                lambda counts, lower: torch.where(counts > 0, counts / counts.sum().clamp(min=1), torch.where(
                    counts.sum() > 0, (counts > 0).sum() * lower / (counts.sum() + (counts > 0).sum()).clamp(min=1), lower)),
            "tokens that followed get their share of the counts alone, and the others `lower` as it is; mix both for every token":
                lambda counts, lower: torch.where(counts > 0, counts / counts.sum().clamp(min=1), lower),
            "only tokens that never followed get a share of `lower`; every token does":
                lambda counts, lower: torch.where(
                    counts.sum() > 0, torch.where(counts > 0, counts, (counts > 0).sum() * lower)
                    / (counts.sum() + (counts > 0).sum()).clamp(min=1), lower),
            "this is the mean of the two, as if `lower` had the weight of the sum of the counts; its weight is the number of "
            "different tokens that followed":
                lambda counts, lower: torch.where(counts.sum() > 0, (counts / counts.sum() + lower) / 2, lower),
        }),
    "min_p": Exercise(
        slow_min_p,
        [(torch.tensor([[0.5, 0.4, 0.1]]), 0.5), (torch.tensor([[0.5, 0.3, 0.15, 0.05]]), 0.2),
         (torch.tensor([[0.25, 0.25, 0.25, 0.25], [0.9, 0.06, 0.03, 0.01]]), 0.1),
         (torch.tensor([[0.1, 0.2, 0.3, 0.4], [0.6, 0.3, 0.1, 0.0], [0.4, 0.2, 0.2, 0.2]]), 0.5)],
        {
            "you keep what is within `share` of the largest probability; keep what has at least `share` of it":
                lambda probs, share: kept_alone(probs, probs >= (1 - share) * probs.amax(-1, keepdim=True)),
            "you compare with `share` itself; compare with `share` times the largest probability":
                lambda probs, share: kept_alone(probs, probs >= share),
            "you compare with `share` itself, and where no probability is as large nothing is kept; compare with `share` times "
            "the largest probability":
                lambda probs, share: probs * (probs >= share) / (probs * (probs >= share)).sum(-1, keepdim=True),
            "this is a softmax of the kept probabilities; divide them by their sum":
                lambda probs, share: probs.masked_fill(probs < share * probs.amax(-1, keepdim=True), -math.inf).softmax(-1),
            "this is a softmax, and what was set to 0 gets a share of it; divide the kept probabilities by their sum":
                lambda probs, share: (probs * (probs >= share * probs.amax(-1, keepdim=True))).softmax(-1),
            "the kept probabilities do not sum to 1; divide by their sum":
                lambda probs, share: probs * (probs >= share * probs.amax(-1, keepdim=True)),
            "you divide by the sum of each column; each row needs its own, over the last axis":
                lambda probs, share: (kept := probs * (probs >= share * probs.amax(-1, keepdim=True))) / kept.sum(0),
            "the largest and the sum of each row need an axis of length 1: keepdim=True":
                lambda probs, share: (kept := probs * (probs >= share * probs.amax(-1, keepdim=True))) / kept.sum(-1),
            "the kept tokens all get the same; they keep their probabilities, divided by the sum":
                lambda probs, share: (kept := (probs >= share * probs.amax(-1, keepdim=True)).float()) / kept.sum(-1, keepdim=True),
            "you divide by the sum of all rows; each row needs its own":
                lambda probs, share: (kept := probs * (probs >= share * probs.amax(-1, keepdim=True))) / kept.sum(),
            "you take the largest and the sum of all rows; each row needs its own: dim=-1, keepdim=True":
                lambda probs, share: (kept := probs * (probs >= share * probs.max())) / kept.sum(),
            "you take the largest probability of each token over the rows; each row needs its own, over the last axis":
                lambda probs, share: kept_alone(probs, probs >= share * probs.amax(0, keepdim=True)),
            "you take the largest probability of all rows; each row needs its own":
                lambda probs, share: kept_alone(probs, probs >= share * probs.max()),
            "these are sorted by probability; each token needs to stand where it stood":
                lambda probs, share: kept_alone(
                    probs.sort(-1, descending=True)[0], probs.sort(-1, descending=True)[0] >= share * probs.amax(-1, keepdim=True)),
            "`F.normalize` divides by the root of the sum of squares; divide by the sum, or give it p=1":
                lambda probs, share: torch.nn.functional.normalize(probs * (probs >= share * probs.amax(-1, keepdim=True)), dim=-1),
            "`F.normalize` divides each column, and by the root of the sum of squares; divide each row by its sum":
                lambda probs, share: torch.nn.functional.normalize(probs * (probs >= share * probs.amax(-1, keepdim=True)), dim=0),
            "a token at the limit itself is kept; compare by >=":
                lambda probs, share: kept_alone(probs, probs > share * probs.amax(-1, keepdim=True)),
            "these are the unlikely tokens; keep the likely ones":
                lambda probs, share: kept_alone(probs, probs < share * probs.amax(-1, keepdim=True)),
            "this is top-p, a share of the sum; min-p compares with a share of the largest":
                lambda probs, share: kept_alone(probs, (probs.unsqueeze(-2) > probs.unsqueeze(-1)).mul(probs.unsqueeze(-2)).sum(-1)
                                                < share),
        }),
}
