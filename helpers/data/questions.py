"""Questions about short passages, each answered by words of its passage: made by the project, or as in SQuAD.

A made passage tells several things of the same sort, "The default of the argument width is 20. It is at least
5.", and often one of them about something else as well: the question, worded in its own way, decides.
"""
import json

from helpers.data.published import read_files, read_made, two_parts


def load_questions(n_train: int = 5000, n_test: int = 500, path=None) -> tuple[list, list]:
    """(train, test): lists of (question, passage, start, end); the answer is passage[start:end].

    Made by the project (tools/make_data), the first n_train and n_test: the answer is nowhere else in its passage, which has three
    or four sentences; what the test asks about a thing, such as the default of the argument width, train asks about others alone.
    path: in place of these, a folder or archive with SQuAD's train-v1.1.json and dev-v1.1.json, or one such
        file, of which a tenth of the passages are for the test; all questions that have an answer.
    Raises ValueError for more than there are and for a damaged file, FileNotFoundError for a missing one.
    """
    if path is not None:
        parts = [read_squad(file) for file in read_files(path, ("train*.json", "dev*.json"))]
        return two_parts(parts, key=lambda row: row[1])
    parts = read_made("questions", ["question", "passage", "start", "end"], n_train, n_test)
    return tuple([(*texts, int(start), int(end)) for *texts, start, end in part] for part in parts)


def read_squad(file):
    """The questions of a file of SQuAD, with the first answer of each."""
    try:
        passages = [passage for article in json.loads(file.text)["data"] for passage in article["paragraphs"]]
        return [(asked["question"], passage["context"], start := answer["answer_start"], start + len(answer["text"]))
                for passage in passages for asked in passage["qas"] for answer in asked["answers"][:1]]
    except (ValueError, KeyError, TypeError) as error:
        raise file.error(getattr(error, "lineno", 1), error, "JSON in SQuAD's layout") from error
