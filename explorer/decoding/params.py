"""Settings of decoding: the frozen values in force, and where each came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from explorer.decoding.parameter import Parameter, ParamValue

__all__ = [
    "ParamValue",
    "Parameter",
    "SamplingParams",
    "Settings",
    "Source",
    "StopParams",
    "settings_from_generation_config",
]

Source = Literal["off", "user", "model", "preset"]


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """Values of the filters that are on, and the order of the chain. An unset filter is off; nothing is implied.

    ``values`` maps parameter names to values that differ from "off"; ``order`` is a preset name (``transformers``,
    ``llama.cpp``) or a tuple of stage names. Every way of building one checks it (`SettingsError`).
    """

    values: Mapping[str, ParamValue] = field(default_factory=dict)
    order: str | tuple[str, ...] = "transformers"

    @classmethod
    def make(cls, order: str | tuple[str, ...] = "transformers", **values: ParamValue) -> SamplingParams:
        """Parameters by name. Raises `SettingsError`."""
        return cls(values, order)

    def get(self, name: str) -> ParamValue:
        """The value of a parameter, its "off" where unset."""
        raise NotImplementedError

    def is_off(self, name: str) -> bool:
        raise NotImplementedError

    def with_values(self, **changes: ParamValue) -> SamplingParams:
        """A checked copy with some values changed; None or the off value unsets. Raises `SettingsError`."""
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        raise NotImplementedError

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SamplingParams:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class StopParams:
    """When a path ends. ``eos_token_ids`` None means the model's own list; an empty tuple means none."""

    max_new_tokens: int | None = None
    max_length: int | None = None
    stop_strings: tuple[str, ...] = ()
    eos_token_ids: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything in force for a step. ``sources`` says where each set value came from (absent: "user")."""

    sampling: SamplingParams = field(default_factory=SamplingParams)
    stopping: StopParams = field(default_factory=StopParams)
    sources: Mapping[str, Source] = field(default_factory=dict)

    def with_sampling(self, source: Source = "user", **changes: ParamValue) -> Settings:
        raise NotImplementedError

    def with_stopping(self, source: Source = "user", **changes: Any) -> Settings:
        raise NotImplementedError

    def with_order(self, order: str | tuple[str, ...]) -> Settings:
        return replace(self, sampling=replace(self.sampling, order=order))

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values, everything in force and its sources."""
        raise NotImplementedError

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Settings:
        """Inverse of `to_json`. Raises `SettingsError`."""
        raise NotImplementedError

    def digest(self) -> str:
        """sha256 of the canonical JSON."""
        raise NotImplementedError


def settings_from_generation_config(defaults: Mapping[str, Any]) -> Settings:
    """What a model's own generation config sets, with source "model"."""
    raise NotImplementedError
