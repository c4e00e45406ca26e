"""The timeline: a session as a film, to be played, stepped through and scrubbed, and left again where one likes."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from explorer.i18n import tr
from explorer.replay import Film
from explorer.text import Vocabulary
from ui.panels.common import GRID, compact, describe, plain_label, tool_button
from ui.timeline.legend import MarkLegend
from ui.timeline.player import AS_RECORDED, SPEEDS, Player
from ui.timeline.strip import Depths, TimelineStrip
from ui.timeline.words import moment_lines, moment_place, moment_title


class TimelinePanel(QWidget):
    """Shows the film it is given; asks for moments, and is told which one the window shows."""

    moment_wanted = Signal(int)
    live_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._film: Film | None = None
        self._vocabulary: Vocabulary | None = None
        self._telling = False
        self.player = Player(self)
        self.player.moment_due.connect(self.moment_wanted)
        self.player.playing_changed.connect(self._playing)
        self.strip = TimelineStrip()
        self.strip.words = self._words
        self.strip.valueChanged.connect(self._scrubbed)
        self.strip.play_requested.connect(self.toggle_play)
        self.strip.gesture_requested.connect(self.step_gesture)
        self.said = plain_label(wrap=False)
        self.said.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._legend = MarkLegend()
        self._empty = plain_label(
            tr("Nothing has happened in this session yet. Every step, change and search becomes a moment here."),
            quiet=True,
        )
        self._build()
        self.set_film(None, None, None)

    def _build(self) -> None:
        self.first = tool_button("|◁", tr("To the beginning."), lambda: self._want(0))
        self.back = tool_button("◁", tr("Moment before."), lambda: self.step(-1))
        self.play = tool_button("▶", tr("Play the session."), self.toggle_play)
        self.play.setCheckable(True)
        self.forward = tool_button("▷", tr("Next moment."), lambda: self.step(1))
        self.last = tool_button("▷|", tr("To the present."), self.live_requested.emit)
        self.speeds = QComboBox()
        compact(self.speeds)
        for speed in SPEEDS:
            self.speeds.addItem(tr("{factor}×").format(factor=f"{speed:g}"), speed)
        self.speeds.addItem(tr("as recorded"), AS_RECORDED)
        self.speeds.setCurrentIndex(SPEEDS.index(1.0))
        describe(
            self.speeds,
            tr("Speed"),
            tr("How fast the session is played: at 1× two moments a second; as recorded shortens long pauses."),
        )
        self.speeds.activated.connect(lambda place: self.player.set_speed(self.speeds.itemData(place)))
        head = QHBoxLayout()
        head.setSpacing(GRID)
        self._buttons = (self.first, self.back, self.play, self.forward, self.last)
        for control in (*self._buttons, self.speeds):
            head.addWidget(control)
        head.addSpacing(2 * GRID)
        head.addWidget(self.said, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        layout.setSpacing(GRID)
        layout.addLayout(head)
        layout.addWidget(self.strip, 1)
        layout.addWidget(self._legend)
        layout.addWidget(self._empty)

    # --- contents ----------------------------------------------------------------------------------------------------

    @property
    def number(self) -> int:
        """The moment that is shown."""
        return self.strip.value()

    def set_film(self, film: Film | None, depths: Depths | None, vocabulary: Vocabulary | None) -> None:
        """Show another film, or a longer one, at its end. ``depths`` are those of the current nodes of all moments,
        int32[n + 1]."""
        self.player.pause()
        self._film, self._vocabulary = film, vocabulary
        filled = film is not None and len(film) > 0
        for widget in (self.strip, self._legend, self.said, self.speeds, *self._buttons):
            widget.setVisible(filled)
        self._empty.setVisible(not filled)
        if film is None or depths is None:
            self.set_moment(0)
            return
        marks = [moment.mark for moment in film.moments]
        self._telling = True
        self.strip.set_moments(marks, depths)
        self._telling = False
        self._legend.set_marks(marks)
        self.set_moment(len(film))

    def set_moment(self, number: int, *, past: bool = False) -> None:
        """The window shows a moment now; ``past`` says that it is not the session as it stands."""
        self._telling = True
        self.strip.setValue(number)
        self._telling = False
        film = self._film
        if film is None:
            self.said.setText("")
            return
        self.first.setEnabled(number > 0)
        self.back.setEnabled(number > 0)
        self.forward.setEnabled(number < len(film))
        self.last.setEnabled(past)
        place, title = moment_place(film, number), moment_title(film, number, self._vocabulary)
        self.said.setText(f"{place[:1].upper()}{place[1:]} · {title}" if past else tr("The present") + f" · {title}")
        self.said.setToolTip(self.said.text())
        self.strip.setAccessibleDescription(self.said.text())

    # --- wishes ------------------------------------------------------------------------------------------------------

    def step(self, by: int) -> None:
        """One moment back or on."""
        self._want(self.number + by)

    @Slot(int)
    def step_gesture(self, by: int) -> None:
        """To the end of the whole command before, or of the next one."""
        if self._film is not None:
            self._want(self._film.gesture_before(self.number) if by < 0 else self._film.gesture_after(self.number))

    @Slot()
    def toggle_play(self) -> None:
        """Play from the moment that is shown, from the beginning where that is the last; or stop playing."""
        film = self._film
        if self.player.playing:
            self.player.pause()
        elif film is not None and len(film):
            if self.number >= len(film):
                self._want(0)
            self.player.play(film, self.number)
        self.play.setChecked(self.player.playing)

    @Slot(int)
    def _scrubbed(self, number: int) -> None:
        if not self._telling:
            self._want(number)

    def _want(self, number: int) -> None:
        film = self._film
        if film is not None:
            self.player.pause()
            self.moment_wanted.emit(max(0, min(len(film), number)))

    @Slot(bool)
    def _playing(self, playing: bool) -> None:
        self.play.setChecked(playing)
        self.play.setText("⏸" if playing else "▶")
        self.play.setAccessibleName(tr("Pause") if playing else tr("Play the session"))

    def _words(self, number: int) -> tuple[str, ...]:
        return () if self._film is None else moment_lines(self._film, number, self._vocabulary)
