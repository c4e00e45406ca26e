"""Lessons through the real window: every step plays where it says, and every figure of the golden file is reached."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QLocale, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from explorer.lessons import Lesson, LessonStep, lesson, lessons
from explorer.tree import ROOT
from ui.app import Explorer
from ui.lessons.answers import Choices, NumberAnswer

from .conftest import _settle

Press = Callable[..., None]
GOLDEN: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "decoding" / "golden_decoding.json").read_text("utf-8")
)
NAMES = [one.id for one in lessons()]


@dataclass
class Seen:
    """What the window showed at a step: model and sampling probability by token, and the rest by name."""

    model: dict[str, float] = field(default_factory=dict)
    sampling: dict[str, float] = field(default_factory=dict)
    path: list[str] = field(default_factory=list)
    path_probability: float = 1.0
    stop: str = ""
    hits: list[str] = field(default_factory=list)
    prompt_length: int = 0
    temperature: float | None = None
    new_tokens_limit: int | None = None


SEEN: dict[str, list[Seen]] = {}


@pytest.fixture(scope="module")
def opened(program: Explorer, request: pytest.FixtureRequest) -> str:
    """The name of a lesson whose model is open: another model is another process, which no single test leaves."""
    name = str(request.param)
    program.lessons.open(name, True)
    rest(program)
    return name


def on(name: str) -> pytest.MarkDecorator:
    """For a test that plays one lesson."""
    return pytest.mark.parametrize("opened", [name], indirect=True, scope="module")


def rest(explorer: Explorer) -> None:
    """Until nothing is on its way, the rulers included."""
    _settle(explorer)
    while not explorer.analysis_thread.resting or explorer.bridge.pending:
        QTest.qWait(1)
    _settle(explorer)


def look(explorer: Explorer, played: Lesson, step: LessonStep) -> Seen:
    """Read the window."""
    view, ruler, vocab = explorer.session.view, explorer.window.ruler, played.table.vocab
    assert view is not None
    distribution = view.distribution
    seen = Seen(
        path=[vocab[edge] for edge in view.context.generated_ids],
        path_probability=math.exp(view.values.model_logprob),
        stop="" if view.stop is None else view.stop.kind,
        prompt_length=len(view.state.prompt.ids),
        temperature=view.state.settings.sampling.values.get("temperature"),  # type: ignore[arg-type]
        new_tokens_limit=view.state.settings.stopping.max_new_tokens,
    )
    if distribution is not None:
        tokens = [vocab[token] for token in distribution.token_ids]
        seen.model = dict(zip(tokens, distribution.model_probs.tolist(), strict=True))
        seen.sampling = dict(zip(tokens, distribution.sampling_probs.tolist(), strict=True))
    if step.u:
        rulers = [row for row in ruler.rows if row.spec is not None and row.spec.kind == "lent"]
        seen.hits = [vocab[row.hit.token_id] for row in rulers if row.hit and row.hit.token_id is not None]
    if step.u and not step.rulers:
        for u in step.u:
            explorer.window.lesson_card.u_chosen.emit(u)
            hit = ruler.rows[0].hit
            assert hit is not None
            assert hit.token_id is not None
            seen.hits.append(vocab[hit.token_id])
    return seen


def check(seen: Seen, step: LessonStep, explorer: Explorer, played: Lesson) -> None:
    claims = step.claims
    for told, claimed in ((seen.model, claims.next), (seen.sampling, claims.sampling)):
        for token, value in claimed.items():
            assert told[token] == pytest.approx(value, abs=5.1e-5), (step.text.in_language("en"), token)
    if step.score:
        shown = explorer.scores._texts.shown
        assert shown is not None
        assert math.exp(shown.totals.logprob) == pytest.approx(claims.probability, abs=5.1e-5)
        assert shown.totals.perplexity == pytest.approx(claims.perplexity, abs=5.1e-4)
        assert [one.token for one in shown.tokens][-len(step.path or ()) :] == list(step.path or ())
        return
    if claims.probability is not None:
        assert seen.path_probability == pytest.approx(claims.probability, abs=5.1e-5)
    if claims.stop is not None:
        assert seen.stop == claims.stop
        cut = claims.stop in ("max_new_tokens", "max_length", "context_window")
        assert bool(explorer.window.hints.sentences()) == cut  # what that does to a text is said below the path
    if claims.new_tokens is not None:
        assert len(seen.path) == claims.new_tokens
    if step.path is not None and step.by == "hand" and step.beam is None:
        assert seen.path == list(step.path)
    assert tuple(seen.hits) == claims.hits or not claims.hits
    if claims.best:
        shown = explorer.beams._searches.shown
        assert shown is not None
        best = max((e for e in shown.steps[-1].endings if not e.displaced), key=lambda ending: ending.score)
        assert best.text.replace("<eos>", "") == "".join(t for t in claims.best if t != "<eos>")


def play(explorer: Explorer, name: str) -> list[Seen]:
    """Answer every question rightly, go through every step, and look at each."""
    window, card = explorer.window, explorer.window.lesson_card
    explorer.lessons.open(name, True)
    played = lesson(name)
    seen = []
    for place, step in enumerate(played.steps):
        rest(explorer)
        assert explorer.lessons.playing is not None
        assert explorer.lessons.playing[1] == place
        assert card.text.text() == step.text.in_language("en")
        seen.append(look(explorer, played, step))
        check(seen[-1], step, explorer, played)
        if step.question is not None:
            assert not card.next.isEnabled()
            answer = card.answers
            if isinstance(answer, Choices):
                answer.buttons[step.question.answer].click()
            else:
                assert isinstance(answer, NumberAnswer)
                answer.edit.setText(QLocale.c().toString(step.question.number))
                answer.button.click()
            assert answer is not None
            assert answer.verdict.text().startswith("✓")
        card.next.click()
    assert explorer.lessons.playing is None
    assert not window.lesson_card.isVisible()
    return seen


@pytest.mark.parametrize("opened", NAMES, indirect=True, scope="module")
def test_a_lesson_plays_through_the_window(opened: str, program: Explorer) -> None:
    SEEN[opened] = play(program, opened)
    rows = [program.window.lessons.list.item(row).text() for row in range(program.window.lessons.list.count())]
    assert rows[NAMES.index(opened)].startswith("✓ ")
    assert not program.window.messages.messages


def distributions(name: str) -> list[list[float]]:
    """Every sampling distribution that was shown in a lesson, without what cannot come."""
    return [sorted((p for p in one.sampling.values() if p > 0), reverse=True) for one in SEEN[name]]


def reached(name: str, expected: list[float]) -> bool:
    return any(
        len(shown) == len(expected) and shown == pytest.approx(expected, abs=1e-6) for shown in distributions(name)
    )


def test_every_golden_figure_was_reached() -> None:
    """Runs after the lessons were played, in the order of this file."""
    if SEEN.keys() != set(NAMES):
        pytest.skip("looks at what the lessons have shown")
    temperature = GOLDEN["temperature"]
    for figures in (*temperature["logits_2_1_0"].values(), *temperature["probs_6_3_1"].values()):
        assert reached("temperature", figures)
    assert reached("softmax", temperature["logits_ln6_ln3_ln1"])
    assert reached("temperature", temperature["five_T_0.5"])
    five = [one for one in SEEN["temperature"] if one.path == ["B"]]
    odds = {one.temperature or 1.0: one.sampling["A"] / one.sampling["C"] for one in five}
    assert odds == {float(t): pytest.approx(o, rel=1e-5) for t, o in temperature["odds_A_to_C"].items()}
    for kept, mass, figures in GOLDEN["top_p"].values():
        assert reached("top-k-top-p", figures)
        assert any(
            sum(one.model[token] for token, p in one.sampling.items() if p > 0) == pytest.approx(mass, abs=1e-6)
            and sum(p > 0 for p in one.sampling.values()) == kept
            for one in SEEN["top-k-top-p"]
        )
    assert reached("top-k-top-p", GOLDEN["top_k"]["2_on_40_25_20_10_5"])
    check_rulers()
    check_paths()
    check_lengths_and_defaults()


def check_rulers() -> None:
    told: dict[tuple[str, ...], dict[str, str]] = {}
    for seen, step in zip(SEEN["ruler"], lesson("ruler").steps, strict=True):
        if step.u and not step.rulers:
            hits = dict(zip((f"{u:g}" for u in step.u), seen.hits, strict=True))
            told.setdefault(tuple(seen.path), {}).update(hits)
    figures = GOLDEN["inverse_cdf"]
    five = told[()]
    assert {f"{float(u):g}": token for u, token in figures["five"].items()}.items() <= five.items()
    assert told[("A",)] == {f"{float(u):g}": token for u, token in figures["abc_6_3_1"].items()}
    shared = figures["u_0.60_under"]
    assert five["0.6"] == shared["plain"]
    lent = next(s.hits for s, step in zip(SEEN["ruler"], lesson("ruler").steps, strict=True) if step.rulers)
    assert lent == [shared["T_0.5"], shared["top_k_2"], shared["top_p_0.70"]]


def check_paths() -> None:
    paths = GOLDEN["path_probability"]

    def shown(name: str, *path: str) -> set[float]:
        return {round(one.path_probability, 6) for one in SEEN[name] if one.path == list(path)}

    assert shown("greedy-trap", "A", "x", "<eos>") == {paths["greedy_trap_two_step"]["A_best"]}
    assert shown("greedy-trap", "B", "x", "<eos>") == {paths["greedy_trap_two_step"]["B_best"]}
    assert shown("review", *paths["review_assistant"]["path"]) == {paths["review_assistant"]["p"]}
    tree = paths["eos_tree"]
    assert shown("eos-tree", *tree["greedy_path"]) == {tree["A_C_eos"]}
    assert shown("eos-tree", *tree["best_path"]) == {tree["B_D_eos"]}
    assert shown("eos-tree", "A", "C") == {tree["A_C_prefix_or_length_stop"]}
    breakfast = GOLDEN["breakfast"]
    ends = {tuple(one.path): one.stop for one in SEEN["breakfast"] if one.stop}
    assert ends[tuple(breakfast["greedy_path"])] == breakfast["greedy_stop"]
    assert ends[tuple(breakfast["manual_path"])] == breakfast["manual_stop"]
    first = SEEN["breakfast"][0]
    assert {token: first.model[token] for token in breakfast["probs"]} == pytest.approx(breakfast["probs"], abs=1e-6)
    after_coffee = next(one for one in SEEN["breakfast"] if one.path == ["咖啡"])
    losses = breakfast["cross_entropy_nats"]
    assert -math.log(after_coffee.path_probability) == pytest.approx(losses["咖啡_before"], abs=1e-6)
    assert -math.log(after_coffee.model["，"]) == pytest.approx(losses["咖啡_at_0.60"], abs=1e-6)


def check_lengths_and_defaults() -> None:
    lengths, stopping = GOLDEN["lengths"], SEEN["stopping"]
    ended = [(one.prompt_length, len(one.path), one.stop) for one in stopping if one.stop]
    total = lengths["max_new_tokens_20"]["total_cap"]
    assert (lengths["prompt"], total - lengths["prompt"], "max_new_tokens") in ended
    assert (lengths["prompt"], lengths["max_length_20"]["new_tokens"], "max_length") in ended
    assert (300, lengths["max_length_512_prompt_300"]["new_tokens"], "max_length") in ended
    example = GOLDEN["generation_config_example"]
    step = next(s for s in lesson("top-k-top-p").steps if example["model"] in s.text.in_language("en"))
    values = step.settings.sampling.values
    assert {name: values[name] for name in ("temperature", "top_k", "top_p")} == {
        name: example[name] for name in ("temperature", "top_k", "top_p")
    }
    assert all(str(end) in step.text.in_language("zh_CN") for end in example["eos_token_id"])
    seen = SEEN["top-k-top-p"][lesson("top-k-top-p").steps.index(step)]
    assert seen.temperature == example["temperature"]


# --- by keys alone ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="class")
def chinese(program: Explorer) -> Iterator[Explorer]:
    """The language is changed while a lesson is open: it goes on in the window that takes over."""
    program.lessons.open("breakfast", True)
    rest(program)
    program.choose_language("zh_CN")
    rest(program)
    assert program.window.lesson_card.isVisible()
    assert "提示词" in program.window.lesson_card.text.text()
    yield program
    program.choose_language("en")
    rest(program)


@pytest.fixture(scope="class", params=["breakfast", "ruler"])
def keyed(chinese: Explorer, request: pytest.FixtureRequest) -> str:
    name = str(request.param)
    chinese.lessons.open(name, True)
    rest(chinese)
    return name


class TestInChinese:
    """What a new user does who has only a keyboard, and reads Chinese."""

    def test_a_lesson_is_finished_without_a_mouse(
        self, keyed: str, program: Explorer, press: Press, qtbot: QtBot
    ) -> None:
        """From the list to the end by arrows, Enter, Space, digits and Page Down."""
        window, card = program.window, program.window.lesson_card
        program.lessons.leave()
        window.actions_["lessons"].trigger()
        assert QApplication.focusWidget() is window.lessons.list
        window.lessons.list.setCurrentRow(NAMES.index(keyed))
        press(program, Qt.Key.Key_Return)
        for place, step in enumerate(lesson(keyed).steps):
            rest(program)
            assert program.lessons.playing is not None
            assert program.lessons.playing[1] == place
            assert card.text.text() == step.text.in_language("zh_CN")
            if step.question is None:
                press(program, Qt.Key.Key_PageDown)
                continue
            if step.question.choices:
                press(program, *[Qt.Key.Key_Down] * step.question.answer, Qt.Key.Key_Return)
            else:
                qtbot.keyClicks(QApplication.focusWidget(), f"{step.question.number:g}")
                press(program, Qt.Key.Key_Return)
            assert card.answers is not None
            assert card.answers.verdict.text().startswith("✓")
            assert QApplication.focusWidget() is card.next
            press(program, Qt.Key.Key_Space)
        rest(program)
        assert program.lessons.playing is None
        assert window.tree.hasFocus()


@on("first-steps")
def test_keys_step_the_tree_while_a_lesson_waits(opened: str, program: Explorer, press: Press) -> None:
    """The card takes the arrows only where it asks; with its button in focus the tree is walked as ever."""
    program.lessons.open(opened, True)
    rest(program)
    press(program, Qt.Key.Key_Right)
    assert program.session.current != ROOT
    press(program, Qt.Key.Key_Left, Qt.Key.Key_PageDown)
    assert program.lessons.playing is not None
    assert program.lessons.playing[1] == 1
    program.lessons.leave()


# --- answers, covers, progress ----------------------------------------------------------------------------------------


@on("breakfast")
def test_numbers_are_covered_until_the_answer(opened: str, program: Explorer) -> None:
    card, candidates = program.window.lesson_card, program.window.candidates
    program.lessons.open("breakfast", True)
    rest(program)
    assert isinstance(card.answers, NumberAnswer)
    covers = program.lessons._covers
    assert any(cover.parent() is candidates and cover.isVisible() for cover in covers)
    card.answers.edit.setText("soy")
    card.answers.button.click()
    assert not card.answers.done
    card.answers.edit.setText("12")
    card.answers.button.click()
    assert card.answers.verdict.text().startswith("✗")
    assert "66.52%" in card.answers.verdict.text()
    assert program.lessons._covers == []
    program.lessons.leave()


@on("review")
def test_a_lesson_goes_on_where_it_was_left(opened: str, program: Explorer) -> None:
    program.lessons.open("review", True)
    rest(program)
    program.window.lesson_card.give_up.click()
    program.lessons.next()
    rest(program)
    program.lessons.leave()
    program.lessons.open("review", False)
    rest(program)
    assert program.lessons.playing is not None
    assert program.lessons.playing[1] == 1
    program.lessons.back()
    rest(program)
    assert program.window.lesson_card.next.isEnabled()  # it was answered
    program.lessons.restart()
    rest(program)
    assert not program.window.lesson_card.next.isEnabled()
    program.lessons.leave()


# --- the real model, the lecture hall, the help -----------------------------------------------------------------------


@on("review")
def test_what_is_not_downloaded_is_offered(
    opened: str, program: Explorer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN_TREE_MODELS", str(tmp_path))
    program.lessons.open(opened, True)
    rest(program)
    card = program.window.lesson_card
    card.real.click()
    rest(program)
    assert "not on this computer" in card.notice.text()
    assert card.get.isVisible()
    program.lessons.leave()


@on("review")
def test_a_lecture_hall_and_back(opened: str, program: Explorer, press: Press) -> None:
    """F11 leaves what a lesson needs in large type; once more brings back what was there."""
    window = program.window
    docks = {name: dock.isVisible() for name, dock in window.docks.items()}
    size = QApplication.font().pointSizeF()
    press(program, Qt.Key.Key_F11)
    assert window.isFullScreen()
    assert QApplication.font().pointSizeF() >= 1.3 * size
    assert not window.docks["prompt"].isVisible()
    assert window.docks["candidates"].isVisible()
    press(program, Qt.Key.Key_F11)
    assert not window.isFullScreen()
    assert QApplication.font().pointSizeF() == size
    assert {name: dock.isVisible() for name, dock in window.docks.items()} == docks
    assert window.view_bar.isVisible()


@on("review")
def test_f1_explains_what_has_the_focus(opened: str, program: Explorer, press: Press, qtbot: QtBot) -> None:
    window = program.window
    for widget, name in (
        (window.tree, "tree"),
        (window.candidates.table, "candidates"),
        (window.lessons.list, "lessons"),
    ):
        window.show_dock("lessons")
        widget.setFocus()
        press(program, Qt.Key.Key_F1)
        shown = program.help.shown
        assert shown is not None
        assert shown.isVisible()
        assert shown.shown == name
        shown.search.setText("困惑度")
        assert "Curves" in shown.list.item(0).text() + shown.list.item(1).text() + shown.list.item(2).text()
        shown.close()
        window.activateWindow()
        qtbot.waitUntil(lambda: QApplication.activeWindow() is window)


@pytest.fixture(scope="module")
def previewed(program: Explorer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A lesson written in the editor and played from there."""
    folder = tmp_path_factory.mktemp("mine")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOKEN_TREE_LESSONS", str(folder))
        program.window.lessons.write_requested.emit("")
        editor = program.lesson_writing.editor
        assert editor is not None
        editor.preview.click()
        rest(program)
        yield folder
        program.lessons.refresh()


