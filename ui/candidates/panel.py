"""The candidates for the next token: what the model predicts, what a draw would use, and what each filter removed."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QMenu,
    QProgressBar,
    QStackedLayout,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from explorer.decoding.pipeline import Distribution
from explorer.events import NodeView
from explorer.i18n import sentences, tr
from explorer.text import Vocabulary
from ui.candidates.bars import Axis
from ui.candidates.filter_bar import FilterBar, stage_text
from ui.candidates.find_edit import FindEdit
from ui.candidates.model import CandidateModel
from ui.candidates.rows import Order
from ui.candidates.summary import Summary
from ui.candidates.table import CandidateTable
from ui.candidates.token_actions import TokenActions
from ui.format import LogUnit, count

BUSY_DELAY_MS = 150  # a step that answers at once shall not flash


class CandidatesPanel(QWidget):
    """The next-token distribution of the current node."""

    picked = Signal(int)
    """Id of a token the user wants to take."""
    hovered = Signal(int)
    """Id of the token under the pointer, -1 when it left."""
    current_changed = Signal(int)
    """Id of the token of the current row, -1 for none."""
    stage_closed = Signal()
    """The list no longer shows the tokens of one stage."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view: NodeView | None = None
        self._busy = False
        self._unit: LogUnit = "nats"
        self.model = CandidateModel()
        self.model.setParent(self)
        self.table = CandidateTable(self.model, self)
        self.summary = Summary(self)
        self.find_edit = FindEdit(self)
        self.filter_bar = FilterBar(self)
        self.order_box = QComboBox(self)
        self.log_button = QToolButton(self)
        self.columns_button = QToolButton(self)
        self.message = QLabel(self)
        self.busy_bar = QProgressBar(self)
        self._busy_timer = QTimer(self)
        self._build_controls()
        self._build_layout()
        self.token_actions = TokenActions(self.table)
        self._connect()
        self.set_view(None)

    # --- the window's side -------------------------------------------------------------------------------------------

    def set_vocabulary(self, vocabulary: Vocabulary | None) -> None:
        """The vocabulary behind the token ids; None before a model or session is open."""
        self.model.vocabulary = vocabulary
        self.model.refresh()
        if self.find_edit.text() or self.model.finding:
            self._find(self.find_edit.text())

    def set_view(self, view: NodeView | None, *, at_once: bool = False) -> None:
        """Show another node; None where no session is open. With ``at_once`` the rows are painted before this returns,
        and before what stands around them is brought up to date."""
        before = self._view
        same = view is not None and before is not None and view.node_id == before.node_id
        same = same and before is not None and before.distribution is not None
        token = self.current_token() if same else None
        self._view = view
        distribution = None if view is None else view.distribution
        self.model.show_node(distribution, {} if view is None else view.taken)
        self._set_axis(None if same else Axis.fitting(self._axis.scale, _largest(distribution)), distribution)
        if not at_once or self._pages.currentWidget() is not self.table:
            self._refresh(distribution)
            self._restore(token)
            return
        self.table.show_keys(self._digits_differ())
        self._restore(token)
        self.table.viewport().repaint()
        self._refresh(distribution)

    def set_distribution(self, distribution: Distribution) -> None:
        """Show what the bars of the same node would be under other settings."""
        token = self.current_token()
        self.model.show_distribution(distribution, self.table.rows_in_sight())
        self._set_axis(None, distribution)
        self._refresh(distribution)
        self._restore(token)

    def set_busy(self, busy: bool) -> None:
        """Show that the numbers of a node are being computed."""
        self._busy = busy
        if busy and not self.busy_bar.isVisible():
            self._busy_timer.start(BUSY_DELAY_MS)
        elif not busy:
            self._busy_timer.stop()
            self.busy_bar.hide()

    def set_log_unit(self, unit: LogUnit) -> None:
        """Show logarithms in nats or bits."""
        self._unit = unit
        self.model.unit = unit
        self.summary.show_distribution(self.model.distribution, unit)

    def current_token(self) -> int | None:
        """The token of the current row; None where none is current."""
        return self.table.current_token()

    def move_current(self, delta: int) -> None:
        """Go ``delta`` rows down (up where negative)."""
        self.table.move_current(delta)

    def pick_rank(self, n: int) -> None:
        """Pick the ``n``-th row of the list as it stands, 1 is the first."""
        self.table.pick_row(n - 1)

    def set_order(self, order: Order) -> None:
        """Order by sampling probability, or by the model's rank."""
        self.order_box.setCurrentIndex(self.order_box.findData(order))

    def show_stage(self, name: str) -> None:
        """Show only the tokens a stage removed, or whose scores it changed; all for an empty name."""
        if (name or None) == self.model.stage:
            return
        token = self.current_token()
        self.model.show_stage(name or None)
        self._refresh(self.model.distribution)
        self._restore(token)
        if not name:
            self.stage_closed.emit()

    def focus_find(self) -> None:
        """Put the keyboard into the line that looks for a token."""
        self.find_edit.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.find_edit.selectAll()

    def highlight_node(self, node_id: int) -> None:
        """Mark the row whose branch is hovered elsewhere; -1 for none."""
        self.table.painter.highlighted_node = node_id
        self.table.viewport().update()

    def highlight_token(self, token_id: int) -> None:
        """Mark the row of a token that is hovered elsewhere; -1 for none."""
        self.table.painter.highlighted_token = token_id
        self.table.viewport().update()

    # --- building ----------------------------------------------------------------------------------------------------

    def _build_controls(self) -> None:
        self.order_box.addItem(tr("By sampling"), "sampling")
        self.order_box.addItem(tr("By model rank"), "model")
        self.order_box.setToolTip(tr("Order of the list: what a draw would use, or the model's own ranking"))
        self.order_box.setAccessibleName(tr("Order of the candidates"))
        self.log_button.setText(tr("log"))
        self.log_button.setCheckable(True)
        self.log_button.setToolTip(tr("Bars on a logarithmic axis, so that rare tokens can be compared as well"))
        self.log_button.setAccessibleName(tr("Logarithmic bars"))
        self.columns_button.setText("⋮")
        self.columns_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.columns_button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.columns_button.setToolTip(tr("More columns: the running sum, ids, bytes"))
        self.columns_button.setAccessibleName(tr("Columns"))
        columns = QMenu(self.columns_button)
        columns.addActions(self.table.column_actions)
        self.columns_button.setMenu(columns)
        self.message.setWordWrap(True)
        self.message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.message.setContentsMargins(24, 24, 24, 24)
        self.message.setTextFormat(Qt.TextFormat.PlainText)
        self.busy_bar.setRange(0, 0)
        self.busy_bar.setTextVisible(False)
        self.busy_bar.setFixedHeight(3)
        self.busy_bar.setAccessibleName(tr("Computing the candidates"))
        self.busy_bar.hide()
        self._busy_timer.setSingleShot(True)
        self._axis = Axis()

    def _build_layout(self) -> None:
        controls = QHBoxLayout()
        controls.setContentsMargins(8, 8, 8, 4)
        controls.setSpacing(4)
        controls.addWidget(self.find_edit, 1)
        controls.addWidget(self.order_box)
        controls.addWidget(self.log_button)
        controls.addWidget(self.columns_button)
        pages = QWidget(self)
        self._pages = QStackedLayout(pages)
        self._pages.addWidget(self.table)
        self._pages.addWidget(self.message)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(controls)
        layout.addWidget(self.summary)
        layout.addWidget(self.busy_bar)
        layout.addWidget(self.filter_bar)
        layout.addWidget(pages, 1)

    def _connect(self) -> None:
        self.table.picked.connect(self.picked)
        self.table.hovered.connect(self.hovered)
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.table.customContextMenuRequested.connect(self.token_actions.open_menu)
        self.token_actions.picked.connect(self.picked)
        self.table.selectionModel().currentRowChanged.connect(self._current_row_changed)
        self.find_edit.textChanged.connect(self._find)
        self.find_edit.returnPressed.connect(self.token_actions.pick)
        self.filter_bar.closed.connect(self._show_all)
        self.find_edit.walked.connect(self.table.move_current)
        self.order_box.currentIndexChanged.connect(self._reorder)
        self.log_button.toggled.connect(self._switch_scale)
        self._busy_timer.timeout.connect(self.busy_bar.show)

    # --- showing -----------------------------------------------------------------------------------------------------

    def _set_axis(self, axis: Axis | None, distribution: Distribution | None) -> None:
        """Take another axis, or lengthen the present one if need be: it must not jump while a slider moves."""
        axis = axis or self._axis.covering(_largest(distribution))
        if axis != self._axis:
            self._axis = self.table.painter.axis = axis
            self.table.viewport().update()
        self.model.set_axis_title(axis.title())

    def _refresh(self, distribution: Distribution | None) -> None:
        """What is drawn beside the rows: figures, digits to press, or a message instead of the list."""
        self.summary.show_distribution(distribution, self._unit)
        self.table.show_keys(self._digits_differ())
        self.filter_bar.show_text(self._filter_text(distribution))
        self.message.setText(self._message(distribution))
        self._pages.setCurrentWidget(self.message if self.message.text() else self.table)

    def _message(self, distribution: Distribution | None) -> str:
        if self._view is None and distribution is None:
            return tr("No session is open. Write a prompt, or open one of the sessions; its candidates appear here.")
        if distribution is None and self._busy:
            return tr("The model is computing the candidates of this place…")
        if distribution is None and self._view is not None and self._view.stop is not None:
            return tr(
                "The path ends here, so the model was not asked what would follow. Go on past the stop to see what it "
                "predicts after it."
            )
        if distribution is None:
            return tr(
                "Nothing is stored for this place, and its model is not loaded. Load the model to see the candidates."
            )
        if self.model.finding and not self.model.rowCount():
            return tr("No token contains “{text}”. Try a part of it, an id, or bytes such as 0xE4.").format(
                text=self.find_edit.text()
            )
        return ""

    def _filter_text(self, distribution: Distribution | None) -> str:
        """What the list is limited to; empty where it shows all."""
        rows = self.model.rows
        parts = []
        if distribution is not None and self.model.stage is not None:
            parts.append(stage_text(self.model.stage, distribution))
        if rows is not None and self.model.finding and rows.total:
            parts.append(
                tr("{count} found, best match first.").format(count=count(rows.total))
                if rows.total > 1
                else tr("1 found.")
            )
        return sentences(parts)

    def _digits_differ(self) -> bool:
        """Whether one of the first nine rows has another rank than its place, so that digits must be shown."""
        shown = [row for row in range(min(9, self.model.rowCount())) if not self.model.is_others(row)]
        return any(self.model.row(row).rank != row + 1 for row in shown)

    def _restore(self, token_id: int | None) -> None:
        """Make a token's row the current one again, else the first."""
        if not self.model.rowCount():
            self.current_changed.emit(-1)
            return
        current = self.table.currentIndex().row()
        if token_id is not None and current >= 0 and self.model.token(current) == token_id:
            return
        row = None if token_id is None else self.model.row_of(token_id)
        if row != current or row is None:
            self.table.go_to(row or 0)

    # --- slots -------------------------------------------------------------------------------------------------------

    @Slot(str)
    def _find(self, text: str) -> None:
        vocabulary = self.model.vocabulary
        found = vocabulary.find_all(text) if text and vocabulary is not None else None
        token = None if found is not None else self.current_token()
        self.model.find(found)
        self._refresh(self.model.distribution)
        self._restore(token)

    @Slot()
    def _show_all(self) -> None:
        self.find_edit.clear()
        self.show_stage("")

    @Slot()
    def _reorder(self) -> None:
        token = self.current_token()
        self.model.set_order(self.order_box.currentData())
        self._refresh(self.model.distribution)
        self._restore(token)

    @Slot(bool)
    def _switch_scale(self, logarithmic: bool) -> None:
        distribution = self.model.distribution
        self._set_axis(Axis.fitting("log" if logarithmic else "linear", _largest(distribution)), distribution)

    @Slot()
    def _current_row_changed(self) -> None:
        token_id = self.current_token()
        self.current_changed.emit(-1 if token_id is None else token_id)


def _largest(distribution: Distribution | None) -> float:
    """The largest probability the bars have to show."""
    if distribution is None or not len(distribution.token_ids):
        return 1.0
    return distribution.largest_probability
