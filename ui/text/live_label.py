"""A label whose text changes with a moving control, sixty times a second."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRect, QSize, Qt, Slot
from PySide6.QtGui import (
    QAction,
    QColor,
    QFont,
    QFontMetrics,
    QGuiApplication,
    QHelpEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from explorer.i18n import tr
from ui.format import tooltip

_WRAPPED = int(Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignTop)
_LEFT, _RIGHT = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight
_ONE_LINE = int(Qt.TextFlag.TextSingleLine | Qt.AlignmentFlag.AlignVCenter)


class LiveLabel(QWidget):
    """Plain text that costs its own pixels and no more.

    A QLabel asks for a new layout of the whole window with every text, and being transparent has all that lies behind
    it painted again. This one is opaque, and asks for another place only where a text needs more room than any before
    (one line, so that nothing beside it trembles) or another number of lines (``wrap``). Where a window is too low for
    all lines it ends with "…", and says the rest to whoever points at it.
    """

    def __init__(
        self, parent: QWidget | None = None, *, wrap: bool = False, quiet: bool = False, right: bool = False
    ) -> None:
        """``quiet``: in the ink of what matters less; ``right``: one line that ends at the right edge."""
        super().__init__(parent)
        self._text = ""
        self._wrap = wrap
        self._flags = _WRAPPED if wrap else _ONE_LINE | int(_RIGHT if right else _LEFT)
        self._widest = 0
        self._measured: tuple[str, int] | None = None  # what `_last_height` belongs to
        self._last_height = 0
        self._ink: QColor | None = None
        self._role = QPalette.ColorRole.PlaceholderText if quiet else QPalette.ColorRole.WindowText
        self.setAutoFillBackground(True)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        if wrap:
            policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
            policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        copy = QAction(tr("Copy"), self)
        copy.triggered.connect(self._copy)
        self.addAction(copy)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)

    def text(self) -> str:
        return self._text

    def set_text(self, text: str) -> None:
        """Show another text."""
        if text == self._text:
            return
        before = self._needed()
        self._text = text
        self.setAccessibleDescription(text)  # to screen readers a plain widget has no text of its own
        if not self._wrap:
            self._widest = max(self._widest, self.fontMetrics().horizontalAdvance(text))
        if self._needed() != before:
            self.updateGeometry()
        self.update()

    def set_ink(self, colour: QColor | None) -> None:
        """The colour of the text; None for the palette's."""
        self._ink = colour
        self.update()

    def hasHeightForWidth(self) -> bool:
        return self._wrap

    def heightForWidth(self, width: int) -> int:
        return self._height(width) if self._wrap else -1

    def sizeHint(self) -> QSize:
        margins = self.contentsMargins()
        wide = margins.left() + margins.right()
        if self._wrap:
            return QSize(wide, self._height(self.width()))
        return QSize(self._widest + wide, self.fontMetrics().height() + margins.top() + margins.bottom())

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(self.palette().color(self._role) if self._ink is None else self._ink)
        painter.drawText(self.contentsRect(), self._flags, self.shown_text())
        painter.end()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip and self.shown_text() != self._text:
            more = self.toolTip().removeprefix("<qt>")
            whole = tooltip(self._text)
            QToolTip.showText(event.globalPos(), whole.removesuffix("</qt>") + "<br>" + more if more else whole, self)
            return True
        return super().event(event)

    def shown_text(self) -> str:
        """The text, or as much of it as there is room for."""
        room = self.contentsRect()
        if not self._wrap or self.height() >= self._height(self.width()):
            return self._text
        lines = max(1, room.height() // self.fontMetrics().lineSpacing())
        return _cut(self._text, self.font(), room.width(), lines)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.ContentsRectChange):
            self._measured = None
            self._widest = 0 if self._wrap else self.fontMetrics().horizontalAdvance(self._text)
            self.updateGeometry()

    def _needed(self) -> int:
        """Of its extents the one that a text decides."""
        return self._height(self.width()) if self._wrap else self._widest

    def _height(self, width: int) -> int:
        if (self._text, width) != self._measured:
            self._measured, self._last_height = (self._text, width), self._measure(width)
        return self._last_height

    def _measure(self, width: int) -> int:
        margins = self.contentsMargins()
        room = QRect(0, 0, max(1, width - margins.left() - margins.right()), 1 << 16)
        metrics: QFontMetrics = self.fontMetrics()
        height = metrics.boundingRect(room, _WRAPPED, self._text).height() if self._text else metrics.height()
        return height + margins.top() + margins.bottom()

    @Slot()
    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._text)


def _cut(text: str, font: QFont, width: int, lines: int) -> str:
    """As much of ``text`` as so many ``lines`` hold, the last one ending with "…"."""
    layout = QTextLayout(text.replace("\n", "\u2028"), font)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WordWrap)
    layout.setTextOption(option)
    layout.beginLayout()
    start = 0
    for _ in range(lines):
        line = layout.createLine()
        if not line.isValid():
            break
        line.setLineWidth(width)
        start = line.textStart()
    layout.endLayout()
    before = text.encode("utf-16-le")[: 2 * start].decode("utf-16-le")  # Qt counts in halves of an emoji
    rest = text[len(before) :].replace("\n", " ")
    return before + QFontMetrics(font).elidedText(rest, Qt.TextElideMode.ElideRight, width)
