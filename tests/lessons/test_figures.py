"""What the built-in lessons claim, held against their own tables by the decoder itself, without a window."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import pytest

from explorer.decoding.logits import SortedLogits
from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import Distribution, evaluate
from explorer.decoding.processors import StepContext
from explorer.decoding.ruler import Ruler
from explorer.i18n import LANGUAGES
from explorer.lessons import Lesson, LessonStep, lessons
from explorer.lessons.shelf import TOUR
from explorer.models.catalog import open_model
from explorer.models.table_model import TableModel

LESSONS = lessons()
STEPS = [
    pytest.param(lesson, step, id=f"{lesson.id}-{place}")
    for lesson in LESSONS
    for place, step in enumerate(lesson.steps)
    if step.path is not None and step.by == "hand"
]


def table_of(lesson: Lesson) -> TableModel:
    model = open_model(lesson.ref)
    assert isinstance(model, TableModel)
    return model


def at(lesson: Lesson, step: LessonStep, path: Sequence[str], sampling: SamplingParams) -> Distribution:
    """The distribution after ``path`` under ``sampling``."""
    model = table_of(lesson)
    prompt = tuple(model.encode(step.prompt or model.info.default_prompt or ""))
    generated = tuple(lesson.table.vocab.index(token) for token in path)
    logits = model.next_token_logits([(*prompt, *generated)], prompt_length=len(prompt))[0]
    return evaluate(SortedLogits.from_raw(logits), sampling, StepContext(prompt, generated, model.info.eos_token_ids))


def model_probabilities(lesson: Lesson, step: LessonStep) -> Iterator[float]:
    """Of every token of the step's path."""
    path = step.path or ()
    for place, token in enumerate(path):
        row = at(lesson, step, path[:place], SamplingParams()).row(lesson.table.vocab.index(token))
        yield math.exp(row.model_logprob)


def hit(lesson: Lesson, distribution: Distribution, u: float) -> str:
    found = Ruler.of(distribution).hit(u)
    assert found is not None
    assert found.token_id is not None
    return lesson.table.vocab[found.token_id]


@pytest.mark.parametrize(("lesson", "step"), STEPS)
def test_every_figure_of_a_step_is_the_decoders(lesson: Lesson, step: LessonStep) -> None:
    claims, path, vocab = step.claims, step.path or (), lesson.table.vocab
    here = at(lesson, step, path, step.settings.sampling)
    for token, claimed in claims.next.items():
        assert math.exp(here.row(vocab.index(token)).model_logprob) == pytest.approx(claimed, abs=5.1e-5), token
    for token, claimed in claims.sampling.items():
        place = list(here.token_ids).index(vocab.index(token))
        assert float(here.sampling_probs[place]) == pytest.approx(claimed, abs=5.1e-5), token
    probabilities = list(model_probabilities(lesson, step))
    if claims.probability is not None:
        assert math.prod(probabilities) == pytest.approx(claims.probability, abs=5.1e-5)
    if claims.perplexity is not None:
        loss = -sum(math.log(p) for p in probabilities) / len(probabilities)
        assert math.exp(loss) == pytest.approx(claims.perplexity, abs=5.1e-4)
    if step.rulers:
        hits = [hit(lesson, at(lesson, step, path, sampling), step.u[0]) for sampling in step.rulers]
    else:
        hits = [hit(lesson, here, u) for u in step.u]
    if claims.hits:
        assert tuple(hits) == claims.hits


def test_the_list_is_whole_and_in_order() -> None:
    assert [lesson.id for lesson in LESSONS] == [
        *(TOUR, "breakfast", "review", "greedy-trap", "eos-tree", "temperature", "top-k-top-p", "ruler"),
        *("softmax", "teacher-forcing", "stopping", "beam", "repetition"),
    ]
    assert [lesson.number for lesson in LESSONS] == list(range(13))


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_a_lesson_asks_and_ends_on_the_real_model(lesson: Lesson) -> None:
    assert table_of(lesson).info.identity.source == f"lesson:{lesson.id}"
    assert any(step.question is not None for step in lesson.steps)
    assert all(step.question is not None for step in lesson.steps if step.kind == "predict")
    assert lesson.steps[-1].kind == "try"
    assert lesson.real is not None


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_texts_are_there_in_every_language_and_short(lesson: Lesson) -> None:
    for text in [lesson.title, *(step.text for step in lesson.steps)]:
        words = {language: text.in_language(language) for language in LANGUAGES}
        assert len(set(words.values())) == len(LANGUAGES) or not words["en"].isascii() or len(words["en"]) < 60
        assert all(0 < len(text) < 320 for text in words.values())
        assert any("\u4e00" <= character <= "\u9fff" for character in words["zh_CN"])
    assert lesson.title.in_language("fr") == lesson.title.in_language("en")


def test_the_answer_of_a_question_is_not_always_the_first() -> None:
    places = {s.question.answer for lesson in LESSONS for s in lesson.steps if s.question and s.question.choices}
    assert places >= {0, 1, 2}
