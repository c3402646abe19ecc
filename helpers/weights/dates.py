"""Trains the date model that ships with lessons 0 and 8, and writes it beside this file: python -m helpers.weights.dates

The model of lesson 8 with a wider feed-forward, trained for longer, on more pairs: one layer on each side, four heads, 64 numbers a
character. There is time for its heads to find their neighbours by themselves; waves as long as the texts (base 20) make it easier.
"""
import torch

from helpers.corpora.dates import load_dates, normalise
from helpers.decoding import answer_scores, translate
from helpers.loading import SHIPPED, load_weights, save_weights
from helpers.recording import record
from helpers.text import BOS, Vocab, batches, pad
from helpers.training import one_cycle, sequence_loss, train
from helpers.transformer import Transformer

STEPS, LONGEST = 12_000, 40                                             # characters of a written date
SOURCE, TARGET = Vocab([" ',-./0123456789abcdefghijlmnoprstuvwy"]), Vocab(["0123456789-"])


def new_model():
    """The untrained model."""
    return Transformer(len(SOURCE), len(TARGET), d_model=64, num_heads=4, d_ff=128, num_layers=1, dropout=0.0, base=20)


def date_model():
    """The trained model, from the file that ships."""
    return load_weights(new_model(), "dates").eval()


def encode(text):
    """The ids of a written date. Raises ValueError for a text without characters or with too many."""
    ids = SOURCE.encode(normalise(text))
    if not 1 <= len(ids) <= LONGEST:
        raise ValueError(f"{len(ids)} characters: type a date of 1 to {LONGEST}, such as sunday november 30 1997")
    return ids


@torch.no_grad()
def read_date(model, text):
    """(answer, probability): the ISO date as a string, and how sure the model is of it."""
    src, lengths = pad([encode(text)])
    ids = translate(model, src, lengths, max_len=12)
    return "".join(TARGET.decode(ids[0])), answer_scores(model, src, lengths, ids, length_penalty=0.0).exp().item()


@torch.no_grad()
def attention_over(model, text):
    """(answer, weights): the ISO date, and where each of its characters looked in the text, [H, len(answer), T_src]."""
    src, lengths = pad([encode(text)])
    answer = TARGET.decode(translate(model, src, lengths, max_len=12)[0])
    with record(model) as seen:
        model(src, lengths, torch.tensor([[BOS, *TARGET.encode(answer[:-1])]]))
    return "".join(answer), seen["decoder.layers.0.cross_attn.attention_weights"][0][0]       # of the first call, its first text


def main():
    """Train, measure on dates never trained on, and save."""
    torch.manual_seed(0)
    known, held_out = load_dates(600_000)
    data = [(encode(written), TARGET.encode(iso)) for written, iso in known]
    model = new_model()
    train(model, batches(data, 64, STEPS), sequence_loss, 1e-2, one_cycle(STEPS), clip=1.0)
    src, lengths = pad([encode(written) for written, _ in held_out])
    found = ["".join(TARGET.decode(ids)) for ids in translate(model, src, lengths, max_len=12)]
    right = sum(iso == answer for (_, iso), answer in zip(held_out, found))
    print(f"{right} of {len(held_out)} dates never trained on are right")
    save_weights(model, SHIPPED / "dates.safetensors", {"steps": STEPS, "right": right, "of": len(held_out)})


if __name__ == "__main__":
    main()
