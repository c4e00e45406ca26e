"""Scores over rank, the model's distribution of the whole vocabulary, and both in numbers."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QMenu,
    QScrollArea,
    QStackedLayout,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from explorer.decoding.statistics import perplexity, surprisal
from explorer.i18n import tr
from explorer.text import Vocabulary
from ui.curves.figures import FiguresTable, PathFigures, TokenFigures, figure_rows
from ui.curves.histogram_plot import HistogramPlot
from ui.curves.prepared import Prepared, histogram_csv, prepare, scores_csv
from ui.curves.scores_plot import ScoresPlot
from ui.curves.switch import Switch
from ui.explain.analysed import AnalysedPanel
from ui.format import count, token_label
from ui.panels.common import GRID, describe, plain_label

CHANNEL, POINTS = "curves", "points"
_TALL = 470  # from here on there is room for the figures below a plot
_SCORES, _HISTOGRAM, _FIGURES = range(3)


class CurvesPanel(AnalysedPanel):
    """Follows the current node, a draft of the settings, the marked token."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.prepared: Prepared | None = None
        self._hovered: int | None = None
        self.scores = ScoresPlot(self._label_at)
        self.histogram = HistogramPlot()
        self.table = FiguresTable()
        self._build()
        self.refresh()

    # --- the window's side -------------------------------------------------------------------------------------------

    def set_vocabulary(self, vocabulary: Vocabulary | None) -> None:
        """Another session's tokens."""
        self.prepared = None
        super().set_vocabulary(vocabulary)

    def set_token(self, token_id: int) -> None:
        """Point at the marked candidate; nothing is prepared anew for it."""
        self.token = None if token_id < 0 else token_id
        if self.isVisible():
            self._show_marks()
            self._show_figures()
        else:
            self._stale = True

    def highlight_token(self, token_id: int) -> None:
        hovered = None if token_id < 0 else token_id
        if hovered != self._hovered:
            self._hovered = hovered
            self._show_marks()

    def refresh(self) -> None:
        text, view, distribution = self.empty_text(), self.view, self.distribution
        self.message.setText(text)
        self._pages.setCurrentIndex(0 if text else 1)
        if view is None or distribution is None:
            self.forget(CHANNEL)
            self.prepared = None
            return
        if self.prepared is not None and self.prepared.distribution is distribution:
            self._show_marks()
            self._show_figures()
            return
        known = self.prepared
        if known is not None and known.logits_of is not view.logits:  # another node: nothing of it must stay
            self.prepared = known = None
            self._show()
        logits, sampling = view.logits, self.sampling
        histogram = None if known is None else known.histogram
        columns = self.scores.axes.columns

        def work() -> Prepared:
            return prepare(distribution, sampling, logits, histogram, columns)

        self.ask(CHANNEL, work, self._take_prepared, subject=logits)

    def _take_prepared(self, prepared: Prepared) -> None:
        self.prepared = prepared
        self._show()

    # --- showing -----------------------------------------------------------------------------------------------------

    def _show(self) -> None:
        prepared = self.prepared
        self.scores.show_view(None if prepared is None else prepared.scores)
        self.histogram.show_histogram(None if prepared is None else prepared.histogram)
        self.copy.setEnabled(prepared is not None)
        self._show_marks()
        self._show_figures()
        self._tell(self._notice())

    def _show_marks(self) -> None:
        prepared = self.prepared
        if prepared is None:
            self.scores.set_marks(None, None)
            self.histogram.set_mark(None)
            return
        curves, marks = prepared.scores.curves, []
        for token_id in (self.token, self._hovered):
            index = None if token_id is None else curves.index_of(token_id)
            marks.append(None if index is None or token_id is None else (index, self._label(token_id)))
        self.scores.set_marks(marks[0], marks[1])
        place = None if self.token is None else prepared.distribution.index_of(self.token)
        if place is None or self.token is None:
            self.histogram.set_mark(None)
        else:
            self.histogram.set_mark((float(prepared.distribution.model_probs[place]), self._label(self.token)))

    def _show_figures(self) -> None:
        prepared, view = self.prepared, self.view
        if prepared is None or view is None:
            self.table.show_rows([])
            return
        values = view.values
        path = PathFigures(
            values.tokens,
            perplexity(values.model_logprob, values.tokens),
            perplexity(values.sampling_logprob, values.tokens - values.forced),
        )
        taken = max(view.taken, key=lambda token_id: view.taken[token_id], default=None)
        self.table.show_rows(
            figure_rows(
                prepared.model,
                prepared.sampling,
                self._token_figures(self.token),
                None if taken == self.token else self._token_figures(taken),
                path,
                self.unit,
            )
        )

    def _token_figures(self, token_id: int | None) -> TokenFigures | None:
        if token_id is None or self.prepared is None or self.prepared.distribution.index_of(token_id) is None:
            return None
        row = self.prepared.distribution.row(token_id)
        drawn = None if row.sampling_logprob is None else surprisal(row.sampling_logprob)
        return TokenFigures(self._label(token_id), surprisal(row.model_logprob), drawn)

    def _notice(self) -> str:
        """What must be known to read the plots rightly."""
        prepared = self.prepared
        if prepared is None:
            return ""
        if prepared.sampling is None:
            return tr("No token is left to draw: everything is removed. The model's own curve is shown.")
        if prepared.scores.estimated:
            stored = prepared.scores.curves.listed
            return tr("Only the best {count} tokens were stored; the rest is estimated.").format(count=count(stored))
        if prepared.scores.value_range[2]:
            return tr("A few scores lie far below what is shown.")
        return ""

    def _tell(self, text: str) -> None:
        self.notice.setText(text)
        self.notice.setVisible(bool(text))

    def _label(self, token_id: int) -> str:
        return token_label(self.vocabulary, token_id)

    def _label_at(self, index: int) -> str:
        """The label of the token at a place of the curves."""
        if self.prepared is None or index >= self.prepared.scores.curves.listed:
            return tr("not stored")
        return self._label(int(self.prepared.scores.curves.token_ids[index]))

    # --- copying -----------------------------------------------------------------------------------------------------

    @Slot()
    def copy_picture(self) -> None:
        """The plot that is shown, on the clipboard, in fine pixels."""
        plot = self.histogram if self._page() == _HISTOGRAM else self.scores
        QGuiApplication.clipboard().setImage(plot.picture())
        self._tell(tr("The picture is on the clipboard."))

    @Slot()
    def copy_points(self) -> None:
        """The numbers behind the plot that is shown, on the clipboard, as CSV."""
        prepared, vocabulary = self.prepared, self.vocabulary
        if prepared is None:
            return
        if self._page() == _HISTOGRAM:
            self._take_points(histogram_csv(prepared.histogram))
        else:
            curves = prepared.scores.curves
            self.ask(POINTS, lambda: scores_csv(curves, vocabulary), self._take_points)

    def _take_points(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        lines = text.count("\n") - 1
        self._tell(tr("{count} lines are on the clipboard, as CSV.").format(count=count(lines)))

    # --- building ----------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self.message = plain_label()
        self.message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.message.setContentsMargins(6 * GRID, 6 * GRID, 6 * GRID, 6 * GRID)
        self.notice = plain_label()
        self.notice.setContentsMargins(2 * GRID, 0, 2 * GRID, GRID)
        self.notice.hide()
        content = QWidget()
        layout = QVBoxLayout(content)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(self._build_controls())
        layout.addWidget(self.notice)
        plots = QWidget()
        self._plots = QStackedLayout(plots)
        self._plots.addWidget(self.scores)
        self._plots.addWidget(self.histogram)
        layout.addWidget(plots, 3)
        self._scroll = QScrollArea()
        self._scroll.setWidget(self.table)
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        describe(self._scroll, tr("Figures"), tr("The distribution in numbers. Up and Down scroll."))
        layout.addWidget(self._scroll, 2)
        self._below = plots
        self._pages = QStackedLayout(self)
        self._pages.addWidget(self.message)
        self._pages.addWidget(content)
        self._choose(_SCORES)

    def _build_controls(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        row.setSpacing(GRID)
        self._group = QButtonGroup(self)
        for place, (text, help_text) in enumerate(
            (
                (tr("Scores"), tr("Scores over rank: the model's, those after the settings, and where filters cut.")),
                (tr("Histogram"), tr("Histogram: how many tokens of the vocabulary have which model probability.")),
                (tr("Figures"), tr("Figures: entropy, perplexity, surprisal and the like, in numbers.")),
            )
        ):
            button = Switch(text, help_text)
            self._group.addButton(button, place)
            row.addWidget(button)
        self._group.idClicked.connect(self._choose)
        row.addStretch(1)
        self.copy = QToolButton()
        self.copy.setText(tr("Copy"))
        describe(self.copy, tr("Copy"), tr("Copy what is shown as a picture, or the numbers behind it as CSV."))
        self.copy.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.copy.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.copy.setMinimumHeight(6 * GRID)
        menu = QMenu(self.copy)
        menu.addAction(tr("Copy picture"), self.copy_picture)
        menu.addAction(tr("Copy points (CSV)"), self.copy_points)
        self.copy.setMenu(menu)
        row.addWidget(self.copy)
        return row

    def _page(self) -> int:
        """What is shown above, or alone."""
        return self._group.checkedId()

    @Slot(int)
    def _choose(self, page: int) -> None:
        self._group.button(page).setChecked(True)
        if page != _FIGURES:
            self._plots.setCurrentIndex(page)
        self._arrange()

    def _arrange(self) -> None:
        """Figures stand below the plot where there is room, else they are a page of their own."""
        tall = self.height() >= _TALL
        if tall and self._page() == _FIGURES:
            self._group.button(self._plots.currentIndex()).setChecked(True)
        alone = self._page() == _FIGURES
        self._group.button(_FIGURES).setVisible(not tall)
        self._below.setVisible(not alone)
        self._scroll.setVisible(alone or tall)
        self.copy.setVisible(not alone)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()
