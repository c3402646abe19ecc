"""Text as a stream: the same tokens as without a cache, beyond the context window too; and what the page shows of it."""
import pytest
import torch
import torch.nn.functional as F

from helpers.generation import drawing, stream
from helpers.text import windows
from helpers.training import next_token_loss
from helpers.transformer import GPT
from helpers.widgets import Writing, writing


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    return GPT(12, d_model=16, num_heads=2, d_ff=32, num_layers=2).eval()


def test_a_stream_is_what_plain_steps_write(model):
    """Also where the cache is full, at 8 tokens: then the last 4 are read anew."""
    start, seen = torch.tensor([[5, 6, 7], [8, 8, 4]]), []
    found = torch.stack(list(stream(model, start, 20, 8, lambda logits: seen.append(logits) or logits.argmax(-1))), 1)
    ids, first = start, 0
    for t in range(20):
        if ids.shape[1] - first > 8:
            first = ids.shape[1] - 4
        with torch.no_grad():
            logits = model(ids[:, first:])[:, -1]
        torch.testing.assert_close(seen[t], logits)
        ids = torch.cat([ids, logits.argmax(-1, keepdim=True)], 1)
    assert torch.equal(found, ids[:, 3:])


def test_a_prompt_longer_than_the_context_is_read_from_its_end(model):
    long = torch.randint(4, 12, (1, 30))
    def written(start):
        return [t.item() for t in stream(model, start, 6, 8, drawing(generator=torch.Generator().manual_seed(0)))]
    assert written(long) == written(long[:, -8:])


def test_windows_are_pieces_of_the_text():
    ids = torch.arange(100)
    rows = torch.cat([rows for rows, in windows(ids, 9, 4, steps=200, seed=1)])
    assert rows.shape == (800, 10) and torch.equal(rows - rows[:, :1], torch.arange(10).expand(800, 10))
    assert rows.min() == 0 and rows.max() == 99                            # every place of the text
    with pytest.raises(ValueError, match="a text of 9 tokens: more than length=9"):
        next(windows(ids[:9], 9, 4, steps=1))


def test_the_loss_is_the_mean_over_all_next_tokens(model):
    ids = torch.randint(4, 12, (3, 7))
    logs = model(ids)[:, :-1].log_softmax(-1)
    by_hand = -sum(logs[b, t, ids[b, t + 1]] for b in range(3) for t in range(6)) / 18
    assert F.l1_loss(next_token_loss(model, ids), by_hand) < 1e-6


def test_the_page_shows_every_piece_and_only_the_text_differs(monkeypatch):
    shown = []
    class Output:
        def update(self, what):
            shown.append(what._repr_mimebundle_())
    monkeypatch.setattr(writing, "display", lambda what, display_id: shown.append(what._repr_mimebundle_()) or Output())
    monkeypatch.setattr(writing, "LEAST_SECONDS", 0)
    text = Writing("if a", "a title")
    text.follow(iter(["<", "b", "\n"]))
    assert [bundle["text/html"].split("</b>")[1] for bundle in shown] == \
        ["</pre>", "&lt;</pre>", "&lt;b</pre>", "&lt;b\n</pre>", "&lt;b\n</pre>"]
    assert {bundle["text/plain"] for bundle in shown} == {"Writing('if a', 'a title')"} and text.written == "<b\n"


def test_control_characters_are_shown_as_a_sign():
    """A page that is written and read again would lose a return or a vertical tab."""
    text = Writing("a\r", "")
    text.written = "b\x0b\tc\n"
    assert "<b>a·</b>b·\tc\n<" in text._repr_mimebundle_()["text/html"]
