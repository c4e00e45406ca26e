"""What a session can be asked: its tree, its numbers at any node, what would stop it. Keeps only what was seen."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from explorer.annotations import Annotation, annotations_of
from explorer.decoding.grammar_mass import grammar_logmass
from explorer.decoding.logits import Observation, SortedLogits
from explorer.decoding.params import SamplingParams, Settings
from explorer.decoding.pipeline import Distribution, evaluate
from explorer.decoding.processors import StepContext
from explorer.decoding.stopping import StopEvent, checked_text
from explorer.engine.client import Engine
from explorer.events import NodeView
from explorer.grammar.constraint import Constraint
from explorer.grammar.facts import GrammarFacts
from explorer.grammar.provider import Grammars
from explorer.grammar.states import GrammarState
from explorer.ledger import Ledger
from explorer.messages import EngineError, UserMessage
from explorer.models.base import Environment, Logits, ModelInfo
from explorer.node_logits import Guess, LogitsOrigin, NodeLogits
from explorer.progress import CancelToken, ProgressCallback
from explorer.proof.report import NodeCheck, ProofReport
from explorer.proof.wording import needs_model_message
from explorer.scoring.joining import Continuation, continuation
from explorer.scoring.judging import Judgement, ScoreQuestion
from explorer.stops import facts_after, not_live_message, other_numbers_message, stop_after
from explorer.store import SessionStore
from explorer.store.records import CommandRecord, SessionState, StoredSession
from explorer.text import Vocabulary, path_pieces
from explorer.tree import NodeId, TokenTree

# Nothing can be computed beyond these; every other stop may be stepped past.
FINAL_STOPS = frozenset({"context_window"})
# The model is not asked what follows these until the user goes on.
_QUIET_STOPS = frozenset({"eos", "context_window"})


class SessionReading:
    """The part of a `Session` that only looks."""

    def __init__(
        self,
        store: SessionStore,
        engine: Engine,
        model: ModelInfo,
        vocabulary: Vocabulary,
        state: SessionState,
        stored: StoredSession | None = None,
    ) -> None:
        """A new session that begins with ``state``, or one that was ``stored``."""
        self.model = model
        self.vocabulary = vocabulary
        self._engine = engine
        self._grammars = Grammars(vocabulary)
        self._ledger = Ledger(store, model, vocabulary, state, stored)
        self._logits = NodeLogits(engine, self._ledger.observation)
        self._last_evaluated: tuple[SortedLogits, SamplingParams, StepContext, Distribution] | None = None

    @property
    def id(self) -> int | None:
        """Its id in the library; None while it could not be written there yet."""
        return self._ledger.id

    @property
    def created(self) -> datetime:
        return self._ledger.created

    @property
    def tree(self) -> TokenTree:
        """The tree, to look at; only commands change it."""
        return self._ledger.tree

    @property
    def state(self) -> SessionState:
        return self._ledger.state

    @property
    def live(self) -> bool:
        """Whether the engine holds this session's model, so that new steps can be computed."""
        return (
            self._engine.alive and self._engine.info is not None and self._engine.info.identity == self.model.identity
        )

    @property
    def commands(self) -> tuple[CommandRecord, ...]:
        """Every command ever given, undone and abandoned ones included."""
        return self._ledger.commands

    @property
    def annotations(self) -> dict[NodeId, Annotation]:
        """The stars and notes on nodes, deleted ones included."""
        return annotations_of(self._ledger.commands)

    @property
    def undo_kind(self) -> str | None:
        """The kind of command `undo` would take back; None where there is none."""
        return self._ledger.undo_kind

    @property
    def redo_kind(self) -> str | None:
        return self._ledger.redo_kind

    @property
    def undo_seqs(self) -> tuple[int, ...]:
        """The commands that `undo` would take back."""
        return self._ledger.undo_seqs

    @property
    def redo_seqs(self) -> tuple[int, ...]:
        """The commands that `redo` would bring again."""
        return self._ledger.redo_seqs

    @property
    def unsaved(self) -> int:
        """Writes that are not in the library yet; `save_error` says why."""
        return self._ledger.unsaved

    @property
    def save_error(self) -> UserMessage | None:
        return self._ledger.save_error

    @property
    def eos_token_ids(self) -> tuple[int, ...]:
        """The ids that end a text under the present settings."""
        own = self.state.settings.stopping.eos_token_ids
        return self.model.eos_token_ids if own is None else own

    def prefix(self, node_id: NodeId) -> tuple[int, ...]:
        """Every token id the model sees at a node: the prompt and the path."""
        return self.state.prompt.ids + self.tree.token_ids(node_id)

    def context(self, node_id: NodeId) -> StepContext:
        """What the filters may look at besides the logits."""
        return self.context_after(self.tree.token_ids(node_id))

    def context_after(self, generated: tuple[int, ...], settings: Settings | None = None) -> StepContext:
        """As `context`, after tokens the tree may not have, under ``settings`` (None: those in force)."""
        own = (settings or self.state.settings).stopping.eos_token_ids
        ends = self.model.eos_token_ids if own is None else own
        return StepContext(self.state.prompt.ids, generated, ends, self._grammars)

    def stop_at(self, node_id: NodeId) -> StopEvent | None:
        """The stop in force at a node under the present settings; None means generation may go on."""
        return self.stop_after(self.tree.token_ids(node_id))

    def distribution(
        self,
        node_id: NodeId,
        *,
        progress: ProgressCallback | None = None,
        cancel: CancelToken | None = None,
        guess: Guess | None = None,
    ) -> Distribution | None:
        """The next-token distribution at a node under the present settings. For ``guess`` see `NodeLogits.get`.

        None where the model is not loaded and nothing was stored. Raises `EngineError`, `Cancelled`.
        """
        context = self.context(node_id)
        logits, _ = self._node_logits(node_id, context, live=self.live, progress=progress, cancel=cancel, guess=guess)
        return None if logits is None else self._evaluated(logits, context)

    def view(
        self,
        node_id: NodeId | None = None,
        *,
        compute: bool = True,
        progress: ProgressCallback | None = None,
        cancel: CancelToken | None = None,
        note: bool = True,
    ) -> NodeView:
        """A snapshot of one node (default: the current one), recorded in the library where ``note`` says so.

        With ``compute`` False the model is not asked: the distribution is there only if it is at hand.
        """
        node_id = self.state.current if node_id is None else node_id
        context, stop = self.context(node_id), self.stop_at(node_id)
        live = self.live and compute and self._worth_computing(node_id, stop)
        logits, source = self._node_logits(node_id, context, live=live, progress=progress, cancel=cancel)
        if source == "model" and note:
            self.note_seen(node_id)
        pieces = path_pieces(self.vocabulary, context.prompt_ids + context.generated_ids)
        generated = tuple(pieces[len(context.prompt_ids) :])
        text = "".join(piece.text for piece in generated)
        path = tuple(self.tree.path(node_id))
        distribution = None if logits is None else self._evaluated(logits, context)
        return NodeView(
            node_id=node_id,
            path=path,
            pieces=generated,
            prompt_pieces=tuple(pieces[: len(context.prompt_ids)]),
            text=checked_text(text, stop) if stop else text,
            context=context,
            values=self.tree.path_values(node_id),
            stop=stop,
            taken={self.tree.node(child).token_id: child for child in self.tree.children(node_id)},
            logits=logits,
            distribution=distribution,
            source=source,
            state=self.state,
            edges=tuple(self.tree.node(node).edge for node in path),
            draws=self._ledger.draws_at(node_id),
            grammar=self.grammar_after(context.generated_ids),
            grammar_logmass=None if distribution is None else grammar_logmass(distribution),
        )

    def check(
        self,
        node_id: NodeId | None = None,
        *,
        progress: ProgressCallback | None = None,
        cancel: CancelToken | None = None,
    ) -> ProofReport:
        """What is shown of a node (default: the current one) against transformers itself and a pass without a cache.

        Raises what `Engine.check` raises, and `EngineError` (code ``proof.needs_model``) where the model is not loaded.
        """
        node_id = self.state.current if node_id is None else node_id
        if not self.live:
            raise EngineError(needs_model_message(self.model, self._ledger.observation(node_id)))
        context, sampling = self.context(node_id), self.state.settings.sampling
        logits, _ = self._node_logits(node_id, context, live=True, progress=progress, cancel=cancel)
        assert logits is not None  # a live model always answers
        check = NodeCheck.of(evaluate(logits, sampling, context), sampling, context)
        return self._engine.check(check, progress=progress, cancel=cancel)

    def note_seen(self, node_id: NodeId) -> None:
        """Record what the model said at a node, where it has said something that is not recorded yet."""
        for observed, observation in self._new_observation(node_id).items():
            self._ledger.observe(observed, observation)

    def keep_whole(
        self,
        node_id: NodeId | None = None,
        *,
        progress: ProgressCallback | None = None,
        cancel: CancelToken | None = None,
    ) -> int:
        """Record every logit at a node (default: the current one): its figures then stay exact without the model.

        Returns how many. Raises `EngineError` where the model is not loaded, and where it does not give again what was
        recorded here first (code ``engine.other_numbers``); `Cancelled`.
        """
        self.require_live()
        node_id = self.state.current if node_id is None else node_id
        logits, _ = self._node_logits(node_id, self.context(node_id), live=True, progress=progress, cancel=cancel)
        assert logits is not None  # a live model always answers
        whole, seen = Observation.of(logits, logits.vocab_size), self._ledger.observation(node_id)
        if seen is not None and not whole.extends(seen):
            raise EngineError(other_numbers_message(self.model))
        self._ledger.observe_whole(node_id, whole)
        return len(whole.token_ids)

    def stop_after(self, generated: tuple[int, ...], state: SessionState | None = None) -> StopEvent | None:
        """The stop after generated tokens, whether or not the tree has them, under ``state`` (None: that of now)."""
        return stop_after(generated, state or self.state, self.model, self.vocabulary, self._grammars)

    def check_grammar(self, settings: Settings) -> tuple[str, ...]:
        """What the grammar of ``settings`` leaves unenforced, in llguidance's words. Raises `GrammarError`."""
        constraint = settings.sampling.grammar()
        return () if constraint is None else self._grammars.check(constraint)

    def check_constraint(self, constraint: Constraint) -> None:
        """Raise `GrammarError` where a grammar that is not in force cannot be used with this vocabulary."""
        self._grammars.check(constraint)

    def constraint_state(self, constraint: Constraint, generated: tuple[int, ...]) -> GrammarState:
        """Where a grammar that is not in force stands after tokens since it began; end tokens are no part of it."""
        return self._grammars.state(constraint, generated, ())

    def grammar_after(self, generated: tuple[int, ...], state: SessionState | None = None) -> GrammarFacts | None:
        """Where the grammar in force stands after generated tokens; None where there is none."""
        return facts_after(generated, state or self.state, self.model, self._grammars)

    def logits_after(
        self,
        paths: Sequence[tuple[int, ...]],
        *,
        progress: ProgressCallback | None = None,
        cancel: CancelToken | None = None,
    ) -> Logits:
        """Raw logits after each of several sequences of generated tokens, in one call of the engine.

        float32[len(paths), vocabulary]. Raises what `Engine.next_token_logits` raises, and `EngineError` where this
        session's model is not loaded.
        """
        self.require_live()
        prompt = self.state.prompt.ids
        prefixes = [prompt + path for path in paths]
        return self._engine.next_token_logits(prefixes, prompt_length=len(prompt), progress=progress, cancel=cancel)

    def judge(
        self,
        question: ScoreQuestion,
        *,
        progress: ProgressCallback | None = None,
        cancel: CancelToken | None = None,
    ) -> Judgement:
        """What the model makes of given tokens. Raises what `Engine.judge` raises, and `EngineError` where this
        session's model is not loaded."""
        self.require_live()
        return self._engine.judge(question, progress=progress, cancel=cancel)

    def continuation(self, node_id: NodeId, text: str) -> Continuation:
        """The tokens that ``text`` becomes after a node. Raises what `Engine.encode` raises, and `EngineError` where
        this session's model is not loaded."""
        self.require_live()
        return continuation(self._engine.encode, self.vocabulary, self.model, self.prefix(node_id), text)

    def known_logits(self, node_id: NodeId) -> SortedLogits | None:
        """A node's logits where they are in memory: the numbers that were shown there, which it keeps."""
        return self._logits.in_memory(node_id)

    def observation(self, node_id: NodeId) -> Observation | None:
        """What was recorded at a node, None where nothing was. Raises `StoreError`."""
        return self._ledger.observation(node_id)

    @property
    def environment_now(self) -> Environment | None:
        """Where this session's model runs now; None where it is not loaded."""
        return self._engine.info.environment if self.live and self._engine.info is not None else None

    def forget_computed(self) -> None:
        """Let the engine compute anew what it is asked from now on; numbers that are shown stay."""
        self._engine.forget()

    def expect_after(self, paths: Sequence[tuple[int, ...]]) -> None:
        """`logits_after` will be asked for ``paths`` next: a live engine may compute them meanwhile."""
        prompt = self.state.prompt.ids
        if paths and self.live:
            self._engine.expect_all([prompt + path for path in paths], prompt_length=len(prompt))

    def observed(self, node_id: NodeId) -> bool:
        """Whether what follows a node has been recorded since the session was opened."""
        return self._ledger.observed(node_id)

    def _node_logits(
        self,
        node_id: NodeId,
        context: StepContext,
        *,
        live: bool,
        progress: ProgressCallback | None,
        cancel: CancelToken | None,
        guess: Guess | None = None,
    ) -> tuple[SortedLogits | None, LogitsOrigin]:
        return self._logits.get(
            node_id,
            context.prompt_ids + context.generated_ids,
            prompt_length=len(context.prompt_ids),
            live=live,
            progress=progress,
            cancel=cancel,
            guess=guess,
        )

    def _evaluated(self, logits: SortedLogits, context: StepContext) -> Distribution:
        """The distribution under the settings in force; the last one is remembered, for a step follows its view."""
        sampling = self.state.settings.sampling
        last = self._last_evaluated
        if last is None or last[0] is not logits or last[1:3] != (sampling, context):
            last = self._last_evaluated = (logits, sampling, context, evaluate(logits, sampling, context))
        return last[3]

    def require_live(self) -> None:
        if not self.live:
            raise EngineError(not_live_message(self.model))

    def _new_observation(self, node_id: NodeId) -> dict[NodeId, Observation]:
        logits = self._logits.in_memory(node_id)
        return {} if logits is None or self._ledger.observed(node_id) else {node_id: Observation.of(logits)}

    def _worth_computing(self, node_id: NodeId, stop: StopEvent | None) -> bool:
        if stop is None or stop.kind not in _QUIET_STOPS:
            return True
        return stop.kind not in FINAL_STOPS and bool(self.tree.children(node_id))
