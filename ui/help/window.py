"""The help: a list of pages, a search over both languages, and the page."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, QUrl, Slot
from PySide6.QtGui import QTextCursor, QTextDocument
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QSplitter,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from explorer.i18n import tr
from ui.actions import OWN_ESCAPE
from ui.format import tooltip
from ui.help.library import PAGES, START, Found, page, search, section_place
from ui.panels.common import GRID, describe

_PLACE = int(Qt.ItemDataRole.UserRole)


class HelpWindow(QDialog):
    """Stays open beside the window. Links lead from page to page."""

    def __init__(self, parent: QWidget, language: str) -> None:
        super().__init__(parent)
        self._language = language
        self.shown = ""
        self.setWindowTitle(tr("Help"))
        self.setModal(False)
        self.search = QLineEdit()
        self.search.setPlaceholderText(tr("Search the help…"))
        self.search.setClearButtonEnabled(True)
        self.search.setProperty(OWN_ESCAPE, True)
        describe(self.search, tr("Search the help"), tr("Words of the help, in English or Chinese; both are searched."))
        self.list = QListWidget()
        self.list.setWordWrap(True)
        self.list.setSpacing(GRID // 2)
        self.list.setAlternatingRowColors(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        describe(self.list, tr("Pages"), tr("The pages of the help, or where the words you search for stand."))
        self.text = _Pages(self)
        describe(self.text, tr("Page"), tr("The page. Tab goes through its links."))
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        column.addWidget(self.search)
        column.addWidget(self.list, 1)
        split = QSplitter()
        split.addWidget(left)
        split.addWidget(self.text)
        split.setStretchFactor(1, 1)
        split.setSizes([60 * GRID, 150 * GRID])
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        close = buttons.button(QDialogButtonBox.StandardButton.Close)
        close.setText(tr("Close"))
        close.setToolTip(tooltip(tr("Close this page.")))
        close.setAutoDefault(False)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(split, 1)
        layout.addWidget(buttons)
        self.resize(215 * GRID, 150 * GRID)
        self.search.textChanged.connect(self._fill)
        self.search.returnPressed.connect(self._open_first)
        self.list.currentItemChanged.connect(self._open_item)
        self._fill("")

    def open_page(self, name: str, section: str = "") -> None:
        """Show a page, at one of its sections; an unknown page means the first one."""
        wanted = name if name in PAGES else START
        self.search.clear()
        self._show(wanted, section_place(page(wanted, self._language), section))

    def _show(self, name: str, place: int) -> None:
        self.shown = name
        self.text.show_page(name, self._language, place)
        self.list.blockSignals(True)
        for row in range(self.list.count()):
            if not self.search.text() and self.list.item(row).data(_PLACE)[0] == name:
                self.list.setCurrentRow(row)
        self.list.blockSignals(False)

    @Slot(str)
    def _fill(self, query: str) -> None:
        found = search(query, self._language)
        if not query.strip():
            found = [Found(name, 0, page(name, self._language).title, "") for name in PAGES]
        self.list.blockSignals(True)
        self.list.clear()
        for one in found:
            item = QListWidgetItem(one.title if not one.snippet else f"{one.title}\n{one.snippet}")
            item.setData(_PLACE, (one.page, one.section))
            item.setToolTip(tooltip(one.title))
            self.list.addItem(item)
        self.list.blockSignals(False)
        if query.strip() and not found:
            nothing = QListWidgetItem(tr("Nothing found. Try one word, in English or Chinese."))
            nothing.setFlags(Qt.ItemFlag.NoItemFlags)
            self.list.addItem(nothing)

    def _open_first(self) -> None:
        if self.list.count():
            self.list.setCurrentRow(0)

    @Slot(QListWidgetItem, QListWidgetItem)
    def _open_item(self, item: QListWidgetItem | None, _before: QListWidgetItem | None) -> None:
        if item is not None and item.data(_PLACE) is not None:
            name, place = item.data(_PLACE)
            self._show(name, place)


class _Pages(QTextBrowser):
    """Shows pages of the help alone; what leads elsewhere is opened by the system."""

    def __init__(self, help_window: HelpWindow) -> None:
        super().__init__()
        self._help = help_window
        self.setOpenLinks(False)
        self.anchorClicked.connect(self._follow)
        self.document().setDocumentMargin(3 * GRID)

    def show_page(self, name: str, language: str, place: int) -> None:
        shown = page(name, language)
        self.document().setMarkdown(shown.markdown, QTextDocument.MarkdownFeature.MarkdownDialectGitHub)
        self.setAccessibleDescription(shown.title)
        heading = shown.sections[place].heading if 0 < place < len(shown.sections) else ""
        self.moveCursor(QTextCursor.MoveOperation.Start)
        QTimer.singleShot(0, self, lambda: self._go(heading))  # once it is laid out

    def _go(self, heading: str) -> None:
        """Bring a heading to the top."""
        block = self.document().begin()
        while block.isValid():
            if heading and block.blockFormat().headingLevel() == 2 and block.text().strip() == heading:
                top = self.document().documentLayout().blockBoundingRect(block).top()
                self.verticalScrollBar().setValue(int(top) - GRID)
                return
            block = block.next()
        self.verticalScrollBar().setValue(0)

    @Slot(QUrl)
    def _follow(self, url: QUrl) -> None:
        """A link ``page`` or ``page#section``."""
        self._help.open_page(url.path(), url.fragment())
