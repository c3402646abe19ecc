"""Beam search against every possible answer, and sampling against the distribution it draws from."""
import itertools

import pytest
import torch
from torch.testing import assert_close

from helpers.generation import answer_scores, beam_search, next_token_probs, sample, translate
from helpers.recurrent import Seq2Seq
from helpers.text import BOS, EOS, PAD
from helpers.transformer import GPT, KVCache, Transformer

VOCAB_SIZE, MAX_LEN = 7, 4
MODELS = {
    "transformer": lambda: Transformer(9, VOCAB_SIZE, 16, 2, 32, 2, 0.0),
    "post-norm": lambda: Transformer(9, VOCAB_SIZE, 16, 2, 32, 1, 0.0, norm="post"),
    "gru": lambda: Seq2Seq(9, VOCAB_SIZE, 16),
    "no attention": lambda: Seq2Seq(9, VOCAB_SIZE, 16, attention=False),
    "lstm, 2 layers": lambda: Seq2Seq(9, VOCAB_SIZE, 16, 2, "lstm"),
}
every_model = pytest.mark.parametrize("name", MODELS)
SRC, LENGTHS = torch.randint(4, 9, (4, 6), generator=torch.Generator().manual_seed(0)), torch.tensor([6, 3, 1, 4])


def decided(name, seed=0):
    """A model with large weights: it prefers some tokens clearly, so that searching makes a difference."""
    torch.manual_seed(seed)
    model = MODELS[name]().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter *= 2
    return model


def all_answers():
    """Every answer of up to MAX_LEN tokens: ended by <eos>, or cut off."""
    for n in range(1, MAX_LEN + 1):
        for tokens in itertools.product(range(1, VOCAB_SIZE), repeat=n):
            if EOS not in tokens[:-1] and (tokens[-1] == EOS or n == MAX_LEN):
                yield [*tokens, *[PAD] * (MAX_LEN - n)]


ANSWERS = torch.tensor(list(all_answers()))


