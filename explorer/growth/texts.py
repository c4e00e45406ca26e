"""Scoring a given text: it becomes a branch of the tree, with the free run from the same prefix beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from explorer.decoding.choice import draw, greedy
from explorer.decoding.logits import Observation, SortedLogits
from explorer.decoding.pipeline import evaluate
from explorer.decoding.stopping import StopEvent, cancelled_event, error_event, no_candidates_event
from explorer.events import Change
from explorer.growth.gesture import GestureWriter
from explorer.i18n import N_
from explorer.messages import EngineError, PromptError, UserMessage
from explorer.models.base import TokenIds
from explorer.models.prefix_checks import check_length
from explorer.progress import Cancelled, CancelToken
from explorer.scoring.judging import Judgement, ScoreQuestion, TokenScore
from explorer.scoring.scored import (
    FreeRun,
    FreeToken,
    ScoredText,
    ScorePlan,
    free_from_json,
    free_json,
    prompt_from_json,
    prompt_json,
    row_json,
)
from explorer.session import Session, edge_of
from explorer.store.records import CommandRecord, StepRecord, StopRecord
from explorer.tree import Edge, NodeId

CHUNK: Final = 64  # tokens between two looks at what the user wants, each saved as it comes
_FREE_CHUNK: Final = 16


@dataclass(frozen=True, slots=True)
class ScoreProgress:
    """After one chunk, which is saved: everything known so far."""

    change: Change
    text: ScoredText


def score_text(
    session: Session,
    ids: TokenIds,
    plan: ScorePlan,
    *,
    start: NodeId | None = None,
    joined: bool = True,
    origin: str = "user",
    cancel: CancelToken | None = None,
) -> Iterator[ScoreProgress]:
    """Score the tokens ``ids`` after a node (default: the current one), chunk by chunk; one gesture for undo.

    Each token is judged by the logits after all before it, whatever the model itself would have written. Raises
    `PromptError` for a text that is empty or longer than the context window, KeyError for an unknown node, before
    anything is done. Cancelling or an engine error keeps what was scored; the error is raised again.
    """
    scoring = _Scoring(session, ids, plan, session.state.current if start is None else start, joined, origin, cancel)
    return scoring.run()


def scored_texts(commands: Sequence[CommandRecord]) -> list[ScoredText]:
    """The texts scored among a session's commands, oldest first, those not undone."""
    found: dict[int, ScoredText | None] = {}
    for command in commands:
        data = command.details.get("score")
        if not data:
            continue
        known = found.get(command.group)
        if known is None:
            if command.group in found or command.state != "done":
                found[command.group] = None
                continue
            known = _begun(command, data)
        found[command.group] = _gone_on(known, command, data)
    return [text for text in found.values() if text is not None]


def _begun(command: CommandRecord, data: Mapping[str, Any]) -> ScoredText:
    return ScoredText(
        command.group,
        data["start"],
        ScorePlan(**data["plan"]),
        data["total"],
        prompt=prompt_from_json(data.get("prompt", ())),
        joined=data["joined"],
    )


def _gone_on(text: ScoredText, command: CommandRecord, data: Mapping[str, Any]) -> ScoredText:
    rows = data.get("rows", ())
    given = [step for step in command.steps if step.how == "given"]
    scores = tuple(_score(step, row) for step, row in zip(given, rows, strict=True))
    return replace(
        text,
        nodes=text.nodes + tuple(step.node for step in given),
        scores=text.scores + scores,
        free=free_from_json(data["free"]) if "free" in data else text.free,
        ended_by=data.get("ended_by", text.ended_by),
    )


def _score(step: StepRecord, row: Sequence[Any]) -> TokenScore:
    return TokenScore(
        step.token_id, step.logit, step.model_logprob, step.sampling_logprob, step.rank, row[0], row[1], row[2], row[3]
    )


