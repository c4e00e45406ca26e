"""What a lesson is, and the JSON it is written in.

The file ``<id>.json``::

    {"id": "review", "number": 2,
     "title": {"en": "...", "zh_CN": "..."},
     "settings": {"max_new_tokens": 6},
     "model": {a table, see `explorer.models.table_format`, with a "prompt"},
     "real": {"prompt": "To review is", "settings": {"temperature": 0.7}},
     "steps": [{"kind": "predict", "text": {"en": "...", "zh_CN": "..."}, "path": ["帮助"],
                "question": {"number": 33.6, "within": 0.5, "unit": "%"}, "cover": true}]}

``id`` is the file's name and what ``lesson:<id>`` opens (small letters, digits, hyphens); ``number`` is its place in
the list. ``settings`` are what is in force by name, everything else is off; their source is "preset". ``order`` among
them is that of the filters. ``real`` says what to try on a real model.

A step's ``kind`` is ``predict`` (a question to answer first), ``reveal`` (what happens, and why), ``do`` (something to
do by hand) or ``try`` (the same on a real model). All other entries of a step may be left out:

* Where it plays: ``prompt`` (a text made of the table's tokens, or ``{"repeat": token, "times": n}``; else that of the
  table), ``path`` (the tokens after the prompt), ``by`` (how the path comes about: ``hand``, ``greedy`` or ``draw``;
  without a path the last two run to a stop), ``seed``, ``settings`` (besides the lesson's own; null switches off).
* What the window shows: ``u`` (numbers in [0, 1) to look at on the ruler), ``rulers`` (filters, each of a ruler beside
  that of the settings), ``beam`` (a search from the path's end, by the names of transformers), ``score`` (the path is a
  given text, to be scored), ``look`` (the panel to bring to the front and to point at), ``cover`` (the numbers are
  covered until the question is answered), ``page`` (of the help, to read more).
* ``question``: ``{"choices": [text, ...], "answer": place}`` or ``{"number": x, "within": y, "unit": "%"}``. A text is
  an object of languages, or one string for all of them.
* What the text claims, held against the table by tests: ``next`` and ``sampling`` (model and sampling probability of
  some tokens at the path's end), ``probability`` (of the whole path), ``stop`` (the kind of stop event there),
  ``new_tokens`` (how many were generated), ``hits`` (the tokens the numbers of ``u`` fall on, under the settings; where
  there are ``rulers``, what the first number falls on under each), ``best`` (the best ending of the ``beam``),
  ``perplexity`` (of the path). Probabilities are rounded to four digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from explorer.decoding.params import SamplingParams, Settings
from explorer.models.base import ModelRef
from explorer.models.table_format import Table

StepKind = Literal["predict", "reveal", "do", "try"]
By = Literal["hand", "greedy", "draw"]

LESSON_KEYS: Final = frozenset({"id", "number", "title", "settings", "model", "real", "steps"})
CLAIM_KEYS: Final = frozenset({"next", "sampling", "probability", "stop", "new_tokens", "hits", "best", "perplexity"})
STAGE_KEYS: Final = frozenset(
    {"prompt", "path", "by", "seed", "settings", "u", "rulers", "beam", "score", "look", "cover", "page"}
)
STEP_KEYS: Final = frozenset({"kind", "text", "question"}) | STAGE_KEYS | CLAIM_KEYS
PANELS: Final = (
    *("prompt", "settings", "models", "sessions", "history", "lessons", "candidates", "why", "ruler", "curves"),
    *("characters", "path", "runs", "beams", "queries", "score", "compare", "tree", "toolbar"),
)
"""What a step may point at: the window's docks by name, the tree, and the toolbar."""


@dataclass(frozen=True, slots=True)
class LessonText:
    """One text in every language of the program."""

    texts: Mapping[str, str]

    def in_language(self, language: str) -> str:
        """The text in ``language`` (a key of `LANGUAGES`), else in English."""
        return self.texts.get(language, self.texts["en"])


@dataclass(frozen=True, slots=True)
class Question:
    """Either ``choices``, of which the one at place ``answer`` is right, or a ``number`` in ``unit`` that is right
    ``within`` so much."""

    choices: tuple[LessonText, ...] = ()
    answer: int = 0
    number: float = 0.0
    within: float = 0.0
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Claims:
    """The figures a step's text speaks of."""

    next: Mapping[str, float] = field(default_factory=dict)
    sampling: Mapping[str, float] = field(default_factory=dict)
    probability: float | None = None
    stop: str | None = None
    new_tokens: int | None = None
    hits: tuple[str, ...] = ()
    best: tuple[str, ...] = ()
    perplexity: float | None = None


@dataclass(frozen=True, slots=True)
class LessonStep:
    """One card of a lesson. ``settings`` are all that is in force there, the lesson's own with the step's changes."""

    kind: StepKind
    text: LessonText
    settings: Settings
    question: Question | None = None
    prompt: str | None = None
    path: tuple[str, ...] | None = None
    by: By = "hand"
    seed: int | None = None
    u: tuple[float, ...] = ()
    rulers: tuple[SamplingParams, ...] = ()
    beam: Mapping[str, Any] | None = None
    score: bool = False
    look: str = ""
    cover: bool = False
    page: str = ""
    claims: Claims = field(default_factory=Claims)


@dataclass(frozen=True, slots=True)
class RealModel:
    """What to try on a real model: a prompt, and the settings to begin with."""

    prompt: str
    settings: Settings


@dataclass(frozen=True, slots=True)
class Lesson:
    """A lesson, checked. ``table`` is its model as `explorer.models.catalog` opens it from ``source``."""

    id: str
    number: int
    title: LessonText
    settings: Settings
    table: Table
    steps: tuple[LessonStep, ...]
    source: str
    real: RealModel | None = None
    own: bool = False

    @property
    def ref(self) -> ModelRef:
        """What opens the lesson's model."""
        return ModelRef(self.source)
