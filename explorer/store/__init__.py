"""The library: sessions in one SQLite file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from explorer.store.session_store import SessionStore

__all__ = ["SessionStore"]


def __getattr__(name: str) -> Any:
    # The window imports `records` for its event types; SQLAlchemy costs half a second and only the session needs it.
    if name == "SessionStore":
        from explorer.store.session_store import SessionStore

        return SessionStore
    raise AttributeError(name)
