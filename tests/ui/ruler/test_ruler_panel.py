"""The ruler panel: which u, what it hits under each settings, and that looking changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QEnterEvent, QHelpEvent, QImage, QKeyEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QToolTip
from pytestqt.qtbot import QtBot

from explorer.decoding.choice import draw_uniform
from explorer.decoding.logits import SortedLogits
from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import Distribution, evaluate
from explorer.decoding.processors import StepContext
from explorer.decoding.ruler import LARGEST_U
from explorer.events import NodeView
from explorer.grammar.constraint import Constraint
from explorer.messages import SettingsError, UserMessage
from explorer.text import Vocabulary
from ui.explain.names import sampling_name
from ui.ruler.panel import RulerPanel
from ui.ruler.row import RulerRow
from ui.ruler.rows import KeptRuler

MakeView = Callable[..., NodeView]

HALF = SamplingParams.make(temperature=0.5)
TWO = SamplingParams.make(top_k=2)
NUCLEUS = SamplingParams.make(top_p=0.7)
PLAIN = SamplingParams()


def token(row: RulerRow) -> str:
    hit = row.hit
    assert hit is not None
    assert hit.token_id is not None
    return "ABCDE"[hit.token_id]


def titles(panel: RulerPanel) -> list[str]:
    return [row.spec.title for row in panel.rows if row.spec is not None]


def at(row: RulerRow, u: float) -> QPoint:
    """Where a number lies on a row."""
    strip = row.strip
    return QPoint(round(strip.left() + row.sight.to_pixel(u, strip.width())), round(strip.center().y()))


def press(row: RulerRow, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    row.setFocus()
    QTest.keyClick(row, key, modifier)


def picture(panel: RulerPanel) -> QImage:
    """The panel as it is laid out now."""
    QApplication.processEvents()
    return panel.grab().toImage()


def menu_of(panel: RulerPanel, row: RulerRow) -> dict[str, Callable[[], None]]:
    """The entries of a row's menu by text."""
    panel._open_menu(row, QPoint(0, 0))
    menu = panel.findChildren(QMenu)[-1]
    entries = {action.text(): action.trigger for action in menu.actions() if action.text() and action.isEnabled()}
    menu.hide()
    return entries


# --- which number -----------------------------------------------------------------------------------------------------


def test_without_a_session_it_says_so(panel: RulerPanel) -> None:
    assert "No session is open" in panel.message.text()
    assert panel.message.isVisible()


def test_at_a_place_without_draws_the_next_draw_is_shown(panel: RulerPanel, make_view: MakeView) -> None:
    panel.set_view(make_view())
    assert panel.numbers.u == draw_uniform(7, 5)
    assert panel.controls.source.currentText() == "Next: #5"
    assert panel.controls.edit.text() == repr(draw_uniform(7, 5))
    panel.set_view(make_view(next_draw_index=9))
    assert panel.numbers.u == draw_uniform(7, 9)


def test_the_last_draw_made_here_is_shown_with_the_interval_it_hit(panel: RulerPanel, make_view: MakeView) -> None:
    view = make_view(draws=[(PLAIN, 7, 0), (PLAIN, 7, 3)])
    panel.set_view(view)
    step = view.draws[-1]
    assert panel.numbers.u == step.u == draw_uniform(7, 3)
    hit = panel.rows[0].hit
    assert hit is not None
    assert hit.token_id == step.token_id
    assert hit.low <= step.u < hit.high
    assert [mark.number for mark in panel.numbers.marks] == [0, 3, 5]
    panel._choose(panel.numbers.marks[0])
    assert panel.numbers.u == draw_uniform(7, 0)
    assert titles(panel) == ["Now: no filter", "The model alone"]