@every_model
@pytest.mark.parametrize("length_penalty", [0.0, 0.6, 1.0])
def test_a_beam_as_wide_as_the_tree_finds_the_best_of_all_answers(name, length_penalty):
    model = decided(name)
    ids, scores = beam_search(model, SRC, LENGTHS, MAX_LEN, VOCAB_SIZE**MAX_LEN // 4, length_penalty)
    for b in range(len(SRC)):
        src, lengths = SRC[b:b + 1].expand(len(ANSWERS), -1), LENGTHS[b:b + 1].expand(len(ANSWERS))
        of_all = answer_scores(model, src, lengths, ANSWERS, length_penalty)
        assert scores[b].item() == pytest.approx(of_all.max().item(), abs=1e-5)
        assert [i for i in ids[b].tolist() if i != PAD] == [i for i in ANSWERS[of_all.argmax()].tolist() if i != PAD]


@every_model
def test_a_beam_of_one_is_greedy(name):
    model = decided(name)
    assert beam_search(model, SRC, LENGTHS, MAX_LEN, 1)[0].tolist() == translate(model, SRC, LENGTHS, MAX_LEN).tolist()


@every_model
def test_a_beam_reads_each_sentence_once(name):
    model, read = decided(name), []
    model.encoder.register_forward_hook(lambda _, arguments, output: read.append(len(arguments[0])))
    beam_search(model, SRC, LENGTHS, MAX_LEN, 3)
    assert read == [len(SRC)]


@every_model
def test_scores_are_those_of_the_answers(name):
    model = decided(name)
    for width in (1, 2, 3, 5):
        ids, scores = beam_search(model, SRC, LENGTHS, 8, width)
        assert_close(scores, answer_scores(model, SRC, LENGTHS, ids), atol=1e-5, rtol=0)


class Markov:
    """A model whose next token depends on the last one alone: greedy finds 4, 6, <eos>, of probability 0.4 * 0.3 * 1.

    A beam of two drops 4, 6 (0.12) for 5, 8 and 5, 9 (0.175 each), after which nothing is likely.
    """

    def __init__(self):
        self.table = torch.full((10, 10), 1 / 10)                          # [last token, next token]
        self.table[[BOS, 4, 5, 6]] = 0.0
        self.table[BOS, [4, 5, 6]] = torch.tensor([0.4, 0.35, 0.25])
        self.table[4, [6, 7, 8, 9]] = torch.tensor([0.3, 0.25, 0.25, 0.2])
        self.table[5, [8, 9]] = 0.5
        self.table[6, EOS] = 1.0

    def __call__(self, src, lengths, tgt):
        return self.table[tgt].log()

    def start(self, src, lengths):
        return KVCache()

    def step(self, tgt, state):
        return self.table[tgt].log()


def test_a_beam_can_lose_the_greedy_answer():
    model = Markov()
    plain, score = beam_search(model, SRC, LENGTHS, 3, 2)
    assert plain[:, 0].tolist() == [5] * 4
    assert (score < answer_scores(model, SRC, LENGTHS, translate(model, SRC, LENGTHS, 3))).all()
    wide, _ = beam_search(model, SRC, LENGTHS, 3, 3)
    assert wide.tolist() == [[6, EOS]] * 4                                 # 0.25: better than both


@every_model
def test_rows_of_a_beam_do_not_influence_one_another(name):
    model = decided(name)
    ids, scores = beam_search(model, SRC, LENGTHS, MAX_LEN, 3)
    for b, n in enumerate(LENGTHS):
        alone, score = beam_search(model, SRC[b:b + 1, :n], LENGTHS[b:b + 1], MAX_LEN, 3)
        assert [i for i in ids[b].tolist() if i != PAD] == [i for i in alone[0].tolist() if i != PAD]
        assert_close(scores[b], score[0], atol=1e-5, rtol=0)


def test_a_score_is_the_sum_of_the_tokens_log_probabilities():
    model, ids = decided("transformer"), torch.tensor([[4, 5, EOS, PAD]])
    total, tokens = 0.0, [BOS]
    for token in (4, 5, EOS):
        logs = model(SRC[:1], LENGTHS[:1], torch.tensor([tokens]))[0, -1].log_softmax(-1)
        total, tokens = total + logs[token].item(), [*tokens, token]
    for alpha in (0.0, 0.6):
        score = answer_scores(model, SRC[:1], LENGTHS[:1], ids, alpha).item()
        assert score == pytest.approx(total / ((5 + 3) / 6) ** alpha, abs=1e-5)


def test_a_beam_without_width_is_refused():
    with pytest.raises(ValueError, match=f"rows={len(SRC)}, width=0, max_len={MAX_LEN}: each needs to be at least 1"):
        beam_search(decided("gru"), SRC, LENGTHS, MAX_LEN, 0)


def test_what_top_k_and_top_p_leave():
    """Worked by hand from the probabilities 0.5, 0.25, 0.15, 0.1."""
    logits = torch.tensor([[0.15, 0.5, 0.1, 0.25]]).log()
    for options, expected in [
            ({}, [0.15, 0.5, 0.1, 0.25]), ({"top_k": 2}, [0, 2 / 3, 0, 1 / 3]), ({"top_k": 9}, [0.15, 0.5, 0.1, 0.25]),
            ({"top_p": 0.4}, [0.0, 1, 0, 0]), ({"top_p": 0.6}, [0, 2 / 3, 0, 1 / 3]), ({"top_p": 0.8}, [1 / 6, 5 / 9, 0, 5 / 18]),
            ({"top_p": 1.0}, [0.15, 0.5, 0.1, 0.25]), ({"top_k": 3, "top_p": 0.6}, [0, 2 / 3, 0, 1 / 3]),
            ({"top_k": 2, "top_p": 0.6}, [0.0, 1, 0, 0])]:   # of the two that top-k keeps, the first has 2/3
        assert_close(next_token_probs(logits, **options), torch.tensor([expected]))
    cold, hot = next_token_probs(logits, 0.5), next_token_probs(logits, 1e6)
    assert_close(cold, (logits * 2).softmax(-1))
    assert_close(hot, torch.full((1, 4), 0.25), atol=1e-4, rtol=0)


@pytest.mark.parametrize(("options", "needed"), [
    ({"temperature": 0}, "a temperature above 0"), ({"temperature": -1.0}, "a temperature above 0"),
    ({"top_k": 0}, "at least 1, and whole"), ({"top_k": 2.5}, "at least 1, and whole"),
    ({"top_p": 0.0}, "a p above 0 and up to 1"), ({"top_p": 1.1}, "a p above 0 and up to 1")])
def test_what_leaves_nothing_to_draw_is_refused(options, needed):
    with pytest.raises(ValueError, match=needed):
        next_token_probs(torch.zeros(1, 3), **options)


class Fixed:
    """Logits that are the same after every token."""

    def __init__(self, probabilities):
        self.logits = torch.tensor(probabilities).log()

    def step(self, ids, state):
        return self.logits.repeat(*ids.shape, 1)


def test_samples_follow_the_distribution():
    model, start = Fixed([0.0, 0.0, 0.0, 0.0, 0.7, 0.2, 0.1]), torch.full((4000, 1), BOS)
    drawn = sample(model, None, start, 1, generator=torch.Generator().manual_seed(0)).flatten()
    shares = torch.bincount(drawn, minlength=7) / len(drawn)
    assert_close(shares, torch.tensor([0.0, 0.0, 0.0, 0.0, 0.7, 0.2, 0.1]), atol=0.03, rtol=0)
    only = sample(model, None, start, 1, top_k=2, generator=torch.Generator().manual_seed(0))
    assert set(only.flatten().tolist()) == {4, 5}


def test_sampling_is_reproducible_and_nearly_greedy_when_cold():
    torch.manual_seed(0)
    model, start = GPT(9, 16, 2, 32, 1, 0.0).eval(), torch.tensor([[BOS, 5], [BOS, 6]])
    first, again, other = (sample(model, KVCache(), start, 12, generator=torch.Generator().manual_seed(seed)).tolist()
                           for seed in (1, 1, 2))
    assert first == again != other
    cold = sample(model, KVCache(), start, 12, temperature=1e-4, generator=torch.Generator().manual_seed(3))
    assert cold.tolist() == sample(model, KVCache(), start, 12, top_k=1).tolist()
    assert PAD not in cold[:, 0]
