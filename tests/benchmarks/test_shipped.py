"""How good the shipped weights are, and what their records say; nothing is trained. Run it after training any of them anew:
python -m pytest tests/benchmarks/test_shipped.py --numprocesses=0
"""
import json
from collections import Counter
from statistics import mean

from helpers.data.documentation import load_paragraphs
from helpers.pretrained.format import load_bert, load_tokenizer
from helpers.pretrained.weights import SHIPPED, read_record
from helpers.pretraining.objectives import evaluate, pretraining_batches, sentence_pairs, unigram_loss
from helpers.pretraining.run import hold_out
from tools.make_weights.fine_tuning import chosen

TRANSLATORS = {"transformer": "Transformer", "bahdanau": "Bahdanau's attention", "none": "no attention"}
TASKS = {"one text": "messages, four exceptions: accuracy", "two texts": "two texts, made entailment: accuracy",
         "each word": "a tag for each word: F1", "a span": "a span: exact match"}


def test_translators(figure):
    records = {kind: read_record(SHIPPED / f"translation_{kind}.safetensors") for kind in TRANSLATORS}
    names = {kind: f"{name} ({records[kind]['parameters']:,} parameters)" for kind, name in TRANSLATORS.items()}
    seconds = [s for record in records.values() for s in record["seconds"]]
    figure(f"{names.pop('transformer')}, grammar corpus, greedily: BLEU", records["transformer"]["bleu"],
           {name: records[kind]["bleu"] for kind, name in names.items()}, how=f"3 seeds, {mean(seconds):.0f} s of one core each")


def second_text_alone(pairs, others):
    """The share of pairs told right by whether a second text begins as real ones do: with which piece, one added to each count."""
    real, every = Counter(second[0] for _, second in pairs.real), Counter(sentence[0] for sentence in pairs.sentences)
    return mean(((real[second[0]] + 1) / len(pairs.real) > (every[second[0]] + 1) / len(pairs.sentences)) == is_next
                for number in range(10) for _, second, is_next in others.one_pass(number))


def test_bert(figure):
    """On the held-out paragraphs of what the course installs, which are not those of the record alone."""
    folder = SHIPPED / "bert"
    model, tokenizer = load_bert(folder), load_tokenizer(folder)
    pairs, others = (sentence_pairs(paragraphs, tokenizer) for paragraphs in hold_out(load_paragraphs()))
    batches = list(pretraining_batches(others, tokenizer, 64, 32, max_len=128, seed=1))
    loss, accuracy = evaluate(model, batches)
    how = f"trained {json.loads((folder / 'training.json').read_text())['seconds']:,} s"
    figure("BERT, 4 layers, 128 wide, held-out paragraphs: nats a hidden word", [loss],
           {"by frequency alone": [unigram_loss(pairs, batches, tokenizer.get_vocab_size())]}, how=how)
    figure("the same: % of next sentences told right", [100 * accuracy],
           {"from the second text alone": [100 * second_text_alone(pairs, others)]}, how=how)
    assert accuracy > 0.7


def test_fine_tuning(figure):
    """Means of the seeds, after 1,000 examples."""
    starts = ["counting", "logistic regression", "from scratch", "frozen", "published, frozen", "published"]
    for task, what in TASKS.items():
        found = {start: scores for start in ["pretrained", *starts] if (scores := chosen(task, start, 1000))}
        means = {start: f"{mean(scores):.2f}" for start, scores in found.items()}
        seeds = "; ".join(f"{start} {len(scores)}" for start, scores in found.items() if len(scores) < 3)
        figure(f"fine-tuned: {what}, after 1,000 examples", means.pop("pretrained"), means, how=f"mean of 3 seeds; fewer: {seeds}")
