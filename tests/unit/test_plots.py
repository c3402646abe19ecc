"""Static pictures: what they refuse, and what they show those who cannot see them."""
import base64
import io
import math
import re

import numpy as np
import pytest
import torch
from matplotlib import pyplot
from matplotlib.text import Text
from PIL import Image

from helpers import plots

MAP = torch.tensor([[0.5, 0.5, 0.0], [0.1, 0.2, 0.7]])         # two queries, three keys
QUERIES, KEYS = ["the", "cat"], ["le", "chat", "dort"]


def shown(picture):
    """The decoded PNG, the text and the alt text that a notebook gets."""
    data, metadata = picture._repr_mimebundle_()
    return Image.open(io.BytesIO(base64.b64decode(data["image/png"]))), data["text/plain"], metadata["image/png"]["alt"]


def test_a_picture_shows_itself_in_pixels_and_in_words():
    picture = plots.heatmap(MAP, QUERIES, KEYS, alt="Who looks at whom")
    image, text, alt = shown(picture)
    assert image.format == "PNG" and len(set(image.convert("L").tobytes())) > 10
    assert alt == "Who looks at whom" and text == "Picture: Who looks at whom"
    assert shown(picture)[1:] == (text, alt)


def test_a_table_shows_its_cells_as_text_and_says_what_it_holds():
    table = plots.Table([("<cls>", 'a "b" & c'), (1, 2)], ["token", "text"], alt="Two rows")
    data = table._repr_mimebundle_()
    assert data["text/plain"] == "Table: Two rows"
    assert re.findall(r"<t[hd] [^>]*>(.*?)</t[hd]>", data["text/html"]) == [
        "token", "text", "&lt;cls&gt;", "a &quot;b&quot; &amp; c", "1", "2"]


def test_alt_text_says_where_each_query_looks_most():
    alt = shown(plots.heatmap(MAP, QUERIES, KEYS))[2]
    assert "the to le (0.50)" in alt and "cat to dort (0.70)" in alt


def test_pyplot_keeps_no_picture_open():
    plots.heatmap(MAP)
    plots.lines({"a": ([0, 1], [0, 1])}, "x", "y")
    assert pyplot.get_fignums() == []


def test_rows_are_queries_and_columns_are_keys():
    ax = plots.heatmap(MAP, QUERIES, KEYS).axes[0]
    assert [label.get_text() for label in ax.get_yticklabels()] == QUERIES
    assert [label.get_text() for label in ax.get_xticklabels()] == KEYS
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("queries", "keys") and ax.images[0].get_array().shape == (2, 3)
    assert ax.get_ylim()[0] > ax.get_ylim()[1]                  # from the top down


def test_maps_side_by_side_share_one_scale():
    axes = plots.heatmaps({"sharp": MAP, "flat": MAP / 10}, vmax=0.9).axes
    assert [ax.get_title() for ax in axes[:2]] == ["sharp", "flat"]
    assert {ax.images[0].get_clim() for ax in axes[:2]} == {(0, 0.9)}
    assert plots.heatmap(MAP, signed=True, vmax=2).axes[0].images[0].get_clim() == (-2, 2)


@pytest.mark.parametrize("mask", [torch.tensor([[True, True, False], [True, False, True]]), torch.tensor([True, False, True])])
def test_hidden_cells_are_not_small_weights(mask):
    array = plots.heatmap(MAP, mask=mask).axes[0].images[0].get_array()
    assert np.array_equal(array.mask, ~mask.expand(2, 3).numpy())


def test_nan_counts_as_hidden():
    ax = plots.heatmap(MAP.masked_fill(MAP == 0, float("nan"))).axes[0]
    assert ax.images[0].get_array().mask.tolist() == [[False, False, True], [False, False, False]]
    assert [text.get_text() for text in ax.texts] == ["0.50", "0.50", "0.10", "0.20", "0.70"]      # no number in a hidden cell


@pytest.mark.parametrize("size", [1, 20, 21, 100])
def test_labels_are_never_too_many_to_read(size):
    ax = plots.heatmap(torch.eye(size), [f"q{i}" for i in range(size)], [f"k{i}" for i in range(size)]).axes[0]
    for axis, letter in ((ax.xaxis, "k"), (ax.yaxis, "q")):
        labels = [label.get_text() for label in axis.get_ticklabels()]
        assert len(labels) <= 20 and labels == [f"{letter}{round(tick)}" for tick in axis.get_ticklocs()]


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16, torch.bool])
def test_any_tensor_becomes_an_array(dtype):
    values = torch.ones(2, 3).to(dtype)
    array = plots.as_numpy(values.requires_grad_() if values.is_floating_point() else values)
    assert array.shape == (2, 3) and (array == 1).all()


