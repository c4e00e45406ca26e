"""Models: fetch, load, start again, remove; away from the session, which can be looked at meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QMenu

from explorer.decoding.params import SamplingParams, Settings
from explorer.engine.client import Engine
from explorer.i18n import N_, tr
from explorer.lessons import lesson
from explorer.messages import UserMessage
from explorer.models.base import ModelInfo, ModelRef
from explorer.progress import Progress
from explorer.text import Prompt
from ui.bridge import Bridge, Job, JobContext
from ui.main_window import MainWindow
from ui.preferences import Preferences
from ui.session_thread import EngineStatus, OpenedSession, SessionThread
from ui.threads import JobThread

if TYPE_CHECKING:  # see ui.session_thread
    from explorer.models.catalog import ModelEntry
    from explorer.workspace import Workspace

DEFAULT_MODEL = "smollm2-135m"
LESSON_PREFIX = "lesson:"
LESSON = "lesson:breakfast"
_TABLES = (LESSON_PREFIX, "table:")
_FIRST_PROMPT = "The capital of France is"
_NEW_TOKENS = 100  # a limit that is visible and can be changed, so that a run ends

ModelThread = JobThread[Engine]


class ModelController(QObject):
    """Owns the loading of models. One at a time; a later wish waits."""

    loading_changed = Signal(bool)
    failed = Signal(object)
    """`UserMessage` of a model that could not be fetched or loaded."""

    def __init__(
        self,
        window: MainWindow,
        preferences: Preferences,
        bridge: Bridge,
        models: ModelThread,
        session_thread: SessionThread,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._preferences = preferences
        self._bridge = bridge
        self._models = models
        self._session_thread = session_thread
        self._session: OpenedSession | None = None
        self._status: EngineStatus | None = None
        self._entries: Sequence[ModelEntry] = ()
        self._job: Job[Engine] | None = None
        self.wish: Callable[[ModelController], None] | None = None
        """What is being done, for another controller to do again; None while nothing is."""
        self._loading = ""
        self._loads_lesson = False
        panel = window.models
        panel.open_requested.connect(self.open)
        panel.get_requested.connect(self.get)
        panel.remove_requested.connect(self.remove)
        panel.cancel_requested.connect(self.cancel)
        panel.restart_requested.connect(self.restart)
        window.welcome.get_model_requested.connect(self.get_default)
        window.welcome.cancel_requested.connect(self.cancel)
        window.status.cancel_requested.connect(self.cancel)
        self._menu = QMenu(window.model_button)
        self._menu.setToolTipsVisible(True)
        window.model_button.setMenu(self._menu)
        self._fill_menu()
        bridge.happened.connect(self._take_event)

    # --- what the user may want --------------------------------------------------------------------------------------

    @property
    def loading(self) -> bool:
        return self._job is not None

    @property
    def status(self) -> EngineStatus | None:
        return self._status

    def refresh_entries(self) -> None:
        """Look again which models there are."""
        self._models.post("list models", _list_models, done=self._take_entries)

    def open(self, ref: ModelRef) -> None:
        """Load a model, fetching it first where needed. The session that is open goes on with it where it is its
        model; else a new session begins."""
        self._loads_lesson = ref.source.startswith(LESSON_PREFIX)
        self._load(ref, lambda: self._begin(ref))
        self.wish = lambda models: models.open(ref)

    def open_for_session(self, ref: ModelRef) -> None:
        """Load the model of the session that is open, so that it can go on; what would have to be downloaded is only
        offered."""

        def decide(needs_fetching: bool) -> None:
            if needs_fetching:
                self.failed.emit(_not_here(ref.source))
            else:
                self.load_for_session(ref)

        self.needs_fetching(ref.source, decide)

    def load_for_session(self, ref: ModelRef) -> None:
        """As `open_for_session`, downloading what is missing."""
        self._load(ref, self._session_goes_on)
        self.wish = lambda models: models.load_for_session(ref)

    def load_then(self, ref: ModelRef, then: Callable[[], None]) -> None:
        """Load a model, fetching it first where needed; no session begins, ``then`` decides."""
        self._loads_lesson = ref.source.startswith(_TABLES)
        self._load(ref, then)
        self.wish = lambda models: models.open(ref)

    def needs_fetching(self, source: str, decide: Callable[[bool], None]) -> None:
        """Have ``decide`` told whether opening ``source`` would download something."""
        self._models.post("look for the model", lambda engine, job: _needs_fetching(source), done=decide)

    def open_lesson(self) -> None:
        self.open(ModelRef(LESSON))

    def get_default(self) -> None:
        """Fetch the model that everybody's numbers agree on, and open it."""
        self.open(ModelRef(DEFAULT_MODEL))

    def get(self, name: str) -> None:
        """Fetch a model and open it; both happen in the engine's process, for an import needs torch."""
        self.open(ModelRef(name))

    def remove(self, entry: ModelEntry) -> None:
        """Delete a model's files. It can be fetched again."""
        self._models.post("remove", lambda engine, job: _remove(entry.name), done=lambda _: self.refresh_entries())

    def restart(self) -> None:
        """Start the same model again after its process ended."""
        self._work(
            tr("Starting the model again"),
            lambda engine, job: engine.restart(progress=job.progress, cancel=job.cancel),
            lambda _: self._session_goes_on(),
        )
        self.wish = lambda models: models.restart()

    def cancel(self) -> None:
        """Stop fetching or loading."""
        if self._job is not None:
            self._job.cancel.cancel()
            self._show_progress(tr("Cancelling…"))

    # --- loading -----------------------------------------------------------------------------------------------------

    def _load(self, ref: ModelRef, then: Callable[[], None]) -> None:
        def load(engine: Engine, job: JobContext) -> ModelInfo:
            return engine.load(ref, progress=job.progress, cancel=job.cancel)

        def done(_: Any) -> None:
            self.refresh_entries()
            then()

        self._work(tr("Loading {name}").format(name=ref.source), load, done)

    def _work(self, what: str, work: Callable[[Engine, JobContext], Any], done: Callable[[Any], None]) -> None:
        if self._job is not None:
            self._job.cancel.cancel()

        def end() -> bool:
            if self._job is not job:
                return False
            self._job = self.wish = None
            self._loading = ""
            self._loads_lesson = False
            self._show_progress("")
            self._show_engine()
            self.loading_changed.emit(False)
            return True

        def finished(value: Any) -> None:
            if end():
                done(value)

        def failed(message: UserMessage) -> None:
            if end():
                self.failed.emit(message)

        def cancelled() -> None:
            end()

        def progressed(progress: Progress) -> None:
            if self._job is job:
                self._show_progress(progress_text(what, progress), progress.done, progress.total)

        job = self._models.post(what, work, done=finished, failed=failed, cancelled=cancelled, progress=progressed)
        self._job = job
        self._loading = what
        self._show_progress(what)
        self._show_engine()
        self.loading_changed.emit(True)

    def _begin(self, ref: ModelRef) -> None:
        """The model is there: go on with the session if it is its own, else begin one."""
        prompt, settings, seed = self._carried_over()
        language = self._preferences.language

        def begin(workspace: Workspace, job: JobContext) -> None:
            if workspace.session is not None and workspace.session.live:
                self._session_thread.refresh()
                return
            title = None
            chosen = limited(settings, workspace.model)
            if ref.source.startswith(LESSON_PREFIX):
                opened = lesson(ref.source.removeprefix(LESSON_PREFIX))
                title, chosen = opened.title.in_language(language), limited(opened.settings, workspace.model)
            session = workspace.new_session(first_prompt(workspace, prompt), settings=chosen, seed=seed, title=title)
            self._session_thread.show(session)

        self._session_thread.post("begin", begin)

    def _carried_over(self) -> tuple[Prompt | None, Settings, int]:
        """What a session with another model takes from the one before; a table's words are its own."""
        session = self._session
        if session is None or session.model.identity.kind == "table":
            return None, Settings(), 0
        return session.state.prompt, self._window.settings.draft, session.state.seed

    def _session_goes_on(self) -> None:
        def check(workspace: Workspace, job: JobContext) -> bool:
            self._session_thread.refresh()
            return workspace.session is None or workspace.session.live

        def done(live: bool) -> None:
            if not live:
                self.failed.emit(_another_model())

        self._session_thread.post("go on", check, done=done)

    # --- showing -----------------------------------------------------------------------------------------------------

    @Slot(str, object)
    def _take_event(self, name: str, value: Any) -> None:
        if name == "engine":
            self._status = value
            self._show_engine()
        elif name == "opened":
            self._session = value
            self._show_engine()
        elif name == "memory":
            self._window.status.set_memory(value.cache_bytes, value.rss_bytes)

    def _show_engine(self) -> None:
        status, window = self._status, self._window
        info = status.info if status is not None else None
        ended = status is not None and status.state == "ended"
        word = "" if self._loading else self._word()
        model = self._session.model if self._session is not None else info
        window.status.set_model(model, word)
        window.models.set_engine(info, self._loading or word or tr("Ready."), ended=ended and not self._loading)
        ready = status is not None and status.state == "ready"
        window.prompt.set_model(info if info is not None else model, live=ready)
        name = info.identity.name if info is not None else tr("No model")
        window.model_button.setText(f"{name}{' ⚠' if ended else ''}")
        window.actions_.enable(ended and not self._loading, "restart_engine")
        if not ready:
            window.status.set_memory(None, None)

    def _word(self) -> str:
        """What is the matter with the engine, in a few words; nothing when all is well."""
        status = self._status
        if status is None or status.state == "none":
            return tr("no model is loaded")
        if status.state == "ended":
            return tr("the model's process has ended")
        if self._session is not None and not status.session_live:
            return tr("not loaded: what was recorded is shown")
        return ""

    def _show_progress(self, text: str, done: int = 0, total: int | None = None) -> None:
        self._window.models.set_progress(text, done, total)
        if not text or not self._loads_lesson:  # a lesson is there before one could read what is happening
            self._window.welcome.set_progress(text, done, total)
        self._window.status.set_activity(text, done, total)

    def _take_entries(self, entries: Sequence[ModelEntry]) -> None:
        self._entries = entries
        self._window.models.set_entries(entries)
        here = any(entry.name == DEFAULT_MODEL and entry.state == "installed" for entry in entries)
        self._window.welcome.set_model_here(here)
        if any(entry.state == "installed" and ModelRef(entry.name).neural for entry in entries):
            # What fails here is told where a model is opened.
            self._models.post("prepare", lambda engine, job: engine.prepare(), failed=lambda _: None)
        self._window.actions_["get_smollm2"].setText(tr("Open SmolLM2") if here else tr("Get SmolLM2 (98 MB)"))
        self._fill_menu()

    def _fill_menu(self) -> None:
        self._menu.clear()
        for entry in self._entries:
            if entry.state == "installed":
                name = entry.name
                action = self._menu.addAction(name.replace("&", "&&"))
                action.triggered.connect(lambda _=False, name=name: self.open(ModelRef(name)))
        self._menu.addSeparator()
        for action_name in ("get_smollm2", "open_folder", "open_gguf", "open_hub", "models"):
            self._menu.addAction(self._window.actions_[action_name])


