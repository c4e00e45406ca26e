"""Sessions, their trees and everything that was done in them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def _session_key() -> sa.Column[int]:
    return sa.Column("session_id", sa.Integer, sa.ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True)


def _to(table: str, columns: list[str], key: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(columns, [f"{table}.session_id", f"{table}.{key}"])


def upgrade() -> None:
    op.execute("PRAGMA application_id = 1414808920")  # "TTEX"
    _create_shared()
    _create_session()
    _create_tree()
    _create_evidence()


def _create_shared() -> None:
    op.create_table(
        "vocabularies",
        sa.Column("sha256", sa.Text, primary_key=True),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "models",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("digest", sa.Text, nullable=False, unique=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("info", sa.Text, nullable=False),
    )


def _create_session() -> None:
    op.create_table(
        "sessions",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("created", sa.Integer, nullable=False),
        sa.Column("updated", sa.Integer, nullable=False),
        sa.Column("model_id", sa.Integer, sa.ForeignKey("models.id"), nullable=False, index=True),
        sa.Column("vocabulary_sha256", sa.Text, sa.ForeignKey("vocabularies.sha256"), nullable=False, index=True),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("node_count", sa.Integer, nullable=False),
        sa.Column("step_count", sa.Integer, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "prompts",
        _session_key(),
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("preview", sa.Text, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
        sa.UniqueConstraint("session_id", "digest"),
    )
    op.create_table(
        "settings",
        _session_key(),
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
        sa.UniqueConstraint("session_id", "digest"),
    )


def _create_tree() -> None:
    op.create_table(
        "commands",
        _session_key(),
        sa.Column("seq", sa.Integer, primary_key=True),
        sa.Column("gesture", sa.Integer, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("origin", sa.Text, nullable=False),
        sa.Column("at", sa.Integer, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("before", sa.Text, nullable=False),
        sa.Column("after", sa.Text, nullable=False),
        sa.Column("hidden", sa.Text, nullable=False),
        sa.Column("revealed", sa.Text, nullable=False),
        sa.Column("details", sa.Text, nullable=False),
        sa.CheckConstraint("state IN ('done', 'undone', 'abandoned')", name="known_state"),
    )
    op.create_table(
        "nodes",
        _session_key(),
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("parent_id", sa.Integer),
        sa.Column("token_id", sa.Integer),
        sa.Column("depth", sa.Integer, nullable=False),
        sa.Column("logit", sa.Double),
        sa.Column("model_logprob", sa.Double),
        sa.Column("sampling_logprob", sa.Double),
        sa.Column("rank", sa.Integer),
        sa.Column("how", sa.Text),
        sa.Column("u", sa.Double),
        sa.Column("draw_index", sa.Integer),
        sa.Column("command_seq", sa.Integer),
        sa.Column("hidden", sa.Boolean, nullable=False),
        sa.UniqueConstraint("session_id", "parent_id", "token_id"),
        _to("nodes", ["session_id", "parent_id"], "id"),
        _to("commands", ["session_id", "command_seq"], "seq"),
        sa.CheckConstraint(
            "id = 0 OR (parent_id IS NOT NULL AND token_id IS NOT NULL AND logit IS NOT NULL AND "
            "model_logprob IS NOT NULL AND rank IS NOT NULL AND how IS NOT NULL AND command_seq IS NOT NULL)",
            name="edge_complete",
        ),
    )


def _create_evidence() -> None:
    op.create_table(
        "steps",
        _session_key(),
        sa.Column("command_seq", sa.Integer, primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True),
        sa.Column("parent_id", sa.Integer, nullable=False),
        sa.Column("node_id", sa.Integer, nullable=False),
        sa.Column("token_id", sa.Integer, nullable=False),
        sa.Column("how", sa.Text, nullable=False),
        sa.Column("rank", sa.Integer, nullable=False),
        sa.Column("logit", sa.Double, nullable=False),
        sa.Column("model_logprob", sa.Double, nullable=False),
        sa.Column("sampling_logprob", sa.Double),
        sa.Column("settings_id", sa.Integer, nullable=False),
        sa.Column("seed", sa.Integer),
        sa.Column("draw_index", sa.Integer),
        sa.Column("u", sa.Double),
        _to("commands", ["session_id", "command_seq"], "seq"),
        _to("nodes", ["session_id", "node_id"], "id"),
        _to("settings", ["session_id", "settings_id"], "id"),
    )
    op.create_table(
        "stops",
        _session_key(),
        sa.Column("command_seq", sa.Integer, primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True),
        sa.Column("node_id", sa.Integer, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("event", sa.Text, nullable=False),
        _to("commands", ["session_id", "command_seq"], "seq"),
        _to("nodes", ["session_id", "node_id"], "id"),
    )
    op.create_table(
        "observations",
        _session_key(),
        sa.Column("node_id", sa.Integer, primary_key=True),
        sa.Column("data", sa.LargeBinary, nullable=False),
        _to("nodes", ["session_id", "node_id"], "id"),
    )