def test_lines_draw_each_series():
    ax = plots.lines({"a": ([1, 2], [3, 4]), "b": (torch.arange(3), torch.ones(3))}, "step", "loss").axes[0]
    assert [line.get_label() for line in ax.lines] == ["a", "b"] and (ax.get_xlabel(), ax.get_ylabel()) == ("step", "loss")
    assert ax.lines[0].get_linestyle() != ax.lines[1].get_linestyle()
    line, = plots.draw_lines(plots.panels(2, 2)[1], {"b": ([1, 2], [3, 4])}, "step", "loss", styles=plots.LINE_STYLES[2:])
    assert (line.get_color(), line.get_linestyle(), line.get_marker()) == plots.LINE_STYLES[2]


def test_a_curve_too_many_is_refused_not_dropped():
    series = {f"curve {i}": ([0, 1], [0, i]) for i in range(6)}
    with pytest.raises(ValueError, match="6 curves: one picture can tell 5 apart"):
        plots.lines(series, "x", "y")
    with pytest.raises(ValueError, match="0 curves: .* and needs one"):
        plots.lines({}, "x", "y")
    del series["curve 5"]
    assert len(plots.lines(series, "x", "y").axes[0].lines) == 5


@pytest.mark.parametrize("maps, came", [
    ({"a": MAP, "b": MAP[:, :2]}, r"\[2, 2\] and \[2, 3\]"),
    ({"a": MAP, "b": MAP.T}, r"\[2, 3\] and \[3, 2\]"),
    ({}, "none"),
])
def test_maps_side_by_side_need_one_shape(maps, came):
    with pytest.raises(ValueError, match=f"maps of one shape, and these are {came}"):
        plots.heatmaps(maps)


def test_tokens_are_not_read_as_formulas():
    tokens = ["$$", r"$\frac$", "$x$"]
    picture = plots.map_and_row(MAP, 0, 0, tokens[:2], tokens)
    picture.canvas.draw()
    assert [label.get_text() for label in picture.axes[0].get_xticklabels()] == tokens


@pytest.mark.parametrize("weights, options, error, message", [
    (MAP, {"query_tokens": KEYS}, ValueError, "3 query_tokens for 2 queries: each needs one label"),
    (MAP, {"key_tokens": [*KEYS, "."]}, ValueError, "4 key_tokens for 3 keys: each needs one label"),
    (MAP, {"key_tokens": QUERIES}, ValueError, "2 key_tokens for 3 keys"),
    (MAP, {"query_tokens": []}, ValueError, "0 query_tokens for 2 queries"),
    (MAP, {"key_tokens": QUERIES, "names": ("places", "columns")}, ValueError, "2 key_tokens for 3 columns"),
    (MAP.expand(2, 2, 3), {}, ValueError, r"a map needs two axes, \[T_q, T_k\], and a cell, but this tensor has shape \[2, 2, 3\]"),
    (MAP[0], {}, ValueError, r"a map needs two axes, .* shape \[3\]"),
    (MAP, {"mask": torch.ones(3, 2, dtype=torch.bool)}, ValueError, r"the mask has shape \[3, 2\].*\[2, 3\]"),
    (MAP, {"mask": torch.ones(4, 2, 3, dtype=torch.bool)}, ValueError, r"the mask has shape \[4, 2, 3\]"),
    (MAP, {"mask": torch.ones(2, 3)}, TypeError, "the mask is float32: it needs to be boolean"),
])
def test_heatmap_refuses(weights, options, error, message):
    with pytest.raises(error, match=message):
        plots.heatmap(weights, **options)


def test_tiles_hold_each_map_below_its_name_and_grey_elsewhere():
    _, ax = plots.panels(4, 4)
    tiles = plots.draw_tiles(ax, 5)
    maps = torch.arange(5 * 9.0).view(5, 3, 3) / 100
    for number in (5, 2):                                    # fewer maps leave nothing of those before
        plots.move_tiles(tiles, maps[:number], [f"head {h}" for h in range(number)])
        values, named = tiles.image.get_array(), [text for text in tiles.names if text.get_text()]
        pixels = maps[:number].repeat_interleave(4)          # a cell is 2 x 2 pixels
        assert sorted(values.compressed().tolist()) == pytest.approx(pixels.tolist())
        assert [text.get_text() for text in named] == [f"head {h}" for h in range(number)]
        for text, one in zip(named, maps):
            column, row = (round(share * size) for share, size in zip(text.get_position(), values.shape[::-1]))
            top = row + math.ceil(math.ceil(number ** 0.5) / 2)
            assert values[top:top + 6:2, column - 3:column + 3:2].tolist() == one.tolist()
            assert values.mask[row - 1:top, column - 3:column + 3].all()


