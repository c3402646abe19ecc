"""How well a small model answers couplets that people wrote: the loss of each character of held-out answers.

Needs the published corpus in the cache folder (`load_couplets("published")` says where): `make bench`.
"""
import math
from collections import Counter

import torch
import torch.nn.functional as F

from helpers.data.couplets import load_couplets
from helpers.generation import SEP, answer_batches, answer_loss
from helpers.text import EOS, PAD, Vocab
from helpers.training import one_cycle, train
from helpers.transformer import GPT

STEPS, LONGEST = 2500, 12


@torch.no_grad()
def loss_per_character(model, data, sep):
    """The mean loss, in nats, of the characters of the answers, their `<eos>` not counted."""
    total = characters = 0
    for ids, targets in answer_batches(data, 64, len(data) // 64, sep):
        scores = model(ids).flatten(0, 1)
        targets = targets.flatten().masked_fill(targets.flatten() == EOS, PAD)
        total += F.cross_entropy(scores, targets, ignore_index=PAD, reduction="sum").item()
        characters += (targets != PAD).sum().item()
    return total / characters


def test_published_couplets(read_or_skip, figure):
    couplets = [pair for pair in read_or_skip(load_couplets, "published") if len(pair[0]) <= LONGEST]
    order = torch.randperm(len(couplets), generator=torch.Generator().manual_seed(0)).tolist()
    held_out, known = [couplets[i] for i in order[:1024]], [couplets[i] for i in order[1024:]]
    firsts = {first for first, _ in known}
    held_out = [pair for pair in held_out if pair[0] not in firsts]
    vocab = Vocab(([*first, SEP, *second] for first, second in known), min_count=5)
    sep = vocab.index[SEP]
    data, fresh = ([(vocab.encode(a), vocab.encode(b)) for a, b in pairs] for pairs in (known, held_out))

    counts = Counter(i for _, second in data for i in second)
    everything = sum(counts.values()) + len(vocab)                         # each is counted once more, so that none has 0
    characters = [i for _, second in fresh for i in second]
    unigram = -sum(math.log((counts[i] + 1) / everything) for i in characters) / len(characters)

    torch.manual_seed(0)
    model = GPT(len(vocab), 128, 4, 256, num_layers=2, dropout=0.1)
    train(model, answer_batches(data, 64, STEPS, sep), answer_loss, 3e-3, one_cycle(STEPS), clip=1.0)
    loss = loss_per_character(model, fresh, sep)
    figure("couplets that people wrote, held out: nats a character", [loss], {"by frequency alone": [unigram]})
    assert loss < unigram - 1
