"""Every lesson is built like the others, was run from top to bottom, and shows the code that it imports."""
import ast
import json
import re
import statistics

import pytest

from tests.notebooks import NAMES, PATHS, ROOT, code_cells, is_solution, printed, read, shown_definitions, text_cells

lessons = pytest.mark.parametrize("path", PATHS, ids=NAMES)


def outputs(notebook):
    return [output for cell in code_cells(notebook) for output in cell.outputs]


def test_there_are_lessons():
    assert len(PATHS) >= 3


@lessons
def test_it_was_run_from_top_to_bottom(path):
    notebook = read(path)
    counts = [cell.execution_count for cell in code_cells(notebook)]
    assert counts == list(range(1, len(counts) + 1))
    for output in outputs(notebook):
        assert output.output_type != "error"
        assert output.get("name") != "stderr"


@lessons
def test_it_carries_nothing_of_the_machine_it_ran_on(path):
    raw = path.read_text(encoding="utf-8")
    assert not re.search(r"/(home|root|tmp|Users|work)/|[A-Z]:\\\\|site-packages", raw)
    assert len(raw) < 1_500_000
    for cell in read(path).cells:
        assert set(cell.metadata) <= {"tags", "jupyter"}


@lessons
def test_every_picture_can_be_read_aloud(path):
    notebook = read(path)
    for output in outputs(notebook):
        if "image/png" in output.get("data", {}):
            assert len(output.metadata["image/png"]["alt"]) > 20
    for cell in text_cells(notebook):
        assert all(alt.strip() for alt in re.findall(r"!\[(.*?)\]\(", cell.source))
        assert "```mermaid" not in cell.source or ("accTitle" in cell.source and "accDescr" in cell.source)


@lessons
def test_its_cells_are_short(path):
    notebook = read(path)
    lengths = [len(cell.source.splitlines()) for cell in code_cells(notebook)]
    assert max(lengths) <= 30
    own = [len(cell.source.splitlines()) for cell in code_cells(notebook) if "%load" not in cell.source]
    assert statistics.median(own) <= 8
    for cell in code_cells(notebook):
        assert max(map(len, cell.source.splitlines())) <= 100, cell.source
        assert len([node for node in ast.parse(cell.source).body if isinstance(node, ast.ClassDef)]) <= 1
    prose = [len(re.sub(r"```.*?```|\$\$.*?\$\$", "", cell.source, flags=re.S).split()) for cell in text_cells(notebook)]
    assert max(prose) <= 200
    assert statistics.median(prose) <= 80


@lessons
def test_it_has_the_parts_of_a_lesson(path):
    notebook = read(path)
    text = "\n".join(cell.source for cell in text_cells(notebook))
    assert re.match(r"# \d+ · ", notebook.cells[0].source)
    for part in ("**You need**", "**Time**", "**You will be able to**", "**Predict", "<details>", "**Check**", "## Lab",
                 "## Exercises", "## Recap", "**New words:**", "**Next:**", "**References**"):
        assert part in text, f"{part} is missing"
    setup = next(cell for cell in code_cells(notebook) if "import torch" in cell.source)
    assert len([line for line in setup.source.splitlines() if line]) <= 8
    questions = re.findall(r"^## (.*\?)$", text, flags=re.M)
    assert 3 <= len(questions) <= 6
    assert text.count("<details>") == text.count("</details>")


@lessons
def test_its_exercises_have_solutions(path):
    notebook = read(path)
    text = "\n".join(cell.source for cell in text_cells(notebook))
    numbers = re.findall(r"^\*\*(\d)\. ", text[text.index("## Exercises"):], flags=re.M)
    solutions = [cell for cell in code_cells(notebook) if is_solution(cell)]
    assert numbers == [str(i + 1) for i in range(len(numbers))] and len(numbers) >= 3
    assert len(solutions) >= len(numbers) - 1                   # the first, recall, is answered in the text
    assert "**Recall.**" in text.replace("1. ", "") or "**1. Recall.**" in text
    assert "Open.**" in text
    for cell in solutions:
        assert cell.metadata.jupyter.source_hidden


@lessons
def test_what_it_shows_is_what_it_imports(path):
    shown = list(shown_definitions(read(path)))
    assert shown
    for name, module, source in shown:
        tree = ast.parse(module.read_text(encoding="utf-8"))
        original = next(node for node in tree.body if getattr(node, "name", None) == name)
        assert not original.decorator_list
        assert ast.dump(ast.parse(source).body[0]) == ast.dump(original), f"{name} differs from {module.name}: run the cell again"


@lessons
def test_its_links_lead_somewhere(path):
    for cell in text_cells(read(path)):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", cell.source):
            assert (path.parent / target).exists(), target


def test_few_outputs_are_not_checked():
    ignored = [path.stem for path in PATHS for cell in code_cells(read(path))
               if "nbval-ignore-output" in cell.metadata.get("tags", []) or "NBVAL" in cell.source]
    assert not ignored


def test_the_sanitizer_swallows_times_only():
    text = (ROOT / "tests" / "nbval_sanitize.cfg").read_text()
    pattern, = re.findall(r"^regex: (.*)$", text, flags=re.M)
    assert re.sub(pattern, "", "0.73 ms, 12 ms, loss 0.36, 99 %, 3 words, [2.0, 3.0]") == ", , loss 0.36, 99 %, 3 words, [2.0, 3.0]"


@pytest.mark.parametrize(("lesson", "answers"), [
    ("01_nadaraya_watson", ["the two forms agree to 1e-6", "[2, 1, 6]", "output       19.63"]),
    ("02_scoring_functions", ["[2.0, 3.0, 4.0, 5.0]", "[10.0, 11.0, 12.0, 13.0]", "largest difference below 1e-6: True"]),
    ("03_masked_softmax", ["dot product [[2.0, 3.0, 4.0, 5.0], [10.0, 11.0, 12.0, 13.0]]",
                           "additive    [[2.0, 3.0, 4.0, 5.0], [10.0, 11.0, 12.0, 13.0]]", "[0.25 0.25 0.25 0.25]"]),
    ("04_bahdanau_attention", ["outputs [4, 7, 16] state [2, 4, 16]"]),
    ("00_start_here", ["Everything that the course needs is here.", "88,576 parameters", "sunday november 30 1997  1997-11-30",
                       "weighted average: 10.2"]),
    ("08_dates", ["dates in both: 0", "72,064 parameters", "2000 dates never trained on: at least 99.5 %: True"]),
    ("16_further", ["divided: 28.125; all at once: 28.125", "the losses are the same to 1e-4: True", "109.5 million parameters"]),
    ("07_transformer", ["batch norm: [[-1.0, -1.0], [1.0, 1.0]]", "214.2 million", "the same to 1e-5: True"]),
    ("15_real_bert", ["22,713,216 parameters", "the same to four digits: True", "nearest crane has the same sense: 8 of 8",
                      "farther apart across senses: True", "right: 10 of 10"]),
])
def test_the_known_answers_are_on_the_page(lesson, answers):
    text = "".join(map(printed, code_cells(read(ROOT / "notebooks" / f"{lesson}.ipynb"))))
    for answer in answers:
        assert answer in text


@lessons
def test_the_file_is_plain(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert set(notebook["metadata"]) == {"kernelspec", "language_info"}
    assert "version" not in notebook["metadata"]["language_info"]
