"""Writes the texts that ship in helpers/data, the same bytes each time: python -m tools.make_data [name ...]"""
import argparse
import lzma
import pathlib

from tools.make_data import couplets, entailment, questions, sentences

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "helpers" / "data"
LABELS = ["entailment", "neutral", "contradiction"]


def table(rows, *header):
    """The rows as lines, between tabs."""
    return "".join("\t".join(map(str, row)) + "\n" for row in [*[header] * bool(header), *rows])


def translation():
    """English sentences of a small grammar, and their French."""
    return {"translation.tsv.xz": table(sentences.sentence_pairs())}


def made_couplets():
    """Couplets, and the lexicon of their characters."""
    characters = [(c, couplets.PINYIN[c], couplets.GLOSS[c], couplets.OPPOSITES[c]) for c in couplets.PINYIN]
    return {"couplets.tsv.xz": table(couplets.make_couplets(12_000)),
            "lexicon.tsv": table(characters, "character", "reading", "gloss", "opposites")}


def made_entailment():
    """Premises, hypotheses, and what follows, in the columns of SNLI."""
    parts = [[(LABELS[label], *texts) for *texts, label in pairs] for pairs in entailment.sets()]
    return {f"entailment_{part}.tsv.xz": table(pairs, "gold_label", "sentence1", "sentence2")
            for part, pairs in zip(("train", "test"), parts)}


def made_questions():
    """Questions about passages, and where the answers begin and end."""
    return {f"questions_{part}.tsv.xz": table(rows, "question", "passage", "start", "end")
            for part, rows in zip(("train", "test"), questions.sets())}


MAKERS = {"translation": translation, "couplets": made_couplets, "entailment": made_entailment, "questions": made_questions}


def main():
    """Write what was asked for, and say how large it is."""
    parser = argparse.ArgumentParser(prog="python -m tools.make_data", description=__doc__)
    parser.add_argument("name", nargs="*", help=f"of what to write: {', '.join(MAKERS)} (default: all)")
    names = parser.parse_args().name
    if not set(names) <= set(MAKERS):
        parser.error(f"{' '.join(sorted(set(names) - set(MAKERS)))}: the names are {', '.join(MAKERS)}")
    for name in names or MAKERS:
        for file, text in MAKERS[name]().items():
            content = lzma.compress(text.encode(), preset=6 | lzma.PRESET_EXTREME) if file.endswith(".xz") else text.encode()
            (FOLDER / file).write_bytes(content)
            print(f"{file}: {len(content):,} bytes")


if __name__ == "__main__":
    main()
