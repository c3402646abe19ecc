"""Pretrains a small BERT, and goes on from its last checkpoint when started again.

python -m helpers.pretraining --out FOLDER

In several processes: torchrun --standalone --nproc-per-node 2 -m helpers.pretraining --out FOLDER; on several
hosts, on each of them, with --nnodes 2 --rdzv-id 1 --rdzv-backend c10d --rdzv-endpoint HOST:29400 in place of
--standalone. They train what one process would have trained, from the same batches, and the first of them
alone reads and writes FOLDER: checkpoint.safetensors and log.csv while it goes on; at the end the model,
vocab.txt and training.json. When one of them dies, torchrun stops the others: start again. With
--max-restarts 9 it does that by itself, if TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1 is set: without that, new
processes may look for dead ones, as of torch 2.13.
"""
import argparse
import contextlib
import dataclasses
import itertools
import json
import math
import pathlib
import statistics
import sys
import time
import zlib

import torch
from safetensors import SafetensorError
from tokenizers import BertWordPieceTokenizer
from tqdm.auto import tqdm

from helpers.bert import Bert, BertForPretraining
from helpers.data.documentation import load_paragraphs
from helpers.data.wikitext import load_wikitext, read_text
from helpers.masks import check_whole
from helpers.pretrained.format import save_bert
from helpers.pretrained.weights import atomic_write, save_weights
from helpers.pretraining.checkpoint import Checkpoint, open_log, standing
from helpers.pretraining.distributed import processes, together
from helpers.pretraining.objectives import evaluate, pretraining_batches, sentence_pairs, unigram_loss
from helpers.pretraining.step import step_losses
from helpers.text import read_wordpiece, save_wordpiece, train_wordpiece
from helpers.training import one_cycle, train

CHECKPOINT = "checkpoint.safetensors"
COLUMNS = ["step", "loss", "mlm_loss", "nsp_loss", "validation_mlm_loss", "validation_nsp_accuracy"]


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


def pretrain(train_set: list[list[str]], validation_set: list[list[str]], tokenizer: BertWordPieceTokenizer, out,
             save_every: int = 500, **options) -> BertForPretraining:
    """Train on paragraphs, validate on others, keep all in the folder `out`; return the model.

    train_set, validation_set: lists of paragraphs, each a list of two or more sentences. options: see
    Options. A checkpoint that lies in `out` is gone on from; every save_every steps a new one takes its
    place. Raises ValueError for a checkpoint of another run, for options that do not go together and for a
    loss that is not finite; OSError where `out` cannot be written.
    """
    options, out = Options(**options), pathlib.Path(out)
    pairs, others = sentence_pairs(train_set, tokenizer), sentence_pairs(validation_set, tokenizer)
    validation = list(pretraining_batches(others, tokenizer, 64, math.ceil(min(len(others.real), 2048) / 64), options.max_len))
    run = dataclasses.asdict(options) | {"vocab_size": tokenizer.get_vocab_size(),
                                         "text": zlib.crc32(repr((pairs.real, others.real)).encode())}
    with processes() as (rank, world, device):
        check(options, save_every, world, len(pairs.real), device)
        model = untrained(options, run["vocab_size"]).to(device)
        optimizer, schedule = torch.optim.Adam(model.parameters(), fused=True), one_cycle(options.steps, warm=0.1)
        checkpoint = Checkpoint(out / CHECKPOINT, model, optimizer, run)
        if rank == 0:
            make_folder(out)
            checkpoint.load()
        parallel = together(model, checkpoint.tensors, run) if world > 1 else model
        first, parts = checkpoint.step(), torch.zeros(2, device=device)            # both losses of the last step
        times = []                                                      # of the steps since this start, in seconds

        def loss_fn(model, *batch):
            losses = step_losses(model, batch, rank, world, options.bf16)
            parts.copy_(losses.detach())                                # read when the step is over: no wait for the device
            return losses.sum()

        keep = journal(out, checkpoint, options.steps, save_every, parts, times, lambda: evaluate(model, validation))
        with keep if rank == 0 else contextlib.nullcontext() as watch:
            train(parallel, batches_from(first, pairs, tokenizer, options, rank), loss_fn, options.lr,
                  lambda step: schedule(first + step), clip=1.0, watch=watch, optimizer=optimizer)
        if rank == 0:
            finish(model, tokenizer, out, run | measured(model, pairs, validation, options, times) | {
                "seconds": round(checkpoint.all_seconds()), "processes": world, "device": device.type})
    return model


def untrained(options, vocab_size):
    """A model of these options before its first step."""
    torch.manual_seed(options.seed)
    bert = Bert(vocab_size, options.width, options.heads, 4 * options.width, options.layers,
                options.max_len, dropout=options.dropout, norm=options.norm)
    return BertForPretraining(bert)


def make_folder(out):
    """Make the folder of a run; raise ValueError where a model would be lost."""
    if (out / "model.safetensors").exists() and not (out / CHECKPOINT).exists():
        raise ValueError(f"{out} holds a model, and no checkpoint to go on from: it would be lost, so take another folder")
    out.mkdir(parents=True, exist_ok=True)


def measured(model, pairs, validation, options, times):
    """What the record says of a finished model, and of what it was trained with."""
    loss, accuracy = evaluate(model, validation)
    speed = options.batch_size / statistics.median(times) if times else 0.0
    return {"validation_pairs": sum(len(batch[0]) for batch in validation), "validation_mlm_loss": loss,
            "unigram_loss": unigram_loss(pairs, validation, model.bert.embed.tokens.num_embeddings),
            "validation_nsp_accuracy": accuracy, "pairs_a_second": round(speed, 1),
            "python": sys.version.split()[0], "torch": torch.__version__}


