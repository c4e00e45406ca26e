"""Settings: built from the filters' own declarations, previewed while they move, committed when they rest."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import (
    QApplication,
    QDoubleSpinBox,
    QLineEdit,
    QPushButton,
    QSlider,
    QSpinBox,
)
from pytestqt.qtbot import QtBot

from explorer.decoding.params import Settings, StopParams
from explorer.decoding.processors import PARAMETERS
from ui.panels.id_lists import format_ids, parse_ids
from ui.panels.parameter_row import NumberRow, number_range, slider_range
from ui.panels.seed_row import LARGEST_SEED, SeedRow
from ui.panels.settings_panel import SettingsPanel
from ui.panels.stop_rules import StopRules, escape, unescape


class Told:
    """What a panel said, in order."""

    def __init__(self, panel: SettingsPanel) -> None:
        self.previews: list[Settings] = []
        self.commits: list[Settings] = []
        panel.previewed.connect(self.previews.append)
        panel.committed.connect(self.commits.append)


@pytest.fixture
def panel(qtbot: QtBot) -> SettingsPanel:
    panel = SettingsPanel()
    qtbot.addWidget(panel)
    return panel


def slider(panel: SettingsPanel, name: str) -> QSlider:
    found = panel.row(name).findChild(QSlider)
    assert found is not None
    return found


def test_every_declared_parameter_has_a_row_that_is_off_at_first(panel: SettingsPanel) -> None:
    for name, parameter in PARAMETERS.items():
        row = panel.row(name)
        assert row.parameter is parameter
        assert row._source.text() == "off"
    assert panel.draft == Settings()


def test_every_row_can_show_every_permitted_bound(panel: SettingsPanel) -> None:
    for name, parameter in PARAMETERS.items():
        row = panel.row(name)
        if not isinstance(row, NumberRow):
            continue
        low, high = slider_range(parameter, row._step)
        least, most = number_range(parameter)
        off = parameter.off
        assert isinstance(off, int | float)
        assert low < high
        assert least <= off <= most
        assert low <= off <= high, name


def test_a_held_slider_previews_and_commits_when_let_go(panel: SettingsPanel) -> None:
    told = Told(panel)
    control = slider(panel, "temperature")
    control.setSliderDown(True)
    for place in (90, 80, 70):
        control.setValue(place)
    assert [s.sampling.get("temperature") for s in told.previews] == [0.9, 0.8, 0.7]
    assert told.commits == []
    control.setSliderDown(False)
    assert [s.sampling.get("temperature") for s in told.commits] == [0.7]
    assert told.commits[0].sources["temperature"] == "user"


def test_typing_commits_after_a_pause(panel: SettingsPanel, qtbot: QtBot) -> None:
    told = Told(panel)
    box = panel.row("top_k").findChild(QSpinBox)
    assert box is not None
    box.setValue(40)
    assert told.commits == []
    qtbot.waitUntil(lambda: bool(told.commits))
    assert told.commits[0].sampling.get("top_k") == 40


def test_moving_back_to_where_it_was_commits_nothing(panel: SettingsPanel) -> None:
    told = Told(panel)
    control = slider(panel, "temperature")
    control.setSliderDown(True)
    control.setValue(50)
    control.setValue(100)
    control.setSliderDown(False)
    assert told.commits == []


def test_reset_switches_a_filter_off(panel: SettingsPanel) -> None:
    panel.reset(Settings().with_sampling("model", temperature=0.6))
    row = panel.row("temperature")
    assert row._source.text() == "from the model's files"
    told = Told(panel)
    row._reset.click()
    assert told.commits[-1].sampling.is_off("temperature")
    assert row._source.text() == "off"


def test_what_the_session_says_is_shown_unless_the_user_holds_another(panel: SettingsPanel) -> None:
    first = Settings().with_sampling("user", temperature=0.5)
    panel.set_settings(first)
    assert slider(panel, "temperature").value() == 50
    control = slider(panel, "top_k")
    control.setSliderDown(True)
    control.setValue(10)
    other = first.with_sampling("user", min_p=0.1)
    panel.set_settings(other)
    assert panel.draft.sampling.get("top_k") == 10
    panel.reset(other)
    assert panel.draft == other


def test_ids_that_cannot_be_read_are_refused_beside_the_field(panel: SettingsPanel) -> None:
    told = Told(panel)
    row = panel.row("ban")
    edit = row.findChild(QLineEdit)
    assert edit is not None
    edit.setText("7, x")
    edit.editingFinished.emit()
    assert told.commits == []
    assert "x" in row._error.text()
    edit.setText("7, 9")
    edit.editingFinished.emit()
    assert told.commits[-1].sampling.get("ban") == (7, 9)
    assert row._error.text() == ""


def test_starting_points_replace_the_filters_and_keep_the_stop_rules(panel: SettingsPanel) -> None:
    panel.reset(Settings().with_sampling("user", min_p=0.2).with_stopping("user", max_new_tokens=9))
    told = Told(panel)
    box = panel.presets
    box.setCurrentIndex(box.findData("chat"))
    box.activated.emit(box.currentIndex())
    chosen = told.commits[-1]
    assert dict(chosen.sampling.values) == {"temperature": 0.7, "top_p": 0.9}
    assert chosen.stopping.max_new_tokens == 9
    assert chosen.sources["temperature"] == "preset"
    panel._all_off.click()
    assert dict(told.commits[-1].sampling.values) == {}
    assert told.commits[-1].stopping.max_new_tokens == 9


def test_the_wheel_scrolls_the_panel_and_changes_no_value(panel: SettingsPanel) -> None:
    told = Told(panel)
    panel.show()
    control = slider(panel, "temperature")
    centre = QPointF(control.rect().center())
    wheel = QWheelEvent(
        centre, control.mapToGlobal(centre), QPoint(0, 0), QPoint(0, -120),
        Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    assert wheel.type() == QEvent.Type.Wheel
    QApplication.sendEvent(control, wheel)
    assert told.previews == []
    panel.hide()


# --- stop rules -------------------------------------------------------------------------------------------------------


@pytest.fixture
def rules(qtbot: QtBot) -> StopRules:
    rules = StopRules()
    qtbot.addWidget(rules)
    return rules


def test_limits_none_and_zero_are_different(rules: StopRules) -> None:
    """C25: no limit is not a limit of zero."""
    told: list[dict[str, Any]] = []
    rules.changed.connect(told.append)
    rules.set_stopping(StopParams(), {})
    assert rules._new_tokens.text() == "no limit"
    rules._new_tokens.setValue(0)
    rules._new_tokens.setValue(-1)
    assert told == [{"max_new_tokens": 0}, {"max_new_tokens": None}]


def test_stop_strings_one_a_line_with_line_breaks_written_out(rules: StopRules) -> None:
    told: list[dict[str, Any]] = []
    rules.changed.connect(told.append)
    rules._strings.setPlainText("six\n\\n\\n\n\\\\n")
    assert told[-1] == {"stop_strings": ("six", "\n\n", "\\n")}


@given(st.text(st.characters(exclude_characters="\r", exclude_categories=("Cs",)), min_size=1))
def test_stop_strings_survive_being_shown(text: str) -> None:
    assert unescape(escape(text)) == text
    assert "\n" not in escape(text)


def test_own_end_tokens_or_others(rules: StopRules) -> None:
    told: list[dict[str, Any]] = []
    rules.changed.connect(told.append)
    rules.set_model_eos((2, 7), ("<eos>", "<end>"))
    rules.set_stopping(StopParams(), {})
    assert "<eos> (2)" in rules._listed.text()
    rules._own.click()
    assert told[-1] == {"eos_token_ids": (2, 7)}
    rules.set_stopping(StopParams(eos_token_ids=(2, 7)), {})
    rules._eos.setText("")
    rules._eos.editingFinished.emit()
    assert told[-1] == {"eos_token_ids": ()}


# --- ids and seeds ----------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 262_143)).map(tuple))
def test_ids_survive_being_shown(ids: tuple[int, ...]) -> None:
    assert parse_ids(format_ids(ids), pairs=False) == ids


def test_pairs_survive_being_shown() -> None:
    pairs = ((3, -1.5), (7, 2.0))
    assert parse_ids(format_ids(pairs), pairs=True) == pairs


@pytest.mark.parametrize("text", ["-1", "1.5", "a", "٣", "1=2"])
def test_what_is_no_id_is_named(text: str) -> None:
    with pytest.raises(ValueError, match=text):
        parse_ids(text, pairs=False)


@pytest.mark.parametrize("text", ["1", "1=", "=2", "1=x"])
def test_what_is_no_pair_is_named(text: str) -> None:
    with pytest.raises(ValueError, match=text):
        parse_ids(text, pairs=True)


def test_the_largest_seed_passes_through_the_field_exactly(qtbot: QtBot) -> None:
    """C41: beyond what a spin box or a C++ int holds."""
    row = SeedRow()
    qtbot.addWidget(row)
    told: list[tuple[int, int]] = []
    row.changed.connect(lambda seed, index: told.append((seed, index)))
    row._edit.setText(str(LARGEST_SEED))
    row._edit.editingFinished.emit()
    row._edit.setText("9999999999999999999")  # more than 2^63 - 1: the largest there is
    row._edit.editingFinished.emit()
    assert told == [(LARGEST_SEED, 0), (LARGEST_SEED, 0)]
    row.set_seed(LARGEST_SEED, 12)
    assert row._edit.text() == str(LARGEST_SEED)
    assert row._label.text() == "next draw: #12"
    row.findChildren(QPushButton)[0].click()
    assert told[-1] == (LARGEST_SEED, 0)


def test_a_float_box_takes_more_than_its_slider(panel: SettingsPanel) -> None:
    told = Told(panel)
    box = panel.row("temperature").findChild(QDoubleSpinBox)
    assert box is not None
    box.setValue(5.0)
    panel.commit()
    assert told.commits[-1].sampling.get("temperature") == 5.0
    assert slider(panel, "temperature").value() == slider(panel, "temperature").maximum()
