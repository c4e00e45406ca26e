"""The migrations build exactly the tables that the code maps."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from explorer.store import SessionStore
from explorer.store.database import APPLICATION_ID, connect, make_engine
from explorer.store.schema import known_versions
from explorer.store.tables import Base


def test_migrated_and_mapped_tables_agree(store: SessionStore, library: Path) -> None:
    engine = make_engine(library, "read")
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "include_name": _mapped})
        assert compare_metadata(context, Base.metadata) == []
    engine.dispose()


def _mapped(name: str | None, kind: str, _: object) -> bool:
    """Leaves out the full-text index, which SQLAlchemy cannot map, and the tables SQLite keeps it in."""
    return kind != "table" or name is None or not name.startswith("session_search")


def test_check_and_unique_constraints_agree_too(store: SessionStore, library: Path, tmp_path: Path) -> None:
    """What the comparison above leaves out: the tables' own text, names and layout aside."""
    (tmp_path / "mapped.sqlite").touch()
    engine = make_engine(tmp_path / "mapped.sqlite", "write")
    Base.metadata.create_all(engine)
    engine.dispose()
    assert constraints(tmp_path / "mapped.sqlite") == constraints(library)


def constraints(path: Path) -> dict[str, set[str]]:
    with closing(connect(path, "read")) as connection:
        tables = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table' AND sql LIKE '%(%'")
        return {
            name: {line.strip().rstrip(",") for line in sql.splitlines()[1:-1]}
            for name, sql in tables
            if name in Base.metadata.tables
        }


def test_versions_are_numbered_and_the_file_says_whose_it_is(store: SessionStore, library: Path) -> None:
    versions = known_versions()
    assert versions == tuple(f"{n:04}" for n in range(1, len(versions) + 1))
    with closing(connect(library, "read")) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(versions[-1],)]
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
