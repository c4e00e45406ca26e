"""Lessons: which is played, how far it is, and the window as its stage."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal, Slot

from explorer.i18n import tr
from explorer.lessons import Lesson, LessonError, LessonStep
from explorer.lessons.shelf import TOUR, Shelf, lesson, shelf
from explorer.messages import UserMessage
from explorer.models.base import ModelRef
from explorer.scoring.scored import ScorePlan
from explorer.search.beam_settings import BeamSettings
from ui.bridge import Bridge, JobContext
from ui.controllers.beam_controller import BeamController
from ui.controllers.model_controller import DEFAULT_MODEL, ModelController
from ui.controllers.score_controller import ScoreController
from ui.controllers.session_controller import SessionController
from ui.lessons.card import LessonCard
from ui.lessons.cover import Cover, Spot
from ui.lessons.progress import Progress, progress_from_json
from ui.lessons.staging import begin_real, stage
from ui.main_window import MainWindow
from ui.preferences import Preferences
from ui.ruler.rows import KeptRuler
from ui.session_thread import SessionThread, ShownView

if TYPE_CHECKING:  # see ui.session_thread
    from explorer.workspace import Workspace

Playing = tuple[Lesson, int, frozenset[int]]
"""A lesson, the place of the step, and the places whose questions are answered."""

_COVERED = ("candidates", "why", "ruler", "curves", "characters", "path")


class LessonController(QObject):
    """One lesson at a time; its steps put the window where they play, and look at what they speak of."""

    page_requested = Signal(str)
    """A page of the help."""
    staged = Signal()
    """The window is where the step plays."""

    def __init__(
        self,
        window: MainWindow,
        preferences: Preferences,
        bridge: Bridge,
        thread: SessionThread,
        session: SessionController,
        models: ModelController,
        beams: BeamController,
        scores: ScoreController,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._preferences = preferences
        self._bridge = bridge
        self._thread = thread
        self._session = session
        self._models = models
        self._beams = beams
        self._scores = scores
        self._lesson: Lesson | None = None
        self._place = 0
        self._answered: set[int] = set()
        self._covers: list[Cover] = []
        self._spot: Spot | None = None
        self._ticket = 0
        self._found: Shelf | None = None
        self._waiting = False  # for the view of where the step plays
        self._connect()
        self._enable()

    def _connect(self) -> None:
        window, card, panel = self._window, self.card, self._window.lessons
        panel.play_requested.connect(self.open)
        window.docks["lessons"].visibilityChanged.connect(self._list_seen)
        card.back_requested.connect(self.back)
        card.next_requested.connect(self.next)
        card.restart_requested.connect(self.restart)
        card.closed.connect(self.leave)
        card.answered.connect(self._take_answer)
        card.u_chosen.connect(self._look_at_u)
        card.real_requested.connect(self.try_real)
        card.get_requested.connect(self._open_real)
        card.page_requested.connect(self.page_requested)
        window.actions_.connect_all(
            {"lessons": self.show_list, "lesson_next": self.next_by_key, "lesson_back": self.back, "tour": self.tour}
        )
        window.welcome.tour_requested.connect(self.tour)
        self._session.shown.connect(self._shown)

    # --- what there is -----------------------------------------------------------------------------------------------

    @property
    def card(self) -> LessonCard:
        return self._window.lesson_card

    @property
    def playing(self) -> Playing | None:
        """What is played now, for the window that takes over."""
        return None if self._lesson is None else (self._lesson, self._place, frozenset(self._answered))

    @property
    def step(self) -> LessonStep | None:
        return None if self._lesson is None else self._lesson.steps[self._place]

    def refresh(self) -> None:
        """Look again which lessons there are."""
        self._found = shelf()
        self._list()

    def _list(self) -> None:
        """Show the lessons known, with how far one is in each."""
        if self._found is None:
            self._found = shelf()
        found = self._found
        self._window.lessons.set_lessons(found.lessons, self._progress(), self._preferences.language, found.faults)

    @Slot(bool)
    def _list_seen(self, visible: bool) -> None:
        """Lessons are read when their list is first seen, not while the window starts."""
        if visible and self._found is None:
            self._list()

    def show_list(self) -> None:
        """Bring the list to the front."""
        self.refresh()
        self._window.show_dock("lessons")
        self._window.lessons.list.setFocus(Qt.FocusReason.ShortcutFocusReason)

    # --- playing -----------------------------------------------------------------------------------------------------

    @Slot(str, bool)
    def open(self, lesson_id: str, again: bool = False) -> None:
        """Play a lesson, where it was left or from its first step."""
        try:
            opened = lesson(lesson_id)
        except KeyError:
            self.refresh()  # its file is gone
            return
        except LessonError as error:
            self._bridge.failed.emit(error.message)
            return
        known = self._progress().get(lesson_id, Progress())
        place = 0 if again or known.step >= len(opened.steps) else known.step
        self.play(opened, place)

    def play(self, opened: Lesson, place: int = 0) -> None:
        """Play ``opened`` from a step on; it need not be on the shelf."""
        self._lesson, self._answered = opened, set(range(place))
        self._window.welcome.hide()
        self._go(place)

    def resume(self, playing: Playing | None) -> None:
        """Go on where another window was; nothing is staged anew."""
        if playing is not None:
            self._lesson, self._place, self._answered = playing[0], playing[1], set(playing[2])
            self._show()
            self._look()

    def tour(self) -> None:
        """The first steps."""
        self.open(TOUR, True)

    def next_by_key(self) -> None:
        """On, unless a question waits."""
        if self.card.next.isEnabled():
            self.next()
        else:
            self.card.take_focus()

    @Slot()
    def next(self) -> None:
        """To the next step; after the last one the lesson is finished."""
        if self._lesson is None:
            return
        if self._place + 1 < len(self._lesson.steps):
            self._go(self._place + 1)
        else:
            self._finish()

    @Slot()
    def back(self) -> None:
        if self._lesson is not None and self._place > 0:
            self._go(self._place - 1)

    @Slot()
    def restart(self) -> None:
        if self._lesson is not None:
            self._answered.clear()
            self._go(0)

    @Slot()
    def leave(self) -> None:
        """Put the card away; the session stays as it is."""
        toured = self._lesson is not None and self._lesson.id == TOUR
        self._clear_stage()
        self._lesson = None
        self.card.hide()
        self._enable()
        self._window.ruler.lend(())
        self._window.tree.setFocus(Qt.FocusReason.OtherFocusReason)
        if toured:
            self._preferences.set_flag("welcome_dismissed", True)
        self._list()

    def _finish(self) -> None:
        assert self._lesson is not None
        finished = self._lesson
        self._remember(Progress(0, finished=True))
        self.leave()
        if finished.id == TOUR:
            self.show_list()

    def _go(self, place: int) -> None:
        self._place = place
        self._remember(Progress(place, self._progress().get(self._name, Progress()).finished))
        self._show()
        self._stage()

    def _show(self) -> None:
        assert self._lesson is not None
        answered = self._place in self._answered
        self.card.show_step(self._lesson, self._place, self._preferences.language, answered=answered)
        self.card.show()
        self._enable()

    def _enable(self) -> None:
        playing = self._lesson is not None
        self._window.actions_.enable(playing, "lesson_next")
        self._window.actions_.enable(playing and self._place > 0, "lesson_back")

    # --- the stage ---------------------------------------------------------------------------------------------------

    def _stage(self) -> None:
        """Open the lesson's model where it is not open, then put the session where the step plays."""
        assert self._lesson is not None
        self._ticket += 1
        self._clear_stage()
        self._look()
        ticket = self._ticket
        self._with_model(self._lesson.ref, lambda: self._set_stage(ticket))

    def _with_model(self, ref: ModelRef, then: Callable[[], None]) -> None:
        """Go on once a model is loaded, at once where it is."""
        status = self._models.status
        here = status is not None and status.state == "ready" and status.ref == ref
        if here and not self._models.loading:
            then()
        else:
            self._models.load_then(ref, then)

    def _set_stage(self, ticket: int) -> None:
        played, step = self._lesson, self.step
        if played is None or step is None or ticket != self._ticket:
            return
        title = played.title.in_language(self._preferences.language)

        def work(workspace: Workspace, job: JobContext) -> None:
            before = workspace.session
            session = stage(workspace, job, played, step, title)
            if session is not before:
                self._thread.show(session)
            self._thread.refresh()

        def done(_: object) -> None:
            self._waiting = ticket == self._ticket

        def failed(message: UserMessage) -> None:
            self.card.tell(message.text())

        self._thread.post("lesson", work, done=done, failed=failed)

    @Slot(object)
    def _shown(self, shown: ShownView) -> None:
        """The node of the step is in sight: what is done there can begin."""
        step = self.step
        if step is None or not self._waiting or shown.computing:
            return
        self._waiting = False
        if step.beam is not None:
            self._beams.search(BeamSettings(**step.beam))
        if step.score:
            self._scores.score("".join(step.path or ()), ScorePlan())
        if step.u:
            self._window.ruler.set_u(step.u[0])
        self.staged.emit()

    def _look(self) -> None:
        """Bring to the front what the step speaks of, and cover what is to be guessed."""
        step = self.step
        assert step is not None
        self._window.ruler.lend(tuple(KeptRuler(sampling) for sampling in step.rulers))
        if step.u:
            self._window.show_dock("ruler")
        if step.look in self._window.docks:
            self._window.show_dock(step.look)
        self._spot = self._spot_on(step.look)
        if step.cover and self._place not in self._answered:
            self._covers = [Cover(self._window.docks[name].widget()) for name in _COVERED]
        if step.kind == "do":
            self._window.tree.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.card.take_focus()

    def _spot_on(self, name: str) -> Spot | None:
        if name == "tree":
            return Spot(self._window.tree)
        if name in self._window.docks:
            return Spot(self._window.docks[name].widget())
        return None

    def _clear_stage(self) -> None:
        for over in (*self._covers, *([self._spot] if self._spot is not None else ())):
            over.leave()
        self._covers, self._spot = [], None

    @Slot(bool)
    def _take_answer(self, _right: bool) -> None:
        self._answered.add(self._place)
        for cover in self._covers:
            cover.leave()
        self._covers = []

    @Slot(float)
    def _look_at_u(self, u: float) -> None:
        self._window.show_dock("ruler")
        self._window.ruler.set_u(u)

    # --- the real model ----------------------------------------------------------------------------------------------

    @Slot()
    def try_real(self) -> None:
        """Open the real model with the lesson's prompt; what would have to be downloaded is only offered."""

        def decide(needs_fetching: bool) -> None:
            if needs_fetching:
                self.card.tell(
                    tr("SmolLM2 is not on this computer yet. It is fetched once; the lesson waits here."),
                    offer_download=True,
                )
            else:
                self._open_real()

        self._models.needs_fetching(DEFAULT_MODEL, decide)

    @Slot()
    def _open_real(self) -> None:
        played = self._lesson
        if played is None or played.real is None:
            return
        real, title = played.real, played.title.in_language(self._preferences.language)
        self._clear_stage()
        self._ticket += 1
        self.card.tell(tr("SmolLM2 is being opened…"))

        def begin() -> None:
            def work(workspace: Workspace, job: JobContext) -> None:
                self._thread.show(begin_real(workspace, real, tr("{title}, on SmolLM2").format(title=title)))

            self._thread.post("real model", work, done=lambda _: self._on_real())

        self._with_model(ModelRef(DEFAULT_MODEL), begin)

    def _on_real(self) -> None:
        self.card.tell(tr("This is SmolLM2 now. Step it as you like; the buttons below bring the lesson again."))
        self._window.tree.setFocus(Qt.FocusReason.OtherFocusReason)

    # --- what is remembered ------------------------------------------------------------------------------------------

    @property
    def _name(self) -> str:
        return "" if self._lesson is None else self._lesson.id

    def _progress(self) -> dict[str, Progress]:
        return progress_from_json(self._preferences.form("lessons"))

    def _remember(self, progress: Progress) -> None:
        known = {**self._progress(), self._name: progress}
        self._preferences.set_form("lessons", {name: one.to_json() for name, one in known.items()})
