"""The panels by themselves: what they show, and what they ask for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from explorer.decoding.stopping import StopEvent
from explorer.messages import UserMessage
from explorer.models.base import Environment, ModelIdentity, ModelInfo, ModelRef
from explorer.models.catalog import ModelEntry
from explorer.text import ChatMessage, PathPiece, Prompt, PromptWarning
from explorer.tree import PathValues
from ui.panels.message_area import MessageAction, MessageArea, MessageCard
from ui.panels.model_panel import ModelPanel
from ui.panels.prompt_panel import EncodedDraft, PromptDraft, PromptPanel
from ui.panels.status_bar import StatusBar
from ui.panels.stop_banner import StopBanner
from ui.panels.welcome_card import WelcomeCard

MODEL = ModelInfo(
    identity=ModelIdentity("tiny", "table", "table:tiny.json", "table", "a" * 64, "b" * 64),
    environment=Environment("cpu", "a processor", "float32", 1, "Linux", {}),
    vocab_size=9,
    context_length=64,
    eos_token_ids=(8,),
)


def piece(token_id: int, text: str) -> PathPiece:
    return PathPiece(token_id, text, text, special=False, incomplete=False)


# --- messages ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def area(qtbot: QtBot) -> MessageArea:
    area = MessageArea()
    qtbot.addWidget(area)
    return area


def test_a_message_says_what_happened_what_it_means_and_what_to_do(area: MessageArea) -> None:
    message = UserMessage(
        "a.b", "The {thing} broke.", "Nothing is lost.", "Try again.", {"thing": "<b>cup</b>"}, "Trace"
    )
    area.show_message(message)
    texts = [label.text() for label in area.findChildren(QLabel)]
    assert "The <b>cup</b> broke." in texts
    assert "Nothing is lost. Try again." in texts
    assert all(label.textFormat() == Qt.TextFormat.PlainText for label in area.findChildren(QLabel))


def test_details_are_folded_and_copied_with_the_rest(area: MessageArea) -> None:
    area.show_message(UserMessage("a.b", "It broke.", details="Trace"))
    (card,) = area.findChildren(MessageCard)
    assert card._details is not None
    assert card._details.isHidden()
    buttons = {button.text(): button for button in card.findChildren(QPushButton)}
    buttons["Details"].click()
    assert not card._details.isHidden()
    buttons["Copy"].click()
    assert QGuiApplication.clipboard().text() == "[a.b] It broke.\n\nTrace"


def test_a_message_is_shown_once_and_the_oldest_give_way(area: MessageArea) -> None:
    for number in range(5):
        area.show_message(UserMessage(f"code.{number}", "x"))
        area.show_message(UserMessage(f"code.{number}", "x again"))
    assert [message.code for message in area.messages] == ["code.4", "code.3", "code.2"]
    area.dismiss("code.")
    assert area.messages == []
    assert area.isHidden()


def test_an_action_dismisses_its_message(area: MessageArea) -> None:
    done: list[str] = []
    area.show_message(UserMessage("a.b", "x"), (MessageAction("Mend", "Mends it.", lambda: done.append("mended")),))
    next(button for button in area.findChildren(QPushButton) if button.text() == "Mend").click()
    assert done == ["mended"]
    assert area.messages == []


# --- the stop banner --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "offered"),
    [
        (StopEvent("eos", {"step": 3, "token_id": 8}), {"Go on anyway"}),
        (StopEvent("max_new_tokens", {"step": 6, "limit": 6}), {"Go on anyway", "Raise the limit"}),
        (StopEvent("cancelled", {"step": 2}), set()),
    ],
)
def test_the_banner_offers_what_helps(qtbot: QtBot, event: StopEvent, offered: set[str]) -> None:
    banner = StopBanner()
    qtbot.addWidget(banner)
    banner.set_event(event)
    shown = {button.text() for button in banner.findChildren(QPushButton) if not button.isHidden()}
    assert shown == offered
    what, _, _ = event.explanation().sentences()
    assert what in [label.text() for label in banner.findChildren(QLabel)]
    banner.set_event(None)
    assert banner.isHidden()


# --- the prompt -------------------------------------------------------------------------------------------------------


@pytest.fixture
def prompt(qtbot: QtBot) -> PromptPanel:
    panel = PromptPanel()
    qtbot.addWidget(panel)
    panel.set_model(replace(MODEL, chat_template="a template"), live=True)
    panel.set_prompt(Prompt("raw", "A B", (0, 1)), (piece(0, "A"), piece(1, " B")))
    return panel


def test_a_prompt_that_is_the_sessions_own_cannot_be_started_again(prompt: PromptPanel) -> None:
    assert not prompt.differs
    assert not prompt._start.isEnabled()
    assert prompt._count.text() == "2 / 64 tokens"


def test_editing_asks_for_the_tokens_after_a_pause(prompt: PromptPanel, qtbot: QtBot) -> None:
    with qtbot.waitSignal(prompt.encode_requested) as asked:
        prompt._edit.setPlainText("A B ")
    (draft,) = asked.args or ()
    assert draft == PromptDraft("raw", text="A B ")
    assert prompt.differs
    warning = PromptWarning("trailing_space", "It ends with {what}.", {"what": "a space"})
    read = Prompt("raw", "A B ", (0, 1, 2))
    prompt.set_encoded(EncodedDraft(draft, read, (piece(0, "A"), piece(1, " B"), piece(2, " ")), (warning,)))
    assert prompt._count.text() == "3 / 64 tokens"
    assert prompt._warnings.text() == "It ends with a space."
    with qtbot.waitSignal(prompt.start_requested) as started:
        prompt._start.click()
    assert started.args == [draft]


def test_tokens_of_a_draft_that_has_changed_since_are_not_shown(prompt: PromptPanel) -> None:
    prompt._edit.setPlainText("A")
    prompt.set_encoded(EncodedDraft(PromptDraft("raw", text="A B C"), Prompt("raw", "A B C", (0, 1, 2)), (), ()))
    assert prompt._count.text() == "2 / 64 tokens …"


def test_a_text_that_gives_the_same_tokens_is_no_other_prompt(prompt: PromptPanel) -> None:
    prompt._edit.setPlainText("A  B")
    draft = prompt.draft()
    prompt.set_encoded(EncodedDraft(draft, Prompt("raw", "A  B", (0, 1)), (), ()))
    assert not prompt.differs


def test_a_prompt_given_as_ids_is_not_read_again(prompt: PromptPanel, qtbot: QtBot) -> None:
    prompt.set_prompt(Prompt("ids", "AB", (0, 7)), (piece(0, "A"), piece(7, "B")))
    with qtbot.assertNotEmitted(prompt.encode_requested):
        prompt._ask()
    assert not prompt.differs
    with qtbot.waitSignal(prompt.encode_requested):
        prompt._edit.setPlainText("ABC")


def test_an_unreadable_draft_says_why(prompt: PromptPanel) -> None:
    prompt._edit.setPlainText("?")
    prompt.set_error(prompt.draft(), UserMessage("prompt.unknown", "No token reads “?”."))
    assert prompt._warnings.text() == "No token reads “?”."
    assert not prompt._warnings.isHidden()


def test_without_a_template_there_is_no_chat_and_a_reason(prompt: PromptPanel) -> None:
    """C33: disabled with a reason, not a crash."""
    prompt.set_model(MODEL, live=True)
    assert not prompt._chat.isEnabled()
    assert "no chat template" in prompt._chat.toolTip()


def test_without_a_model_nothing_can_be_started(prompt: PromptPanel) -> None:
    prompt.set_model(MODEL, live=False)
    prompt._edit.setPlainText("C")
    assert not prompt._start.isEnabled()


def test_a_conversation(prompt: PromptPanel, qtbot: QtBot) -> None:
    with qtbot.waitSignal(prompt.encode_requested):
        prompt._chat.setChecked(True)
    editor = prompt._messages
    editor.set_messages([ChatMessage("system", "Be brief."), ChatMessage("user", "Hi.")])
    editor._add()
    draft = prompt.draft()
    assert [message.role for message in draft.messages] == ["system", "user", "assistant"]
    editor._rows[0].findChildren(QToolButton)[0].click()
    assert [message.content for message in prompt.draft().messages] == ["Hi.", ""]
    editor._answer.setChecked(False)
    assert not prompt.draft().add_generation_prompt
    read = Prompt("chat", "<user>Hi.", (0, 1), prompt.draft().messages)
    prompt.set_encoded(EncodedDraft(prompt.draft(), read, (), ()))
    assert editor._preview.toPlainText() == "<user>Hi."


def test_a_chat_session_brings_its_messages_back(prompt: PromptPanel) -> None:
    messages = (ChatMessage("user", "Hi."),)
    prompt.set_prompt(Prompt("chat", "<user>Hi.", (3, 4), messages), (piece(3, "<user>"), piece(4, "Hi.")))
    assert prompt.draft().messages == messages
    assert not prompt.differs


# --- models -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def models(qtbot: QtBot) -> ModelPanel:
    panel = ModelPanel()
    qtbot.addWidget(panel)
    panel.set_entries(
        [
            ModelEntry("smollm2-135m", "a wheel", None, 93_000_000, "c" * 64, "available", "Apache-2.0"),
            ModelEntry("other", "a file", Path("other"), 5_000_000, "d" * 64, "installed", ""),
            ModelEntry("lesson:breakfast", "built in", None, 0, None, "installed", ""),
        ]
    )
    return panel


def test_what_can_be_done_with_a_model_depends_on_where_it_is(models: ModelPanel) -> None:
    def enabled() -> tuple[bool, bool, bool]:
        return models._open.isEnabled(), models._get.isEnabled(), models._remove.isEnabled()

    assert enabled() == (False, True, False)
    models._list.setCurrentRow(1)
    assert enabled() == (True, False, True)
    models._list.setCurrentRow(2)
    assert enabled() == (True, False, False)


def test_opening_takes_the_options_along(models: ModelPanel, qtbot: QtBot) -> None:
    models._list.setCurrentRow(1)
    models._device.setCurrentIndex(models._device.findData("cpu"))
    models._dtype.setCurrentIndex(models._dtype.findData("float32"))
    models._threads.setValue(2)
    with qtbot.waitSignal(models.open_requested) as asked:
        models._open.click()
    assert asked.args == [ModelRef("other", device="cpu", dtype="float32", threads=2)]
    models._hub.setText(" owner/name ")
    models._revision.setText("v1")
    with qtbot.waitSignal(models.open_requested) as asked:
        models._hub.returnPressed.emit()
    assert asked.args == [ModelRef("owner/name", revision="v1", device="cpu", dtype="float32", threads=2)]


def test_a_dead_engine_can_be_started_again_from_the_panel(models: ModelPanel, qtbot: QtBot) -> None:
    models.set_engine(MODEL, "It has ended.", ended=True)
    assert not models._restart.isHidden()
    with qtbot.waitSignal(models.restart_requested):
        models._restart.click()
    models.set_engine(MODEL, "Ready.")
    assert models._restart.isHidden()


def test_progress_of_known_and_unknown_length(models: ModelPanel) -> None:
    models.set_progress("Downloading", 49, 98)
    assert (models._bar.value(), models._bar.maximum()) == (500, 1000)
    models.set_progress("Importing")
    assert models._bar.maximum() == 0
    models.set_progress("")
    assert models._bar.isHidden()


def test_the_welcome_card_follows_the_download(qtbot: QtBot) -> None:
    card = WelcomeCard()
    qtbot.addWidget(card)
    card.set_progress("Downloading", 1, 2)
    assert not card._get.isEnabled()
    with qtbot.waitSignal(card.cancel_requested):
        card._cancel.click()
    card.set_progress("")
    assert card._get.isEnabled()
    card.set_model_here(True)
    assert card._get.text() == "Open SmolLM2"
    with qtbot.waitSignal(card.dismissed):
        card._dismiss()


# --- the status line --------------------------------------------------------------------------------------------------


def test_the_status_line(qtbot: QtBot) -> None:
    bar = StatusBar()
    qtbot.addWidget(bar)
    bar.set_model(MODEL, "")
    bar.set_speed(8.07)
    bar.set_path(PathValues(2, -2.0, -1.0, 1))
    bar.set_saved(3, UserMessage("store.full", "The disk is full."))
    bar.set_memory(400 * 2**20, 900 * 2**20)
    texts = [label.text() for label in bar.findChildren(QLabel)]
    assert "tiny · float32 · cpu" in texts
    assert "8.1 tok/s" in texts
    assert "3 not saved yet" in texts
    assert "The disk is full." in bar._saved.toolTip()
    assert any("−2.00" in text and "13.5%" in text and "1 forced" in text for text in texts)
    assert "400 MB cache · 900 MB" in texts
    bar.set_path(PathValues(0, 0.0, 0.0, 0))
    bar.set_saved(0, None)
    assert bar._path.text() == ""
    assert bar._saved.text() == "saved"
