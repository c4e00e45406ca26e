"""Sessions over table models in this process, and their scripts."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

from table_sessions import TableEngine

from explorer.export.python_script import Script, python_script
from explorer.export.script_path import stored_script_path
from explorer.models.table_model import TableModel
from explorer.session import Session
from explorer.tree import NodeId
from explorer.workspace import Workspace

# Loops, so that penalties and n-grams have something to act on.
TABLE: dict[str, Any] = {
    "name": "loops",
    "vocab": ["A", "B", "你", "🙂", "\n", "<eos>"],
    "eos": ["<eos>"],
    "prompt": ["A", "B"],
    "rows": [
        {"after": [], "logits": {"A": 2, "B": 1.5, "你": 1, "🙂": -0.5}},
        {"after": ["*"], "probs": {"A": 0.3, "B": 0.3, "你": 0.2, "🙂": 0.15, "<eos>": 0.05}},
        {"after": ["A", "*"], "logits": {"A": 0.1, "B": 0.2, "你": 0.3, "🙂": 0.4, "\n": 0.5, "<eos>": 0.6}},
    ],
    "otherwise": {"probs": {"A": 0.4, "B": 0.3, "你": 0.15, "🙂": 0.1, "\n": 0.03, "<eos>": 0.02}},
}


def open_table(file: Path, library: Path) -> Workspace:
    """A workspace on the table model of a file."""
    return Workspace(library, TableEngine(TableModel.from_file(file)))


def script_of(workspace: Workspace, session: Session, node: NodeId | None = None) -> Script:
    """The script of a path as it is in the library."""
    assert session.save()
    assert session.id is not None
    return python_script(stored_script_path(workspace.store, session.id, node))


def execute(source: str) -> tuple[dict[str, Any], str]:
    """Run a script in this process, where torch is loaded already: its variables, and what it printed."""
    variables: dict[str, Any] = {"__name__": "__main__"}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(source, "script.py", "exec"), variables)
    return variables, printed.getvalue()