@contextlib.contextmanager
def journal(out, checkpoint, steps, save_every, parts, times, validate):
    """What `train` calls after each step: it writes log.csv and, every save_every steps, validates and saves.

    To `times` it adds how long the step took, without what it does itself.
    """
    first, began = checkpoint.step(), time.perf_counter()
    with open_log(out / "log.csv", COLUMNS, first) as log, tqdm(initial=first, total=steps, unit="step") as bar:
        def watch(taken, loss, _):
            nonlocal began
            times.append(time.perf_counter() - began)
            step = first + taken
            save = step % save_every == 0 or step == steps
            print(step, loss, *parts.tolist(), *(validate() if save else ("", "")), sep=",", file=log)
            if save:
                checkpoint.save()
            bar.set_postfix(loss=f"{loss:.3f}", refresh=False)
            bar.update()
            began = time.perf_counter()
        yield watch


def batches_from(step, pairs, tokenizer, options, rank=0):
    """The batches of a run from a step on, all of one size; each pass has a seed.

    Before each, torch's generator gets a seed for step and process: dropout is the same after a restart.
    """
    size, in_a_pass = options.batch_size, len(pairs.real) // options.batch_size
    while step < options.steps:
        number, skipped = divmod(step, in_a_pass)
        seed, all_groups = 1_000_003 * options.seed + number, math.ceil(len(pairs.real) / size)
        batches = pretraining_batches(pairs, tokenizer, size, all_groups, options.max_len, seed)
        full = (batch for batch in batches if len(batch[0]) == size)
        for batch in itertools.islice(full, skipped, skipped + options.steps - step):
            torch.manual_seed(zlib.crc32(f"{options.seed} {step} {rank}".encode()))
            yield batch
            step += 1


def check(options, save_every, world, pairs, device):
    """Raise ValueError for what would fail later, or train something else than was meant."""
    check_whole(steps=options.steps, save_every=save_every)
    if not world <= options.batch_size <= pairs:
        raise ValueError(f"batch_size={options.batch_size}: each of {world} processes needs a pair, and there are {pairs}")
    if options.bf16 and device.type != "cuda":
        raise ValueError("bf16 is for a GPU, and there is none here: leave it out")


def finish(model, tokenizer, out, record):
    """Write the model in the published layout, which is for post-norm alone, its vocabulary, and the record."""
    if record["norm"] == "post":
        save_bert(model, out, tokenizer, record)
    else:
        save_weights(model, out / "model.safetensors", record)
        save_wordpiece(tokenizer, out / "vocab.txt")
    with atomic_write(out / "training.json") as path:
        path.write_text(json.dumps(record, indent=2) + "\n")


def hold_out(paragraphs: list[list[str]], share: float = 0.05) -> tuple[list[list[str]], list[list[str]]]:
    """(train, validation): a checksum of each paragraph's first sentence decides, the same on every machine."""
    held = [zlib.crc32(sentences[0].encode()) < share * 2**32 for sentences in paragraphs]
    return [p for p, out in zip(paragraphs, held) if not out], [p for p, out in zip(paragraphs, held) if out]


def arguments():
    """What the command line says, a dictionary."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, type=pathlib.Path, help="the folder to write to, and to go on from")
    parser.add_argument("--corpus", choices=["documentation", "wikitext-2"], default="documentation")
    parser.add_argument("--text", type=pathlib.Path, metavar="FILE", help="a text of your own in place of the "
                        "corpus: a sentence a line, an empty line between paragraphs; or as WikiText has it")
    parser.add_argument("--validation", type=pathlib.Path, metavar="FILE",
                        help="a text to validate on; without it about every twentieth paragraph of the other")
    parser.add_argument("--also", nargs="*", default=[], metavar="LIBRARY", help="installed ones to read the documentation of too")
    parser.add_argument("--vocab", help="a vocab.txt; learned from the text if not given")
    parser.add_argument("--vocab-size", type=int, default=8000, help="of the vocabulary that is learned")
    parser.add_argument("--save-every", type=int, default=500, help="steps from one checkpoint to the next")
    for field in dataclasses.fields(Options):
        kind = {"action": "store_true"} if field.type is bool else {"type": field.type, "default": field.default}
        parser.add_argument("--" + field.name.replace("_", "-"), **kind, help=f"default: {field.default}")
    given = parser.parse_args()
    if given.validation and not given.text:
        parser.error("--validation goes with --text")
    return vars(given)


def main() -> None:
    """Read the options and the text, and pretrain."""
    given = arguments()
    corpus, text, validation, also = map(given.pop, ("corpus", "text", "validation", "also"))
    out, vocab, vocab_size = map(given.pop, ("out", "vocab", "vocab_size"))
    try:
        if corpus == "wikitext-2" and not text:
            train_set, validation_set = load_wikitext()
        else:
            paragraphs = read_text(text) if text else load_paragraphs(also)
            train_set, validation_set = (paragraphs, read_text(validation)) if validation else hold_out(paragraphs)
        sentences = itertools.chain.from_iterable(train_set)
        tokenizer = read_wordpiece(vocab) if vocab else train_wordpiece(sentences, vocab_size)
        pretrain(train_set, validation_set, tokenizer, out, **given)
    except (KeyboardInterrupt, OSError, ValueError, ImportError, SafetensorError) as error:
        sys.exit(f"{str(error) or 'stopped'}\n{standing(out / CHECKPOINT)}")
