"""The settings of a beam search, named and meant as in transformers, and which filters take part in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from explorer.decoding.checks import check_value
from explorer.decoding.parameter import Parameter
from explorer.decoding.params import SamplingParams
from explorer.i18n import N_
from explorer.messages import SettingsError, UserMessage

EarlyStopping = bool | Literal["never"]

NUM_BEAMS: Final = Parameter(
    "num_beams",
    "int",
    4,
    N_("Beams"),
    N_("How many continuations are followed at once. 4 to 8 is usual; 1 follows the best one only."),
    minimum=1,
    maximum=256,
    soft_maximum=16,
)
NUM_RETURN: Final = Parameter(
    "num_return_sequences", "int", 1, N_("Results"), N_("How many of the best endings to give."), minimum=1, maximum=256
)
LENGTH_PENALTY: Final = Parameter(
    "length_penalty",
    "float",
    1.0,
    N_("Length penalty"),
    N_(
        "The score of an ending is its log-probability divided by its length to this power. Above 0 long endings gain, "
        "below 0 short ones do; 0 compares plain log-probabilities."
    ),
    minimum=-8.0,
    maximum=8.0,
    soft_maximum=2.0,
    step=0.1,
)

# transformers runs these in a beam search (a grammar as prefix_allowed_tokens_fn), and the two penalties of the same
# kind that it lacks; what reshapes or truncates a distribution to draw from (temperature, top-k, top-p ...) belongs to
# sampling.
_FILTERS: Final = frozenset(
    {
        "grammar",
        "logit_bias",
        "repetition_penalty",
        "presence_penalty",
        "frequency_penalty",
        "no_repeat_ngram",
        "ban",
        "min_new_tokens",
    }
)


@dataclass(frozen=True, slots=True)
class BeamSettings:
    """What `generate()` calls by the same names. Raises `SettingsError` where a value is out of range.

    ``early_stopping``: True ends with the ``num_beams``-th ending; False when the best live beam, at its present
    length, is no better than the worst of ``num_beams`` endings; "never" when it could not become better at any length.
    ``renormalize_logits`` makes what the filters leave sum to 1 again; off, masked mass stays lost.
    """

    num_beams: int = 4
    num_return_sequences: int = 1
    length_penalty: float = 1.0
    early_stopping: EarlyStopping = False
    renormalize_logits: bool = False

    def __post_init__(self) -> None:
        for parameter in (NUM_BEAMS, NUM_RETURN):
            object.__setattr__(self, parameter.name, check_value(parameter, getattr(self, parameter.name)))
        penalty = check_value(LENGTH_PENALTY, self.length_penalty)
        assert isinstance(penalty, int | float)
        object.__setattr__(self, "length_penalty", float(penalty))
        if self.num_return_sequences > self.num_beams:
            raise SettingsError(
                UserMessage(
                    code="settings.beams",
                    what=N_("{returned} results cannot come from {beams} beams."),
                    meaning=N_("Each beam gives one result at most; nothing was searched."),
                    action=N_("Ask for no more results than beams, or use more beams."),
                    params={"returned": self.num_return_sequences, "beams": self.num_beams},
                )
            )
        if not (isinstance(self.early_stopping, bool) or self.early_stopping == "never"):
            raise _not_among("early_stopping", self.early_stopping, "true, false, never")
        if not isinstance(self.renormalize_logits, bool):
            raise _not_among("renormalize_logits", self.renormalize_logits, "true, false")

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> BeamSettings:
        """Inverse of `to_json`. Raises `SettingsError`."""
        return cls(**data)


def beam_filters(sampling: SamplingParams) -> SamplingParams:
    """The filters that run in a beam search, in the order the settings give them."""
    stages = tuple(stage for stage in sampling.stages if stage.name in _FILTERS)
    names = {parameter.name for stage in stages for parameter in stage.parameters}
    values = {name: value for name, value in sampling.values.items() if name in names}
    return SamplingParams(values, tuple(stage.name for stage in stages))


def filters_left_out(sampling: SamplingParams) -> tuple[str, ...]:
    """Names of the filters that are on and that a beam search does not run, in the order of the chain."""
    return tuple(stage.name for stage in sampling.stages if stage.name not in _FILTERS and sampling.runs(stage))


def left_out_message(names: tuple[str, ...]) -> UserMessage:
    """Says which filters do not count."""
    return UserMessage(
        code="beam.filters",
        what=N_("A beam search does not use {names}."),
        meaning=N_("Filters made for drawing play no part in it, as in transformers; the others do."),
        params={"names": ", ".join(names)},
    )


def _not_among(name: str, value: object, choices: str) -> SettingsError:
    return SettingsError(
        UserMessage(
            code="settings.choice",
            what=N_("{parameter} cannot be {value}."),
            meaning=N_("The setting stays as it was."),
            action=N_("Choose one of: {choices}."),
            params={"parameter": name, "value": value, "choices": choices},
        )
    )
