"""Trains the date model that ships for lessons 0 and 8: python -m tools.make_weights.dates

Longer than lesson 8 does, on more pairs; sinusoids as long as the texts (base 20) make it easier to find a character's neighbours.
"""
import torch

from helpers.data.dates import load_dates
from helpers.generation import translate
from helpers.pretrained.dates import TARGET, encode, new_model
from helpers.pretrained.weights import SHIPPED, save_weights
from helpers.text import batches, pad
from helpers.training import one_cycle, sequence_loss, train

STEPS = 12_000


def main():
    """Train, measure on dates never trained on, and save."""
    torch.manual_seed(0)
    known, test = load_dates(600_000)
    data = [(encode(written), TARGET.encode(iso)) for written, iso in known]
    model = new_model()
    train(model, batches(data, 64, STEPS), sequence_loss, 1e-2, one_cycle(STEPS), clip=1.0)
    src, lengths = pad([encode(written) for written, _ in test])
    found = ["".join(TARGET.decode(ids)) for ids in translate(model, src, lengths, max_len=12)]
    right = sum(iso == answer for (_, iso), answer in zip(test, found))
    print(f"{right} of {len(test)} dates never trained on are right")
    save_weights(model, SHIPPED / "dates.safetensors", {"steps": STEPS, "right": right, "of": len(test)})


if __name__ == "__main__":
    main()
