"""A path of a session as a Python script that needs torch and transformers alone, and arrives at the same token ids.

Where generate() can reproduce the path it is used; else the script runs the same `LogitsProcessor` classes in the
session's own order, one step after the other, with the session's counter-based draws. Values are written with repr, so
floats come back to the bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Literal

from explorer.export import script_blocks as blocks
from explorer.export.document import finite
from explorer.export.script_filters import Filters, FilterSet, Option, beam_options, greedy_options, left_out
from explorer.export.script_model import (
    TEXT_OF_NEURAL,
    TEXT_OF_TABLE,
    import_section,
    model_section,
    next_logits,
    prompt_sections,
)
from explorer.export.script_path import ScriptPath
from explorer.export.script_text import comment, joined, literal
from explorer.export.whole_file import write_whole_file
from explorer.store.records import StepRecord

Form = Literal["generate", "beam search", "loop"]

_FORMS: Final[dict[Form, str]] = {
    "generate": "Every token was the best one under the same settings, so generate() does all of it.",
    "beam search": "The path is an ending of a beam search, which generate() repeats.",
    "loop": "Its steps are taken one by one: the filters in the session's own order, its own draws, and tokens that "
    "were chosen otherwise.",
}
_WHY_FORCED: Final = {
    "manual": "picked by hand",
    "beam": "found by a beam search",
    "expanded": "shown by an expansion",
    "given": "given",
}
_WAYS: Final = {
    "greedy": "greedy(apply(filters, ids, logits))",
    "drawn": "draw(apply(filters, ids, logits), seed, number)",
}
_HONEST: Final = (
    "Other versions, devices or numbers of threads round otherwise (some 1e-5 in a logit). Only a near tie, or a draw "
    "at the very edge of an interval, can turn out differently for that; the last assertion would say so."
)


@dataclass(frozen=True, slots=True)
class Script:
    """A finished script; ``form`` says how it arrives at the ids."""

    text: str
    form: Form


def python_script(path: ScriptPath) -> Script:
    """The script of a path. Pure: the model is not needed."""
    greedy = greedy_options(path)
    if greedy is not None:
        return _finished(path, "generate", [_generate_section(path, greedy), _end_section(path, "generated")])
    beam = beam_options(path) if any(step.how == "beam" for step in path.steps) else None
    if beam is None or path.beam is None:
        return _finished(path, "loop", _loop_sections(path, path.steps))
    before = path.steps[: path.beam.depth]
    sections = _loop_sections(path, before) if before else []
    return _finished(path, "beam search", [*sections, *_beam_sections(path, beam)])


def write_script(script: Script, file: Path) -> None:
    """Write a script to a file, whole or not at all. Raises `ExportError`."""

    def write(stream: BinaryIO) -> None:
        stream.write(script.text.encode("utf-8"))

    write_whole_file(file, write)


def _finished(path: ScriptPath, form: Form, body: Sequence[str]) -> Script:
    text_of = TEXT_OF_NEURAL if path.table is None else TEXT_OF_TABLE
    after_imports = [model_section(path), *prompt_sections(path), text_of, *body]
    imports = import_section(path, "\n".join(after_imports))
    return Script(joined([_head(path, form), imports, *after_imports]), form)


def _head(path: ScriptPath, form: Form) -> str:
    model, environment = path.model.identity, path.environment
    where = f"session {path.session}, " if path.session is not None else ""
    tokens = "1 token" if len(path.steps) == 1 else f"{len(path.steps)} tokens"
    versions = ", ".join(f"{name} {number}" for name, number in environment.versions.items())
    return "\n".join(
        comment(text)
        for text in (
            f"Token Tree Explorer, {where}node {path.node}: {tokens} after the prompt of {path.title!r}.",
            _FORMS[form] if path.steps else "There are no tokens yet: it shows what could come first.",
            f"Recorded with {model.name} in {environment.dtype} on {environment.device} ({environment.platform}; "
            f"threads: {environment.threads}; {versions}).",
            "It needs torch, numpy and transformers 5.24 or newer.",
            _HONEST,
        )
    )


# --- generate() -------------------------------------------------------------------------------------------------------


def _generate_section(path: ScriptPath, options: Sequence[Option]) -> str:
    unused = left_out(path.steps[-1].settings.sampling)
    note = (
        f" These filters are for drawing and do not change which token is best: {', '.join(unused)}." if unused else ""
    )
    return "\n".join(
        [
            comment(f"Everything that decides. The model's own generation config is put aside.{note}"),
            *_config_lines(options),
            "inputs = torch.tensor([PROMPT_IDS], device=model.device)",
            *_generate_call(path.steps[-1].settings.stopping.stop_strings, "output_logits=True"),
            "generated = output.sequences[0, len(PROMPT_IDS):].tolist()",
            "for token, logits in zip(generated, output.logits):",
            "    logprob = float(torch.log_softmax(logits[0].double(), dim=-1)[token])",
            '    print(f"{token:>7}  {logprob:9.4f}  {text_of(token)!r}")',
        ]
    )


def _config_lines(options: Sequence[Option]) -> list[str]:
    return ["model.generation_config = GenerationConfig(", *(option.source for option in options), ")"]


def _generate_call(stop_strings: Sequence[str], output: str) -> list[str]:
    tokenizer = ", tokenizer=tokenizer" if stop_strings else ""
    more = f"return_dict_in_generate=True, {output}{tokenizer}"
    return ["output = model.generate(", f"    inputs, attention_mask=torch.ones_like(inputs), {more}", ")"]


def _beam_sections(path: ScriptPath, options: Sequence[Option]) -> list[str]:
    beam = path.beam
    assert beam is not None  # its caller looked
    start = "ids" if beam.depth else "PROMPT_IDS"
    ends: list[int] = next((option.value for option in options if option.name == "eos_token_id"), [])
    search = "\n".join(
        [
            comment("The search. The model's own generation config is put aside."),
            *_config_lines(options),
            f"inputs = torch.tensor([{start}], device=model.device)",
            *_generate_call((), "output_scores=True"),
            f"ENDS = {literal(ends)}",
            "endings = []",
            f"found = output.sequences[:, len({start}):].tolist()",
            "for sequence, score in zip(found, output.sequences_scores.tolist()):",
            "    length = next((place + 1 for place, token in enumerate(sequence) if token in ENDS), len(sequence))",
            "    endings.append(sequence[:length])  # what follows an end token only fills up",
            '    print(f"{score:9.4f}  {sequence[:length]}  {text_of(*sequence[:length])!r}")',
        ]
    )
    ids = list(path.ids[beam.depth :])
    end = "\n".join(
        [
            comment(f"The path of the session: ending {beam.place + 1} of the search, score {beam.ending.score!r}."),
            f"PATH_IDS = {literal(ids)}",
            'assert PATH_IDS in endings, f"the search found other endings: {endings}"',
        ]
    )
    return [search, end]


# --- one step after the other -----------------------------------------------------------------------------------------


def _loop_sections(path: ScriptPath, steps: Sequence[StepRecord]) -> list[str]:
    filters = Filters(path)
    taken = [filters.of(step) for step in steps]
    hows: set[str] = {step.how for step, found in zip(steps, taken, strict=True) if found is not None}
    if not steps:
        now = filters.now()
        return [*_functions(path, [now], hows), now.source([]), blocks.NEXT.replace("FILTERS_NOW", now.name)]
    used = [one for one in filters.sets if one in taken]
    sections = _functions(path, used, hows)
    sections += [one.source([place for place, found in enumerate(taken, 1) if found is one]) for one in used]
    sections += [_steps_section(path, steps, taken, filters), _loop(hows, forced=None in taken)]
    if len(steps) == len(path.steps):
        sections.append(_end_section(path, "ids[len(PROMPT_IDS):]", "[step[0] for step in STEPS]"))
    return sections


def _functions(path: ScriptPath, used: Sequence[FilterSet], hows: set[str]) -> list[str]:
    """What the loop calls."""
    sections = [next_logits(path)]
    sections += [source for name, source in blocks.OWN_FILTERS.items() if any(name in one.own for one in used)]
    if path.environment.dtype != "float32" and any(one.sorts for one in used):
        sections += [blocks.STABLE_SORT, blocks.APPLY_STABLY]
    elif used:
        sections.append(blocks.APPLY)
    sections += [blocks.GREEDY] if "greedy" in hows else []
    sections += [blocks.DRAW] if "drawn" in hows else []
    return sections


def _steps_section(
    path: ScriptPath, steps: Sequence[StepRecord], taken: Sequence[FilterSet | None], filters: Filters
) -> str:
    lines = [
        comment(
            "A line a token: the id it must be, how it is chosen, by which filters, the seed and the number of its "
            "draw, and the log-probability that the model gave it in the session (nats)."
        ),
        "STEPS = [",
    ]
    for step, found, label in zip(steps, taken, path.labels, strict=False):
        chosen, note = (step.how, "") if found is not None else ("forced", f"; {_why_forced(step, filters)}")
        values = [
            repr(step.token_id),
            f'"{chosen}"',
            "None" if found is None else found.name,
            *((repr(step.seed), repr(step.draw_index)) if chosen == "drawn" else ("None", "None")),
            repr(finite(step.model_logprob)),
        ]
        lines.append(f"    ({', '.join(values)}),  # {label}{note}")
    return "\n".join([*lines, "]"])


def _why_forced(step: StepRecord, filters: Filters) -> str:
    if step.how == "drawn" and step.seed is None:
        return "drawn with a seed that was not recorded"
    known = _WHY_FORCED.get(step.how)
    return known if known is not None else f"chosen under {filters.why_not(step)}, which transformers does not have"


def _loop(hows: set[str], *, forced: bool) -> str:
    """The loop, with the ways of choosing that occur."""
    ways = [(how, f"picked = {source}") for how, source in _WAYS.items() if how in hows]
    if forced:
        ways.append(("", "picked = token  # not decided by the filters: the list says why"))
    if len(ways) == 1:
        return blocks.LOOP.replace("{choose}", ways[0][1])
    choose = []
    for place, (how, source) in enumerate(ways):
        choose.append(f'{"elif" if place else "if"} chosen == "{how}":' if how else "else:")
        choose.append(f"    {source}")
    return blocks.LOOP.replace("{choose}", "\n    ".join(choose))


def _end_section(path: ScriptPath, found: str, wanted: str | None = None) -> str:
    return "\n".join(
        [
            comment("The text, and the check that every token is the one of the session."),
            f"PATH_IDS = {literal(list(path.ids)) if wanted is None else wanted}",
            f"print(text_of(*{found}))",
            f'assert {found} == PATH_IDS, f"other tokens than in the session: {{{found}}}"',
            *(
                ['print(f"the same tokens; largest difference of a log-probability: {largest:.2g}")']
                if wanted is not None
                else ['print("the same tokens")']
            ),
        ]
    )
