"""How a trained model writes: one word at a time, each choice fed back as the next input."""
import torch

from helpers.text import BOS, EOS, PAD


@torch.no_grad()
def write(model, state, start, max_len, choose):
    """Words one after the other: ids [B, up to max_len], each row ended by `<eos>` and filled with `<pad>`.

    model.step(ids [B, T], state) gives the scores after each word and advances the state, so that nothing is
    computed twice. start: the first words, [B, T]. choose: from scores [B, vocab_size] to the next words [B].
    A row that finds no `<eos>` ends after max_len words. Raises ValueError for no rows or no words.
    """
    if not len(start) or max_len < 1:
        raise ValueError(f"{len(start)} rows of up to {max_len} words: at least one of each is needed")
    words, finished = [], torch.zeros(len(start), dtype=torch.bool, device=start.device)
    new = start
    while len(words) < max_len and not finished.all():
        scores = model.step(new, state)[:, -1]                             # [B, vocab_size]
        scores[:, PAD] = -torch.inf                                        # filling up is not a word
        chosen = choose(scores)                                            # [B]
        words.append(chosen.masked_fill(finished, PAD))
        finished |= chosen == EOS
        new = chosen.unsqueeze(1)                                          # [B, 1]
    return torch.stack(words, 1)


def greedy(model, state, start, max_len):
    """The likeliest word at every step; see `write`."""
    return write(model, state, start, max_len, lambda scores: scores.argmax(-1))


def sample(model, state, start, max_len, temperature=1.0, top_k=None, top_p=None, generator=None):
    """A word drawn at every step from `next_word`'s distribution; see `write`."""
    def draw(scores):
        return next_word(scores, temperature, top_k, top_p).multinomial(1, generator=generator).squeeze(-1)
    return write(model, state, start, max_len, draw)


def next_word(scores, temperature=1.0, top_k=None, top_p=None):
    """The distribution to draw from, [B, vocab_size], given the scores of the next word.

    temperature: scores are divided by it; below 1 the likely words gain. top_k: only the k
    likeliest are left. top_p: only the likeliest whose probabilities together reach p.
    Source: Holtzman et al. 2020. Raises ValueError where nothing would be left to draw.
    """
    k_is_good, p_is_good = top_k is None or top_k >= 1, top_p is None or 0 < top_p <= 1
    if temperature <= 0 or not k_is_good or not p_is_good:
        raise ValueError(f"temperature={temperature}, top_k={top_k}, top_p={top_p}: a temperature "
                         "above 0, a k of 1 or more and a p above 0 and up to 1 are needed")
    likeliest, words = (scores / temperature).softmax(-1).sort(descending=True)
    if top_k is not None:
        likeliest[..., top_k:] = 0
    if top_p is not None:
        before = likeliest.cumsum(-1) - likeliest            # reached without this word, of the sum
        likeliest[before >= top_p] = 0                       # before top_k took anything away
    kept = torch.zeros_like(likeliest).scatter(-1, words, likeliest)
    return kept / kept.sum(-1, keepdim=True)


@torch.no_grad()
def translate(model, src, lengths, max_len):
    """Greedy answers to src [B, T] with lengths [B]: ids as `write` gives them."""
    start = torch.full((len(src), 1), BOS, device=src.device)
    return greedy(model, model.start(src, lengths), start, max_len)


@torch.no_grad()
def beam_search(model, src, lengths, max_len, width=4, length_penalty=0.6):
    """Answers to src [B, T] with lengths [B], of which the `width` best beginnings are kept at every step.

    Returns ids as `write` gives them and their `answer_scores` [B]. No score is below that of the greedy answer, which
    takes part at the end. Source: Wu et al. 2016, section 7. Raises ValueError for a width below 1.
    """
    if width < 1:
        raise ValueError(f"width={width}: at least one beginning has to be kept")
    found, total = beams(model, src, lengths, max_len, width)              # [B, width, T], [B, width]
    best = (total / penalty(found, length_penalty)).argmax(-1)
    ids = longer(found[torch.arange(len(src), device=src.device), best], max_len)
    plain = longer(translate(model, src, lengths, max_len), max_len)
    scores, plain_scores = (answer_scores(model, src, lengths, x, length_penalty) for x in (ids, plain))
    ids = torch.where((plain_scores > scores).unsqueeze(1), plain, ids)
    return ids[:, :int((ids != PAD).sum(1).max())], torch.maximum(scores, plain_scores)


def beams(model, src, lengths, max_len, width):
    """The `width` beginnings left at the end, finished or not: ids [B, width, up to max_len].

    And the logarithms of their probabilities, [B, width], which alone decide what is kept.
    """
    B, device = len(src), src.device
    sentence = torch.arange(B, device=device)
    copies = sentence.repeat_interleave(width)                             # each `width` times
    state = model.start(src[copies], lengths[copies])
    words = torch.full((B * width, 1), BOS, device=device)
    total = torch.full((B, width), -torch.inf, device=device)
    total[:, 0] = 0.0                                          # the copies begin alike: one counts
    for _ in range(max_len):
        logs = model.step(words[:, -1:], state)[:, -1].log_softmax(-1)   # [B * width, vocab_size]
        finished = (words[:, -1] == EOS) | (words[:, -1] == PAD)
        logs[:, PAD] = -torch.inf
        logs[finished] = -torch.inf
        logs[finished, PAD] = 0.0                              # what is finished goes on at no cost
        candidates = (total.unsqueeze(-1) + logs.unflatten(0, (B, width))).flatten(1)
        total, best = candidates.topk(width)                               # [B, width]
        rows = (best // logs.shape[-1] + width * sentence.unsqueeze(1)).flatten()
        state.select(rows)
        words = torch.cat([words[rows], (best % logs.shape[-1]).view(-1, 1)], 1)
        if ((words[:, -1] == EOS) | (words[:, -1] == PAD)).all():
            break
    return words[:, 1:].unflatten(0, (B, width)), total


@torch.no_grad()
def answer_scores(model, src, lengths, ids, length_penalty=0.6):
    """How likely the model finds the answers ids [B, T] to src: [B].

    The sum of the words' log-probabilities, divided by ((5 + number of words) / 6) ** length_penalty, so that long
    answers are not at a disadvantage. Source: Wu et al. 2016, equation 14.
    """
    start = torch.full((len(ids), 1), BOS, device=ids.device)
    logs = model(src, lengths, torch.cat([start, ids[:, :-1]], 1)).log_softmax(-1)
    of_words = logs.gather(-1, ids.unsqueeze(-1)).squeeze(-1).masked_fill(ids == PAD, 0.0)
    return of_words.sum(-1) / penalty(ids, length_penalty)


def penalty(ids, length_penalty):
    """What to divide a score by, for ids [..., T]."""
    return ((5 + (ids != PAD).sum(-1)) / 6) ** length_penalty


def longer(ids, T):
    """ids filled up with `<pad>` to T words."""
    return torch.nn.functional.pad(ids, (0, T - ids.shape[1]), value=PAD)
