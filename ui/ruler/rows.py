"""Which rulers stand under one another, what they are called, and how those the user keeps are remembered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from explorer.decoding.params import SamplingParams
from explorer.i18n import tr
from explorer.messages import SettingsError
from ui.explain.names import sampling_name

RowKind = Literal["now", "drawn", "plain", "lent", "kept"]

MOST_KEPT: Final = 12
_LONGEST_NAME: Final = 60


@dataclass(frozen=True, slots=True)
class KeptRuler:
    """Settings whose ruler the user wants to see beside others; ``name`` empty: named after what is set."""

    sampling: SamplingParams
    name: str = ""

    @property
    def title(self) -> str:
        return self.name or sampling_name(self.sampling)

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "sampling": self.sampling.to_json()}


@dataclass(frozen=True, slots=True)
class RowSpec:
    """One ruler: what it is, its title, its settings; ``place`` among the kept ones, -1 for the others."""

    kind: RowKind
    title: str
    sampling: SamplingParams
    place: int = -1


def kept_from_json(data: Sequence[Any]) -> tuple[KeptRuler, ...]:
    """Inverse of `KeptRuler.to_json` for a list; entries that cannot be read (any more) are left out."""
    kept = []
    for entry in data[:MOST_KEPT]:
        try:
            kept.append(KeptRuler(SamplingParams.from_json(entry["sampling"]), str(entry["name"])[:_LONGEST_NAME]))
        except (SettingsError, KeyError, TypeError, ValueError, AttributeError):
            continue
    return tuple(kept)


def row_specs(
    sampling: SamplingParams,
    kept: Iterable[KeptRuler],
    drawn: tuple[int, SamplingParams] | None = None,
    lent: Iterable[KeptRuler] = (),
) -> list[RowSpec]:
    """The rulers to show: of the settings in force, of those of the stored draw (its number and its settings) where
    they were others, of the model's own distribution, those a lesson lends, and those the user keeps."""
    rows = [RowSpec("now", tr("Now: {settings}").format(settings=sampling_name(sampling)), sampling)]
    if drawn is not None and drawn[1] != sampling:
        number, then = drawn
        title = tr("When #{number} was drawn: {settings}").format(number=number, settings=sampling_name(then))
        rows.append(RowSpec("drawn", title, then))
    lent = tuple(lent)
    if not lent or sampling != SamplingParams():  # what is lent needs the room
        rows.append(RowSpec("plain", tr("The model alone"), SamplingParams()))
    rows.extend(RowSpec("lent", ruler.title, ruler.sampling) for ruler in lent)
    rows.extend(RowSpec("kept", ruler.title, ruler.sampling, place) for place, ruler in enumerate(kept))
    return rows


def moved(kept: Sequence[KeptRuler], place: int, by: int) -> tuple[KeptRuler, ...]:
    """``kept`` with one ruler ``by`` places farther down (up where negative)."""
    rest = [ruler for at, ruler in enumerate(kept) if at != place]
    rest.insert(min(len(rest), max(0, place + by)), kept[place])
    return tuple(rest)
