"""Settings people often begin with. Each is editable and only a starting point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from explorer.decoding.parameter import ParamValue
from explorer.decoding.params import SamplingParams, Settings, Source
from explorer.i18n import N_
from explorer.messages import SettingsError


@dataclass(frozen=True, slots=True)
class Preset:
    """Filters that are on; all others are off. ``label`` is a msgid."""

    name: str
    label: str
    values: Mapping[str, ParamValue] = field(default_factory=dict)


PRESETS = (
    Preset("chat", N_("Chat: temperature 0.7, top-p 0.9"), {"temperature": 0.7, "top_p": 0.9}),
    Preset("creative", N_("Creative: temperature 0.9, top-p 0.95"), {"temperature": 0.9, "top_p": 0.95}),
    Preset("code", N_("Code: temperature 0.2, top-p 0.8"), {"temperature": 0.2, "top_p": 0.8}),
    Preset("extraction", N_("Extraction: greedy (temperature 0)"), {"temperature": 0.0}),
    Preset(
        "summary",
        N_("Translation, summary: no 3-gram twice, for a beam search of 4 to 6 (B)"),
        {"no_repeat_ngram_size": 3},
    ),
)


@dataclass(frozen=True, slots=True)
class OwnPreset:
    """Settings the user has given a name."""

    name: str
    settings: Settings

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "settings": self.settings.to_json()}

    @classmethod
    def from_json(cls, data: Any) -> OwnPreset | None:
        """Inverse of `to_json`; None for what this version cannot read."""
        try:
            return cls(str(data["name"]), Settings.from_json(data["settings"]))
        except (SettingsError, KeyError, TypeError, ValueError, AttributeError):
            return None

    def applied(self) -> Settings:
        """Its filters, order and stop rules, each with "preset" as its source; end tokens stay the model's."""
        names = [*self.settings.sampling.values, "max_new_tokens", "max_length", "stop_strings"]
        taken = Settings(self.settings.sampling, replace(self.settings.stopping, eos_token_ids=None))
        return replace(taken, sources={name: "preset" for name in names if taken.source(name) != "off"})


def apply_preset(settings: Settings, preset: Preset | None) -> Settings:
    """``settings`` with the preset's filters instead of their own (None: all off); order and stop rules stay."""
    values = dict(preset.values) if preset is not None else {}
    sampling = SamplingParams.make(settings.sampling.order, **values)
    stopping_names = ("max_new_tokens", "max_length", "stop_strings", "eos_token_ids")
    sources: dict[str, Source] = {n: s for n, s in settings.sources.items() if n in stopping_names}
    return replace(settings, sampling=sampling, sources={**sources, **dict.fromkeys(values, "preset")})
