"""The dialog of a check in each of its states."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from explorer.i18n import N_
from explorer.messages import UserMessage
from explorer.progress import Progress
from explorer.proof.report import Difference, FreshCheck, ProofReport, StageCheck, Verdict
from explorer.text import Vocabulary
from ui.proof.check_dialog import CheckDialog
from ui.proof.work import CheckedNode

VOCABULARY = Vocabulary([b" Paris", b"<b>bold</b>", "你好".encode(), b"\n"])


def found(
    verdict: Verdict = "rounding", *, fresh_agrees: bool = True, fresh: bool = True, place: str = "·Paris"
) -> CheckedNode:
    report = ProofReport(
        verdict=verdict,
        stages=(
            StageCheck("top_p", "TopPLogitsWarper", 3, 3, Difference()),
            StageCheck("presence_penalty", None, 3, 3, Difference(1e-7, 1)),
        ),
        scores=Difference(1e-7, 1),
        sampling=Difference(3e-7, 2),
        model=Difference(),
        torch_sum=Difference(),
        kept=3,
        kept_there=3,
        only_here=(),
        only_there=(),
        differing=0,
        doubtful_stage=None,
        overflows=False,
        vocab_size=4,
        device="cpu",
        dtype="float32",
        versions={"transformers": "5.24.0", "torch": "2.13.0"},
        fresh=FreshCheck(9, Difference(2e-5, 0), None, 2e-4, fresh_agrees, fresh_agrees) if fresh else None,
    )
    return CheckedNode(7, place, VOCABULARY, report)


@pytest.fixture
def dialog(qtbot: QtBot) -> Iterator[CheckDialog]:
    parent = QWidget()
    qtbot.addWidget(parent)
    dialog = CheckDialog(parent)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    dialog.show()
    yield dialog
    dialog.close()


def test_at_work_it_says_what_it_does(dialog: CheckDialog) -> None:
    assert dialog.busy
    dialog.show_progress(Progress("Loading transformers"))
    assert dialog.phase.text() == "Loading transformers"
    assert dialog.close_button.text() == "Stop"
    assert not dialog.copy_button.isVisible()


def test_the_verdict_in_words_and_marks(dialog: CheckDialog) -> None:
    dialog.show_found(found())
    assert not dialog.busy
    assert dialog.heading.text() == "The step after node 7: ·Paris"
    assert dialog.verdict.mark.text() == "✓"
    assert "within float32 rounding" in dialog.verdict.text.text()
    assert "3e-07 at “你好” #2" in dialog.verdict.text.text()
    assert "2e-05 at “·Paris” #0, and 0.0002 is allowed" in dialog.fresh.text.text()
    rows = [[dialog.table.item(row, column).text() for column in range(4)] for row in range(dialog.table.rowCount())]
    assert rows == [
        ["Top-p", "TopPLogitsWarper", "3", "0"],
        ["Presence penalty", "not in transformers: run by this program", "3", "1e-07 at “<b>bold</b>” #1"],
    ]


def test_a_difference_has_another_mark_and_another_word(dialog: CheckDialog) -> None:
    dialog.show_found(found("different", fresh_agrees=False))
    assert dialog.verdict.mark.text() == "✗"
    assert dialog.verdict.mark.accessibleName() == "does not agree"
    assert dialog.verdict.text.text().startswith("DIFFERENT")
    assert dialog.fresh.mark.text() == "✗"
    assert "OTHER logits" in dialog.fresh.text.text()
    assert "near tie" in dialog.fresh.text.text()


def test_without_memory_for_a_fresh_pass(dialog: CheckDialog) -> None:
    dialog.show_found(found("identical", fresh=False, place=""))
    assert dialog.heading.text() == "The step after the prompt"
    assert (dialog.verdict.mark.text(), dialog.fresh.mark.text()) == ("✓", "–")
    assert "not enough memory" in dialog.fresh.text.text()


def test_the_result_is_copied_whole(dialog: CheckDialog, qtbot: QtBot) -> None:
    dialog.show_found(found())
    qtbot.mouseClick(dialog.copy_button, Qt.MouseButton.LeftButton)
    copied = QGuiApplication.clipboard().text()
    for part in ("node 7", "within float32 rounding", "fresh pass", "TopPLogitsWarper", "transformers 5.24.0"):
        assert part in copied


def test_why_there_is_no_result_and_what_helps(dialog: CheckDialog, qtbot: QtBot) -> None:
    message = UserMessage("proof.needs_model", N_("This cannot be checked without {model}."), "", "", {"model": "M"})
    dialog.show_problem(message)
    assert dialog.problem.text() == "This cannot be checked without M."
    assert not dialog.copy_button.isVisible()
    with qtbot.waitSignal(dialog.model_requested):
        qtbot.mouseClick(dialog.model_button, Qt.MouseButton.LeftButton)
    assert not dialog.isVisible()


def test_another_fault_offers_another_try_only(dialog: CheckDialog, qtbot: QtBot) -> None:
    dialog.show_problem(UserMessage("engine.crashed", N_("The model process was stopped."), "", ""))
    assert not dialog.model_button.isVisible()
    with qtbot.waitSignal(dialog.check_requested):
        qtbot.mouseClick(dialog.again_button, Qt.MouseButton.LeftButton)


def test_escape_stops_first_and_closes_then(dialog: CheckDialog, qtbot: QtBot) -> None:
    with qtbot.waitSignal(dialog.stop_requested):
        qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert dialog.isVisible()
    dialog.show_stopped()
    assert dialog.heading.text() == "The check was stopped."
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


def test_a_stop_that_is_not_heard_still_closes(dialog: CheckDialog, qtbot: QtBot) -> None:
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
