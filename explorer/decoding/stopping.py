"""When a path ends, and what its end does and does not mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

from explorer.decoding.params import StopParams
from explorer.decoding.processors import STAGES_BY_NAME
from explorer.grammar.facts import GrammarFacts
from explorer.grammar.words import problem_texts, with_grammar
from explorer.i18n import N_, tr
from explorer.messages import ExplorerError, UserMessage

StopKind = Literal[
    "eos",
    "max_new_tokens",
    "max_length",
    "stop_string",
    "grammar_end",
    "context_window",
    "no_candidates",
    "cancelled",
    "error",
]


@dataclass(frozen=True, slots=True)
class StopEvent:
    """Why generation ended at a node. ``particulars`` are plain JSON values; ``step`` (tokens generated) always, and
    where a grammar was in force ``grammar`` (`GrammarFacts.to_json`)."""

    kind: StopKind
    particulars: Mapping[str, Any] = field(default_factory=dict)

    def explanation(self) -> UserMessage:
        """What happened, what it does and does not mean, what to do."""
        what, meaning, action = _explain(self)
        params = dict(self.particulars)
        if params.get("stage") in STAGES_BY_NAME:
            params["stage"] = tr(STAGES_BY_NAME[params["stage"]].label)
        grammar = params.pop("grammar", None)
        if grammar is not None:
            params |= {**grammar, "problems": problem_texts(grammar["problems"])}
        return UserMessage(code=f"stop.{self.kind}", what=what, meaning=meaning, action=action, params=params)

    def to_json(self) -> dict[str, Any]:
        """``kind`` and the particulars beside it."""
        return {"kind": self.kind, **self.particulars}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> StopEvent:
        """Inverse of `to_json`. Raises ValueError on an unknown kind."""
        particulars = dict(data)
        kind = particulars.pop("kind", None)
        if kind not in get_args(StopKind):
            raise ValueError(f"unknown stop event: {kind}")
        return cls(kind, particulars)


@dataclass(frozen=True, slots=True)
class StopPath:
    """What the rules look at. ``text`` decodes ``generated_ids``; ``previous_text`` decodes all but the last of them,
    so that a stop string counts where it is completed and not again below (empty: anywhere in the text counts).
    ``eos_token_ids`` are the model's own, ``stopping`` may replace them. ``grammar`` says where a grammar in force
    stands. Lengths in tokens."""

    prompt_length: int
    generated_ids: tuple[int, ...]
    text: str
    eos_token_ids: tuple[int, ...]
    context_length: int
    stopping: StopParams
    previous_text: str = ""
    grammar: GrammarFacts | None = None


def check_stop(path: StopPath) -> StopEvent | None:
    """The rule that ends generation at this path, None where it may go on.

    What the text says comes first (end token, stop string, end of the grammar), then the limits: max_new_tokens, which
    overrules max_length, then the context window. A window of n positions holds n tokens and yields one more after the
    last. Under a grammar every event says whether the text is a complete document.
    """
    event = _end_token(path) or _stop_string(path) or _grammar_end(path) or _limit(path) or _context_window(path)
    if event is None or path.grammar is None:
        return event
    return StopEvent(event.kind, {**event.particulars, "grammar": path.grammar.to_json()})


def checked_text(text: str, event: StopEvent | None) -> str:
    """``text`` cut before the stop string where one ended it."""
    if event is None or event.kind != "stop_string":
        return text
    return text[: event.particulars["offset"]]


def no_candidates_event(stage: str | None, step: int, grammar: GrammarFacts | None = None) -> StopEvent:
    """Every token was blocked; ``stage`` blocked the last. Where that was the grammar, ``grammar`` says why."""
    particulars: dict[str, Any] = {"step": step, "stage": stage}
    if stage == "grammar" and grammar is not None:
        particulars["grammar"] = grammar.to_json()
    return StopEvent("no_candidates", particulars)


def cancelled_event(step: int) -> StopEvent:
    """The user cancelled after ``step`` tokens."""
    return StopEvent("cancelled", {"step": step})


def error_event(error: ExplorerError, step: int) -> StopEvent:
    """A step failed; the particulars keep the error's code and its text in the current language."""
    return StopEvent("error", {"step": step, "code": error.message.code, "message": error.message.text()})


def _end_token(path: StopPath) -> StopEvent | None:
    own = path.stopping.eos_token_ids
    ends = path.eos_token_ids if own is None else own
    if not path.generated_ids or path.generated_ids[-1] not in ends:
        return None
    return StopEvent("eos", {"step": len(path.generated_ids), "token_id": path.generated_ids[-1]})


def _stop_string(path: StopPath) -> StopEvent | None:
    """The stop string that begins first among those the last token completed."""
    known = _common_prefix(path.previous_text, path.text)
    found = []
    for order, stop in enumerate(path.stopping.stop_strings):
        offset = path.text.find(stop, max(0, known - len(stop) + 1))
        if offset >= 0:
            found.append((offset, order, stop))
    if not found:
        return None
    offset, _, stop = min(found)
    return StopEvent("stop_string", {"step": len(path.generated_ids), "string": stop, "offset": offset})


def _common_prefix(first: str, second: str) -> int:
    """How many characters both begin with: a half character at the end is rewritten by the token that completes it."""
    if second.startswith(first):
        return len(first)
    differences = (i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b)
    return next(differences, len(second))


