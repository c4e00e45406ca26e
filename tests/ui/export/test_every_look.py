"""Whatever the canvas can show is in the pictures: every layout, colour and sign, in every format, with nothing cut."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from picture_samples import elements, image_of, named_nodes, picture, rich_subject, sheet_of, texts

from ui.tree.options import LayoutName, Orientation, TreeColour, TreeViewOptions
from ui.tree.weights import TreeWeights

pytestmark = pytest.mark.usefixtures("qapp")
LOOKS = [(layout, orientation) for layout in get_args(LayoutName) for orientation in get_args(Orientation)]


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
@pytest.mark.parametrize(("layout", "orientation"), LOOKS)
def test_every_layout_in_every_format(kind: str, layout: LayoutName, orientation: Orientation) -> None:
    """A call that the SVG painter does not know would raise, a painter that is not active would warn."""
    subject = rich_subject(options=TreeViewOptions(layout=layout, orientation=orientation))
    data = picture(subject, kind, title="A title")
    assert len(data) > 5000
    if kind == "svg":
        folded = {13}
        assert set(named_nodes(data)) == set(range(44)) - folded
        written = texts(data)
        for words in (
            "Beam search: step 3 of 5",
            "A title",
            "Paris",
            "你好",
            "E4 BD",
            "<eos>",
            "best found",
            "starred",
        ):
            assert any(words in text for text in written), words
        assert any(text.startswith("+1") for text in written)


@pytest.mark.parametrize("colour", get_args(TreeColour))
def test_every_colour_with_its_legend(colour: TreeColour) -> None:
    options = TreeViewOptions(colour_by=colour, width_by_probability=False)
    svg = picture(rich_subject(options=options), "svg")
    assert set(named_nodes(svg)) == set(range(44)) - {13}
    assert picture(rich_subject(options=options), "pdf")
    colours = {e.attrib["stroke"] for e in elements(svg, "path") if "stroke" in e.attrib}
    assert len(colours) > 2


def test_another_reading_is_what_the_picture_shows() -> None:
    subject = rich_subject()
    count = len(subject.nodes) + 1
    edge = np.full(count, 0.125)
    weights = TreeWeights(
        edge, np.log(edge), np.full(count, 1.0), np.full(count, 0.5), "as the settings would weigh it"
    )
    written = texts(picture(replace(subject, weights=weights), "svg"))
    assert "12.5%" in written
    assert any("as the settings would weigh it" in text for text in written)


def test_without_words_the_nodes_are_still_named() -> None:
    svg = picture(rich_subject(options=TreeViewOptions(labels=False)), "svg", legend=False, stamp=False)
    assert set(named_nodes(svg)) == set(range(44)) - {13}
    assert not any("Paris" in text for text in texts(svg))


def test_folds_focus_and_phrases_are_as_in_the_window_but_a_path_shows_every_token() -> None:
    focused = picture(rich_subject(focus=4, folded=frozenset()), "svg")
    assert set(named_nodes(focused)) == {4, 5, 6, 7, 8, 9, 10}
    path = picture(rich_subject(focus=4), "svg", content="path", node=43)
    assert named_nodes(path) == [0, 1, *range(14, 44)]
    assert texts(path).count("The") == 3
    phrases = texts(picture(rich_subject(), "svg"))
    assert phrases.count("The") < 3
    assert "30" in phrases  # tokens in one box


@pytest.mark.parametrize("kind", ["png"])
@pytest.mark.parametrize(("layout", "orientation"), LOOKS)
def test_nothing_is_cut_at_the_edges(kind: str, layout: LayoutName, orientation: Orientation) -> None:
    """A rim of bare ground runs around every picture, whatever is written behind its last boxes."""
    subject = rich_subject(options=TreeViewOptions(layout=layout, orientation=orientation))
    image = image_of(picture(subject, kind, legend=False, stamp=False, scale=2.0)).convertToFormat(
        image_of(picture(subject, kind)).Format.Format_RGB32
    )
    data = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine() // 4, 4)
    ink = (data[:, : image.width(), :3] < 250).any(axis=2)
    rim = 2 * 24
    for side in (ink[:rim], ink[-rim:], ink[:, :rim], ink[:, -rim:]):
        assert not side.any()
    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    assert image.width() - columns[-1] < 2 * 80, "and little paper is left over"
    assert rows[0] < 2 * 70


def test_the_caption_of_a_search_stands_over_the_tree() -> None:
    with_caption = sheet_of(rich_subject())
    without = sheet_of(rich_subject(overlay=None))
    assert with_caption.size.height() > without.size.height()