def test_a_draw_under_other_settings_has_a_ruler_of_its_own(panel: RulerPanel, make_view: MakeView) -> None:
    """u = .442 takes B of the model alone, and A at T = 0.5."""
    view = make_view(draws=[(PLAIN, 7, 3)], temperature=0.5)
    panel.set_view(view)
    assert titles(panel) == ["Now: T 0.5", "When #3 was drawn: no filter", "The model alone"]
    assert [token(row) for row in panel.rows] == ["A", "B", "B"]
    assert panel.notice.text() == "Draw #3 took “B”; under the settings now the same u would take “A”."
    panel.controls.source.setCurrentIndex(1)
    panel.controls.source.activated.emit(1)
    assert titles(panel) == ["Now: T 0.5", "The model alone"]
    assert not panel.notice.isVisible()


def test_another_place_has_its_own_number_again(panel: RulerPanel, make_view: MakeView) -> None:
    panel.set_view(make_view())
    panel.set_u(0.3)
    panel.set_view(make_view(temperature=0.9))
    assert panel.numbers.u == 0.3
    assert panel.controls.source.currentText() == "My own"
    panel.set_view(make_view(node_id=4))
    assert panel.numbers.u == draw_uniform(7, 5)


def test_lesson_seven_by_typing(panel: RulerPanel, make_view: MakeView) -> None:
    panel.set_view(make_view())
    edit = panel.controls.edit
    for u, expected in zip(("0.03", ".18", "0,42", "0.61", "0.70", "0.84", "9e-1", "0.97"), "AABBCCDE", strict=True):
        edit.setFocus()
        edit.selectAll()
        QTest.keyClicks(edit, u)
        QTest.keyClick(edit, Qt.Key.Key_Return)
        assert token(panel.rows[0]) == expected


def test_four_rulers_share_one_number(panel: RulerPanel, make_view: MakeView) -> None:
    panel.set_kept((KeptRuler(HALF), KeptRuler(TWO), KeptRuler(NUCLEUS)))
    panel.set_view(make_view())
    panel.set_u(0.6)
    assert titles(panel) == ["Now: no filter", "The model alone", "T 0.5", "top_k 2", "top_p 0.7"]
    assert [token(row) for row in panel.rows] == ["B", "B", "B", "A", "B"]
    hit = panel.rows[2].hit
    assert hit is not None
    assert hit.low == pytest.approx(32 / 55, abs=1e-6)
    assert panel.rows[3].accessibleName() == "Ruler, top_k 2"
    assert panel.rows[3].accessibleDescription() == "It takes A, 61.5%, the interval [0.000, 0.615)"


@pytest.mark.parametrize("text", ["1", "-0.1", "abc", "", "nan", "inf"])
def test_a_number_outside_is_refused_with_a_reason(panel: RulerPanel, make_view: MakeView, text: str) -> None:
    panel.set_view(make_view())
    panel.set_u(0.3)
    panel.controls.edit.setText(text)
    panel.controls.edit.editingFinished.emit()
    assert panel.numbers.u == 0.3
    assert panel.controls.edit.text() == "0.3"
    assert "from 0 up to 1" in panel.notice.text()


def test_what_is_being_typed_stays(panel: RulerPanel, make_view: MakeView) -> None:
    """Whatever else happens meanwhile: a pointer elsewhere, a slider's draft."""
    view = make_view()
    panel.set_view(view)
    edit = panel.controls.edit
    edit.setFocus()
    edit.selectAll()
    QTest.keyClicks(edit, "0.7")
    panel.highlight_token(2)
    panel.set_token(1)
    assert view.logits is not None
    panel.set_distribution(evaluate(view.logits, TWO, view.context), TWO)
    assert edit.text() == "0.7"
    QTest.keyClick(edit, Qt.Key.Key_Return)
    assert panel.numbers.u == 0.7


# --- by pointer and key -----------------------------------------------------------------------------------------------


