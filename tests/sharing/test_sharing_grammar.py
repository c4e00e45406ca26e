"""What a grammar left of the model's probability goes along with a session, into the library and out of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import store_samples as samples

from explorer.decoding.params import Settings
from explorer.decoding.stopping import StopEvent
from explorer.grammar.facts import GrammarFacts
from explorer.sharing import export_file, import_file
from explorer.store import SessionStore
from explorer.store.records import StopRecord
from explorer.tree import Node


def test_masses_settings_and_stops_arrive(target: SessionStore, tmp_path: Path) -> None:
    in_force = Settings().with_sampling(grammar=("json_schema", '{"type": "null"} '))
    state = samples.state(settings=in_force)
    plain, constrained = samples.edge(), samples.edge(grammar_logmass=-0.1234567890123456)
    nodes = (Node(1, 0, 1, 1, plain), Node(2, 1, 2, 2, constrained))
    end = StopEvent("grammar_end", {"step": 2, "grammar": GrammarFacts("json_schema", "ended", True).to_json()})
    command = samples.command(
        1,
        state,
        replace(state, current=2),
        added=nodes,
        steps=tuple(samples.step(node, in_force) for node in nodes),
        stops=(StopRecord(2, end),),
        details={"of": "mine"},
    )
    with SessionStore.open(tmp_path / "source.sqlite") as source:
        number = source.create_session(state, samples.model(), samples.vocabulary(), samples.START)
        source.append(number, command)
        kept = source.load(number)
        path = tmp_path / "one.ttsession"
        export_file(source, number, path)
    assert [node.edge for node in kept.nodes] == [plain, constrained]
    assert kept.commands == (command,)
    come = target.load(import_file(target, path).session)
    assert (come.nodes, come.commands, come.state) == (kept.nodes, kept.commands, kept.state)
    assert come.state.settings.sampling.grammar() == ("json_schema", '{"type": "null"} ')
