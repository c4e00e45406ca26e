"""Settings that are known to bite, alone or together: said before they do, with where to read more."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from explorer.decoding.params import SamplingParams, Settings, StopParams
from explorer.i18n import N_, listed, tr

# Filters that change nothing where the best token is taken anyway: they never remove it.
_NEVER_THE_BEST: Final = ("top_k", "top_p", "min_p", "top_n_sigma", "epsilon_cutoff", "eta_cutoff")
_TRUNCATING: Final = (*_NEVER_THE_BEST, "typical_p")
_HOT: Final = 1.3
_HEAVY_PENALTY: Final = 1.5
_BAN: Final = -50.0  # a bias below this is a ban in all but name


@dataclass(frozen=True, slots=True)
class Advice:
    """``code`` is stable; ``text`` a msgid filled with ``params``; ``page`` names an entry of the troubleshooting page;
    ``names`` are the settings it is about."""

    code: str
    text: str
    page: str
    names: tuple[str, ...]
    params: Mapping[str, Any] = field(default_factory=dict)

    def sentence(self) -> str:
        """The advice in the current language."""
        return tr(self.text).format(**self.params)


@dataclass(frozen=True, slots=True)
class _Case:
    settings: Settings
    prompt_ids: tuple[int, ...]
    eos_token_ids: tuple[int, ...]
    label_of: Callable[[str], str]

    @property
    def sampling(self) -> SamplingParams:
        return self.settings.sampling

    @property
    def stopping(self) -> StopParams:
        return self.settings.stopping

    @property
    def ends(self) -> tuple[int, ...]:
        """The ids that end a text under these settings."""
        own = self.stopping.eos_token_ids
        return self.eos_token_ids if own is None else own

    def on(self, *names: str) -> tuple[str, ...]:
        return tuple(name for name in names if name in self.sampling.values)

    def labels(self, names: Sequence[str]) -> str:
        return listed([self.label_of(name) for name in names])


def advice(
    settings: Settings,
    *,
    prompt_ids: tuple[int, ...] = (),
    eos_token_ids: tuple[int, ...] = (),
    label_of: Callable[[str], str] = str,
) -> tuple[Advice, ...]:
    """What to know about ``settings`` with this prompt, for a model with these end tokens. Pure.

    ``label_of`` gives the name of a parameter as people read it.
    """
    case = _Case(settings, prompt_ids, eos_token_ids, label_of)
    return tuple(found for rule in _RULES for found in rule(case))


def _greedy(case: _Case) -> Iterator[Advice]:
    sampling = case.sampling
    cold = "temperature" in sampling.values and sampling.number("temperature") == 0
    alone = "top_k" in sampling.values and sampling.whole("top_k") == 1
    if cold and (idle := case.on(*_NEVER_THE_BEST)):
        yield Advice(
            "temperature_0",
            N_("At temperature 0 the best token is always taken: {names} cannot change that."),
            "no_effect",
            ("temperature", *idle),
            {"names": case.labels(idle)},
        )
    elif alone and not cold:
        yield Advice(
            "top_k_1",
            N_("Top-k 1 leaves one token: every draw takes it, whatever temperature and seed are."),
            "no_effect",
            ("top_k",),
        )


def _hot(case: _Case) -> Iterator[Advice]:
    sampling = case.sampling
    if "temperature" not in sampling.values or sampling.number("temperature") < _HOT:
        return
    if not case.on(*_TRUNCATING):
        yield Advice(
            "hot",
            N_("At this temperature nothing keeps out the long tail of unlikely tokens."),
            "unlikely",
            ("temperature",),
        )
    elif sampling.order == "transformers" and (after := case.on("top_p", "min_p")):
        yield Advice(
            "hot_first",
            N_("In this order the temperature flattens first and {names} keeps more than at temperature 1."),
            "unlikely",
            ("temperature", *after),
            {"names": case.labels(after)},
        )


def _end_token(case: _Case) -> Iterator[Advice]:
    """C09 and its kin: what keeps a text from ending."""
    sampling, ends = case.sampling, set(case.ends)
    if not ends:
        if case.eos_token_ids:
            yield Advice(
                "no_end", N_("No end token is in force: only a limit or a stop text ends the text."), "endless", ()
            )
        return
    spoken = bool(ends & set(case.prompt_ids))
    if spoken and "no_repeat_ngram_size" in sampling.values and sampling.whole("no_repeat_ngram_size") == 1:
        yield Advice(
            "end_banned",
            N_("The end token stands in the prompt, so forbidding repeated tokens forbids it: the text cannot end."),
            "endless",
            ("no_repeat_ngram_size",),
        )
    elif spoken and "repetition_penalty" in sampling.values and sampling.number("repetition_penalty") > 1:
        yield Advice(
            "end_penalised",
            N_("The end token stands in the prompt, so the repetition penalty makes it less likely: texts get longer."),
            "endless",
            ("repetition_penalty",),
        )
    banned = set(sampling.ids("ban")) if "ban" in sampling.values else set()
    if "logit_bias" in sampling.values:
        banned |= {token for token, bias in sampling.id_values("logit_bias") if bias < _BAN}
    if ends <= banned:
        yield Advice("end_taken", N_("Every end token is banned: the text cannot end by itself."), "endless", ("ban",))


def _limits(case: _Case) -> Iterator[Advice]:
    """C25: which limit holds, and where none leaves room."""
    stopping, length = case.stopping, len(case.prompt_ids)
    if stopping.max_new_tokens is not None and stopping.max_length is not None:
        yield Advice(
            "two_limits",
            N_("Both limits are set: that of new tokens holds, that of all tokens is not looked at."),
            "nothing",
            ("max_new_tokens", "max_length"),
        )
    elif stopping.max_length is not None and stopping.max_length <= length:
        yield Advice(
            "no_room",
            N_("The prompt has {length} tokens already: a limit of {limit} in all leaves no room for one more."),
            "nothing",
            ("max_length",),
            {"length": length, "limit": stopping.max_length},
        )
    elif stopping.max_new_tokens == 0:
        yield Advice("none", N_("A limit of 0 new tokens allows none."), "nothing", ("max_new_tokens",))
    least = case.sampling.whole("min_new_tokens") if "min_new_tokens" in case.sampling.values else 0
    if stopping.max_new_tokens is not None and 0 < stopping.max_new_tokens <= least:
        yield Advice(
            "least_is_most",
            N_("The end token is kept out up to the limit: every text is cut."),
            "endless",
            ("min_new_tokens", "max_new_tokens"),
        )


def _heavy(case: _Case) -> Iterator[Advice]:
    sampling = case.sampling
    if "repetition_penalty" in sampling.values and sampling.number("repetition_penalty") >= _HEAVY_PENALTY:
        yield Advice(
            "heavy_penalty",
            N_("So high a repetition penalty also drives out words that a sentence needs; 1.05 to 1.2 is usual."),
            "repeats",
            ("repetition_penalty",),
        )
    both = case.on("repetition_penalty", "presence_penalty", "frequency_penalty", "no_repeat_ngram_size")
    if len(both) > 1:
        yield Advice(
            "penalties_add",
            N_("{names} work on the same tokens and add up. Change one at a time to see what each does."),
            "repeats",
            both,
            {"names": case.labels(both)},
        )


def _grammar(case: _Case) -> Iterator[Advice]:
    if case.sampling.grammar() is None:
        return
    tight = case.on(*_TRUNCATING)
    if tight:
        yield Advice(
            "grammar_and_filters",
            N_("A grammar leaves few tokens; {names} may then leave an unlikely one or none beside it."),
            "no_tokens",
            ("grammar", *tight),
            {"names": case.labels(tight)},
        )


_RULES: Final[tuple[Callable[[_Case], Iterator[Advice]], ...]] = (_greedy, _hot, _end_token, _limits, _heavy, _grammar)
