"""Hints where a situation arises: below the path, a line each, with the page that explains it."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from explorer.decoding.text_advice import TextCase, text_advice
from explorer.events import NodeView
from ui.controllers.session_controller import SessionController
from ui.main_window import MainWindow
from ui.session_thread import OpenedSession, ShownView


class HintController(QObject):
    """Looks at every node that is shown."""

    def __init__(self, window: MainWindow, session: SessionController) -> None:
        super().__init__(window)
        self._window = window
        self._opened: OpenedSession | None = None
        session.opened.connect(self._open)
        session.shown.connect(self._show)

    @Slot(object)
    def _open(self, opened: OpenedSession) -> None:
        self._opened = opened
        self._window.hints.set_advice(())

    @Slot(object)
    def _show(self, shown: ShownView) -> None:
        if self._opened is not None and not shown.computing:
            self._window.hints.set_advice(text_advice(_case(self._opened, shown.view)))


def _case(opened: OpenedSession, view: NodeView) -> TextCase:
    ids, vocabulary = view.context.generated_ids, opened.vocabulary
    ends = frozenset(opened.model.eos_token_ids)
    specials = [vocabulary.label(i) for i in ids if vocabulary.is_special(i) and i not in ends]
    return TextCase(
        settings=view.state.settings,
        prompt_kind=view.state.prompt.kind,
        prompt_text=view.state.prompt.text,
        has_template=opened.model.chat_template is not None,
        generated_ids=ids,
        text=vocabulary.decode(ids[-8:]),  # its end says whether a sentence was over
        stop="" if view.stop is None else view.stop.kind,
        specials=specials,
        kept=None if view.distribution is None else view.distribution.kept,
    )