@pytest.mark.parametrize("number, rows, columns", [(5, 2, 3), (2, 1, 2), (1, 1, 1)])
def test_tiles_number_the_first_and_last_query_and_key(number, rows, columns):
    _, ax = plots.panels(4, 4)
    tiles = plots.draw_tiles(ax, 5)
    for maps in (5, number):
        plots.move_tiles(tiles, torch.rand(maps, 8, 8), [f"head {h}" for h in range(maps)])
    pixels = tiles.image.get_array()
    for lines, places, labels, number in ((pixels, ax.get_yticks(), ax.get_yticklabels(), rows),
                                          (pixels.T, ax.get_xticks(), ax.get_xticklabels(), columns)):
        assert [text.get_text() for text in labels] == number * ["0", "7"]
        for place in places:
            assert lines[int(place * len(lines))].count() >= 16       # beside a row, or below a column, of a map


def test_a_clock_has_a_hand_for_the_query_and_one_for_the_key():
    picture, ax = plots.panels(2, 2)
    hands = plots.draw_clock(ax)
    assert [hand.get_color() for hand in hands] == [plots.QUERY, plots.KEY]
    picture.canvas.draw()
    before = bytes(picture.canvas.buffer_rgba())
    for hand in hands:
        hand.set_data([0, 0], [0, 1])
    picture.canvas.draw()
    assert bytes(picture.canvas.buffer_rgba()) != before


def test_links_of_a_map_without_any_weight_are_none():
    picture = plots.links(torch.zeros(2, 3), 0, 0, list("ab"), list("cde"))
    assert picture._repr_mimebundle_()[0]["image/png"] and not picture.axes[0].collections


@pytest.mark.parametrize(("groups", "sizes"), [({}, []), ({"one": []}, [0]), ({"one": [0.5], "two": torch.zeros(0)}, [1, 0])])
def test_a_histogram_needs_a_value(groups, sizes):
    with pytest.raises(ValueError, match=re.escape(f"groups of {sizes} values: at least one group is needed, and a value in each")):
        plots.histograms(groups, "doubt", "")


@pytest.mark.parametrize("names", [["one"], ["one", "two", "three"]])
def test_each_histogram_shows_the_shares_of_its_group(names):
    picture = plots.histograms({name: torch.tensor([0.0, 2e-4, 0.9, 1.0]) for name in names}, "doubt", alt="Where it is sure")
    seen = [ax for ax in picture.axes if ax.get_visible()]
    assert [ax.get_title() for ax in seen] == names
    for ax in seen:
        heights = [bar.get_height() for bar in ax.patches]
        assert len(heights) == 20 and (heights[0], heights[1], heights[-1], sum(heights)) == (0.25, 0.25, 0.5, 1.0)
    assert shown(picture)[2] == "Where it is sure"


def test_a_written_text_marks_the_character_at_the_cursor_where_it_stands():
    text, vocab = "x = 1\n" + 60 * "ab" + "\n" + 30 * "c\n", sorted("\n =1abcx")
    places = {0: (4, 0), 1: (5, 0), 5: (9, 0), 6: (0, 1), 52: (0, 2), 53: (1, 2)}       # "def " stands before; 46 columns
    for cursor, (column, row) in places.items():
        picture = plots.written("def ", text, cursor, *2 * [torch.eye(len(vocab))[vocab.index(text[cursor])]], vocab, "a title")
        marked, = [part for part in picture.axes[0].texts if part.get_bbox_patch()]
        assert (marked.get_text(), marked.get_position()) == (plots.visible_character(text[cursor]), (column, row + 0.5))
        assert picture.axes[1].get_title() == "a title" and f"the likeliest being {text[cursor]!r}" in picture.alt
    far = plots.written("def ", text, len(text) - 2, *2 * [torch.eye(len(vocab))[0]], vocab)
    assert [part.get_text() for part in far.axes[0].texts if part.get_bbox_patch()] == ["c"]     # the lines scroll with the cursor


