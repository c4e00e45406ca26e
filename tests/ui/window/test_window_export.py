"""Export by keys and clicks in the real window: every format, the clipboard, errors in place, what it remembers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from importlib.metadata import EntryPoint
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from explorer.export import read_csv, read_dot, read_graphml, read_json, registry
from ui.app import Explorer
from ui.controllers.export_controller import file_name
from ui.dialogs.export_dialog import ExportDialog
from ui.export import formats
from ui.export.choices import ExportChoices
from ui.export.sheet import Sheet
from ui.export.work import Work

Settle = Callable[[Explorer], None]
Press = Callable[..., None]
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def branched(lesson: Explorer, press: Press, qtbot: QtBot) -> Explorer:
    """Two branches of the lesson: 豆浆 。 and 咖啡, the latter current."""
    assert QTest.qWaitForWindowActive(lesson.window)  # a dialog was, and no window manager brings the window back
    lesson.exports._preferences.set_form("export", {})  # as at the first start
    press(lesson, Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_2)
    return lesson


def opened(explorer: Explorer, press: Press, settle: Settle) -> ExportDialog:
    """The dialog as Ctrl+E brings it, its preview there."""
    explorer.window.activateWindow()
    assert QTest.qWaitForWindowActive(explorer.window)
    press(explorer, Qt.Key.Key_E, modifier=CONTROL)
    (dialog,) = dialogs()
    previewed(explorer, dialog, settle)
    return dialog


def dialogs() -> list[ExportDialog]:
    """Those that are open."""
    return [w for w in QApplication.topLevelWidgets() if isinstance(w, ExportDialog) and w.isVisible()]


def previewed(explorer: Explorer, dialog: ExportDialog, settle: Settle) -> None:
    """Wait for the preview that the last change asked for."""
    QTest.qWait(1)
    while dialog.waiting:
        QTest.qWait(5)
    settle(explorer)


def choose(dialog: ExportDialog, name: str) -> None:
    """Choose a format by keys."""
    box = dialog.form.format_box
    box.setFocus()
    QTest.keyClick(box, Qt.Key.Key_Home)
    while dialog.form.format.name != name:
        QTest.keyClick(box, Qt.Key.Key_Down)


def write_to(explorer: Explorer, dialog: ExportDialog, path: Path, settle: Settle) -> None:
    """Type the file's name and press Enter."""
    dialog.file_edit.setFocus()
    dialog.file_edit.selectAll()
    QTest.keyClicks(dialog.file_edit, str(path))
    previewed(explorer, dialog, settle)
    QTest.keyClick(dialog.file_edit, Qt.Key.Key_Return)
    settle(explorer)


@pytest.mark.parametrize("name", ["png", "svg", "pdf", "json", "csv", "dot", "graphml"])
def test_every_format_by_keys(branched: Explorer, press: Press, settle: Settle, tmp_path: Path, name: str) -> None:
    dialog = opened(branched, press, settle)
    choose(dialog, name)
    path = tmp_path / f"tree.{name}"
    write_to(branched, dialog, path, settle)
    assert dialogs() == []
    assert str(path) in branched.window.status.currentMessage()
    assert list(tmp_path.glob(".*")) == []
    if name == "svg":
        names = [e.attrib["data-node"] for e in ElementTree.parse(path).iter(SVG + "rect") if "data-node" in e.attrib]
        assert sorted(names) == ["0", "1", "2", "3"]
    elif name in ("png", "pdf"):
        assert path.read_bytes()[:4] in (b"\x89PNG", b"%PDF")
    else:
        read = {"json": read_json, "csv": read_csv, "dot": read_dot, "graphml": read_graphml}[name]
        assert [row.text for row in read(path).nodes] == ["豆浆", "。", "咖啡"]