class _Scoring:
    """The session's side of scoring one text."""

    def __init__(
        self,
        session: Session,
        ids: TokenIds,
        plan: ScorePlan,
        start: NodeId,
        joined: bool,
        origin: str,
        cancel: CancelToken | None,
    ) -> None:
        if start not in session.tree:
            raise KeyError(start)
        if not ids:
            raise PromptError(_empty_message())
        session.require_live()
        self._session = session
        self._plan = plan
        self._cancel = cancel
        self._prompt = session.state.prompt.ids
        self._before = session.tree.token_ids(start)
        self._prefix = self._prompt + self._before
        self._ids = self._prefix + tuple(ids)
        check_length(self._ids, session.model)
        self._state = session.state
        self._writer = GestureWriter(session, "score", origin)
        self._text = ScoredText(session.next_group, start, plan, len(ids), joined=joined)

    def run(self) -> Iterator[ScoreProgress]:
        try:
            if self._plan.with_prompt:
                self._score_prompt()
            while len(self._text.scores) < self._text.total:
                if not self._intact():
                    return
                yield self._chunk()
            if self._intact():
                yield from self._run_free()
        except Cancelled:
            yield self._interrupted(cancelled_event(self._depth), "cancelled")
        except EngineError as error:
            yield self._interrupted(error_event(error, self._depth), "error")
            raise

    def _intact(self) -> bool:
        """Whether what was saved is still there: undo and delete may come in between."""
        last = self._text.nodes[-1] if self._text.nodes else self._text.start
        if self._text.free is not None and self._text.free.tokens:
            last = self._text.free.tokens[-1].node
        return not self._writer.undone and last in self._session.tree

    # --- the text ----------------------------------------------------------------------------------------------------

    def _score_prompt(self) -> None:
        """The prompt's own tokens, in memory until the first chunk is saved. The first has nothing before it."""
        scores: list[TokenScore | None] = [None] if self._prompt else []
        for first in range(1, len(self._prompt), CHUNK):
            scores += self._judge(first, min(first + CHUNK, len(self._prompt)), observe=False).scores
        self._text = replace(self._text, prompt=tuple(scores))

    def _chunk(self) -> ScoreProgress:
        done = len(self._text.scores)
        first = len(self._prefix) + done
        judgement = self._judge(first, min(first + CHUNK, len(self._ids)), observe=True)
        parents, parent = [], self._text.nodes[-1] if done else self._text.start
        nodes = []
        for score in judgement.scores:
            parents.append(parent)
            parent = self._writer.show(parent, score.token_id, _edge(score))
            nodes.append(parent)
        seen = {
            node: observation
            for node, observation in zip(parents, judgement.observations, strict=True)
            if not self._session.observed(node)
        }
        begun = self._writer.committed
        self._text = replace(
            self._text, nodes=self._text.nodes + tuple(nodes), scores=self._text.scores + judgement.scores
        )
        if len(self._text.scores) == self._text.total and self._plan.free == "none":
            self._text = replace(self._text, ended_by="finished")
        details: dict[str, Any] = {"rows": [row_json(score) for score in judgement.scores]}
        if not begun:
            details |= self._beginning()
        return self._saved(details, seen)

    def _judge(self, first: int, stop: int, *, observe: bool) -> Judgement:
        settings = self._state.settings
        context = self._session.context_after(self._before, settings)
        question = ScoreQuestion(
            ids=self._ids[:stop],
            start=first,
            stop=stop,
            prompt_length=len(self._prompt),
            sampling=settings.sampling,
            eos_token_ids=context.eos_token_ids,
            seed=self._plan.seed if self._plan.free == "sample" else None,
            origin=len(self._prefix),
            observe=observe,
        )
        return self._session.judge(question, cancel=self._cancel)

    def _beginning(self) -> dict[str, Any]:
        text = self._text
        begun = {"plan": self._plan.to_json(), "start": text.start, "total": text.total, "joined": text.joined}
        return begun | ({"prompt": prompt_json(text.prompt)} if text.prompt else {})

    # --- the free run ------------------------------------------------------------------------------------------------

    def _run_free(self) -> Iterator[ScoreProgress]:
        """Where the model by itself would have gone; the same nodes as the text's until they part."""
        if self._plan.free == "none":
            return
        place, stop = self._parting()
        if stop is not None or place is None:  # an end is a way to leave the text too
            self._text = replace(self._text, free=FreeRun(place, (), None if stop is None else stop.kind))
            yield self._free_saved({}, "finished")
            return
        path = self._before + self._text.token_ids[:place]
        node = self._text.nodes[place - 1] if place else self._text.start
        tokens: list[FreeToken] = []
        seen: dict[NodeId, Observation] = {}
        while len(tokens) < self._plan.free_tokens:
            if self._cancel is not None:
                self._cancel.raise_if_cancelled()
            step = self._free_step(node, path, place + len(tokens), seen)
            if isinstance(step, StopEvent):
                stop = step
                break
            tokens.append(step)
            node, path = step.node, (*path, step.token_id)
            stop = self._session.stop_after(path, self._state)
            self._text = replace(self._text, free=FreeRun(place, tuple(tokens), None if stop is None else stop.kind))
            if stop is not None:
                break
            if len(tokens) % _FREE_CHUNK == 0:
                yield self._free_saved(seen, None)
                seen = {}
                if not self._intact():
                    return
        self._text = replace(self._text, free=FreeRun(place, tuple(tokens), None if stop is None else stop.kind))
        yield self._free_saved(seen, "finished")

    def _parting(self) -> tuple[int | None, StopEvent | None]:
        """The first place at which the free choice is another token, or the stop that ends the free run before."""
        path = self._before
        for place, score in enumerate(self._text.scores):
            stop = self._session.stop_after(path, self._state)
            if stop is not None:
                return place, stop
            if score.chosen != score.token_id:
                return place, None
            path = (*path, score.token_id)
        return None, None

    def _free_step(
        self, node: NodeId, path: TokenIds, place: int, seen: dict[NodeId, Observation]
    ) -> FreeToken | StopEvent:
        session, settings = self._session, self._state.settings
        known = session.known_logits(node)
        if known is None:
            raw = session.logits_after([path], cancel=self._cancel)[0]
            known = SortedLogits.from_raw(raw, session.model.environment.dtype)
        distribution = evaluate(known, settings.sampling, session.context_after(path, settings))
        if not session.observed(node):
            seen[node] = Observation.of(known)
        if not distribution.kept:
            facts = session.grammar_after(path, self._state)
            return no_candidates_event(distribution.no_candidates_stage, len(path), facts)
        sampled = self._plan.free == "sample"
        choice = draw(distribution, self._plan.seed, place) if sampled else greedy(distribution)
        after = (*path, choice.token_id)
        if session.stop_after(after, self._state) is None:
            session.expect_after([after])
        edge = edge_of(distribution, choice)
        child = self._writer.show(node, choice.token_id, edge, seed=self._plan.seed if sampled else None)
        return FreeToken(child, choice.token_id, edge.model_logprob)

    def _free_saved(self, seen: Mapping[NodeId, Observation], ended_by: str | None) -> ScoreProgress:
        assert self._text.free is not None
        details: dict[str, Any] = {"free": free_json(self._text.free)}
        if ended_by is not None:
            self._text = replace(self._text, ended_by="finished")
        return self._saved(details, seen)

    # --- saving ------------------------------------------------------------------------------------------------------

    @property
    def _depth(self) -> int:
        return len(self._before) + len(self._text.scores)

    def _saved(self, details: dict[str, Any], seen: Mapping[NodeId, Observation]) -> ScoreProgress:
        if self._text.ended_by is not None:
            details["ended_by"] = self._text.ended_by
        change = self._writer.commit({"score": details}, observations=seen)
        self._text = replace(self._text, group=self._session.commands[-1].group)
        return ScoreProgress(change, self._text)

    def _interrupted(self, event: StopEvent, ended_by: str) -> ScoreProgress:
        """Note at the last token why no more follow; what was scored stays."""
        self._text = replace(self._text, ended_by="cancelled" if ended_by == "cancelled" else "error")
        details: dict[str, Any] = {"ended_by": ended_by}
        if not self._writer.committed:
            return ScoreProgress(self._writer.record_stops((StopRecord(self._text.start, event),), {}), self._text)
        node = self._text.nodes[-1] if self._text.nodes else self._text.start
        if self._text.free is not None:  # with what it had run by then
            details["free"] = free_json(self._text.free)
            return ScoreProgress(self._writer.commit({"score": details}, (StopRecord(node, event),)), self._text)
        return ScoreProgress(self._writer.record_stops((StopRecord(node, event),), {"score": details}), self._text)


def _edge(score: TokenScore) -> Edge:
    return Edge(
        logit=score.logit,
        model_logprob=score.model_logprob,
        sampling_logprob=score.sampling_logprob,
        rank=score.rank,
        how="given",
        grammar_logmass=score.grammar_logmass,
    )


def _empty_message() -> UserMessage:
    return UserMessage(
        "score.empty", N_("There is no text to score."), N_("Nothing was done."), N_("Type, paste or open a text.")
    )
