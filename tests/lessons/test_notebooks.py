"""Every lesson is built like the others, was run from top to bottom, and shows the code that it imports.

One test for each rule: it goes through all lessons, and names those that break it.
"""
import ast
import json
import re

import pytest

from tests.notebooks import (
    LOAD,
    PATHS,
    ROOT,
    code_cells,
    definition,
    has_tag,
    is_solution,
    printed,
    read,
    text_cells,
)
from tools.execute import COLLAPSED

WIDGET = "application/vnd.jupyter.widget-view+json"
LESSONS = {path.stem: read(path) for path in PATHS}
PARTS = ["**Predict", "<details>", "**Check**", "## Lab", "## Exercises", "## Recap",
         "**New words:**", "**Next:**", "**References**"]
KNOWN_BY_HAND = {
    "00_start_here": ["weighted average: [0.9, 0.5, 2.0]"],
    "01_nadaraya_watson": ["output       36.99", "the flat of 3 rooms: 36.99",
                           "[ 9., 10., 11., 12., 13., 14.]"],
    "02_scoring_functions": ["[2.0, 3.0, 4.0, 5.0]", "[10.0, 11.0, 12.0, 13.0]"],
    "03_masked_softmax": ["dot product [[2.0, 3.0, 4.0, 5.0], [10.0, 11.0, 12.0, 13.0]]",
                          "additive    [[2.0, 3.0, 4.0, 5.0], [10.0, 11.0, 12.0, 13.0]]"],
    "07_transformer": ["batch norm: [[-1.0, -1.0], [1.0, 1.0]]"],
    "09_translation": ["product 0.0625", "un chat <eos> 0.36", "6/8, 4/7, 3/6, 2/5", "c h: 11 times", "7 tokens: score -2.0"],
    "11_small_gpt": ["bits per character 1.75, perplexity 3.36", "by hand 0.5167", "by hand 0.4583"],
    "17_further": ["divided: 28.125; all at once: 28.125"],
}


def text_of(notebook):
    return "\n".join(cell.source for cell in text_cells(notebook))


def in_view(notebook):
    """The code cells that a reader reads: none that is collapsed."""
    return [cell for cell in code_cells(notebook) if "source_hidden" not in cell.metadata.get("jupyter", {})]


def outputs(notebook):
    return [output for cell in code_cells(notebook) for output in cell.outputs]


def where(name, cell):
    return f"{name}: {cell.source}"


def test_each_was_run_from_top_to_bottom():
    for name, notebook in LESSONS.items():
        counts = [cell.execution_count for cell in code_cells(notebook)]
        assert counts == list(range(1, len(counts) + 1)), name
        assert not [output for output in outputs(notebook)
                    if output.output_type == "error" or output.get("name") == "stderr"], name


def test_none_carries_anything_of_the_machine_it_ran_on():
    for path in PATHS:
        raw = path.read_text(encoding="utf-8")
        assert not re.search(r"/(home|root|tmp|Users|work)/|[A-Z]:\\\\|site-packages", raw), path.stem
        assert len(raw) < 1_500_000, path.stem
        metadata = json.loads(raw)["metadata"]
        assert set(metadata) == {"kernelspec", "language_info"}, path.stem
        assert "version" not in metadata["language_info"], path.stem


def test_metadata_says_only_what_is_known():
    for name, notebook in LESSONS.items():
        for cell in notebook.cells:
            assert set(cell.metadata) <= {"tags", "jupyter", "tolerance", "absolute", COLLAPSED}, where(name, cell)
            tags = set(cell.metadata.get("tags", []))
            assert tags <= {"aside", "claims", "drawing", "install", "predict", "solution"}, where(name, cell)
            assert 0 < cell.metadata.get("tolerance", 0.1) < 1, where(name, cell)
            assert 0.02 < cell.metadata.get("absolute", 0.1) <= 0.1, where(name, cell)


def test_claims_and_solutions_are_collapsed_and_answers_to_a_predict_are_folded():
    for name, notebook in LESSONS.items():
        for cell in code_cells(notebook):
            folded = cell.metadata.get("jupyter", {})
            collapsed = any(has_tag(cell, tag) for tag in ("aside", "claims", "drawing", "install", "solution"))
            assert folded.get("source_hidden", False) == collapsed, where(name, cell)
            assert folded.get("outputs_hidden", False) == (has_tag(cell, "predict") or is_solution(cell)), where(name, cell)
            assert not has_tag(cell, "claims") or "assert " in cell.source and not cell.outputs, where(name, cell)


