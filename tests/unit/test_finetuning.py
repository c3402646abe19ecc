"""Fine-tuning: labels that lie on the right pieces, losses by hand, and four small tasks that a tiny BERT learns."""
import math
import random

import pytest
import torch
from tokenizers import BertWordPieceTokenizer
from torch import nn

from helpers import finetuning as ft
from helpers.bert import Bert, BertClassifier, BertTagger
from helpers.text import BERT_SPECIAL
from helpers.training import train

LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = ["lock", "##lock", "##ed", "un", "the", "door", "size", "is", ",", "."]
PIECES = [*BERT_SPECIAL, *LETTERS, *("##" + letter for letter in LETTERS), *WORDS]
TOKENIZER = BertWordPieceTokenizer({piece: i for i, piece in enumerate(PIECES)})


class Said(nn.Module):
    """A model that answers what it was given, whatever it reads."""

    def __init__(self, scores):
        super().__init__()
        self.scores = nn.Parameter(torch.tensor(scores))

    def forward(self, ids, lengths, segments):
        return self.scores


def tiny(head, outputs):
    torch.manual_seed(0)
    return head(Bert(len(PIECES), 32, 2, 64, 1, 32, dropout=0.0, norm="pre"), outputs, dropout=0.0)


def test_one_text_and_two_are_told_apart_by_segments():
    (ids, segments, label), (_, both, _) = (*ft.text_examples(TOKENIZER, [("the door", 3)]),
                                            *ft.text_examples(TOKENIZER, [("the door", "unlocked", 0.5)]))
    assert [PIECES[i] for i in ids] == ["[CLS]", "the", "door", "[SEP]"]
    assert (segments, label) == ([0] * 4, 3)
    assert both == [0, 0, 0, 0, 1, 1, 1, 1]


def test_the_first_piece_of_a_word_has_its_tag():
    (ids, segments, tags), = ft.tag_examples(TOKENIZER, [(["the", "door", "unlocked", "."], [1, 2, 3, 4])])
    assert [PIECES[i] for i in ids] == ["[CLS]", "the", "door", "un", "##lock", "##ed", ".", "[SEP]"]
    assert tags == [ft.IGNORE, 1, 2, 3, ft.IGNORE, ft.IGNORE, 4, ft.IGNORE]
    assert segments == [0] * 8


def test_the_same_word_twice_has_two_tags():
    assert ft.first_pieces([None, 0, 1, 1, 2, None], [5, 6, 7]) == [ft.IGNORE, 5, 6, ft.IGNORE, 7, ft.IGNORE]


def test_a_span_in_characters_becomes_one_in_pieces():
    passage = "the size is unlocked, the door"
    start = passage.index("unlocked")
    (ids, segments, (first, last)), = ft.span_examples(TOKENIZER, [("the door", passage, start, start + len("unlocked"))])
    assert [PIECES[i] for i in ids[first:last + 1]] == ["un", "##lock", "##ed"]
    assert segments[first] == 1
    row, = ft.span_examples(TOKENIZER, [("the size is", passage, 0, 3)])
    assert row[2] == (5, 5)                                   # "the" of the passage, not of the question


@pytest.mark.parametrize(("start", "end"), [(3, 4), (5, 5), (5, 2), (0, 100)])
def test_a_span_without_pieces_is_refused(start, end):
    with pytest.raises(ValueError, match="no piece of the passage"):
        ft.span_examples(TOKENIZER, [("the door", "the size is ten", start, end)])


def test_a_batch_is_padded_with_labels_that_do_not_count():
    rows = [([2, 9, 3], [0, 0, 0], [ft.IGNORE, 4, ft.IGNORE]), ([2, 9, 8, 7, 3], [0] * 5, [ft.IGNORE, 1, 2, 3, ft.IGNORE])]
    ids, lengths, segments, labels = ft.collate(rows)
    assert ids.tolist() == [[2, 9, 3, 0, 0], [2, 9, 8, 7, 3]]
    assert lengths.tolist() == [3, 5]
    assert segments.shape == labels.shape == ids.shape
    assert labels[0].tolist() == [ft.IGNORE, 4] + [ft.IGNORE] * 3
    assert ft.collate([([2, 3], [0, 1], (1, 1))] * 2)[3].tolist() == [[1, 1], [1, 1]]
    assert ft.collate([([2, 3], [0, 0], 0.5)])[3].tolist() == [0.5]


def test_batches_come_from_the_seed():
    rows = [([2] * n, [0] * n, n) for n in range(2, 12)]
    first, again, other = ([batch[3].tolist() for batch in ft.finetuning_batches(rows, 3, 9, seed)] for seed in (1, 1, 2))
    assert first == again != other
    assert sorted(sum(first[:4], [])) == list(range(2, 12))   # each once in a pass
    assert len(first) == 9


