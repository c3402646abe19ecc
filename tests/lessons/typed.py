"""What the tests type into the boxes of labs: odd texts, and mixtures of them."""
import os
import random

COUNT, EACH = 200, 8                                         # texts for each box, of which `make test` types each eighth
ODD = [
    "", " ", "\n", "\t\t", "\0", "\x1b[31m", "a" * 5000, "word " * 2000, "\U0001f642", "\U0001f469\u200d\U0001f467", "e\u0301",
    "\u200b", "\ufeff", "\u202eabc", "\u05e9\u05dc\u05d5\u05dd", "\u0645\u0631\u062d\u0628\u0627", "\u4f60\u597d,\u4e16\u754c",
    "\u3053\u3093\u306b", "\u0e44\u0e17\u0e22", "\u0130I", "ß", "\ufb01", "$x^2$", "$", "\\frac", "{x!r}", "%s", "<b>bold</b>",
    "&amp;", "<cls>", "<pad>", "<unk> <bos>", "<eos>", "[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]", "[mask]", "[MASK][MASK]",
    "##s", "▁", "it's", "it’s", "''", "’", "-", "a-b-", "_", "…", "..." * 50, "1e309", "\ud7ff",
    "\U0010ffff", "\r\n", "NUL\0middle", "I", "WHERE IS IT", "i love you",
]
LONG = [text for text in ODD if len(text) >= 5000]


def typed() -> list[str]:
    """200 texts: odd ones, and mixtures of all but the longest."""
    rng, parts = random.Random(0), [text for text in ODD if text not in LONG] + [" ", " the file "]
    return ODD + ["".join(rng.choices(parts, k=rng.randint(1, 12))) for _ in range(COUNT - len(ODD))]


def some(texts: list[str]) -> list[str]:
    """Of the texts of a box every eighth, from the first on; with EVERY_TEXT in the environment all of them."""
    return texts if "EVERY_TEXT" in os.environ else texts[::EACH]
