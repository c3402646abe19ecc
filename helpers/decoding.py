"""How a trained model writes: one word at a time, each choice fed back as the next input."""
import torch

from helpers.text import BOS, EOS, PAD


@torch.no_grad()
def greedy(model, state, start, max_len):
    """The likeliest word at every step: ids [B, up to max_len], each row ended by `<eos>` and filled with `<pad>`.

    model.step(ids [B, T], state) gives the scores after each word and advances the state, so that nothing is
    computed twice. start: the first words, [B, T]. A row that finds no `<eos>` ends after max_len words.
    Raises ValueError for no rows or no words.
    """
    if not len(start) or max_len < 1:
        raise ValueError(f"{len(start)} rows of up to {max_len} words: greedy needs at least one of each")
    words, finished = [], torch.zeros(len(start), dtype=torch.bool, device=start.device)
    new = start
    while len(words) < max_len and not finished.all():
        best = model.step(new, state)[:, -1].argmax(-1)                    # [B]
        words.append(best.masked_fill(finished, PAD))
        finished |= best == EOS
        new = best.unsqueeze(1)                                            # [B, 1]
    return torch.stack(words, 1)


@torch.no_grad()
def translate(model, src, lengths, max_len):
    """Greedy answers to src [B, T] with lengths [B]: ids as `greedy` gives them."""
    start = torch.full((len(src), 1), BOS, device=src.device)
    return greedy(model, model.start(src, lengths), start, max_len)
