"""Generation token by token: every model with its state against the whole sequence at once, and greedy decoding."""
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from helpers.generation import greedy, translate
from helpers.recurrent import Seq2Seq
from helpers.text import BOS, EOS, PAD
from helpers.transformer import GPT, KVCache, Transformer

quick = settings(max_examples=5, deadline=None, derandomize=True)
VOCAB_SIZE = 9                                                       # few, so that <eos> is met before long
MODELS = {
    "pre-norm": lambda p=0.0: Transformer(VOCAB_SIZE, VOCAB_SIZE, 8, 2, 12, 2, p),
    "post-norm": lambda p=0.0: Transformer(VOCAB_SIZE, VOCAB_SIZE, 8, 2, 12, 2, p, norm="post"),
    "shared": lambda p=0.0: Transformer(VOCAB_SIZE, VOCAB_SIZE, 8, 4, 12, 1, p, shared=True),
    "decoder only": lambda p=0.0: GPT(VOCAB_SIZE, 8, 2, 12, 2, p),
    "decoder only, post": lambda p=0.0: GPT(VOCAB_SIZE, 8, 2, 12, 1, p, norm="post"),
    "gru": lambda p=0.0: Seq2Seq(VOCAB_SIZE, VOCAB_SIZE, 8),
    "gru, 2 layers, no attention": lambda p=0.0: Seq2Seq(VOCAB_SIZE, VOCAB_SIZE, 8, 2, attention=False),
    "gru, one direction, d_embed": lambda p=0.0: Seq2Seq(VOCAB_SIZE, VOCAB_SIZE, 8, dropout=p, d_embed=6, bidirectional=False),
    "lstm, no attention": lambda p=0.0: Seq2Seq(VOCAB_SIZE, VOCAB_SIZE, 8, 1, "lstm", attention=False),
    "lstm, 2 layers": lambda p=0.0: Seq2Seq(VOCAB_SIZE, VOCAB_SIZE, 8, 2, "lstm"),
}
WITH_SOURCE = [name for name in MODELS if "only" not in name]
every_model = pytest.mark.parametrize("name", MODELS)
every_translator = pytest.mark.parametrize("name", WITH_SOURCE)


def start(model, src, lengths):
    return KVCache() if isinstance(model, GPT) else model.start(src, lengths)


def logits(model, src, lengths, tgt):
    """All steps at once, as in training."""
    return model(tgt) if isinstance(model, GPT) else model(src, lengths, tgt)


@st.composite
def cases(draw):
    """src [B, T_src] with lengths [B], and tgt [B, T]; the weights of the model made next are drawn, too."""
    seed, B, T_src, T = draw(st.integers(0, 10_000)), *(draw(st.integers(1, most)) for most in (3, 6, 8))
    torch.manual_seed(seed)
    return torch.randint(4, VOCAB_SIZE, (B, T_src)), torch.randint(1, T_src + 1, (B,)), torch.randint(0, VOCAB_SIZE, (B, T))


@every_model
@quick
@given(cases(), st.lists(st.integers(1, 8)))
def test_step_by_step_equals_all_steps_at_once(name, case, cuts):
    src, lengths, tgt = case
    model, state = MODELS[name](), None
    for pieces in ([tgt[:, :1], *tgt[:, 1:].split(1, 1)], tgt.tensor_split(sorted(set(cuts)), 1)):
        state = start(model, src, lengths)
        steps = [model.step(piece, state) for piece in pieces if piece.shape[1]]
        assert_close(torch.cat(steps, 1), logits(model, src, lengths, tgt), atol=1e-5, rtol=0)


@every_model
@pytest.mark.parametrize("mode", ["train", "train with dropout", "eval"])
def test_the_future_does_not_change_the_past(name, mode):
    torch.manual_seed(0)
    model = MODELS[name](0.3 if mode == "train with dropout" else 0.0).train(mode != "eval")
    src, lengths, tgt = torch.randint(4, VOCAB_SIZE, (3, 5)), torch.tensor([5, 1, 3]), torch.randint(0, VOCAB_SIZE, (3, 7))
    for now in range(7):
        later = tgt.clone()
        later[:, now] = (later[:, now] + 1) % VOCAB_SIZE
        outputs = []
        for each in (tgt, later):
            torch.manual_seed(1)                                # the same tokens are dropped
            outputs.append(logits(model, src, lengths, each))
        before, after = outputs
        assert_close(before[:, :now], after[:, :now], atol=1e-5, rtol=0)
        assert (before[:, now:] - after[:, now:]).abs().amax((0, 2)).min() > 1e-5     # and every later token is changed


@every_translator
@quick
@given(cases(), st.integers(1, 4))
def test_padding_changes_nothing(name, case, more):
    src, lengths, tgt = case
    model = MODELS[name]()
    expected = logits(model, src, lengths, tgt)
    hidden = torch.arange(src.shape[1]) >= lengths.unsqueeze(1)
    others = src.masked_fill(hidden, PAD), torch.where(hidden, (src + 1) % VOCAB_SIZE, src), torch.cat([src, src[:, :more]], 1)
    for other in others:
        assert_close(logits(model, other, lengths, tgt), expected, atol=1e-5, rtol=0)
    for b, n in enumerate(lengths):
        alone = logits(model, src[b:b + 1, :n], lengths[b:b + 1], tgt[b:b + 1])
        assert_close(alone, expected[b:b + 1], atol=1e-5, rtol=0)


@every_translator
def test_a_changed_source_token_changes_every_logit(name):
    torch.manual_seed(0)
    model, src, lengths, tgt = MODELS[name](), torch.randint(4, 8, (1, 5)), torch.tensor([4]), torch.randint(4, 8, (1, 3))
    expected = logits(model, src, lengths, tgt)
    for i in range(4):
        other = src.clone()
        other[0, i] = 8
        assert (logits(model, other, lengths, tgt) - expected).abs().amax(-1).min() > 1e-6


