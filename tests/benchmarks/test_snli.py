"""How well: the shipped BERT on SNLI, and the same from scratch, after six passes over the pairs that are there; linear models.

Needs snli_1.0/snli_1.0_train.txt and snli_1.0/snli_1.0_dev.txt in the cache folder; `load_entailment` says where they come
from. With 21,605 pairs ten minutes of a core for each network, and less than two for the linear models: `make bench`.
ATTENTION_COURSE_CACHE names another cache folder.
"""
import itertools
import time

import torch
import torch.nn.functional as F
from torch import nn

from helpers.bert import BertClassifier
from helpers.data.entailment import LABELS, load_entailment
from helpers.finetuning import accuracy, class_loss, finetuning_batches, predict, text_examples
from helpers.pretrained.format import load_bert, load_tokenizer
from helpers.pretrained.weights import SHIPPED
from helpers.text import split_words
from helpers.training import one_cycle, train
from tools.make_weights.counting import crossed
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


def linear(known, dev, features_of, passes, seed):
    """% of dev right by a linear layer on the features of the known pairs, after each pass: [passes]."""
    index = {f: i for i, f in enumerate(dict.fromkeys(f for *texts, _ in known for f in features_of(*texts)))}
    rows, asked = ([(torch.tensor([index[f] for f in features_of(*texts) if f in index], dtype=torch.long), label)
                    for *texts, label in some] for some in (known, dev))

    def batch(rows):
        """(features of all pairs, where those of each begin, labels)"""
        starts = itertools.accumulate((len(features) for features, _ in rows[:-1]), initial=0)
        return torch.cat([features for features, _ in rows]), torch.tensor(list(starts)), torch.tensor([row[1] for row in rows])

    torch.manual_seed(seed)
    layer = nn.EmbeddingBag(len(index), len(LABELS), mode="sum", sparse=True)                # sums the features' weights
    nn.init.zeros_(layer.weight)
    optimizer, scores = torch.optim.SparseAdam(layer.parameters(), lr=5e-3), []
    for _ in range(passes):
        for chosen in torch.randperm(len(rows)).split(128):
            features, starts, labels = batch([rows[i] for i in chosen.tolist()])
            optimizer.zero_grad()
            F.cross_entropy(layer(features, starts), labels).backward()
            optimizer.step()
        features, starts, labels = batch(asked)
        scores.append(100 * float((layer(features, starts).argmax(1) == labels).float().mean()))
    return scores


def test_linear_models(read_or_skip, figure, one_thread):
    """The number of passes is chosen on the last tenth of the training pairs."""
    known, dev = read_or_skip(load_entailment, "snli")
    known, started = known[:MOST], time.process_time()
    cut, found = len(known) * 9 // 10, {}
    for name, features_of in {"the hypothesis alone": lambda _, hypothesis: split_words(hypothesis),
                              "unshared words": crossed}.items():
        tried = linear(known[:cut], known[cut:], features_of, 6, seed=0)
        passes = 1 + tried.index(max(tried))
        found[name] = [linear(known, dev, features_of, passes, seed)[-1] for seed in range(3)]
    figure(f"{len(known):,} pairs, a linear model of unshared words and their pairs: % of dev right", found["unshared words"],
           {"of the words of the hypothesis alone": found["the hypothesis alone"]},
           how=f"1 thread, 3 seeds, {time.process_time() - started:.0f} s")
    assert min(found["the hypothesis alone"]) > 55 and min(found["unshared words"]) > 65
