"""What a text on its way is known to suffer from: said where it shows, with where to read more."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from explorer.decoding.advice import Advice
from explorer.decoding.params import Settings
from explorer.i18n import N_

_CUTS: Final = frozenset({"max_new_tokens", "max_length", "context_window"})
_ENDS: Final = tuple(".!?…。！？”\"'）)」』\n")
_QUESTION: Final = ("?", "？")
_LONGEST_PERIOD: Final = 32
_TIMES: Final = 3
_FEWEST: Final = 6  # tokens that repeat; fewer are a rhythm, not a loop


@dataclass(frozen=True, slots=True)
class TextCase:
    """A path and where it stands.

    ``text`` is what was generated; ``stop`` the kind of stop event there, empty where nothing stopped it; ``specials``
    the labels of control tokens in the generated text, the one that ended it left out; ``kept`` how many candidates
    the settings leave, None where that is not known.
    """

    settings: Settings
    prompt_kind: str
    prompt_text: str
    has_template: bool
    generated_ids: Sequence[int]
    text: str
    stop: str = ""
    specials: Sequence[str] = ()
    kept: int | None = None


def text_advice(case: TextCase) -> tuple[Advice, ...]:
    """What to know about a text. Pure, and quick: it is asked for at every step."""
    return tuple(found for rule in _RULES for found in rule(case))


def loop_period(ids: Sequence[int]) -> int:
    """The length of what the end of ``ids`` repeats at least three times, six tokens in all or more; 0: nothing."""
    for period in range(1, min(_LONGEST_PERIOD, len(ids) // _TIMES) + 1):
        length = period * max(_TIMES, -(-_FEWEST // period))
        tail = list(ids[-length:])
        if len(tail) == length and all(tail[at] == tail[at - period] for at in range(period, length)):
            return period
    return 0


def _empty(case: TextCase) -> Iterator[Advice]:
    if case.stop in _CUTS and not case.generated_ids:
        yield Advice(
            "empty",
            N_("Nothing was generated: the limits leave no room after this prompt."),
            "nothing",
            ("max_new_tokens", "max_length"),
        )


def _loop(case: TextCase) -> Iterator[Advice]:
    if loop_period(case.generated_ids):
        yield Advice(
            "loop",
            N_("The text repeats itself. Drawing at a higher temperature or a light repetition penalty breaks loops."),
            "repeats",
            ("temperature", "repetition_penalty"),
        )


def _cut(case: TextCase) -> Iterator[Advice]:
    if case.stop in _CUTS and case.generated_ids and not case.text.rstrip(" ").endswith(_ENDS):
        yield Advice(
            "cut",
            N_("The text was cut in the middle of a sentence by a limit."),
            "cut",
            ("max_new_tokens", "max_length"),
        )


def _template(case: TextCase) -> Iterator[Advice]:
    asks = case.prompt_text.rstrip().endswith(_QUESTION)
    if case.has_template and case.prompt_kind == "raw" and asks:
        yield Advice(
            "no_template",
            N_("This model was made for chat, and the question stands there without its chat template."),
            "template",
            (),
        )


def _specials(case: TextCase) -> Iterator[Advice]:
    if case.specials:
        yield Advice(
            "specials", N_("Control tokens stand in the text: {tokens}."), "specials", (),
            {"tokens": ", ".join(dict.fromkeys(case.specials))},
        )  # fmt: skip


def _alone(case: TextCase) -> Iterator[Advice]:
    values = case.settings.sampling.values
    if case.kept == 1 and "temperature" in values and values["temperature"] not in (0, 1):
        yield Advice(
            "alone",
            N_("One candidate is left here: the temperature has no effect."),
            "no_effect",
            ("temperature",),
        )


_RULES: Final[tuple[Callable[[TextCase], Iterator[Advice]], ...]] = (_empty, _loop, _cut, _template, _specials, _alone)
