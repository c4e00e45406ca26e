"""Whatever is done in whatever order, the library holds exactly the session in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from explorer.session import Session
from explorer.sharing.archive import pack, unpack
from explorer.sharing.reading import read_session
from explorer.sharing.writing import file_values, session_content
from explorer.tree import ROOT
from explorer.workspace import Workspace

from .conftest import WorkspaceMaker

_ACTIONS: dict[str, Callable[[Session, int], object]] = {
    "greedy": lambda session, _: session.step_greedy(),
    "draw": lambda session, _: session.step_draw(),
    "pick": lambda session, n: session.pick(n % 5),
    "run": lambda session, n: list(session.run("sample", max_steps=n % 4)),
    "past": lambda session, _: session.step_greedy(past_stop=True),
    "undo": lambda session, _: session.undo(),
    "redo": lambda session, _: session.redo(),
    "select": lambda session, n: session.select(_any_node(session, n)),
    "delete": lambda session, n: session.delete_branch(n) if (n := _any_node(session, n)) != ROOT else None,
    "settings": lambda session, n: session.set_settings(session.state.settings.with_sampling(top_k=n % 3)),
    "seed": lambda session, n: session.set_seed(n),
}


def _any_node(session: Session, n: int) -> int:
    nodes = [ROOT, *(node.id for node in session.tree.nodes())]
    return nodes[n % len(nodes)]


def _numbers(session: Session) -> list[object]:
    views = [session.view(node.id, compute=False) for node in session.tree.nodes()]
    return [(view.node_id, view.pieces, view.edges, view.values, view.stop, view.taken) for view in views]


def _same(workspace: Workspace, reader: Workspace) -> None:
    session = workspace.session
    assert session is not None
    assert session.id is not None
    again = reader.open_session(session.id)
    assert again.state == session.state
    assert _numbers(again) == _numbers(session)
    assert (again.undo_kind, again.redo_kind) == (session.undo_kind, session.redo_kind)
    assert [(c.seq, c.kind, c.state) for c in again.commands] == [(c.seq, c.kind, c.state) for c in session.commands]


def _shared(workspace: Workspace) -> None:
    """Whatever was done, a file of it is taken over again, with every command and number."""
    session, store = workspace.session, workspace.store
    assert session is not None
    assert session.id is not None
    stored = store.load(session.id, claim=False)
    content = session_content(stored, session.vocabulary, store.observations(session.id))
    shared = read_session(unpack(pack(file_values(store.library.session(session.id), content))))
    assert replace(shared.stored, id=stored.id) == stored


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(sorted(_ACTIONS)), st.integers(0, 50)), min_size=1, max_size=25))
def test_the_library_holds_what_the_session_shows(
    open_workspace: WorkspaceMaker, actions: list[tuple[str, int]]
) -> None:
    workspace = open_workspace()
    session = workspace.new_session(workspace.prompt_of_ids(()), seed=3)
    for name, n in actions:
        _ACTIONS[name](session, n)
        assert session.unsaved == 0
    _same(workspace, open_workspace(None))
    _shared(workspace)
