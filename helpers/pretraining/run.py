"""Pretrains a small BERT, and goes on from its last checkpoint when started again: python -m helpers.pretraining --out FOLDER

In several processes: torchrun --standalone --nproc-per-node 2 -m helpers.pretraining --out FOLDER; on several hosts, on each of them,
with --nnodes 2 --rdzv-id 1 --rdzv-backend c10d --rdzv-endpoint HOST:29400 in place of --standalone. They train what one process
would have trained, from the same batches, and the first of them alone reads and writes FOLDER: checkpoint.safetensors and log.csv
while it goes on; at the end the model, vocab.txt and training.json. When one of them dies, torchrun stops the others: start again.
With --max-restarts 9 it does that by itself, if TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1 is set: without that, new processes may look
for dead ones, as of torch 2.13.
"""
import argparse
import contextlib
import dataclasses
import itertools
import json
import math
import pathlib
import re
import sys
import time
import zlib

import torch
from safetensors import SafetensorError
from tqdm.auto import tqdm

from helpers.bert import Bert, BertForPretraining
from helpers.data.documentation import load_paragraphs
from helpers.data.wikitext import load_wikitext
from helpers.pretrained.format import save_bert
from helpers.pretrained.weights import atomic_write, save_weights
from helpers.pretraining.checkpoint import everything, load_checkpoint, open_log, save_checkpoint, standing
from helpers.pretraining.distributed import processes, together, train_step
from helpers.pretraining.objectives import SentencePairs, evaluate, pretraining_batches, unigram_loss
from helpers.text import read_wordpiece, save_wordpiece, train_wordpiece
from helpers.training import one_cycle

CHECKPOINT = "checkpoint.safetensors"
COLUMNS = ["step", "loss", "masked_word_loss", "next_sentence_loss", "held_out_masked_word_loss", "held_out_accuracy"]


@dataclasses.dataclass
class Options:
    """All that decides the curve of the loss, beside the text."""
    layers: int = 4
    width: int = 256                                                    # d_model; d_ff is four times that
    heads: int = 4
    norm: str = "post"                                                  # as in BERT; or "pre"
    max_len: int = 128                                                  # tokens of a pair of sentences
    dropout: float = 0.1
    batch_size: int = 64                                                # pairs a step, over all processes together
    steps: int = 10_000
    lr: float = 1e-3                                                    # at its peak
    seed: int = 0
    bf16: bool = False                                                  # on a GPU


def pretrain(known, held_out, tokenizer, out, save_every=500, **options):
    """Train on known paragraphs, try on held_out ones, keep all in the folder `out`; return the trained BertForPretraining.

    known, held_out: lists of two or more sentences each. options: see Options. A checkpoint that lies in `out` is gone on from;
    every save_every steps a new one takes its place. Raises ValueError for a checkpoint of another run, for options that do not
    go together and for a loss that is not finite; OSError where `out` cannot be written.
    """
    options, out, started = Options(**options), pathlib.Path(out), time.time()
    known, held_out = (SentencePairs([[found.ids for found in tokenizer.encode_batch(sentences, add_special_tokens=False)]
                                      for sentences in paragraphs]) for paragraphs in (known, held_out))
    text = zlib.crc32(repr((known.real, held_out.real)).encode())
    record = dataclasses.asdict(options) | {"vocab_size": tokenizer.get_vocab_size(), "text": text}
    with processes() as (rank, world, device):
        check(options, save_every, world, len(known.real), device)
        torch.manual_seed(options.seed)
        model = BertForPretraining(Bert(record["vocab_size"], options.width, options.heads, 4 * options.width, options.layers,
                                        options.max_len, dropout=options.dropout, norm=options.norm)).to(device)
        optimizer, schedule = torch.optim.Adam(model.parameters(), fused=True), one_cycle(options.steps, warm=0.1)
        tensors = everything(model, optimizer)
        if rank == 0:
            if (out / "model.safetensors").exists() and not (out / CHECKPOINT).exists():
                raise ValueError(f"{out} holds a model, and no checkpoint to go on from: it would be lost, so take another folder")
            out.mkdir(parents=True, exist_ok=True)
            started -= load_checkpoint(out / CHECKPOINT, tensors, record)
        parallel = together(model, tensors, record) if world > 1 else model
        first = int(next(iter(optimizer.state.values()))["step"])
        trials = list(pretraining_batches(held_out, tokenizer, 64, math.ceil(min(len(held_out.real), 2048) / 64), options.max_len))
        batches = zip(range(first, options.steps), batches_from(first, known, tokenizer, options))
        bar = tqdm(batches, initial=first, total=options.steps, unit="step", disable=rank > 0)
        began = time.perf_counter()
        with open_log(out / "log.csv", COLUMNS, first) if rank == 0 else contextlib.nullcontext() as log:
            for step, batch in bar:
                torch.manual_seed(zlib.crc32(f"{options.seed} {step} {rank}".encode()))              # dropout, resumed or not
                losses = train_step(parallel, optimizer, batch, options.lr * schedule(step), rank, world, options.bf16)
                if rank == 0:
                    bar.set_postfix(loss=f"{sum(losses):.3f}", refresh=False)
                    done = step + 1
                    save = done % save_every == 0 or done == options.steps
                    print(done, sum(losses), *losses, *(validate(model, trials) if save else ("", "")), sep=",", file=log)
                    if save:
                        save_checkpoint(out / CHECKPOINT, tensors, record, done, time.time() - started)
        if rank == 0:
            speed = (options.steps - first) * options.batch_size / (time.perf_counter() - began)
            loss, accuracy = validate(model, trials)
            finish(model, tokenizer, out, record | {
                "held_out_pairs": sum(len(batch[0]) for batch in trials), "held_out_masked_word_loss": loss,
                "unigram_loss": unigram_loss(known, trials, record["vocab_size"]), "held_out_accuracy": accuracy,
                "seconds": round(time.time() - started), "pairs_a_second": round(speed, 1),          # since the last start
                "processes": world, "device": device.type,
                "python": sys.version.split()[0], "torch": torch.__version__})
    return model.eval()


