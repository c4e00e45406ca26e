"""The window: docks, toolbar, status line, and where they stand. What they do is wired up by the controllers."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files

from PySide6.QtCore import QByteArray, QEvent, QSize, Qt, Signal
from PySide6.QtGui import QAction, QCloseEvent, QDragEnterEvent, QDropEvent, QIcon, QPixmap
from PySide6.QtWidgets import (
    QDockWidget,
    QMainWindow,
    QMenu,
    QSizePolicy,
    QToolBar,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from explorer.i18n import tr
from ui.actions import STEPPING, Actions
from ui.beams.panel import BeamsPanel
from ui.candidates.panel import CandidatesPanel
from ui.characters.panel import CharactersPanel
from ui.compare.panel import ComparePanel
from ui.curves.panel import CurvesPanel
from ui.explain.panel import ExplainPanel
from ui.growth.runs_panel import RunsPanel
from ui.lessons.card import LessonCard
from ui.lessons.list_panel import LessonsPanel
from ui.library.dropped import shared_files
from ui.library.panel import LibraryPanel
from ui.menu_list import RUN_MENU, SEPARATOR, TOOLBAR
from ui.panels.advice_list import AdviceList
from ui.panels.common import GRID, describe
from ui.panels.history_panel import HistoryPanel
from ui.panels.message_area import MessageArea
from ui.panels.model_panel import ModelPanel
from ui.panels.prompt_panel import PromptPanel
from ui.panels.settings_panel import SettingsPanel
from ui.panels.status_bar import StatusBar
from ui.panels.stop_banner import StopBanner
from ui.panels.welcome_card import WelcomeCard
from ui.preferences import Preferences
from ui.queries.panel import QueryPanel
from ui.ruler.panel import RulerPanel
from ui.score.panel import ScorePanel
from ui.steady_button import SteadyButton
from ui.text.path_text import PathText
from ui.timeline.panel import TimelinePanel
from ui.timeline.past_bar import PastBar
from ui.tree.canvas import TreeCanvas
from ui.tree.view_bar import ViewBar
from ui.why.panel import WhyPanel

_ICON_ONLY = ("expand", "sample_runs", "beam", "undo", "redo", "find", "fit", "palette")
_FIRST_SIZE = QSize(1280, 800)
_LEFT, _RIGHT, _BOTTOM = 320, 440, 210
_ON_DEMAND = ("runs", "beams", "queries", "score", "compare")  # shown once there is something to see in them
_FRONT = ("prompt", "settings", "why", "path")  # of each row of tabs


class MainWindow(QMainWindow):
    """Widgets by name; no behaviour but layout."""

    closed = Signal()
    files_dropped = Signal(list)
    """Paths of shared sessions."""

    def __init__(self, preferences: Preferences) -> None:
        super().__init__()
        self.setObjectName("mainWindow")
        self.setAcceptDrops(True)
        self.setWindowTitle("Token Tree Explorer")
        self.setWindowIcon(application_icon())
        self.may_close: Callable[[], bool] = lambda: True
        self._preferences = preferences
        self.actions_ = Actions(self, preferences.keys)
        self.tree = TreeCanvas()
        self.view_bar = ViewBar(self.actions_)
        self.candidates = CandidatesPanel()
        self.candidates.table.setProperty(STEPPING, True)
        self.settings = SettingsPanel()
        self.why = WhyPanel(self.settings.chain)
        self.ruler = RulerPanel()
        self.curves = CurvesPanel()
        self.characters = CharactersPanel()
        self.explain = (self.why, self.ruler, self.curves, self.characters)
        self.path = PathText()
        self.runs = RunsPanel()
        self.beams = BeamsPanel()
        self.queries = QueryPanel()
        self.score = ScorePanel()
        self.compare = ComparePanel()
        self.banner = StopBanner()
        self.hints = AdviceList()
        self.hints.setAccessibleName(tr("Hints about this text"))
        self.hints.setContentsMargins(3 * GRID, GRID, 2 * GRID, GRID)
        self.messages = MessageArea()
        self.welcome = WelcomeCard()
        self.lesson_card = LessonCard()
        self.lessons = LessonsPanel()
        self.prompt = PromptPanel()
        self.models = ModelPanel()
        self.sessions = LibraryPanel()
        self.history = HistoryPanel()
        self.timeline = TimelinePanel()
        self.past_bar = PastBar()
        self.status = StatusBar()
        self.model_button = QToolButton()
        self.setStatusBar(self.status)
        self._build_centre()
        self.docks = self._build_docks()
        self._build_toolbar()
        self.actions_.build_menus(self.menuBar(), {"@docks": self._fill_docks_menu})
        self._arrange()
        self._first_state = self.saveState()
        self._restore()
        self.tree.setFocus()  # so that single keys step from the first moment

    # --- layout ------------------------------------------------------------------------------------------------------

    def reset_layout(self) -> None:
        """Put every panel back where it was at first."""
        for dock in self.docks.values():
            dock.setFloating(False)
            dock.show()
        self.restoreState(self._first_state)
        self._proportion()
        for name in _FRONT:
            self.docks[name].raise_()

    def show_dock(self, name: str) -> None:
        """Bring a panel to the front, also one that was closed."""
        self.docks[name].show()
        self.docks[name].raise_()

    def save_layout(self) -> None:
        self._preferences.layout = (self.saveGeometry(), self.saveState())

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self.may_close():
            event.ignore()
            return
        self.save_layout()
        event.accept()
        self.closed.emit()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if shared_files(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        event.acceptProposedAction()
        self.files_dropped.emit(shared_files(event.mimeData()))

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.PaletteChange:
            self.actions_.refresh_icons()
            self.model_button.setIcon(self.actions_["models"].icon())
        super().changeEvent(event)

    # --- building ----------------------------------------------------------------------------------------------------

    def _build_centre(self) -> None:
        centre = QWidget()
        layout = QVBoxLayout(centre)
        layout.setContentsMargins(GRID, GRID, GRID, GRID)
        layout.setSpacing(GRID)
        layout.addWidget(self.messages)
        layout.addWidget(self.welcome)
        layout.addWidget(self.lesson_card)
        layout.addWidget(self.past_bar)
        layout.addWidget(self.view_bar)
        layout.addWidget(self.tree, 1)
        self.setCentralWidget(centre)
        self.welcome.hide()
        self.lesson_card.hide()

    def _build_docks(self) -> dict[str, QDockWidget]:
        path = QWidget()
        layout = QVBoxLayout(path)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        layout.addWidget(self.path, 1)
        layout.addWidget(self.hints)
        layout.addWidget(self.banner)
        contents: tuple[tuple[str, str, QWidget], ...] = (
            ("prompt", tr("Prompt"), self.prompt),
            ("settings", tr("Settings"), self.settings),
            ("models", tr("Models"), self.models),
            ("sessions", tr("Sessions"), self.sessions),
            ("history", tr("History"), self.history),
            ("lessons", tr("Lessons"), self.lessons),
            ("candidates", tr("Candidates"), self.candidates),
            ("why", tr("Why?"), self.why),
            ("ruler", tr("Ruler"), self.ruler),
            ("curves", tr("Curves"), self.curves),
            ("characters", tr("Characters"), self.characters),
            ("path", tr("Path"), path),
            ("timeline", tr("Timeline"), self.timeline),
            ("runs", tr("Runs"), self.runs),
            ("beams", tr("Beams"), self.beams),
            ("queries", tr("Questions"), self.queries),
            ("score", tr("Scored text"), self.score),
            ("compare", tr("Compare"), self.compare),
        )
        docks = {}
        for name, title, widget in contents:
            dock = QDockWidget(title)
            dock.setObjectName(name)
            dock.setAccessibleName(title)
            dock.setWidget(widget)
            if isinstance(widget, ExplainPanel):
                dock.visibilityChanged.connect(widget.set_in_front)
            docks[name] = dock
        return docks

    def _arrange(self) -> None:
        area = Qt.DockWidgetArea
        self.setTabPosition(area.AllDockWidgetAreas, self.tabPosition(area.TopDockWidgetArea).North)
        for corner, side in (
            (Qt.Corner.BottomLeftCorner, area.LeftDockWidgetArea),
            (Qt.Corner.TopLeftCorner, area.LeftDockWidgetArea),
            (Qt.Corner.BottomRightCorner, area.RightDockWidgetArea),
            (Qt.Corner.TopRightCorner, area.RightDockWidgetArea),
        ):
            self.setCorner(corner, side)
        for name in ("prompt", "settings", "models", "sessions", "history", "lessons"):
            self.addDockWidget(area.LeftDockWidgetArea, self.docks[name])
        self.tabifyDockWidget(self.docks["prompt"], self.docks["lessons"])
        for name in ("models", "sessions", "history"):
            self.tabifyDockWidget(self.docks["settings"], self.docks[name])
        for name in ("candidates", "why", "ruler", "curves", "characters"):
            self.addDockWidget(area.RightDockWidgetArea, self.docks[name])
        for name in ("ruler", "curves", "characters"):
            self.tabifyDockWidget(self.docks["why"], self.docks[name])
        self.addDockWidget(area.BottomDockWidgetArea, self.docks["path"])
        for name in ("timeline", *_ON_DEMAND):  # each at once, for side by side they would widen the window
            self.tabifyDockWidget(self.docks["path"], self.docks[name])
        for name in _ON_DEMAND:
            self.docks[name].hide()  # until there is something to see
        for name in _FRONT:
            self.docks[name].raise_()
        self.resize(_FIRST_SIZE)
        self._proportion()

    def _proportion(self) -> None:
        docks = self.docks
        horizontal, vertical = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
        self.resizeDocks([docks["settings"], docks["candidates"]], [_LEFT, _RIGHT], horizontal)
        self.resizeDocks([docks["path"]], [_BOTTOM], vertical)
        self.resizeDocks([docks["prompt"], docks["settings"]], [300, 420], vertical)
        self.resizeDocks([docks["candidates"], docks["why"]], [420, 300], vertical)

    def _restore(self) -> None:
        layout = self._preferences.layout
        if layout is not None:
            self.restoreGeometry(layout[0])
            self.restoreState(layout[1])

    def _fill_docks_menu(self, menu: QMenu) -> None:
        for dock in self.docks.values():
            action: QAction = dock.toggleViewAction()
            action.setToolTip(tr("Show or hide this panel."))
            menu.addAction(action)

    def _build_toolbar(self) -> None:
        bar = QToolBar(tr("Steps"))
        bar.setObjectName("toolbar")
        bar.setMovable(False)
        bar.setIconSize(QSize(4 * GRID, 4 * GRID))
        bar.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        bar.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self.addToolBar(bar)
        for name in TOOLBAR:
            if name == "@model":
                bar.addWidget(self._model_chooser())
            elif name == "@run":
                bar.addWidget(self._run_button())
            elif name == "@space":
                space = QWidget()
                space.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
                bar.addWidget(space)
            elif name == SEPARATOR:
                bar.addSeparator()
            elif name == "stop":
                button = SteadyButton(self.actions_[name], bar)
                bar.addWidget(button)
                self._style_button(button, name)
            else:
                bar.addAction(self.actions_[name])
                self._style_button(bar.widgetForAction(self.actions_[name]), name)

    def _style_button(self, button: QWidget, name: str) -> None:
        if isinstance(button, QToolButton):
            button.setAccessibleName(self.actions_[name].text())
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            if name in _ICON_ONLY and not self.actions_[name].icon().isNull():
                button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)

    def _model_chooser(self) -> QToolButton:
        self.model_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.model_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.model_button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.model_button.setIcon(self.actions_["models"].icon())
        self.model_button.setText(tr("No model"))
        describe(self.model_button, tr("Model"), tr("The model that steps. Choose another here; sessions stay."))
        return self.model_button

    def _run_button(self) -> QToolButton:
        button = QToolButton()
        button.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        menu = QMenu(button)
        menu.setToolTipsVisible(True)
        for name in RUN_MENU:
            if name == SEPARATOR:
                menu.addSeparator()
            else:
                menu.addAction(self.actions_[name])
        button.setMenu(menu)
        self.actions_["run_greedy"].setIconText(tr("Run"))
        button.setDefaultAction(self.actions_["run_greedy"])
        button.setAccessibleName(tr("Run"))
        return button


def application_icon() -> QIcon:
    """The program's own icon."""
    pixmap = QPixmap()
    pixmap.loadFromData(QByteArray((files("resources") / "icons" / "app.svg").read_bytes()), "SVG")
    return QIcon(pixmap)
