"""What each head of a BERT looks at: its maps, and scores that name the head."""
import math

import torch

from helpers.recording import record

KINDS = ["previous", "next", "same word", "[SEP]"]           # what a head can be named for, by `head_scores`


@torch.no_grad()
def maps_of(bert, found):
    """All maps of a `Bert` for one text or pair, as the tokenizer encoded it: [layers, heads, T, T]."""
    with record(bert) as seen:
        bert(torch.tensor([found.ids]), torch.tensor([len(found)]), torch.tensor([found.type_ids]))
    return torch.stack([weights[0][0] for weights in seen.values()])


def head_scores(weights, tokens):
    """The mean weight that a word gives to each kind of piece: weights [..., T, T] to kind: [...].

    `[CLS]` and `[SEP]` ask no questions here, only words do; for "same word" only those words that
    are there again. "broad" is the entropy of a row, 1 if all weights are equal.
    """
    T, place = len(tokens), torch.arange(len(tokens))
    ids = torch.tensor([tokens.index(token) for token in tokens])
    cls, sep = (torch.tensor([token == mark for token in tokens]) for mark in ("[CLS]", "[SEP]"))
    back = place.unsqueeze(1) - place                                      # [T, T]
    again = (ids.unsqueeze(1) == ids) & (back != 0)
    word, nan = ~(cls | sep), torch.nan
    looks = {"previous": back == 1, "next": back == -1, "same word": again,
             "[SEP]": sep.expand(T, T), "[CLS]": cls.expand(T, T)}
    scores = {}
    for kind, mask in looks.items():
        rows = word & again.any(1) if kind == "same word" else word
        scores[kind] = (weights * mask).sum(-1)[..., rows].mean(-1) if rows.any() else weights[..., 0, 0] * nan
    entropy = -torch.special.xlogy(weights, weights).sum(-1)               # [..., T]
    scores["broad"] = entropy[..., word].mean(-1) / math.log(T)
    return scores
