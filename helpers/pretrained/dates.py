"""The date model that ships for lessons 0 and 8: one layer on each side, four heads, d_model 64; a token is a character.

`python -m tools.make_weights.dates` trains it.
"""
import torch
from torch import Tensor

from helpers.data.dates import normalise
from helpers.generation import translate
from helpers.hooks import record
from helpers.pretrained.weights import load_weights
from helpers.text import BOS, Vocab, pad
from helpers.transformer import Transformer

LONGEST = 41                                                            # characters of a written date
SOURCE, TARGET = Vocab([" ',-./0123456789abcdefghijlmnoprstuvwy"]), Vocab(["0123456789-"])


def new_model() -> Transformer:
    """The untrained model."""
    return Transformer(len(SOURCE), len(TARGET), d_model=64, num_heads=4, d_ff=128, num_layers=1, dropout=0.0, base=20)


def date_model() -> Transformer:
    """The trained model, from the file that ships."""
    return load_weights(new_model(), "dates").eval()


def encode(text: str) -> list[int]:
    """The ids of a written date. Raises ValueError for a text without characters or with too many."""
    ids = SOURCE.encode(normalise(text))
    if not 1 <= len(ids) <= LONGEST:
        raise ValueError(f"{len(ids)} characters: type a date of 1 to {LONGEST}, such as sunday november 30 1997")
    return ids


@torch.no_grad()
def read_date(model: Transformer, text: str) -> tuple[str, Tensor]:
    """(answer, weights): the ISO date, and where each of its characters looked in the text, [H, len(answer), T_src]."""
    src, lengths = pad([encode(text)])
    answer = TARGET.decode(translate(model, src, lengths, max_len=12)[0])
    with record(model) as seen:
        model(src, lengths, torch.tensor([[BOS, *TARGET.encode(answer[:-1])]]))
    return "".join(answer), seen["decoder.layers.0.cross_attn.attention_weights"][0][0]       # of the first call, its first text
