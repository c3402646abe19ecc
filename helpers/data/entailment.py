"""Does one sentence follow from another? Made by the project, SNLI (Bowman et al. 2015), or one's own."""
import json
import re

from helpers.data.published import columns, read_made, read_published, two_parts

LABELS = ["entailment", "neutral", "contradiction"]
LABEL_OF = {name: i for i, label in enumerate(LABELS) for name in (label, str(i))} | {"-": None, "-1": None}

# Beside the archive, copies with fewer columns are known, the one for training with fewer pairs, too.
KNOWN = ["c6a61a881af5ef98b2163c9b43a4d807f29f74e39483cd63bf22f35648ac7712",
         "30551b56a04d2d7a72b423024df0f4df9905ef0d6100d7fed392d562f252a6f4"]
URL = "https://nlp.stanford.edu/projects/snli/snli_1.0.zip"
CHECKSUM = "sha256:afb3d70a5af5d8de0d9d81e2637e0fb8c22d1235c2749d83125ca43dab0dbd3e"
LAYOUTS = ("*train.txt", "*dev*.txt"), ("*train.jsonl", "*dev*.jsonl"), ("*train*.?sv", "*dev*.?sv")
COLUMNS = ["gold_label label", "sentence1 premise sentence1_tokens sentence1_binary_parse",
           "sentence2 hypothesis sentence2_tokens sentence2_binary_parse"]
# What the parser wrote for brackets and for quotation marks, doubled as in CSV; and spaces before punctuation.
MARKS = [(r"-LRB- ?", "("), (r" ?-RRB-", ")"), (r"`` '' ?", '""'), (r" ?'' ''", '""'), (r"`` ?", '"'), (r" ?''", '"'),
         (r" (?=[.,;:?!]|'[a-z]|n't\b)", "")]

# Of the made pairs: words that leave open which one is meant, and words that say something besides.
GENERAL = set("program person file files message messages container containers shape shapes number numbers character "
              "characters task tasks".split())
TOLD = {"adjective": "large small old new long short black white positive negative", "number": "two three four",
        "where": "cache disk network", "when": "before during after"}


def load_entailment(name: str = "made", n_train: int = 6000, n_test: int = 900, path=None) -> tuple[list, list]:
    """(train, test): lists of (premise, hypothesis, label), the label an index in LABELS.

    name: "made", the first n_train and n_test pairs by the project (tools/make_data). Each hypothesis is
        there with three premises, one for each label: alone it says nothing about its label; premises do. No
        sentence of the test is in the training pairs, nor what its hypotheses say is done, such as opening documents.
        "snli", sentences about pictures, CC BY-SA 4.0; its validation pairs are the test. Read from snli_1.0
        in the cache folder (see `read_published`), or fetched.
    path: in place of a name, a folder or archive with such files as snli_1.0_train.txt and snli_1.0_dev.txt,
        .jsonl or CSV; or one file, a tenth of whose premises are the test. Of a path and of SNLI, all pairs
        are returned but those that are labelled "-", about which the annotators did not agree.
    Raises ValueError for another name, for more pairs than there are or fewer than none, and for a damaged
    file; FileNotFoundError where there is neither file nor network.
    """
    if path is None and name == "made":
        parts = read_made("entailment", COLUMNS, n_train, n_test)
        return tuple([(*texts, LABELS.index(gold)) for gold, *texts in part] for part in parts)
    if path is None and name != "snli":
        raise ValueError(f'no pairs are called {name!r}: choose "made" or "snli", or give a path')
    files = read_published("snli_1.0", *LAYOUTS, path=path, known=KNOWN, url=URL, checksum=CHECKSUM)
    return two_parts([read_pairs(file) for file in files])


def read_pairs(file):
    """The pairs of one file, in any of the published layouts, that have a label."""
    pairs = []
    for number, (gold, *texts) in (read_json if file.text.startswith("{") else columns)(file, *COLUMNS):
        if gold not in LABEL_OF:
            raise file.error(number, gold, f"a label, {', '.join(LABELS)} or -,")
        if LABEL_OF[gold] is not None:
            pairs.append((*map(spell, texts), LABEL_OF[gold]))
    return pairs


def read_json(file, *names):
    """The same as `columns` gives, for a file with an object of JSON on each line."""
    rows, keys = [], [some.split()[0] for some in names]
    for number, line in enumerate(file.lines(), 1):
        try:
            rows.append((number, [json.loads(line)[key] for key in keys]))
        except (ValueError, KeyError, TypeError) as error:
            raise file.error(number, line, f"JSON with {', '.join(keys)}") from error
    return rows


def spell(text):
    """A sentence as people write it, from the text, the tokens or the parse that a file has of it."""
    words = text.split()
    brackets = ("(", ")") if words[:1] == ["("] else ()
    text = " ".join(word for word in words if word not in brackets)
    for mark, written in MARKS:
        text = re.sub(mark, written, text, flags=re.IGNORECASE)
    return text[1:-1].replace('""', '"').strip() if text[:1] == '"' and '""' in text else text


def told_more(premise: str, hypothesis: str) -> set[str]:
    """What a made hypothesis says and its premise leaves open: "adjective", "number", "where", "when", "who", "what"."""
    def told(text):
        words = text.lower().strip(".").split()
        found = {kind for kind, some in TOLD.items() if {*some.split()} & {*words}}
        return found | {kind for kind, some in {"who": words[:2], "what": words[3:]}.items() if not GENERAL & {*some}}
    return told(hypothesis) - told(premise)
