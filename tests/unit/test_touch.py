"""What the reader changes in a model through AttentionExplorer: cut, forced and switched off by hand on two heads."""
import numpy as np
import pytest
import torch

from helpers import plots
from helpers.widgets import AttentionExplorer, touch
from tests.unit.test_widgets import pixels

WEIGHTS = torch.tensor([[[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]], [[1.0, 0.0, 0.0], [0.1, 0.1, 0.8]]])      # [head, T_q, T_k]
CUT = {"kind": "cut", "index": [0], "query": 0, "key": 1}
FORCE = {"kind": "force", "index": [1], "query": 1, "key": 0}
OFF = {"kind": "off", "index": [1]}


def model(changes):
    """A model whose answer is the key that each query looks at most, both heads together; `cut` a second time is an error."""
    weights = WEIGHTS.clone()
    for change in changes:
        head, = change["index"]
        if change["kind"] == "off":
            weights[head] = 0
            continue
        row = weights[head, change["query"]]
        if row[change["key"]] == 0:
            raise ValueError("this weight is 0 already")
        if change["kind"] == "cut":
            row[change["key"]] = 0
            row /= row.sum()
        else:
            row[:] = torch.eye(3)[change["key"]]
    return "".join("abc"[i] for i in weights.sum(0).argmax(-1)), weights


def explorer(change=model, **options):
    return AttentionExplorer(WEIGHTS, list("xy"), list("abc"), change=change, **options)


def after(widget):
    return np.frombuffer(widget.weights_after, "<f4").reshape(list(widget.shape_after)).tolist()


def test_an_explorer_without_a_function_changes_nothing():
    widget = AttentionExplorer(WEIGHTS)
    assert not widget.can_change and "after" not in widget.ranges
    with pytest.raises(ValueError, match=r"needs AttentionExplorer\(..., change=f\)"):
        widget.make_changes([CUT])


def test_it_asks_for_the_answer_before_at_once():
    widget = explorer()
    assert (widget.can_change, widget.answer_before, widget.answer_after, widget.changes) == (True, "ac", "ac", [])
    assert not widget.after and widget.weights_after == b""


def test_several_changes_add_up_and_are_undone():
    widget = explorer()
    widget.asked = [FORCE]
    assert (widget.changes, widget.answer_before, widget.answer_after, widget.after) == ([FORCE], "ac", "aa", True)
    assert after(widget) == [WEIGHTS[0].tolist(), [[1, 0, 0], [1, 0, 0]]]
    widget.asked = [FORCE, CUT, OFF]
    assert widget.answer_after == "ac" and after(widget)[0][0] == [1, 0, 0] and not np.any(after(widget)[1])
    widget.asked = [FORCE]
    assert widget.answer_after == "aa"
    widget.asked = []
    assert (widget.answer_after, widget.weights_after, widget.shape_after, widget.after) == ("ac", b"", [], False)


def test_the_map_of_the_reader_stays_while_changes_are_added():
    widget = explorer()
    widget.make_changes([CUT])
    widget.move(after=False)
    widget.make_changes([CUT, OFF])
    assert not widget.after
    widget.make_changes([])
    widget.make_changes([OFF])
    assert widget.after


def test_an_error_is_said_and_the_last_good_state_stays():
    widget = explorer()
    widget.asked = [CUT]
    kept = widget.weights_after
    widget.asked = [CUT, CUT]
    assert widget.error == "this weight is 0 already"
    assert (widget.asked, widget.changes, widget.weights_after) == ([CUT], [CUT], kept)
    widget.asked = [CUT, OFF]
    assert widget.error == "" and widget.changes == [CUT, OFF]
    with pytest.raises(ValueError, match="0 already"):
        widget.make_changes([CUT, CUT])
    assert widget.changes == [CUT, OFF] and widget.error == ""


