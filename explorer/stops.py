"""Where a session cannot go on: the stop rules of its settings, and a model that is not loaded."""

from __future__ import annotations

from explorer.decoding.stopping import StopEvent, StopPath, check_stop
from explorer.grammar.facts import GrammarFacts, grammar_facts
from explorer.grammar.provider import Grammars
from explorer.i18n import N_
from explorer.messages import UserMessage
from explorer.models.base import ModelInfo
from explorer.store.records import SessionState
from explorer.text import Vocabulary, path_pieces


def stop_after(
    generated: tuple[int, ...], state: SessionState, model: ModelInfo, vocabulary: Vocabulary, grammars: Grammars
) -> StopEvent | None:
    """The stop in force after ``generated`` tokens; None means generation may go on."""
    stopping = state.settings.stopping
    text = last = ""
    if stopping.stop_strings and generated:
        pieces = path_pieces(vocabulary, state.prompt.ids + generated)[-len(generated) :]
        text, last = "".join(piece.text for piece in pieces), pieces[-1].text
    return check_stop(
        StopPath(
            prompt_length=len(state.prompt.ids),
            generated_ids=generated,
            text=text,
            eos_token_ids=model.eos_token_ids,
            context_length=model.context_length,
            stopping=stopping,
            previous_text=text[: len(text) - len(last)],
            grammar=facts_after(generated, state, model, grammars),
        )
    )


def facts_after(
    generated: tuple[int, ...], state: SessionState, model: ModelInfo, grammars: Grammars
) -> GrammarFacts | None:
    """Where the grammar in force stands after ``generated`` tokens; None where there is none."""
    constraint, own = state.settings.sampling.grammar(), state.settings.stopping.eos_token_ids
    if constraint is None:
        return None
    return grammar_facts(grammars, constraint, generated, model.eos_token_ids if own is None else own)


def not_live_message(model: ModelInfo) -> UserMessage:
    """Says that new steps need the session's model."""
    return UserMessage(
        "engine.not_live",
        N_("{model} is not loaded."),
        N_("This session shows what was recorded; new steps need the model that made it."),
        N_("Open {model} and step again."),
        {"model": model.identity.name},
    )


def other_numbers_message(model: ModelInfo) -> UserMessage:
    """Says that the model does not give again what was recorded."""
    return UserMessage(
        "engine.other_numbers",
        N_("{model} answers with other numbers here now than were recorded."),
        N_("What was recorded stays as it is: it says what was seen then."),
        N_("Verify the session to see where it differs, and how far."),
        {"model": model.identity.name},
    )
