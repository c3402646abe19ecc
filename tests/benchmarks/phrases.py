"""What counting can do without a network: the nearest known sentence, and a table of phrases with a language model."""
import itertools
import math
import random
from collections import Counter, defaultdict
from functools import cache, partial

import sacrebleu
import torch

from helpers.text import PAD, pad

LONGEST = 7                                                            # words of an English phrase
OPTIONS, BEAM, HELD_OUT = 6, 12, 300                                   # French phrases for an English one; hypotheses kept; pairs
WEIGHTS = [*itertools.product((0.2, 0.5, 1), range(4), range(4))]      # those to choose from, see `by_phrases`


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


def phrase_counts(known, en, fr):
    """How often each English phrase stands for each French one, as {words: Counter}. Source: Koehn et al. 2003, section 3.

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
    return dict(table)


def trigrams(texts, shares=(0.7, 0.25, 0.05)):
    """A function from three words to the log-probability of the last: trigrams, bigrams and words, mixed by these shares."""
    grams = Counter()
    for text in texts:
        padded = (None, None, *text, None)
        for i in range(2, len(padded)):
            grams.update({padded[i - n:i + 1]: 1 for n in range(3)})
            grams.update({("before", *padded[i - n:i]): 1 for n in range(3)})

    @cache
    def log_prob(a, b, c):
        known = ((a, b, c), (b, c), (c,))
        return math.log(sum(share * grams[gram] / max(1, grams[("before", *gram[:-1])])
                            for share, gram in zip(shares, known)) + 1e-9)
    return log_prob


def by_phrases(counts, log_prob, weights, english):
    """From left to right by beam search: the phrases with the highest sum of log-probabilities, their own and the trigrams'.

    weights: of the trigrams; what every phrase costs, so that long ones are preferred; what every French word gains, or answers
    would be too short. Source: Koehn et al. 2003, section 2, without reordering.
    """
    of_trigrams, phrase_cost, word_gain = weights
    beams = [[] for _ in range(len(english) + 1)]                      # by the number of English words that are translated
    beams[0] = [(0.0, (None, None))]
    for start, beam in enumerate(beams[:-1]):
        kept = sorted(beam, key=lambda hypothesis: -hypothesis[0])[:BEAM]
        for end in range(start + 1, min(len(english), start + LONGEST) + 1):
            phrase = tuple(english[start:end])
            unknown = Counter([phrase]) if end == start + 1 else Counter()         # a single word stays as it is
            options = counts.get(phrase, unknown)
            for french, count in options.most_common(OPTIONS):
                own = math.log(count / options.total()) - phrase_cost + word_gain * len(french)
                for score, words in kept:
                    longer = words + french
                    score += of_trigrams * sum(log_prob(*longer[i - 2:i + 1]) for i in range(len(words), len(longer)))
                    beams[end].append((score + own, longer))
    return list(max(beams[-1], key=lambda hypothesis: hypothesis[0] + of_trigrams * log_prob(*hypothesis[1][-2:], None))[1][2:])


def translator(known, en, fr):
    """A function from English words to French ones, counted in pairs of lists of words.

    The weights are those with the best BLEU on HELD_OUT of the pairs or a tenth, drawn at random, in which nothing is counted.
    """
    known = random.Random(0).sample(known, len(known))
    count = min(HELD_OUT, len(known) // 10)
    held_out, known = known[:count], known[count:]
    counted = phrase_counts(known, en, fr), trigrams(french for _, french in known)
    right = [" ".join(french) for _, french in held_out]

    def bleu(weights):
        written = [" ".join(by_phrases(*counted, weights, english)) for english, _ in held_out]
        return sacrebleu.corpus_bleu(written, [right], force=True).score
    return partial(by_phrases, *counted, max(WEIGHTS, key=bleu))
