"""The clock of a timeline: how long moments stay, and when it ends."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from explorer.decoding.params import Settings
from explorer.replay import Film, FilmMaker
from explorer.store.records import CommandRecord, SessionState
from explorer.text import Prompt
from ui.timeline.player import AS_RECORDED, Player, delay_ms

START = SessionState("t", Prompt("ids", "", (0,)), Settings(), seed=0, next_draw_index=0, current=0)
BEGAN = datetime(2026, 1, 2, tzinfo=UTC)


def film(*seconds: float) -> Film:
    """Renames at these seconds."""
    state, commands = START, []
    for seq, after in enumerate(seconds, 1):
        named = replace(state, title=str(seq))
        commands.append(CommandRecord(seq, seq, "rename", "user", BEGAN + timedelta(seconds=after), state, named))
        state = named
    return FilmMaker(START).film(commands)


def test_a_speed_is_so_many_moments_a_second() -> None:
    assert [delay_ms(film(0, 1), 1, speed) for speed in (0.25, 1.0, 16.0)] == [2000.0, 500.0, 31.25]


def test_as_recorded_shortens_long_pauses_and_forgives_clocks() -> None:
    recorded = film(0, 0.3, 100, 50)
    assert [delay_ms(recorded, number, AS_RECORDED) for number in range(4)] == pytest.approx([500, 300, 2000, 20])


def test_it_plays_to_the_end_and_stops_there(qtbot: QtBot) -> None:
    owner = QObject()
    player = Player(owner)
    player.set_speed(AS_RECORDED)
    due: list[int] = []
    player.moment_due.connect(due.append)
    recorded = film(0, 0.001, 0.002, 0.003)
    with qtbot.waitSignal(player.playing_changed, check_params_cb=lambda playing: not playing):
        player.play(recorded, 1)
        assert player.playing
    assert due == [2, 3, 4]
    assert not player.playing
    player.play(recorded, 4)  # nothing is left to play
    assert not player.playing


def test_whoever_shows_a_moment_may_stop_it(qtbot: QtBot) -> None:
    owner = QObject()
    player = Player(owner)
    player.set_speed(AS_RECORDED)
    due: list[int] = []
    player.moment_due.connect(lambda number: (due.append(number), player.pause()))
    player.play(film(0, 0.001, 0.002), 1)
    qtbot.waitUntil(lambda: bool(due))
    assert not player.playing
    assert not player._timer.isActive()
