"""Chinese couplets (duilian): two lines of one length, whose characters answer one another."""
import re
from collections.abc import Collection, Iterable

from helpers.data.published import SHIPPED, columns, parallel, read_files, read_published

KNOWN = ["a8f6a87245cde480d4b7faf318df991208a8cea47bff869aac141d22034d94f0",                    # 60,000 couplets
         "cee20cfedf3dbea157ebbe78c100ae5e0eec1797a781076419aebd95db3cbe48"]
ADVICE = ("The corpus (AGPL-3.0) is at https://github.com/wb14123/couplet-dataset/releases: put its archive there, "
          "or its files train/in.txt and train/out.txt.")

# From each character of the lexicon to how it is read, what it means, and the one to three that may answer it.
LEXICON = columns(*read_files(SHIPPED / "lexicon.tsv"), "character", "reading", "gloss", "opposites")
PINYIN, GLOSS, OPPOSITES = ({row[0]: row[i] for _, row in LEXICON} for i in (1, 2, 3))


def load_couplets(name: str = "made", path=None) -> list[tuple[str, str]]:
    """Couplets as a list of pairs (first line, second line): strings of as many characters, without spaces.

    name: "made", 12,000 by the project (tools/make_data), lines of 4 to 9 characters of the lexicon, no two
        first lines alike; "published", a corpus in couplet in the cache folder, with punctuation.
    path: in place of a name, a folder or archive with in.txt and out.txt, in which the same line answers, or
        these two files, or a table with two columns; any characters, with spaces between them or without.
    Raises ValueError for another name and for damaged files, FileNotFoundError where they are missing.
    """
    if path is None and name == "made":
        path = SHIPPED / "couplets.tsv.xz"
    elif path is None and name != "published":
        raise ValueError(f'no couplets are called {name!r}: choose "made" or "published", or give a path')
    files = read_published("couplet", ("in.txt", "out.txt"), path=path, known=KNOWN, advice=ADVICE)
    rows = enumerate(parallel(*files), 1) if len(files) == 2 else columns(*files, "first", "second")
    couplets = []
    for number, lines in rows:
        first, second = ("".join(line.split()) for line in lines)
        if len(first) != len(second):
            raise files[-1].error(number, second, f"a line of {len(first)} characters, to answer {first!r},")
        couplets.append((first, second))
    return couplets


def transcribe(text: str) -> str:
    """The text in letters that every font has: 天 <sep> as "tiān <sep>", others as their codes, U+9F98."""
    parts = re.findall(r"[!-~]+|\S", text)
    return " ".join(part if part.isascii() else PINYIN.get(part, f"U+{ord(part):04X}") for part in parts)


def readings(tokens: Iterable[str], gloss: bool = False) -> list[str]:
    """How each token is read, in letters that every font has: 天 as "tiān", with its gloss as "tiān sky"."""
    return [transcribe(token) + (f" {GLOSS[token]}" if gloss and token in GLOSS else "") for token in tokens]


def read_line(text: str, known: Collection[str], shortest: int, longest: int) -> str:
    """The line that somebody typed, without its spaces.

    known: the characters that can be read, PINYIN or those of a corpus. Raises ValueError, with a sentence
    for the person who typed, for characters that are not known and for a line that is too short or too long.
    """
    line = "".join(text.split())
    if unknown := [character for character in dict.fromkeys(line) if character not in known]:
        named = ", ".join(f"{character!r}" for character in unknown[:5]) + (" and more" if len(unknown) > 5 else "")
        some = ", ".join(f"{character} {transcribe(character)}" for character in list(known)[:8])
        raise ValueError("Copy Chinese characters from the table above; readings cannot be typed. "
                         f"It does not know {named}. It knows {len(known)} characters, as {some}.")
    if not shortest <= len(line) <= longest:
        raise ValueError(f"{len(line)} character{'s' * (len(line) != 1)}: it learned lines of {shortest} to {longest}.")
    return line