def _grammar_end(path: StopPath) -> StopEvent | None:
    """The document is complete, and only an end token could follow."""
    if path.grammar is None or path.grammar.status != "ended":
        return None
    return StopEvent("grammar_end", {"step": len(path.generated_ids)})


def _limit(path: StopPath) -> StopEvent | None:
    rules, step = path.stopping, len(path.generated_ids)
    if rules.max_new_tokens is not None:
        if step < rules.max_new_tokens:
            return None
        particulars = {"step": step, "limit": rules.max_new_tokens}
        return StopEvent("max_new_tokens", particulars | {"ignored_max_length": rules.max_length})
    if rules.max_length is None or path.prompt_length + step < rules.max_length:
        return None
    return StopEvent("max_length", {"step": step, "limit": rules.max_length, "prompt_length": path.prompt_length})


def _context_window(path: StopPath) -> StopEvent | None:
    step = len(path.generated_ids)
    if path.prompt_length + step <= path.context_length:
        return None
    return StopEvent(
        "context_window", {"step": step, "limit": path.context_length, "prompt_length": path.prompt_length}
    )


_TEXTS: Final[Mapping[str, tuple[str, str, str]]] = {
    "eos": (
        N_("The model ended its text itself with end token {token_id} after {step} tokens."),
        N_("It predicts that a text like this ends here; that does not mean that the answer is right or complete."),
        N_("Take the step past the end, or go back and choose another token."),
    ),
    "stop_string": (
        N_("The stop text “{string}” appeared in the generated text."),
        N_(
            "You asked to stop there; the model itself did not end. The token that completed it stays whole in the "
            "tree."
        ),
        N_("Remove the stop text or step past it to go on."),
    ),
    "max_new_tokens": (
        N_("The limit of {limit} new tokens is reached."),
        N_("The text was cut; the model did not end it, and it may stop in mid-sentence."),
        N_("Raise the limit for new tokens, or step past it."),
    ),
    "max_length": (
        N_("The total length of {limit} tokens is reached: {prompt_length} of the prompt, {step} generated."),
        N_("The text was cut; the model did not end it, and it may stop in mid-sentence."),
        N_("Raise the total length, or set a limit for new tokens instead, which leaves the prompt out."),
    ),
    "grammar_end": (
        N_("The document is complete after {step} tokens: the grammar allows nothing more."),
        N_("A grammar cannot promise that the content is true or useful."),
        N_("Take the step past the end to draw the end token, or go back and choose another token."),
    ),
    "context_window": (
        N_("The context window is full: {limit} tokens, {prompt_length} of them the prompt."),
        N_("The model cannot read further; the text was cut, the model did not end it."),
        N_("Shorten the prompt, or go back and take another branch."),
    ),
    "no_candidates": (
        N_("No token is left to choose from: {stage} took the last one."),
        N_("Your filters contradict each other at this step; the model itself does offer tokens."),
        N_("Relax or switch off that filter, or pick a token by hand."),
    ),
    "cancelled": (
        N_("You stopped the run after {step} tokens."),
        N_("Everything finished until then is kept; the model did not end the text."),
        N_("Go on whenever you like."),
    ),
    "error": (
        N_("The step after {step} tokens failed: {message}"),
        N_("Everything finished before is kept; the text is not complete."),
        N_("Put the cause right, then take the step again."),
    ),
}

_ZERO_NEW_TOKENS: Final = (
    N_("The limit of new tokens is 0, so nothing was generated."),
    N_("Generation never began; this says nothing about the model."),
    N_("Raise the limit for new tokens."),
)
_PROMPT_FILLS_LENGTH: Final = (
    N_("The prompt has {prompt_length} tokens and the total length is limited to {limit}, so nothing was generated."),
    N_("The total length counts the prompt; generation never began."),
    N_("Raise the total length above {prompt_length}, or set a limit for new tokens instead."),
)
_LENGTH_OVERRULED: Final = (
    N_("The limit of {limit} new tokens is reached; it overrules the total length of {ignored_max_length}."),
    *_TEXTS["max_new_tokens"][1:],
)
_PROMPT_TOO_LONG: Final = (
    N_("The prompt has {prompt_length} tokens and the model reads {limit}, so nothing was generated."),
    N_("A longer prompt would have to be cut, and that is never done silently."),
    N_("Shorten the prompt, or open a model with a larger context window."),
)


def _explain(event: StopEvent) -> tuple[str, str, str]:
    grammar = event.particulars.get("grammar")
    if grammar is None:
        return _explain_rule(event)
    return with_grammar(event.kind, event.particulars.get("step", 0), _explain_rule(event), grammar)


def _explain_rule(event: StopEvent) -> tuple[str, str, str]:
    first = event.particulars.get("step") == 0
    if event.kind == "max_new_tokens":
        if first:
            return _ZERO_NEW_TOKENS
        overruled = event.particulars.get("ignored_max_length") is not None
        return _LENGTH_OVERRULED if overruled else _TEXTS["max_new_tokens"]
    if event.kind == "max_length" and first:
        return _PROMPT_FILLS_LENGTH
    if event.kind == "context_window" and first:
        return _PROMPT_TOO_LONG
    return _TEXTS[event.kind]