def test_what_stands_behind_the_recap_is_collapsed_under_a_list_of_its_questions():
    for name, notebook in LESSONS.items():
        count = len(notebook.cells)
        (at,) = [i for i, cell in enumerate(notebook.cells) if cell.source.startswith("## For the curious")] or [count]
        assert [i for i, cell in enumerate(notebook.cells) if cell.metadata.get(COLLAPSED)] == [at][:count - at], name
        asked, *answered = [cell.source for cell in notebook.cells[at:] if cell.cell_type == "markdown"] or [""]
        assert re.findall(r"^- (.*)", asked, flags=re.M) == re.findall(r"^### (.*)", "\n".join(answered), flags=re.M), name
        assert not re.findall(r"^##? ", "\n".join(answered), flags=re.M), name      # such a heading would end what is collapsed


def test_what_draws_or_only_prepares_is_collapsed_and_its_first_line_says_so():
    """JupyterLab shows the first line of a collapsed cell."""
    for name, notebook in LESSONS.items():
        cells = code_cells(notebook)
        drawing = [cell for cell in cells if has_tag(cell, "drawing")]
        labs = re.findall(r"^(?:\w+ = )?explore\((\w+)", "\n".join(cell.source for cell in cells), flags=re.M)
        assert set(labs) <= set(re.findall(r"^def (\w+)", "\n".join(cell.source for cell in drawing), flags=re.M)), name
        for cell in drawing:
            assert re.match(r"# Draws .*\.\n", cell.source) and "print(" not in cell.source, where(name, cell)
        for cell in cells:
            assert not has_tag(cell, "aside") or re.match(r"# [A-Z].*\.\n", cell.source), where(name, cell)


def test_every_picture_can_be_read_aloud():
    for name, notebook in LESSONS.items():
        alts = [output.metadata["image/png"]["alt"] for output in outputs(notebook)
                if "image/png" in output.get("data", {})]
        assert min(map(len, alts)) > 20, name
        assert all(alt.strip() for alt in re.findall(r"!\[(.*?)\]\(", text_of(notebook))), name


def test_formulas_and_drawings_show_outside_jupyterlab_too():
    """GitHub shows no Mermaid diagram of a notebook, refuses some macros, and sees no formula that touches a letter or a digit."""
    for name, notebook in LESSONS.items():
        text = re.sub(r"`[^`\n]+`", "`code`", re.sub(r"^```.*?^```", "", text_of(notebook), flags=re.M | re.S))
        refused = r"\\(?:operatorname|mbox|[hv]?phantom|def|newcommand|DeclareMathOperator|require|href|class|style|tag|label)\b"
        assert "```mermaid" not in text_of(notebook) and not re.findall(refused, text), name
        single = re.sub(r"\$\$.*?\$\$", "", text, flags=re.S)
        formulas = re.findall(r"(?:^|(?<=(.)))\$([^$\n]+)\$(?=(.|$))", single, flags=re.M)
        touching = [formula for before, formula, after in formulas
                    if re.search(r"\w", before + after) or formula != formula.strip()]
        assert single.count("$") % 2 == 0 and not touching, (name, touching)


def test_links_lead_somewhere():
    for path in PATHS:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", text_of(LESSONS[path.stem])):
            assert (path.parent / target).exists(), (path.stem, target)


def test_definitions_are_shown_as_they_stand_in_their_modules():
    for path in PATHS:
        shown = [(LOAD.match(cell.source), cell) for cell in code_cells(LESSONS[path.stem])
                 if cell.source.startswith("# %load")]
        assert shown, path.stem
        for match, cell in shown:
            assert match and cell.source == match[0] + definition(match[1], path.parent / match[2]), \
                f"{path.stem}: {cell.source.splitlines()[0]}: run python -m tools.execute"


