"""What goes on inside a trained BERT: its maps, scores that name its heads, and one vector for a sentence."""
import math

import torch
import torch.nn.functional as F

from helpers.recording import record
from helpers.text import pad

KINDS = ["previous", "next", "same", "[SEP]"]           # what `head_names` looks for first


@torch.no_grad()
def maps_of(bert, found):
    """All maps of a `Bert` for a text or pair, as the tokenizer encoded it: [layers, heads, T, T]."""
    with record(bert) as seen:
        bert(torch.tensor([found.ids]), torch.tensor([len(found)]), torch.tensor([found.type_ids]))
    return torch.stack([weights[0][0] for weights in seen.values()])


def head_scores(weights, tokens):
    """What the words look at: weights [..., T, T] to the mean weight for each kind, [...].

    Only those words are asked that have such a piece, another word or a mark, to look at; NaN if
    there are none. "broad" is the entropy of a row: 0 for one piece alone, 1 for all alike.
    """
    T, place = len(tokens), torch.arange(len(tokens))
    ids = torch.tensor([tokens.index(token) for token in tokens])
    cls, sep = (torch.tensor([token == mark for token in tokens]) for mark in ("[CLS]", "[SEP]"))
    words, back = ~(cls | sep), place.unsqueeze(1) - place                 # [T], [T, T]
    looks = {"previous": words & (back == 1), "next": words & (back == -1),
             "same": words & (ids.unsqueeze(1) == ids) & (back != 0),
             "[SEP]": sep.expand(T, T), "[CLS]": cls.expand(T, T)}
    scores = {}
    for kind, mask in looks.items():
        asked = words & mask.any(1)
        scores[kind] = (weights * mask).sum(-1)[..., asked].mean(-1)       # [...]
    entropy = -torch.special.xlogy(weights, weights).sum(-1)               # [..., T]
    scores["broad"] = entropy[..., words].mean(-1) / math.log(T)
    return scores


def head_names(scores, least=0.4):
    """A word for each head, in lists nested as the scores [layers, heads] are; "" where nothing stands out.

    A head is named for the kind that gets most, and at least this share, of what is not on `[CLS]`; else "[CLS]", if that gets
    this share of all; else "broad" from an entropy of 0.85.
    """
    rest = torch.stack([scores[kind] for kind in KINDS]) / (1 - scores["[CLS]"])     # [kinds, layers, heads]
    most, best = rest.max(0)

    def name(layer, head):
        if most[layer, head] >= least:
            return KINDS[best[layer, head]]
        return "[CLS]" if scores["[CLS]"][layer, head] >= least else "broad" if scores["broad"][layer, head] >= 0.85 else ""

    return [[name(layer, head) for head in range(most.shape[1])] for layer in range(len(most))]


def sentence_vectors(bert, tokenizer, sentences):
    """One vector of length 1 for each sentence, the mean over its pieces: [B, d_model]."""
    ids, lengths = pad([found.ids for found in tokenizer.encode_batch(sentences)])   # [B, T]
    real = torch.arange(ids.shape[1]) < lengths.unsqueeze(1)
    with torch.no_grad():
        x = bert(ids, lengths) * real.unsqueeze(-1)                        # [B, T, d_model]
    return F.normalize(x.sum(1) / lengths.unsqueeze(1), dim=-1)
