"""Whatever is done, loading gives what folding the same commands in memory gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest
import store_samples as samples
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.store import SessionStore
from explorer.store.records import CommandRecord, SessionState
from explorer.tree import ROOT, Edge, Node, NodeId, TokenTree

NOTHING: frozenset[NodeId] = frozenset()
reals = st.floats(allow_nan=False, width=64)
edges = st.builds(
    Edge,
    logit=reals,
    model_logprob=reals,
    sampling_logprob=st.none() | reals,
    rank=st.integers(1, 10**6),
    how=st.sampled_from(["greedy", "drawn", "manual", "beam", "expanded", "given"]),
    u=st.none() | st.floats(0, 1, exclude_max=True),
    draw_index=st.none() | st.integers(0, 2**63 - 1),
)


@dataclass
class Fold:
    """A session in memory, and every way of changing it, each done in the library as well."""

    store: SessionStore
    draw: st.DrawFn
    state: SessionState = field(default_factory=samples.state)
    tree: TokenTree = field(default_factory=TokenTree)
    commands: list[CommandRecord] = field(default_factory=list)
    observed: dict[NodeId, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        created = (self.state, samples.model(), samples.vocabulary(), samples.START)
        self.id = self.store.create_session(*created)

    def choose(self, *, root: bool = True) -> NodeId:
        visible = [node.id for node in self.tree.nodes()]
        return self.draw(st.sampled_from(([ROOT] if root else []) + visible))

    def append(self, kind: str, after: SessionState, **parts: object) -> None:
        seq = len(self.commands) + 1
        command = samples.command(
            *(seq, self.state, after, kind), group=self.draw(st.integers(1, seq)), at=self.draw(times), **parts
        )
        self.store.append(self.id, command)
        for node in command.added:
            self.tree.add(node)
        self.tree.reveal(command.revealed)
        self.tree.hide(command.hidden)
        self.state = after
        self.commands.append(replace(command, observations={}))
        for node_id, seen in command.observations.items():
            self.observed.setdefault(node_id, seen.to_bytes())

    # --- what may happen ----------------------------------------------------------------------------------------------

    def step(self) -> None:
        """To a new node, or again to one that exists, which may be hidden."""
        parent, token_id = self.choose(), self.draw(st.integers(0, 3))
        known = self.tree.child(parent, token_id)
        node = Node(known or self.tree.next_id, parent, token_id, self.tree.depth(parent) + 1, self.draw(edges))
        stops = tuple(
            samples.stop(node.id, kind) for kind in self.draw(st.sampled_from([(), ("eos",), ("error", "eos")]))
        )
        self.append(
            "step",
            replace(self.state, current=node.id, next_draw_index=self.state.next_draw_index + 1),
            added=() if known else (node,),
            revealed=frozenset({known}) if known and self.tree.is_hidden(known) else NOTHING,
            steps=(samples.step(node, self.state.settings, self.draw(st.none() | st.integers(0, 2**63 - 1))),),
            stops=stops,
            observations={parent: samples.observation(len(self.commands))},
        )

    def edit(self) -> None:
        changes: dict[str, object] = self.draw(
            st.fixed_dictionaries(
                {},
                optional={
                    "title": st.text(st.characters(), max_size=5),
                    "seed": st.integers(0, 2**63 - 1),
                    "settings": st.sampled_from([0.1, 0.7, 1.5]).map(samples.settings),
                    "prompt": st.text(st.characters(), max_size=5).map(samples.prompt),
                },
            )
        )
        self.append("edit", replace(self.state, **changes), details={"changed": sorted(changes)})  # type: ignore[arg-type]

    def delete_branch(self) -> None:
        if len(self.tree):
            branch = frozenset(self.tree.subtree(self.choose(root=False)))
            self.append("delete", replace(self.state, current=ROOT), hidden=branch)

    def look(self) -> None:
        node_id = self.choose()
        self.store.save_position(self.id, node_id)
        self.state = replace(self.state, current=node_id)

    def observe(self) -> None:
        node_id, seen = self.choose(), samples.observation(self.draw(st.integers(0, 99)))
        self.store.save_observation(self.id, node_id, seen)
        self.observed.setdefault(node_id, seen.to_bytes())

    def undo(self) -> None:
        """Any set of commands, as a session would: nodes are revealed, then hidden, and the state goes back."""
        if not self.commands:
            return
        seqs = self.draw(st.sets(st.integers(1, len(self.commands)), min_size=1))
        state = self.draw(st.sampled_from(["done", "undone", "abandoned"]))
        revealed = frozenset(n for n in range(1, self.tree.next_id) if self.tree.is_hidden(n))
        hidden = (
            frozenset(self.draw(st.sets(st.integers(1, self.tree.next_id - 1)))) if self.tree.next_id > 1 else NOTHING
        )
        self.tree.reveal(revealed)
        hidden = frozenset(below for node_id in hidden for below in self.tree.subtree(node_id))
        self.tree.hide(hidden)
        self.state = self.draw(st.sampled_from([c.before for c in self.commands]))
        self.store.set_command_states(self.id, dict.fromkeys(seqs, state), hidden, revealed, self.state)
        self.commands = [replace(c, state=state) if c.seq in seqs else c for c in self.commands]

    # --- what must hold -----------------------------------------------------------------------------------------------

    def check(self) -> None:
        stored = self.store.load(self.id)
        assert stored.commands == tuple(self.commands)
        assert stored.state == self.state
        again = TokenTree()
        for node in stored.nodes:
            again.add(node)
        again.hide(stored.hidden)
        assert list(again.nodes()) == list(self.tree.nodes())
        assert stored.nodes == tuple(node for command in self.commands for node in command.added)
        done = [command for command in self.commands if command.state == "done"]
        (summary,) = (s for s in self.store.summaries() if s.id == self.id)
        assert summary.nodes == len(self.tree)
        assert summary.steps == sum(len(command.steps) for command in done)
        assert summary.stops == tuple(dict.fromkeys(stop.event.kind for command in done for stop in command.stops))
        assert summary.title == self.state.title
        for node_id in [ROOT, *(node.id for node in stored.nodes)]:
            seen = self.store.observation(self.id, node_id)
            assert (seen and seen.to_bytes()) == self.observed.get(node_id)


times = st.integers(0, 10**9).map(lambda n: samples.START + timedelta(microseconds=n))
CHANGES = (Fold.step, Fold.step, Fold.step, Fold.edit, Fold.delete_branch, Fold.look, Fold.observe, Fold.undo)


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SessionStore]:
    path: Path = tmp_path_factory.mktemp("property") / "library.sqlite"
    with SessionStore.open(path) as store:
        yield store


@settings(max_examples=40)
@given(data=st.data(), changes=st.lists(st.sampled_from(CHANGES), max_size=15))
def test_loading_equals_folding(shared_store: SessionStore, data: st.DataObject, changes: list[object]) -> None:
    fold = Fold(shared_store, data.draw)
    for change in changes:
        change(fold)  # type: ignore[operator]
    fold.check()
