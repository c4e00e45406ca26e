"""Why the marked token has the probability it has: its value after every stage, and what every stage did."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QStackedLayout, QToolButton, QVBoxLayout, QWidget

from explorer.decoding.autopsy import Autopsy, autopsy_at
from explorer.decoding.pipeline import Distribution
from explorer.decoding.processors import ORDERS, STAGES_BY_NAME
from explorer.i18n import tr
from ui.explain.analysed import AnalysedPanel
from ui.format import percent, token_label, tooltip
from ui.panels.chain_editor import ChainEditor
from ui.panels.chain_model import ChainModel
from ui.panels.common import GRID, describe, plain_label
from ui.text.live_label import LiveLabel
from ui.why.aside import Aside, look_aside
from ui.why.cells import OFF, StageCells, model_cells, stage_cells
from ui.why.chain_table import ChainHeader, WhyDelegate
from ui.why.head import WhyHead
from ui.why.words import (
    comparison_text,
    detail_text,
    keep_text,
    order_lines,
    order_text,
    stage_lines,
    verdict_text,
    waiting_text,
)

CHANNEL = "why"
_REST_MS = 150  # a control that moves comes first, on a slow machine too; what takes longer is worked out when it rests


class WhyPanel(AnalysedPanel):
    """Follows the current node and the marked token."""

    stage_chosen = Signal(str)
    """Show what this stage removed; empty for all tokens."""

    def __init__(self, chain: ChainModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._chain = chain
        self._found: Autopsy | None = None
        self._aside: Aside | None = None
        self._shown_stages: tuple[tuple[str, ...], frozenset[str]] = ((), frozenset())
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(_REST_MS)
        self._rest.timeout.connect(self._look_aside)
        self.head = WhyHead()
        self.editor = ChainEditor(chain, whole=False)
        self.table = self.editor.list
        self.delegate = WhyDelegate(self.table)
        self.table.setItemDelegate(self.delegate)
        self.header = ChainHeader(self.delegate)
        self.all_button = QToolButton()
        self.order_label = LiveLabel(wrap=True, quiet=True)
        self.message = plain_label(quiet=True)
        self._build()
        chain.report = self._lines
        chain.modelReset.connect(self._hide_unused)
        self.table.chosen.connect(self._choose)
        self.head.keep.clicked.connect(self._keep)
        self.all_button.toggled.connect(self._hide_unused)
        self.refresh()

    def _build(self) -> None:
        self.all_button.setText(tr("All"))
        self.all_button.setCheckable(True)
        self.all_button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        describe(self.all_button, tr("All stages"), tr("Show the stages that are off as well."))
        self.editor.head.insertWidget(1, self.all_button)
        self.message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.message.setContentsMargins(6 * GRID, 6 * GRID, 6 * GRID, 6 * GRID)
        content = QWidget()
        layout = QVBoxLayout(content)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        layout.addWidget(self.head)
        layout.addWidget(self.header)
        layout.addWidget(self.editor, 1)
        self.editor.head.setContentsMargins(2 * GRID, 0, GRID, 0)
        self.order_label.setContentsMargins(2 * GRID, 0, 2 * GRID, GRID)
        layout.addWidget(self.order_label)
        self._pages = QStackedLayout(self)
        self._pages.addWidget(self.message)
        self._pages.addWidget(content)

    # --- the window's side -------------------------------------------------------------------------------------------

    def mark_stage(self, name: str) -> None:
        """The stage whose removals are shown elsewhere; empty for none."""
        if name != self.table.marked:
            self.table.marked = name
            self.table.viewport().update()

    def refresh(self) -> None:
        text = self.empty_text()
        self.message.setText(text)
        self._pages.setCurrentIndex(0 if text else 1)
        self._aside = None
        self.forget(CHANNEL)
        if self.distribution is None:
            self._rest.stop()
            return
        self._rest.start()
        index = None if self.token is None else self.distribution.index_of(self.token)
        self._found = None if index is None else autopsy_at(self.distribution, index)
        self._show(self.distribution)

    # --- showing -----------------------------------------------------------------------------------------------------

    def _show(self, distribution: Distribution) -> None:
        self._show_head(distribution)
        self._show_stages(distribution)
        self._show_orders(distribution)

    def _show_head(self, distribution: Distribution) -> None:
        head, found, aside = self.head, self._found, self._aside
        special = self.vocabulary is not None and self.token is not None and self.vocabulary.is_special(self.token)
        head.name.show_label("" if self.token is None else token_label(self.vocabulary, self.token), special)
        way = None if aside is None else aside.kept_by
        if found is None:
            head.show_texts("", "", self._without_token(), "", "")
        else:
            chance = percent(found.sampling_probability) if found.removal is None else "–"
            head.show_texts(
                tr("model {percent}").format(percent=percent(found.model_probability)),
                tr("sampling {percent}").format(percent=chance),
                verdict_text(found, distribution),
                detail_text(found, way, distribution.trace.sampling),
                comparison_text(found),
            )
        removed = found is not None and found.removal is not None
        head.keep.setVisible(removed)
        head.keep.setEnabled(way is not None)
        if way is not None and way.rescues:
            head.keep.setToolTip(tooltip(head.keep.accessibleDescription(), keep_text(way)))

    def _without_token(self) -> str:
        if self.token is None:
            return tr("Mark a token among the candidates to see what became of it.")
        return tr("Only the best tokens of this step were stored. Load the model to see this one's numbers.")

    def _show_stages(self, distribution: Distribution) -> None:
        aside = self._aside
        cells: dict[str, StageCells] = {}
        for number, (step, report) in enumerate(zip(distribution.trace.steps, distribution.stages, strict=True)):
            name = step.stage.name
            if not step.active:
                cells[name] = OFF
                continue
            verdict = None if self._found is None else self._found.stages[number]
            in_the_end = aside is not None and name in aside.without_effect
            cells[name] = stage_cells(step, report, verdict, self.unit, in_the_end=in_the_end)
        self.delegate.cells = cells
        self.header.show_cells(model_cells(distribution, self._found, self.unit))
        self._hide_unused()
        self.table.update_figures()

    @Slot()
    def _hide_unused(self) -> None:
        """Stages that are off stand in nobody's way; those that were on stay, so that they can be switched on again."""
        names = self._chain.names
        shown = frozenset(n for n in names if self.all_button.isChecked() or self._chain.was_on(n))
        if (names, shown) == self._shown_stages:
            return
        self._shown_stages = (names, shown)
        for row, name in enumerate(names):
            if self.table.isRowHidden(row) == (name in shown):
                self.table.setRowHidden(row, name not in shown)

    def _show_orders(self, distribution: Distribution) -> None:
        if self._aside is None:
            # The lines stay, so that nothing jumps while a control moves; what they said is not true any more.
            others = (name for name in ORDERS if name != distribution.trace.sampling.order)
            self.order_label.set_text("\n".join(waiting_text(name) for name in others))
            if self.order_label.toolTip():
                self.order_label.setToolTip("")
            return
        effects, lines = self._aside.orders, list[str]()
        self.order_label.set_text("\n".join(order_text(effect) for effect in effects))
        for effect in effects:
            lines += [order_text(effect), *order_lines(effect, self.vocabulary, truncated=distribution.truncated)]
        self.order_label.setToolTip(tooltip(*lines))

    def _lines(self, name: str) -> Sequence[str]:
        """What there is to say of a stage when somebody points at it."""
        distribution = self.distribution
        if distribution is None or name not in distribution.stage_names:
            return ()
        number = distribution.stage_names.index(name)
        verdict = None if self._found is None else self._found.stages[number]
        in_the_end = self._aside is not None and name in self._aside.without_effect
        step, report = distribution.trace.steps[number], distribution.stages[number]
        last = step.active and step.stage.runs_last(distribution.trace.sampling)
        return list(stage_lines(step, report, verdict, self.unit, in_the_end=in_the_end, last=last))

    # --- what takes longer -------------------------------------------------------------------------------------------

    @Slot()
    def _look_aside(self) -> None:
        distribution, token = self.distribution, self.token
        if distribution is not None:
            self.ask(CHANNEL, lambda: look_aside(distribution, token), self._take_aside)

    def _take_aside(self, aside: Aside) -> None:
        if self.distribution is not None:
            self._aside = aside
            self._show(self.distribution)

    # --- what the user does ------------------------------------------------------------------------------------------

    @Slot(str)
    def _choose(self, name: str) -> None:
        chosen = "" if name == self.table.marked else name
        self.mark_stage(chosen)
        self.stage_chosen.emit(chosen)

    @Slot()
    def _keep(self) -> None:
        way = None if self._aside is None else self._aside.kept_by
        if way is not None:
            names = [p.name for rescue in way.rescues for p in STAGES_BY_NAME[rescue.stage].parameters]
            off = way.sampling.is_off
            self._chain.values_changed.emit({name: None if off(name) else way.sampling.get(name) for name in names})
