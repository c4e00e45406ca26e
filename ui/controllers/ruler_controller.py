"""Between the ruler and the rest of the window: what it keeps, what it points at, what is picked on it."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from ui.controllers.session_controller import SessionController
from ui.main_window import MainWindow
from ui.preferences import Preferences
from ui.ruler.rows import KeptRuler, kept_from_json


class RulerController(QObject):
    """Remembers kept rulers, hands tokens and nodes on; pointing at a token marks it in every view of candidates."""

    def __init__(self, window: MainWindow, preferences: Preferences, session: SessionController) -> None:
        super().__init__(window)
        self._window = window
        self._preferences = preferences
        self._session = session
        window.ruler.set_kept(kept_from_json(preferences.rulers))
        window.ruler.kept_changed.connect(self._keep)
        window.ruler.token_activated.connect(self._pick)
        window.ruler.token_hovered.connect(self._point)
        window.ruler.node_wanted.connect(session.select)
        window.candidates.hovered.connect(self._point_at_candidate)

    @Slot(object)
    def _keep(self, kept: tuple[KeptRuler, ...]) -> None:
        self._preferences.rulers = [ruler.to_json() for ruler in kept]

    @Slot(int)
    def _pick(self, token_id: int) -> None:
        if self._session.settled:  # else the ruler still belongs to the node before
            self._session.pick(token_id)

    @Slot(int)
    def _point(self, token_id: int) -> None:
        self._window.candidates.highlight_token(token_id)
        for panel in self._window.explain:
            if panel is not self._window.ruler:
                panel.highlight_token(token_id)

    @Slot(int)
    def _point_at_candidate(self, token_id: int) -> None:
        for panel in self._window.explain:
            panel.highlight_token(token_id)
