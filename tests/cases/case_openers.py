"""Openers of models for the engine's process, which imports this module by name: a machine that lacks a package."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

from explorer.models import catalog
from explorer.models.base import LanguageModel, ModelRef
from explorer.progress import CancelToken, ProgressCallback


def _without(package: str) -> Callable[[ModelRef, ProgressCallback, CancelToken], LanguageModel]:
    def open_model(ref: ModelRef, progress: ProgressCallback, cancel: CancelToken) -> LanguageModel:
        find_spec = importlib.util.find_spec

        def find(name: str, *rest: Any) -> Any:
            return None if name == package else find_spec(name, *rest)

        importlib.util.find_spec = find  # type: ignore[assignment]  # this process is the test's own
        return catalog.open_model(ref, progress, cancel)

    return open_model


open_without_gguf = _without("gguf")
open_without_accelerate = _without("accelerate")