def test_a_format_of_another_package_that_does_not_load_is_left_out(
    branched: Explorer, press: Press, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = EntryPoint("broken", "no_such_package:Exporter", registry.ENTRY_POINTS)
    others = registry._others()
    monkeypatch.setattr(registry, "_others", lambda: {**others, "broken": broken})
    dialog = opened(branched, press, settle)
    assert [entry.name for entry in dialog.form.formats][:3] == ["png", "svg", "pdf"]
    assert "broken" not in [entry.name for entry in dialog.form.formats]
    (message,) = branched.window.messages.messages
    assert message.code == "export.plugin"
    branched.window.messages.dismiss(message.code)
    dialog.reject()


def test_the_dialog_shows_what_it_will_write(branched: Explorer, press: Press, settle: Settle) -> None:
    dialog = opened(branched, press, settle)
    whole = dialog.pane.shown
    assert not whole.isNull()
    assert dialog.form.size_label.text().endswith("pixels")
    dialog.form.content_box.setFocus()
    QTest.keyClick(dialog.form.content_box, Qt.Key.Key_End)  # the current path
    previewed(branched, dialog, settle)
    path = dialog.pane.shown
    assert path.height() < whole.height()
    dialog.form.theme_box.setFocus()
    QTest.keyClick(dialog.form.theme_box, Qt.Key.Key_End)  # dark
    previewed(branched, dialog, settle)
    assert dialog.pane.shown.pixelColor(3, 3).lightness() < 60 < path.pixelColor(3, 3).lightness()
    choose(dialog, "graphml")
    previewed(branched, dialog, settle)
    assert dialog.pane.shown.isNull()
    assert not dialog.form.scale_box.isEnabled()
    assert not dialog.copy_button.isEnabled()
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert dialogs() == []


def test_choices_are_remembered(branched: Explorer, press: Press, settle: Settle, tmp_path: Path) -> None:
    dialog = opened(branched, press, settle)
    choose(dialog, "svg")
    for box in (dialog.form.title_box, dialog.form.legend_box, dialog.form.transparent_box):
        box.setFocus()
        QTest.keyClick(box, Qt.Key.Key_Space)
    chosen = dialog.choices
    write_to(branched, dialog, tmp_path / "a.svg", settle)
    again = opened(branched, press, settle)
    assert again.choices == ExportChoices(**{**chosen.to_json(), "folder": str(tmp_path)})
    assert again.path.parent == tmp_path
    assert again.path.suffix == ".svg"
    again.reject()


def test_a_file_that_is_there_is_announced_and_replaced(
    branched: Explorer, press: Press, settle: Settle, tmp_path: Path
) -> None:
    path = tmp_path / "old.json"
    path.write_text("old")
    dialog = opened(branched, press, settle)
    assert dialog.export_button.text() == "Export"
    dialog.file_edit.setText(str(path))
    assert dialog.form.format.name == "json", "the suffix that is typed chooses the format"
    assert dialog.export_button.text() == "Replace"
    assert "old.json" in dialog.status.text()
    write_to(branched, dialog, path, settle)
    assert len(read_json(path).nodes) == 3


def test_errors_are_said_in_place(branched: Explorer, press: Press, settle: Settle, tmp_path: Path) -> None:
    dialog = opened(branched, press, settle)
    for name in ("png", "csv"):
        choose(dialog, name)
        write_to(branched, dialog, tmp_path / "nowhere" / f"x.{name}", settle)
        assert dialogs() == [dialog]
        assert "could not be written" in dialog.status.text()
        assert dialog.export_button.isEnabled()
    assert branched.window.messages.messages == []
    write_to(branched, dialog, tmp_path / "x.csv", settle)
    assert dialogs() == []


def test_a_picture_that_is_too_large_offers_a_scale_that_fits(
    branched: Explorer, press: Press, settle: Settle, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    monkeypatch.setattr(formats, "MOST_PIXELS", 500_000)
    dialog = opened(branched, press, settle)
    dialog.form.choose_format("png")
    dialog.form.scale_box.setValue(8)
    previewed(branched, dialog, settle)
    assert "million" in dialog.status.text()
    assert not dialog.export_button.isEnabled()
    dialog.form.choose_format("csv")  # which has no pixels
    previewed(branched, dialog, settle)
    assert dialog.status.text() == ""
    assert dialog.export_button.isEnabled()
    dialog.form.choose_format("png")
    previewed(branched, dialog, settle)
    qtbot.mouseClick(dialog.fit_button, Qt.MouseButton.LeftButton)
    previewed(branched, dialog, settle)
    assert dialog.form.scale_box.value() < 8
    assert dialog.export_button.isEnabled()
    assert dialog.status.text() == ""
    dialog.reject()


def test_writing_can_be_stopped(
    branched: Explorer, press: Press, settle: Settle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The dialog stays and says so; the window went on meanwhile; nothing is on the disk."""
    held = threading.Event()

    def hold(sheet: Sheet, file: BytesIO, work: Work) -> None:
        held.set()
        while True:
            work.cancel.raise_if_cancelled()
            threading.Event().wait(0.005)

    monkeypatch.setattr(formats, "WRITERS", {**formats.WRITERS, "svg": hold})
    dialog = opened(branched, press, settle)
    choose(dialog, "svg")
    dialog.file_edit.setText(str(tmp_path / "x.svg"))
    previewed(branched, dialog, settle)
    QTest.keyClick(dialog.file_edit, Qt.Key.Key_Return)
    assert held.wait(60)
    QTest.qWait(30)
    assert dialog.busy
    assert not dialog.form.isEnabled()
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    settle(branched)
    assert dialogs() == [dialog]
    assert dialog.status.text() == "Stopped. Nothing was written."
    assert list(tmp_path.iterdir()) == []
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert dialogs() == []


def test_a_picture_goes_onto_the_clipboard_by_key(branched: Explorer, press: Press, settle: Settle) -> None:
    QGuiApplication.clipboard().clear()
    press(branched, Qt.Key.Key_E, modifier=CONTROL | SHIFT)
    settle(branched)
    data = QGuiApplication.clipboard().mimeData()
    assert data.hasImage()
    image = QGuiApplication.clipboard().image()
    root = ElementTree.fromstring(bytes(data.data("image/svg+xml").data()))
    assert image.width() == float(root.attrib["width"])
    assert f"{image.height()} pixels" in branched.window.status.currentMessage().replace("\u202f", "")


def test_a_picture_goes_onto_the_clipboard_from_the_dialog(branched: Explorer, press: Press, settle: Settle) -> None:
    dialog = opened(branched, press, settle)
    dialog.form.choose_format("pdf")  # whatever the file would be
    previewed(branched, dialog, settle)
    QGuiApplication.clipboard().clear()
    QTest.keyClick(dialog, Qt.Key.Key_E, CONTROL | SHIFT)
    settle(branched)
    assert isinstance(QGuiApplication.clipboard().image(), QImage)
    assert not QGuiApplication.clipboard().image().isNull()
    assert "clipboard" in dialog.status.text()
    dialog.reject()


def test_the_window_may_close_while_a_picture_is_painted(
    start: Callable[..., Explorer], settle: Settle, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """C46: the painting ends, nothing is left on the disk, no thread stays (which the suite checks)."""
    begun = threading.Event()

    def paint(sheet: Sheet, file: BytesIO, work: Work) -> None:
        begun.set()
        while True:
            work.cancel.raise_if_cancelled()
            threading.Event().wait(0.005)

    monkeypatch.setattr(formats, "WRITERS", {"png": paint})
    explorer = start()
    settle(explorer)
    explorer.exports.open_dialog()
    (dialog,) = dialogs()
    dialog.form.choose_format("png")
    dialog.file_edit.setText(str(tmp_path / "x.png"))
    dialog.export_requested.emit()
    assert begun.wait(60)
    explorer.window.close()
    explorer.close()
    assert not (tmp_path / "x.png").exists()


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("The capital of France", "The-capital-of-France"),
        ("早餐喝 🙂/..\\x", "早餐喝-..-x"),
        ("///", "session 7"),
        ("a" * 99, "a" * 60),
    ],
)
def test_file_names_are_what_file_systems_like(title: str, name: str) -> None:
    assert file_name(title, 7) == name


def test_choices_that_make_no_sense_count_as_unset() -> None:
    stored = {"format": 3, "content": "moon", "scale": -1.0, "theme": "pink", "legend": "yes", "stamp": False, "x": 1}
    assert ExportChoices.from_json(stored) == ExportChoices(stamp=False)
    assert ExportChoices.from_json(ExportChoices(scale=3.0).to_json()) == ExportChoices(scale=3.0)
