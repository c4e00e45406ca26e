"""Configurations run side by side: the same seed, the same numbers drawn, and where their texts part and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from explorer.comparison.differences import Difference, differences, with_taken
from explorer.decoding.choice import draw, draw_uniform
from explorer.decoding.logits import SortedLogits
from explorer.decoding.params import Settings
from explorer.decoding.pipeline import Distribution, evaluate
from explorer.growth.sample_records import SampleRun, play_back
from explorer.growth.samples import RunsTask, draw_runs
from explorer.models.base import TokenIds
from explorer.progress import CancelToken
from explorer.reading import SessionReading
from explorer.session import Session
from explorer.store.records import CommandRecord
from explorer.tree import NodeId

_DETAILS: Final = "compared"  # the name of what is recorded with the commands


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """One configuration's run from the common start, as far as it is."""

    name: str
    settings: Settings
    run: SampleRun


@dataclass(frozen=True, slots=True)
class ComparedRuns:
    """Runs of several configurations from ``start``, all with ``seed`` from draw 0 on, of ``length`` tokens at most."""

    group: int
    start: NodeId
    seed: int
    length: int
    runs: tuple[ComparedRun, ...]


@dataclass(frozen=True, slots=True)
class Parting:
    """Where two runs first take another token, or where one ends and the other goes on.

    ``place`` counts from 0 at the start, ``node`` is the one before it. ``token_a`` or ``token_b`` is None where that
    run has ended. ``u`` is the number both drew. ``decisive`` is the first setting, in the order of the chain, that
    changes the choice when A takes it over from B together with those before it; None where a stop rule parts them or
    the numbers here are not known. ``removed_b`` is the stage of B's chain that had removed A's token, ``removed_a``
    that of A's which had removed B's; None where it is in. ``shares`` are the probabilities of A's token under A and
    under B, then of B's.
    """

    place: int
    node: NodeId
    token_a: int | None
    token_b: int | None
    u: float | None = None
    decisive: Difference | None = None
    removed_a: str | None = None
    removed_b: str | None = None
    shares: tuple[float, float, float, float] | None = None


def compare_runs(
    session: Session,
    configurations: Sequence[tuple[str, Settings]],
    start: NodeId,
    *,
    seed: int,
    length: int,
    origin: str = "user",
    cancel: CancelToken | None = None,
) -> Iterator[ComparedRuns]:
    """Draw one run of each configuration, one gesture for undo, saved step by step; yields how far they are.

    The settings in force stay as they are. Raises what `draw_runs` raises; cancelling keeps what was drawn.
    """
    runs = [ComparedRun(name, settings, SampleRun(0, seed, start)) for name, settings in configurations]
    once = {
        "start": start,
        "seed": seed,
        "length": length,
        "configurations": [{"name": name, "settings": settings.to_json()} for name, settings in configurations],
    }
    group: int | None = None
    for place, one in enumerate(runs):
        if cancel is not None and cancel.cancelled:
            return
        task = RunsTask((one.run,), start, one.settings, length, once, {"configuration": place}, _DETAILS, group)
        for step in draw_runs(session, task, origin=origin, cancel=cancel):
            group = session.commands[-1].group
            runs[place] = ComparedRun(one.name, one.settings, step.runs[0])
            yield ComparedRuns(group, start, seed, length, tuple(runs))


def compared_runs(commands: Sequence[CommandRecord]) -> list[ComparedRuns]:
    """The comparisons among a session's commands, oldest first, those not undone."""
    found: dict[int, tuple[dict[str, Any], list[dict[int, SampleRun]]]] = {}
    undone: set[int] = set()
    for command in commands:
        data = command.details.get(_DETAILS)
        if data is None:
            continue
        if command.kind != "stop" and command.state != "done":
            undone.add(command.group)
        if command.group not in found:
            start, count = data["start"], len(data["configurations"])
            found[command.group] = (data, [{0: SampleRun(0, data["seed"], start)} for _ in range(count)])
        once, runs = found[command.group]
        play_back(runs[data["configuration"]], command, once["seed"], data["ended"])
    return [_read(group, *parts) for group, parts in found.items() if group not in undone]


def _read(group: int, once: dict[str, Any], runs: list[dict[int, SampleRun]]) -> ComparedRuns:
    compared = [
        ComparedRun(data["name"], Settings.from_json(data["settings"]), run[0])
        for data, run in zip(once["configurations"], runs, strict=True)
    ]
    return ComparedRuns(group, once["start"], once["seed"], once["length"], tuple(compared))


def parting_of(session: SessionReading, compared: ComparedRuns, a: int, b: int) -> Parting | None:
    """Where the runs of two configurations (their places) part; None where they took the same tokens to the end.

    The model is not asked: what was recorded at the node before it is enough.
    """
    ids_a, ids_b = (_tokens(session, compared, compared.runs[which].run) for which in (a, b))
    common = next(
        (place for place, (x, y) in enumerate(zip(ids_a, ids_b, strict=False)) if x != y), min(len(ids_a), len(ids_b))
    )
    if common == len(ids_a) == len(ids_b):
        return None
    longer = compared.runs[a if len(ids_a) >= len(ids_b) else b].run
    node = _node_at(session, longer, compared.start, common)
    token_a = ids_a[common] if common < len(ids_a) else None
    token_b = ids_b[common] if common < len(ids_b) else None
    if token_a is None or token_b is None:
        return Parting(common, node, token_a, token_b)
    logits = session.view(node, compute=False, note=False).logits
    u = draw_uniform(compared.seed, common)
    if logits is None:
        return Parting(common, node, token_a, token_b, u)
    settings = compared.runs[a].settings, compared.runs[b].settings
    return _explained(session, logits, node, common, (token_a, token_b), settings, compared.seed, u)


def _explained(
    session: SessionReading,
    logits: SortedLogits,
    node: NodeId,
    place: int,
    tokens: tuple[int, int],
    settings: tuple[Settings, Settings],
    seed: int,
    u: float,
) -> Parting:
    generated = session.tree.token_ids(node)

    def under(chosen: Settings) -> Distribution:
        return evaluate(logits, chosen.sampling, session.context_after(generated, chosen))

    in_a, in_b = under(settings[0]), under(settings[1])
    decisive, names = None, []
    for difference in differences(*settings):
        if difference.kind == "stopping":
            continue
        names.append(difference.name)
        distribution = under(with_taken(*settings, names))
        if not distribution.kept or draw(distribution, seed, place).token_id != tokens[0]:
            decisive = difference
            break
    rows = [one.row(token) for token in tokens for one in (in_a, in_b)]
    return Parting(
        place,
        node,
        *tokens,
        u=u,
        decisive=decisive,
        removed_a=rows[2].removed_by,
        removed_b=rows[1].removed_by,
        shares=(rows[0].sampling_prob, rows[1].sampling_prob, rows[2].sampling_prob, rows[3].sampling_prob),
    )


def _tokens(session: SessionReading, compared: ComparedRuns, run: SampleRun) -> TokenIds:
    """What a run drew."""
    before = session.tree.depth(compared.start)
    return session.tree.token_ids(run.end)[before:]


def _node_at(session: SessionReading, run: SampleRun, start: NodeId, place: int) -> NodeId:
    """The node of a run after ``place`` tokens."""
    return start if place == 0 else list(session.tree.path(run.end))[session.tree.depth(start) + place - 1]
