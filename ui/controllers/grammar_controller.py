"""Between the grammar's editor and the thread that tries grammars out; and switching the grammar off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Slot

from explorer.grammar.constraint import Constraint
from explorer.grammar.verdict import judge, read_grammar_file
from explorer.text import Vocabulary
from ui.analysis_thread import AnalysisThread
from ui.bridge import Bridge
from ui.controllers.session_controller import SessionController
from ui.main_window import MainWindow
from ui.panels.grammar_editor import GrammarRow
from ui.session_thread import OpenedSession

_CHECK, _FILE = "grammar", "grammar_file"


class GrammarController(QObject):
    """Verdicts of texts that were overtaken never come back: only the latest wish is carried out."""

    def __init__(self, window: MainWindow, bridge: Bridge, thread: AnalysisThread, session: SessionController) -> None:
        super().__init__(window)
        self._window = window
        self._thread = thread
        self._vocabulary: Vocabulary | None = None
        row = window.settings.row("grammar")
        assert isinstance(row, GrammarRow)
        self._row = row
        row.check_wanted.connect(self._check)
        row.file_wanted.connect(self._read)
        session.opened.connect(self._opened)
        bridge.happened.connect(self._take_event)
        window.path.grammar.switch_off_requested.connect(self._switch_off)
        window.actions_.connect_all({"grammar": self._edit})

    @Slot(object)
    def _check(self, constraint: Constraint) -> None:
        vocabulary = self._vocabulary
        self._thread.ask(_CHECK, None, lambda: judge(constraint, vocabulary))

    @Slot(object)
    def _read(self, path: Path) -> None:
        self._thread.ask(_FILE, path, lambda: read_grammar_file(path))

    @Slot(object)
    def _opened(self, opened: OpenedSession) -> None:
        if self._vocabulary is None or self._vocabulary.sha256 != opened.vocabulary.sha256:
            self._vocabulary = opened.vocabulary
            if self._row.constraint() is not None:
                self._row.check_again()

    @Slot(str, object)
    def _take_event(self, name: str, value: Any) -> None:
        if name == f"analysis:{_CHECK}":
            self._row.set_verdict(value[1])
        elif name == f"analysis:{_FILE}":
            self._row.set_file(*value)

    def _edit(self) -> None:
        self._window.show_dock("settings")
        self._window.settings.show_parameter("grammar")

    @Slot()
    def _switch_off(self) -> None:
        self._window.settings.change({"grammar": None})