def test_a_stopped_model_says_that_it_was_stopped():
    def stopped(changes):
        if changes:
            raise KeyboardInterrupt
        return model([])

    widget = explorer(stopped)
    widget.asked = [CUT]
    assert (widget.error, widget.asked) == ("KeyboardInterrupt", [])


def test_an_error_before_any_change_is_the_callers():
    with pytest.raises(ZeroDivisionError):
        explorer(lambda changes: 1 / 0)


@pytest.mark.parametrize("shape", [(3, 2, 3), (2, 3), (2, 2, 2, 3)])
def test_weights_of_other_leading_axes_are_refused(shape):
    with pytest.raises(ValueError, match=r"change returned weights of shape \[.*\]: \[2, T_q, T_k\] is needed"):
        explorer(lambda changes: ("", torch.ones(shape)))


def test_a_layer_alone_may_go_without_saying():
    widget = explorer(lambda changes: ("", model(changes)[1].unsqueeze(0)))
    widget.make_changes([OFF])
    assert widget.shape_after == [2, 2, 3]


def test_another_text_has_its_own_tokens():
    def longer(changes):
        return ("abc", torch.full((2, 3, 3), 1 / 3), list("pqr"), list("abc")) if changes else model([])

    widget = explorer(longer)
    widget.make_changes([OFF])
    assert (widget.shape_after, widget.query_tokens_after) == ([2, 3, 3], list("pqr"))
    widget.query = 2                                          # a row of the map after alone
    assert "r to a: 0.33" in widget.picture().alt
    widget.after = False
    assert "y to a: 0.20" in widget.picture().alt


def test_tokens_stay_where_there_are_as_many():
    widget = explorer(lambda changes: ("", torch.full((2, 4, 3), 1 / 3)))
    widget.make_changes([OFF])
    assert (widget.query_tokens_after, widget.key_tokens_after) == (["0", "1", "2", "3"], list("abc"))


def test_hidden_cells_stay_hidden():
    widget = explorer(mask=torch.tensor([[True, True, False], [True, True, True]]))
    widget.make_changes([CUT])
    assert np.isnan(after(widget)).tolist() == [[[False, False, True], [False] * 3]] * 2


def test_what_is_typed_starts_without_changes():
    def read(text):
        return {"weights": WEIGHTS, "query_tokens": list("xy"), "key_tokens": list("abc"),
                "change": lambda changes: (text + str(len(changes)), WEIGHTS)}

    widget = AttentionExplorer.of_texts(read, text="one")
    widget.make_changes([CUT])
    assert widget.answer_after == "one1"
    widget.texts = {"text": "two"}
    assert (widget.answer_before, widget.answer_after, widget.changes, widget.asked) == ("two0", "two0", [], [])
    widget.asked = [OFF]
    assert widget.answer_after == "two1"


def test_a_page_without_a_kernel_may_show_changes_that_are_not_made():
    widget, plain = explorer(), explorer()
    widget.keep_still([FORCE])
    assert (widget.changes, widget.after, widget.answer_after) == ([], False, "ac")
    assert pixels(widget.picture()) == pixels(plain.picture())
    (kept, _), (shown, _) = widget._repr_mimebundle_(), plain._repr_mimebundle_()
    assert kept["image/png"] != shown["image/png"] and kept["text/plain"] == shown["text/plain"]
    assert widget.still.get_suptitle() == "force: ac → aa" and widget.still.alt.startswith("force: ac → aa. head 0")


class Kernel:
    """A kernel that takes messages in another thread: what it is given to do waits for the cells."""

    def __init__(self):
        self.kernel, self.io_loop, self.waiting = self, self, []

    def add_callback(self, function):
        self.waiting.append(function)


def test_the_model_runs_between_cells_and_never_twice_for_one_wish(monkeypatch):
    kernel, calls = Kernel(), []
    monkeypatch.setattr(touch, "get_ipython", lambda: kernel)
    widget = explorer(lambda changes: calls.append(list(changes)) or model(changes))
    monkeypatch.setattr(touch.threading, "main_thread", lambda: None)
    widget.asked = [CUT]
    assert calls == [[]] and widget.changes == []
    widget.asked = [CUT, OFF]
    for function in kernel.waiting:
        function()
    assert calls == [[], [CUT, OFF]] and widget.changes == [CUT, OFF]


