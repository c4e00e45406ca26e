"""What users keep about their sessions (stars, notes, tags, trash), and the index their texts are found by."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

from explorer.store.values import searchable

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

# The index holds no text of its own; these keep it in step with session_texts, as the manual of FTS5 describes.
_REMOVE = (
    "INSERT INTO session_search(session_search, rowid, about, text) "
    "VALUES ('delete', old.session_id, old.about, old.text);"
)
_ADD = "INSERT INTO session_search(rowid, about, text) VALUES (new.session_id, new.about, new.text);"
_TRIGGERS = {"insert": _ADD, "delete": _REMOVE, "update": _REMOVE + _ADD}


def _session_key() -> sa.Column[int]:
    return sa.Column("session_id", sa.Integer, sa.ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True)


def upgrade() -> None:
    op.create_table(
        "session_cards",
        _session_key(),
        sa.Column("uuid", sa.Text, nullable=False, unique=True),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("starred", sa.Boolean, nullable=False),
        sa.Column("trashed", sa.Integer),
        sa.Column("indexed", sa.Integer, nullable=False),
    )
    op.create_table("session_tags", _session_key(), sa.Column("tag", sa.Text, primary_key=True, index=True))
    op.create_table(
        "session_texts",
        _session_key(),
        sa.Column("about", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
    )
    op.execute(
        "CREATE VIRTUAL TABLE session_search USING fts5(about, text, content='session_texts', "
        "content_rowid='session_id', tokenize='trigram')"
    )
    for event, body in _TRIGGERS.items():
        op.execute(f"CREATE TRIGGER session_texts_{event} AFTER {event.upper()} ON session_texts BEGIN {body} END")
    op.execute("INSERT INTO session_cards SELECT id, lower(hex(randomblob(16))), '', 0, NULL, -1 FROM sessions")
    _describe_sessions(op.get_bind())


def _describe_sessions(connection: sa.Connection) -> None:
    """Titles, models and the beginnings of prompts are found at once; what was generated is indexed later."""
    previews = {
        (session_id, id_): _text(preview)
        for session_id, id_, preview in connection.execute(sa.text("SELECT session_id, id, preview FROM prompts"))
    }
    rows = []
    for session_id, state, name in connection.execute(
        sa.text("SELECT s.id, s.state, m.name FROM sessions s JOIN models m ON m.id = s.model_id")
    ):
        current = json.loads(_text(state))
        about = [current["title"], _text(name), previews.get((session_id, current["prompt"]), "")]
        rows.append({"session_id": session_id, "about": searchable("\n".join(about))})
    if rows:
        connection.execute(sa.text("INSERT INTO session_texts VALUES (:session_id, :about, '')"), rows)


def _text(value: str | bytes) -> str:
    return value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else value
