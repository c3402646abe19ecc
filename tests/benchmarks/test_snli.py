"""How well: the shipped BERT on SNLI, and the same from scratch, after six passes over the pairs that are there.

Needs snli_1.0/snli_1.0_train.txt and snli_1.0/snli_1.0_dev.txt in the cache folder; `load_entailment` says where they come
from. With 21,605 pairs ten minutes of a core for each: `make bench`. ATTENTION_COURSE_CACHE names another cache folder.
"""
import time

import torch

from helpers.bert import BertClassifier
from helpers.data.entailment import LABELS, load_entailment
from helpers.finetuning import accuracy, class_loss, finetuning_batches, predict, text_examples
from helpers.pretrained.format import load_bert, load_tokenizer
from helpers.pretrained.weights import SHIPPED
from helpers.training import one_cycle, train
from tools.make_weights.fine_tuning import untrained

PASSES, MOST = 6, 25_000                                     # with all 549,367 pairs the first of them count


def test_dev_accuracy(read_or_skip, figure, one_thread):
    rows = read_or_skip(load_entailment, "snli")
    tokenizer = load_tokenizer(SHIPPED / "bert")
    tokenizer.enable_truncation(64)
    known, dev = (text_examples(tokenizer, some) for some in (rows[0][:MOST], rows[1]))
    steps, started = PASSES * len(known) // 32, time.perf_counter()

    def score(start):
        torch.manual_seed(0)
        model = BertClassifier(start(), len(LABELS))
        train(model, finetuning_batches(known, 32, steps), class_loss, 5e-4, one_cycle(steps, warm=0.1), clip=1.0)
        return 100 * accuracy(predict(model, dev), dev)

    pretrained, scratch = score(lambda: load_bert(SHIPPED / "bert").bert), score(untrained)
    counts = ", ".join(f"{[row[-1] for row in rows[1]].count(i):,} {label}" for i, label in enumerate(LABELS))
    how = f"1 thread, {(time.perf_counter() - started) / 2:.0f} s each; dev: {counts}"
    figure(f"{len(known):,} pairs, six passes: % of dev right", [pretrained], {"the same from scratch": [scratch]}, how=how)
    assert pretrained > 55 and scratch > 40
