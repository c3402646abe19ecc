"""How much of what a model writes is Python: single lines, and whole functions."""
import ast
import re
import warnings
from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F
from torch import Tensor

from helpers.ngrams import NGrams

PIECES, LENGTH, TEMPERATURES = 400, 200, (1.0, 0.5)
SHORTEST = 10                                                # a line of fewer characters, such as `else:`, is no copy
BEFORE = {"else": "if 0: pass\n", "elif": "if 0: pass\n", "except": "try: pass\n", "finally": "try: pass\n"}


def function_in(written: str) -> str:
    """The function that a text begins with: up to the first line that is not indented, or the last whole line."""
    first, *others = written.split("\n")[:-1] or [written]
    ends = next((i for i, line in enumerate(others) if line and not line.startswith(" ")), len(others))
    return "\n".join([first, *others[:ends]])


def lines_in(written: str) -> list[str]:
    """The lines of that function, without docstrings, comments and indentation."""
    code = re.sub(r'""".*?("""|\Z)', '""', function_in(written), flags=re.DOTALL)      # also one that is not finished
    return [line for line in map(str.strip, code.split("\n")) if line not in ("", '""') and not line.startswith("#")]


def completed(line: str) -> str:
    """A line that opens a block with a `pass` in it, and with what Python wants before it or after it."""
    if line.startswith("@"):
        return line + "\ndef f(): pass"
    if not line.endswith(":"):
        return line
    word = re.match(r"\w*", line)[0]
    return BEFORE.get(word, "") + line + " pass" + ("\nfinally: pass" if word == "try" else "")


def parses(source: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")                  # such as \d in a string
            ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    return True


def share(sources: list[str]) -> float:
    """The share of sources that parse."""
    return sum(map(parses, sources)) / len(sources)


def by_counting(n_grams: NGrams, start: Tensor, count: int, temperature: float, generator: torch.Generator) -> Iterator[Tensor]:
    """The next tokens of an n-gram model after start [B, T]: [B] each."""
    order, every = len(n_grams.tables), torch.arange(n_grams.vocab_size)
    text = F.pad(start, (order, 0))                          # what stands before it was never seen
    for _ in range(count):
        p = n_grams.probs(text[:, text.shape[1] - order + 1:], every.expand(len(text), -1))[-1]
        text = torch.cat([text, (p ** (1 / temperature)).multinomial(1, generator=generator)], 1)
        yield text[:, -1]


def written(vocab, tokens_of: Callable) -> list[str]:
    """PIECES texts that begin with `def `, as tokens_of(start [B, T], count) writes on."""
    start = torch.tensor([vocab.encode("\n\n\ndef ")]).expand(PIECES, -1)
    rows = torch.stack(list(tokens_of(start, LENGTH)), 1).tolist()
    return ["def " + "".join(vocab.tokens[i] for i in row) for row in rows]
