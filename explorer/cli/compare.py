"""``token-tree compare``: two or more configurations on the same prompt, model and draws."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

import typer

from explorer.cli.configurations import configurations
from explorer.cli.console import print_facts, print_json, print_table
from explorer.cli.decoding import percent
from explorer.cli.desk import open_desk
from explorer.cli.documents import Document, stop_document, token_document
from explorer.cli.exits import INTERRUPTED
from explorer.cli.groups import bad_argument, takes
from explorer.cli.options import JSON, LIBRARY, MODEL, PROMPT, PromptChoice
from explorer.cli.settings import SETTINGS, SettingsChoice
from explorer.comparison.differences import Difference, differences
from explorer.comparison.distributions import Comparison
from explorer.comparison.divergence import Divergences
from explorer.comparison.paths import ComparedRun, ComparedRuns, Parting, compare_runs, parting_of
from explorer.decoding.choice import MAX_SEED
from explorer.decoding.params import Settings
from explorer.decoding.pipeline import Distribution, evaluate
from explorer.export.document import finite
from explorer.i18n import N_, tr
from explorer.models.base import ModelRef
from explorer.session import Session
from explorer.tree import ROOT

_WITH = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        metavar="NAME:OPTIONS",
        help=N_(
            "A configuration: a name, a colon, and options for settings, which go over those of the command itself. "
            "With one, it is compared with the command's own settings; repeat for several."
        ),
    ),
]
_SEED = Annotated[
    int, typer.Option("--seed", min=0, max=MAX_SEED, help=N_("The seed of the draws, the same for all configurations."))
]
_LENGTH = Annotated[
    int, typer.Option("--length", min=0, max=4096, help=N_("How many tokens each draws; 0 compares one step only."))
]
_TOP = Annotated[int, typer.Option("--top", min=1, help=N_("How many tokens to list."))]

_Named = tuple[str, Settings]


@takes(model=MODEL, library=LIBRARY, prompt=PROMPT, settings=SETTINGS, json=JSON)
def compare(
    model: ModelRef,
    library: Path,
    prompt: PromptChoice,
    settings: SettingsChoice,
    json: bool,
    others: _WITH = None,
    seed: _SEED = 0,
    length: _LENGTH = 32,
    top: _TOP = 10,
) -> None:
    """What is drawn is in the library, the configurations with it."""
    if not others:
        raise bad_argument(
            N_("There is nothing to compare with."), N_("Name another configuration: --with 'cold: --temperature 0.2'.")
        )
    configurations(others, Settings())  # before a model is loaded for nothing
    with open_desk(library if length else None) as desk:
        desk.load(model)
        session = desk.new_session(prompt, settings)
        base = session.state.settings
        named = [(one.name, one.settings) for one in configurations(others, base)]
        if len(named) == 1:
            named.insert(0, (tr(N_("these settings")), base))
        view = session.view(ROOT, progress=desk.progress, cancel=desk.cancel)
        assert view.logits is not None  # a live model always answers
        steps = [evaluate(view.logits, one.sampling, session.context_after((), one)) for _, one in named]
        runs = None
        if length:
            work = compare_runs(session, named, ROOT, seed=seed, length=length, origin="cli", cancel=desk.cancel)
            runs = deque(work, maxlen=1)[0]
        document = _document(session, named, steps, runs, top)
        interrupted = desk.cancel.cancelled
    if json:
        print_json(document)
    else:
        _print(document)
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _document(
    session: Session, named: Sequence[_Named], steps: Sequence[Distribution], runs: ComparedRuns | None, top: int
) -> Document:
    pairs = [_pair(session, named, steps, runs, (a, b), top) for a, b in combinations(range(len(named)), 2)]
    return {
        "session": session.id if runs is not None else None,
        "prompt_ids": list(session.state.prompt.ids),
        "configurations": [{"name": name, "settings": settings.to_json()} for name, settings in named],
        "seed": None if runs is None else runs.seed,
        "pairs": pairs,
        "runs": [] if runs is None else [_run(session, runs, one) for one in runs.runs],
    }


def _pair(
    session: Session,
    named: Sequence[_Named],
    steps: Sequence[Distribution],
    runs: ComparedRuns | None,
    places: tuple[int, int],
    top: int,
) -> Document:
    a, b = places
    found = Comparison(steps[a], steps[b])
    parting = None if runs is None else parting_of(session, runs, a, b)
    vocabulary = session.vocabulary
    return {
        "a": named[a][0],
        "b": named[b][0],
        "differences": [_difference(one) for one in differences(named[a][1], named[b][1])],
        "sampling": None if found.sampling is None else _divergences(found.sampling),
        "kept": {"a": steps[a].kept, "b": steps[b].kept, "both": found.shared},
        "gained": {"count": len(found.gained), "ids": found.gained[:top].tolist()},
        "lost": {"count": len(found.lost), "ids": found.lost[:top].tolist()},
        "tokens": [
            {
                **token_document(vocabulary, row.token_id),
                "model_prob": row.model_a,
                "a": row.a,
                "b": row.b,
                "fate": row.fate,
            }
            for row in found.rows(top)
        ],
        "parting": None if parting is None else _parting(session, parting),
    }


def _divergences(found: Divergences) -> Document:
    """In nats; an infinite one is null with a flag."""
    return {
        "kl_ab": finite(found.kl_pq),
        "kl_ba": finite(found.kl_qp),
        "kl_ab_infinite": finite(found.kl_pq) is None,
        "kl_ba_infinite": finite(found.kl_qp) is None,
        "jensen_shannon": found.jensen_shannon,
        "total_variation": found.total_variation,
    }


def _difference(one: Difference) -> Document:
    return {"name": one.name, "kind": one.kind, "a": _plain(one.a), "b": _plain(one.b)}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value if isinstance(value, int | float | str | bool | None) else str(value)


def _parting(session: Session, parting: Parting) -> Document:
    def token(token_id: int | None) -> Document | None:
        return None if token_id is None else token_document(session.vocabulary, token_id)

    return {
        "place": parting.place,
        "node": parting.node,
        "a": token(parting.token_a),
        "b": token(parting.token_b),
        "u": parting.u,
        "decisive": None if parting.decisive is None else parting.decisive.name,
        "removed_from_a": parting.removed_a,
        "removed_from_b": parting.removed_b,
    }


def _run(session: Session, runs: ComparedRuns, one: ComparedRun) -> Document:
    ids = session.tree.token_ids(one.run.end)[session.tree.depth(runs.start) :]
    return {
        "name": one.name,
        "end": one.run.end,
        "ids": list(ids),
        "text": session.vocabulary.decode(ids),
        "stop": None if one.run.stop is None else stop_document(one.run.stop),
        "path": {"model_logprob": one.run.model_logprob, "sampling_logprob": one.run.sampling_logprob},
    }


# --- for people -------------------------------------------------------------------------------------------------------


def _print(document: Document) -> None:
    for run in document["runs"]:
        print_facts({run["name"]: run["text"]})
    for pair in document["pairs"]:
        _print_pair(pair)


def _print_pair(pair: Document) -> None:
    print_facts({tr(N_("Compared")): f"{pair['a']} | {pair['b']}"})
    for one in pair["differences"]:
        print_facts({one["name"]: f"{one['a']} | {one['b']}"})
    if len(pair["differences"]) > 1:
        print_facts({tr(N_("Note")): tr(N_("More than one setting differs: no difference can be put down to one."))})
    found = pair["sampling"]
    if found is not None:
        print_facts(
            {
                tr(N_("KL divergence of the first from the second in nats")): _nats(found, "kl_ab"),
                tr(N_("KL divergence of the second from the first in nats")): _nats(found, "kl_ba"),
                tr(N_("Jensen-Shannon divergence in nats")): found["jensen_shannon"],
                tr(N_("total variation")): found["total_variation"],
                tr(N_("tokens gained")): pair["gained"]["count"],
                tr(N_("tokens lost")): pair["lost"]["count"],
            }
        )
    headers = [tr(N_("token")), pair["a"], pair["b"]]
    print_table(headers, [[row["text"], percent(row["a"]), percent(row["b"])] for row in pair["tokens"]])
    parting = pair["parting"]
    if parting is not None:
        print_facts(
            {
                tr(N_("they part at token")): parting["place"] + 1,
                pair["a"]: _token(parting["a"]),
                pair["b"]: _token(parting["b"]),
                tr(N_("by the setting")): parting["decisive"],
            }
        )


def _nats(found: Document, name: str) -> Any:
    return tr(N_("infinite")) if found[f"{name}_infinite"] else found[name]


def _token(token: Document | None) -> str:
    return tr(N_("ends")) if token is None else repr(token["text"])