def test_losses_by_hand():
    none = torch.zeros(1, 1, dtype=torch.long)
    assert ft.class_loss(Said([[0.0, 0.0, 0.0]]), none, none, none, torch.tensor([1])).item() == pytest.approx(math.log(3))
    tags = torch.tensor([[ft.IGNORE, 1, ft.IGNORE]])
    assert ft.tag_loss(Said([[[9.0, 0.0], [0.0, 0.0], [0.0, 9.0]]]), none, none, none, tags).item() == pytest.approx(math.log(2))


def test_the_loss_of_a_span_is_among_the_tokens_of_the_passage():
    segments = torch.tensor([[0, 0, 1, 1, 1]])
    loss = ft.span_loss(Said([[[50.0, 50.0]] * 2 + [[0.0, 0.0]] * 3]), segments, None, segments, torch.tensor([[2, 3]]))
    assert loss.item() == pytest.approx(math.log(3))


def test_what_counts_as_right():
    assert ft.accuracy([torch.tensor([0.0, 2.0]), torch.tensor([1.0, 0.0])], [(None, None, 1), (None, None, 1)]) == 0.5
    scores = torch.tensor([[9.0, 9.0], [0.0, 1.0], [2.0, 0.0], [9.0, 9.0]])
    assert ft.in_passage([0, 1, 1, 1]).tolist() == [False, True, True, False]
    assert ft.exact_match([scores] * 2, [(None, [0, 1, 1, 1], (2, 2)), (None, [0, 1, 1, 1], (1, 2))]) == 0.5


def test_an_answer_can_be_too_long():
    scores = torch.tensor([[0.0, 0.0], [5.0, 1.0], [0.0, 0.0], [1.0, 5.0], [0.0, 0.0]])
    rows = [(None, [0, 1, 1, 1, 1], (1, 3)), (None, [0, 1, 1, 1, 1], (1, 1))]
    assert ft.exact_match([scores] * 2, rows) == ft.exact_match([scores] * 2, rows, 3) == 0.5
    assert ft.exact_match([scores], rows[1:], 2) == 1 > ft.exact_match([scores], rows[1:])


def test_the_f1_of_tags_by_hand():
    answers, tags = [1, 1, 1, 0, 2, 1], [1, 1, 0, 1, 1, ft.IGNORE]      # 2 right of 4 answered, 4 wanted; the last does not count
    found = [torch.nn.functional.one_hot(torch.tensor(answers), 3)]
    assert ft.tag_f1(found, [(None, None, tags)]) == 2 * 2 / (4 + 4)
    assert ft.tag_f1([torch.tensor([[1.0, 0.0]])], [(None, None, [0])]) == 0


def test_logits_come_back_in_order_and_without_padding():
    rng = random.Random(0)
    model = tiny(BertTagger, 3).eval()
    rows = [([2] + [rng.randrange(5, 40) for _ in range(rng.randint(1, 9))], None, [0]) for _ in range(11)]
    rows = [(ids, [0] * len(ids), label) for ids, _, label in rows]
    for (ids, _, _), logits in zip(rows, ft.predict(model, rows, batch_size=4)):
        torch.testing.assert_close(logits, model(torch.tensor([ids]), torch.tensor([len(ids)]))[0], atol=1e-5, rtol=0)


def texts(rng, n):
    return [" ".join(rng.choices(["the", "door", "size", "is", "lock"], k=rng.randint(2, 5))) for _ in range(n)]


def rows_of(kind, rng):
    """200 rows of a task that has an answer."""
    some = texts(rng, 200)
    if kind == "one text":
        return ft.text_examples(TOKENIZER, [(text, int("door" in text.split())) for text in some])
    if kind == "two texts":
        pairs = [rng.sample(["door", text.replace("door", "lock")], 2) for text in some]
        return ft.text_examples(TOKENIZER, [(*pair, int(pair[0] == "door")) for pair in pairs])
    if kind == "words":
        return ft.tag_examples(TOKENIZER, [(text.split(), [int(word == "door") for word in text.split()]) for text in some])
    return ft.span_examples(TOKENIZER, [(word, f"{text} unlocked {word}", len(text) + 1, len(text) + 9) for text in some
                                        for word in ["the", "is"]][::2])


@pytest.mark.parametrize(("kind", "head", "outputs", "loss", "measure"), [
    ("one text", BertClassifier, 2, ft.class_loss, ft.accuracy),
    ("two texts", BertClassifier, 2, ft.class_loss, ft.accuracy),
    ("words", BertTagger, 2, ft.tag_loss, ft.tag_f1),
    ("a span", BertTagger, 2, ft.span_loss, ft.exact_match),
])
def test_each_kind_of_task_is_learned(kind, head, outputs, loss, measure):
    rows = rows_of(kind, random.Random(0))
    model = tiny(head, outputs)
    before = measure(ft.predict(model, rows), rows)
    train(model, ft.finetuning_batches(rows, 20, 150), loss, 5e-3, clip=1.0)
    assert measure(ft.predict(model, rows), rows) > 0.95 > before
    assert not model.training
