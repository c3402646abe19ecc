"""Generation: one token at a time, each choice fed back as the next input; greedy, sampling, beam search."""
from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from helpers.masks import check_whole, finite
from helpers.text import BOS, EOS, PAD, groups_of_like_length, pad
from helpers.transformer import KVCache

SEP = "<sep>"                                                # the token between a prompt and its answer


@torch.no_grad()
def generate(model: nn.Module, state, start: Tensor, max_len: int, choose: Callable) -> Tensor:
    """Tokens one after the other: ids [B, up to max_len], each row ended by `<eos>` and filled with `<pad>`.

    model.step(ids [B, T], state) returns the logits after each token and advances the state, so that nothing
    is computed twice. start: the first tokens, [B, T]. choose: from logits [B, vocab_size] to the next tokens
    [B]. A row without `<eos>` ends after max_len tokens. Raises ValueError for no rows, no start, max_len below 1.
    """
    check_whole(rows=len(start), tokens=start.shape[-1], max_len=max_len)
    tokens, finished = [], torch.zeros(len(start), dtype=torch.bool, device=start.device)
    new = start
    while len(tokens) < max_len and not finished.all():
        logits = model.step(new, state)[:, -1]                             # [B, vocab_size]
        logits[:, PAD] = -torch.inf                                        # padding is not a token
        chosen = choose(finite(logits))                                    # [B]
        tokens.append(chosen.masked_fill(finished, PAD))
        finished |= chosen == EOS
        new = chosen.unsqueeze(1)                                          # [B, 1]
    return torch.stack(tokens, 1)


def greedy(model: nn.Module, state, start: Tensor, max_len: int) -> Tensor:
    """The likeliest token at every step; see `generate`."""
    return generate(model, state, start, max_len, lambda logits: logits.argmax(-1))


def sample(model: nn.Module, state, start: Tensor, max_len: int, temperature: float = 1.0,
           top_k: int | None = None, top_p: float | None = None, generator: torch.Generator | None = None) -> Tensor:
    """A token drawn at every step from the distribution of `next_token_probs`; see `generate`."""
    return generate(model, state, start, max_len, drawing(temperature, top_k, top_p, generator))


def drawing(temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None,
            generator: torch.Generator | None = None) -> Callable:
    """A function from logits [B, vocab_size] to tokens [B] drawn from their `next_token_probs`."""
    def draw(logits):
        probs = next_token_probs(logits, temperature, top_k, top_p)        # [B, vocab_size]
        return probs.multinomial(1, generator=generator).squeeze(-1)       # [B]
    return draw