def test_dragging_shows_what_another_number_gives_and_picks_nothing(
    panel: RulerPanel, make_view: MakeView, qtbot: QtBot
) -> None:
    panel.set_view(make_view())
    row = panel.rows[1]
    with qtbot.assertNotEmitted(panel.token_activated):
        QTest.mousePress(row, Qt.MouseButton.LeftButton, pos=at(row, 0.2))
        assert token(row) == "A"
        QTest.mouseMove(row, at(row, 0.9))
        QTest.mouseRelease(row, Qt.MouseButton.LeftButton, pos=at(row, 0.9))
    assert panel.numbers.u == pytest.approx(0.9, abs=0.002)
    assert [token(row) for row in panel.rows] == ["D", "D"]
    QTest.mouseMove(row, at(row, 0.1))
    assert panel.numbers.u == pytest.approx(0.9, abs=0.002)


def test_arrow_keys_move_the_number(panel: RulerPanel, make_view: MakeView) -> None:
    panel.set_view(make_view())
    row = panel.rows[0]
    panel.set_u(0.5)
    press(row, Qt.Key.Key_Right)
    assert 0.5 < (panel.numbers.u or 0) < 0.51
    press(row, Qt.Key.Key_Left)
    assert panel.numbers.u == pytest.approx(0.5, abs=0.002)
    shift = Qt.KeyboardModifier.ShiftModifier
    hits = []
    for _ in range(4):
        press(row, Qt.Key.Key_Right, shift)
        hits.append(token(row))
    assert hits == ["C", "D", "E", "E"]
    assert panel.numbers.u == LARGEST_U
    for _ in range(5):
        press(row, Qt.Key.Key_Left, shift)
    assert panel.numbers.u == 0


@pytest.mark.parametrize(
    ("key", "modifier", "own"),
    [
        (Qt.Key.Key_Left, Qt.KeyboardModifier.NoModifier, True),
        (Qt.Key.Key_0, Qt.KeyboardModifier.KeypadModifier, True),
        (Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier, True),
        (Qt.Key.Key_S, Qt.KeyboardModifier.NoModifier, False),
        (Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier, False),
        (Qt.Key.Key_Plus, Qt.KeyboardModifier.ControlModifier, False),
    ],
)
def test_keys_a_row_uses_itself_are_no_shortcuts_there(
    panel: RulerPanel, make_view: MakeView, key: Qt.Key, modifier: Qt.KeyboardModifier, own: bool
) -> None:
    panel.set_view(make_view())
    event = QKeyEvent(QEvent.Type.ShortcutOverride, key, modifier)
    event.ignore()
    QApplication.sendEvent(panel.rows[0], event)
    assert event.isAccepted() == own


def test_up_and_down_go_from_ruler_to_ruler(panel: RulerPanel, make_view: MakeView) -> None:
    panel.set_view(make_view())
    press(panel.rows[0], Qt.Key.Key_Down)
    assert panel.rows[1].hasFocus()
    press(panel.rows[1], Qt.Key.Key_Down)
    assert panel.rows[1].hasFocus()
    press(panel.rows[1], Qt.Key.Key_Up)
    assert panel.rows[0].hasFocus()