EFFECT = torch.tensor([[[-2.0, 0.5, float("nan")], [0, 0, 0]], [[0, 0, 1], [0.25, 0, 0]]])


def test_effects_are_sent_and_drawn():
    plain, widget = AttentionExplorer(WEIGHTS), AttentionExplorer(WEIGHTS, effect=EFFECT)
    assert "effect" not in plain.ranges and widget.ranges["effect"] == [False, True]
    sent = np.frombuffer(widget.effects, "<f4").reshape(2, 2, 3)
    np.testing.assert_array_equal(sent, EFFECT.numpy())
    assert pixels(widget.picture()) == pixels(plain.picture())
    widget.move(effect=True)
    assert "0 to 0: -2.00. effect from -2 to 2" in widget.picture().alt
    assert pixels(widget.picture()) != pixels(plain.picture())
    widget.move(grid=True)
    assert pixels(widget.picture()) != pixels(AttentionExplorer(WEIGHTS, grid=True).picture())


def test_the_map_shows_the_effects_or_the_changes():
    widget = explorer(effect=EFFECT, vectors=None)
    widget.move(effect=True)
    widget.make_changes([CUT])
    assert widget.after and not widget.effect
    widget.move(effect=True)
    assert widget.effect and not widget.after


def test_bars_of_effects_go_both_ways():
    picture, ax = plots.panels(3, 2)
    plots.draw_bars(ax, EFFECT[0, 0], list("abc"), vmax=2.0, signed=True, label="effect")
    widths = [bar.get_width() for bar in ax.patches]
    assert widths == [-2.0, 0.5, 0.0] and ax.get_xlim() == (-2.36, 2.36) and ax.get_xlabel() == "effect"
    assert ax.patches[0].get_facecolor() != ax.patches[1].get_facecolor()


@pytest.mark.parametrize("effect, message", [
    (EFFECT[0], r"effect of shape \[2, 3\] for weights of shape \[2, 2, 3\]: each weight needs one"),
    (EFFECT / 0, "infinite values"),
    (EFFECT * float("nan"), "no number at all"),
])
def test_an_effect_that_does_not_fit_is_refused(effect, message):
    with pytest.raises(ValueError, match=message):
        AttentionExplorer(WEIGHTS, effect=effect)


def test_vectors_are_sent():
    q, k = torch.randn(2, 2, 4), torch.randn(2, 3, 4)
    widget = AttentionExplorer(WEIGHTS, vectors=(q, k), neuron=True)
    assert (widget.d_head, widget.neuron, widget.ranges["neuron"]) == (4, True, [False, True])
    np.testing.assert_array_equal(np.frombuffer(widget.q_vectors, "<f4").reshape(2, 2, 4), q.numpy())
    np.testing.assert_array_equal(np.frombuffer(widget.k_vectors, "<f4").reshape(2, 3, 4), k.numpy())


@pytest.mark.parametrize("q, k", [
    ((2, 2, 4), (2, 3, 5)), ((2, 3, 4), (2, 2, 4)), ((2, 4), (3, 4)), ((), ()), ((2, 2, 0), (2, 3, 0))])
def test_vectors_that_do_not_fit_are_refused(q, k):
    with pytest.raises(ValueError, match=r"vectors of shapes .* for weights of shape \[2, 2, 3\]: .* are needed"):
        AttentionExplorer(WEIGHTS, vectors=(torch.ones(q), torch.ones(k)))


@pytest.mark.parametrize("position", [{"effect": True}, {"after": True}, {"neuron": True}])
def test_a_switch_that_is_not_there_is_refused(position):
    with pytest.raises(ValueError, match="this explorer has head=0|1"):
        AttentionExplorer(WEIGHTS).move(**position)
