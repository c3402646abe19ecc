"""Pretraining: however many processes share it, and however often it is stopped or killed, the loss takes the same course."""
import csv
import itertools
import json
import os
import shutil
import subprocess
import sys
import time

import pytest
import torch
import torch.distributed as dist
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from helpers.bert import Bert, BertForPretraining
from helpers.pretrained import weights
from helpers.pretrained.format import load_bert, load_tokenizer
from helpers.pretrained.weights import load_weights, read_record
from helpers.pretraining import distributed
from helpers.pretraining import run as script
from helpers.pretraining import step as pretraining_step
from helpers.pretraining.checkpoint import Checkpoint
from helpers.pretraining.objectives import evaluate, pretraining_batches, pretraining_loss, sentence_pairs
from helpers.pretraining.run import CHECKPOINT, COLUMNS, Options, batches_from, hold_out
from helpers.pretraining.step import step_losses
from helpers.training import one_cycle, train
from pretraining import TINY, TOKENIZER, TRAIN, VALIDATION, mortal, paragraphs, run
from tests.notebooks import ROOT

PAIRS = sentence_pairs(TRAIN, TOKENIZER)
VOCAB_SIZE = TOKENIZER.get_vocab_size()


def rows(folder):
    with open(folder / "log.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def curve(folder):
    return torch.tensor([[float(row[name]) for name in COLUMNS[:4]] for row in rows(folder)])


def saved_step(folder):
    return load_file(folder / CHECKPOINT)["nsp_head.bias.step"].item()


def check_same(folder, other):
    """Two runs are one: what they logged, to the last digit, and all that their checkpoints hold, to the last bit."""
    assert rows(folder) == rows(other)
    mine, theirs = (load_file(place / CHECKPOINT) for place in (folder, other))
    assert mine.keys() == theirs.keys() and all(torch.equal(mine[name], theirs[name]) for name in mine)


def small_model(seed=0):
    torch.manual_seed(seed)
    return BertForPretraining(Bert(VOCAB_SIZE, 16, 2, 64, 1, 24, dropout=0.0, norm="post"))


def fail(error):
    raise error


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    """A run that nothing interrupts, with dropout."""
    folder = tmp_path_factory.mktemp("unbroken")
    run(folder)
    return folder


def start(folder, *words, processes=1):
    """Run pretraining.py in one process, or in more of them under torchrun."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    command = [*(command if processes > 1 else command[:1]), str(ROOT / "tests" / "unit" / "pretraining.py"), str(folder), *words]
    threads = str(torch.get_num_threads())                              # as many as here: they decide the rounding
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": threads, "CUDA_VISIBLE_DEVICES": ""}
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)


# Many processes

def test_two_processes_learn_what_one_does_and_go_on_after_one_is_killed_or_both(tmp_path):
    try:
        dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    except RuntimeError as error:
        pytest.skip(f"processes cannot meet on this machine: {error}")
    two, one = tmp_path / "two", tmp_path / "one"
    killed = start(two, "1", "8", "0.0", processes=2)                   # the one that writes nothing, before its ninth step
    assert killed.returncode != 0 and not (two / "model.safetensors").exists()
    assert len(rows(two)) in (7, 8) and saved_step(two) == 5            # the other may be stopped before it logs its eighth
    killed = start(two, "all", "6", "0.0", processes=2)                 # both, before the twelfth: the sixth after the checkpoint
    assert killed.returncode != 0 and not (two / "model.safetensors").exists()
    assert len(rows(two)) == 11 and saved_step(two) == 10               # one step is lost
    done = start(two, "none", "0", "0.0", processes=2)
    assert done.returncode == 0, done.stderr
    run(one, dropout=0.0)                                               # what two draw for dropout cannot be the same
    torch.testing.assert_close(curve(two), curve(one), atol=1e-4, rtol=0)
    # The bias of a key moves all scores of a query alike, so its gradient is nothing but rounding, which Adam makes large.
    mine, theirs = ({name: x for name, x in load_file(folder / "model.safetensors").items() if not name.endswith("key.bias")}
                    for folder in (one, two))
    torch.testing.assert_close(mine, theirs, atol=1e-3, rtol=0)
    record = json.loads((two / "training.json").read_text())
    assert record["processes"] == 2 and record["pairs_a_second"] > 0


def test_validation_does_not_count_as_time_of_steps(tmp_path, monkeypatch):
    """Each is slower than the model by far, and comes after each step."""
    def slow(model, batches):
        time.sleep(0.5)
        return 1.0, 0.5

    monkeypatch.setattr(script, "evaluate", slow)
    run(tmp_path, save_every=1, steps=4)
    record = json.loads((tmp_path / "training.json").read_text())
    assert record["seconds"] >= 2 and record["pairs_a_second"] > TINY["batch_size"] / 0.25


@given(st.integers(1, 5), st.integers(0, 2**16), st.integers(5, 9))
@settings(max_examples=15, deadline=None)
def test_the_gradients_of_the_processes_average_to_that_of_one(world, seed, batch_size):
    """Each has another number of hidden words: without the right weights this fails."""
    batch = next(iter(pretraining_batches(PAIRS, TOKENIZER, batch_size, 1, 24, seed)))
    model = small_model()
    pretraining_loss(model, *batch).backward()
    expected = [p.grad.clone() for p in model.parameters()]
    means, losses = [torch.zeros_like(p) for p in model.parameters()], torch.zeros(2)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pretraining_step.dist, "all_reduce", lambda total: None)
        for rank in range(world):
            model.zero_grad()
            part = step_losses(model, batch, rank, world)
            part.sum().backward()
            losses += part.detach()
            for mean, p in zip(means, model.parameters()):
                mean += p.grad / world
    torch.testing.assert_close(means, expected, atol=1e-5, rtol=1e-4)
    assert losses.sum().item() == pytest.approx(pretraining_loss(model, *batch).item(), abs=1e-5)


def test_processes_of_another_text_are_refused(monkeypatch):
    def gather(records, record):
        records[:] = [record, record | {"text": 1}]
    monkeypatch.setattr(distributed.dist, "get_world_size", lambda: 2)
    monkeypatch.setattr(distributed.dist, "all_gather_object", gather)
    with pytest.raises(ValueError, match="the processes differ in their options or their text"):
        distributed.together(small_model(), {}, {"text": 0})


def test_a_loss_that_is_not_finite_stops_the_run_and_keeps_the_checkpoint(tmp_path, monkeypatch):
    monkeypatch.setattr(script, "step_losses", mortal(7, lambda: torch.tensor([torch.nan, 1.0], requires_grad=True)))
    with pytest.raises(ValueError, match="the loss is nan at step 7, lr=0.01"):
        run(tmp_path)
    assert saved_step(tmp_path) == 5 and len(rows(tmp_path)) == 7


def test_one_process_takes_the_steps_of_the_lessons(tmp_path):
    run(tmp_path, dropout=0.0)
    batches = itertools.islice(batches_from(0, PAIRS, TOKENIZER, Options(batch_size=7, max_len=24)), 12)
    losses = train(small_model(), batches, pretraining_loss, TINY["lr"], one_cycle(12, warm=0.1), clip=1.0)
    torch.testing.assert_close(curve(tmp_path)[:, 1], torch.tensor(losses), atol=1e-4, rtol=0)


# Stopped, killed, resumed

@pytest.mark.parametrize("stops", [[0], [3], [5, 0], [9, 1], [11], [2, 2, 2]])
def test_a_run_that_is_stopped_takes_the_same_course(tmp_path, monkeypatch, unbroken, stops):
    for call in stops:
        monkeypatch.setattr(script, "step_losses", mortal(call, lambda: fail(KeyboardInterrupt)))
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path)
    monkeypatch.setattr(script, "step_losses", step_losses)
    run(tmp_path)
    check_same(tmp_path, unbroken)
    assert not list(tmp_path.glob("*.part"))


def test_a_run_that_is_killed_takes_the_same_course(tmp_path, unbroken):
    killed = start(tmp_path, "0", "11", "0.1")
    assert killed.returncode != 0 and len(rows(tmp_path)) == 11
    with open(tmp_path / "log.csv", "a", encoding="utf-8") as file:
        file.write("1")                                                 # of step 12
    (tmp_path / f"{CHECKPOINT}.part").write_bytes(b"half of a checkpoint")
    run(tmp_path)
    check_same(tmp_path, unbroken)
    assert not list(tmp_path.glob("*.part"))


def test_a_full_disk_loses_nothing(tmp_path, monkeypatch, unbroken):
    saved = itertools.count()

    def full(tensors, path, metadata):
        if next(saved) == 1:
            path.write_bytes(b"as much as there was room for")
            raise OSError(28, "No space left on device")
        real(tensors, path, metadata)

    real = weights.save_file
    monkeypatch.setattr(weights, "save_file", full)
    with pytest.raises(OSError, match="No space left"):
        run(tmp_path)
    assert saved_step(tmp_path) == 5
    assert not list(tmp_path.glob("*.part"))
    run(tmp_path)
    check_same(tmp_path, unbroken)


def test_a_finished_run_is_left_as_it_is(tmp_path, unbroken, monkeypatch):
    shutil.copytree(unbroken, tmp_path / "copy")
    monkeypatch.setattr(script, "step_losses", mortal(0, lambda: fail(AssertionError("it trains again"))))
    run(tmp_path / "copy")
    check_same(tmp_path / "copy", unbroken)


@pytest.mark.parametrize(("changes", "words"), [
    ({"lr": 0.02}, "lr was 0.01, is 0.02"), ({"steps": 13}, "steps was 12, is 13"), ({"seed": 1}, "seed was 0, is 1"),
    ({"dropout": 0.0, "norm": "pre"}, "norm was post, is pre; dropout was 0.1, is 0.0"), ({"width": 8}, "width was 16, is 8"),
    ({"train_set": TRAIN[1:]}, r"text was \d+, is \d+"),
])
def test_a_checkpoint_of_another_run_is_refused_by_name(unbroken, changes, words):
    before = {path.name: path.read_bytes() for path in unbroken.iterdir()}
    with pytest.raises(ValueError, match=rf"checkpoint.safetensors is of another run: {words}\. Choose the same"):
        run(unbroken, **changes)
    assert before == {path.name: path.read_bytes() for path in unbroken.iterdir()}


def rewrite(path, change):
    """Change (tensors, metadata) of a safetensors file, and nothing else."""
    with safe_open(path, "pt") as file:
        tensors, metadata = {name: file.get_tensor(name) for name in file.keys()}, file.metadata()
    change(tensors, metadata)
    save_file(tensors, path, metadata)


def without(name):
    def change(tensors, metadata):
        record = json.loads(metadata["record"])
        del record[name]
        metadata["record"] = json.dumps(record)
    return change


def saying(name, value):
    def change(tensors, metadata):
        metadata["record"] = json.dumps(json.loads(metadata["record"]) | {name: value})
    return change


def not_a_number(tensors, metadata):
    tensors["nsp_head.bias"][0] = torch.nan
    del metadata["checksum"]


def too_short(tensors, metadata):
    tensors["nsp_head.bias"] = tensors["nsp_head.bias"][:1]
    del metadata["checksum"]


@pytest.mark.parametrize(("change", "words"), [
    (lambda tensors, metadata: tensors["nsp_head.bias"].mul_(2), "is damaged: its numbers are not the ones that were saved"),
    (not_a_number, "checkpoint.safetensors cannot be used. Not finite: nsp_head.bias"),
    (too_short, r"is damaged. Of another shape: nsp_head.bias \(is \[1\], needs \[2\]\)"),
    (lambda tensors, metadata: (tensors.pop("nsp_head.bias"), metadata.pop("checksum")), "is damaged. Missing: nsp_head.bias"),
    (without("seconds"), "is damaged, or no checkpoint: it needs to say the run, step and seconds"),
    (without("run"), "is damaged, or no checkpoint: it needs to say the run, step and seconds"),
    (saying("seconds", "soon"), "it needs to say the run, step and seconds"),
    (saying("seconds", None), "it needs to say the run, step and seconds"),
    (saying("run", [1]), "it needs to say the run, step and seconds"),
    (saying("step", 77), "it needs to say the run, step and seconds of its weights"),
    (lambda tensors, metadata: (tensors["nsp_head.bias.step"].add_(1), metadata.pop("checksum")), "seconds of its weights"),
    (lambda tensors, metadata: metadata.pop("record"), "it needs to say the run, step and seconds"),
    (lambda tensors, metadata: metadata.update(record="{"), "its record is no JSON"),
])
def test_a_damaged_checkpoint_is_refused_and_changes_nothing(tmp_path, unbroken, change, words):
    path = tmp_path / CHECKPOINT
    shutil.copy(unbroken / CHECKPOINT, path)
    said = read_record(path)["run"]
    rewrite(path, change)
    model = small_model()
    checkpoint = Checkpoint(path, model, torch.optim.Adam(model.parameters()), said)
    with pytest.raises(ValueError, match=words):
        checkpoint.load()
    assert checkpoint.step() == 0
    torch.testing.assert_close(model.state_dict(), small_model().state_dict(), atol=0, rtol=0)


def test_a_cut_checkpoint_and_a_foreign_model_are_refused(tmp_path, unbroken):
    (tmp_path / CHECKPOINT).write_bytes((unbroken / CHECKPOINT).read_bytes()[:-1])
    with pytest.raises(ValueError, match="checkpoint.safetensors is damaged"):
        run(tmp_path)
    shutil.copy(unbroken / "model.safetensors", tmp_path / CHECKPOINT)
    with pytest.raises(ValueError, match="checkpoint.safetensors is damaged, or no checkpoint"):
        run(tmp_path)
    (tmp_path / CHECKPOINT).rename(tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match="holds a model, and no checkpoint to go on from"):
        run(tmp_path)


# What comes out

def test_the_log_is_a_table(unbroken):
    table = rows(unbroken)
    assert list(table[0]) == COLUMNS and [int(row["step"]) for row in table] == list(range(1, 13))
    for row in table:
        assert float(row["loss"]) == pytest.approx(float(row["mlm_loss"]) + float(row["nsp_loss"]))
        assert bool(row["validation_nsp_accuracy"]) == bool(row["validation_mlm_loss"]) == (row["step"] in ("5", "10", "12"))
    assert float(table[-1]["loss"]) < float(table[0]["loss"])


def test_the_model_is_there_in_the_published_layout(unbroken):
    record = json.loads((unbroken / "training.json").read_text())
    assert TINY.items() <= record.items() and record["torch"] == torch.__version__ and record["vocab_size"] == VOCAB_SIZE
    assert read_record(unbroken / "model.safetensors") == record
    tokenizer = load_tokenizer(unbroken)
    assert tokenizer.get_vocab() == TOKENIZER.get_vocab()
    pairs = sentence_pairs(VALIDATION, tokenizer)
    scores = evaluate(load_bert(unbroken), pretraining_batches(pairs, tokenizer, 64, 1, 24))
    assert scores == pytest.approx((record["validation_mlm_loss"], record["validation_nsp_accuracy"]), abs=1e-5)
    assert (record["validation_pairs"], record["unigram_loss"]) == (len(pairs.real), pytest.approx(3, abs=1))
    assert scores == pytest.approx([float(rows(unbroken)[-1][name]) for name in COLUMNS[4:]], abs=1e-5)


def test_a_pre_norm_model_is_saved_too(tmp_path):
    model = run(tmp_path, norm="pre", steps=2)
    other = BertForPretraining(Bert(VOCAB_SIZE, 16, 2, 64, 1, 24, norm="pre"))
    load_weights(other, tmp_path / "model.safetensors")
    torch.testing.assert_close(other.state_dict(), model.state_dict(), atol=0, rtol=0)
    assert not model.training and (tmp_path / "vocab.txt").exists()


@given(st.integers(0, 40), st.integers(1, 20), st.integers(0, 3))
@settings(max_examples=20, deadline=None)
def test_batches_from_a_step_are_those_that_would_have_come(step, batch_size, seed):
    options = Options(batch_size=batch_size, seed=seed, max_len=24)
    whole = itertools.islice(batches_from(0, PAIRS, TOKENIZER, options), step, step + 3)
    for expected, found in itertools.zip_longest(whole, itertools.islice(batches_from(step, PAIRS, TOKENIZER, options), 3)):
        assert all(map(torch.equal, expected, found)) and len(found[0]) == batch_size


def test_every_pass_is_another_and_so_is_every_seed():
    options, in_a_pass = Options(batch_size=20, max_len=24), len(PAIRS.real) // 20
    first, again = (next(batches_from(step, PAIRS, TOKENIZER, options))[0] for step in (0, in_a_pass))
    other = next(batches_from(0, PAIRS, TOKENIZER, Options(batch_size=20, max_len=24, seed=1)))[0]
    assert len({str(ids.tolist()) for ids in (first, again, other)}) == 3


def test_what_is_held_out_depends_on_the_paragraph_alone():
    texts = paragraphs(4000)
    train_set, validation_set = hold_out(texts)
    assert sorted(train_set + validation_set) == sorted(texts) and 0.03 < len(validation_set) / len(texts) < 0.07
    assert hold_out(texts[::-1])[1] == validation_set[::-1]
    assert hold_out(texts[:1000])[1] == validation_set[:len(hold_out(texts[:1000])[1])]
    assert hold_out(texts, 0.0)[1] == hold_out(texts, 1.0)[0] == []


# Bad input, and the command line

@pytest.mark.parametrize(("options", "error", "words"), [
    ({"batch_size": 0}, ValueError, "batch_size=0: each of 1 processes needs a pair, and there are"),
    ({"batch_size": 10_000}, ValueError, "batch_size=10000: each of 1 processes needs a pair, and there are"),
    ({"steps": 0}, ValueError, "steps=0, save_every=5: each needs to be at least 1"),
    ({"save_every": 0}, ValueError, "steps=12, save_every=0: each needs to be at least 1"),
    ({"heads": 3}, ValueError, "d_model=16 does not divide into num_heads=3"),
    ({"bf16": True}, ValueError, "bf16 is for a GPU"),
    ({"layer": 2}, TypeError, "layer"),
    ({"train_set": TRAIN[:1]}, ValueError, "1 paragraphs: at least two are needed"),
])
def test_options_that_make_no_sense_are_refused_before_anything_is_written(tmp_path, monkeypatch, options, error, words):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(error, match=words):
        run(tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def command(monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["pretrain", *map(str, words)])
    monkeypatch.setattr(script, "load_paragraphs", lambda also: paragraphs(200 + 10 * len(also)))
    script.main()


def small(out, steps):
    sizes = {f"--{name.replace('_', '-')}": value for name, value in (TINY | {"steps": steps}).items()}
    return ["--out", out, "--vocab-size", 90, "--save-every", 2, *itertools.chain.from_iterable(sizes.items())]


def test_the_command_trains_and_goes_on(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(script, "step_losses", mortal(3, lambda: fail(KeyboardInterrupt)))
    with pytest.raises(SystemExit, match=r"(?s)stopped\n.*checkpoint.safetensors is the checkpoint of step 2: the command"):
        command(monkeypatch, *small(tmp_path, 4))
    monkeypatch.setattr(script, "step_losses", step_losses)
    command(monkeypatch, *small(tmp_path, 4))
    assert len(rows(tmp_path)) == 4 and load_tokenizer(tmp_path).get_vocab_size() <= 90
    assert "4/4" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="steps was 4, is 5"):
        command(monkeypatch, *small(tmp_path, 5))
    (tmp_path / CHECKPOINT).write_bytes(b"")
    with pytest.raises(SystemExit, match=r"(?s)checkpoint.safetensors is damaged.*is no checkpoint to go on from"):
        command(monkeypatch, *small(tmp_path, 4))


def test_the_command_reads_other_libraries_too(tmp_path, monkeypatch):
    for name, also in (("less", []), ("more", ["--also", "shapes", "colours"])):
        command(monkeypatch, *small(tmp_path / name, 2), *also)
    texts = [json.loads((tmp_path / name / "training.json").read_text())["text"] for name in ("less", "more")]
    assert texts[0] != texts[1]


def test_the_command_reads_a_text_of_ones_own(tmp_path, monkeypatch):
    blocks = ["\n".join(sentences) for sentences in paragraphs(200)]
    text = tmp_path / "my.txt"
    text.write_text("\n \n\n".join([*blocks, "This sentence stands alone."]) + "\n", encoding="utf-8")
    assert script.read_text(text) == paragraphs(200)
    command(monkeypatch, *small(tmp_path / "mine", 2), "--text", text)
    command(monkeypatch, *small(tmp_path / "same", 2))                  # the documentation, here of the same paragraphs
    assert rows(tmp_path / "mine") == rows(tmp_path / "same")
    validation = tmp_path / "other.txt"
    validation.write_text("\n\n".join(blocks[:30]), encoding="utf-8")
    command(monkeypatch, *small(tmp_path / "two", 2), "--text", text, "--validation", validation)
    record = json.loads((tmp_path / "two" / "training.json").read_text())
    assert record["validation_pairs"] == sum(len(sentences) - 1 for sentences in paragraphs(200)[:30])
    with pytest.raises(SystemExit):
        command(monkeypatch, *small(tmp_path / "none", 2), "--validation", validation)
    text.write_text("One sentence, and no more.")
    with pytest.raises(SystemExit, match="a text with a paragraph of two sentences"):
        command(monkeypatch, *small(tmp_path / "none", 2), "--text", text)


def test_the_command_says_what_is_wrong(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(SystemExit, match=r"(?s)file.*There is no checkpoint at"):
        command(monkeypatch, *small(tmp_path / "file", 2))
    with pytest.raises(SystemExit, match="no.txt"):
        command(monkeypatch, "--out", tmp_path / "out", "--vocab", tmp_path / "no.txt")
    monkeypatch.setattr(script, "load_wikitext", lambda: fail(FileNotFoundError("no network for wikitext-2")))
    with pytest.raises(SystemExit, match="no network for wikitext-2"):
        command(monkeypatch, "--out", tmp_path / "out", "--corpus", "wikitext-2")
    assert not (tmp_path / "out").exists()