@torch.no_grad()
def stream(model: nn.Module, start: Tensor, count: int, context: int, choose: Callable) -> Iterator[Tensor]:
    """The next `count` tokens after start [B, T], one at a time: [B] each, however long the text becomes.

    model: a `GPT` that was trained on rows of `context` tokens, and reads no more at once. When the cache holds so
    many, a new one begins with the last half of them. choose: from logits [B, vocab_size] to the next tokens [B].
    """
    check_whole(tokens=start.shape[-1], context=context)
    ids, cache, new = start, KVCache(), start[:, -context:]
    for _ in range(count):
        chosen = choose(finite(model.step(new, cache)[:, -1]))             # [B]
        yield chosen
        ids, new = torch.cat([ids, chosen.unsqueeze(1)], 1), chosen.unsqueeze(1)
        if cache.length == context:
            cache, new = KVCache(), ids[:, -((context + 1) // 2):]


def next_token_probs(logits: Tensor, temperature: float = 1.0, top_k: int | None = None,
                     top_p: float | None = None) -> Tensor:
    """The distribution to sample from, [B, vocab_size], given the logits of the next token.

    temperature: logits are divided by it; below 1 the likely tokens gain. top_k: keep the k likeliest tokens.
    top_p: keep the likeliest tokens, as few as reach the probability p together; after top_k, of what that keeps.
    Source: Holtzman et al. 2020. Raises ValueError for options or logits that leave nothing to sample from.
    """
    if not (temperature > 0 and (top_p is None or 0 < top_p <= 1)):
        raise ValueError(f"temperature={temperature}, top_p={top_p}: a temperature above 0, a p above 0 and up to 1")
    likeliest, tokens = finite(logits / temperature).softmax(-1).sort(descending=True)
    if top_k is not None:
        check_whole(top_k=top_k)
        likeliest[..., top_k:] = 0
    if top_p is not None:
        before = likeliest.cumsum(-1) - likeliest            # what the likelier tokens reach without this one
        likeliest[before >= top_p * likeliest.sum(-1, keepdim=True)] = 0
    kept = torch.zeros_like(likeliest).scatter(-1, tokens, likeliest)
    return kept / kept.sum(-1, keepdim=True)


@torch.no_grad()
def translate(model: nn.Module, src: Tensor, lengths: Tensor, max_len: int) -> Tensor:
    """Greedy answers to src [B, T] of lengths [B]: ids as `generate` returns them."""
    start = torch.full((len(src), 1), BOS, device=src.device)
    return greedy(model, model.start(src, lengths), start, max_len)


@torch.no_grad()
def beam_search(model: nn.Module, src: Tensor, lengths: Tensor, max_len: int, width: int = 4,
                length_penalty: float = 0.6) -> tuple[Tensor, Tensor]:
    """The best answers to src [B, T] of lengths [B] among `width` hypotheses, kept at every step.

    Returns ids as `generate` does, and their `answer_scores` [B]. The penalty decides among the hypotheses that are
    left at the end. Raises ValueError for no rows, and for a width or max_len below 1. Source: Wu et al. 2016, section 7.
    """
    check_whole(rows=len(src), width=width, max_len=max_len)
    if not abs(length_penalty) < float("inf"):
        raise ValueError(f"length_penalty={length_penalty}: it needs to be a finite number")
    found, total = beams(model, src, lengths, max_len, width)              # [B, width, T], [B, width]
    scores, best = (total / penalty(found, length_penalty)).max(-1)        # [B]
    ids = found[torch.arange(len(src), device=src.device), best]           # [B, T]
    return ids[:, :int((ids != PAD).sum(1).max())], scores


def beams(model: nn.Module, src: Tensor, lengths: Tensor, max_len: int, width: int) -> tuple[Tensor, Tensor]:
    """The `width` hypotheses kept to the end, finished or not: ids [B, width, up to max_len].

    And their log-probabilities, [B, width], which decide at every step what is kept.
    """
    B, device = len(src), src.device
    sentence = torch.arange(B, device=device)
    state = model.start(src, lengths)
    state.select(sentence.repeat_interleave(width))                        # each `width` times
    tokens = torch.full((B * width, 1), BOS, device=device)
    total = torch.full((B, width), -torch.inf, device=device)
    total[:, 0] = 0.0                                          # the copies begin alike: only one counts
    for _ in range(max_len):
        logs = finite(model.step(tokens[:, -1:], state)[:, -1].log_softmax(-1))   # [B * width, vocab_size]
        finished = (tokens[:, -1] == EOS) | (tokens[:, -1] == PAD)
        logs[:, PAD] = -torch.inf
        logs[finished] = -torch.inf
        logs[finished, PAD] = 0.0                              # what is finished goes on at no cost
        candidates = (total.unsqueeze(-1) + logs.unflatten(0, (B, width))).flatten(1)
        total, best = candidates.topk(width)                               # [B, width]
        rows = (best // logs.shape[-1] + width * sentence.unsqueeze(1)).flatten()
        state.select(rows)
        tokens = torch.cat([tokens[rows], (best % logs.shape[-1]).view(-1, 1)], 1)
        if ((tokens[:, -1] == EOS) | (tokens[:, -1] == PAD)).all():
            break
    return tokens[:, 1:].unflatten(0, (B, width)), total


@torch.no_grad()
def answer_scores(model: nn.Module, src: Tensor, lengths: Tensor, ids: Tensor, length_penalty: float = 0.6) -> Tensor:
    """The scores of the answers ids [B, T] to src [B, T_src] of lengths [B]: [B].

    The sum of the tokens' log-probabilities, divided by ((5 + number of tokens) / 6) ** length_penalty, so
    that long answers are not at a disadvantage. Source: Wu et al. 2016, equation 14.
    """
    start = torch.full((len(ids), 1), BOS, device=ids.device)
    logs = model(src, lengths, torch.cat([start, ids[:, :-1]], 1)).log_softmax(-1)
    of_tokens = logs.gather(-1, ids.unsqueeze(-1)).squeeze(-1).masked_fill(ids == PAD, 0.0)
    return of_tokens.sum(-1) / penalty(ids, length_penalty)


def penalty(ids: Tensor, length_penalty: float) -> Tensor:
    """What the log-probability of an answer is divided by: ids [..., T] to [...]."""
    return ((5 + (ids != PAD).sum(-1)) / 6) ** length_penalty


def lined_up(first: list[int], second: list[int], sep: int) -> tuple[list[int], list[int]]:
    """The input, `first <sep> second`, and the target at each of its tokens, as lists of ids.

    A target is the next id, up to `<eos>`; on the first line it is `<pad>`, which the loss leaves out.
    """
    whole = [*first, sep, *second, EOS]
    return whole[:-1], [PAD] * len(first) + whole[len(first) + 1:]


def answer_batches(pairs, batch_size: int, steps: int, sep: int, seed: int = 0) -> Iterator[tuple]:
    """`steps` batches of (ids, targets), both [B, T], as `lined_up` makes them, filled with `<pad>`.

    pairs: (first line, second line), lists of ids. Raises ValueError for no pairs or a batch_size below 1.
    """
    sizes = [len(first) + len(second) for first, second in pairs]
    for group in groups_of_like_length(sizes, batch_size, steps, seed):
        ids, targets = zip(*(lined_up(*pairs[i], sep) for i in group))
        yield pad(ids)[0], pad(targets)[0]


def answer_loss(model: nn.Module, ids: Tensor, targets: Tensor) -> Tensor:
    """The mean cross-entropy of the targets [B, T] that are not `<pad>`, given ids [B, T]: a scalar."""
    logits = model(ids)                                                    # [B, T, vocab_size]
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PAD)


def answers(model: nn.Module, firsts: list[list[int]], sep: int, write: Callable = greedy, **options) -> list[list[int]]:
    """The second line to each of the first lines, as lists of ids, each cut at its `<eos>`.

    write: `greedy` or `sample`, called with the options. An answer without `<eos>` stops at twice the length
    of its line. Lines of one length are answered in one batch, so that none needs padding. Raises ValueError for an empty line.
    """
    found = [None] * len(firsts)
    for length in sorted({len(first) for first in firsts}):
        if length == 0:
            raise ValueError("an empty line: there is nothing to answer")
        rows = [i for i, first in enumerate(firsts) if len(first) == length]
        start = torch.tensor([[*firsts[i], sep] for i in rows])            # [B, length + 1]
        for i, ids in zip(rows, write(model, KVCache(), start, 2 * length, **options)):
            ids = ids.tolist()
            found[i] = ids[:ids.index(EOS)] if EOS in ids else ids
    return found


def bleu(model: nn.Module, pairs, source, target) -> float:
    """Corpus BLEU, from 0 to 100, of greedy translations of pairs of token lists.

    source, target: the two Vocabs. Source: Papineni et al. 2002, as sacrebleu computes it.
    """
    import sacrebleu  # here: whoever only generates need not wait for it

    src, lengths = (x.to(next(model.parameters()).device) for x in pad([source.encode(tokens) for tokens, _ in pairs]))
    ids = translate(model, src, lengths, max_len=40)
    written = [" ".join(target.decode(row)) for row in ids]
    references = [" ".join(tokens) for _, tokens in pairs]
    return sacrebleu.corpus_bleu(written, [references], force=True).score    # force: no warnings
