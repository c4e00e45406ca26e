"""What a picture says of where it comes from: model, settings, seed, date, program."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from explorer import __version__
from explorer.decoding.params import SamplingParams, Settings
from explorer.decoding.processors import PARAMETERS
from explorer.export.document import SessionDocument
from explorer.i18n import listed, tr
from explorer.models.base import ModelInfo

_APART = "  ·  "
# Controls, halves of pairs, private and unassigned characters, and what turns the writing direction around.
_UNSHOWN = frozenset({"Cc", "Cs", "Co", "Cn"})
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where the tree of a picture comes from. ``settings`` and ``seed`` are those in force at the end."""

    model: str
    dtype: str
    device: str
    settings: Settings
    seed: int

    @classmethod
    def of_model(cls, model: ModelInfo, settings: Settings, seed: int) -> Provenance:
        environment = model.environment
        return cls(model.identity.name, environment.dtype, environment.device, settings, seed)

    @classmethod
    def of_document(cls, document: SessionDocument) -> Provenance:
        """Raises `SettingsError` where the document's settings are none."""
        environment = document.environment
        settings = Settings.from_json(document.settings[document.settings_now])
        return cls(str(document.model["name"]), environment["dtype"], environment["device"], settings, document.seed)


def stamp_lines(provenance: Provenance, day: date) -> list[str]:
    """The stamp in the current language: what made the tree, and what made the picture."""
    model = " ".join(printable(text) for text in (provenance.model, provenance.dtype, provenance.device) if text)
    made = (
        tr("Model: {model}").format(model=model),
        tr("Settings: {settings}").format(settings=settings_words(provenance.settings.sampling)),
        tr("Seed: {seed}").format(seed=provenance.seed),
    )
    program = tr("Token Tree Explorer {version}").format(version=__version__)
    return [_APART.join(made), _APART.join((program, day.isoformat()))]


def settings_words(sampling: SamplingParams) -> str:
    """The filters that are on, with their values, in the order they run where that is not the usual one."""
    if not sampling.values:
        return tr("every filter off")
    words = [_value_words(name, value) for name, value in sampling.values.items()]
    if sampling.order != "transformers":
        order = sampling.order if isinstance(sampling.order, str) else ", ".join(sampling.order)
        words.append(tr("order {order}").format(order=order))
    return listed(words)


def _value_words(name: str, value: Any) -> str:
    label = tr(PARAMETERS[name].label)
    if isinstance(value, (int, float)):
        return f"{label} {value:g}"
    if isinstance(value, (tuple, Mapping)):
        return tr("{label} of {count} tokens").format(label=label, count=len(value))
    return label


def printable(text: str) -> str:
    """``text`` in one line, with what has no shape written as its number."""
    return "".join(map(_printable, " ".join(text.split())))


def _printable(character: str) -> str:
    if unicodedata.category(character) not in _UNSHOWN and character not in _TURNING:
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
