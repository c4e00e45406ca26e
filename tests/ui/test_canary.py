"""PySide6 itself: a release that loses references to None ends the program after some thousand calls."""

from __future__ import annotations

import sys

from PySide6.QtGui import QImage, QPainter, QPen


def test_void_calls_keep_their_references_to_none() -> None:
    """PySide6 6.12.0 on Python 3.11 drops one with every call that returns nothing."""
    image = QImage(8, 8, QImage.Format.Format_ARGB32)
    painter = QPainter(image)
    pen = QPen()
    painter.setPen(pen)
    before = sys.getrefcount(None)
    for _ in range(500):
        painter.setPen(pen)
    after = sys.getrefcount(None)
    painter.end()
    assert after > before - 100
