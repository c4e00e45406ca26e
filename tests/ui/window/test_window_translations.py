"""Nothing the window shows or tells is left untranslated: every text of the real window, under a marking translation.

The translation used here puts ⟦ ⟧ around every translated text, so that a text nobody translated stands out, wherever
it comes from. What is filled into a translated text is not marked by that: it must be translated itself, or be data.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QSettings, Qt, QTimer
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot
from shown_texts import MarkedTranslation, painted, told, untranslated

from explorer import i18n
from explorer.decoding.logits import Observation, SortedLogits
from explorer.decoding.pipeline import evaluate
from explorer.decoding.processors import PARAMETERS
from explorer.decoding.stopping import StopEvent
from explorer.i18n import N_, tr
from explorer.lessons import lessons
from explorer.messages import UserMessage
from explorer.models.catalog import list_models
from explorer.progress import Progress
from explorer.text import ChatMessage
from explorer.tree import ROOT
from ui.action_list import ACTIONS
from ui.app import Explorer
from ui.bridge import unexpected
from ui.controllers.model_controller import progress_text
from ui.dialogs.pages import about_page
from ui.dialogs.shortcuts import ShortcutsDialog
from ui.format import hex_bytes, how_label, logarithm
from ui.library.note_dialog import NoteDialog
from ui.library.recovery_dialog import RecoveryDialog
from ui.library.verbs import VERBS
from ui.main_window import MainWindow
from ui.panels import model_panel
from ui.preferences import Preferences
from ui.text.colouring import COLOUR_CHOICES, HOW_NAMES
from ui.tree.legend import HowEntry
from ui.tree.words import STOP_WORDS, describe_node, stop_mark

Press = Callable[..., None]
Settle = Callable[[Explorer], None]

# What may stand untranslated, and why.
ALLOWED: dict[str, str] = {
    "Token Tree Explorer": "the program's name",
    "English": "a language's own name",
    "简体中文": "a language's own name",
    "transformers": "a program's name, for its order of the filters",
    "llama.cpp": "a program's name, for its order of the filters",
    "float32": "a number format's name",
    "bfloat16": "a number format's name",
    "float16": "a number format's name",
    "owner/name": "the form of a name on the hub",
    "sha256": "a method's name",
    "MB": "a unit",
    "T": "the temperature in formulas",
    "A": "one of two sides",
    "B": "the other",
    "KL": "a divergence",
    "Press shortcut": "where a key is pressed, from Qt's own catalogue",
    "Close": "on a dock, from Qt's own catalogue",
    "Closes the dock widget": "on a dock, from Qt's own catalogue",
    "Float": "on a dock, from Qt's own catalogue",
    "Undocks and re-attaches the dock widget": "on a dock, from Qt's own catalogue",
    "Scroll Left": "on a row of tabs, from Qt's own catalogue",
    "Scroll Right": "on a row of tabs, from Qt's own catalogue",
    "separator": "Qt's own data of a line between entries; never shown",
    '{"type": "object", …}': "the beginning of a schema, as an example",
    "豆": "the first character of a candidate of the lesson",
    "咖": "the first character of a candidate of the lesson",
    "配": "the first character of a candidate of the lesson",
}
STOPS = (
    StopEvent("eos", {"step": 3, "token_id": 8}),
    StopEvent("stop_string", {"step": 3, "string": "。", "offset": 1}),
    StopEvent("max_new_tokens", {"step": 6, "limit": 6, "ignored_max_length": None}),
    StopEvent("max_new_tokens", {"step": 6, "limit": 6, "ignored_max_length": 20}),
    StopEvent("max_new_tokens", {"step": 0, "limit": 0, "ignored_max_length": None}),
    StopEvent("max_length", {"step": 3, "limit": 4, "prompt_length": 1}),
    StopEvent("max_length", {"step": 0, "limit": 1, "prompt_length": 1}),
    StopEvent("context_window", {"step": 3, "limit": 4, "prompt_length": 1}),
    StopEvent("context_window", {"step": 0, "limit": 4, "prompt_length": 5}),
    StopEvent("no_candidates", {"step": 3, "stage": "top_k"}),
    StopEvent("cancelled", {"step": 3}),
    StopEvent("error", {"step": 3, "code": "x", "message": "7"}),
)


@pytest.fixture(autouse=True, scope="module")
def _marked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        # Names of models on this machine, elided to the width of a list, are neither words nor known data.
        patch.setenv("TOKEN_TREE_MODELS", str(tmp_path_factory.mktemp("models")))
        patch.setattr(i18n, "_catalogue", lambda language: MarkedTranslation())
        i18n.set_language("en")
        yield


class Reader:
    """Looks at widgets and remembers what is not translated."""

    def __init__(self, explorer: Explorer) -> None:
        self.known = {*ALLOWED, *PARAMETERS, *_key_names(), *_data(explorer)}  # names of settings are code
        self.left: set[str] = set()

    def look(self, widget: QWidget) -> None:
        """At all texts of a widget, shown or not, and at what it paints."""
        for where, text in told(widget):
            self.note(where, text)
        self.note(f"painted by {type(widget).__name__}", painted(widget))

    def note(self, where: str, text: str) -> None:
        if rest := untranslated(text, self.known):
            self.left.add(f"{where}: {rest!r} of {text[:200]!r}")

    def check(self) -> None:
        """Fail where anything was found."""
        assert not self.left, "not translated:\n" + "\n".join(sorted(self.left))

    def during(self, trigger: Callable[[], object]) -> None:
        """At the dialog or menu that ``trigger`` opens and that keeps it until it is closed."""
        seen: list[QWidget] = []

        def look() -> None:
            shown = QApplication.activePopupWidget() or QApplication.activeModalWidget()
            if shown is None:
                timer.start(5)
                return
            seen.append(shown)
            self.look(shown)
            shown.close()

        timer = QTimer()
        timer.setSingleShot(True)
        timer.timeout.connect(look)
        timer.start(0)
        trigger()
        timer.stop()
        assert seen, "nothing was opened"


def _key_names() -> set[str]:
    """Keys are called what is printed on them."""
    keys = (
        QKeySequence(QKeySequence.StandardKey.Copy),
        *(QKeySequence(k) for spec in ACTIONS for k in spec.keys),
        *(QKeySequence(verb.key) for verb in VERBS.values() if verb.key is not None),
    )
    return {key.toString(QKeySequence.SequenceFormat.NativeText) for key in keys}


def _data(explorer: Explorer) -> set[str]:
    """What models, tokens, files and sessions are called."""
    opened, info = explorer.session.session, explorer.engine.info
    assert opened is not None
    assert info is not None
    identity, environment = info.identity, info.environment
    known = {opened.state.title, opened.state.prompt.text, "\n".join(opened.state.prompt.text)}
    known |= {identity.name, identity.architecture, identity.sha256, identity.tokenizer_sha256, identity.sha256[:16]}
    known |= {environment.dtype, environment.device, environment.device_name}
    known |= {text for lesson in lessons() for text in lesson.title.texts.values()}
    for token_id in range(len(opened.vocabulary)):
        known |= {opened.vocabulary.label(token_id), hex_bytes(opened.vocabulary.piece(token_id))}
        known |= {opened.vocabulary.text(token_id)}
    for entry in list_models():
        known |= {entry.name, entry.source, entry.sha256 or "", entry.licence or ""}
    return {word for word in known if any(character.isalpha() for character in word)}


@pytest.fixture
def reader(lesson: Explorer) -> Reader:
    return Reader(lesson)


# --- the window -------------------------------------------------------------------------------------------------------


def test_the_window_at_first(lesson: Explorer, reader: Reader) -> None:
    lesson.window.welcome.show()
    reader.look(lesson.window)
    reader.check()


def test_every_panel_in_front(lesson: Explorer, reader: Reader, settle: Settle) -> None:
    for name, dock in lesson.window.docks.items():
        lesson.window.show_dock(name)
        settle(lesson)
        reader.look(dock)
    reader.check()


def test_a_window_without_a_session(lesson: Explorer, reader: Reader, qtbot: QtBot, tmp_path: Path) -> None:
    window = MainWindow(Preferences(QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat)))
    qtbot.addWidget(window)
    window.show()
    window.status.set_model(None, tr("no model is loaded"))
    reader.look(window)
    reader.check()


def test_ways_to_go_and_to_stop(lesson: Explorer, reader: Reader, press: Press, settle: Settle) -> None:
    """Greedy to the end, drawn, forced against a filter and cut by a limit; then undone, and left behind."""
    window = lesson.window
    press(lesson, Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Right)
    reader.look(window)
    press(lesson, Qt.Key.Key_Home, Qt.Key.Key_S)
    settings = lesson.session.settings.with_sampling("user", top_k=1, logit_bias={1: 0.5}, min_p=0.1)
    lesson.session.set_settings(settings.with_stopping("preset", max_new_tokens=2, stop_strings=("。",)))
    lesson.session.set_seed(5, 0)
    lesson.session.rename("7")
    settle(lesson)
    press(lesson, Qt.Key.Key_Home)
    reader.look(window)
    press(lesson, Qt.Key.Key_3, Qt.Key.Key_1)
    for choice in COLOUR_CHOICES:
        window.path.set_colour_by(choice.key)
        reader.look(window.docks["path"])
    view = lesson.session.view
    assert view is not None
    for node in (ROOT, *view.path):
        for line in window.tree.description(node):
            reader.note(f"node {node}", line)
    reader.look(window)
    press(lesson, Qt.Key.Key_Z, Qt.Key.Key_Z, modifier=Qt.KeyboardModifier.ControlModifier)
    reader.look(window)
    press(lesson, Qt.Key.Key_2)
    window.show_dock("history")
    settle(lesson)
    reader.look(window)
    window.path.set_colour_by("model")
    reader.check()


def test_candidates_that_are_sought_or_not_stored(lesson: Explorer, reader: Reader, settle: Settle) -> None:
    panel = lesson.window.candidates
    panel.find_edit.setText("<eos>")
    reader.look(panel)
    panel.find_edit.setText("0123")
    reader.look(panel)
    panel.find_edit.clear()
    panel.set_order("model")
    panel.log_button.click()
    reader.look(panel)
    view = lesson.session.view
    assert view is not None
    stored = Observation.of(SortedLogits.from_raw(np.linspace(4, 0, 9, dtype=np.float32)), 3).sorted_logits()
    for values in ({}, {"temperature": 2.0, "top_p": 0.9}, {"ban": (0, 1, 2)}, {"top_k": 1}):
        sampling = lesson.session.settings.sampling.with_values(**values)
        panel.set_distribution(evaluate(stored, sampling, view.context))
        reader.look(panel)
    panel.set_view(dataclasses.replace(view, distribution=evaluate(stored, sampling, view.context), taken={8: 1}))
    reader.look(panel)
    panel.set_view(dataclasses.replace(view, distribution=None, logits=None))
    reader.look(panel)
    panel.set_view(dataclasses.replace(view, distribution=None, logits=None, stop=STOPS[0]))
    reader.look(panel)
    panel.set_busy(True)
    panel.set_view(dataclasses.replace(view, distribution=None, logits=None))
    reader.look(panel)
    panel.set_busy(False)
    panel.log_button.click()
    panel.set_order("sampling")
    panel.set_view(view)
    reader.check()


def test_input_that_cannot_be_used(lesson: Explorer, reader: Reader, settle: Settle) -> None:
    window = lesson.window
    for editor in window.settings.findChildren(QLineEdit):
        if editor.placeholderText() and editor.isEnabled():
            editor.setText("7=")
            editor.editingFinished.emit()
    window.settings.row("ban").changed.emit((-1,), False)
    reader.look(window.settings)
    window.prompt.findChildren(QPlainTextEdit)[0].setPlainText("7")
    window.prompt._ask()
    settle(lesson)
    reader.known.add("早餐喝 豆浆 咖啡 茶 ， 。 配面包 配包子")
    reader.look(window.prompt)
    window.prompt._chat.setEnabled(True)
    window.prompt._chat.setChecked(True)
    window.prompt._messages.set_messages([ChatMessage(role, "7") for role in ("system", "user", "assistant")])
    reader.look(window.prompt)
    reader.check()


# --- dialogs and menus ------------------------------------------------------------------------------------------------


def test_dialogs(lesson: Explorer, reader: Reader, qtbot: QtBot) -> None:
    window = lesson.window
    keys = ShortcutsDialog(window, window.actions_, {})
    keys._edit.setKeySequence(QKeySequence("Ctrl+N"))
    keys._table.setCurrentCell(1, 0)
    keys._edit.setKeySequence(QKeySequence("Ctrl+N"))
    keys._use()
    reader.known |= {str(lesson.library_path)}
    about = about_page(window, lesson.library_path, lesson.library_path)
    for dialog in (keys, about, NoteDialog(window, "7", ""), RecoveryDialog(window, "7")):
        dialog.show()
        reader.look(dialog)
        dialog.close()
        dialog.deleteLater()
    window.actions_["palette"].trigger()
    palette = QApplication.activeModalWidget()
    assert palette is not None
    reader.look(palette)
    palette.close()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    reader.check()


def test_questions(
    lesson: Explorer, reader: Reader, press: Press, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    press(lesson, Qt.Key.Key_Right)
    reader.during(lesson.window.actions_["run_length"].trigger)
    reader.during(lambda: lesson.shelving._ask_deletion(2, 30, 4_000_000))
    reader.during(lambda: lesson.shelving._ask_new_name("7"))
    last = lesson.session.last
    assert last is not None
    with monkeypatch.context() as patch:
        patch.setattr(lesson.session, "last", dataclasses.replace(last, unsaved=2))
        reader.during(lesson.library.may_close)
    reader.check()


def test_context_menus(lesson: Explorer, reader: Reader, press: Press, settle: Settle, qtbot: QtBot) -> None:
    window = lesson.window
    press(lesson, Qt.Key.Key_Right)
    for node in (ROOT, lesson.session.current):
        reader.during(lambda node=node: window.tree.context_menu_requested.emit(node, QPoint(9, 9)))
    reader.during(
        lambda: _ask_menu(
            window.candidates.table,
            window.candidates.table.visualRect(window.candidates.table.model().index(0, 1)).center(),
        )
    )
    reader.during(lambda: _ask_menu(window.path.cells, QPoint(9, 9)))
    window.show_dock("sessions")
    settle(lesson)
    qtbot.waitUntil(lambda: window.sessions.listing is not None and bool(window.sessions.model.ids))
    window.sessions.choose(window.sessions.model.ids[:1])
    reader.known |= {s.title for s in window.sessions.list.chosen_lines()}
    reader.during(lambda: window.sessions.list.menu_requested.emit(window.mapToGlobal(QPoint(9, 9))))
    reader.check()


def _ask_menu(widget: QWidget, at: QPoint) -> None:
    widget.customContextMenuRequested.emit(at)
    QApplication.processEvents()


def test_file_dialogs(lesson: Explorer, reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(_parent: QWidget, *texts: str) -> tuple[str, str]:
        for text in texts:
            reader.note("file dialog", text)
        return "", ""

    dialogs = SimpleNamespace(
        getSaveFileName=ask, getOpenFileName=ask, getExistingDirectory=lambda parent, title: ask(parent, title)[0]
    )
    monkeypatch.setattr(model_panel, "QFileDialog", dialogs)
    for name in ("open_folder", "open_gguf", "open_table"):
        lesson.window.actions_[name].trigger()
    reader.check()


# --- what is told of events -------------------------------------------------------------------------------------------


def test_every_stop(lesson: Explorer, reader: Reader, press: Press) -> None:
    window = lesson.window
    press(lesson, Qt.Key.Key_Right)
    mirror = window.tree.scene.mirror
    for event in STOPS:
        window.banner.set_event(event)
        reader.look(window.banner)
    for kind in STOP_WORDS:
        reader.note(kind, stop_mark(kind))
        for line in describe_node(mirror, None, 1, "bits", kind):
            reader.note(kind, line)
    window.banner.set_event(None)
    reader.check()


def test_messages_and_what_can_be_done(lesson: Explorer, reader: Reader) -> None:
    window = lesson.window
    codes = ("engine.not_live", "model.not_here", "engine.no_model", "engine.ended", "store.full", "prompt.empty")
    for code in (*codes, "store.conflict"):
        message = UserMessage(code, N_("No session is open."), N_("Nothing was done."), details="7")
        lesson.messages.show_message(message)
        reader.look(window.messages)
        window.messages.dismiss(code)
    lesson.messages.show_message(dataclasses.replace(unexpected(ValueError("7")), details=""))
    reader.known.add("ValueError")
    reader.look(window.messages)
    window.messages.dismiss("internal")
    reader.check()


def test_work_that_goes_on(lesson: Explorer, reader: Reader) -> None:
    window = lesson.window
    phase = N_("Downloading the model")
    for progress in (Progress(phase, 7, 9, "bytes"), Progress(phase, 7, None, "bytes"), Progress(phase)):
        lesson.models._show_progress(progress_text(tr("Loading {name}").format(name="7"), progress), 7, 9)
        reader.look(window)
    lesson.models._show_progress("")
    info = lesson.engine.info
    assert info is not None
    notes = ((N_("{dtype} because you asked for it."), {"dtype": "float32"}),)
    window.models.set_engine(dataclasses.replace(info, notes=notes), tr("Ready."), ended=True)
    window.status.set_speed(7.0)
    window.status.set_memory(7 << 20, 9 << 20)
    window.status.set_saved(3, UserMessage("store.full", N_("Nothing was done.")))
    reader.look(window.models)
    reader.look(window.status)
    lesson.models._show_engine()
    window.status.set_saved(0, None)
    reader.check()


def test_ways_of_choosing_and_units(lesson: Explorer, reader: Reader) -> None:
    window = lesson.window
    hows = tuple(HOW_NAMES)
    for how in hows:
        reader.note(how, how_label(how))
    for unit in ("nats", "bits"):
        reader.note(unit, logarithm(1.0, unit))
    window.tree._corners.legend.explain([HowEntry(how) for how in hows])
    reader.look(window.tree._corners.legend)
    for choice in COLOUR_CHOICES:
        window.path.legend.explain(choice.key, "bits", hows)
        reader.look(window.path.legend)
    reader.check()
