"""The probability ruler: [0, 1) laid out by sampling probability, and where a draw falls, under several settings."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QScrollArea, QStackedLayout, QStyle, QVBoxLayout, QWidget

from explorer.decoding.logits import SortedLogits
from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import Distribution, evaluate
from explorer.decoding.processors import StepContext
from explorer.decoding.ruler import Ruler
from explorer.i18n import tr
from explorer.messages import ExplorerError, UserMessage
from explorer.text import Vocabulary
from explorer.tree import ROOT
from ui.explain.analysed import AnalysedPanel
from ui.format import token_label
from ui.panels.common import GRID, describe, plain_label
from ui.ruler.axis import DrawMark, RulerAxis
from ui.ruler.controls import RulerControls
from ui.ruler.feet import RulerFeet
from ui.ruler.numbers import Numbers
from ui.ruler.row import RulerRow
from ui.ruler.row_menu import RowMenu
from ui.ruler.rows import KeptRuler, RowSpec, row_specs
from ui.ruler.shelf import Shelf
from ui.ruler.sight import Sight
from ui.ruler.strip import Marks
from ui.ruler.words import copied_row

CHANNEL = "ruler"


class RulerPanel(AnalysedPanel):
    """Follows the current node and the marked token. Moving u never changes the session."""

    token_hovered = Signal(int)
    """Token under the pointer, -1 for none."""
    token_activated = Signal(int)
    """Token the user wants to take."""
    node_wanted = Signal(int)
    """A node the user wants to go to."""
    kept_changed = Signal(object)
    """Tuple of `KeptRuler`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.shelf = Shelf(self)
        self.numbers = Numbers()
        self.sight = Sight()
        self.rows: list[RulerRow] = []
        self._lent: tuple[KeptRuler, ...] = ()
        self._wished: float | None = None  # a number for the node that is still to be shown
        self._hovered: int | None = None
        self._of: tuple[SortedLogits | None, StepContext] | None = None  # whose rulers these are
        self._now: tuple[Distribution, SamplingParams, Ruler] | None = None
        self._others: dict[str, Ruler | UserMessage] = {}
        self._build()
        self.shelf.changed.connect(self._shelved)
        self.refresh()

    # --- the window's side -------------------------------------------------------------------------------------------

    def set_vocabulary(self, vocabulary: Vocabulary | None) -> None:
        """Another session's tokens."""
        self.numbers.forget()
        super().set_vocabulary(vocabulary)

    def set_kept(self, kept: tuple[KeptRuler, ...]) -> None:
        """The rulers that are remembered."""
        self.shelf.kept = kept
        self._changed()

    def lend(self, rulers: tuple[KeptRuler, ...]) -> None:
        """Show these as well, for as long as a lesson speaks of them; they are not remembered."""
        if rulers != self._lent:
            self._lent = rulers
            self._changed()

    def set_token(self, token_id: int) -> None:
        """Point at the marked candidate; nothing is laid out anew for it."""
        self.token = None if token_id < 0 else token_id
        self._show_marks()

    def highlight_token(self, token_id: int) -> None:
        hovered = None if token_id < 0 else token_id
        if hovered != self._hovered:
            self._hovered = hovered
            self._show_marks()

    def set_u(self, u: float) -> None:
        """Look what another number would give; where the node is still to be shown, then."""
        self._wished = u if self._stale else None
        self.numbers.take_own(u)
        self._show_number()

    def refresh(self) -> None:
        text, view, distribution = self.empty_text(), self.view, self.distribution
        self.message.setText(text)
        self._pages.setCurrentIndex(0 if text else 1)
        if view is None or distribution is None:
            self.forget(CHANNEL)
            if view is None:
                self.numbers.forget()
            self._of, self._now = None, None
            self._others.clear()
            return
        if self._of is None or self._of[0] is not view.logits or self._of[1] != view.context:
            # Another node: what was laid out is of no use.
            self._of, self._now = (view.logits, view.context), None
            self._others.clear()
        if self.numbers.follow(view, self.label_of):
            self._set_sight(Sight())
        if self._wished is not None:
            self.numbers.take_own(self._wished)
            self._wished = None
        self._lay_out(distribution)
        self._show_rows()

    def label_of(self, token_id: int) -> tuple[str, bool]:
        """A token's label, and whether it is special."""
        special = self.vocabulary is not None and self.vocabulary.is_special(token_id)
        return token_label(self.vocabulary, token_id), special

    # --- rulers ------------------------------------------------------------------------------------------------------

    def _specs(self) -> list[RowSpec]:
        step = self.numbers.step
        drawn = None if step is None or step.draw_index is None else (step.draw_index, step.settings.sampling)
        now = self.sampling if self._now is None else self._now[1]
        return row_specs(now, self.shelf.kept, drawn, self._lent)

    def _lay_out(self, distribution: Distribution) -> None:
        """Have the rulers computed that are not there."""
        view, sampling = self.view, self.sampling
        if view is None:
            return
        wanted = {_key(spec.sampling): spec.sampling for spec in self._specs() if spec.kind != "now"}
        missing = {key: other for key, other in wanted.items() if key not in self._others}
        if not missing and self._now is not None and self._now[0] is distribution:
            return
        logits, context = view.logits, view.context

        def work() -> tuple[Ruler, dict[str, Ruler | UserMessage]]:
            others = {} if logits is None else {k: _laid_out(logits, s, context) for k, s in missing.items()}
            return Ruler.of(distribution), others

        def done(rulers: tuple[Ruler, dict[str, Ruler | UserMessage]]) -> None:
            self._now = distribution, sampling, rulers[0]
            self._others.update(rulers[1])
            self._show_rows()

        self.ask(CHANNEL, work, done, subject=self._of)

    def _ruler_of(self, spec: RowSpec) -> Ruler | UserMessage | None:
        if spec.kind == "now":
            return None if self._now is None else self._now[2]
        return self._others.get(_key(spec.sampling))

    # --- showing -----------------------------------------------------------------------------------------------------

    def _show_rows(self) -> None:
        specs = self._specs()
        while len(self.rows) > len(specs):
            row = self.rows.pop()
            row.hide()
            row.deleteLater()
        while len(self.rows) < len(specs):
            self._add_row()
        for row, spec in zip(self.rows, specs, strict=True):
            row.show_row(spec, self._ruler_of(spec))
            row.set_sight(self.sight)
        self._show_number()
        self._show_feet()

    def _add_row(self) -> None:
        row = RulerRow(self.label_of)
        row.u_moved.connect(self.set_u)
        row.sight_changed.connect(self._set_sight)
        row.hovered.connect(self._hover)
        row.menu_wanted.connect(lambda at, row=row: self._open_menu(row, at))
        row.removal_wanted.connect(lambda row=row: self._remove(row))
        row.renamed.connect(lambda name, row=row: self._rename(row, name))
        row.stepped.connect(lambda by, carry, row=row: self._step(row, by, carry=carry))
        self._column.insertWidget(len(self.rows), row)
        row.show()
        self.rows.append(row)

    def _show_number(self) -> None:
        """u, where it comes from, and what it gives."""
        numbers = self.numbers
        self.controls.show_sources(numbers.marks, numbers.chosen)
        self.axis.set_marks(numbers.marks, numbers.chosen)
        self._show_marks()
        hit = self.rows[0].hit if self.rows else None
        self.controls.show_u(numbers.u, can_pick=hit is not None and hit.token_id is not None)
        self._tell(self._conflict())

    def _show_marks(self) -> None:
        marks = Marks(self.numbers.u, self._hovered, self.token)
        for row in self.rows:
            row.set_marks(marks)

    def _conflict(self) -> str:
        """Where the draw that was made took something else than it would take now."""
        step, hit = self.numbers.step, self.rows[0].hit if self.rows else None
        if step is None or hit is None or hit.token_id in (step.token_id, None):
            return ""
        return tr("Draw #{number} took “{label}”; under the settings now the same u would take “{other}”.").format(
            number=step.draw_index, label=self.label_of(step.token_id)[0], other=self.label_of(hit.token_id or 0)[0]
        )

    def _tell(self, text: str) -> None:
        self.notice.setText(text)
        self.notice.setVisible(bool(text))

    def _show_feet(self) -> None:
        """What stands under the rulers."""
        there = self.sampling == SamplingParams() or self.shelf.holds(self.sampling)
        self.feet.keep.setEnabled(not there and not self.shelf.full)
        self.feet.show_edge(self.view.edges[-1] if self.view is not None and self.view.edges else None)

    @Slot(object)
    def _set_sight(self, sight: Sight) -> None:
        self.sight = sight
        self.axis.set_sight(sight)
        self.controls.show_zoomed(not sight.whole)
        for row in self.rows:
            row.set_sight(sight)

    # --- what the user does ------------------------------------------------------------------------------------------

    @Slot(int)
    def _hover(self, token_id: int) -> None:
        self.highlight_token(token_id)
        self.token_hovered.emit(token_id)

    @Slot(object)
    def _choose(self, mark: DrawMark) -> None:
        self.numbers.choose(mark)
        self._set_sight(self.sight.showing(mark.u))
        if self.distribution is not None:
            self._lay_out(self.distribution)  # its settings may have been others
        self._show_rows()

    @Slot(float)
    def _take_typed(self, u: float) -> None:
        self.set_u(u)
        self._set_sight(self.sight.showing(u))

    @Slot()
    def _refuse(self) -> None:
        self._tell(tr("u must be a number from 0 up to 1, and 1 itself is too much. It stays as it was."))

    @Slot(float)
    def _zoom(self, factor: float) -> None:
        u = self.numbers.u
        middle = (self.sight.start + self.sight.end) / 2
        about = u if u is not None and self.sight.start <= u < self.sight.end else middle
        self._set_sight(self.sight.zoomed(factor, about))

    @Slot()
    def _pick(self) -> None:
        hit = self.rows[0].hit if self.rows else None
        if hit is not None and hit.token_id is not None:
            self.token_activated.emit(hit.token_id)

    @Slot()
    def _go_to_origin(self) -> None:
        if self.view is not None and self.view.path:
            self.numbers.want(self.view.node_id)
            self.node_wanted.emit(self.view.path[-2] if len(self.view.path) > 1 else ROOT)

    def _step(self, row: RulerRow, by: int, *, carry: bool) -> None:
        """To the ruler above or below; carried along, a kept one changes its place."""
        place = self.rows.index(row) + by
        if carry and row.spec is not None and row.spec.kind == "kept":
            if not 0 <= row.spec.place + by < len(self.shelf.kept):
                return
            self.shelf.move(row.spec.place, by)
        if 0 <= place < len(self.rows):
            self.rows[place].setFocus()
            self._area.ensureWidgetVisible(self.rows[place])

    # --- kept rulers -------------------------------------------------------------------------------------------------

    @Slot()
    def keep_now(self) -> None:
        """Keep the settings as they are now as a ruler of their own."""
        self.shelf.keep(self.sampling)

    @Slot()
    def _shelved(self) -> None:
        self.kept_changed.emit(self.shelf.kept)
        self._changed()

    def _rename(self, row: RulerRow, name: str) -> None:
        if row.spec is not None and row.spec.kind == "kept":
            self.shelf.rename(row.spec.place, name)

    def _remove(self, row: RulerRow) -> None:
        if row.spec is not None and row.spec.kind == "kept":
            name = row.spec.title
            self.shelf.remove(row.spec.place)
            self._tell(tr("Removed the ruler “{name}”; the menu ⋯ brings it back.").format(name=name))

    def _open_menu(self, row: RulerRow, at: QPoint) -> None:
        menu = RowMenu(row, self.shelf, self)
        menu.looked_at.connect(self._set_sight)
        menu.picked.connect(self.token_activated)
        menu.copied.connect(lambda: self._copy(row))
        menu.moved.connect(lambda by: self._step(row, by, carry=True))
        menu.removed.connect(lambda: self._remove(row))
        menu.popup(at)

    def _copy(self, row: RulerRow) -> None:
        if row.spec is not None and row.hit is not None and self.numbers.u is not None:
            text = copied_row(row.spec.title, self.numbers.u, row.hit, self.label_of)
            QGuiApplication.clipboard().setText(text)

    # --- building ----------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self.controls = RulerControls()
        self.axis = RulerAxis()
        self.notice = plain_label()
        self.notice.setContentsMargins(2 * GRID, 0, 2 * GRID, GRID)
        self.notice.hide()
        self.message = plain_label()
        self.message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.message.setContentsMargins(6 * GRID, 6 * GRID, 6 * GRID, 6 * GRID)
        content = QWidget()
        layout = QVBoxLayout(content)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.controls)
        layout.addWidget(self.notice)
        scale = QVBoxLayout()
        # As wide as the rulers, beside which there always is a scroll bar.
        bar = self.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent)
        scale.setContentsMargins(0, 0, bar, 0)
        scale.addWidget(self.axis)
        layout.addLayout(scale)
        layout.addWidget(self._build_list(), 1)
        self._pages = QStackedLayout(self)
        self._pages.addWidget(self.message)
        self._pages.addWidget(content)
        self.controls.u_typed.connect(self._take_typed)
        self.controls.u_refused.connect(self._refuse)
        self.controls.mark_chosen.connect(self._choose)
        self.controls.pick_wanted.connect(self._pick)
        self.controls.zoom_wanted.connect(self._zoom)
        self.controls.fit_wanted.connect(lambda: self._set_sight(Sight()))
        self.axis.sight_changed.connect(self._set_sight)
        self.axis.mark_chosen.connect(self._choose)

    def _build_list(self) -> QScrollArea:
        inside = QWidget()
        self._column = QVBoxLayout(inside)
        self._column.setContentsMargins(0, 0, 0, 2 * GRID)
        self._column.setSpacing(0)
        self.feet = RulerFeet()
        self.feet.keep_wanted.connect(self.keep_now)
        self.feet.origin_wanted.connect(self._go_to_origin)
        self._column.addWidget(self.feet)
        self._column.addStretch(1)
        area = self._area = QScrollArea()
        area.setWidget(inside)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        describe(area, tr("Rulers"), tr("One under another, all with the same u."))
        return area


def _laid_out(logits: SortedLogits, sampling: SamplingParams, context: StepContext) -> Ruler | UserMessage:
    """A ruler, or why these settings cannot be used here: kept ones may come from another model."""
    try:
        return Ruler.of(evaluate(logits, sampling, context))
    except ExplorerError as error:
        return error.message


def _key(sampling: SamplingParams) -> str:
    """Equal settings, equal keys."""
    return repr(sampling.to_json())
