"""A panel whose drawing needs arrays that another thread prepares."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from ui.explain.panel import ExplainPanel

Value = TypeVar("Value")


class AnalysedPanel(ExplainPanel):
    """Asks for what it needs and is given it later; an answer that was overtaken is dropped by its ticket."""

    wanted = Signal(str, object, object)
    """A channel, a ticket, and a pure function without arguments; its value is to come back through `take`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._asked: dict[str, tuple[object, Callable[[object], None]]] = {}

    def take(self, channel: str, ticket: object, value: object) -> None:
        """The answer to a wish."""
        asked = self._asked.get(channel)
        if asked is not None and asked[0] is ticket:
            del self._asked[channel]
            asked[1](value)

    def ask(self, channel: str, work: Callable[[], Value], done: Callable[[Value], None]) -> None:
        """Have ``work()`` computed and ``done`` called with it in the GUI thread, unless something else is asked first.

        ``work`` must not touch the panel.
        """
        ticket = object()
        self._asked[channel] = (ticket, done)  # type: ignore[assignment]  # what comes back is what work returned
        self.wanted.emit(channel, ticket, work)

    def forget(self, channel: str) -> None:
        """Drop what was asked."""
        self._asked.pop(channel, None)
