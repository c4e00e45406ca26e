"""Every data format reads back into the same tree, whatever the tokens are."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import networkx as nx
import pytest
from export_samples import EOS, NASTY, chain_document, edge, nasty_document, session_of
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.decoding.stopping import StopEvent
from explorer.export import (
    ExportedTree,
    ExportError,
    SessionDocument,
    export_session,
    read_csv,
    read_dot,
    read_graphml,
    read_json,
)
from explorer.text import Vocabulary
from explorer.tree import ROOT, Edge, HowChosen, Node

Read = Callable[[Path], ExportedTree]
READERS: dict[str, Read] = {"json": read_json, "csv": read_csv, "dot": read_dot, "graphml": read_graphml}

every_format = pytest.mark.parametrize("name", READERS)


def read_back(document: SessionDocument, name: str, folder: Path) -> ExportedTree:
    path = folder / f"tree.{name}"
    export_session(document, name, path)
    return READERS[name](path)


hows: tuple[HowChosen, ...] = ("greedy", "drawn", "manual", "beam", "expanded", "given")
logs = st.floats(max_value=0.0, allow_nan=False, allow_infinity=False)
edges = st.builds(
    Edge,
    logit=st.floats(allow_nan=True, allow_infinity=True),
    model_logprob=logs | st.just(-math.inf),
    sampling_logprob=st.none() | logs | st.just(math.nan),
    rank=st.integers(1, 300_000),
    how=st.sampled_from(hows),
    u=st.none() | st.floats(0, 1, exclude_max=True),
    draw_index=st.none() | st.integers(0, 2**63 - 1),
)
events = st.builds(
    StopEvent,
    kind=st.sampled_from(["eos", "max_new_tokens", "stop_string", "error"]),
    particulars=st.dictionaries(
        st.text(max_size=5), st.text(max_size=9) | st.integers() | st.booleans() | st.none(), max_size=3
    ),
)


@st.composite
def documents(draw: st.DrawFn) -> SessionDocument:
    count = draw(st.integers(0, 12))
    pieces = [*NASTY, *draw(st.lists(st.binary(max_size=6), min_size=count, max_size=count))]
    tokens = draw(st.permutations(range(len(pieces))))
    depths, nodes = [0], []
    for node in range(1, count + 1):
        parent = draw(st.integers(0, node - 1))
        depths.append(depths[parent] + 1)
        nodes.append(Node(node, parent, tokens[node], depths[node], draw(edges)))
    return session_of(
        nodes,
        hidden=draw(st.sets(st.integers(1, count))) if count else (),
        stops=draw(st.lists(st.tuples(st.integers(0, count), events), max_size=4)),
        vocabulary=Vocabulary(pieces, draw(st.sets(st.sampled_from(range(len(pieces))), max_size=3))),
    )


@every_format
@settings(max_examples=30)
@given(document=documents())
def test_every_tree_reads_back_the_same(
    name: str, document: SessionDocument, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """C14, C41: forced and impossible tokens, NaN and infinities, control characters, halves of characters."""
    assert read_back(document, name, tmp_path_factory.mktemp("x")) == ExportedTree.of(document)


@every_format
def test_awkward_tokens_read_back(name: str, tmp_path: Path) -> None:
    document = nasty_document()
    tree = read_back(document, name, tmp_path)
    assert tree == ExportedTree.of(document)
    assert [bytes.fromhex(row.bytes) for row in tree.nodes[: len(NASTY) - 1]] == list(NASTY[:-1])
    assert [row.special for row in tree.nodes[-2:]] == [True, True]
    assert sum(row.hidden for row in tree.nodes) == 2
    assert [(stop.node, stop.kind, stop.particulars["token_id"]) for stop in tree.stops] == [(len(NASTY), "eos", EOS)]


@every_format
def test_numbers_that_are_none_are_left_out_and_read_back_as_none(name: str, tmp_path: Path) -> None:
    """A row that was not made from a session, too: no format writes NaN or infinity."""
    document = session_of([Node(1, ROOT, 40, 1, Edge(-math.inf, -math.inf, None, 9, "manual"))])
    row = read_back(document, name, tmp_path).nodes[0]
    assert (row.logit, row.model_logprob, row.sampling_logprob, row.excluded) == (None, None, None, True)
    assert row.path_model_logprob is None
    text = (tmp_path / f"tree.{name}").read_text("utf-8").lower()
    assert "nan" not in text
    assert "inf" not in text


@every_format
def test_a_chain_of_five_thousand_needs_no_recursion(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = chain_document(5000)
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(400)
    try:
        tree = read_back(document, name, tmp_path)
    finally:
        sys.setrecursionlimit(before)
    assert tree == ExportedTree.of(document)
    assert tree.nodes[-1].depth == 5000


@every_format
def test_a_tree_without_tokens_and_a_stop_at_the_prompt(name: str, tmp_path: Path) -> None:
    """C25: no token may be generated at all."""
    document = session_of([], stops=[(ROOT, StopEvent("max_new_tokens", {"limit": 0}))])
    tree = read_back(document, name, tmp_path)
    assert tree == ExportedTree.of(document)
    assert tree.stops[0].node == ROOT


@every_format
@pytest.mark.parametrize(
    "content", [b"", b"\x00\xff", b"digraph {", b"<graphml/>", b"a,b\n1,2\n", b"{}", b"digraph { a -> b }"]
)
def test_what_is_no_exported_tree_is_refused(name: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(ExportError) as caught:
        READERS[name](path)
    assert caught.value.message.code == "export.unreadable"


@every_format
def test_a_file_that_is_not_there_is_named_as_such(name: str, tmp_path: Path) -> None:
    with pytest.raises(ExportError):
        READERS[name](tmp_path / "nothing")


@pytest.mark.parametrize("name", ["csv", "dot", "graphml"])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("greedy", "guessed"),
        ("0x20506172", "0x2050617"),  # an odd number of digits
        ("-0.25", "nan"),
    ],
)
def test_a_damaged_value_is_refused(name: str, old: str, new: str, tmp_path: Path) -> None:
    path = tmp_path / "tree"
    export_session(session_of([Node(1, ROOT, NASTY.index(b" Paris"), 1, edge())]), name, path)
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")
    with pytest.raises(ExportError):
        READERS[name](path)


@pytest.mark.parametrize(
    "rows",
    [
        [(1, 0, 1), (1, 0, 1)],  # the same node twice
        [(2, 1, 1)],  # a parent that is not there
        [(1, 2, 1), (2, 1, 2)],  # a circle
        [(1, 0, 2)],  # a depth that does not fit
    ],
)
def test_what_is_no_tree_is_refused(rows: list[tuple[int, int, int]], tmp_path: Path) -> None:
    row = ExportedTree.of(session_of([Node(1, ROOT, 3, 1, edge())])).nodes[0]
    document = session_of([])
    document.nodes.extend(replace(row, node=node, parent=parent, depth=depth) for node, parent, depth in rows)
    export_session(document, "csv", tmp_path / "tree.csv")
    with pytest.raises(ExportError):
        read_csv(tmp_path / "tree.csv")


def test_networkx_sees_types_and_a_tree(tmp_path: Path) -> None:
    """What other programs get from it: numbers as numbers, truth values as such, one edge into every token."""
    export_session(nasty_document(), "graphml", tmp_path / "tree.graphml")
    graph = nx.read_graphml(tmp_path / "tree.graphml")
    assert nx.is_arborescence(graph)
    values, step = graph.nodes["n1"], graph.edges["n0", "n1"]
    assert (type(values["token_id"]), type(values["hidden"]), type(values["label"])) == (int, bool, str)
    assert (type(step["model_logprob"]), type(step["rank"])) == (float, int)
    assert step["weight"] == pytest.approx(math.exp(-0.1))


def test_dot_reads_what_graphviz_makes_of_it(tmp_path: Path) -> None:
    """Other spacing, order, comments, continued strings, chains, defaults, and attributes of its own."""
    document = session_of([Node(1, ROOT, 40, 1, edge()), Node(2, 1, 41, 2, edge())])
    path = tmp_path / "tree.dot"
    export_session(document, "dot", path)
    lines = path.read_text("utf-8").splitlines()
    body = [line.strip() for line in lines[2:-1]]
    body.reverse()
    text = (
        '# a line of a preprocessor\nstrict digraph{node[width=.5];graph [bb="0,0,\\\n1,1"];'
        + ";\n".join(body)
        + " /* end */ }"
    )
    path.write_text(text.replace("hidden=", 'pos="1,2"; hidden='), "utf-8")
    assert read_dot(path) == ExportedTree.of(document)
