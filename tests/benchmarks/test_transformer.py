"""How fast and how large: our Transformer against torch's, with the cache and without, fused and explicit.

Printed as ratios of two things that take turns in one run: `make bench`.
"""
import statistics
import subprocess
import sys
from time import perf_counter

import pytest
import torch
from torch import nn

from helpers.decoding import greedy
from helpers.masks import padding_mask
from helpers.text import BOS
from helpers.transformer import EncoderLayer, Stack, Transformer

ROUNDS = 15


def take_turns(**functions):
    """The median seconds of each function, run one after the other in every round."""
    times = {name: [] for name in functions}
    for function in functions.values():
        function()
    for _ in range(ROUNDS):
        for name, function in functions.items():
            start = perf_counter()
            function()
            times[name].append(perf_counter() - start)
    ratios = [a / b for a, b in zip(*times.values())]
    return {name: statistics.median(seconds) for name, seconds in times.items()}, statistics.median(ratios)


@pytest.mark.parametrize("d_model", [64, 256])
@pytest.mark.parametrize("T", [32, 128, 512])
def test_encoder_forward_and_backward(d_model, T):
    B = max(2, 4096 // T // (d_model // 64))
    ours = Stack([EncoderLayer(d_model, 4, 4 * d_model, 0.1) for _ in range(2)], d_model)
    layer = nn.TransformerEncoderLayer(d_model, 4, 4 * d_model, 0.1, batch_first=True, norm_first=True)
    theirs = nn.TransformerEncoder(layer, 2, nn.LayerNorm(d_model), enable_nested_tensor=False)
    x = torch.randn(B, T, d_model)
    mask = padding_mask(torch.full((B,), T - 3), T)
    hidden = ~mask[:, 0]
    seconds, ratio = take_turns(theirs=lambda: theirs(x, src_key_padding_mask=hidden).sum().backward(),
                                ours=lambda: ours(x, mask).sum().backward())
    speeds = ", ".join(f"{name} {B * T / s:,.0f}" for name, s in seconds.items())
    print(f"\nencoder, d_model {d_model}, T {T}: tokens/s {speeds}; ours is {ratio:.2f} times as fast")
    assert ratio > 0.8


@pytest.mark.parametrize("B", [1, 32])
def test_decoding_with_the_cache(B, T=256):
    torch.manual_seed(0)
    model = Transformer(100, 100, 64, 4, 256, 2, 0.0).eval()
    src, lengths, start = torch.randint(4, 100, (B, 20)), torch.full((B,), 20), torch.full((B, 1), BOS)

    @torch.no_grad()
    def without():
        ids = start
        for _ in range(T):
            ids = torch.cat([ids, model(src, lengths, ids)[:, -1:].argmax(-1)], 1)

    times = []
    for function in (without, lambda: greedy(model, model.start(src, lengths), start, T)) * 3:
        begin = perf_counter()
        function()
        times.append(perf_counter() - begin)
    ratio = statistics.median(a / b for a, b in zip(times[::2], times[1::2]))
    print(f"\ndecoding {T} words, batch {B}: with the cache {ratio:.1f} times as fast")
    assert ratio > (10 if B > 1 else 2)


MEMORY = '''
import sys, threading, psutil, torch
from helpers.attention import MultiHeadAttention
from helpers.recording import record
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


def test_peak_memory():
    """The explicit weights [8, 2048, 2048] are kept for the backward pass; the fused function keeps none."""
    peak = {how: float(subprocess.run([sys.executable, "-c", MEMORY, how], capture_output=True, text=True, check=True).stdout)
            for how in ("explicit", "fused")}
    print(f"\npeak memory at T 2048, 8 heads: explicit {peak['explicit']:.0f} MB, fused {peak['fused']:.0f} MB")
    assert peak["fused"] < peak["explicit"] / 4
