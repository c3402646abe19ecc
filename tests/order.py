"""The order of the test files: the longest start first, so that no processor core waits for a single one at the end.

pytest-xdist hands out whole files in this order. test_pretrain.py, which starts two processes at once, is first, and a long
lesson runs beside it.
"""
# By the seconds that they take, longest first; all others take less. `--durations=40` says how long each takes.
LONGEST = [
    "tests/unit/test_pretrain.py",
    "notebooks/04_bahdanau_attention.ipynb",
    "notebooks/14_pretraining.ipynb",
    "notebooks/11_small_gpt.ipynb",
    "notebooks/15_fine_tuning.ipynb",
    "notebooks/08_dates.ipynb",
    "notebooks/09_translation.ipynb",
    "notebooks/07_transformer.ipynb",
    "notebooks/10_classification.ipynb",
    "notebooks/12_couplets.ipynb",
    "notebooks/06_positional_encoding.ipynb",
    "notebooks/16_real_bert.ipynb",
    "notebooks/13_bert.ipynb",
    "notebooks/17_further.ipynb",
    "notebooks/05_multi_head_attention.ipynb",
    "tests/lessons/test_reruns.py",
    "tests/lessons/test_date_lab.py",
    "tests/lessons/test_classification.py",
    "tests/lessons/test_couplet_labs.py",
    "tests/lessons/test_translation_labs.py",
    "tests/unit/test_documentation.py",
    "tests/unit/test_benchmark_table.py",
]


def longest_first(items):
    """Sort pytest's items, in place, by their files; the items of a file keep their order."""
    places = {file: place for place, file in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.nodeid.split("::")[0], len(places)))
