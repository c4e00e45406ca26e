"""Settings of decoding: the frozen values in force, and where each came from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, cast

from explorer.decoding.checks import check_known_ids, check_order, check_stop_value, check_value, unknown_parameter
from explorer.decoding.parameter import Parameter, ParamValue
from explorer.decoding.processors import ORDERS, PARAMETERS, STAGES_BY_NAME, Stage
from explorer.grammar.constraint import Constraint

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
    ``llama.cpp``) or a tuple of stage names. Every way of building one checks it (`SettingsError`) and drops values
    that are off.
    """

    values: Mapping[str, ParamValue] = field(default_factory=dict)
    order: str | tuple[str, ...] = "transformers"

    def __post_init__(self) -> None:
        checked = {}
        for name in sorted(self.values):
            value = check_value(_parameter(name), self.values[name])
            if value != PARAMETERS[name].off:
                checked[name] = value
        object.__setattr__(self, "values", checked)
        order = self.order if isinstance(self.order, str) else tuple(self.order)
        object.__setattr__(self, "order", check_order(order, {stage.name for stage in self._stages_on()}))

    @classmethod
    def make(cls, order: str | tuple[str, ...] = "transformers", **values: ParamValue) -> SamplingParams:
        """Parameters by name. Raises `SettingsError`."""
        return cls(values, order)

    def get(self, name: str) -> ParamValue:
        """The value of a parameter, its "off" where unset. Raises `SettingsError` for an unknown name."""
        return self.values.get(name, _parameter(name).off)

    def is_off(self, name: str) -> bool:
        """Whether a parameter switches its filter off. Raises `SettingsError` for an unknown name."""
        return _parameter(name).name not in self.values

    def runs(self, stage: Stage) -> bool:
        """Whether any parameter of ``stage`` is on."""
        return any(p.name in self.values for p in stage.parameters)

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages in the order in which they run, inactive ones included."""
        names = ORDERS[self.order] if isinstance(self.order, str) else self.order
        chain = [STAGES_BY_NAME[name] for name in names]
        return tuple(sorted(chain, key=lambda stage: self.runs(stage) and stage.runs_last(self)))

    def number(self, name: str) -> float:
        """The value of a float parameter."""
        return float(cast("float", self.get(name)))

    def whole(self, name: str) -> int:
        """The value of an int parameter."""
        return cast("int", self.get(name))

    def ids(self, name: str) -> tuple[int, ...]:
        """The value of an ids parameter."""
        return cast("tuple[int, ...]", self.get(name))

    def id_values(self, name: str) -> tuple[tuple[int, float], ...]:
        """The value of an id_values parameter."""
        return cast("tuple[tuple[int, float], ...]", self.get(name))

    def grammar(self, name: str = "grammar") -> Constraint | None:
        """The value of a grammar parameter; None where it is off."""
        return cast("Constraint | None", self.get(name))

    def with_values(self, **changes: ParamValue) -> SamplingParams:
        """A checked copy with some values changed; None or the off value unsets. Raises `SettingsError`."""
        return replace(self, values={**self.values, **changes})

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values: ``values`` (ids as lists, id_values as lists of pairs) and ``order``."""
        return {
            "values": {name: _plain(value) for name, value in self.values.items()},
            "order": _plain(self.order),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SamplingParams:
        """Inverse of `to_json`. Raises `SettingsError`."""
        return cls(dict(data.get("values", {})), data.get("order", "transformers"))

    def _stages_on(self) -> list[Stage]:
        return [stage for stage in STAGES_BY_NAME.values() if self.runs(stage)]


@dataclass(frozen=True, slots=True)
class StopParams:
    """When a path ends. ``eos_token_ids`` None means the model's own list; an empty tuple means none.

    Building one checks it (`SettingsError`).
    """

    max_new_tokens: int | None = None
    max_length: int | None = None
    stop_strings: tuple[str, ...] = ()
    eos_token_ids: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        for item in fields(self):
            object.__setattr__(self, item.name, check_stop_value(item.name, getattr(self, item.name)))


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything in force for a step. ``sources`` says where each set value came from (absent: "user")."""

    sampling: SamplingParams = field(default_factory=SamplingParams)
    stopping: StopParams = field(default_factory=StopParams)
    sources: Mapping[str, Source] = field(default_factory=dict)

    def with_sampling(self, source: Source = "user", **changes: ParamValue) -> Settings:
        """A copy with some values changed, their source noted. Raises `SettingsError`."""
        sampling = self.sampling.with_values(**changes)
        return replace(self, sampling=sampling, sources=self._sources(source, changes, set(sampling.values)))

    def with_stopping(self, source: Source = "user", **changes: Any) -> Settings:
        """A copy with some stop rules changed, their source noted. Raises `SettingsError`."""
        for name in changes:
            if name not in StopParams.__dataclass_fields__:
                raise unknown_parameter(name)
        stopping = replace(self.stopping, **changes)
        default = StopParams()
        in_force = {name for name in changes if getattr(stopping, name) != getattr(default, name)}
        return replace(self, stopping=stopping, sources=self._sources(source, changes, in_force))

    def with_order(self, order: str | tuple[str, ...]) -> Settings:
        """A copy with another order of the chain. Raises `SettingsError`."""
        return replace(self, sampling=replace(self.sampling, order=order))

    def with_whole_order(self) -> Settings:
        """A copy whose order has every stage: what an order of one's own leaves out stands before what follows it in
        transformers' order. One that was stored by an older version knows fewer stages than there are."""
        if isinstance(self.sampling.order, str):
            return self
        default, whole = ORDERS["transformers"], list(self.sampling.order)
        for place, name in enumerate(default):
            if name not in whole:
                following = next((later for later in default[place + 1 :] if later in whole), None)
                whole.insert(len(whole) if following is None else whole.index(following), name)
        return self.with_order(tuple(whole))

    def check_vocabulary(self, vocab_size: int) -> None:
        """Raise `SettingsError` where a setting names a token id beyond a vocabulary of ``vocab_size`` tokens."""
        for name, value in self.sampling.values.items():
            if PARAMETERS[name].kind in ("ids", "id_values"):
                check_known_ids(name, value, vocab_size)
        check_known_ids("eos_token_ids", self.stopping.eos_token_ids or (), vocab_size)

    def source(self, name: str) -> Source:
        """Where the value of a sampling parameter or stop rule came from; "off" where it is unset."""
        if name in StopParams.__dataclass_fields__:
            is_set = getattr(self.stopping, name) != getattr(StopParams(), name)
        else:
            is_set = not self.sampling.is_off(name)
        return self.sources.get(name, "user") if is_set else "off"

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values, everything in force and its sources."""
        return {
            "sampling": self.sampling.to_json(),
            "stopping": {item.name: _plain(getattr(self.stopping, item.name)) for item in fields(self.stopping)},
            "sources": dict(sorted(self.sources.items())),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Settings:
        """Inverse of `to_json`. Raises `SettingsError`."""
        stopping = dict(data.get("stopping", {}))
        for name in stopping:
            if name not in StopParams.__dataclass_fields__:
                raise unknown_parameter(name)
        return cls(
            SamplingParams.from_json(data.get("sampling", {})), StopParams(**stopping), dict(data.get("sources", {}))
        )

    def digest(self) -> str:
        """sha256 of the canonical JSON: equal settings, equal digests."""
        canonical = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(canonical.encode()).hexdigest()

    def _sources(self, source: Source, changes: Mapping[str, Any], in_force: set[str]) -> dict[str, Source]:
        kept = {name: value for name, value in self.sources.items() if name not in changes}
        return kept | {name: source for name in sorted(changes) if name in in_force}


def settings_from_generation_config(defaults: Mapping[str, Any]) -> Settings:
    """What a model's own generation config sets, with source "model"; what it does not set stays off.

    Where it says ``do_sample: false`` its temperature and truncation filters are not taken: generate() would not use
    them. Raises `SettingsError` where a value is out of range.
    """
    names = ["repetition_penalty", "no_repeat_ngram_size", "min_new_tokens"]
    if defaults.get("do_sample") is not False:
        names += ["temperature", "top_k", "top_p", "min_p", "typical_p", "epsilon_cutoff", "eta_cutoff"]
    sampling = {name: defaults[name] for name in names if defaults.get(name) is not None}
    stopping = {name: defaults[name] for name in ("max_new_tokens", "max_length") if defaults.get(name) is not None}
    return Settings().with_sampling("model", **sampling).with_stopping("model", **stopping)


def _parameter(name: str) -> Parameter:
    if name not in PARAMETERS:
        raise unknown_parameter(name)
    return PARAMETERS[name]


def _plain(value: Any) -> Any:
    return [_plain(item) for item in value] if isinstance(value, tuple) else value
