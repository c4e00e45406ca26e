"""Expansion over tables: which continuations are shown, in which order, and with how many calls of the model."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from search_tables import Path, Table, probability_table, random_table

from explorer.decoding.params import SamplingParams
from explorer.decoding.processors import StepContext
from explorer.messages import SettingsError
from explorer.search.expand import Child, Round, round_size, rounds
from explorer.search.plans import NODE_LIMIT, BestFirst, ByLevel, ExpansionPlan
from explorer.search.rows import Continuations, NodeRow

A, B, C, D, EOS = range(5)
EOS_TREE = probability_table(
    {
        (): {A: 0.6, B: 0.4},
        (A,): {C: 0.55, D: 0.45},
        (B,): {C: 0.1, D: 0.9},
        **{(a, b): {EOS: 0.9, A: 0.1} for a in (A, B) for b in (C, D)},
    },
    5,
    {EOS: 1.0},
)


class Expansion:
    """One expansion of a table, run to its end; ``calls`` are the paths of each call, ``expected`` what was announced
    and how many calls had been made by then."""

    def __init__(self, table: Table, plan: ExpansionPlan, *, eos: Sequence[int] = (), size: int = 64) -> None:
        self._table = table
        self.calls: list[tuple[Path, ...]] = []
        self.expected: list[tuple[int, tuple[Path, ...]]] = []
        ended = lambda path: bool(path) and path[-1] in eos  # noqa: E731
        self.rounds: list[Round] = list(rounds(plan, self._look, ended, size, self._expect))

    def _expect(self, paths: Sequence[Path]) -> None:
        if paths:
            self.expected.append((len(self.calls), tuple(paths)))

    def _look(self, paths: Sequence[Path], count: int) -> list[Continuations]:
        self.calls.append(tuple(paths))
        rows = [NodeRow(self._table(path), SamplingParams(), StepContext((), path, ())) for path in paths]
        return [row.likeliest(count) for row in rows]

    @property
    def children(self) -> list[Child]:
        return [child for one in self.rounds for child in one.children]

    @property
    def paths(self) -> list[Path]:
        return [child.path for child in self.children]

    @property
    def ended_by(self) -> str | None:
        return self.rounds[-1].ended_by


def likeliest(table: Table, amount: int, eos: Sequence[int], depth: int) -> list[Path]:
    """The ``amount`` likeliest paths by looking at every path there is."""
    found: list[tuple[float, Path]] = []
    level: list[tuple[float, Path]] = [(0.0, ())]
    for _ in range(depth):
        below = []
        for logprob, path in level:
            if path and path[-1] in eos:
                continue
            row = NodeRow(table(path), SamplingParams(), StepContext((), path, ())).likeliest(1000)
            below += [
                (logprob + float(row.model_logprobs[place]), (*path, int(token_id)))
                for place, token_id in enumerate(row.token_ids)
            ]
        found += below
        level = below
    return [path for _, path in sorted(found, key=lambda pair: -pair[0])[:amount]]


# --- By level ---------------------------------------------------------------------------------------------------------


def test_by_level_shows_the_likeliest_children_of_every_node() -> None:
    done = Expansion(EOS_TREE, ByLevel(2, 2), eos=[EOS])
    assert done.paths == [(A,), (B,), (A, C), (A, D), (B, D), (B, C)]
    assert done.calls == [((),), ((A,), (B,))]
    assert [child.logprob for child in done.children[:3]] == pytest.approx(
        [math.log(0.6), math.log(0.4), math.log(0.33)], abs=1e-6
    )
    assert done.ended_by == "depth"


def test_impossible_tokens_are_no_children_and_ended_paths_are_not_looked_at() -> None:
    done = Expansion(EOS_TREE, ByLevel(5, 9), eos=[EOS])
    assert done.ended_by == "exhausted"
    assert len(done.paths) == 2 + 4 + 8 + 4
    assert all(EOS not in path[:-1] for path in done.paths)
    assert all(EOS not in path for call in done.calls for path in call)


def test_a_level_larger_than_a_round_takes_several() -> None:
    table = random_table(3, 10)
    done = Expansion(table, ByLevel(10, 2), size=4)
    assert [len(call) for call in done.calls] == [1, 4, 4, 2]
    assert done.paths == Expansion(table, ByLevel(10, 2)).paths


@pytest.mark.parametrize(("limit", "end"), [(5, "max_nodes"), (10, "max_nodes"), (12, "max_nodes"), (110, "depth")])
def test_by_level_keeps_to_the_budget(limit: int, end: str) -> None:
    done = Expansion(random_table(3, 10), ByLevel(10, 2, max_nodes=limit), size=4)
    assert (len(done.paths), done.ended_by) == (limit, end)


# --- Best first -------------------------------------------------------------------------------------------------------


@given(
    st.integers(0, 10_000),
    st.integers(1, 60),
    st.integers(1, 64),
    st.sampled_from([0.0, 0.5]),
    st.booleans(),
)
def test_best_first_shows_exactly_the_likeliest_paths(
    seed: int, amount: int, size: int, impossible: float, ends: bool
) -> None:
    """Whatever the size of a round, and however little of a node was asked for."""
    table, eos = random_table(seed, 5, impossible=impossible), [0] if ends else []
    done = Expansion(table, BestFirst(amount, depth=4), eos=eos, size=size)
    expected = likeliest(table, amount, eos, 4)
    assert done.paths == expected
    assert done.ended_by == ("exhausted" if len(expected) < amount else done.ended_by)
    assert all(len(call) <= size for call in done.calls)
    looked = [path for call in done.calls for path in call]
    assert len(set(looked)) == len(looked), "no path is computed twice"
    assert all(not (path and path[-1] in eos) and len(path) < 4 for path in looked)


def test_many_paths_share_a_call() -> None:
    done = Expansion(random_table(1, 50), BestFirst(500))
    assert (len(done.paths), done.ended_by) == (500, "max_nodes")
    looked = sum(len(call) for call in done.calls)
    assert looked <= 500 + 500 // 8
    assert len(done.calls) <= looked / 20


def test_the_mass_counts_what_has_ended() -> None:
    done = Expansion(EOS_TREE, BestFirst(mass=0.6), eos=[EOS])
    ended = [child for child in done.children if child.path[-1] == EOS]
    assert [child.path for child in ended] == [(B, D, EOS), (A, C, EOS)]
    assert sum(math.exp(child.logprob) for child in ended) == pytest.approx(0.324 + 0.297, abs=1e-6)
    assert done.ended_by == "mass"


def test_a_mass_that_is_met_exactly_is_met() -> None:
    """The endings of three tokens hold .9 of the mass; in float32 they may sum to a little less."""
    done = Expansion(EOS_TREE, BestFirst(mass=0.9), eos=[EOS])
    assert done.ended_by == "mass"


def test_within_one_token_the_mass_gives_a_nucleus() -> None:
    table = probability_table({(): {0: 0.5, 1: 0.25, 2: 0.15, 3: 0.1}}, 4, {})
    done = Expansion(table, BestFirst(mass=0.8, depth=1))
    assert done.paths == [(0,), (1,), (2,)]
    assert done.ended_by == "mass"


def test_everything_possible_is_shown_once() -> None:
    done = Expansion(EOS_TREE, BestFirst(mass=1.0), eos=[EOS])
    assert done.ended_by == "mass"
    assert len(set(done.paths)) == len(done.paths) == 18


def test_a_child_says_where_its_edge_is() -> None:
    for child in Expansion(random_table(2, 40), BestFirst(80)).children:
        assert int(child.continuations.token_ids[child.place]) == child.path[-1]
        assert child.continuations.edge(child.place, "expanded").rank == child.place + 1


def test_stopping_between_two_rounds_leaves_what_was_found() -> None:
    expansion = rounds(
        BestFirst(1000),
        lambda paths, count: [
            NodeRow(random_table(1, 30)(path), SamplingParams(), StepContext((), path, ())).likeliest(count)
            for path in paths
        ],
        lambda path: False,
        16,
    )
    first = next(expansion)
    expansion.close()  # type: ignore[attr-defined]
    assert len(first.children) == 1


def test_best_first_announces_every_call_but_the_first_once_the_one_before_is_over() -> None:
    done = Expansion(random_table(3, 40), BestFirst(300), size=16)
    assert len(done.calls) > 3
    assert done.expected == list(enumerate(done.calls))[1:]


def test_by_level_announces_what_follows_in_a_level_before_the_call_that_goes_first() -> None:
    done = Expansion(random_table(3, 40), ByLevel(top_k=5, depth=3, max_nodes=1000), size=10)
    assert [len(call) for call in done.calls] == [1, 5, 10, 10, 5]
    assert done.expected == [(2, done.calls[3]), (3, done.calls[4])]


def test_by_level_announces_nothing_that_the_limit_may_make_needless() -> None:
    done = Expansion(random_table(3, 40), ByLevel(top_k=5, depth=3, max_nodes=100), size=10)
    assert done.ended_by == "max_nodes"
    assert {paths for _, paths in done.expected} <= set(done.calls)


# --- What is asked for ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plan", "values", "named"),
    [
        (ByLevel, {"top_k": 0}, "top_k"),
        (ByLevel, {"top_k": 2, "depth": 0}, "depth"),
        (ByLevel, {"top_k": True}, "top_k"),
        (ByLevel, {"top_k": 2, "max_nodes": NODE_LIMIT + 1}, "max_nodes"),
        (BestFirst, {"mass": 0.0}, "mass"),
        (BestFirst, {"mass": 1.01}, "mass"),
        (BestFirst, {"mass": math.nan}, "mass"),
        (BestFirst, {"max_nodes": 0}, "max_nodes"),
    ],
)
def test_values_out_of_range_are_refused(plan: type, values: dict[str, object], named: str) -> None:
    with pytest.raises(SettingsError, match=named):
        plan(**values)


@pytest.mark.parametrize("vocab_size", [5, 49_152, 262_144, 10_000_000, 100_000_000])
def test_the_logits_of_a_round_fit_in_memory(vocab_size: int) -> None:
    size = round_size(vocab_size)
    assert 1 <= size <= 64
    assert size == 1 or size * vocab_size * 4 <= 64 * 2**20


@pytest.mark.parametrize(
    ("plan", "most"),
    [
        (ByLevel(5, 1), 5),
        (ByLevel(3, 3), 39),
        (ByLevel(3, 3, 20), 20),
        (ByLevel(1, 7), 7),
        (ByLevel(1000, 1000), NODE_LIMIT),
    ],
)
def test_how_many_nodes_a_plan_shows_at_most(plan: ByLevel, most: int) -> None:
    assert plan.most == most