def first_prompt(workspace: Workspace, prompt: Prompt | None) -> Prompt:
    """``prompt`` read again by the loaded model's tokenizer; without one its own default, or a first sentence."""
    model = workspace.model
    if prompt is None or model.default_prompt is not None:
        return workspace.encode(model.default_prompt if model.default_prompt is not None else _FIRST_PROMPT)
    if prompt.messages and model.chat_template is not None:
        return workspace.encode_chat(prompt.messages)
    return workspace.encode(_FIRST_PROMPT if prompt.messages else prompt.text)


def limited(settings: Settings, model: ModelInfo) -> Settings:
    """``settings`` for another model: without the token ids of the one before, and with a limit, so that a run ends."""
    values = {name: value for name, value in settings.sampling.values.items() if name not in ("ban", "logit_bias")}
    stopping = replace(settings.stopping, eos_token_ids=None)
    sources = dict(settings.sources)
    if stopping.max_new_tokens is None and stopping.max_length is None:
        stopping = replace(stopping, max_new_tokens=min(_NEW_TOKENS, model.context_length))
        sources["max_new_tokens"] = "preset"
    return Settings(SamplingParams.make(settings.sampling.order, **values), stopping, sources)


def progress_text(what: str, progress: Progress) -> str:
    """A line such as “Getting smollm2-135m: downloading, 12 of 98 MB”."""
    phase = tr(progress.phase)
    if progress.unit == "bytes":
        done = f"{progress.done / 1e6:.0f}"
        if progress.total:
            return tr("{what}: {phase}, {done} of {total} MB").format(
                what=what, phase=phase, done=done, total=f"{progress.total / 1e6:.0f}"
            )
        return tr("{what}: {phase}, {done} MB").format(what=what, phase=phase, done=done)
    return tr("{what}: {phase}").format(what=what, phase=phase)


# On the model thread: the catalogue comes with the hub's library, which the window's first paint must not wait for.


def _list_models(engine: Engine, job: JobContext) -> list[ModelEntry]:
    from explorer.models.catalog import list_models

    return list_models()


def _remove(name: str) -> None:
    from explorer.models.catalog import remove_model

    remove_model(name)


def _needs_fetching(source: str) -> bool:
    """Whether opening ``source`` would download something."""
    from explorer.models.catalog import KNOWN, list_models
    from explorer.models.hub_source import is_hub_name

    here = any(entry.name == source and entry.state == "installed" for entry in list_models())
    return not here and (source in KNOWN or is_hub_name(source))


def _not_here(source: str) -> UserMessage:
    return UserMessage(
        "model.not_here",
        N_("{name} is not on this computer."),
        N_("The session shows what was recorded; new steps need its model."),
        N_("Get the model, or look around without it."),
        {"name": source},
    )


def _another_model() -> UserMessage:
    return UserMessage(
        "session.other_model",
        N_("This is not the model the session was made with."),
        N_("Its files have changed since, so its numbers would not continue the recorded ones."),
        N_("Look at what was recorded, or start a new session with the same prompt."),
    )
