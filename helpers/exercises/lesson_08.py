"""Exercises of lesson 08: a split by date, the probability of an answer, the calibration error."""
import torch

from helpers.exercises.exercise import Exercise, numbers


def slow_may_train(days, held):
    allowed = []
    for day in days.tolist():
        allowed.append(day not in held.tolist())
    return torch.tensor(allowed)


def slow_confidence(logits, ids):
    product = 1.0
    for t in range(len(ids)):
        probabilities = logits[t].softmax(-1)
        product = product * probabilities[ids[t]]
    return product


def slow_calibration_error(confidence, right, num_bins):
    total = torch.tensor(0.0)
    for b in range(num_bins):
        inside = [i for i, p in enumerate(confidence.tolist()) if min(int(p * num_bins), num_bins - 1) == b]
        if inside:
            gap = confidence[inside].mean() - right[inside].float().mean()
            total = total + len(inside) / len(confidence) * gap.abs()
    return total


def chosen(logits, ids):
    """The probability of the id that was written at each step, [T]."""
    return logits.softmax(-1)[torch.arange(len(ids)), ids]


def bins_of(confidence, num_bins):
    """The bin of each confidence, [N]; that of 1 would be one too many."""
    return (confidence * num_bins).long()


def gaps(confidence, right, num_bins):
    """Mean confidence less the share that is right, and the number of answers, of each bin that has any."""
    bins = bins_of(confidence, num_bins).clamp(max=num_bins - 1)
    inside = [bins == b for b in bins.unique()]
    return (torch.stack([(confidence - right.float())[some].mean() for some in inside]),
            torch.stack([some.sum() for some in inside]))


def summed(confidence, right, num_bins):
    """The sum of confidence less right of each bin, [num_bins]; raises IndexError for a confidence of 1."""
    return torch.zeros(num_bins).index_add(0, bins_of(confidence, num_bins), confidence - right.float())


def with_empty_bins(confidence, right, num_bins):
    bins = bins_of(confidence, num_bins).clamp(max=num_bins - 1)
    inside = [(confidence - right.float())[bins == b] for b in range(num_bins)]
    return sum(some.mean().abs() * len(some) for some in inside) / len(confidence)


def from_the_middle(confidence, right, num_bins):
    """The calibration error with the middle of each bin in place of its mean confidence."""
    bins = bins_of(confidence, num_bins).clamp(max=num_bins - 1)
    differences = torch.zeros(num_bins).index_add(0, bins, (bins + 0.5) / num_bins - right.float())
    return differences.abs().sum() / len(confidence)


def without_ones(confidence, right, num_bins):
    difference = confidence - right.float()
    bins = bins_of(confidence, num_bins)
    return sum(difference[bins == b].sum().abs() for b in range(num_bins)) / len(confidence)


