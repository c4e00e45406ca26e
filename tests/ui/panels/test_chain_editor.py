"""The chain of filters: its order by preset, arrow, key and drag; its stages switched off and on again."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtWidgets import QAbstractItemView
from pytestqt.qtbot import QtBot

from explorer.decoding.params import SamplingParams, Settings
from explorer.decoding.processors import ORDERS, PARAMETERS, STAGES
from ui.panels.chain_editor import ChainEditor
from ui.panels.chain_list import ROW_HEIGHT
from ui.panels.chain_model import NAME, VALUE, ChainModel
from ui.panels.setting_text import setting_text
from ui.panels.settings_panel import SettingsPanel


class Told:
    """What a model asked for, in order; it is given what it asks for, as the settings do."""

    def __init__(self, model: ChainModel) -> None:
        self.sampling = SamplingParams()
        self.wanted: list[str] = []
        self._model = model
        model.order_changed.connect(self._reorder)
        model.values_changed.connect(self._change)
        model.value_wanted.connect(self.wanted.append)

    def show(self, order: Any = "transformers", **values: Any) -> None:
        self._take(SamplingParams.make(order, **values))

    def _reorder(self, order: Any) -> None:
        self._take(SamplingParams(self.sampling.values, order))

    def _change(self, values: Any) -> None:
        self._take(self.sampling.with_values(**values))

    def _take(self, sampling: SamplingParams) -> None:
        self.sampling = sampling
        self._model.set_sampling(sampling)


@pytest.fixture
def model(qtbot: QtBot) -> ChainModel:
    return ChainModel()


@pytest.fixture
def told(model: ChainModel) -> Told:
    return Told(model)


@pytest.fixture
def editor(qtbot: QtBot, model: ChainModel) -> ChainEditor:
    editor = ChainEditor(model)
    qtbot.addWidget(editor)
    editor.resize(300, editor.sizeHint().height())
    editor.show()
    qtbot.waitActive(editor)
    return editor


def choose(editor: ChainEditor, data: str) -> None:
    box = editor.preset_box
    box.setCurrentIndex(box.findData(data))
    box.activated.emit(box.currentIndex())


def test_an_order_by_name_and_ones_own(editor: ChainEditor, model: ChainModel, told: Told) -> None:
    choose(editor, "llama.cpp")
    assert told.sampling.order == "llama.cpp"
    assert model.names == ORDERS["llama.cpp"]
    assert model.preset == "llama.cpp"
    choose(editor, "")
    assert told.sampling.order == ORDERS["llama.cpp"]
    assert editor.preset_box.currentText() == "My own order"


def test_stages_move_by_arrow_and_by_key(editor: ChainEditor, model: ChainModel, told: Told, qtbot: QtBot) -> None:
    names = list(model.names)
    editor.list.setFocus()
    editor.list.setCurrentIndex(model.index(1))
    qtbot.keyClick(editor.list, Qt.Key.Key_Up, Qt.KeyboardModifier.ControlModifier)
    names[0], names[1] = names[1], names[0]
    qtbot.waitUntil(lambda: told.sampling.order == tuple(names))
    assert editor.list.current_name() == names[0]
    qtbot.keyClick(editor.list, Qt.Key.Key_Down, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: told.sampling.order == ORDERS["transformers"])
    editor.list.setCurrentIndex(model.index(0))
    qtbot.keyClick(editor.list, Qt.Key.Key_Up, Qt.KeyboardModifier.ControlModifier)  # nothing is above
    assert model.names == ORDERS["transformers"]


def test_a_stage_is_dragged(editor: ChainEditor, model: ChainModel, told: Told, qtbot: QtBot) -> None:
    """What Qt's list does at the end of a drag inside it: it moves the row. No platform without a screen drags."""
    names = list(model.names)
    view = editor.list
    assert view.dragDropMode() == QAbstractItemView.DragDropMode.InternalMove
    assert all(model.flags(model.index(row)) & Qt.ItemFlag.ItemIsDragEnabled for row in range(model.rowCount()))
    view.setCurrentIndex(model.index(0))
    assert model.moveRow(QModelIndex(), 0, QModelIndex(), 3)
    qtbot.waitUntil(lambda: told.sampling.order == (*names[1:3], names[0], *names[3:]))
    assert view.current_name() == names[0]
    assert not model.moveRow(QModelIndex(), 2, QModelIndex(), 3)  # where it is already


