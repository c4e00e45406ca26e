"""Where the program keeps its files."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path, user_data_path

APP = "token-tree-explorer"


def model_cache() -> Path:
    """The folder of imported models; ``TOKEN_TREE_MODELS`` overrides it. Never inside a source checkout."""
    override = os.environ.get("TOKEN_TREE_MODELS")
    return Path(override) if override else user_cache_path(APP) / "models"


def own_lessons() -> Path:
    """The folder of the user's own lessons; ``TOKEN_TREE_LESSONS`` overrides it. It need not exist."""
    override = os.environ.get("TOKEN_TREE_LESSONS")
    return Path(override) if override else user_data_path(APP) / "lessons"


def default_library() -> Path:
    """The SQLite library: ``TOKEN_TREE_LIBRARY``, else ``sessions/`` of a checkout, else in the user's data folder."""
    override = os.environ.get("TOKEN_TREE_LIBRARY")
    if override:
        return Path(override)
    checkout = Path(__file__).resolve().parent.parent
    if (checkout / "pyproject.toml").is_file() and (checkout / "sessions").is_dir():
        return checkout / "sessions" / "library.sqlite"
    return user_data_path(APP) / "library.sqlite"
