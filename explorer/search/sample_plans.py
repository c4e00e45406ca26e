"""What sampled runs are asked to do: frozen, checked values."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

from explorer.decoding.checks import check_value
from explorer.decoding.choice import MAX_SEED
from explorer.decoding.parameter import Parameter
from explorer.i18n import N_

MOST_RUNS: Final = 1000

RUNS: Final = Parameter(
    "runs",
    "int",
    1,
    N_("Runs"),
    N_("How many texts to draw. Each has a seed of its own."),
    minimum=1,
    maximum=MOST_RUNS,
    soft_maximum=100,
)
SEED: Final = Parameter(
    "seed",
    "int",
    0,
    N_("First seed"),
    N_("The first run draws with this seed, each further one with the next. The same seeds give the same texts."),
    minimum=0,
    maximum=MAX_SEED,
)
LENGTH: Final = Parameter(
    "length",
    "int",
    None,
    N_("Tokens at most"),
    N_("Each run stops after so many tokens, where no stop rule ended it before."),
    minimum=1,
)


@dataclass(frozen=True, slots=True)
class SamplePlan:
    """``runs`` texts drawn from one node, each of at most ``length`` tokens (None: until a stop rule ends it).

    Run k, counted from 0, is the single run that draws with `seed_of` (k) from draw index 0 on. Raises `SettingsError`
    where a value is out of range.
    """

    runs: int
    seed: int = 0
    length: int | None = None

    def __post_init__(self) -> None:
        for parameter in (RUNS, SEED, LENGTH):
            object.__setattr__(self, parameter.name, check_value(parameter, getattr(self, parameter.name)))

    def seed_of(self, number: int) -> int:
        """The seed of a run: the seeds count on, and go on with 0 after the largest."""
        return (self.seed + number) % (MAX_SEED + 1)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> SamplePlan:
        """Inverse of `to_json`."""
        return cls(**data)
