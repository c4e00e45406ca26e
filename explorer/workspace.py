"""The workspace: one library, one engine, and the session that is open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from explorer.decoding.params import SamplingParams, Settings
from explorer.engine.client import Engine
from explorer.grammar.provider import Grammars
from explorer.i18n import N_
from explorer.messages import EngineError, UserMessage
from explorer.models.base import ModelInfo, ModelRef
from explorer.models.prefix_checks import check_ids, check_length
from explorer.progress import CancelToken, Progress, ProgressCallback
from explorer.scoring.judging import ScoreQuestion, TokenScore
from explorer.session import Session
from explorer.store import SessionStore
from explorer.store.records import SessionState, SessionSummary
from explorer.store.upkeep import Upkeep, left_uncleanly
from explorer.text import ChatMessage, Prompt, Vocabulary
from explorer.tree import ROOT

_TITLE_LENGTH = 60
_SCORE_BATCH = 64  # tokens between two looks at whether to go on


class Workspace:
    """Opens models and sessions. Synchronous; used from one thread (cancelling may come from another)."""

    def __init__(self, library: Path, engine: Engine | None = None) -> None:
        """Open (or create) the library. Raises `StoreError`; starts no model."""
        self._suspicious = left_uncleanly(library)
        self.store = SessionStore.open(library)
        self._upkeep: Upkeep | None = None
        self._tell: Callable[[UserMessage], None] | None = None
        self.engine = engine or Engine()
        self.session: Session | None = None

    def close(self) -> None:
        """End the engine and close the library; what waits to be written is tried once more."""
        if self.session is not None:
            self.session.save()
        self.engine.close()
        self._end_upkeep()
        self.store.close()

    def keep_up(self, tell: Callable[[UserMessage], None]) -> None:
        """From now on back the library up while it is open, and look it over if it was left uncleanly.

        ``tell`` is called in another thread with a message where the library is damaged.
        """
        self._end_upkeep()
        self._tell = tell
        if not self.store.read_only:
            self._upkeep = Upkeep(self.store.path, tell, suspicious=self._suspicious)

    def _end_upkeep(self) -> None:
        if self._upkeep is not None:
            self._upkeep.close()
        self._upkeep = None

    def open_library(self, library: Path, *, create: bool = True) -> None:
        """Go on with another library; what was open is left, and written as far as it can be. The model stays.

        Raises `StoreError`; then everything stays as it was.
        """
        suspicious = left_uncleanly(library)
        store = SessionStore.open(library, create=create)
        if self.session is not None:
            self.session.save()
            self._leave_session()
        self.session = None
        self._end_upkeep()
        self.store.close()
        self.store, self._suspicious = store, suspicious
        if self._tell is not None:
            self.keep_up(self._tell)

    # --- models ------------------------------------------------------------------------------------------------------

    def open_model(
        self, ref: ModelRef, *, progress: ProgressCallback | None = None, cancel: CancelToken | None = None
    ) -> ModelInfo:
        """Load a model in the engine process. An open session of the same model goes on with it.

        Raises `ModelLoadError`, `EngineCrashed`, `Cancelled`; the model loaded before then still works.
        """
        return self.engine.load(ref, progress=progress, cancel=cancel)

    def restart_engine(
        self, *, progress: ProgressCallback | None = None, cancel: CancelToken | None = None
    ) -> ModelInfo:
        """Start the same model again after the engine ended."""
        return self.engine.restart(progress=progress, cancel=cancel)

    @property
    def model(self) -> ModelInfo:
        """The loaded model. Raises `EngineError` where there is none."""
        if self.engine.info is None:
            raise EngineError(UserMessage("engine.no_model", N_("No model is open."), "", N_("Open a model first.")))
        return self.engine.info

    @property
    def vocabulary(self) -> Vocabulary:
        """The loaded model's vocabulary. Raises `EngineError` where there is none."""
        assert self.model is not None
        vocabulary = self.engine.vocabulary
        assert vocabulary is not None  # comes with the model
        return vocabulary

    # --- prompts -----------------------------------------------------------------------------------------------------

    def encode(self, text: str) -> Prompt:
        """A raw prompt as the model's own tokenizer reads it. Any length: see `new_session`."""
        return Prompt("raw", text, self.engine.encode(text))

    def encode_chat(self, messages: Sequence[ChatMessage], *, add_generation_prompt: bool = True) -> Prompt:
        """A chat prompt through the model's template. Raises `PromptError` where there is no template."""
        text, ids = self.engine.encode_chat(messages, add_generation_prompt=add_generation_prompt)
        return Prompt("chat", text, ids, tuple(messages))

    def prompt_of_ids(self, ids: Sequence[int]) -> Prompt:
        """A prompt given as token ids. Raises `PromptError` for an id outside the vocabulary."""
        check_ids(ids, len(self.vocabulary))
        return Prompt("ids", self.vocabulary.decode(ids), tuple(ids))

    # --- sessions ----------------------------------------------------------------------------------------------------

    def new_session(
        self,
        prompt: Prompt | str | None = None,
        *,
        settings: Settings | None = None,
        seed: int = 0,
        title: str | None = None,
    ) -> Session:
        """Start a session on the loaded model; the one open before stays in the library.

        ``prompt`` None means the model's default prompt. Raises `PromptError` for a prompt the model cannot start
        from, `SettingsError` for token ids outside the vocabulary and for a grammar that cannot be used, `EngineError`
        where no model is loaded.
        """
        settings = settings or Settings()
        settings.check_vocabulary(len(self.vocabulary))
        constraint = settings.sampling.grammar()
        if constraint is not None:
            Grammars(self.vocabulary).check(constraint)
        if prompt is None:
            prompt = self.model.default_prompt or ""
        if isinstance(prompt, str):
            prompt = self.encode(prompt)
        check_length(prompt.ids, self.model)
        state = SessionState(
            title=title if title is not None else _title_of(prompt),
            prompt=prompt,
            settings=settings,
            seed=seed,
            next_draw_index=0,
            current=ROOT,
        )
        self._leave_session()
        self.session = Session(self.store, self.engine, self.model, self.vocabulary, state)
        return self.session

    def open_session(self, session_id: int) -> Session:
        """Open a stored session; it is live once its model is loaded. Raises `StoreError`, KeyError if unknown."""
        stored = self.store.load(session_id)
        vocabulary = self.store.vocabulary(stored.vocabulary_sha256)
        session = Session(self.store, self.engine, stored.model, vocabulary, stored.state, stored)
        if self.session is None or self.session.id != session_id:  # else what was just read would go with it
            self._leave_session()
        self.session = session
        return session

    def model_ref_of(self, session: Session) -> ModelRef:
        """What to open to make a stored session live again, on the device it ran on where that was a choice."""
        identity = session.model.identity
        return ModelRef(identity.source, revision=identity.revision)

    def sessions(self, limit: int | None = None) -> list[SessionSummary]:
        """What the library holds, newest first."""
        return self.store.summaries(limit)

    def delete_session(self, session_id: int) -> None:
        """Remove a session and everything of it for good. The open one is closed first."""
        if self.session is not None and self.session.id == session_id:
            self.session = None
        self.store.delete_session(session_id)

    def _leave_session(self) -> None:
        """A session in which nothing was ever tried is not worth a line in the library."""
        session = self.session
        if session is None or session.id is None or session.tree.next_id > 1 or session.unsaved:
            return
        self.session = None
        self.store.delete_session(session.id)

    # --- scoring -----------------------------------------------------------------------------------------------------

    def score(
        self,
        ids: Sequence[int],
        *,
        progress: ProgressCallback | None = None,
        cancel: CancelToken | None = None,
    ) -> Iterator[TokenScore | None]:
        """What the model makes of each token of ``ids``, given all before it; nothing is kept.

        Position t is judged by the logits after position t - 1; position 0 has nothing before it and no score.
        """
        check_length(ids, self.model)
        if ids:
            yield None
        for first in range(1, len(ids), _SCORE_BATCH):
            stop = min(first + _SCORE_BATCH, len(ids))
            question = ScoreQuestion(tuple(ids[:stop]), first, stop, 0, SamplingParams(), self.model.eos_token_ids)
            yield from self.engine.judge(question, cancel=cancel).scores
            if progress is not None:
                progress(Progress(N_("Scoring"), stop - 1, len(ids) - 1, "tokens"))


def _title_of(prompt: Prompt) -> str:
    """A session's first title: the beginning of its prompt, or of the last message, on one line."""
    text = prompt.messages[-1].content if prompt.messages else prompt.text
    line = " ".join(text.split())
    return line if len(line) <= _TITLE_LENGTH else line[: _TITLE_LENGTH - 1] + "…"


def with_default_limit(settings: Settings, max_new_tokens: int) -> Settings:
    """``settings`` with a visible, changeable limit where none was set, so that a run ends."""
    if settings.stopping.max_new_tokens is not None or settings.stopping.max_length is not None:
        return settings
    limited = replace(settings.stopping, max_new_tokens=max_new_tokens)
    return replace(settings, stopping=limited, sources={**settings.sources, "max_new_tokens": "preset"})