def test_a_stage_is_switched_off_and_comes_back_with_its_value(
    editor: ChainEditor, model: ChainModel, told: Told, qtbot: QtBot
) -> None:
    told.show(top_p=0.83, temperature=0.7)
    row = model.row_of("top_p")
    rect = editor.list.visualRect(model.index(row))
    box = QPoint(rect.left() + 14, rect.center().y())
    qtbot.mouseClick(editor.list.viewport(), Qt.MouseButton.LeftButton, pos=box)
    assert dict(told.sampling.values) == {"temperature": 0.7}
    assert model.was_on("top_p")
    qtbot.mouseClick(editor.list.viewport(), Qt.MouseButton.LeftButton, pos=box)
    assert told.sampling.get("top_p") == 0.83
    editor.list.setFocus()
    editor.list.setCurrentIndex(model.index(row))
    qtbot.keyClick(editor.list, Qt.Key.Key_Space)
    assert told.sampling.is_off("top_p")
    model.forget()
    assert not model.was_on("top_p")


def test_a_stage_that_never_had_a_value_begins_with_the_usual_one(model: ChainModel, told: Told) -> None:
    for stage in STAGES:
        model.switch(stage.name, True)
        known = all(parameter.usual is not None for parameter in stage.parameters)
        assert told.sampling.runs(stage) == known, stage.name
        assert known or told.wanted[-1] == stage.parameters[0].name


def test_usual_values_are_permitted_ones() -> None:
    for name, parameter in PARAMETERS.items():
        if parameter.usual is not None:
            assert not SamplingParams({name: parameter.usual}).is_off(name)


def test_a_click_on_a_name_chooses_and_does_not_switch(
    editor: ChainEditor, model: ChainModel, told: Told, qtbot: QtBot
) -> None:
    told.show(top_k=5)
    chosen: list[str] = []
    editor.list.chosen.connect(chosen.append)
    rect = editor.list.visualRect(model.index(model.row_of("top_k")))
    qtbot.mouseClick(editor.list.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())
    qtbot.keyClick(editor.list, Qt.Key.Key_Return)
    assert chosen == ["top_k", "top_k"]
    assert told.sampling.get("top_k") == 5


def test_rows_say_what_is_on_and_with_which_value(model: ChainModel, told: Told) -> None:
    told.show(top_p=0.9, top_k=50, ban=(1, 2), epsilon_cutoff=0.0003)
    said = {str(model.index(row).data(NAME)): str(model.index(row).data(VALUE)) for row in range(model.rowCount())}
    assert {name: value for name, value in said.items() if value} == {
        "top_p": "0.90",
        "top_k": "50",
        "ban": "2 tokens",
        "epsilon": "0.0003",
    }
    index = model.index(model.row_of("top_p"))
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == "Top-p, 0.90"
    assert index.data(Qt.ItemDataRole.CheckStateRole) == Qt.CheckState.Checked
    assert "Keeps as many" in str(index.data(Qt.ItemDataRole.ToolTipRole))


def test_numbers_have_the_decimals_they_need() -> None:
    top_p = PARAMETERS["top_p"]
    assert [setting_text(top_p, value) for value in (0.9, 0.925, 1 / 3, None)] == [
        "0.90",
        "0.925",
        "0.3333333333",
        "off",
    ]
    assert setting_text(PARAMETERS["top_k"], 7) == "7"
    assert setting_text(PARAMETERS["ban"], (4,)) == "1 token"


def test_the_settings_show_all_stages_and_follow_their_own_draft(qtbot: QtBot) -> None:
    panel = SettingsPanel()
    qtbot.addWidget(panel)
    commits: list[Settings] = []
    panel.committed.connect(commits.append)
    assert panel._chain.list.height() >= len(STAGES) * ROW_HEIGHT
    panel.chain.switch("top_p", True)
    assert commits[-1].sampling.get("top_p") == 0.9
    assert commits[-1].sources["top_p"] == "user"
    assert panel.row("top_p")._source.text() == "set by you"
    panel.chain.move(panel.chain.row_of("top_p"), -1)
    qtbot.waitUntil(lambda: isinstance(commits[-1].sampling.order, tuple))
    assert panel.draft.sampling.order == panel.chain.names
    panel.row("top_p")._reset.click()
    assert not panel.chain.is_on("top_p")
    panel.show_parameter("ban")
