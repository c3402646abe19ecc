"""A line and its answer in one sequence: what is read, what is due, what counts, and what a prompt gives."""
import pytest
import torch
import torch.nn.functional as F
from torch.testing import assert_close

from helpers.generation import answer_batches, answer_loss, answers, greedy, lined_up, sample
from helpers.text import EOS, PAD
from helpers.training import one_cycle, train
from helpers.transformer import GPT, KVCache

SEPARATOR, VOCAB = 4, 12
PAIRS = [([5, 6, 7], [8, 9, 10]), ([6, 5], [9, 8]), ([7, 8, 9, 10, 11], [5, 6, 7, 8, 9]), ([11], [5])]


def a_model(seed=0):
    torch.manual_seed(seed)
    return GPT(VOCAB, 16, 2, 32, num_layers=2, dropout=0.0).eval()


def test_what_is_read_and_what_is_due():
    ids, targets = lined_up([5, 6, 7], [8, 9, 10], SEPARATOR)
    assert ids == [5, 6, 7, 4, 8, 9, 10]
    assert targets == [PAD, PAD, PAD, 8, 9, 10, EOS]
    assert lined_up([5], [], SEPARATOR) == ([5, 4], [PAD, EOS])


def test_batches_hold_every_pair_once_a_pass():
    lengths, seen = set(), []
    for ids, targets in answer_batches(PAIRS, 2, 2, SEPARATOR):
        assert ids.shape == targets.shape
        lengths.add(ids.shape[1])
        for row, due in zip(ids.tolist(), targets.tolist()):
            n = row.index(SEPARATOR)
            second = [i for i in due if i not in (PAD, EOS)]
            assert row[:2 * n + 1] == row[:n] + [SEPARATOR] + second
            assert due[:n] == [PAD] * n and due[n:2 * n + 1] == [*second, EOS]
            assert not any(row[2 * n + 1:]) and not any(due[2 * n + 1:])
            seen.append((row[:n], second))
    assert sorted(seen) == sorted(PAIRS)
    assert len(lengths) == 2                                    # long with long, short with short


@pytest.mark.parametrize("pairs, size", [([], 2), (PAIRS, 0)])
def test_nothing_to_batch_is_refused(pairs, size):
    with pytest.raises(ValueError, match="at least 1"):
        next(answer_batches(pairs, size, 1, SEPARATOR))


def test_the_loss_is_that_of_the_answer_alone():
    model = a_model()
    ids, targets = next(answer_batches(PAIRS, 4, 1, SEPARATOR))
    logs = model(ids).log_softmax(-1)
    terms = [-logs[b, t, targets[b, t]] for b in range(4) for t in range(ids.shape[1]) if targets[b, t] != PAD]
    assert len(terms) == sum(len(second) + 1 for _, second in PAIRS)
    assert_close(answer_loss(model, ids, targets), sum(terms) / len(terms))
    assert_close(answer_loss(model, F.pad(ids, (0, 5)), F.pad(targets, (0, 5))), answer_loss(model, ids, targets))


def test_the_first_line_is_not_learned_but_read():
    """What is predicted before the separator gets no gradient; what is read there changes the answer's."""
    logits = torch.randn(1, 7, VOCAB, requires_grad=True)
    ids, targets = (torch.tensor([row]) for row in lined_up([5, 6, 7], [8, 9, 10], SEPARATOR))
    answer_loss(lambda ids: logits, ids, targets).backward()
    assert not logits.grad[0, :3].any() and logits.grad[0, 3:].abs().sum(-1).min() > 0

    model, other = a_model(), ids.clone()
    other[0, 0] = 11
    assert not torch.allclose(model(ids)[0, 3:], model(other)[0, 3:], atol=1e-3)


def test_at_once_is_as_step_by_step_after_a_prompt():
    model, (ids, _) = a_model(), lined_up([5, 6, 7], [8, 9, 10], SEPARATOR)
    row, cache = torch.tensor([ids]), KVCache()
    with torch.no_grad():
        parts = [model.step(part, cache) for part in (row[:, :4], *row[:, 4:].split(1, 1))]
        assert_close(torch.cat(parts, 1), model(row), atol=1e-5, rtol=0)


def test_answers_come_in_order_and_as_alone():
    model = a_model(3)
    firsts = [[5, 6, 7], [8], [9, 10], [7, 6, 5], [11]]
    together = answers(model, firsts, SEPARATOR)
    assert together == [answers(model, [first], SEPARATOR)[0] for first in firsts]
    for first, answer in zip(firsts, together):
        assert len(answer) <= 2 * len(first) and not {PAD, EOS} & set(answer)
        sequence = [*first, SEPARATOR]
        for token in answer:                                     # greedy, without any cache
            logits = model(torch.tensor([sequence]))[0, -1]
            logits[PAD] = -torch.inf
            assert logits.argmax() == token
            sequence.append(token)


def test_answers_can_be_drawn_again_with_their_seed():
    model = a_model()
    firsts = [[5, 6, 7]] * 20

    def drawn(seed, **options):
        return answers(model, firsts, SEPARATOR, sample, generator=torch.Generator().manual_seed(seed), **options)

    assert drawn(1) == drawn(1) != drawn(2)
    assert drawn(1, top_k=1) == answers(model, firsts, SEPARATOR, greedy)


def test_an_empty_line_has_no_answer():
    with pytest.raises(ValueError, match="empty line"):
        answers(a_model(), [[5], []], SEPARATOR)
    assert answers(a_model(), [], SEPARATOR) == []


def test_it_learns_to_answer():
    """Each id is answered by the one that follows it in a ring of six, lines of one to four."""
    pairs = [(line, [5 + (i - 4) % 6 for i in line]) for line in
             ([5 + (a * 7 + b * k) % 6 for k in range(1 + a % 4)] for a in range(40) for b in range(6))]
    torch.manual_seed(0)
    model = GPT(VOCAB, 32, 2, 64, num_layers=2, dropout=0.0)
    before = answers(model, [first for first, _ in pairs[:30]], SEPARATOR)
    train(model, answer_batches(pairs, 32, 250, SEPARATOR), answer_loss, 5e-3, one_cycle(250), clip=1.0)
    after = answers(model, [first for first, _ in pairs], SEPARATOR)
    assert before != [second for _, second in pairs[:30]]
    assert sum(a == second for a, (_, second) in zip(after, pairs)) >= 0.95 * len(pairs)
