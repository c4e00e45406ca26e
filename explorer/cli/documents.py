"""The JSON documents of the decoding commands, as plain values. Log-probabilities in nats, entropies in bits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from explorer.decoding.grammar_mass import grammar_logmass
from explorer.decoding.params import Settings
from explorer.decoding.pipeline import Candidate, Distribution
from explorer.decoding.processors import PARAMETERS
from explorer.decoding.stopping import StopEvent
from explorer.export.document import finite
from explorer.grammar.facts import GrammarFacts
from explorer.session import Session
from explorer.store.records import StepRecord
from explorer.text import Vocabulary
from explorer.tree import NodeId, PathValues

Document = dict[str, Any]


def token_document(vocabulary: Vocabulary, token_id: int) -> Document:
    """``bytes`` is hexadecimal and exact; ``text`` shows bytes that are no character as ``<0xE4>``."""
    return {
        "id": token_id,
        "text": vocabulary.text(token_id),
        "bytes": vocabulary.piece(token_id).hex(),
    }


def candidate_document(vocabulary: Vocabulary, candidate: Candidate) -> Document:
    """``excluded`` where it cannot be drawn; ``logit`` null where the model itself gives it probability 0."""
    return {
        **token_document(vocabulary, candidate.token_id),
        "rank": candidate.rank,
        "logit": finite(candidate.logit),
        "model_prob": candidate.model_prob,
        "sampling_prob": candidate.sampling_prob,
        "removed_by": candidate.removed_by,
        "threshold": finite(candidate.threshold),
        "margin": finite(candidate.margin),
        "excluded": candidate.sampling_logprob is None,
    }


def distribution_document(session: Session, distribution: Distribution, top: int) -> Document:
    """The ``top`` candidates of a step, kept ones first."""
    rows = [distribution.row_at(i) for i in range(min(top, len(distribution.token_ids)))]
    facts = session.grammar_after(distribution.trace.context.generated_ids)
    return {
        "prompt_ids": list(session.state.prompt.ids),
        "candidates": [candidate_document(session.vocabulary, row) for row in rows],
        "entropy_bits": {
            "model": distribution.model_entropy / math.log(2),
            "sampling": distribution.sampling_entropy / math.log(2),
        },
        "kept": distribution.kept,
        "unseen_model_mass": max(0.0, 1.0 - math.fsum(row.model_prob for row in rows)),
        "settings": settings_document(session.state.settings, session.model.eos_token_ids),
        **({} if facts is None else {"grammar": step_grammar_document(facts, distribution)}),
    }


def step_grammar_document(facts: GrammarFacts, distribution: Distribution) -> Document:
    """Where the grammar stands, and the share of the model's probability that it leaves at this step (log in nats)."""
    logmass = grammar_logmass(distribution)
    return {**facts.to_json(), "kept_mass": 0.0 if logmass is None else math.exp(logmass), "kept_logmass": logmass}


def path_grammar_document(facts: GrammarFacts, values: PathValues) -> Document:
    """Where the grammar stands, and the product of what it left of the model's probability at ``steps`` steps."""
    return {
        **facts.to_json(),
        "steps": values.constrained,
        "kept_mass": math.exp(values.grammar_logmass),
        "kept_logmass": values.grammar_logmass,
    }


def settings_document(settings: Settings, model_eos: Sequence[int]) -> Document:
    """Every setting with its value and where the value came from; ``off`` means that nothing was asked for."""
    stopping = settings.stopping
    own_eos = stopping.eos_token_ids is None
    values: dict[str, tuple[Any, bool]] = {
        name: (settings.sampling.get(name), settings.sampling.is_off(name)) for name in PARAMETERS
    }
    constraint = settings.sampling.grammar()
    values["grammar"] = None if constraint is None else constraint._asdict(), constraint is None
    values["max_new_tokens"] = stopping.max_new_tokens, stopping.max_new_tokens is None
    values["max_length"] = stopping.max_length, stopping.max_length is None
    values["stop"] = list(stopping.stop_strings), not stopping.stop_strings
    documents: Document = {
        name: {"value": value, "source": "off" if off else settings.sources.get(_source_name(name), "user")}
        for name, (value, off) in values.items()
    }
    documents["eos"] = {
        "value": list(model_eos if own_eos else stopping.eos_token_ids or ()),
        "source": "model" if own_eos else settings.sources.get("eos_token_ids", "user"),
    }
    order = settings.sampling.order
    documents["order"] = {
        "value": order if isinstance(order, str) else list(order),
        "source": settings.sources.get("order", "preset" if order == "transformers" else "user"),
    }
    return documents


def _source_name(name: str) -> str:
    return "stop_strings" if name == "stop" else name


def step_document(vocabulary: Vocabulary, step: StepRecord, text: str) -> Document:
    """``excluded`` where a filter had removed the token: it has no sampling log-probability then.

    ``text`` is what the token adds to the text of its path: nothing where it only begins a character.
    """
    return {
        **token_document(vocabulary, step.token_id),
        "text": text,
        "rank": step.rank,
        "chosen": step.how,
        "u": step.u,
        "draw_index": step.draw_index,
        "model_logprob": finite(step.model_logprob),
        "sampling_logprob": step.sampling_logprob,
        "excluded": step.sampling_logprob is None,
    }


def stop_document(event: StopEvent) -> Document:
    """The kind of a stop and its particulars, side by side."""
    return {"kind": event.kind, **event.particulars}


def run_document(session: Session, steps: Sequence[StepRecord], head: NodeId, stop: StopEvent | None) -> Document:
    """One run from the prompt to ``head``, its stop attached to the step that brought it."""
    view = session.view(head, compute=False)
    texts = [piece.text for piece in view.pieces]
    documents = (
        [step_document(session.vocabulary, step, text) for step, text in zip(steps, texts[-len(steps) :], strict=True)]
        if steps
        else []
    )
    if stop is not None and documents:
        documents[-1]["stop"] = stop_document(stop)
    return {
        "steps": documents,
        "text": view.text,
        "stop": None if stop is None else stop_document(stop),
        "path": {
            "model_logprob": finite(view.values.model_logprob),
            "sampling_logprob": finite(view.values.sampling_logprob),
            "excluded": view.values.forced,
        },
        **({} if view.grammar is None else {"grammar": path_grammar_document(view.grammar, view.values)}),
    }
