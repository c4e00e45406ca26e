"""Figures of a study as a table: a row a figure, a column a configuration."""

from __future__ import annotations

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QFont, QPalette

from explorer.i18n import tr
from explorer.studies.report import ConfigurationReport, Difference, StudyReport
from explorer.studies.wording import verdict_word
from ui.format import LogUnit, tooltip
from ui.statistics.marks import sign_icon
from ui.statistics.words import Line, estimate_text, estimate_tip, interval_text, lines_of, settings_words, value_text

_Index = QModelIndex | QPersistentModelIndex
_ARROWS = {"higher": "▲", "lower": "▼", "open": "", "few": ""}


class FiguresModel(QAbstractTableModel):
    """Where the intervals show a difference from the reference, an arrow says which way; the tooltip has the rest."""

    def __init__(self) -> None:
        super().__init__()
        self._report: StudyReport | None = None
        self._lines: tuple[Line, ...] = ()
        self._unit: LogUnit = "nats"
        self._figures, self._quiet, self._palette = QFont(), QColor(), QPalette()

    def set_report(self, report: StudyReport | None, unit: LogUnit) -> None:
        """Show another report, or the same in another unit. Rows are kept where they are the same figures."""
        lines = () if report is None else lines_of(report)
        columns = 0 if report is None else len(report.configurations)
        same = [line.name for line in lines] == [
            line.name for line in self._lines
        ] and columns + 1 == self.columnCount()
        if not same:
            self.beginResetModel()
        self._report, self._lines, self._unit = report, lines, unit
        if not same:
            self.endResetModel()
        elif lines:
            self.dataChanged.emit(self.index(0, 0), self.index(len(lines) - 1, columns))
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, columns)

    def set_look(self, figures: QFont, quiet: QColor, palette: QPalette) -> None:
        self._figures, self._quiet, self._palette = figures, quiet, palette

    def line(self, row: int) -> Line | None:
        """What a row shows."""
        return self._lines[row] if 0 <= row < len(self._lines) else None

    @property
    def lines(self) -> tuple[Line, ...]:
        return self._lines

    # --- for the view ------------------------------------------------------------------------------------------------

    def rowCount(self, parent: _Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._lines)

    def columnCount(self, parent: _Index | None = None) -> int:
        if parent is not None and parent.isValid():
            return 0
        return 1 + (0 if self._report is None else len(self._report.configurations))

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < self.columnCount():
            return None
        if section == 0:
            return tr("Figure") if role == Qt.ItemDataRole.DisplayRole else None
        assert self._report is not None
        place = section - 1
        if role == Qt.ItemDataRole.DisplayRole:
            return self._report.configurations[place].name
        if role == Qt.ItemDataRole.DecorationRole:
            return sign_icon(place, self._palette)
        if role == Qt.ItemDataRole.ToolTipRole:
            configuration = self._report.study.plan.configurations[place]
            reference = tr("The others are compared with this one.") if place == self._report.reference else ""
            return tooltip(configuration.name, settings_words(configuration.settings), reference)
        return None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        line, column = self._lines[index.row()], index.column()
        if column == 0:
            if role == Qt.ItemDataRole.DisplayRole:
                return line.label
            return tooltip(line.label, line.help) if role == Qt.ItemDataRole.ToolTipRole else None
        assert self._report is not None
        one = self._report.configurations[column - 1]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(line, one)
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tip(line, one)
        if role == Qt.ItemDataRole.FontRole:
            return self._figures
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def _text(self, line: Line, one: ConfigurationReport) -> str:
        difference = _difference(line, one)
        arrow = "" if difference is None else _ARROWS[difference.verdict]
        text = estimate_text(line.estimate(one), line.unit, self._unit)
        return f"{arrow} {text}" if arrow else text

    def _tip(self, line: Line, one: ConfigurationReport) -> str:
        difference = _difference(line, one)
        said = ""
        if difference is not None and self._report is not None:
            said = tr("Differs from “{other}” by {value} {interval}: {verdict}.").format(
                other=self._report.configurations[self._report.reference].name,
                value=value_text(difference.value, line.unit, self._unit, signed=True),
                interval=interval_text(difference.wide, line.unit, self._unit),
                verdict=verdict_word(difference),
            )
        return tooltip(line.help, estimate_tip(line.estimate(one)), said)


def _difference(line: Line, one: ConfigurationReport) -> Difference | None:
    return next((difference for difference in one.differences if difference.measure == line.name), None)