def test_a_lesson_is_written_tried_kept_given_and_taken(previewed: Path, program: Explorer, tmp_path: Path) -> None:
    writing, panel = program.lesson_writing, program.window.lessons
    assert program.lessons.playing is not None
    assert program.window.lesson_card.title.text() == "My lesson"
    assert program.session.session is not None
    assert program.session.session.model.identity.source.startswith("table:")
    program.lessons.leave()
    assert writing.editor is not None
    writing.editor.facts.lines["title.en"].textEdited.emit("My lesson")
    writing.editor.check()
    writing.editor.close()
    panel.write_requested.emit("")
    assert writing.editor.changed  # taken up again
    assert writing.editor.discard.isVisible()
    writing.editor.save.click()
    writing.editor.close()
    assert writing.editor.verdict.text() == "Saved among your lessons."
    assert "My lesson" in panel.list.item(panel.list.count() - 1).text()
    writing.export("my-lesson", tmp_path / "given.json")
    (tmp_path / "given.json").write_text(
        (tmp_path / "given.json").read_text("utf-8").replace('"my-lesson"', '"given"'), "utf-8"
    )
    writing.take(tmp_path / "given.json")
    assert (previewed / "given.json").is_file()
    (tmp_path / "bad.json").write_text("{", "utf-8")
    writing.take(tmp_path / "bad.json")
    assert [message.code for message in program.window.messages.messages] == ["lesson.wrong"]
    program.window.messages.dismiss("lesson.wrong")