EXERCISES = {
    "may_train": Exercise(
        slow_may_train,
        [(torch.tensor([4, 4, 7]), torch.tensor([4])),
         (torch.tensor([3, 0, 5, 0, 3, 1]), torch.tensor([3, 1])),
         (torch.tensor([5, 9, 2, 8, 9, 6, 5]), torch.tensor([9, 2, 5]))],
        {
            "this is True for the dates that are held out; True is for those that may be trained on":
                lambda days, held: torch.isin(days, held),
            "you hold out the pairs at these positions; `held` has days, and all pairs of these days are held out":
                lambda days, held: ~torch.isin(torch.arange(len(days)), held),
            "only the first pair of each held-out day is kept from training; the day stays in, in another form":
                lambda days, held: torch.tensor([day not in held.tolist() or day in days[:i].tolist()
                                                 for i, day in enumerate(days.tolist())]),
            "`any` keeps a day that differs from some held-out day; it has to differ from all of them":
                lambda days, held: (days.unsqueeze(1) != held).any(1),
            "only the first of the held-out days is kept from training":
                lambda days, held: days != held[0],
            "these are the days that may be trained on; say True or False for each of the N":
                lambda days, held: days[~torch.isin(days, held)],
            "these are the positions of the days that may be trained on; say True or False for each of the N":
                lambda days, held: (~torch.isin(days, held)).nonzero().squeeze(1),
            "this asks of each held-out day whether it is among `days`; exchange the arguments of `isin`":
                lambda days, held: ~torch.isin(held, days),
            "all are True: a tensor is never found in a set or list of numbers so; compare values, as `isin` does":
                lambda days, held: torch.ones(len(days), dtype=torch.bool),
            "all days from the first to the last held-out one are kept from training; only those in `held` are":
                lambda days, held: (days < held.min()) | (days > held.max()),
        }, at_once=True),
    "confidence": Exercise(
        slow_confidence,
        [(torch.tensor([[100.0, 0.0], [0.0, 0.0]]), torch.tensor([0, 1])),
         (numbers(2, 5, seed=8), torch.tensor([1, 0])),
         (3 * numbers(4, 5, seed=9), torch.tensor([1, 0, 4, 2]))],
        {
            "this is the logarithm of the probability; `exp` undoes it":
                lambda logits, ids: chosen(logits, ids).log().sum(),
            "this is the mean of the probabilities; all ids have to be right together, so multiply":
                lambda logits, ids: chosen(logits, ids).mean(),
            "this is the geometric mean of the probabilities; the probability of the whole is their product":
                lambda logits, ids: chosen(logits, ids).log().mean().exp(),
            "this is the sum of the probabilities; all ids have to be right together, so multiply":
                lambda logits, ids: chosen(logits, ids).sum(),
            "this is the smallest of the probabilities; all ids have to be right together, so multiply":
                lambda logits, ids: chosen(logits, ids).min(),
            "the last step is missing; the product runs over all T":
                lambda logits, ids: chosen(logits, ids)[:-1].prod(),
            "a sigmoid looks at each logit alone; a softmax makes probabilities that sum to 1 over the vocabulary":
                lambda logits, ids: logits.sigmoid()[torch.arange(len(ids)), ids].prod(),
            "these are the largest probabilities of each step; the ids say which were chosen":
                lambda logits, ids: logits.softmax(-1).max(-1).values.prod(),
            "`[:, ids]` takes every id at every step, [T, T]; take at each step the id that was written there":
                lambda logits, ids: logits.softmax(-1)[:, ids].prod(),
            "the softmax runs over the steps; take it over the vocabulary, the last axis":
                lambda logits, ids: logits.softmax(0)[torch.arange(len(ids)), ids].prod(),
            "you multiply logits; a softmax makes probabilities of them":
                lambda logits, ids: logits[torch.arange(len(ids)), ids].prod(),
            "these are the probabilities of the steps; multiply them":
                chosen,
            "the exponential of 100 overflows; softmax subtracts the largest logit first":
                lambda logits, ids: (
                    (logits.exp() / logits.exp().sum(-1, keepdim=True))[torch.arange(len(ids)), ids].prod()),
        }, at_once=True),
    "calibration_error": Exercise(
        slow_calibration_error,
        [(torch.tensor([0.9, 0.9]), torch.tensor([True, False]), 2),
         (torch.tensor([0.5, 0.9]), torch.tensor([False, True]), 2),
         (torch.tensor([0.2, 0.3, 0.9, 1.0]), torch.tensor([True, False, True, False]), 2),
         (torch.tensor([0.05, 0.35, 0.38, 0.62, 0.66, 0.68, 0.97, 1.0]),
          torch.tensor([False, True, True, False, True, False, True, True]), 10)],
        {
            "the bins count equally; each counts by its share of the answers":
                lambda *case: gaps(*case)[0].abs().mean(),
            "the gaps of the bins are added as they are; each counts by its share of the answers":
                lambda *case: gaps(*case)[0].abs().sum(),
            "the bins count equally, empty ones too; each counts by its share of the answers":
                lambda *case: gaps(*case)[0].abs().sum() / case[-1],
            "an edge belongs to the bin above it; `torch.bucketize` with `right=True` does so":
                lambda confidence, right, num_bins: torch.zeros(num_bins).index_add(
                    0, ((confidence * num_bins).ceil().long() - 1).clamp(min=0), confidence - right.float()
                ).abs().sum() / len(confidence),
            "gaps above and below 0 cancel; take the absolute value of each bin's gap":
                lambda confidence, right, num_bins: (confidence - right.float()).mean(),
            "everything is one bin; compare the means inside each of `num_bins` bins":
                lambda confidence, right, num_bins: (confidence - right.float()).mean().abs(),
            "each answer is compared by itself; a single answer is right or wrong, only the mean of a bin is a share":
                lambda confidence, right, num_bins: (confidence - right.float()).abs().mean(),
            "this is the Brier score, the mean of squared differences; compare the means inside each bin":
                lambda confidence, right, num_bins: (confidence - right.float()).square().mean(),
            "the mean of an empty bin is NaN; leave out the bins without an answer":
                with_empty_bins,
            "you compare with the middle of each bin; compare with the mean confidence of the answers in it":
                from_the_middle,
            "only the bins that are too sure count; a gap below 0 counts, too":
                lambda *case: (gaps(*case)[0].clamp(min=0) * gaps(*case)[1]).sum() / len(case[0]),
            "the gaps are squared; take their absolute values":
                lambda *case: (gaps(*case)[0].square() * gaps(*case)[1]).sum() / len(case[0]),
            "a confidence of 1 is in no bin; it belongs to the last one":
                without_ones,
            "a confidence of 1 gets bin `num_bins`, and the last is `num_bins - 1`; `clamp` the bins":
                lambda *case: summed(*case).abs().sum() / len(case[0]),
            "the sum is divided by the number of bins; divide it by the number of answers":
                lambda confidence, right, num_bins: (
                    torch.mul(*gaps(confidence, right, num_bins)).abs().sum() / num_bins),
            "this is the largest gap of a bin; add the gaps, each weighted by its bin's share of the answers":
                lambda *case: gaps(*case)[0].abs().max(),
            "you add the shares that are right; subtract them from the mean confidence of the bin first":
                lambda confidence, right, num_bins: right.float().mean(),
        }),
}
