"""A picture as a file: PNG, SVG, PDF, and what each of them can hold."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from html import escape
from types import MappingProxyType
from typing import BinaryIO

from PySide6.QtCore import QBuffer, QIODevice, QMarginsF, QSize, QSizeF, Qt
from PySide6.QtGui import QImage, QPageSize, QPdfWriter, QTransform

from explorer import __version__
from explorer.export.document import ExportError
from explorer.i18n import N_, tr
from explorer.messages import UserMessage
from explorer.tree import ROOT
from ui.export.painters import FilePainter, PdfPainter
from ui.export.sheet import Sheet
from ui.export.svg_painter import SvgPainter
from ui.export.svg_words import number, xml_text
from ui.export.work import Work
from ui.format import count, percent
from ui.tree.words import path_label

MOST_SIDE = 32_767
"""Pixels a side of a PNG file; Qt and many others address no more."""
MOST_PIXELS = 64 * 2**20
"""Pixels of a PNG file in all: 256 MiB, the most that Qt's own readers open."""
MOST_POINTS = 14_400.0
"""The side of a PDF page in points (1/72 inch): what the format's reference allows."""
MOST_NODES = 50_000
"""Nodes in one drawing: tens of megabytes, which viewers take half a minute to open."""

_POINTS_PER_PIXEL = 72 / 96
_DPI = 1200
_PNG_QUALITY = 60  # lossless all the same: Qt's name for how hard to compress, here half as long and a tenth larger
_PROGRAM = f"Token Tree Explorer {__version__}"


def paint_image(sheet: Sheet, work: Work, scale: float) -> QImage:
    """The picture in pixels. Raises `ExportError` where it has too many, `Cancelled`."""
    check_pixels(sheet, scale)
    image = QImage(sheet.pixels(scale), QImage.Format.Format_ARGB32_Premultiplied)
    if image.isNull():
        raise _no_memory(sheet, scale)
    image.fill(Qt.GlobalColor.transparent)
    painter = FilePainter(image, work)
    try:
        # An overview has a ground of its own, so what is to have none is drawn with lines.
        ratio = None if sheet.options.transparent and not sheet.coarse else scale
        sheet.paint(painter, work, QTransform.fromScale(scale, scale), ratio)
    finally:
        painter.end()
    return image


def write_png(sheet: Sheet, file: BinaryIO, work: Work) -> None:
    """Raises `ExportError` where it has too many pixels, `Cancelled`."""
    image = paint_image(sheet, work, sheet.options.scale)
    dots = round(sheet.options.scale * 96 / 0.0254)
    image.setDotsPerMeterX(dots)
    image.setDotsPerMeterY(dots)
    image.setText("Software", _PROGRAM)
    if sheet.title:
        image.setText("Title", sheet.title)
    if sheet.stamp:
        image.setText("Description", "\n".join(sheet.stamp))
    work.write()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    if not image.save(buffer, "PNG", _PNG_QUALITY):  # type: ignore[call-overload]
        raise _no_memory(sheet, sheet.options.scale)
    file.write(buffer.data().data())


def write_svg(sheet: Sheet, file: BinaryIO, work: Work) -> None:
    """Every text is text; every node has an element that names it and says its values. Raises `Cancelled`."""
    check_nodes(sheet)
    parts: list[str] = []
    width, height = sheet.size.width(), sheet.size.height()
    scale = sheet.options.scale
    parts.append('<?xml version="1.0" encoding="UTF-8"?>\n')
    parts.append(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{number(width * scale)}" height="{number(height * scale)}"'
        f' viewBox="0 0 {number(width)} {number(height)}" role="img">\n'
    )
    parts.append(f"<title>{xml_text(sheet.title or tr('Tree of continuations'))}</title>\n")
    parts.append(f"<desc>{xml_text('; '.join([*sheet.stamp, _PROGRAM]))}</desc>\n")
    painter = SvgPainter(parts.append, sheet.font, work.step)
    sheet.paint(painter, work)
    painter.close_group()
    parts.append("\n")
    parts.extend(_named_nodes(sheet))
    parts.append("</svg>\n")
    work.write()
    file.write("".join(parts).encode("utf-8"))


def _named_nodes(sheet: Sheet) -> list[str]:
    """A rectangle without ink over every node: a browser shows what it says, a program finds the node by it."""
    frame, place = sheet.tree.frame, sheet.tree_place()
    shift = f"translate({number(place.x())} {number(place.y())})"
    lines = [f'<g id="nodes" fill="none" pointer-events="all" transform="{shift}">\n']
    mirror, step, stop_of = frame.mirror, tr("model probability {probability}"), frame.stop_of
    parents, tokens = mirror.parent.tolist(), mirror.token.tolist()
    probabilities, logprobs = mirror.model_prob.tolist(), mirror.path_logprob.tolist()
    for node_id, left, top, width, height in sheet.tree.nodes():
        values, title = f'data-node="{node_id}"', xml_text(frame.prompt_label)
        if node_id != ROOT:
            token = tokens[node_id]
            said = step.format(probability=percent(min(1.0, probabilities[node_id])))
            path = path_label(logprobs[node_id], stop_of(node_id) == "eos")
            values += f' data-parent="{parents[node_id]}" data-token="{token}"'
            title = f"{xml_text(frame.label_of(token))}\n{escape(said)}\n{escape(path)}"
        area = f'x="{left:.2f}" y="{top:.2f}" width="{number(width)}" height="{number(height)}"'
        lines.append(f'<rect id="node{node_id}" {values} {area}><title>{title}</title></rect>\n')
    lines.append("</g>\n")
    return lines


