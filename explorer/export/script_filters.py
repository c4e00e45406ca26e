"""The filters of a path as source: lists of transformers' processors, or the options of generate() that make them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from explorer.decoding.params import SamplingParams, Settings
from explorer.decoding.processors import Stage, StepContext
from explorer.export.script_blocks import OWN_FILTERS
from explorer.export.script_path import ScriptPath
from explorer.export.script_text import WIDTH, call, comment, literal
from explorer.proof.counterparts import Counterpart, counterpart, is_greedy_temperature
from explorer.search.beam_settings import beam_filters
from explorer.store.records import StepRecord

# What edits scores or takes tokens out by id, in the order of generate(), and its option there.
_OPTIONS: Final = {
    "logit_bias": "sequence_bias",
    "repetition_penalty": "repetition_penalty",
    "no_repeat_ngram": "no_repeat_ngram_size",
    "ban": "suppress_tokens",
    "min_new_tokens": "min_new_tokens",
}
_BANS: Final = frozenset({"no_repeat_ngram", "ban", "min_new_tokens"})
# Filters that never take the best token out, and leave it the best.
_KEEP_THE_BEST: Final = frozenset({"temperature", "top_n_sigma", "top_k", "top_p", "min_p", "epsilon", "eta"})
# Those that sort, and so meet ties.
_SORTING: Final = frozenset({"top_p", "typical"})


@dataclass(frozen=True, slots=True)
class Option:
    """One argument of GenerationConfig, with what it is for."""

    name: str
    value: Any
    why: str

    @property
    def source(self) -> str:
        line = f"    {self.name}={literal(self.value, '    ')},"
        beside = f"{line}  # {self.why}"
        return beside if len(beside) <= WIDTH and "\n" not in line else f"{comment(self.why, '    ')}\n{line}"


@dataclass(frozen=True, slots=True)
class FilterSet:
    """The filters of one settings. ``context`` knows the prompt and the end tokens."""

    name: str
    sampling: SamplingParams
    context: StepContext

    @property
    def stages(self) -> tuple[Stage, ...]:
        return tuple(stage for stage in self.sampling.stages if self.sampling.runs(stage))

    @property
    def own(self) -> frozenset[str]:
        """Keys of `OWN_FILTERS` that are needed."""
        return frozenset(stage.name for stage in self.stages if self._counterpart(stage) is None) & OWN_FILTERS.keys()

    @property
    def unknown(self) -> tuple[str, ...]:
        """Stages that no script can run."""
        lacking = (stage.name for stage in self.stages if self._counterpart(stage) is None)
        return tuple(name for name in lacking if name not in OWN_FILTERS)

    @property
    def sorts(self) -> bool:
        return any(stage.name in _SORTING for stage in self.stages)

    def source(self, tokens: Sequence[int]) -> str:
        """The list as an assignment; ``tokens`` are the places in the path, from 1 on, that were chosen under it."""
        where = f"Settings of {_places(tokens)}" if tokens else "The settings now"
        order = self.sampling.order if isinstance(self.sampling.order, str) else "one of your own"
        lines = [comment(f"{where}. Order of the filters: {order}.")]
        if self.unknown:
            lines.append(comment(f"Left out, for it is neither here nor in transformers: {', '.join(self.unknown)}."))
        known = [stage for stage in self.stages if stage.name not in self.unknown]
        if not known:
            return "\n".join([*lines, f"{self.name} = []  # none: the model's own distribution"])
        entries = [line for stage in known for line in (comment(stage.help, "    "), f"    {self._entry(stage)},")]
        return "\n".join([*lines, f"{self.name} = [", *entries, "]"])

    def _entry(self, stage: Stage) -> str:
        found = self._counterpart(stage)
        if found is not None:
            return call(f"processors.{found.name}", found.arguments)
        if is_greedy_temperature(stage, self.sampling):
            return "best_only"
        return f"{stage.name}({self.sampling.number(stage.parameters[0].name)!r})"

    def _counterpart(self, stage: Stage) -> Counterpart | None:
        return counterpart(stage, self.sampling, self.context)


class Filters:
    """Every settings of a path once, numbered in the order of their first use."""

    def __init__(self, path: ScriptPath) -> None:
        self._path = path
        self.sets: list[FilterSet] = []

    def now(self) -> FilterSet:
        """The filters in force at the end of the path."""
        return self._add(self._path.now)

    def of(self, step: StepRecord) -> FilterSet | None:
        """The filters that decided a step; None where the token was not decided by them, or they cannot be run."""
        if step.how not in ("greedy", "drawn") or (step.how == "drawn" and step.seed is None):
            return None
        found = self._add(step.settings)
        return None if found.unknown else found

    def why_not(self, step: StepRecord) -> str:
        """What a script cannot run of the settings of a greedy or drawn step."""
        return ", ".join(self._add(step.settings).unknown)

    def _add(self, settings: Settings) -> FilterSet:
        context = StepContext(self._path.prompt.ids, (), eos_token_ids(self._path, settings))
        for known in self.sets:
            if known.sampling == settings.sampling and known.context.eos_token_ids == context.eos_token_ids:
                return known
        self.sets.append(FilterSet(f"FILTERS_{len(self.sets) + 1}", settings.sampling, context))
        return self.sets[-1]


def eos_token_ids(path: ScriptPath, settings: Settings) -> tuple[int, ...]:
    """The ids that end a text under ``settings``."""
    own = settings.stopping.eos_token_ids
    return path.model.eos_token_ids if own is None else own


def greedy_options(path: ScriptPath) -> list[Option] | None:
    """How generate() reproduces a path that was greedy throughout; None where it cannot."""
    steps = path.steps
    if path.model.identity.kind != "transformers" or not steps or any(step.how != "greedy" for step in steps):
        return None
    settings = steps[-1].settings
    if any(_generates_alike(path, step.settings) != _generates_alike(path, settings) for step in steps):
        return None
    if not _best_stays(settings.sampling, steps) or _ends_early(path, settings):
        return None
    options = [Option("do_sample", False, "greedy: always the best token")]
    options.append(Option("max_new_tokens", len(steps), "the length of this path"))
    options += _stop_options(path, settings)
    return options + _filter_options(settings.sampling, 0)


def left_out(sampling: SamplingParams) -> tuple[str, ...]:
    """Labels of the active filters that a greedy generate() leaves out, since they keep the best token the best."""
    return tuple(s.label for s in sampling.stages if sampling.runs(s) and s.name in _KEEP_THE_BEST)


def _generates_alike(path: ScriptPath, settings: Settings) -> tuple[Any, ...]:
    """What of the settings generate() sees; how far a run may go does not matter to a path that is there."""
    return settings.sampling, eos_token_ids(path, settings), settings.stopping.stop_strings


def beam_options(path: ScriptPath) -> list[Option] | None:
    """How generate() repeats the beam search that found a path; None where it cannot."""
    beam = path.beam
    if beam is None or path.model.identity.kind != "transformers" or beam.settings.stopping.stop_strings:
        return None
    sampling = beam_filters(beam.settings.sampling)
    if not _edits_in_order(sampling):
        return None
    given = beam.beams
    returned = max(given.num_return_sequences, beam.place + 1)
    options = [
        Option("do_sample", False, "a beam search, nothing is drawn"),
        Option("num_beams", given.num_beams, "continuations followed at once"),
        Option("num_return_sequences", returned, "how many of the best endings to give"),
        Option("length_penalty", given.length_penalty, "score = sum of log-probabilities / length ** this"),
        Option("early_stopping", given.early_stopping, "when to be content with the endings found"),
        Option("max_new_tokens", _longest(path, beam.settings, beam.depth), "how far the limits of the session reach"),
    ]
    if given.renormalize_logits:
        options.append(Option("renormalize_logits", True, "what the filters leave sums to 1 again"))
    return options + _stop_options(path, beam.settings) + _filter_options(sampling, beam.depth)


def _stop_options(path: ScriptPath, settings: Settings) -> list[Option]:
    ends = eos_token_ids(path, settings)
    options = []
    if ends:
        options.append(Option("eos_token_id", list(ends), "what ends a text"))
        options.append(Option("pad_token_id", ends[0], "fills up what ended earlier; never read"))
    if settings.stopping.stop_strings:
        options.append(Option("stop_strings", list(settings.stopping.stop_strings), "texts that end the text"))
    return options


def _filter_options(sampling: SamplingParams, depth: int) -> list[Option]:
    """``depth`` tokens were generated before generate() begins to count."""
    options = []
    for stage in sampling.stages:
        if not sampling.runs(stage) or stage.name not in _OPTIONS:
            continue
        value: Any = sampling.get(stage.parameters[0].name)
        if stage.name == "logit_bias":
            value = [[[token_id], bias] for token_id, bias in sampling.id_values("logit_bias")]
        elif stage.name == "ban":
            value = list(sampling.ids("ban"))
        elif stage.name == "min_new_tokens":
            value = max(0, sampling.whole("min_new_tokens") - depth)
        options.append(Option(_OPTIONS[stage.name], value, stage.help[0].lower() + stage.help[1:].rstrip(".")))
    return options


def _best_stays(sampling: SamplingParams, steps: Sequence[StepRecord]) -> bool:
    """Whether generate(do_sample=False), which leaves out the filters made for drawing, takes the same tokens.

    Dividing may make two neighbours equal, and the lower id wins then: where a temperature is on, only steps to the
    model's own best token are sure.
    """
    names = [stage.name for stage in sampling.stages if sampling.runs(stage)]
    edits = [name for name in names if name in _OPTIONS]
    if not set(names) <= _OPTIONS.keys() | _KEEP_THE_BEST or names[: len(edits)] != edits:
        return False
    if "temperature" in names and sampling.number("temperature") != 0 and (edits or any(s.rank != 1 for s in steps)):
        return False
    return _edits_in_order(sampling)


def _edits_in_order(sampling: SamplingParams) -> bool:
    """Whether all active filters but those for drawing are options of generate(), in its order. Bans commute."""
    names = [stage.name for stage in sampling.stages if sampling.runs(stage) and stage.name not in _KEEP_THE_BEST]
    ordered = [name for name in _OPTIONS if name in names and name not in _BANS]
    return set(names) <= _OPTIONS.keys() and [name for name in names if name not in _BANS] == ordered


def _ends_early(path: ScriptPath, settings: Settings) -> bool:
    """Whether the path goes on past an end that generate() would stop at, or a stop string reaches into the prompt."""
    if set(path.ids[:-1]) & set(eos_token_ids(path, settings)):
        return True
    text = path.prompt.text + "".join(path.texts[:-1])
    begin = len(path.prompt.text)
    return any(text.find(stop, max(0, begin - len(stop) + 1)) >= 0 for stop in settings.stopping.stop_strings)


def _longest(path: ScriptPath, settings: Settings, depth: int) -> int:
    """How many tokens the limits allow after ``depth`` generated ones; a full window yields one more token."""
    rules, prompt = settings.stopping, len(path.prompt.ids)
    limit = path.model.context_length + 1 - prompt
    if rules.max_new_tokens is not None:
        limit = min(limit, rules.max_new_tokens)
    elif rules.max_length is not None:
        limit = min(limit, rules.max_length - prompt)
    return max(1, limit - depth)


def _places(tokens: Sequence[int]) -> str:
    """``token 3``, ``tokens 1 to 5``, ``tokens 1 to 3, 7``: places in the path, rising."""
    runs: list[list[int]] = []
    for place in tokens:
        if runs and runs[-1][-1] == place - 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    parts = [f"{run[0]} to {run[-1]}" if len(run) > 1 else str(run[0]) for run in runs]
    return f"{'tokens' if len(tokens) > 1 else 'token'} {', '.join(parts)}"
