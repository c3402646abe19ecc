"""How good the shipped weights are, and what their records say. Run it after training any of them anew:
python -m pytest tests/benchmarks/test_shipped.py --numprocesses=0
"""
from statistics import mean

from helpers.pretrained.weights import SHIPPED, read_record
from tests.notebooks import ROOT, code_cells, has_tag, read
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


def test_bert(figure, one_thread):
    """Against the counts of lesson 14, on its trials: its cells run up to the shipped model."""
    page = {}
    for cell in code_cells(read(ROOT / "notebooks" / "14_pretraining.ipynb")):
        if not has_tag(cell, "claims"):
            exec(cell.source, page)
        if "in_order" in page:
            break
    how, right = f"trained {page['training']['seconds']:,} s", {name: [100 * share] for name, share in page["nsp"].items()}
    nats = {name: [losses.mean().item()] for name, losses in page["by_counting"].items()}
    figure("BERT, 4 layers, 128 wide, 1,024 pairs of test paragraphs: nats a token at [MASK]", [page["shipped_loss"]], {
        "by frequency alone": nats["unigram"], "left neighbour": nats["left neighbour"], "Kneser-Ney counts mixed": nats["mixed"]},
           how=how)
    figure("the same: % of next sentences told right", right["shipped"], {
        "from the second text alone": right["second sentence alone"], "shared rare tokens": right["shared tokens by rarity"],
        "association of rare tokens": right["association"], "sum of both counts": right["sum of both counts"]}, how=how)
    assert right["shipped"][0] > right["sum of both counts"][0] + 2


def test_fine_tuning(figure):
    """Means of the seeds, after 1,000 examples."""
    starts = ["counting", "logistic regression", "from scratch", "frozen", "published, frozen", "published"]
    for task, what in TASKS.items():
        found = {start: scores for start in ["pretrained", *starts] if (scores := chosen(task, start, 1000))}
        means = {start: f"{mean(scores):.2f}" for start, scores in found.items()}
        seeds = "; ".join(f"{start} {len(scores)}" for start, scores in found.items() if len(scores) < 3)
        figure(f"fine-tuned: {what}, after 1,000 examples", means.pop("pretrained"), means, how=f"mean of 3 seeds; fewer: {seeds}")
