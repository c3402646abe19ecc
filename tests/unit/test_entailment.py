"""Premise and hypothesis: the label follows from both texts, and from neither alone."""
import collections
import hashlib
import re
import zipfile

import pytest

from helpers.data import entailment
from helpers.data.entailment import DEEDS, HELD_OUT, LABELS, THINGS, load_entailment, read_snli
from helpers.text import split_words
from tools.make_weights.fine_tuning import naive_bayes, unshared

ENTAILMENT, NEUTRAL, CONTRADICTION = range(3)
WHOLES = {"program": "server client browser editor compiler parser debugger", "person": "user author reader owner caller"}
for line in THINGS.strip().splitlines():
    whole, *parts = (noun.split() for noun in line.split(" | ")[0].split(", "))
    for one_or_several, name in enumerate(whole):
        WHOLES[name] = " ".join(part[one_or_several] for part in parts)
OPPOSITES = [pair.split() for line in THINGS.strip().splitlines() for pair in line.split(" | ")[2].split(", ")]
OPPOSITES += [["calls", "ignores"], ["accepts", "rejects"], ["follows", "leads"]]
FIRST = {form: pair[0] for pair in OPPOSITES for verb in pair for form in (verb, verb[:-1])}
SENTENCE = re.compile(r"The (\w+) (does not )?(\w+) the (?:(two|three|four) )?"
                      r"(?:(large|small|old|new|long|short|black|white|positive|negative) )?(\w+)"
                      r"( (?:in|on) the \w+)?( (?:before|during|after) the test)?\.")


@pytest.fixture(scope="module")
def pairs():
    return load_entailment()


def possibilities(sentence):
    """What each part of a sentence leaves open, as a set, or None for everything: read from the text alone."""
    who, denied, verb, number, quality, what, where, when = SENTENCE.fullmatch(sentence).groups()
    verb += "s" if denied else ""
    [pair] = [pair for pair in OPPOSITES if verb in pair][:1]
    done = {*pair, "neither"} - {verb} if denied else {verb}
    named = [set(WHOLES.get(word, word).split()) for word in (who, what)]
    return [*named, done, *({part} if part else None for part in (number, quality, where, when))]


def follows(premise, hypothesis):
    """The label by sets alone, a reader that shares no code with the writer."""
    both = list(zip(possibilities(premise), possibilities(hypothesis)))
    if any(p is not None and h is not None and not p & h for p, h in both):
        return CONTRADICTION
    return ENTAILMENT if all(h is None or (p is not None and p <= h) for p, h in both) else NEUTRAL


def words_alone(train, test, words_of):
    """How often counts of words give the right label."""
    return naive_bayes(*([(words_of(pair), pair[2]) for pair in pairs] for pairs in (train, test)))


def test_every_label_follows_from_what_the_sentences_say(pairs):
    for premise, hypothesis, label in pairs[0] + pairs[1]:
        assert LABELS[follows(premise, hypothesis)] == LABELS[label], (premise, hypothesis)


@pytest.mark.parametrize("premise, hypothesis, label", [
    ("The server opens the small file.", "The program opens the file.", ENTAILMENT),
    ("The server opens the file.", "The server opens the small file.", NEUTRAL),
    ("The program opens the small file.", "The server opens the file.", NEUTRAL),
    ("The server opens the small file.", "The server opens the large file.", CONTRADICTION),
    ("The server opens the file.", "The server closes the file.", CONTRADICTION),
    ("The server does not open the file.", "The server opens the file.", CONTRADICTION),
    ("The server does not open the small image.", "The server does not open the file.", ENTAILMENT),
    ("The server calls the client.", "The client calls the server.", CONTRADICTION),
    ("The user reads the two errors.", "The user reads the three errors.", CONTRADICTION),
    ("The user reads the errors.", "The user reads the two errors.", NEUTRAL),
])
def test_the_reader_of_this_test_knows_what_follows(premise, hypothesis, label):
    assert follows(premise, hypothesis) == label


