"""Pictures as files: exact sizes, every node, awkward tokens, limits with reasons, nothing half-written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export_samples import NASTY, chain_document, edge, nasty_document, session_of
from picture_samples import (
    SVG,
    elements,
    font,
    image_of,
    named_nodes,
    pdf_letters,
    pdf_pages,
    picture,
    sheet_of,
    subject_of,
    texts,
    wide_document,
)
from PySide6.QtCore import QByteArray, QPointF, QRectF, QSizeF
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

from explorer.export import ExportError, PictureOptions, export_session
from explorer.i18n import set_language
from explorer.progress import Cancelled, CancelToken, Progress
from explorer.tree import ROOT, Node
from ui.export import formats, work
from ui.export.formats import MOST_SIDE, largest_scale
from ui.export.sheet import Sheet, wrapped
from ui.export.themes import PUBLICATION
from ui.export.work import Work
from ui.theme import DARK, LIGHT
from ui.tree.camera import Camera

pytestmark = pytest.mark.usefixtures("qapp")
every_kind = pytest.mark.parametrize("kind", ["png", "svg", "pdf"])


def pixels(image: QImage) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """uint8[height, width, 4] as red, green, blue, alpha."""
    plain = image.convertToFormat(QImage.Format.Format_RGBA8888)
    data = np.frombuffer(plain.constBits(), np.uint8).reshape(plain.height(), plain.bytesPerLine() // 4, 4)
    return data[:, : plain.width()].copy()


# --- sizes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [0.5, 1.0, 1.75])
def test_a_png_has_exactly_the_pixels_that_were_said(scale: float) -> None:
    subject = subject_of(nasty_document())
    sheet = sheet_of(subject, scale=scale)
    image = image_of(picture(subject, "png", scale=scale))
    assert image.size() == sheet.pixels(scale)
    assert image.width() == -(-sheet.size.width() * scale // 1)
    assert image.dotsPerMeterX() == round(scale * 96 / 0.0254)


def test_a_svg_says_its_size_and_its_own_coordinates() -> None:
    subject = subject_of(nasty_document())
    size = sheet_of(subject).size
    (root,) = elements(picture(subject, "svg", scale=2.0), "svg")
    assert (float(root.attrib["width"]), float(root.attrib["height"])) == (2 * size.width(), 2 * size.height())
    assert root.attrib["viewBox"] == f"0 0 {size.width():g} {size.height():g}"


def test_a_pdf_is_one_page_of_that_size() -> None:
    subject = subject_of(nasty_document())
    size = sheet_of(subject).size
    ((width, height),) = pdf_pages(picture(subject, "pdf"))
    assert width == pytest.approx(size.width() * 0.75, abs=1)
    assert height == pytest.approx(size.height() * 0.75, abs=1)


def test_a_title_widens_nothing_and_breaks_into_lines() -> None:
    subject = subject_of(session_of([Node(1, ROOT, 40, 1, edge())]))
    plain, titled = sheet_of(subject), sheet_of(subject, title="One two three " * 20 + "一二三" * 40)
    assert titled.size.width() == plain.size.width()
    assert titled.size.height() > plain.size.height() + 100


def test_lines_are_no_wider_than_asked_and_hold_every_word() -> None:
    text = "Settings 🙂 你好你好你好 " * 9 + "x" * 200
    lines = wrapped([text], font(), 200)
    assert len(lines) > 5
    assert "".join("".join(lines).split()) == "".join(text.split())


# --- contents ---------------------------------------------------------------------------------------------------------


def test_a_svg_names_every_node_and_writes_every_token() -> None:
    document = nasty_document()
    svg = picture(subject_of(document), "svg")
    shown = [row.node for row in document.nodes if not row.hidden]
    assert sorted(named_nodes(svg)) == [ROOT, *shown]
    written = texts(svg)
    for label in (
        "\\x00",
        "\\x1b",
        "\\x7f",
        "你好",
        "🙂",
        "<b>bold</b>",
        "&",
        "&amp;&#0;&lt;",
        "]]>",
        "E4 BD",
        "ED A0 80",
    ):
        assert any(label in text for text in written), label
    assert written.count("<eos>") == len(NASTY) - 2


def test_a_node_says_its_token_and_its_probabilities_where_it_is() -> None:
    svg = picture(subject_of(session_of([Node(1, ROOT, NASTY.index(b"<b>bold</b>"), 1, edge(1, -0.5))])), "svg")
    node = next(e for e in elements(svg, "rect") if e.attrib.get("data-node") == "1")
    assert (node.attrib["data-parent"], node.attrib["data-token"]) == ("0", str(NASTY.index(b"<b>bold</b>")))
    assert (node[0].text or "").split("\n") == ["<b>bold</b>", "model probability 60.7%", "prefix 60.7%"]


def test_control_characters_in_titles_and_prompts_are_visible() -> None:
    subject = subject_of(nasty_document())
    svg = picture(subject, "svg", title="bell \x07 and \x1b[31m and \ud83d\u202e")
    assert "bell \\x07 and \\x1b[31m and \\ud83d\\u202e" in texts(svg)
    assert any("\\ud83d" in text for text in texts(svg))  # of the prompt
    for kind in ("png", "pdf"):
        assert picture(subject, kind, title="\x00\x07")


def test_the_text_of_a_pdf_can_be_selected() -> None:
    pdf = picture(subject_of(nasty_document()), "pdf", title="Ωmega 你好")
    assert set("你好Ω<&>%0123456789") <= pdf_letters(pdf)


def test_off_screen_nodes_are_in_the_picture() -> None:
    """The lowest of three hundred rows has ink where its box is."""
    sheet = sheet_of(subject_of(wide_document(300)), legend=False, stamp=False)
    image = image_of(picture(subject_of(wide_document(300)), "png", legend=False, stamp=False))
    assert image.height() > 300 * 30
    bottom = pixels(image)[-80:]
    assert (bottom[..., :3] < 200).any()
    assert sheet.tree.frame.with_text


@every_kind
def test_one_path_alone(kind: str) -> None:
    document = nasty_document()
    second_end = len(NASTY) + 1
    whole, path = subject_of(document), picture(subject_of(document), kind, content="path", node=second_end)
    assert len(path) < len(picture(whole, kind))
    if kind == "svg":
        assert named_nodes(path) == [ROOT, 2, second_end]
        assert "end" in texts(path)


def test_the_path_of_the_current_node_unless_another_is_named() -> None:
    svg = picture(subject_of(nasty_document()), "svg", content="path")
    assert named_nodes(svg) == [ROOT, 1, len(NASTY)]
    assert named_nodes(picture(subject_of(nasty_document()), "svg", content="path", node=ROOT)) == [ROOT]


@pytest.mark.parametrize("node", [10_000, len(NASTY) - 1, -1])
def test_a_path_to_a_node_that_is_not_shown_is_refused(node: int) -> None:
    with pytest.raises(ExportError) as caught:
        sheet_of(subject_of(nasty_document()), content="path", node=node)
    assert caught.value.message.code == "picture.no_node"


@every_kind
def test_the_visible_part_is_what_the_window_shows(kind: str) -> None:
    sheet = sheet_of(subject_of(wide_document(100)))
    camera = Camera(1.0, QPointF(-20, -1000), QSizeF(400, 300), sheet.tree.scene.geometry.extent())
    subject = subject_of(wide_document(100), camera=camera)
    data = picture(subject, kind, content="view", legend=False, stamp=False)
    if kind == "svg":
        assert 5 < len(named_nodes(data)) < 15
        assert len(elements(data, "clipPath")) == 1
    elif kind == "png":
        assert (image_of(data).width(), image_of(data).height()) == (448, 348)


@every_kind
def test_the_visible_part_of_a_tree_seen_from_afar(kind: str) -> None:
    """Thousands of nodes in sight are an overview, as on the canvas: pixels in a PNG, lines in a drawing."""
    extent = sheet_of(subject_of(wide_document(2000))).tree.scene.geometry.extent()
    camera = Camera(1.0, QPointF(), QSizeF(400, 300), extent).fitted()
    data = picture(subject_of(wide_document(2000), camera=camera), kind, content="view")
    if kind == "svg":
        assert len(named_nodes(data)) == 2001
        assert len(elements(data, "image")) == 0
        assert len(elements(data, "rect")) > 2 * 2000


def test_an_overview_may_be_transparent_too() -> None:
    extent = sheet_of(subject_of(wide_document(2000))).tree.scene.geometry.extent()
    camera = Camera(1.0, QPointF(), QSizeF(400, 300), extent).fitted()
    image = image_of(picture(subject_of(wide_document(2000), camera=camera), "png", content="view", transparent=True))
    assert image.pixelColor(40, 150).alpha() == 0
    assert pixels(image)[..., 3].max() == 255


def test_without_a_window_the_visible_part_is_the_whole() -> None:
    assert len(named_nodes(picture(subject_of(nasty_document()), "svg", content="view"))) == len(NASTY) * 2 - 3


def test_a_prompt_alone_is_a_picture_too() -> None:
    assert named_nodes(picture(subject_of(session_of([])), "svg")) == [ROOT]


@every_kind
def test_legend_stamp_and_title_can_be_left_out(kind: str) -> None:
    subject = subject_of(nasty_document())
    full = sheet_of(subject, title="A title")
    bare = sheet_of(subject, legend=False, stamp=False)
    assert full.size.height() > bare.size.height() + 60
    if kind == "svg":
        written = texts(picture(subject, kind, title="A title"))
        assert "A title" in written
        assert "model probability" in written
        stamp = " ".join(written)
        for fact in ('toy <model> & "co" float32 cpu', "Temperature 0.7, Top-p 0.9", "Seed: 7", "Token Tree Explorer"):
            assert fact in stamp
        left = texts(picture(subject, kind, legend=False, stamp=False))
        assert not any("Seed" in text or "model probability" in text for text in left)


def test_figures_share_one_place_of_the_drawing() -> None:
    """A group for each of ten thousand figures makes a file larger, and its reader slower."""
    svg = picture(subject_of(wide_document(50)), "svg", legend=False, stamp=False)
    groups = [group for group in elements(svg, "g") if "transform" in group.attrib]
    figures = [group for group in groups if any("%" in (text.text or "") for text in group.iter(f"{SVG}text"))]
    assert len(figures) == 1
    assert len(list(figures[0].iter(f"{SVG}text"))) >= 50


def test_pictures_speak_the_language_of_the_program() -> None:
    set_language("zh_CN")
    assert any("模型" in text for text in texts(picture(subject_of(nasty_document()), "svg")))


# --- looks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("theme", "colours"), [("publication", PUBLICATION), ("light", LIGHT), ("dark", DARK)])
def test_a_picture_has_the_colours_of_its_own_theme(theme: Any, colours: Any) -> None:
    image = image_of(picture(subject_of(nasty_document()), "png", theme=theme))
    assert image.pixelColor(2, 2).name() == colours.surface
    (ground, *_) = elements(picture(subject_of(nasty_document()), "svg", theme=theme), "rect")
    assert ground.attrib["fill"] == colours.surface


def test_a_transparent_ground_is_left_out_in_every_format() -> None:
    subject = subject_of(nasty_document())
    image = image_of(picture(subject, "png", transparent=True))
    assert image.hasAlphaChannel()
    assert image.pixelColor(2, 2).alpha() == 0
    assert pixels(image)[..., 3].max() == 255
    (first, *_) = elements(picture(subject, "svg", transparent=True), "rect")
    assert float(first.attrib["width"]) < sheet_of(subject).size.width()


def test_a_drawing_looks_like_the_pixels() -> None:
    """The same tree as PNG and as SVG drawn by Qt: nearly the same picture, text and all."""
    subject = subject_of(nasty_document())
    image = image_of(picture(subject, "png"))
    other = QImage(image.size(), QImage.Format.Format_RGB32)
    other.fill(QColor("white"))
    painter = QPainter(other)
    QSvgRenderer(QByteArray(picture(subject, "svg"))).render(painter, QRectF(other.rect()))
    painter.end()
    one, two = pixels(image)[..., :3].astype(int), pixels(other)[..., :3].astype(int)
    apart = np.abs(one - two).mean()
    assert apart < 3.0
    assert apart < 0.3 * np.abs(one - 255).mean()


@pytest.mark.parametrize("kind", ["png", "pdf"])
def test_emoji_keep_their_colours(kind: str) -> None:
    """Where the machine has a face for them; in a PDF they are pictures of eight times the size on the screen."""
    subject = subject_of(session_of([Node(1, ROOT, NASTY.index("🙂".encode()), 1, edge())]))
    yellow = image_of(picture(subject, "png", scale=2.0, legend=False, stamp=False))
    red, green, blue = (pixels(yellow)[..., i].astype(int) for i in range(3))
    if not ((red > 200) & (green > 150) & (blue < 120)).any():
        pytest.skip("no font with coloured emoji")
    if kind == "pdf":
        pdf = picture(subject, "pdf")
        sizes = [int(size) for size in re.findall(rb"/Subtype /Image\s*/Width (\d+)", pdf)]
        assert max(sizes) > 64


# --- limits -----------------------------------------------------------------------------------------------------------


def test_too_many_pixels_are_refused_with_a_scale_that_fits() -> None:
    subject = subject_of(wide_document(1000))
    with pytest.raises(ExportError) as caught:
        picture(subject, "png")
    message = caught.value.message
    assert message.code == "picture.too_large"
    assert "SVG or PDF" in message.text()
    scale = float(message.params["scale"])
    assert f"{scale:g}" in message.text()
    assert 0.5 < scale < 1
    assert sheet_of(subject).pixels(scale).height() <= MOST_SIDE


def test_the_largest_scale_is_the_largest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "MOST_PIXELS", 2_000_000)
    sheet = sheet_of(subject_of(nasty_document()))
    scale = largest_scale(sheet)
    formats.check_pixels(sheet, scale)
    with pytest.raises(ExportError):
        formats.check_pixels(sheet, scale + 0.02)


def test_a_page_has_an_end_and_larger_trees_are_drawn_smaller() -> None:
    ((width, height),) = pdf_pages(picture(subject_of(wide_document(1000)), "pdf"))
    assert height <= 14_400
    assert height > 14_300
    assert width < 1000


@pytest.mark.parametrize("kind", ["svg", "pdf"])
def test_more_nodes_than_viewers_open_are_refused(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "MOST_NODES", 100)
    with pytest.raises(ExportError) as caught:
        picture(subject_of(nasty_document()), kind)
    assert caught.value.message.code == "picture.too_many"


@pytest.mark.parametrize("kind", ["svg", "pdf"])
def test_a_chain_of_five_thousand(kind: str) -> None:
    data = picture(subject_of(chain_document(5000)), kind)
    if kind == "svg":
        assert named_nodes(data) == list(range(5001))
    else:
        ((width, _),) = pdf_pages(data)
        assert width <= 14_400


# --- on the way -------------------------------------------------------------------------------------------------------


@every_kind
def test_a_cancelled_picture_ends_within_its_painting(kind: str) -> None:
    token, seen = CancelToken(), []

    def progress(report: Progress) -> None:
        seen.append(report)
        if report.done > 300:
            token.cancel()

    with pytest.raises(Cancelled):
        picture(subject_of(wide_document(800)), kind, Work(token, progress))
    assert seen[-1].total is not None
    assert seen[-1].done < seen[-1].total


@every_kind
def test_progress_rises_to_its_total(kind: str) -> None:
    reports: list[Progress] = []
    picture(subject_of(wide_document(300)), kind, Work(None, reports.append))
    painting = [report.done for report in reports if report.total]
    assert painting == sorted(painting)
    assert len(painting) > 5
    assert reports[-1].total is None


@every_kind
def test_nothing_is_left_of_a_picture_that_was_not_finished(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"tree.{kind}"
    path.write_text("old")
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        export_session(nasty_document(), kind, path, PictureOptions(), token)
    monkeypatch.setattr(Sheet, "paint", _fail)
    with pytest.raises(ZeroDivisionError):
        export_session(nasty_document(), kind, path, PictureOptions())
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def _fail(*_: object, **__: object) -> None:
    raise ZeroDivisionError


@every_kind
def test_exporters_are_found_by_their_entry_points(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"tree.{kind}"
    export_session(nasty_document(), kind, path)
    starts = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    assert path.read_bytes().startswith(starts[kind])


def test_options_for_a_format_that_paints_nothing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="json is no picture"):
        export_session(nasty_document(), "json", tmp_path / "x.json", PictureOptions())
    assert list(tmp_path.iterdir()) == []


def test_a_long_painting_gives_way_as_often_however_fast_it_paints(monkeypatch: pytest.MonkeyPatch) -> None:
    """The window's thread waits for the time between two rests, not for a number of texts."""
    now, rests = [0.0], []
    monkeypatch.setattr(work.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(work.time, "sleep", lambda seconds: rests.append((now[0], seconds)))
    painting = Work()
    for _ in range(1000):
        now[0] += 0.0001
        painting.step()
    times = [when for when, _ in rests]
    assert {seconds for _, seconds in rests} == {0}
    assert 0.001 < max(np.diff(times)) < 0.003