def test_zooming_by_key_wheel_button_and_double_click(panel: RulerPanel, make_view: MakeView) -> None:
    panel.set_view(make_view())
    row = panel.rows[0]
    panel.set_u(0.97)
    press(row, Qt.Key.Key_Plus)
    assert panel.sight.span == pytest.approx(0.64)
    press(row, Qt.Key.Key_0)
    assert panel.sight.whole
    place = QPointF(at(row, 0.97))
    wheel = QWheelEvent(
        place,
        place,
        QPoint(),
        QPoint(0, 240),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.ControlModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(row, wheel)
    assert panel.sight.span == pytest.approx(0.64)
    assert all(other.sight == panel.sight for other in panel.rows)
    assert panel.axis.sight == panel.sight
    panel.controls.fit.click()
    assert panel.sight.whole
    assert not panel.controls.fit.isEnabled()
    QTest.mouseDClick(row, Qt.MouseButton.LeftButton, pos=at(row, 0.97))
    assert panel.sight.span == pytest.approx(0.1, abs=1e-6)
    assert panel.sight.start <= 0.95
    assert panel.sight.end == 1


def test_narrow_intervals_are_counted_until_one_zooms_in(panel: RulerPanel, make_view: MakeView) -> None:
    panel.set_vocabulary(Vocabulary([f" w{number}".encode() for number in range(2002)]))
    panel.set_view(make_view(np.log(np.array([0.5, 0.3, *[0.2 / 2000] * 2000]))))
    row = panel.rows[0]
    assert "2\u202f000 intervals, each narrower than a pixel" in row._tooltip(QPointF(at(row, 0.9)))
    for _ in range(3):
        QTest.mouseDClick(
            row, Qt.MouseButton.LeftButton, pos=at(row, (panel.sight.start + panel.sight.end) / 2 + 0.001)
        )
    panel._set_sight(panel.sight.near(0.9, 0.9005))
    text = row._tooltip(QPointF(at(row, 0.9002)))
    assert "Token ·w" in text
    assert "takes it" in text


def test_hovering_an_interval_tells_its_token(panel: RulerPanel, make_view: MakeView, qtbot: QtBot) -> None:
    panel.set_view(make_view())
    row = panel.rows[0]
    told: list[int] = []
    panel.token_hovered.connect(told.append)
    for u in (0.1, 0.2, 0.5, 0.97):
        QTest.mouseMove(row, at(row, u))
    assert told == [0, 1, 4]
    QApplication.sendEvent(row, QEvent(QEvent.Type.Leave))
    assert told[-1] == -1


def test_a_token_hovered_elsewhere_is_marked_on_every_ruler(panel: RulerPanel, make_view: MakeView) -> None:
    panel.set_view(make_view())
    panel.set_token(2)
    before = picture(panel)
    panel.highlight_token(1)
    assert {row.marks.hovered for row in panel.rows} == {1}
    assert {row.marks.marked for row in panel.rows} == {2}
    assert picture(panel) != before
    panel.highlight_token(-1)
    assert picture(panel) == before


def test_picking_is_asked_for_and_is_that_of_the_settings_now(
    panel: RulerPanel, make_view: MakeView, qtbot: QtBot
) -> None:
    panel.set_view(make_view(top_k=2))
    panel.set_u(0.6)
    with qtbot.waitSignal(panel.token_activated) as picked:
        panel.controls.pick.click()
    assert picked.args == [0]
    with qtbot.waitSignal(panel.token_activated) as picked:
        menu_of(panel, panel.rows[1])["Pick B"]()
    assert picked.args == [1]


# --- settings ---------------------------------------------------------------------------------------------------------


def test_a_draft_moves_the_first_ruler_only(panel: RulerPanel, make_view: MakeView) -> None:
    view = make_view()
    panel.set_view(view)
    panel.set_u(0.6)
    assert view.logits is not None
    panel.set_distribution(evaluate(view.logits, TWO, view.context), TWO)
    assert titles(panel) == ["Now: top_k 2", "The model alone"]
    assert [token(row) for row in panel.rows] == ["A", "B"]


@pytest.mark.parametrize("order", ["in turn", "the last first"])
def test_name_and_intervals_change_together(panel: RulerPanel, make_view: MakeView, order: str) -> None:
    """While the rulers of a draft are being laid out the old ones keep their old name; nothing goes back."""
    view = make_view()
    panel.set_view(view)
    panel.set_u(0.6)
    panel.wanted.disconnect()
    wishes: list[tuple[str, object, Callable[[], object]]] = []
    panel.wanted.connect(lambda channel, ticket, work: wishes.append((channel, ticket, work)))
    assert view.logits is not None
    for sampling in (TWO, HALF):
        panel.set_distribution(evaluate(view.logits, sampling, view.context), sampling)
    assert (titles(panel)[0], token(panel.rows[0])) == ("Now: no filter", "B")
    shown = []
    for channel, ticket, work in wishes if order == "in turn" else reversed(wishes):
        panel.take(channel, ticket, work())
        shown.append((titles(panel)[0], token(panel.rows[0])))
    half = ("Now: T 0.5", "B")
    assert shown == ([("Now: top_k 2", "A"), half] if order == "in turn" else [half, half])


def test_what_was_asked_at_another_place_is_dropped(panel: RulerPanel, make_view: MakeView) -> None:
    panel.wanted.disconnect()
    wishes: list[tuple[str, object, Callable[[], object]]] = []
    panel.wanted.connect(lambda channel, ticket, work: wishes.append((channel, ticket, work)))
    panel.set_view(make_view())
    panel.set_view(make_view([0.0, 5.0], node_id=2))
    for channel, ticket, work in wishes:
        panel.take(channel, ticket, work())
    assert panel.rows[0].ruler is not None
    assert len(panel.rows[0].ruler) == 2


def test_rulers_are_kept_named_moved_removed_and_brought_back(panel: RulerPanel, make_view: MakeView) -> None:
    told: list[tuple[KeptRuler, ...]] = []
    panel.kept_changed.connect(told.append)
    for values in ({"temperature": 0.5}, {"top_k": 2}):
        panel.set_view(make_view(**values))
        panel.feet.keep.click()
        assert not panel.feet.keep.isEnabled()
    assert titles(panel)[2:] == ["T 0.5", "top_k 2"]
    first = panel.rows[2]
    press(first, Qt.Key.Key_F2)
    edit = first.findChild(QLineEdit)
    assert edit is not None
    assert edit.accessibleName() == "Name of the ruler"
    QTest.keyClicks(edit, "half")
    QTest.keyClick(edit, Qt.Key.Key_Return)
    assert titles(panel)[2:] == ["half", "top_k 2"]
    press(first, Qt.Key.Key_F2)
    QTest.keyClicks(first.findChildren(QLineEdit)[-1], "nothing")
    QTest.keyClick(first.findChildren(QLineEdit)[-1], Qt.Key.Key_Escape)
    assert titles(panel)[2] == "half"
    press(panel.rows[2], Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    assert titles(panel)[2:] == ["top_k 2", "half"]
    press(panel.rows[3], Qt.Key.Key_Delete)
    assert titles(panel)[2:] == ["top_k 2"]
    assert "brings it back" in panel.notice.text()
    menu_of(panel, panel.rows[0])["Bring back “half”"]()
    assert titles(panel)[2:] == ["top_k 2", "half"]
    menu = menu_of(panel, panel.rows[3])
    assert {"Rename (F2)", "Move up (Alt+Up)", "Remove (Delete)"} <= set(menu)
    assert "Move down (Alt+Down)" not in menu
    menu["Move up (Alt+Up)"]()
    assert told[-1] == panel.shelf.kept == (KeptRuler(HALF, "half"), KeptRuler(TWO))
    assert "Rename (F2)" not in menu_of(panel, panel.rows[1])


def test_the_plain_settings_need_no_ruler_of_their_own(panel: RulerPanel, make_view: MakeView) -> None:
    panel.set_view(make_view())
    assert not panel.feet.keep.isEnabled()


def test_values_are_copied_in_full(panel: RulerPanel, make_view: MakeView) -> None:
    panel.set_view(make_view())
    panel.set_u(0.6)
    menu_of(panel, panel.rows[0])["Copy values"]()
    names, values = (line.split("\t") for line in QApplication.clipboard().text().splitlines())
    copied = dict(zip(names, values, strict=True))
    assert (copied["u"], copied["id"], copied["token"]) == ("0.6", "1", "B")
    hit = panel.rows[0].hit
    assert hit is not None
    assert (float(copied["low"]), float(copied["high"])) == (hit.low, hit.high)


# --- what is not known ------------------------------------------------------------------------------------------------


def test_a_stored_node_says_where_the_unseen_tail_lies(panel: RulerPanel, make_view: MakeView) -> None:
    panel.set_view(make_view(np.linspace(3, -3, 400), stored=30))
    row = panel.rows[0]
    panel.set_u(0.995)
    hit = row.hit
    assert hit is not None
    assert (hit.token_id, hit.settled) == (None, False)
    assert not panel.controls.pick.isEnabled()
    assert "not stored" in row.accessibleDescription()
    assert "370 tokens that were not stored" in row._tooltip(QPointF(at(row, 0.995)))
    panel.set_u(0.01)
    assert panel.controls.pick.isEnabled()


def test_where_nothing_can_be_drawn_the_filter_is_named(panel: RulerPanel, make_view: MakeView) -> None:
    panel.set_view(make_view(ban=(0, 1, 2, 3, 4)))
    assert panel.rows[0].hit is None
    assert panel.rows[0].accessibleDescription() == "Nothing can be drawn: Banned tokens removed the last token"
    assert not panel.controls.pick.isEnabled()
    assert token(panel.rows[1]) in "ABCDE"
    panel.grab()


def test_markup_in_tokens_is_shown_as_it_is(panel: RulerPanel, make_view: MakeView) -> None:
    panel.set_vocabulary(Vocabulary([b"<b>A</b>", b"&", b"\n", "你".encode()[:2], "🙂".encode()], [0]))
    panel.set_view(make_view())
    row = panel.rows[0]
    assert "&lt;b&gt;" in row._tooltip(QPointF(at(row, 0.1)))
    panel.grab()


def test_tooltips_and_marks_of_draws(panel: RulerPanel, make_view: MakeView, qtbot: QtBot) -> None:
    panel.set_view(make_view(draws=[(PLAIN, 7, 3)]))
    mark = panel.numbers.marks[0]
    axis = panel.axis
    place = QPoint(round(axis._x(mark.u)), axis.height() - 4)
    QApplication.sendEvent(axis, QHelpEvent(QEvent.Type.ToolTip, place, axis.mapToGlobal(place)))
    assert QToolTip.text() == f"<qt>Draw #3 had u = {mark.u!r} and took B</qt>"
    panel.set_u(0.9)
    QTest.mouseClick(axis, Qt.MouseButton.LeftButton, pos=place)
    assert panel.numbers.u == mark.u


@pytest.fixture(autouse=True)
def _no_tooltip_left() -> Iterator[None]:
    yield
    QToolTip.hideText()
    QApplication.processEvents()


def test_enter_events_do_nothing(panel: RulerPanel, make_view: MakeView) -> None:
    panel.set_view(make_view())
    row = panel.rows[0]
    u = panel.numbers.u
    place = QPointF(at(row, 0.3))
    QApplication.sendEvent(row, QEnterEvent(place, place, place))
    assert panel.numbers.u == u


def test_settings_that_cannot_be_used_here_say_why(
    panel: RulerPanel, make_view: MakeView, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ruler kept with another model may need what this one has not."""
    message = UserMessage("x", "It does not go.", "The rest does.", "Remove it.")

    def refusing(logits: SortedLogits, sampling: SamplingParams, context: StepContext) -> Distribution:
        if sampling == TWO:
            raise SettingsError(message)
        return evaluate(logits, sampling, context)

    monkeypatch.setattr("ui.ruler.panel.evaluate", refusing)
    panel.set_kept((KeptRuler(TWO), KeptRuler(HALF)))
    panel.set_view(make_view())
    panel.set_u(0.6)
    broken = panel.rows[2]
    assert broken.accessibleDescription() == message.text()
    assert "It does not go." in broken._tooltip(QPointF(at(broken, 0.5)))
    assert [token(row) for row in panel.rows if row is not broken] == ["B", "B", "B"]
    picture(panel)


def test_a_grammar_is_named_by_its_kind() -> None:
    assert sampling_name(SamplingParams.make(grammar=Constraint("regex", "a+"))) == "grammar regex"
