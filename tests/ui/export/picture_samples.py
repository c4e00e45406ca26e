"""Pictures made the short way, and what can be asked of a file."""

from __future__ import annotations

import math
import re
import zlib
from dataclasses import replace
from datetime import date
from io import BytesIO
from typing import Any
from xml.etree import ElementTree

from export_samples import MODEL, session_of
from PySide6.QtCore import QByteArray
from PySide6.QtGui import QFont, QGuiApplication, QImage

from explorer.decoding.stopping import StopEvent
from explorer.export import PictureOptions, SessionDocument
from explorer.text import Vocabulary
from explorer.tree import ROOT, Edge, HowChosen, Node
from ui.export.formats import WRITERS
from ui.export.sheet import Sheet
from ui.export.subject import PictureSubject, subject_of_document
from ui.export.work import Work
from ui.tree.overlay import TreeOverlay

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


TOKENS = (
    *(" The", "capital", " of", " France", " is", " Paris", ".", " 你好", "🙂", "\n", " a", " very", " city", "<b>"),
)
LONG, HALF, END = len(TOKENS), len(TOKENS) + 1, len(TOKENS) + 2


def rich_subject(**view: Any) -> PictureSubject:
    """Everything the canvas can show at once: marks, badges, notes, stars, folds, phrases, stops, forced tokens."""
    vocabulary = Vocabulary([*(token.encode() for token in TOKENS), b" never ends" * 9, b"\xe4\xbd", b"<eos>"], [END])

    def node(
        number: int, parent: int, token: int, depth: int, p: float, rank: int = 1, how: HowChosen = "greedy"
    ) -> Node:
        logprob = math.log(p)
        return Node(number, parent, token, depth, Edge(0.0, logprob, None if how == "beam" else logprob, rank, how))

    nodes = [
        node(1, ROOT, 5, 1, 0.77),
        node(2, 1, 6, 2, 0.68),
        node(3, 2, END, 3, 0.36, how="drawn"),
        node(4, ROOT, 10, 1, 0.065, 2, "manual"),
        node(5, 4, 11, 2, 0.7, how="expanded"),
        node(6, 5, 12, 3, 0.5, how="given"),
        node(7, 4, LONG, 2, 0.2, 2, "beam"),
        node(8, 7, 7, 3, 0.9),
        node(9, 8, 8, 4, 0.8),
        node(10, 9, 13, 5, 1e-9),
        node(11, ROOT, HALF, 1, 0.012, 3),
        node(12, 11, 1, 2, 0.5),
        node(13, 12, 2, 3, 0.5),
        *(node(14 + i, 1 if i == 0 else 13 + i, i % 12, 2 + i, 0.3, 2) for i in range(30)),
    ]
    stops = [(10, StopEvent("context_window", {"limit": 9})), (2, StopEvent("stop_string", {}))]
    model = replace(MODEL, eos_token_ids=(END,))
    overlay = TreeOverlay(
        marks={1: "greedy", 2: "best", 3: "finished", 4: "beam", 5: "fallen", 11: "match", 12: "run"},
        badges={1: "×3", 5: "−1.24"},
        caption="Beam search: step 3 of 5",
    )
    notes = {2: (True, "a note"), 12: (True, ""), 8: (False, "another")}
    document = session_of(nodes, vocabulary=vocabulary, model=model, current=8, stops=stops)
    return subject_of(document, **{"overlay": overlay, "annotations": notes, "folded": frozenset({12}), **view})


def wide_document(leaves: int) -> SessionDocument:
    """One row a leaf under the prompt."""
    edge = Edge(0.0, -4.0, -4.0, 1, "expanded")
    return session_of([Node(i, ROOT, i % 60, 1, replace(edge, rank=i)) for i in range(1, leaves + 1)])
