"""Pictures made the short way, and what can be asked of a file."""

from __future__ import annotations

import re
import zlib
from dataclasses import replace
from datetime import date
from io import BytesIO
from typing import Any
from xml.etree import ElementTree

from export_samples import session_of
from PySide6.QtCore import QByteArray
from PySide6.QtGui import QFont, QGuiApplication, QImage

from explorer.export import PictureOptions, SessionDocument
from explorer.tree import ROOT, Edge, Node
from ui.export.formats import WRITERS
from ui.export.sheet import Sheet
from ui.export.subject import PictureSubject, subject_of_document
from ui.export.work import Work

DAY = date(2026, 11, 29)
SVG = "{http://www.w3.org/2000/svg}"


def subject_of(document: SessionDocument, **view: Any) -> PictureSubject:
    """What is painted of a session; ``view`` changes how it is looked at."""
    return replace(subject_of_document(document, PictureOptions()), **view)


def font() -> QFont:
    return QFont(QGuiApplication.font())


def sheet_of(subject: PictureSubject, **options: Any) -> Sheet:
    return Sheet(subject, PictureOptions(**options), font(), DAY)


def picture(subject: PictureSubject, kind: str, work: Work | None = None, **options: Any) -> bytes:
    """The file of a picture."""
    file = BytesIO()
    WRITERS[kind](sheet_of(subject, **options), file, work or Work())
    return file.getvalue()


def image_of(data: bytes) -> QImage:
    image = QImage()
    assert image.loadFromData(QByteArray(data))
    return image


def elements(svg: bytes, name: str) -> list[ElementTree.Element]:
    """Every element of a name; parsing fails for what is no XML."""
    return list(ElementTree.fromstring(svg).iter(SVG + name))


def texts(svg: bytes) -> list[str]:
    """What is written in a drawing."""
    return ["".join(element.itertext()) for element in elements(svg, "text")]


def named_nodes(svg: bytes) -> list[int]:
    """The nodes that a drawing names."""
    return [int(e.attrib["data-node"]) for e in elements(svg, "rect") if "data-node" in e.attrib]


def pdf_streams(pdf: bytes) -> list[bytes]:
    """What its streams hold."""
    found = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)
    streams = []
    for data in found:
        try:
            streams.append(zlib.decompress(data))
        except zlib.error:
            streams.append(data)
    return streams


def pdf_letters(pdf: bytes) -> set[str]:
    """The characters that can be selected in it and copied: what its fonts' maps to Unicode name."""
    letters = set()
    for stream in pdf_streams(pdf):
        if b"beginbfchar" in stream or b"beginbfrange" in stream:
            for code in re.findall(rb"<([0-9A-Fa-f]{4,8})>", stream):
                letters.add(bytes.fromhex(code.decode()).decode("utf-16-be", "ignore"))
    return letters


def pdf_pages(pdf: bytes) -> list[tuple[float, float]]:
    """The sizes of its pages in points."""
    boxes = re.findall(rb"/MediaBox\s*\[([^\]]*)\]", pdf)
    return [(float(box.split()[2]), float(box.split()[3])) for box in boxes]


def wide_document(leaves: int) -> SessionDocument:
    """One row a leaf under the prompt."""
    edge = Edge(0.0, -4.0, -4.0, 1, "expanded")
    return session_of([Node(i, ROOT, i % 60, 1, replace(edge, rank=i)) for i in range(1, leaves + 1)])
