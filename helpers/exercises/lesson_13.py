"""Exercises of lesson 13: the longest match, the segments of a batch, and the logits at the hidden positions alone."""
import torch

from helpers.exercises.exercise import Exercise, numbers


def slow_longest_match(word, vocabulary):
    found, start = [], 0
    while start < len(word):
        mark = "##" if start else ""
        ends = [end for end in range(start + 1, len(word) + 1) if mark + word[start:end] in vocabulary]
        if not ends:
            return torch.tensor([vocabulary["[UNK]"]])
        found.append(vocabulary[mark + word[start:ends[-1]]])
        start = ends[-1]
    return torch.tensor(found)                               # [T]


def slow_segments_of(ids, sep, pad):
    segments = torch.zeros_like(ids)
    for row, text in enumerate(ids.tolist()):
        ended = 0                                            # how many texts have ended before this token
        for t, token in enumerate(text):
            if token != pad and ended == 1:
                segments[row, t] = 1
            ended += token == sep
    return segments


def slow_logits_at(x, pairs, table, bias):
    rows = []
    for text, t in pairs.tolist():                           # one hidden token: its text, and its position there
        rows.append(torch.stack([torch.dot(x[text, t], row) + b for row, b in zip(table, bias)]))
    return torch.stack(rows)                                 # [N, vocab_size]


def match(word, vocabulary, best=max, first="", mark="##", stuck=lambda found, unknown: [unknown], skips=False, upto=1):
    """A longest match, or a mistake. best: which end of those that fit; first, mark: what stands before the first token, and the
    others; stuck: the ids if nothing fits, unless a letter is skipped; upto: 0 leaves out the token up to the last letter."""
    found, start = [], 0
    while start < len(word):
        before = mark if start else first
        ends = [end for end in range(start + 1, len(word) + upto) if before + word[start:end] in vocabulary]
        if not ends and not skips:
            return torch.tensor(stuck(found, vocabulary["[UNK]"]))
        if ends:
            found.append(vocabulary[before + word[start:best(ends)]])
        start = best(ends) if ends else start + 1
    return torch.tensor(found)


def cuts(word, vocabulary, mark=""):
    """All ways to cut a word into tokens, the longest first tokens first."""
    ways = [] if word else [[]]
    for end in range(len(word), 0, -1):
        if mark + word[:end] in vocabulary:
            ways += [[vocabulary[mark + word[:end]], *rest] for rest in cuts(word[end:], vocabulary, "##")]
    return ways


def from_the_end(word, vocabulary):
    found, end = [], len(word)
    while end:
        starts = [start for start in range(end) if ("##" if start else "") + word[start:end] in vocabulary]
        if not starts:
            return torch.tensor([vocabulary["[UNK]"]])
        found, end = [vocabulary[("##" if starts[0] else "") + word[starts[0]:end]], *found], starts[0]
    return torch.tensor(found)


def ended(ids, sep):
    """How many of `sep` stand before each token, and how many with it, [B, T] each."""
    found = (ids == sep).long()
    return found.cumsum(1) - found, found.cumsum(1)


def picked(x, pairs):
    return x[tuple(pairs.T)]


def in_order(x, pairs):
    """What a boolean mask [B, T] picks."""
    mask = torch.zeros(x.shape[:2], dtype=torch.bool)
    mask[tuple(pairs.T)] = True
    return x[mask]