def test_a_definition_is_found_with_its_decorators(tmp_path):
    file = tmp_path / "module.py"
    file.write_text("@this\ndef f(x):\n    # twice\n    return 2 * x\n\n\nclass C:\n    f = 1\n")
    assert definition("f", file) == "@this\ndef f(x):\n    # twice\n    return 2 * x"
    assert definition("C", file) == "class C:\n    f = 1"
    assert definition("C,f", file) == "class C:\n    f = 1\n\n@this\ndef f(x):\n    # twice\n    return 2 * x"
    with pytest.raises(ValueError, match="defines no g"):
        definition("f,g", file)


def test_a_lesson_opens_with_its_title_its_promise_and_its_card():
    for name, notebook in LESSONS.items():
        first, second = notebook.cells[:2]
        assert re.fullmatch(rf"# {int(name[:2])} · .+\n\n.+", first.source, flags=re.S), name
        for part in ("You need", "Time", "You will be able to"):
            assert f"| **{part}** |" in second.source, name


def test_a_lesson_has_its_parts():
    for name, notebook in LESSONS.items():
        text = text_of(notebook)
        assert not [part for part in PARTS if part not in text], name
        assert 3 <= len(re.findall(r"^## .*\?$", text, flags=re.M)) <= 8, name
        assert text.count("<details>") == text.count("</details>"), name


def test_a_cell_holds_at_most_a_page():
    for name, notebook in LESSONS.items():
        for cell in code_cells(notebook):
            lines = cell.source.splitlines()
            assert len(lines) <= 60 and max(map(len, lines)) <= 120, where(name, cell)
        assert max(len(cell.source.split()) for cell in text_cells(notebook)) <= 300, name


def test_exercises_have_solutions():
    for name, notebook in LESSONS.items():
        exercises = text_of(notebook).split("## Exercises")[1]
        numbers = re.findall(r"^\*\*(\d)\. ", exercises, flags=re.M)
        assert numbers == [str(i + 1) for i in range(len(numbers))] and len(numbers) >= 3, name
        assert "**1. Recall.**" in exercises and "Open.**" in exercises, name
        assert sum(map(is_solution, notebook.cells)) >= len(numbers) - 1, name     # the text answers the first


def test_the_known_answers_are_on_the_page():
    for name, answers in KNOWN_BY_HAND.items():
        text = "".join(map(printed, code_cells(LESSONS[name])))
        assert not [answer for answer in answers if answer not in text], name


def test_the_sanitizer_swallows_times_only():
    text = (ROOT / "tests" / "lessons" / "nbval_sanitize.cfg").read_text()
    pattern, = re.findall(r"^regex: (.*)$", text, flags=re.M)
    assert re.sub(pattern, "", "0.73 ms,  12 ms, loss 0.36, 99 %, [2.0, 3.0]") == ",, loss 0.36, 99 %, [2.0, 3.0]"


# Numbers instead of verdicts, and nothing of the tests in what is read.

def test_there_is_no_assert_in_view_and_no_check_is_imported():
    for name, notebook in LESSONS.items():
        for cell in in_view(notebook):
            nodes = list(ast.walk(ast.parse(cell.source)))
            assert not any(isinstance(node, ast.Assert) for node in nodes), where(name, cell)
            imported = {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
            checks = {word for word in imported if word.startswith("check_")}
            assert checks <= {"check_environment"}, where(name, cell)


def test_no_verdict_is_printed_but_on_equality():
    for name, notebook in LESSONS.items():
        for cell in code_cells(notebook):
            verdicts = re.findall(r"^.*\b(?:True|False)$", printed(cell), flags=re.M)
            assert not verdicts or "torch.equal(" in cell.source, (name, verdicts)


def test_each_predict_is_answered_by_a_cell_that_is_tagged_so():
    for name, notebook in LESSONS.items():
        kinds = ["!" if has_tag(cell, "predict") else "?" for cell in notebook.cells
                 if has_tag(cell, "predict") or "<summary>Answer</summary>" in cell.source]
        assert re.fullmatch(r"(\?!+)+", "".join(kinds)), (name, kinds)


def test_a_folded_output_gives_nothing_away():
    """JupyterLab shows the first line of a folded output, so this line only names what follows."""
    for name, notebook in LESSONS.items():
        for cell in code_cells(notebook):
            if has_tag(cell, "predict"):
                first = cell.outputs[0]
                heading = first.get("text", "").split("\n")[0]
                assert WIDGET in first.get("data", {}) or heading.endswith(":"), where(name, cell)
