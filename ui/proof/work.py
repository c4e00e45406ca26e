"""What the session thread does for checks and scripts. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from explorer.proof.report import ProofReport
from explorer.text import Vocabulary, path_pieces
from explorer.tree import ROOT, NodeId
from ui.bridge import JobContext
from ui.format import elide_middle

if TYPE_CHECKING:  # see ui.session_thread
    from explorer.export.python_script import Script
    from explorer.session import Session

_LABEL_LENGTH = 60


@dataclass(frozen=True, slots=True, eq=False)
class CheckedNode:
    """A report with what names its node and its tokens. ``place`` is the end of its path; empty at the prompt."""

    node: NodeId
    place: str
    vocabulary: Vocabulary
    report: ProofReport


@dataclass(frozen=True, slots=True, eq=False)
class NodeScript:
    """A script with what names its node."""

    node: NodeId
    tokens: int
    script: Script


def check(session: Session, node: NodeId | None, job: JobContext) -> CheckedNode:
    """`Session.check` of a node (default: the current one). Raises what it raises."""
    chosen = session.state.current if node is None else node
    report = session.check(chosen, progress=job.progress, cancel=job.cancel)
    return CheckedNode(chosen, place_label(session, chosen), session.vocabulary, report)


def write_script_of(session: Session, node: NodeId | None) -> NodeScript:
    """The script of the path to a node (default: the current one). Raises `ExportError`."""
    from explorer.export.python_script import python_script
    from explorer.export.script_path import script_path

    path = script_path(
        session=session.id,
        model=session.model,
        vocabulary=session.vocabulary,
        state=session.state,
        tree=session.tree,
        commands=session.commands,
        logits_at=lambda at: session.view(at, compute=False).logits,
        node_id=node,
    )
    return NodeScript(path.node, len(path.steps), python_script(path))


def save_script(script: Script, file: Path) -> None:
    """Write a script to a file, whole or not at all. Raises `ExportError`."""
    from explorer.export.python_script import write_script

    write_script(script, file)


def place_label(session: Session, node: NodeId) -> str:
    """The end of the path to a node as labels of its tokens; empty at the prompt."""
    if node == ROOT:
        return ""
    pieces = path_pieces(session.vocabulary, session.prefix(node))[len(session.state.prompt.ids) :]
    return elide_middle(" ".join(piece.label for piece in pieces), _LABEL_LENGTH)