def test_what_was_drawn_has_a_bar_of_its_own_and_runs_of_spaces_are_seen():
    """The unlikeliest of 20 characters was drawn: its bar is orange, and last; all others are of one other colour."""
    vocab, probs = "abcdefghijklmnopqrs ", torch.arange(20, 0, -1) / 210
    for cursor, (drawn, place) in enumerate({"a": 0, "s": 11}.items()):
        text, bars = plots.written("", "as", cursor, probs, probs, vocab).axes
        labels = [label.get_text() for label in bars.get_yticklabels()]
        assert labels[place] == drawn and labels[-1] == "all others" and bars.get_ylim() == (12.5, -0.5)
        colours = [bar.get_facecolor() for bar in bars.patches]
        assert len(colours) == 13 - (drawn == "a") and sum(bar.get_width() for bar in bars.patches) == pytest.approx(1)
        assert colours.count(colours[place]) == 1 and len(set(colours)) == 2
    text = plots.written("", "a b\n  c  d", 0, probs, probs, vocab).axes[0].texts
    assert [part.get_text() for part in text] == ["a", " b", "␣␣c ␣d"]


def test_a_bar_has_a_line_where_the_probability_was_before_temperature_and_top_p():
    """What top-p cut off keeps its line, and its number stands behind the longer of the two."""
    text, bars = plots.written("", "aa", 0, [1.0, 0.0, 0.0], [0.6, 0.399, 0.001], "abc").axes
    lines, = bars.collections
    assert [[tuple(end) for end in line.tolist()] for line in lines.get_segments()] == [
        [(0.6, -0.5), (0.6, 0.5)], [(0.399, 0.5), (0.399, 1.5)], [(pytest.approx(0.001), 1.5), (pytest.approx(0.001), 2.5)]]
    assert [(number.get_text(), round(number.get_position()[0], 3)) for number in bars.texts] == [
        ("1.00", 1.01), ("0.00", 0.409), ("0.00", 0.011)]


SIGNS = ["$$", r"$\frac$", r"$\foo$", "a $ b", "costs $5, not $6", "x_^{", "\\"]


@pytest.mark.parametrize("sign", SIGNS)
def test_whatever_is_written_in_a_picture_is_shown_as_it_is(sign):
    """A dollar sign begins no formula: matplotlib would raise at drawing, or show the text between two of them in italics."""
    tokens, series = [sign, "b"], {sign: ([0, 1], [0, 1]), "b": ([0, 1], [1, 0])}
    plane, pairs, columns, tiles = (plots.panels(3, 3) for _ in range(4))
    plots.draw_plane(plane[1], torch.eye(2), tokens)
    plots.draw_pairs(pairs[1], tokens, sign, sign)
    plots.draw_columns(columns[1], 2, sign, (0, 1))
    plots.move_tiles(plots.draw_tiles(tiles[1], 1), torch.ones(1, 2, 2), [sign])
    pictures = [
        plane[0], pairs[0], columns[0], tiles[0], plots.heatmap(torch.eye(2), tokens, tokens, title=sign),
        plots.heatmaps({sign: torch.eye(2)}, label=sign, names=(sign, sign)), plots.lines(series, sign, sign, sign),
        plots.map_and_row(torch.eye(2), 0, 0, tokens, tokens, sign, label=sign),
        plots.row_and_column(torch.eye(2), 0, 0, tokens, tokens, sign),
        plots.links(torch.eye(2), 0, 0, tokens, tokens, sign),
        plots.compared([(torch.eye(2), tokens, tokens, sign)] * 2, "bars", 0, 0),
        plots.grid_of_maps(torch.ones(2, 2, 2), [sign], labels=np.array([sign, sign]), label=sign),
        plots.tensor(torch.eye(2), tokens, tokens, sign, [sign, sign]), plots.tensors({sign: torch.eye(2)}, {sign: 0.5}, sign, ""),
        plots.histograms({sign: [0.1]}, sign, ""), plots.written(sign, "ab", 0, [0.5, 0.5], [0.5, 0.5], "ab", sign)]
    for picture in pictures:
        picture._repr_mimebundle_()
        assert not [text for text in picture.findobj(Text) if text.get_text() == sign and text.get_parse_math()]


def test_numbers_of_a_logarithmic_axis_are_still_set():
    picture = plots.histograms({"": [0.1]}, "", "")
    picture._repr_mimebundle_()
    assert [text for text in picture.findobj(Text) if "mathdefault" in text.get_text() and text.get_parse_math()]


@pytest.mark.parametrize("shape", [(0, 3, 3), (2, 0, 3, 3), (2, 0, 3), (3, 3), (1, 1, 1, 3, 3)])
def test_a_grid_needs_maps(shape):
    with pytest.raises(ValueError, match=re.escape(f"weights of shape {list(shape)}: a grid needs [head, T_q, T_k]")):
        plots.grid_of_maps(torch.ones(shape), [])


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_a_map_needs_a_cell(shape):
    with pytest.raises(ValueError, match=r"a map needs two axes, \[T_q, T_k\], and a cell, but"):
        plots.heatmap(torch.ones(shape))
