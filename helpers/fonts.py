"""Chinese labels that are never empty boxes: with the characters where a font has them, and how they are read anywhere."""
import functools

import matplotlib
from matplotlib.font_manager import fontManager
from matplotlib.ft2font import FT2Font

from helpers.corpora.couplets import GLOSS, PINYIN, transcribe

BOXES = ("lastresort", "fallback", "tofu", "notdef")         # fonts that draw a box, or a code, for every character


def readings(tokens, gloss=False):
    """How each token is read, in letters that every font has: 天 as "tiān", with its gloss as "tiān sky"."""
    return [f"{transcribe(token)} {GLOSS[token]}" if gloss and token in GLOSS else transcribe(token) for token in tokens]


def labels(tokens, gloss=False):
    """Labels for a picture of matplotlib: "天 tiān" where a font on this machine has the whole lexicon, else "tiān".

    The first call adds such a font to matplotlib's `font.family`, for this session: every picture then asks it for the
    characters that the usual font lacks.
    """
    tokens = list(tokens)
    found, font = readings(tokens, gloss), chinese_font()
    if font is None:
        return found
    families = matplotlib.rcParams["font.family"]
    if font not in families:
        matplotlib.rcParams["font.family"] = [*families, font]
    return [f"{token} {label}" if token in PINYIN else label for token, label in zip(tokens, found)]


@functools.cache
def chinese_font():
    """The family name of an installed font with every character of the lexicon, the most regular; None if there is none."""
    needed = set(map(ord, PINYIN))
    usable = [entry for entry in fontManager.ttflist if not any(box in entry.name.lower().replace(" ", "") for box in BOXES)]
    regular = ("400", "normal", "regular")
    regular_first = sorted(usable, key=lambda entry: (entry.style != "normal", str(entry.weight) not in regular, entry.name))
    return next((entry.name for entry in regular_first if needed <= characters_of(entry.fname)), None)


@functools.cache
def characters_of(file):
    """The codes of the characters that a font file has; none for a file that cannot be read."""
    try:
        return frozenset(FT2Font(file).get_charmap())
    except (OSError, RuntimeError):
        return frozenset()