def write_pdf(sheet: Sheet, file: BinaryIO, work: Work) -> None:
    """One page, its text as text. A page has an end: what is larger is drawn smaller, and can be zoomed into."""
    check_nodes(sheet)
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setResolution(_DPI)
    writer.setCreator(_PROGRAM)
    writer.setTitle(sheet.title or tr("Tree of continuations"))
    scale = sheet.options.scale * pdf_shrink(sheet)
    points = QSizeF(
        math.ceil(sheet.size.width() * scale * _POINTS_PER_PIXEL),
        math.ceil(sheet.size.height() * scale * _POINTS_PER_PIXEL),
    )
    page = QPageSize(points, QPageSize.Unit.Point, "", QPageSize.SizeMatchPolicy.ExactMatch)
    writer.setPageSize(page)
    writer.setPageMargins(QMarginsF(0, 0, 0, 0))
    painter = PdfPainter(writer, work)
    try:
        dots = scale * _DPI / 96
        sheet.paint(painter, work, QTransform.fromScale(dots, dots))
        work.write()
    finally:
        painter.end()
    file.write(buffer.data().data())


Writer = Callable[[Sheet, BinaryIO, Work], None]
WRITERS: Mapping[str, Writer] = MappingProxyType({"png": write_png, "svg": write_svg, "pdf": write_pdf})


def pdf_shrink(sheet: Sheet) -> float:
    """How much smaller than wished a PDF page is, 1 where it fits."""
    longest = max(sheet.size.width(), sheet.size.height()) * sheet.options.scale * _POINTS_PER_PIXEL
    return min(1.0, (MOST_POINTS - 1) / longest)


def largest_scale(sheet: Sheet) -> float:
    """The largest scale, to two decimals, at which the picture can be a PNG file."""
    width, height = sheet.size.width(), sheet.size.height()
    hundredths = math.floor(100 * min(MOST_SIDE / max(width, height), math.sqrt(MOST_PIXELS / (width * height))))
    while hundredths > 1 and not _fits(sheet.pixels(hundredths / 100)):  # both sides are rounded up
        hundredths -= 1
    return hundredths / 100


def _fits(size: QSize) -> bool:
    return max(size.width(), size.height()) <= MOST_SIDE and size.width() * size.height() <= MOST_PIXELS


def check_pixels(sheet: Sheet, scale: float) -> None:
    """Raises `ExportError` where a picture of this scale is more than a PNG file can hold."""
    if not _fits(sheet.pixels(scale)):
        raise _too_large(sheet, scale)


def check_nodes(sheet: Sheet) -> None:
    """Raises `ExportError` where there is more in the picture than a vector file should hold."""
    nodes = sheet.tree.node_count
    if nodes > MOST_NODES:
        raise ExportError(
            UserMessage(
                "picture.too_many",
                N_("The picture would hold {nodes} nodes."),
                N_("A file with more than {most} of them is more than viewers open. Nothing was written."),
                N_("Choose the visible part or a path, or fold branches first; or export the data."),
                {"nodes": count(nodes), "most": count(MOST_NODES)},
            )
        )


def _too_large(sheet: Sheet, scale: float) -> ExportError:
    size = sheet.pixels(scale)
    return ExportError(
        UserMessage(
            "picture.too_large",
            N_("The picture would be {width} × {height} pixels."),
            N_("A PNG file ends at {side} pixels a side and {pixels} million in all. Nothing was written."),
            N_("Choose SVG or PDF, which have no pixels; a scale of at most {scale}; the visible part; or a path."),
            {
                "width": count(size.width()),
                "height": count(size.height()),
                "side": count(MOST_SIDE),
                "pixels": MOST_PIXELS // 10**6,
                "scale": f"{largest_scale(sheet):g}",
            },
        )
    )


def _no_memory(sheet: Sheet, scale: float) -> ExportError:
    size = sheet.pixels(scale)
    return ExportError(
        UserMessage(
            "picture.memory",
            N_("There is not enough memory for a picture of {width} × {height} pixels."),
            N_("Nothing was written."),
            N_("Choose a smaller scale, or SVG or PDF."),
            {"width": count(size.width()), "height": count(size.height())},
        )
    )
