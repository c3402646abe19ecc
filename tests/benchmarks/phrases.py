"""What counting can do without a network: word for word, the nearest known sentence, and a table of phrases."""
from collections import Counter, defaultdict

import torch

from helpers.text import PAD, pad

LONGEST = 7                                                            # words of an English phrase


def presence(texts, vocab):
    """Which tokens each text holds: [len(texts), len(vocab)] of 0 and 1."""
    found = torch.zeros(len(texts), len(vocab))
    for row, text in zip(found, texts):
        row[vocab.encode(text)] = 1
    return found


def nearest(asked, known, en):
    """For each English sentence the French of the known one that shares most words with it, rare ones counting more."""
    mine, theirs = presence(asked, en), presence([e for e, _ in known], en)
    rarity = (len(known) / (theirs.sum(0) + 1)).log()
    shared = (mine * rarity) @ theirs.T                                # [asked, known]
    either = (mine @ rarity).unsqueeze(1) + theirs @ rarity - shared
    return [known[i][1] for i in (shared / either).argmax(1).tolist()]


def dictionary(pairs, en, fr, rounds=5):
    """t [English, French]: the probability of a French word given an English one. Source: Brown et al. 1993, model 1."""
    src, _ = pad([en.encode(e) for e, _ in pairs])
    tgt, _ = pad([fr.encode(f) for _, f in pairs])
    t = torch.ones(len(en), len(fr))
    for _ in range(rounds):
        count = torch.zeros_like(t)
        for e, f in zip(src.unsqueeze(1).split(2000), tgt.unsqueeze(2).split(2000)):
            share = t[e, f] * (e != PAD) * (f != PAD)                  # [B, T_tgt, T_src]
            share = share / share.sum(-1, keepdim=True).clamp(min=1e-12)
            count.index_put_((e.expand(share.shape), f.expand(share.shape)), share, accumulate=True)
        t = count / count.sum(1, keepdim=True).clamp(min=1e-9)
    return t


def phrase_table(known, en, fr):
    """The most frequent French phrase of each English phrase, as {words: words}. Source: Koehn et al. 2003, section 3.

    Each French word is linked to one English word: the likeliest by the dictionaries of both directions, near ones first.
    A phrase and its translation have all their links inside.
    """
    both = dictionary(known, en, fr) * dictionary([pair[::-1] for pair in known], fr, en).T
    table = defaultdict(Counter)
    for english, french in known:
        i, j = torch.arange(len(english)).unsqueeze(1) / len(english), torch.arange(len(french)) / len(french)
        likely = both[en.encode(english)][:, fr.encode(french)].sqrt() * torch.exp(-4 * (i - j).abs())
        linked = defaultdict(list)
        for place, word in enumerate(likely.argmax(0).tolist()):
            linked[word].append(place)
        for start in range(len(english)):
            places = []
            for end in range(start, min(len(english), start + LONGEST)):
                places = places + linked[end]
                first, last = (min(places), max(places) + 1) if places else (0, 0)
                if last - first == len(places):
                    table[tuple(english[start:end + 1])][tuple(french[first:last])] += 1
    return {phrase: found.most_common(1)[0][0] for phrase, found in table.items()}


def by_phrases(table, english):
    """From left to right, each time the longest phrase that the table has; an unknown word stays as it is."""
    written, start = [], 0
    while start < len(english):
        ends = range(min(len(english), start + LONGEST), start, -1)
        end = next((end for end in ends if tuple(english[start:end]) in table), start + 1)
        written += table.get(tuple(english[start:end]), english[start:end])
        start = end
    return written
