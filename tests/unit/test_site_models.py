"""The models on the site's first page, without a browser: what their scripts hold, and the first map."""
import base64
import gzip
import json
import re

from helpers.pretrained.dates import SOURCE, date_model, read_date
from helpers.pretrained.weights import SHIPPED
from tools.site import models


def values_of(path, name):
    """What a script passes to `shipped`."""
    text = path.read_text(encoding="utf-8")
    return json.loads(re.fullmatch(rf'shipped\("{name}", (.*)\);\n', text)[1])


def test_the_weights_are_the_files_that_ship(tmp_path):
    assert models.write_dates(tmp_path) < 0.5e6 and models.write_translator(tmp_path) < 20e6
    for name, heads, base, longest in (("dates", 4, 20, 41), ("translator", 8, 10_000, 60)):
        values = values_of(tmp_path / f"{name}.weights.js", name)
        assert gzip.decompress(base64.b64decode(values["weights"])) == (SHIPPED / f"{name}.safetensors").read_bytes()
        assert (values["num_heads"], values["base"], values["longest"]) == (heads, base, longest)
    dates = values_of(tmp_path / "dates.weights.js", "dates")
    assert dates["source"] == SOURCE.tokens and dates["target"][4:] == list("-0123456789")


def test_the_forms_that_the_first_page_names_are_read_so():
    page = (models.PAGES / "live.html").read_text(encoding="utf-8")
    said = re.search(r"The model has learned .*? such as (.*?)\. Click", page)
    forms = [form for group in re.findall(r"\((.*?)\)", said[0]) for form in group.split("; ")]
    assert len(forms) == 4 and {read_date(date_model(), form)[0] for form in forms} == {"1997-11-30"}
    assert said[1] == "2016, March 24" and read_date(date_model(), said[1])[0] != "2016-03-24"


def test_the_first_map_is_that_of_lesson_0():
    look = models.first_look()
    answer, weights = read_date(date_model(), look["text"])
    assert look["answer"] == answer == "".join(row["query"] for row in look["rows"])
    assert int(weights[look["head"], look["query"]].argmax()) == look["key"] and look["text"][look["key"]] == "v"
    darkest = min(range(len(look["typed"])), key=lambda key: int(look["rows"][look["query"]]["colors"][key][1:], 16))
    assert darkest == look["key"] and all(len(row["colors"]) == len(look["typed"]) for row in look["rows"])
    assert "".join(look["typed"]).replace("␣", " ") == look["text"]
