"""The session: the one door through which the window and the command line explore a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Literal

from explorer.annotations import ANNOTATE, NO_ANNOTATION, Annotation, annotation_details
from explorer.decoding.choice import Choice, draw, draw_uniform, greedy, manual
from explorer.decoding.foresight import foreseen_token
from explorer.decoding.grammar_mass import grammar_logmass
from explorer.decoding.params import Settings
from explorer.decoding.pipeline import Distribution
from explorer.decoding.stopping import (
    StopEvent,
    cancelled_event,
    error_event,
    no_candidates_event,
)
from explorer.engine.client import Engine
from explorer.events import Change
from explorer.journal import Reversal
from explorer.messages import EngineError
from explorer.models.base import Logits, ModelInfo
from explorer.node_logits import Guess
from explorer.progress import Cancelled, CancelToken
from explorer.reading import FINAL_STOPS, SessionReading
from explorer.store import SessionStore
from explorer.store.records import SessionState, StepRecord, StopRecord, StoredSession
from explorer.text import Vocabulary
from explorer.tree import ROOT, Edge, Node, NodeId

HowToRun = Literal["greedy", "sample"]


class Session(SessionReading):
    """One prompt, one model, one tree. Synchronous; used from one thread.

    Every command returns the `Change` it made, after it was written to the library (`Change.unsaved` counts what could
    not be written yet), and tells it to the subscribers.
    """

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
        super().__init__(store, engine, model, vocabulary, state, stored)
        self._subscribers: list[Callable[[Change], None]] = []
        self._changes = 0

    def subscribe(self, subscriber: Callable[[Change], None]) -> None:
        """Call ``subscriber`` with every change from now on, in the session's thread."""
        self._subscribers.append(subscriber)

    # --- commands ----------------------------------------------------------------------------------------------------

    def select(self, node_id: NodeId, origin: str = "user") -> Change:
        """Make a node the current one. Navigation, not an edit: remembered, but not undone. Raises KeyError."""
        if node_id not in self.tree:
            raise KeyError(node_id)
        self._ledger.move(node_id)
        return self._emit("select", origin)

    def step_greedy(
        self, *, past_stop: bool = False, cancel: CancelToken | None = None, origin: str = "user"
    ) -> Change:
        """Take the most probable token at the current node, or record why generation stops here."""
        return self._step("greedy", self.state.current, past_stop=past_stop, cancel=cancel, origin=origin)

    def step_draw(self, *, past_stop: bool = False, cancel: CancelToken | None = None, origin: str = "user") -> Change:
        """Draw a token at the current node with the session's seed and next draw index."""
        return self._step("sample", self.state.current, past_stop=past_stop, cancel=cancel, origin=origin)

    def pick(
        self, token_id: int, node_id: NodeId | None = None, *, cancel: CancelToken | None = None, origin: str = "user"
    ) -> Change:
        """Take any token of the vocabulary by hand, also one a filter removed (forced) and also past a stop.

        Raises `PromptError` for an id outside the vocabulary and where the context window is full.
        """
        parent = self.state.current if node_id is None else node_id
        stop = self.stop_at(parent)
        if stop is not None and stop.kind in FINAL_STOPS:
            return self._record_stop(parent, stop, origin)
        distribution = self._require_distribution(parent, cancel)
        return self._take(parent, distribution, manual(distribution, token_id), "pick", origin, follow=True)

    def run(
        self,
        how: HowToRun,
        *,
        max_steps: int | None = None,
        start: NodeId | None = None,
        cancel: CancelToken | None = None,
        origin: str = "user",
    ) -> Iterator[Change]:
        """Step until a stop, at most ``max_steps`` times, yielding each change; one gesture for undo.

        The current node follows the run until the user looks elsewhere. Cancelling or an engine error keeps what was
        finished and records the event; the error is raised again.
        """
        head = self.state.current if start is None else start
        group = self._ledger.next_seq
        steps = 0
        while (max_steps is None or steps < max_steps) and head in self.tree:
            try:
                if cancel is not None:
                    cancel.raise_if_cancelled()
                change = self._step(how, head, cancel=cancel, origin=origin, group=group, kind="run")
            except Cancelled:
                yield self._record_stop(head, cancelled_event(self.tree.depth(head)), origin, group)
                return
            except EngineError as error:
                yield self._record_stop(head, error_event(error, self.tree.depth(head)), origin, group)
                raise
            steps += 1
            moved = change.command == "run"
            head = self.commands[-1].steps[0].node if moved else head
            yield change
            if change.stop is not None:
                return

    def set_settings(self, settings: Settings, origin: str = "user") -> Change:
        """Put other settings in force from here on; what was recorded keeps its own.

        Raises `SettingsError` for token ids outside the vocabulary and for a grammar that cannot be used.
        """
        settings.check_vocabulary(len(self.vocabulary))
        self.check_grammar(settings)
        return self.commit("settings", origin, replace(self.state, settings=settings))

    def set_seed(self, seed: int, next_draw_index: int = 0, origin: str = "user") -> Change:
        """Use another seed (0 .. 2^63-1), drawing from ``next_draw_index`` on. Raises ValueError outside the range."""
        if not 0 <= seed < 2**63 or next_draw_index < 0:
            raise ValueError(f"seed {seed} or draw index {next_draw_index} out of range")
        return self.commit("seed", origin, replace(self.state, seed=seed, next_draw_index=next_draw_index))

    def rename(self, title: str, origin: str = "user") -> Change:
        return self.commit("rename", origin, replace(self.state, title=title))

    def delete_branch(self, node_id: NodeId, origin: str = "user") -> Change:
        """Hide a node and everything below it; undo brings it back with the same ids."""
        if node_id == ROOT:
            raise ValueError("the prompt cannot be deleted")
        hidden = frozenset(self.tree.subtree(node_id))
        current = self.tree.node(node_id).parent if self.state.current in hidden else self.state.current
        return self.commit("delete", origin, replace(self.state, current=current), hidden=hidden)

    def annotate(
        self, node_id: NodeId, *, star: bool | None = None, note: str | None = None, origin: str = "user"
    ) -> Change | None:
        """Put a star or a note on a node (the prompt included); None leaves either as it is, "" takes the note away.

        None where nothing would change. Raises KeyError for a node that is not in the tree.
        """
        if node_id not in self.tree:
            raise KeyError(node_id)
        before = self.annotations.get(node_id, NO_ANNOTATION)
        after = Annotation(before.star if star is None else star, before.note if note is None else note.strip())
        if after == before:
            return None
        return self.commit(ANNOTATE, origin, details=annotation_details(node_id, after))

    def undo(self, origin: str = "user") -> Change | None:
        """Take the last gesture back; None when there is none. Never calls the model."""
        return self._emit_reversal("undo", self._ledger.undo(origin), origin)

    def redo(self, origin: str = "user") -> Change | None:
        """Bring the last undone gesture again from its recorded outcome; None when there is none."""
        return self._emit_reversal("redo", self._ledger.redo(origin), origin)

    def save(self) -> bool:
        """Try again to write what could not be written; True when everything is on disk."""
        return self._ledger.save()

    def save_copy(self, title: str) -> Change:
        """Go on as a new session in the library, complete: the way out of a conflict with another window.

        Raises `StoreError`; the session then stays what it was.
        """
        self._ledger.save_copy(title)
        return self._emit("rename", "user")

    @property
    def next_group(self) -> int:
        """What to give `commit` as ``group`` so that the commands that follow are one gesture for undo."""
        return self._ledger.next_seq

    def commit(
        self, kind: str, origin: str, after: SessionState | None = None, *, group: int | None = None, **parts: Any
    ) -> Change:
        """Carry out one command: ``parts`` are the remaining fields of `CommandRecord`, complete and consistent."""
        if self.live and self._engine.info is not None:
            self._ledger.note_environment(self._engine.info.environment, origin)
        command = self._ledger.commit(kind, origin, after, group=group, **parts)
        stops = tuple((stop.node, stop.event) for stop in command.stops)
        return self._emit(
            kind,
            origin,
            added=command.added,
            hidden=command.hidden,
            revealed=command.revealed,
            stops=stops,
            annotations=self.annotations if kind == ANNOTATE else None,
        )

    # --- stepping ----------------------------------------------------------------------------------------------------

    def _step(
        self,
        how: HowToRun,
        node_id: NodeId,
        *,
        past_stop: bool = False,
        cancel: CancelToken | None,
        origin: str,
        group: int | None = None,
        kind: str = "step",
    ) -> Change:
        stop = self.stop_at(node_id)
        if stop is not None and (not past_stop or stop.kind in FINAL_STOPS):
            return self._record_stop(node_id, stop, origin, group)
        distribution = self._require_distribution(node_id, cancel, self._guess(how, node_id))
        if distribution.kept == 0:
            generated = self.tree.token_ids(node_id)
            event = no_candidates_event(distribution.no_candidates_stage, len(generated), self.grammar_after(generated))
            return self._record_stop(node_id, event, origin, group)
        if how == "greedy":
            choice = greedy(distribution)
        else:
            choice = draw(distribution, self.state.seed, self.state.next_draw_index)
        follow = node_id == self.state.current
        return self._take(node_id, distribution, choice, kind, origin, follow=follow, group=group)

    def _take(
        self,
        parent: NodeId,
        distribution: Distribution,
        choice: Choice,
        kind: str,
        origin: str,
        *,
        follow: bool,
        group: int | None = None,
    ) -> Change:
        edge = edge_of(distribution, choice)
        known = self.tree.child(parent, choice.token_id)
        child = self.tree.next_id if known is None else known
        node = Node(child, parent, choice.token_id, self.tree.depth(parent) + 1, edge)
        step = StepRecord.into(node, self.state.settings, None if choice.draw_index is None else self.state.seed)
        after = replace(
            self.state,
            current=child if follow else self.state.current,
            next_draw_index=self.state.next_draw_index + (choice.draw_index is not None),
        )
        stops = self._stops_on_arrival(node)
        if not stops:  # the model may go on while this step is written
            self._logits.expect(
                child,
                (*self.prefix(parent), choice.token_id),
                prompt_length=len(self.state.prompt.ids),
                then_likeliest=kind == "run" and choice.how == "greedy" and not self.state.settings.sampling.values,
            )
        return self.commit(
            kind,
            origin,
            after,
            group=group,
            added=(node,) if known is None else (),
            revealed=frozenset({child}) if known is not None and self.tree.is_hidden(child) else frozenset(),
            steps=(step,),
            stops=stops,
            observations=self._new_observation(parent),
        )

    def _stops_on_arrival(self, node: Node) -> tuple[StopRecord, ...]:
        stop = self.stop_after((*self.tree.token_ids(node.parent), node.token_id))
        return () if stop is None else (StopRecord(node.id, stop),)

    def _guess(self, how: HowToRun, node_id: NodeId) -> Guess | None:
        """What a step from a node will probably take, so that the model goes on before the step is worked out.

        None for the plain greedy choice: in a run the engine makes it itself, sooner still (``then_likeliest``).
        """
        sampling = self.state.settings.sampling
        if how == "greedy" and not sampling.values:
            return None
        context = self.context(node_id)
        u = None if how == "greedy" else draw_uniform(self.state.seed, self.state.next_draw_index)

        def guess(raw: Logits) -> int | None:
            token = foreseen_token(raw, sampling, context, u)
            if token is None or self.stop_after((*context.generated_ids, token)) is not None:
                return None
            known = self.tree.child(node_id, token)
            return None if known is not None and self._logits.in_memory(known) is not None else token

        return guess

    def _require_distribution(
        self, node_id: NodeId, cancel: CancelToken | None, guess: Guess | None = None
    ) -> Distribution:
        self.require_live()
        distribution = self.distribution(node_id, cancel=cancel, guess=guess)
        assert distribution is not None  # a live model always answers
        return distribution

    def _record_stop(self, node_id: NodeId, stop: StopEvent, origin: str, group: int | None = None) -> Change:
        return self.commit("stop", origin, group=group, stops=(StopRecord(node_id, stop),))

    # --- telling -----------------------------------------------------------------------------------------------------

    def _emit_reversal(self, name: str, reversal: Reversal | None, origin: str) -> Change | None:
        if reversal is None:
            return None
        annotations = self.annotations if reversal.kind == ANNOTATE else None
        return self._emit(name, origin, hidden=reversal.hide, revealed=reversal.reveal, annotations=annotations)

    def _emit(self, command: str, origin: str, **parts: Any) -> Change:
        self._changes += 1
        change = Change(
            number=self._changes,
            command=command,
            origin=origin,
            state=self.state,
            undo=self.undo_kind,
            redo=self.redo_kind,
            unsaved=self.unsaved,
            **parts,
        )
        for subscriber in self._subscribers:
            subscriber(change)
        return change


def edge_of(distribution: Distribution, choice: Choice) -> Edge:
    """The edge to a token that was chosen from ``distribution``."""
    candidate = distribution.row(choice.token_id)
    return Edge(
        logit=candidate.logit,
        model_logprob=candidate.model_logprob,
        sampling_logprob=candidate.sampling_logprob,
        rank=candidate.rank,
        how=choice.how,
        u=choice.u,
        draw_index=choice.draw_index,
        grammar_logmass=grammar_logmass(distribution),
    )
