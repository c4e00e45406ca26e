"""A small form over the tree: opened by a key, started with Enter, closed with Escape; what is below stays in reach."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QFormLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from explorer.i18n import tr
from ui.growth.card import Card
from ui.panels.common import GRID, plain_label, push_button, tool_button

_WIDTH = 76 * GRID
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class Popover(Card):
    """Lies near what it is about, over all of the window: the tree may be small. Subclasses fill ``form``."""

    start_requested = Signal()
    """Enter, or the button, while nothing stands against it."""
    closed = Signal()

    def __init__(self, over: QWidget, title: str, start_text: str, start_help: str) -> None:
        """``over`` is the widget it belongs to, in its window already."""
        super().__init__(over.window())
        self.setObjectName("popover")
        self.setAccessibleName(title)
        self.setFixedWidth(_WIDTH)
        self._over = over
        self._ground = over.window()
        self._anchor = QRect()
        self._where = plain_label(wrap=False, quiet=True)
        self._hint = plain_label(quiet=True)
        self._refusal = plain_label()
        self._refusal.setObjectName("errorText")
        self._refusal.hide()
        self.form = QFormLayout()
        self.form.setHorizontalSpacing(2 * GRID)
        self.form.setVerticalSpacing(GRID)
        self.form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self._start = push_button(start_text, start_help, self._ask_start)
        self._start.setDefault(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(3 * GRID, 2 * GRID, 3 * GRID, 3 * GRID)
        layout.setSpacing(2 * GRID)
        layout.addLayout(self._head(title))
        layout.addLayout(self.form)
        layout.addWidget(self._hint)
        layout.addWidget(self._refusal)
        foot = QHBoxLayout()
        foot.addWidget(self._where, 1)
        foot.addWidget(self._start)
        layout.addLayout(foot)
        self.hide()

    def _head(self, title: str) -> QHBoxLayout:
        name = plain_label(title, wrap=False)
        font = name.font()
        font.setBold(True)
        name.setFont(font)
        head = QHBoxLayout()
        head.addWidget(name, 1)
        head.addWidget(tool_button("✕", tr("Close this form (Esc)."), self.close_form))
        return head

    # --- for the controller ------------------------------------------------------------------------------------------

    def open_at(self, anchor: QRect) -> None:
        """Show it near ``anchor``, a place on the widget it belongs to, ready to type."""
        self._anchor = QRect(self._over.mapTo(self._ground, anchor.topLeft()), anchor.size())
        self.refresh()
        self.show()
        self.raise_()
        self._place()
        self.focus_first()

    def close_form(self) -> None:
        """Hide it, and say so."""
        if not self.isHidden():
            self.hide()
            self.closed.emit()

    def set_where(self, text: str, help_text: str) -> None:
        """From where it will start, in few words."""
        self._where.setText(text)
        self._where.setToolTip(help_text)

    def set_refusal(self, text: str) -> None:
        """Why it cannot start here; empty where it can."""
        self._refusal.setText(text)
        self._refusal.setVisible(bool(text))
        self._start.setEnabled(not text)
        self._fit()

    def set_hint(self, text: str) -> None:
        """What starting will do, with the values as they are."""
        self._hint.setText(text)
        self._hint.setVisible(bool(text))
        self._fit()

    @property
    def hint(self) -> QLabel:
        return self._hint

    @property
    def refusal(self) -> str:
        return self._refusal.text()

    # --- for subclasses ----------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Say anew what depends on the values."""

    def focus_first(self) -> None:
        """Put the cursor into the first field."""

    # --- inside ------------------------------------------------------------------------------------------------------

    def _ask_start(self) -> None:
        if self._start.isEnabled():
            self.start_requested.emit()

    def _fit(self) -> None:
        if not self.isHidden():
            self._place()

    def _place(self) -> None:
        """Below the anchor, or above it where there is no room, inside the window at any rate."""
        layout = self.layout()
        assert layout is not None
        layout.activate()
        self.resize(
            _WIDTH, layout.totalHeightForWidth(_WIDTH) if layout.hasHeightForWidth() else self.sizeHint().height()
        )
        area = self._ground.rect().adjusted(2 * GRID, 2 * GRID, -2 * GRID, -2 * GRID)
        top = self._anchor.bottom() + 2 * GRID
        if top + self.height() > area.bottom():
            top = self._anchor.top() - 2 * GRID - self.height()
        left = min(self._anchor.left(), area.right() - self.width())
        top = min(max(top, area.top()), max(area.top(), area.bottom() - self.height()))
        self.move(QPoint(max(left, area.left()), top))

    # --- events ------------------------------------------------------------------------------------------------------

    def event(self, event: QEvent) -> bool:
        # Before the window's actions with these keys.
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self._own_key(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.accept()  # what no field took is not for the tree below
        if event.key() == Qt.Key.Key_Escape:
            self.close_form()
        elif event.key() in _ENTER:
            self._ask_start()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._ground.installEventFilter(self)  # only now: Python is asked about every event of the window

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._ground.removeEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self._ground:
            self._fit()
        return super().eventFilter(watched, event)

    @staticmethod
    def _own_key(event: QKeyEvent) -> bool:
        return event.key() == Qt.Key.Key_Escape or event.key() in _ENTER
