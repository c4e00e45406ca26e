"""The clock that plays a film: so many moments a second, or as fast as they followed each other."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from explorer.replay import Film

SPEEDS: Final = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
AS_RECORDED: Final = 0.0
"""The speed at which the session went, long pauses shortened."""

_MOMENT_MS: Final = 500.0  # at speed 1
_SHORTEST_MS, _LONGEST_MS = 20.0, 2000.0


class Player(QObject):
    """Asks for one moment after the other; whoever shows them says when another is looked at."""

    moment_due = Signal(int)
    playing_changed = Signal(bool)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.speed = 1.0
        self._film: Film | None = None
        self._number = 0
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)

    @property
    def playing(self) -> bool:
        return self._film is not None

    def play(self, film: Film, number: int) -> None:
        """Go on from a moment to the end."""
        if number >= len(film):
            return
        self._film, self._number = film, number
        self._wait()
        self.playing_changed.emit(True)

    def pause(self) -> None:
        """Stay where it is."""
        if self._film is not None:
            self._timer.stop()
            self._film = None
            self.playing_changed.emit(False)

    def set_speed(self, speed: float) -> None:
        """One of `SPEEDS`, or `AS_RECORDED`; in force at once."""
        self.speed = speed
        if self._timer.isActive():
            self._wait()

    def _wait(self) -> None:
        assert self._film is not None
        self._timer.start(round(delay_ms(self._film, self._number, self.speed)))

    @Slot()
    def _tick(self) -> None:
        film = self._film
        if film is None:
            return
        self._number += 1
        self.moment_due.emit(self._number)
        if self._film is not film:
            return  # paused by whoever was told
        if self._number >= len(film):
            self.pause()
        else:
            self._wait()


def delay_ms(film: Film, number: int, speed: float) -> float:
    """How long moment ``number`` stays before the next one is shown, in milliseconds."""
    if speed != AS_RECORDED:
        return _MOMENT_MS / speed
    if number == 0:
        return _MOMENT_MS
    passed = film.moments[number].at - film.moments[number - 1].at  # a clock may have been set back meanwhile
    return max(_SHORTEST_MS, min(_LONGEST_MS, 1000 * passed.total_seconds()))