@every_translator
def test_memory_beyond_its_length_is_never_seen(name):
    torch.manual_seed(0)
    model, src, lengths = MODELS[name](), torch.randint(4, VOCAB_SIZE, (3, 6)), torch.tensor([6, 1, 3])
    hidden, outputs = torch.arange(6) >= lengths.unsqueeze(1), []
    for rubbish in (0.0, 1e6):
        state = model.start(src, lengths)
        state.memory = state.memory.masked_fill(hidden.unsqueeze(-1), rubbish)
        outputs.append(model.step(torch.randint(4, VOCAB_SIZE, (3, 4), generator=torch.Generator().manual_seed(0)), state))
    assert_close(*outputs, atol=1e-5, rtol=0)


def slow_greedy(model, src, lengths, tokens, max_len):
    """One row, the whole sequence anew for every token, no state kept."""
    answer = []
    while len(answer) < max_len and EOS not in answer:
        best = logits(model, src, lengths, torch.tensor([tokens + answer]))[0, -1, PAD + 1:].argmax().item() + PAD + 1
        answer.append(best)
    return answer


@every_model
@quick
@given(cases(), st.integers(1, 8))
def test_greedy_equals_the_best_token_after_the_whole_sentence(name, case, max_len):
    src, lengths, tgt = case
    model = MODELS[name]().double().eval()
    ids = greedy(model, start(model, src, lengths), tgt, max_len)
    expected = [slow_greedy(model, src[b:b + 1, :n], lengths[b:b + 1], tgt[b].tolist(), max_len) for b, n in enumerate(lengths)]
    longest = max(map(len, expected))
    assert ids.tolist() == [row + [PAD] * (longest - len(row)) for row in expected]


@every_translator
@quick
@given(cases(), st.integers(1, 8))
def test_translate_is_greedy_from_the_first_token_and_row_by_row(name, case, max_len):
    src, lengths, _ = case
    model = MODELS[name]().double().eval()
    together = translate(model, src, lengths, max_len)
    for b, n in enumerate(lengths):
        alone = translate(model, src[b:b + 1, :n], lengths[b:b + 1], max_len)[0].tolist()
        assert alone == slow_greedy(model, src[b:b + 1, :n], lengths[b:b + 1], [BOS], max_len)
        assert together[b].tolist() == alone + [PAD] * (together.shape[1] - len(alone))


@every_translator
def test_translate_keeps_nothing_for_gradients(name):
    model, seen = MODELS[name](), []
    for module in model.modules():
        module.register_forward_hook(lambda module, inputs, output: seen.append(torch.is_grad_enabled()))
    translate(model, torch.full((1, 2), 4), torch.tensor([2]), 3)
    assert seen and not any(seen)


class Script:
    """A model that writes what it is told, and keeps what it was given."""

    def __init__(self, *rows):
        self.rows, self.given = torch.tensor(rows), []

    def step(self, ids, state):
        self.given.append(ids.tolist())
        wanted = self.rows[:, len(self.given) - 1]
        return torch.nn.functional.one_hot(wanted, VOCAB_SIZE).float().unsqueeze(1).expand(-1, ids.shape[1], -1)


def test_greedy_stops_at_eos_and_fills_with_pad():
    model = Script([5, 6, EOS, 8, 8, 8], [EOS, 7, EOS, 5, 5, 5], [4, 8, 4, EOS, 6, 6])
    ids = greedy(model, None, torch.tensor([[BOS, 4], [BOS, 5], [BOS, 6]]), 6)
    assert ids.tolist() == [[5, 6, EOS, PAD], [EOS, PAD, PAD, PAD], [4, 8, 4, EOS]]
    assert model.given[0] == [[BOS, 4], [BOS, 5], [BOS, 6]]
    assert [[row[0] for row in given] for given in model.given[1:]] == [[5, EOS, 4], [6, 7, 8], [EOS, EOS, 4]]


@pytest.mark.parametrize("max_len", [1, 2, 4])
def test_greedy_ends_after_max_len_tokens(max_len):
    model = Script([5, 6, 7, 8], [5, EOS, 7, 8])
    assert greedy(model, None, torch.full((2, 1), BOS), max_len).tolist() == [[5, 6, 7, 8][:max_len], [5, EOS, PAD, PAD][:max_len]]
    assert len(model.given) == max_len


@pytest.mark.parametrize("rows, max_len", [(2, 0), (2, -1), (0, 5)])
def test_nothing_to_write_is_refused(rows, max_len):
    with pytest.raises(ValueError, match=f"rows={rows}, tokens=1, max_len={max_len}: each needs to be at least 1"):
        greedy(Script([5]), None, torch.full((rows, 1), BOS), max_len)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@every_model
def test_it_runs_on_cuda(name):
    torch.manual_seed(0)
    model, src, lengths = MODELS[name]().eval(), torch.randint(4, VOCAB_SIZE, (3, 5)), torch.tensor([5, 1, 3])
    tgt = torch.randint(4, VOCAB_SIZE, (3, 4))
    expected, there = logits(model, src, lengths, tgt), [x.cuda() for x in (src, lengths, tgt)]
    model.cuda()
    assert_close(logits(model, *there).cpu(), expected, atol=1e-2, rtol=0)       # recurrent networks may round to TF32 there
    ids = greedy(model, start(model, *there[:2]), there[2], 6)
    assert ids.is_cuda and ids.shape[0] == 3 and ids.shape[1] <= 6
