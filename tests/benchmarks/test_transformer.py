"""How fast and how large: the course's modules against torch's in turns, and fused attention against explicit: `make bench`."""
import statistics
import subprocess
import sys

import torch
from torch import nn

from helpers.attention import MultiHeadAttention
from helpers.masks import causal_mask, padding_mask
from helpers.transformer import DecoderLayer, EncoderLayer, Stack

SETTINGS = [(d_model, T, max(1, 1024 // T)) for d_model in (64, 256) for T in (32, 128, 512)]
TORCH = {"attention": "nn.MultiheadAttention", "encoder": "nn.TransformerEncoder", "encoder and decoder": "nn.Transformer"}
TURNS = 5


def test_forward_and_backward(figure, take_turns):
    """Widths of 64 and 256, 32 to 512 words of which the last three are hidden: a row gives the medians of these settings."""
    found = {}
    for d_model, T, B in SETTINGS:
        x, mask = torch.randn(B, T, d_model), padding_mask(torch.full((B,), T - 3), T)
        for name, theirs, ours in models(d_model, x, mask, ~mask[:, 0]):
            turns = take_turns(TURNS, theirs=lambda: theirs().sum().backward(), ours=lambda: ours().sum().backward())  # noqa: B023
            ratio = statistics.median(slow / fast for slow, fast in zip(*turns.values()))
            found.setdefault(name, []).append((*(B * T / statistics.median(seconds) for seconds in turns.values()), ratio))
    for name, rows in found.items():
        theirs, ours, ratios = zip(*rows)
        figure(f"{name}, forward and backward, in six sizes: words a second", ours, {f"`{TORCH[name]}`": theirs}, ratios)
        assert min(ratios) > 0.7


def models(d_model, x, mask, hidden):
    """(name, torch's, ours): attention with 4 heads, and 2 layers of the others, as functions without arguments."""
    sizes, future = (d_model, 4, 4 * d_model, 0.1), nn.Transformer.generate_square_subsequent_mask(x.shape[1], dtype=torch.bool)
    attention, other = MultiHeadAttention(d_model, 4, 0.1), nn.MultiheadAttention(d_model, 4, 0.1, batch_first=True)
    yield ("attention", lambda: other(x, x, x, key_padding_mask=hidden, need_weights=False)[0],
           lambda: attention(x, x, x, mask))
    encoder, decoder = (Stack([layer(*sizes) for _ in range(2)], d_model) for layer in (EncoderLayer, DecoderLayer))
    layer = nn.TransformerEncoderLayer(*sizes, batch_first=True, norm_first=True)
    other_encoder = nn.TransformerEncoder(layer, 2, nn.LayerNorm(d_model), enable_nested_tensor=False)
    whole = nn.Transformer(d_model, 4, 2, 2, 4 * d_model, 0.1, custom_encoder=other_encoder, batch_first=True, norm_first=True)
    yield "encoder", lambda: other_encoder(x, src_key_padding_mask=hidden), lambda: encoder(x, mask)
    yield ("encoder and decoder", lambda: whole(x, x, tgt_mask=future, src_key_padding_mask=hidden, memory_key_padding_mask=hidden),
           lambda: decoder(x, encoder(x, mask), causal_mask(x.shape[1]), mask))


MEMORY = '''
import sys, threading, psutil, torch
from helpers.attention import MultiHeadAttention
from helpers.hooks import record
from contextlib import nullcontext

attention, x = MultiHeadAttention(64, 8), torch.randn(1, 2048, 64)
sizes, over = [], threading.Event()

def watch():
    while not over.wait(0.001):
        sizes.append(psutil.Process().memory_info().rss)

with record(attention) if sys.argv[1] == "explicit" else nullcontext():
    attention(x[:, :8], x[:, :8], x[:, :8]).sum().backward()
    before = psutil.Process().memory_info().rss
    watcher = threading.Thread(target=watch)
    watcher.start()
    attention(x, x, x).sum().backward()
    over.set()
    watcher.join()
print((max(sizes) - before) / 2**20)
'''


def test_peak_memory(figure):
    """The explicit weights [8, 2048, 2048] are kept for the backward pass; the fused function keeps none."""
    peak = {how: [float(subprocess.run([sys.executable, "-c", MEMORY, how], capture_output=True, text=True, check=True).stdout)
                  for _ in range(3)] for how in ("explicit", "fused")}
    ratios = [explicit / fused for explicit, fused in zip(*peak.values())]
    figure("one attention over 2,048 words, 8 heads: MB", peak["fused"], {"with the weights kept": peak["explicit"]}, ratios)
    assert min(ratios) > 4
