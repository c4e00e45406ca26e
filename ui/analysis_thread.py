"""The thread that prepares what panels draw: pure computations over arrays, of each kind only the latest wish."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from explorer.messages import ExplorerError
from ui.bridge import Bridge, Event, unexpected
from ui.thread_priority import let_the_window_go_first


class AnalysisThread:
    """Carries out the latest wish of every channel; one that was overtaken before it began is never carried out.

    A wish is a ticket, any object by which its owner knows it, and a function without arguments. Answers come as the
    bridge's event ``analysis:`` + channel with ``(ticket, value)``; failures as ``analysis_failed`` with the message.
    """

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge
        self._condition = threading.Condition()
        self._wishes: dict[str, tuple[object, Callable[[], Any]]] = {}
        self._busy = False
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="analysis", daemon=True)

    def start(self) -> None:
        self._thread.start()

    @property
    def resting(self) -> bool:
        """Whether every wish was carried out."""
        with self._condition:
            return not self._wishes and not self._busy

    def ask(self, channel: str, ticket: object, work: Callable[[], Any]) -> None:
        """Compute ``work()`` instead of what the channel still waits for."""
        with self._condition:
            self._wishes[channel] = (ticket, work)
            self._condition.notify()

    def close(self, timeout: float) -> bool:
        """Wait for the thread to end; False when it has not after ``timeout`` seconds."""
        with self._condition:
            self._closing = True
            self._condition.notify()
        if self._thread.ident is not None:
            self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        let_the_window_go_first()
        while True:
            with self._condition:
                self._busy = False
                self._condition.wait_for(lambda: self._wishes or self._closing)
                if self._closing:
                    return
                channel = next(iter(self._wishes))  # the one that waits longest: no channel starves another
                ticket, work = self._wishes.pop(channel)
                self._busy = True
            try:
                value = work()
            except Exception as error:
                message = error.message if isinstance(error, ExplorerError) else unexpected(error)
                self._bridge.put(Event("analysis_failed", message, latest_only=True))
            else:
                self._bridge.put(Event(f"analysis:{channel}", (ticket, value), latest_only=True))
