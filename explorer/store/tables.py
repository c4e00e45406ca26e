"""The tables of the current schema. A change here needs a migration in ``migrations/versions``.

Everything of a session hangs on its row and goes with it. Settings and prompts are kept once a session, models and
vocabularies once a library, each by digest. Times are microseconds since 1970 (UTC); documents are strict JSON.
"""

from __future__ import annotations

from sqlalchemy import (
    CheckConstraint,
    ForeignKey,
    ForeignKeyConstraint,
    LargeBinary,
    Text,
    UniqueConstraint,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from explorer.store.records import CommandState
from explorer.store.values import AnyText
from explorer.tree import HowChosen


class Base(DeclarativeBase):
    """The mapped tables."""

    type_annotation_map = {str: AnyText(), bytes: LargeBinary()}  # noqa: RUF012 - SQLAlchemy reads a plain dict


def _session_key() -> Mapped[int]:
    return mapped_column(ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True)


class VocabularyRow(Base):
    """`Vocabulary.to_bytes`, by the vocabulary's own digest."""

    __tablename__ = "vocabularies"

    sha256: Mapped[str] = mapped_column(primary_key=True)
    data: Mapped[bytes]


class ModelRow(Base):
    """A `ModelInfo`: identity and environment."""

    __tablename__ = "models"

    id: Mapped[int] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(unique=True)
    name: Mapped[str]
    info: Mapped[str]


class SessionRow(Base):
    """A session and its present state. ``revision`` counts writes, so that two writers notice each other."""

    __tablename__ = "sessions"
    __table_args__ = {"sqlite_autoincrement": True}  # noqa: RUF012 - ids are never given twice

    id: Mapped[int] = mapped_column(primary_key=True)
    created: Mapped[int]
    updated: Mapped[int]
    model_id: Mapped[int] = mapped_column(ForeignKey("models.id"), index=True)
    vocabulary_sha256: Mapped[str] = mapped_column(ForeignKey("vocabularies.sha256"), index=True)
    revision: Mapped[int]
    state: Mapped[str]
    node_count: Mapped[int]  # visible nodes, the root not counted
    step_count: Mapped[int]  # steps of commands that are done


class PromptRow(Base):
    """A `Prompt`. ``preview`` is the beginning of its text, for the session list."""

    __tablename__ = "prompts"
    __table_args__ = (UniqueConstraint("session_id", "digest"),)

    session_id: Mapped[int] = _session_key()
    id: Mapped[int] = mapped_column(primary_key=True)
    digest: Mapped[str]
    preview: Mapped[str]
    data: Mapped[str]


class SettingsRow(Base):
    """A `Settings` value that was in force."""

    __tablename__ = "settings"
    __table_args__ = (UniqueConstraint("session_id", "digest"),)

    session_id: Mapped[int] = _session_key()
    id: Mapped[int] = mapped_column(primary_key=True)
    digest: Mapped[str]
    data: Mapped[str]


class CommandRow(Base):
    """A command. ``before`` and ``after`` are session states that name their prompt and settings by id."""

    __tablename__ = "commands"
    __table_args__ = (CheckConstraint("state IN ('done', 'undone', 'abandoned')", name="known_state"),)

    session_id: Mapped[int] = _session_key()
    seq: Mapped[int] = mapped_column(primary_key=True)
    gesture: Mapped[int]
    kind: Mapped[str]
    origin: Mapped[str]
    at: Mapped[int]
    state: Mapped[CommandState] = mapped_column(Text)
    before: Mapped[str]
    after: Mapped[str]
    hidden: Mapped[str] = mapped_column(Text)
    revealed: Mapped[str] = mapped_column(Text)
    details: Mapped[str]


class NodeRow(Base):
    """A node and the edge into it. Node 0 is the prompt: it has neither parent nor edge.

    ``sampling_logprob`` NULL: the token was excluded by a filter when it was taken.
    """

    __tablename__ = "nodes"
    __table_args__ = (
        UniqueConstraint("session_id", "parent_id", "token_id"),
        ForeignKeyConstraint(["session_id", "parent_id"], ["nodes.session_id", "nodes.id"]),
        ForeignKeyConstraint(["session_id", "command_seq"], ["commands.session_id", "commands.seq"]),
        CheckConstraint(
            "id = 0 OR (parent_id IS NOT NULL AND token_id IS NOT NULL AND logit IS NOT NULL AND "
            "model_logprob IS NOT NULL AND rank IS NOT NULL AND how IS NOT NULL AND command_seq IS NOT NULL)",
            name="edge_complete",
        ),
    )

    session_id: Mapped[int] = _session_key()
    id: Mapped[int] = mapped_column(primary_key=True)
    parent_id: Mapped[int | None]
    token_id: Mapped[int | None]
    depth: Mapped[int]
    logit: Mapped[float | None]
    model_logprob: Mapped[float | None]
    sampling_logprob: Mapped[float | None]
    rank: Mapped[int | None]
    how: Mapped[HowChosen | None] = mapped_column(Text)
    u: Mapped[float | None]
    draw_index: Mapped[int | None]
    command_seq: Mapped[int | None]
    hidden: Mapped[bool]


def _of_command(*more: ForeignKeyConstraint) -> tuple[object, ...]:
    command = ForeignKeyConstraint(["session_id", "command_seq"], ["commands.session_id", "commands.seq"])
    node = ForeignKeyConstraint(["session_id", "node_id"], ["nodes.session_id", "nodes.id"])
    return (command, node, *more)


class StepRow(Base):
    """A choice that was made, also where it led to a node that existed already."""

    __tablename__ = "steps"
    __table_args__ = _of_command(
        ForeignKeyConstraint(["session_id", "settings_id"], ["settings.session_id", "settings.id"])
    )

    session_id: Mapped[int] = _session_key()
    command_seq: Mapped[int] = mapped_column(primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    parent_id: Mapped[int]
    node_id: Mapped[int]
    token_id: Mapped[int]
    how: Mapped[HowChosen] = mapped_column(Text)
    rank: Mapped[int]
    logit: Mapped[float]
    model_logprob: Mapped[float]
    sampling_logprob: Mapped[float | None]
    settings_id: Mapped[int]
    seed: Mapped[int | None]
    draw_index: Mapped[int | None]
    u: Mapped[float | None]


class StopRow(Base):
    """A stop event at a node."""

    __tablename__ = "stops"
    __table_args__ = _of_command()

    session_id: Mapped[int] = _session_key()
    command_seq: Mapped[int] = mapped_column(primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    node_id: Mapped[int]
    kind: Mapped[str]
    event: Mapped[str]


class ObservationRow(Base):
    """`Observation.to_bytes` of a node's next-token distribution."""

    __tablename__ = "observations"
    __table_args__ = (ForeignKeyConstraint(["session_id", "node_id"], ["nodes.session_id", "nodes.id"]),)

    session_id: Mapped[int] = _session_key()
    node_id: Mapped[int] = mapped_column(primary_key=True)
    data: Mapped[bytes]


class CardRow(Base):
    """What the user keeps about a session. ``uuid`` names it in whatever library it is copied to.

    ``trashed`` is when it went to the trash, NULL outside; ``indexed`` the revision whose texts can be found.
    """

    __tablename__ = "session_cards"

    session_id: Mapped[int] = _session_key()
    uuid: Mapped[str] = mapped_column(unique=True)
    note: Mapped[str]
    starred: Mapped[bool]
    trashed: Mapped[int | None]
    indexed: Mapped[int]


class TagRow(Base):
    """A tag of a session."""

    __tablename__ = "session_tags"

    session_id: Mapped[int] = _session_key()
    tag: Mapped[str] = mapped_column(primary_key=True, index=True)


class TextRow(Base):
    """What a session is found by: ``about`` (title, model, prompt's beginning, note, tags) is always up to date,
    ``text`` (whole prompt, generated texts) is that of the revision in its card. Triggers keep the FTS5 table
    ``session_search`` in step."""

    __tablename__ = "session_texts"

    session_id: Mapped[int] = _session_key()
    about: Mapped[str]
    text: Mapped[str]
