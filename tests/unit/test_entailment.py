"""Premise and hypothesis: the label follows from both texts, and from neither alone."""
import collections
import json
import re
import zipfile

import pytest

from helpers.data.entailment import LABELS, load_entailment, spell, told_more
from helpers.text import split_words
from tools.make_data.entailment import DEEDS, HELD_OUT, THINGS, sets
from tools.make_weights.counting import naive_bayes, unshared

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


@pytest.mark.parametrize("sizes", [(6000, 900), (30_000, 6_000)])
def test_each_hypothesis_has_a_premise_for_each_label(sizes):
    for part, size in zip(load_entailment("made", *sizes), sizes):
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


def test_the_seed_decides_what_is_written():
    made = [sets([(60, 6)], seed) for seed in (0, 0, 1)]
    assert made[0] == made[1] != made[2]


@pytest.mark.parametrize("n_train, n_test", [(0, 0), (1, 2), (0, 4), (100, 50)])
def test_the_first_ones_are_given_as_many_as_were_asked_for(pairs, n_train, n_test):
    assert load_entailment("made", n_train, n_test) == (pairs[0][:n_train], pairs[1][:n_test])


@pytest.mark.parametrize("act, message", [
    (lambda: load_entailment("mnli"), "no pairs are called 'mnli': choose \"made\" or \"snli\", or give a path"),
    (lambda: load_entailment(n_train=-1), "n_train=-1, n_test=900: 30,000 and 6,000 are there"),
    (lambda: load_entailment(n_test=6001), "n_test=6001: 30,000 and 6,000 are there"),
])
def test_what_does_not_fit_is_refused(act, message):
    with pytest.raises(ValueError, match=message):
        act()


# ---- SNLI, and one's own --------------------------------------------------------------------------------------------

READ = [("Two women are embracing.", "The sisters don't hug.", NEUTRAL), ("A (young) man", "A woman's dog", CONTRADICTION),
        ("A man, asleep.", 'He says "no".', ENTAILMENT)]
OFFICIAL = [
    "gold_label sentence1_binary_parse sentence2_binary_parse sentence1_parse sentence2_parse sentence1 sentence2 ID".split(),
    ["neutral", "( ( Two women ) ( ( are embracing ) . ) )", "(...)", "(ROOT)", "(ROOT)", *READ[0][:2], "1"],
    ["-", "( A man )", "( A dog )", "(ROOT)", "(ROOT)", "A man", "A dog", "2"],
    ["contradiction", "( A ( ( -LRB- young ) -RRB- ) man )", "(...)", "(ROOT)", "(ROOT)", *READ[1][:2], "3"],
    ["entailment", "( A man )", "( He says )", "(ROOT)", "(ROOT)", "A man, asleep.", '"He says ""no""."', "4"],
]
TOKENS = [
    ["gold_label", "sentence1_tokens", "sentence2_tokens"],
    ["neutral", "( ( Two women ) ( ( are embracing ) . ) )", "The sisters do n't hug ."],
    ["-", "A man", "A dog"],
    ["contradiction", "A -LRB- young -RRB- man", "( A ( woman 's dog ) )"],
    ["entailment", "A man , asleep .", "`` He says `` '' no '' '' . ''"],
]
OWN = [["premise", "hypothesis", "label"], *([premise, hypothesis, LABELS[label]] for premise, hypothesis, label in READ)]


def table(rows, between="\t"):
    return "".join(between.join(row) + "\n" for row in rows)


def as_json(rows):
    return "".join(json.dumps(dict(zip(rows[0], row))) + "\n" for row in rows[1:])


@pytest.mark.parametrize("file, text", [
    ("snli_1.0_{}.txt", table(OFFICIAL)), ("snli_1.0_{}.jsonl", as_json(OFFICIAL)), ("snli_1.0_{}.txt", table(TOKENS)),
    ("snli_1.0_{}.txt", table(TOKENS[1:])), ("{}.tsv", table(OWN)),
    ("{}.tsv", table(OWN).replace("neutral", "1").replace("entailment", "0").replace("contradiction", "2")),
])
def test_every_layout_is_read_and_pairs_without_a_label_left_out(tmp_path, file, text):
    for part in ("train", "dev", "test"):
        (tmp_path / file.format(part)).write_text(text, encoding="utf-8")
    assert load_entailment(path=tmp_path) == (READ, READ)
    train, test = load_entailment(path=tmp_path / file.format("dev"))
    assert len(train) == 2 and len(test) == 1 and sorted(train + test) == sorted(READ)


