"""How well: the shipped BERT on SNLI, and the same from scratch, after six passes over the pairs that are there, on two threads.

Needs snli_1.0/snli_1.0_train.txt and snli_1.0/snli_1.0_dev.txt in the cache folder; `load_entailment` says where they come
from. With 21,605 pairs a quarter of an hour for each: `make bench`. ATTENTION_COURSE_CACHE names another cache folder.
"""
import time

import pytest
import torch

from helpers.bert import BertClassifier
from helpers.checkpoints import load_bert, load_tokenizer
from helpers.corpora.entailment import LABELS, load_entailment
from helpers.finetuning import accuracy, class_loss, finetuning_batches, scores_of, text_examples
from helpers.loading import SHIPPED
from helpers.training import one_cycle, train
from helpers.weights.fine_tuning import untrained

PASSES, MOST = 6, 25_000                                     # with all 549,367 pairs the first of them count


@pytest.fixture(scope="module")
def pairs():
    try:
        rows = load_entailment("snli")
    except FileNotFoundError as error:
        pytest.skip(str(error))
    tokenizer = load_tokenizer(SHIPPED / "bert")
    tokenizer.enable_truncation(64)
    return [text_examples(tokenizer, some) for some in (rows[0][:MOST], rows[1])]


@pytest.mark.parametrize(("start", "lr", "threshold"), [("pretrained", 5e-4, 0.55), ("from scratch", 5e-4, 0.4)])
def test_dev_accuracy(pairs, start, lr, threshold):
    known, dev = pairs
    torch.manual_seed(0)
    model = BertClassifier(load_bert(SHIPPED / "bert").bert if start == "pretrained" else untrained(), len(LABELS))
    steps, started = PASSES * len(known) // 32, time.time()
    train(model, finetuning_batches(known, 32, steps), class_loss, lr, one_cycle(steps, warm=0.1), clip=1.0)
    share = accuracy(scores_of(model, dev), dev)
    print(f"\nSNLI, {start}: {len(known):,} pairs, {steps:,} steps, {time.time() - started:.0f} s: dev {share:.1%}")
    assert share > threshold
