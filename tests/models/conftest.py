"""A model cache of its own for every test of the catalogue; the sample makers of this folder can be imported."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from explorer.models.model_cache import ModelCache

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModelCache:
    """An empty cache that the catalogue uses; its folder does not exist yet."""
    root = tmp_path / "models"
    monkeypatch.setenv("TOKEN_TREE_MODELS", str(root))
    return ModelCache(root)