def batches_from(step, pairs, tokenizer, options):
    """Batches without end from that of a step on, none smaller than the others. Each pass has its seed: so none is made in vain."""
    in_a_pass, size = len(pairs.real) // options.batch_size, options.batch_size
    for number in itertools.count(step // in_a_pass):
        batches = pretraining_batches(pairs, tokenizer, size, math.ceil(len(pairs.real) / size), options.max_len,
                                      1_000_003 * options.seed + number)
        yield from itertools.islice((batch for batch in batches if len(batch[0]) == size), step % in_a_pass, None)
        step = 0


def check(options, save_every, world, pairs, device):
    """Raise ValueError for what would fail later, or train something else than was meant."""
    if min(options.steps, save_every) < 1:
        raise ValueError(f"steps={options.steps}, save_every={save_every}: both need to be at least 1")
    if not world <= options.batch_size <= pairs:
        raise ValueError(f"batch_size={options.batch_size}: each of {world} processes needs a pair, and there are {pairs}")
    if options.bf16 and device.type != "cuda":
        raise ValueError("bf16 is for a GPU, and there is none here: leave it out")


def validate(model, batches):
    """What `evaluate` finds, without dropout."""
    device = next(model.parameters()).device
    model.eval()
    scores = evaluate(model, ([tensor.to(device) for tensor in batch] for batch in batches))
    model.train()
    return scores


def finish(model, tokenizer, out, record):
    """Write the model in the published layout, which is for post-norm alone, its vocabulary, and the record."""
    if record["norm"] == "post":
        save_bert(model, out, tokenizer, record)
    else:
        save_weights(model, out / "model.safetensors", record)
        save_wordpiece(tokenizer, out / "vocab.txt")
    with atomic_write(out / "training.json") as path:
        path.write_text(json.dumps(record, indent=2) + "\n")


def hold_out(paragraphs, share=0.05):
    """(known, held out): a paragraph's own first sentence decides which it is, so that it is the same one on every machine."""
    held = [zlib.crc32(sentences[0].encode()) < share * 2**32 for sentences in paragraphs]
    return [p for p, out in zip(paragraphs, held) if not out], [p for p, out in zip(paragraphs, held) if out]


def read_paragraphs(path):
    """The paragraphs of a text file, lists of two or more sentences: one on each line, an empty line between paragraphs."""
    blocks = re.split(r"\n\s*\n", path.read_text(encoding="utf-8"))
    paragraphs = [[line.strip() for line in block.splitlines() if line.strip()] for block in blocks]
    return [sentences for sentences in paragraphs if len(sentences) > 1]


def main():
    """Read the options and the text, and pretrain."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, type=pathlib.Path, help="the folder to write to, and to go on from")
    parser.add_argument("--corpus", choices=["documentation", "wikitext-2"], default="documentation")
    parser.add_argument("--text", type=pathlib.Path, metavar="FILE", help="a text of your own in place of the corpus: a sentence a "
                                                                          "line, an empty line between paragraphs")
    parser.add_argument("--also", nargs="*", default=[], metavar="LIBRARY", help="installed ones to read the documentation of too")
    parser.add_argument("--vocab", help="a vocab.txt; learned from the text if not given")
    parser.add_argument("--vocab-size", type=int, default=8000, help="of the vocabulary that is learned")
    parser.add_argument("--save-every", type=int, default=500, help="steps from one checkpoint to the next")
    for field in dataclasses.fields(Options):
        kind = {"action": "store_true"} if field.type is bool else {"type": field.type, "default": field.default}
        parser.add_argument("--" + field.name.replace("_", "-"), **kind, help=f"default: {field.default}")
    given = vars(parser.parse_args())
    out, corpus, text, also, vocab, vocab_size = map(given.pop, ("out", "corpus", "text", "also", "vocab", "vocab_size"))
    try:
        if text:
            known, held_out = hold_out(read_paragraphs(text))
        else:
            known, held_out = hold_out(load_paragraphs(also)) if corpus == "documentation" else load_wikitext(corpus)
        tokenizer = read_wordpiece(vocab) if vocab else train_wordpiece(itertools.chain.from_iterable(known), vocab_size)
        pretrain(known, held_out, tokenizer, out, **given)
    except (KeyboardInterrupt, OSError, ValueError, ImportError, SafetensorError) as error:
        sys.exit(f"{str(error) or 'stopped'}\n{standing(out / CHECKPOINT)}")


if __name__ == "__main__":
    main()