def test_each_hypothesis_has_a_premise_for_each_label(pairs):
    for part, size in zip(pairs, [6000, 900]):
        labels = collections.defaultdict(list)
        for _, hypothesis, label in part:
            labels[hypothesis].append(label)
        assert len(part) == size and set(map(tuple, map(sorted, labels.values()))) == {(0, 1, 2)}


def test_neither_sentence_alone_tells_nor_do_the_words_of_both(pairs):
    train, test = pairs
    assert words_alone(train, test, lambda pair: split_words(pair[1])) == pytest.approx(1 / 3, abs=0.01)
    assert words_alone(train, test, lambda pair: split_words(pair[0])) < 0.52
    assert words_alone(train, test, lambda pair: [f"p {word}" for word in split_words(pair[0])] + split_words(pair[1])) < 0.52


def test_to_count_the_words_that_only_one_sentence_has_is_not_enough(pairs):
    """What is told besides varies: were it always one thing, these two numbers alone would tell nine labels of ten."""
    assert words_alone(*pairs, lambda pair: [unshared(*pair[:2])]) < 0.7


def test_contradictions_are_of_every_kind(pairs):
    kinds = collections.Counter()
    for premise, hypothesis, label in pairs[0]:
        if label == CONTRADICTION:
            both = list(zip(possibilities(premise), possibilities(hypothesis)))
            clashes = tuple(i for i, (p, h) in enumerate(both) if p is not None and h is not None and not p & h)
            kinds["not" if " not " in premise + hypothesis else clashes] += 1
    who, what, verb, number, quality, where, when = range(7)
    assert set(kinds) == {(who,), (what,), (verb,), (number,), (quality,), (where,), (when,), (who, what), "not"}
    assert min(kinds.values()) > 20


def test_what_is_denied_differs_in_nothing_that_might_be_what_is_denied(pairs):
    """A file that is not opened in the cache may be opened on the disk."""
    for premise, hypothesis, _ in pairs[0]:
        if " not " in premise + hypothesis:
            assert possibilities(premise)[5:] == possibilities(hypothesis)[5:]


def test_labels_are_mixed(pairs):
    changes = [label != before for (_, _, before), (_, _, label) in zip(pairs[0], pairs[0][1:])]
    assert 0.6 < sum(changes) / len(changes) < 0.73
    assert sum(hypothesis == before for (_, before, _), (_, hypothesis, _) in zip(pairs[0], pairs[0][1:])) < 20


def test_nothing_of_the_test_was_trained_on(pairs):
    train, test = ({text for pair in part for text in pair[:2]} for part in pairs)
    assert not train & test

    known, asked = (map(SENTENCE.fullmatch, texts) for texts in (train, {hypothesis for _, hypothesis, _ in pairs[1]}))
    known, asked = ({(FIRST[match[3]], match[6]) for match in matches} for matches in (known, asked))
    every = {(verb, what) for what, verbs in DEEDS.items() for verb in verbs}
    assert not known & HELD_OUT and asked <= HELD_OUT < every and known <= every
    assert len(known) > 0.7 * len(every) and len(asked) > 0.15 * len(every)
    assert {verb for verb, _ in asked} <= {verb for verb, _ in known} and {what for _, what in asked} <= {what for _, what in known}


def test_sentences_are_many_short_and_plain(pairs):
    texts = {text for part in pairs for pair in part for text in pair[:2]}
    assert len(texts) > 7500
    assert max(len(split_words(text)) for text in texts) <= 13
    assert not [text for text in texts if re.search(r"\b(\w+) \1\b|  | \.", text)]
    assert all(SENTENCE.fullmatch(text) for text in texts)


def test_the_same_seed_gives_the_same_pairs_everywhere():
    assert load_entailment("made", 60, 6) == load_entailment("made", 60, 6) != load_entailment("made", 60, 6, seed=1)
    text = repr(load_entailment(n_train=1000, n_test=100))
    assert hashlib.sha256(text.encode()).hexdigest()[:12] == "ab27fbecfd50"


@pytest.mark.parametrize("n_train, n_test", [(0, 0), (1, 2), (3, 0), (0, 4), (100, 50)])
def test_there_are_as_many_as_were_asked_for(n_train, n_test):
    assert list(map(len, load_entailment("made", n_train, n_test))) == [n_train, n_test]


