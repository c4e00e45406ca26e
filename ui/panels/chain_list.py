"""A list of the chain's stages: checked by click or Space, moved by dragging or Ctrl+Up and Ctrl+Down."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    QTimer,
    Signal,
    Slot,
)
from PySide6.QtGui import QColor, QCursor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QRegion
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from ui.panels.chain_model import NAME, ChainModel
from ui.panels.common import GRID
from ui.text.text_line import TextLine
from ui.theme import colours_of, figures_font, ink, tint

ROW_HEIGHT = 6 * GRID
_MARK = 14  # px, of the box that is checked
_PATIENCE_MS = 16  # a frame

Index = QModelIndex | QPersistentModelIndex


class ChainDelegate(QStyledItemDelegate):
    """Paints a box to check, the stage's name and its value; what else there is to say goes at the right."""

    more_width = 0
    """Pixels at the right that `paint_more` fills where a stage is on."""

    def __init__(self, view: ChainList) -> None:
        super().__init__(view)
        self.view = view
        self.take_font()

    def take_font(self) -> None:
        """Take the view's font over."""
        self._line = TextLine(figures_font(self.view.font()))

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(120, ROW_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        state = option.state
        self.paint_row(
            painter,
            option.rect,
            index.row(),
            current=bool(state & QStyle.StateFlag.State_Selected) and self.view.hasFocus(),
            hovered=bool(state & QStyle.StateFlag.State_MouseOver),
        )

    def paint_row(self, painter: QPainter, rect: QRect, row: int, *, current: bool, hovered: bool) -> None:
        """Paint a row of the model: what of it is dirty."""
        chain = self.view.chain
        name = chain.names[row]
        painter.fillRect(rect, self._background(name, current=current, hovered=hovered))
        if name == self.view.marked:
            painter.fillRect(QRect(rect.left(), rect.top(), 3, rect.height()), ink(self.view.colours.accent))
        on = chain.is_on(name)
        if not self.more_width or self.view.dirty.intersects(rect.adjusted(0, 0, -self.more_width - 2, 0)):
            self._paint_name(painter, rect, name, on)
        if self.more_width and on:
            right = QRectF(rect).right()
            self.paint_more(painter, QRectF(right - self.more_width, rect.top(), self.more_width, rect.height()), name)

    def _paint_name(self, painter: QPainter, row: QRect, name: str, on: bool) -> None:
        colours, rect, line, chain = self.view.colours, QRectF(row), self._line, self.view.chain
        self._paint_box(painter, row, on)
        left, right = rect.left() + _MARK + 4 * GRID, rect.right() - GRID - (self.more_width if on else 0)
        middle, value = rect.center().y(), chain.value_text(name)
        painter.setFont(line.font)
        painter.setPen(ink(colours.text if on else colours.quiet))
        room = right - left - (line.width(value) + 2 * GRID if value else 0)
        line.left(painter, left, middle, line.elided(chain.label(name), max(40.0, room)))
        painter.setPen(ink(colours.accent))
        line.right(painter, right, middle, value)

    def paint_more(self, painter: QPainter, rect: QRectF, name: str) -> None:
        """What a list that explains says of a stage that is on."""

    def editorEvent(self, event: QEvent, model: QAbstractItemModel, option: QStyleOptionViewItem, index: Index) -> bool:
        """A click into the box, or Space, switches the stage."""
        if isinstance(event, QMouseEvent):
            hit = self._box(option.rect).adjusted(-GRID, -GRID, GRID, GRID).contains(event.position().toPoint())
            if not hit or event.button() != Qt.MouseButton.LeftButton:
                return False
            if event.type() != QEvent.Type.MouseButtonRelease:
                return event.type() in (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick)
        elif not isinstance(event, QKeyEvent) or event.key() not in (Qt.Key.Key_Space, Qt.Key.Key_Select):
            return False
        checked = index.data(Qt.ItemDataRole.CheckStateRole) == Qt.CheckState.Checked
        wanted = Qt.CheckState.Unchecked if checked else Qt.CheckState.Checked
        return model.setData(model.index(index.row(), 0), wanted, Qt.ItemDataRole.CheckStateRole)

    def _background(self, name: str, *, current: bool, hovered: bool) -> QColor:
        surface, soft = self.view.colours.surface, self.view.colours.accent_soft
        if name == self.view.marked:
            return ink(soft)
        if current:
            return tint(soft, surface, 0.65)
        return tint(soft, surface, 0.4) if hovered else ink(surface)

    def _paint_box(self, painter: QPainter, row: QRect, on: bool) -> None:
        # Not the style's: its empty box cannot be seen on a dark list.
        colours, box = self.view.colours, QRectF(self._box(row)).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(ink(colours.accent if on else colours.quiet), 1))
        painter.setBrush(ink(colours.accent) if on else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box, 3, 3)
        if on:
            left, top = box.left(), box.top()
            painter.setPen(QPen(ink(colours.on_accent), 2))
            painter.drawPolyline(
                [QPointF(left + 3, top + 7), QPointF(left + 5.5, top + 9.5), QPointF(left + 10.5, top + 3.5)]
            )

    def _box(self, row: QRect) -> QRect:
        return QRect(row.left() + 2 * GRID, row.center().y() - _MARK // 2 + 1, _MARK, _MARK)


class ChainList(QListView):
    """Shows a `ChainModel`. ``marked`` is the stage whose removals are shown elsewhere; empty for none."""

    chosen = Signal(str)
    """A stage was clicked or Enter pressed on it."""

    def __init__(self, model: ChainModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.chain = model
        self.marked = ""
        self.dirty = QRegion()
        """What of the viewport is being painted."""
        self.colours = colours_of(self)
        self._pressed = ""
        self._current = ""
        self._changed: set[int] = set()  # rows
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(_PATIENCE_MS)
        self._patience.timeout.connect(self._update_changed)
        self.setModel(model)
        self.setItemDelegate(ChainDelegate(self))
        self.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        model.modelAboutToBeReset.connect(self._remember_current)
        model.modelReset.connect(self._restore_current)

    def current_name(self) -> str:
        """The stage the keyboard stands on; empty for none."""
        index = self.currentIndex()
        return str(index.data(NAME)) if index.isValid() else ""

    def move_current(self, by: int) -> None:
        """Let the stage the keyboard stands on run earlier or later, past rows that are hidden."""
        row = self.currentIndex().row()
        if row < 0:
            return
        target = row + by
        while 0 <= target < self.chain.rowCount() and self.isRowHidden(target):
            target += by
        self.chain.move(row, target - row)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The rows that are dirty in one go, without Qt's asking the model and the delegate for each."""
        self.dirty, self.colours = event.region(), colours_of(self)
        delegate = self.itemDelegate()
        if self.state() == QAbstractItemView.State.DraggingState or not isinstance(delegate, ChainDelegate):
            super().paintEvent(event)  # which shows where a row would be dropped
            return
        viewport, rect = self.viewport(), event.rect()
        painter = QPainter(viewport)
        painter.fillRect(rect, self.palette().base())
        selected, focus = self.selectionModel(), self.hasFocus()
        pointed = self.indexAt(viewport.mapFromGlobal(QCursor.pos())).row() if viewport.underMouse() else -1
        place = QRect(0, -self.verticalOffset(), viewport.width(), ROW_HEIGHT)
        for row in range(self.chain.rowCount()):
            if self.isRowHidden(row):
                continue
            if place.intersects(rect):
                current = focus and selected.isSelected(self.chain.index(row))
                delegate.paint_row(painter, place, row, current=current, hovered=row == pointed)
            place.translate(0, ROW_HEIGHT)
        painter.end()

    def update_figures(self) -> None:
        """Paint only what the delegate says beside the names, and what has changed in the chain itself."""
        self._update_changed()
        delegate, viewport = self.itemDelegate(), self.viewport()
        if isinstance(delegate, ChainDelegate):
            width = delegate.more_width + 1
            viewport.update(viewport.width() - width, 0, width, viewport.height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, control = event.key(), event.modifiers() == Qt.KeyboardModifier.ControlModifier
        index = self.currentIndex()
        if control and key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.move_current(-1 if key == Qt.Key.Key_Up else 1)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and index.isValid():
            self.chosen.emit(self.current_name())
        elif key == Qt.Key.Key_Space and index.isValid():
            checked = index.data(Qt.ItemDataRole.CheckStateRole) == Qt.CheckState.Checked
            self.chain.switch(self.current_name(), not checked)
        else:
            super().keyPressEvent(event)

    def dataChanged(  # noqa: N802 - Qt's name
        self, top: Index, bottom: Index, roles: Sequence[int] = ()
    ) -> None:
        """Only paint: Qt would lay all rows out anew and paint a second time, although none changes its height.

        Figures that follow a change come within the frame, and both are painted together.
        """
        self._changed.update(range(top.row(), bottom.row() + 1))
        if not self._patience.isActive():
            self._patience.start()

    @Slot()
    def _update_changed(self) -> None:
        self._patience.stop()
        for row in self._changed:
            self.update(self.chain.index(row))
        self._changed.clear()

    def keyboardSearch(self, search: str) -> None:  # noqa: N802 - Qt's name
        """No search by typing: letters are the window's shortcuts."""

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        in_box = event.position().x() < _MARK + 3 * GRID
        left = event.button() == Qt.MouseButton.LeftButton
        self._pressed = str(index.data(NAME)) if left and index.isValid() and not in_box else ""
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        index = self.indexAt(event.position().toPoint())
        if self._pressed and index.isValid() and index.data(NAME) == self._pressed:
            self.chosen.emit(self._pressed)
        self._pressed = ""

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        delegate = self.itemDelegate()
        if event.type() == QEvent.Type.FontChange and isinstance(delegate, ChainDelegate):
            delegate.take_font()

    def _remember_current(self) -> None:
        self._current = self.current_name()

    def _restore_current(self) -> None:
        if self._current:
            self.setCurrentIndex(self.chain.index(self.chain.row_of(self._current)))
