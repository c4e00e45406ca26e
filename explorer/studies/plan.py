"""What a study is asked to do: frozen, checked values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from explorer.decoding.params import Settings
from explorer.i18n import N_
from explorer.messages import SettingsError, UserMessage
from explorer.search.sample_plans import SamplePlan
from explorer.studies.checks import TextCheck

MOST_CONFIGURATIONS: Final = 8  # as many colours can be told apart; more comparisons would hardly show anything
BLOCK: Final = 100  # runs of a configuration before the others have theirs: what comes of a study is there soon


@dataclass(frozen=True, slots=True)
class Configuration:
    """Settings under the name that the study calls them by."""

    name: str
    settings: Settings

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "settings": self.settings.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Configuration:
        """Inverse of `to_json`. Raises KeyError or `SettingsError`."""
        return cls(str(data["name"]), Settings.from_json(data["settings"]))


@dataclass(frozen=True, slots=True)
class StudyPlan:
    """As many runs under each configuration, from one node, with the same seeds: run k of all of them draws with the
    same numbers. ``check`` is asked of every text. Raises `SettingsError` where it is no study.
    """

    configurations: tuple[Configuration, ...]
    sample: SamplePlan
    check: TextCheck | None = None

    def __post_init__(self) -> None:
        names = [one.name for one in self.configurations]
        if not 1 <= len(names) <= MOST_CONFIGURATIONS:
            raise _refused(N_("A study has 1 to {most} configurations, not {count}."), count=len(names))
        if not all(name.strip() for name in names) or len(set(names)) < len(names):
            raise _refused(N_("Every configuration of a study needs a name of its own."))

    @property
    def runs(self) -> int:
        """Of each configuration."""
        return self.sample.runs

    def blocks(self) -> Iterator[tuple[int, range]]:
        """A configuration's place and run numbers, in the order in which they are drawn."""
        for first in range(0, self.runs, BLOCK):
            for place in range(len(self.configurations)):
                yield place, range(first, min(first + BLOCK, self.runs))

    def to_json(self) -> dict[str, Any]:
        return {
            "configurations": [one.to_json() for one in self.configurations],
            "sample": self.sample.to_json(),
            "check": None if self.check is None else self.check.to_json(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> StudyPlan:
        """Inverse of `to_json`. Raises KeyError, TypeError or `SettingsError`."""
        return cls(
            tuple(Configuration.from_json(one) for one in data["configurations"]),
            SamplePlan.from_json(data["sample"]),
            None if data["check"] is None else TextCheck.from_json(data["check"]),
        )


def _refused(what: str, **params: Any) -> SettingsError:
    return SettingsError(
        UserMessage(
            "statistics.plan",
            what,
            N_("Nothing was drawn."),
            N_("Change the list of configurations."),
            {"most": MOST_CONFIGURATIONS, **params},
        )
    )