def test_no_premise_of_one_file_is_divided(tmp_path):
    rows = [["neutral", f"It is {n // 3}.", f"It is so: {n}."] for n in range(300)]
    (tmp_path / "mine.tsv").write_text(table(rows))
    train, test = load_entailment(path=tmp_path / "mine.tsv")
    assert len(test) == 30 and not {premise for premise, *_ in train} & {premise for premise, *_ in test}


@pytest.mark.parametrize("file, text, message", [
    ("a.tsv", table([*OWN, ["A", "B", "perhaps"]]), "line 5: 'perhaps', where a label, entailment, neutral, contradiction or -"),
    ("a.tsv", table([*OWN, ["A", "B"]]), "line 5: .*'B'.*, where a table with gold_label, sentence1, sentence2 is needed"),
    ("a.jsonl", as_json(OFFICIAL)[:-50], "line 4: .*, where JSON with gold_label, sentence1, sentence2 is needed"),
    ("a.tsv", "gold_label\tfirst\tsecond\n", "line 1: .*first.*, where a table with gold_label, sentence1, sentence2 is"),
])
def test_a_damaged_file_is_refused_with_the_line(tmp_path, file, text, message):
    (tmp_path / file).write_text(text)
    with pytest.raises(ValueError, match=f"{file}, {message}"):
        load_entailment(path=tmp_path / file)


def test_snli_has_its_published_numbers(published):
    published("snli_1.0/snli_1.0_train.txt")
    train, dev = load_entailment("snli")
    assert [len(train), len(dev)] == [21_605, 9_842]
    assert collections.Counter(label for *_, label in dev) == {ENTAILMENT: 3329, CONTRADICTION: 3278, NEUTRAL: 3235}
    assert dev[1] == ("Two women are embracing while holding to go packages.", "Two woman are holding packages.", ENTAILMENT)
    assert all(text and text == text.strip() for *texts, _ in train + dev for text in texts)
    assert not [text for *texts, _ in train + dev for text in texts if re.search("``|\'\'|\"\"|-[LR]RB-", text)]


def test_tokens_are_spelled_as_the_sentence_was(published):
    rows = [line.split("\t")[1:] for line in published("snli_1.0/snli_1.0_train.txt").read_text(encoding="utf-8").splitlines()[1:]]
    alike = [spell(tokens) == spell(raw) for row in rows for tokens, raw in zip(row[:2], row[2:])]
    assert sum(alike) > 0.998 * len(alike)


def test_the_original_layouts_agree(published):
    text, lines = (published(f"snli_1.0/original_format/snli_1.0_dev.{ending}") for ending in ("txt", "jsonl"))
    (train, dev), (_, test) = (load_entailment(path=(text, file)) for file in (text, lines))
    assert len(dev) == 10 and dev == test[:10] == train and len(test) > 1200


def test_the_archive_is_read_without_unpacking(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ATTENTION_COURSE_CACHE", str(tmp_path))
    (tmp_path / "snli_1.0").mkdir()
    with zipfile.ZipFile(tmp_path / "snli_1.0" / "snli_1.0.zip", "w") as files:
        for part in ("train", "dev", "test"):
            files.writestr(f"snli_1.0/snli_1.0_{part}.txt", table(OFFICIAL))
            files.writestr(f"__MACOSX/snli_1.0/._snli_1.0_{part}.txt", "\0")
    assert load_entailment("snli") == (READ, READ)
    assert "snli_1.0.zip is an edition that is not known here" in capsys.readouterr().out
    assert [path.name for path in (tmp_path / "snli_1.0").iterdir()] == ["snli_1.0.zip"]


def test_what_a_hypothesis_tells_besides_by_hand():
    plain, told = "The program saves the file.", "The program saves the new file on the disk."
    assert told_more(plain, told) == {"adjective", "where"} and not told_more(told, plain) and not told_more(told, told)
    for kind, more in {"who": "The editor saves the file.", "what": "The program saves the image.",
                       "number": "The program saves the two files.", "when": "The program saves the file before the test."}.items():
        assert told_more(plain, more) == {kind} and not told_more(more, plain), more
    assert not told_more("The editor saves the file.", "The editor loads the file.")


def test_neutral_pairs_are_those_whose_hypothesis_tells_more():
    assert all(bool(told_more(*texts)) == (label == NEUTRAL) for part in load_entailment() for *texts, label in part)