@pytest.mark.parametrize("act, message", [
    (lambda: load_entailment("mnli"), "no pairs are called 'mnli': choose \"made\" or \"snli\""),
    (lambda: load_entailment(n_train=-1), "n_train=-1, n_test=900: they need to be from 0 to 30,000"),
    (lambda: load_entailment(n_test=6001), "n_test=6001: they need to be from 0 to 30,000 and to 6,000"),
])
def test_what_does_not_fit_is_refused(act, message):
    with pytest.raises(ValueError, match=message):
        act()


# ---- SNLI -----------------------------------------------------------------------------------------------------------

SNLI = """gold_label\tsentence1_binary_parse\tsentence2_binary_parse\tsentence1_parse\tsentence2_parse\tsentence1\tsentence2\tID
neutral\t( ( Two women ) ( ( are embracing ) . ) )\t( ( The sisters ) ( do n't ( hug . ) ) )\t(ROOT)\t(ROOT)\ta\tb\tc
-\t( A man )\t( A dog )\t(ROOT)\t(ROOT)\ta\tb\tc
contradiction\t( ( A ( ( -LRB- young ) -RRB- ) ) man )\t( A ( woman 's dog ) )\t(ROOT)\t(ROOT)\ta\tb\tc
entailment\tA man , asleep .\tA man sleeps .
"""


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The part of an empty cache folder for SNLI."""
    monkeypatch.setenv("ATTENTION_COURSE_CACHE", str(tmp_path))
    (tmp_path / "snli_1.0").mkdir()
    return tmp_path / "snli_1.0"


def test_both_layouts_are_read_and_pairs_without_a_label_left_out():
    assert read_snli(SNLI) == [
        ("Two women are embracing.", "The sisters don't hug.", NEUTRAL),
        ("A (young) man", "A woman's dog", CONTRADICTION),
        ("A man, asleep.", "A man sleeps.", ENTAILMENT),
    ]


def test_snli_has_its_published_numbers(published):
    published("snli_1.0/snli_1.0_train.txt")
    train, dev = load_entailment("snli")
    assert [len(train), len(dev)] == [21_605, 9_842]
    assert collections.Counter(label for *_, label in dev) == {ENTAILMENT: 3329, CONTRADICTION: 3278, NEUTRAL: 3235}
    assert dev[1] == ("Two women are embracing while holding to go packages.", "Two woman are holding packages.", ENTAILMENT)
    assert all(text and text == text.strip() for *texts, _ in train + dev for text in texts)


def test_the_original_files_are_read_alike(published):
    file = published("snli_1.0/original_format/snli_1.0_dev.txt")
    assert read_snli(file.read_text(encoding="utf-8"))[1] == (
        "Two women are embracing while holding to go packages.", "Two woman are holding packages.", ENTAILMENT)


def test_the_archive_is_read_without_unpacking(cache, monkeypatch):
    with zipfile.ZipFile(cache / "snli_1.0.zip", "w") as files:
        for part in ("train", "dev", "test"):
            files.writestr(f"snli_1.0/snli_1.0_{part}.txt", SNLI)
    checksum = hashlib.sha256((cache / "snli_1.0.zip").read_bytes()).hexdigest()
    monkeypatch.setattr(entailment, "CHECKSUM", f"sha256:{checksum}")
    assert load_entailment("snli") == (read_snli(SNLI), read_snli(SNLI))
    assert [path.name for path in cache.iterdir()] == ["snli_1.0.zip"]


def test_another_file_is_refused(cache):
    (cache / "snli_1.0_train.txt").write_text(SNLI, encoding="utf-8")
    with pytest.raises(ValueError, match=r"snli_1.0_train.txt has .* Move it away, and put the whole archive beside it"):
        load_entailment("snli")


def test_without_file_and_network_the_error_says_what_to_do(cache):
    with pytest.raises(FileNotFoundError, match=r"snli_1.0.zip is not there.*A good copy can be put there by hand"):
        load_entailment("snli")