EXERCISES = {
    "longest_match": Exercise(
        slow_longest_match,
        [("key", {"[UNK]": 3, "key": 5, "k": 1, "##e": 2, "##y": 4, "##ey": 0, "##key": 6}),
         ("abcde", {"ab": 0, "a": 1, "abc": 2, "##bcd": 3, "##e": 4, "##cd": 5, "de": 6, "[UNK]": 7}),
         ("unlocks", {"[UNK]": 0, "un": 1, "unlock": 2, "locks": 3, "##lock": 4, "##locks": 5, "##s": 6, "s": 7}),
         ("banana", {"b": 0, "ba": 1, "##na": 2, "##n": 3, "##nan": 4, "##a": 5, "[UNK]": 6, "##ba": 7, "nan": 8, "a": 9})],
        {
            "you take the shortest token that fits; take the longest":
                lambda word, v: match(word, v, best=min),
            "a token that continues a word has `##` before it in the vocabulary":
                lambda word, v: match(word, v, mark=""),
            "the first token of a word has no `##`":
                lambda word, v: match(word, v, first="##"),
            "where the longest match gets stuck the whole word is `[UNK]`; you look for another cut":
                lambda word, v: torch.tensor((cuts(word, v) or [[v["[UNK]"]]])[0]),
            "where the longest match gets stuck the whole word is `[UNK]`; you keep the tokens before that":
                lambda word, v: match(word, v, stuck=lambda found, unknown: [*found, unknown]),
            "where the longest match gets stuck the word is `[UNK]`; you return only the tokens that were found":
                lambda word, v: match(word, v, stuck=lambda found, unknown: found),
            "where nothing fits the word is `[UNK]`; you skip the letter":
                lambda word, v: match(word, v, skips=True),
            "`[UNK]` has an id of its own in `vocabulary`, which need not be 0":
                lambda word, v: match(word, v, stuck=lambda found, unknown: [0]),
            "a token may reach to the last letter; `range(start, len(word))` ends one before it":
                lambda word, v: match(word, v, upto=0),
            "you begin at the end of the word; begin with the longest token at its beginning":
                from_the_end,
        }),
    "segments_of": Exercise(
        slow_segments_of,
        [(torch.tensor([[2, 5, 3, 6, 7, 3]]), 3, 0),
         (torch.tensor([[2, 5, 3, 7, 3, 0, 0], [2, 6, 3, 0, 0, 0, 0], [2, 5, 6, 3, 8, 9, 3]]), 3, 0),
         (torch.tensor([[7, 5, 6, 9, 3, 9, 4, 4], [7, 3, 9, 4, 4, 4, 4, 4], [7, 6, 5, 9, 8, 0, 0, 9]]), 9, 4)],
        {
            "the `[SEP]` that ends the first text belongs to it, so its segment is 0":
                lambda ids, sep, pad: ((ended(ids, sep)[1] >= 1) & (ids != pad)).long(),
            "the `[SEP]` that ends the first text belongs to it, and padding gets 0":
                lambda ids, sep, pad: (ended(ids, sep)[1] >= 1).long(),
            "you count every `[SEP]`, so that the last one gets 2; its segment is 1":
                lambda ids, sep, pad: ended(ids, sep)[1],
            "the `[SEP]` that ends the second text belongs to it, so its segment is 1":
                lambda ids, sep, pad: ((ended(ids, sep)[1] == 1) & (ids != sep) & (ids != pad)).long(),
            "the two `[SEP]` are exchanged, each belongs to the text that it ends; and padding gets 0":
                lambda ids, sep, pad: (ended(ids, sep)[1] == 1).long(),
            "the two `[SEP]` are exchanged: each belongs to the text that it ends":
                lambda ids, sep, pad: ((ended(ids, sep)[1] == 1) & (ids != pad)).long(),
            "padding gets 0, whatever stands before it":
                lambda ids, sep, pad: (ended(ids, sep)[0] >= 1).long(),
            "padding after two texts gets 2, and it needs 0, as all padding does":
                lambda ids, sep, pad: ended(ids, sep)[0],
            "padding after a single text gets 1, and it needs 0, as all padding does":
                lambda ids, sep, pad: (ended(ids, sep)[0] == 1).long(),
            "padding is the id `pad`, which need not be 0":
                lambda ids, sep, pad: ((ended(ids, sep)[0] == 1) & (ids != 0)).long(),
            "the segments are exchanged; the first text has 0":
                lambda ids, sep, pad: ((ended(ids, sep)[0] == 0) & (ids != pad)).long(),
            "the segments are exchanged; the first text has 0, and so has padding":
                lambda ids, sep, pad: 1 - slow_segments_of(ids, sep, pad),
            "you count down the columns; each row is a text of its own":
                lambda ids, sep, pad: (((ids == sep).cumsum(0) - (ids == sep).long() == 1) & (ids != pad)).long(),
            "`roll` brings the last token to the front, also a `[SEP]`; begin each row with 0 in its place":
                lambda ids, sep, pad: (((ids == sep).roll(1, 1).cumsum(1) == 1) & (ids != pad)).long(),
            "the count runs on from row to row; each row is a text of its own, so count along axis 1":
                lambda ids, sep, pad: ((ended(ids.view(1, -1), sep)[0].view_as(ids) == 1) & (ids != pad)).long(),
            "every row gets the segments of the first one; its `[SEP]` stands where it likes":
                lambda ids, sep, pad: slow_segments_of(ids[:1], sep, pad).expand_as(ids),
        },
        at_once=True),
    "logits_at": Exercise(
        slow_logits_at,
        [(torch.tensor([[[3.0, 0.0], [0.0, 2.0]]]), torch.tensor([[0, 1], [0, 0]]),
          torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), torch.tensor([0.0, 0.5, 0.0])),
         (numbers(4, 3, 3, seed=0), torch.tensor([[3, 1], [0, 2], [3, 0]]), numbers(5, 3, seed=1), numbers(5, seed=2)),
         (numbers(2, 8, 3, seed=3), torch.tensor([[0, 1], [0, 5], [0, 2], [1, 6], [0, 7]]), numbers(10, 3, seed=4),
          numbers(10, seed=5))],
        {
            "the bias is missing; each token of the vocabulary has one":
                lambda x, pairs, table, bias: picked(x, pairs) @ table.T,
            "the dot products with the rows of `table` are `@ table.T`; `F.linear` takes `table` as it is":
                lambda x, pairs, table, bias: picked(x, pairs) @ table + bias,
            "`x[pairs]` takes both columns for numbers of texts; index `x` by the texts and by the positions":
                lambda x, pairs, table, bias: x[pairs] @ table.T + bias,
            "texts and positions are exchanged; `x` is indexed by the text first":
                lambda x, pairs, table, bias: picked(x, pairs.flip(1)) @ table.T + bias,
            "`x[:, positions]` takes the positions of all pairs from every text; each belongs to one text":
                lambda x, pairs, table, bias: x[:, pairs[:, 1]] @ table.T + bias,
            "`x[texts][:, positions]` takes all positions for each pair; index by both at once":
                lambda x, pairs, table, bias: x[pairs[:, 0]][:, pairs[:, 1]] @ table.T + bias,
            "these are all positions of each pair's text; only its own is asked for":
                lambda x, pairs, table, bias: x[pairs[:, 0]] @ table.T + bias,
            "`gather` needs the same number of positions in each text; index `x` by the texts and by the positions":
                lambda x, pairs, table, bias: x.gather(1, pairs.unsqueeze(-1).expand(-1, -1, x.shape[-1])) @ table.T + bias,
            "`gather` takes row i of the positions for text i; index `x` by the texts and by the positions":
                lambda x, pairs, table, bias: x.gather(1, pairs[:, 1:].unsqueeze(-1).expand(-1, -1, x.shape[-1])) @ table.T + bias,
            "in the flattened `x` text i begins at i * T; you add i alone":
                lambda x, pairs, table, bias: x.flatten(0, 1)[pairs.sum(1)] @ table.T + bias,
            "every position is taken from the first text; `flatten` puts that of text i at i * T + t":
                lambda x, pairs, table, bias: x[0][pairs[:, 1]] @ table.T + bias,
            "these are the logits at every position; only those at `pairs` are asked for":
                lambda x, pairs, table, bias: x @ table.T + bias,
            "the pairs come out in rising order; they need to be as given":
                lambda x, pairs, table, bias: in_order(x, pairs) @ table.T + bias,
            "you count positions from 1; the first one is 0":
                lambda x, pairs, table, bias: x[pairs[:, 0], pairs[:, 1] - 1] @ table.T + bias,
            "you add 1 to the positions; they count from 0 already":
                lambda x, pairs, table, bias: x[pairs[:, 0], pairs[:, 1] + 1] @ table.T + bias,
            "these are probabilities; logits come before the softmax":
                lambda x, pairs, table, bias: (picked(x, pairs) @ table.T + bias).softmax(-1),
            "these are log-probabilities; logits come before the softmax":
                lambda x, pairs, table, bias: (picked(x, pairs) @ table.T + bias).log_softmax(-1),
        },
        most=100,                                            # [5, 10] is needed; [2, 8, 10] and [5, 8, 3] are too much
        at_once=True),
}
