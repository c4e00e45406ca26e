"""A panel whose drawing needs arrays that another thread prepares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from ui.explain.panel import ExplainPanel

Value = TypeVar("Value")


@dataclass(slots=True, eq=False)
class _Asked:
    """What a channel waits for, all of it about one subject; tickets in the order in which they were asked."""

    subject: object
    waiting: dict[object, Callable[[Any], None]] = field(default_factory=dict)


class AnalysedPanel(ExplainPanel):
    """Asks for what it needs and is given it later.

    An answer is taken while it is about the same subject (a node) and newer than the one before: while a slider moves
    faster than answers come, each that comes is shown. What was asked about another subject is dropped.
    """

    wanted = Signal(str, object, object)
    """A channel, a ticket, and a pure function without arguments; its value is to come back through `take`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._asked: dict[str, _Asked] = {}

    def take(self, channel: str, ticket: object, value: object) -> None:
        """The answer to a wish."""
        asked = self._asked.get(channel)
        done = None if asked is None else asked.waiting.get(ticket)
        if asked is None or done is None:
            return
        for earlier in list(asked.waiting):
            del asked.waiting[earlier]
            if earlier is ticket:
                break
        done(value)

    def ask(
        self, channel: str, work: Callable[[], Value], done: Callable[[Value], None], *, subject: object = None
    ) -> None:
        """Have ``work()`` computed and ``done`` called with it in the GUI thread; ``work`` must not touch the panel.

        With a ``subject`` an answer that was overtaken still counts while the subject is the same; without one only
        the answer to the last wish does.
        """
        asked = self._asked.get(channel)
        if asked is None or subject is None or asked.subject is not subject:
            asked = self._asked[channel] = _Asked(subject)
        ticket = object()
        asked.waiting[ticket] = done
        self.wanted.emit(channel, ticket, work)

    def forget(self, channel: str) -> None:
        """Drop what was asked."""
        self._asked.pop(channel, None)
