"""What a healthy engine answers: models, logits, ids, progress, memory."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from pathlib import Path

import engine_fakes as fakes
import numpy as np
import pytest

from explorer.engine.client import Engine
from explorer.engine.server import Throttle
from explorer.messages import EngineCrashed, EngineError, ModelLoadError, OutOfMemory, PromptError
from explorer.progress import Progress
from explorer.text import ChatMessage

REPOSITORY = Path(__file__).parents[2]


def test_a_new_engine_starts_nothing(engine: Engine) -> None:
    assert (engine.ref, engine.info, engine.vocabulary, engine.pid, engine.alive) == (None, None, None, None, False)
    for call in (lambda: engine.encode("a"), lambda: engine.next_token_logits([(1,)]), engine.memory, engine.restart):
        with pytest.raises(EngineError) as caught:
            call()
        assert caught.value.message.code == "engine.no_model"
    engine.kill()


def test_load_brings_the_model_to_the_parent(engine: Engine) -> None:
    info = engine.load(fakes.ref())
    assert engine.info is info
    assert info.identity.name == "fake"
    assert engine.ref == fakes.ref()
    assert engine.vocabulary is not None
    assert engine.vocabulary.piece(3) == b"<3>"
    assert engine.vocabulary.sha256 == info.identity.tokenizer_sha256
    assert engine.alive
    assert engine.pid is not None


def test_logits_arrive_bit_by_bit(loaded: Engine) -> None:
    logits = loaded.next_token_logits([(fakes.PLAIN, 2), (fakes.NOT_A_NUMBER,), (fakes.PLAIN,)])
    assert logits.dtype == np.float32
    assert logits.shape == (3, fakes.VOCABULARY)
    assert np.array_equal(logits[0], fakes.expected((fakes.PLAIN, 2)))
    assert np.isnan(logits[1, 0])
    assert logits[1, 1:3].tolist() == [np.inf, -np.inf]
    assert np.array_equal(logits[2], fakes.expected((fakes.PLAIN,)))


def test_no_prefixes_give_no_rows(loaded: Engine) -> None:
    assert loaded.next_token_logits([]).shape == (0, fakes.VOCABULARY)


def test_a_large_vocabulary_passes_whole(engine: Engine) -> None:
    engine.load(fakes.ref(vocabulary=262_144))
    logits = engine.next_token_logits([(fakes.PLAIN,), (fakes.PLAIN, 1), (fakes.PLAIN, 2)])
    for row, prefix in zip(logits, [(20,), (20, 1), (20, 2)], strict=True):
        assert np.array_equal(row, fakes.expected(prefix, 262_144))


def test_encode_and_chat(loaded: Engine) -> None:
    assert loaded.encode("AB") == (1, 2)
    text, ids = loaded.encode_chat([ChatMessage("user", "你好")])
    assert text == "user:你好;>"
    assert ids == loaded.encode(text)
    assert loaded.encode_chat([ChatMessage("user", "x")], add_generation_prompt=False)[0] == "user:x;"


def test_errors_cross_as_what_they_are(loaded: Engine) -> None:
    with pytest.raises(PromptError) as prompt:
        loaded.next_token_logits([(fakes.BAD_PROMPT,)])
    assert prompt.value.message.text() == "Id 5 is none."
    assert type(prompt.value.message.params["id"]) is str  # nothing of numpy or torch crosses
    with pytest.raises(OutOfMemory) as memory:
        loaded.next_token_logits([(fakes.OUT_OF_MEMORY,)])
    assert memory.value.message.code == "engine.test"
    with pytest.raises(OutOfMemory) as memory:
        loaded.next_token_logits([(fakes.MEMORY_ERROR,)])
    assert memory.value.message.code == "engine.out_of_memory"
    assert "MemoryError" in memory.value.message.details
    assert loaded.next_token_logits([(fakes.PLAIN,)])[0, 0] == fakes.PLAIN


def test_an_unknown_exception_keeps_its_traceback(loaded: Engine) -> None:
    with pytest.raises(EngineError) as caught:
        loaded.next_token_logits([(fakes.RAISES,)])
    message = caught.value.message
    assert type(caught.value) is EngineError
    assert message.code == "engine.internal"
    assert "ZeroDivisionError: deep inside" in message.text()
    assert "engine_fakes.py" in message.details
    assert all(message.sentences())
    assert loaded.encode("A") == (1,)


@pytest.mark.parametrize(
    ("load", "code"),
    [
        ("refused", "model.corrupt"),
        ("broken", "engine.internal"),
        ("too large", "engine.out_of_memory"),
        ("unsendable", "engine.internal"),
    ],
)
def test_a_failed_load_leaves_the_old_model_working(engine: Engine, load: str, code: str) -> None:
    engine.load(fakes.ref())
    before = engine.pid, engine.ref, engine.info, engine.vocabulary
    with pytest.raises(ModelLoadError) as caught:
        engine.load(fakes.ref(load=load))
    assert caught.value.message.code == code
    assert caught.value.message.text()
    assert (engine.pid, engine.ref, engine.info, engine.vocabulary) == before
    assert engine.encode("A") == (1,)


def test_an_opener_that_does_not_exist_is_a_failed_load(engine: Engine) -> None:
    with pytest.raises(ModelLoadError) as caught:
        Engine("engine_fakes:no_such_function").load(fakes.ref())
    assert "no_such_function" in caught.value.message.details


def test_a_process_that_cannot_start_is_a_failed_load(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.load(fakes.ref())

    def refuse(process: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr("explorer.engine.process._start", refuse)
    with pytest.raises(ModelLoadError) as caught:
        engine.load(fakes.ref())
    assert "Resource temporarily unavailable" in caught.value.message.text()
    assert engine.encode("A") == (1,)


def test_the_old_model_answers_until_the_new_one_is_ready(engine: Engine) -> None:
    engine.load(fakes.ref())
    old, seen = engine.pid, []

    def look(progress: Progress) -> None:
        seen.append((engine.pid, engine.next_token_logits([(fakes.PLAIN,)]).shape[1]))

    engine.load(fakes.ref(load="reporting", vocabulary=40), progress=look)
    assert set(seen) == {(old, fakes.VOCABULARY)}
    assert engine.pid != old
    assert engine.next_token_logits([(fakes.PLAIN,)]).shape[1] == 40


def test_load_reports_progress(engine: Engine) -> None:
    reports: list[Progress] = []
    engine.load(fakes.ref(load="reporting"), progress=reports.append)
    assert reports[0].phase == "Starting the model process"
    assert Progress("Reading", 1, 10, "tensors") in reports
    assert reports[-2:] == [Progress("Reading", 10, 10, "tensors"), Progress("Checking")]


def test_progress_of_a_pass_only_where_somebody_looks(loaded: Engine) -> None:
    reports: list[Progress] = []
    loaded.next_token_logits([(fakes.PLAIN,)] * 3, progress=reports.append)
    assert reports[0] == Progress("Computing", 1, 3, "tokens")
    assert reports[-1] == Progress("Computing", 3, 3, "tokens")


def test_throttle_lets_about_twenty_reports_a_second_through() -> None:
    now, sent = [0.0], []
    throttle = Throttle(sent.append, lambda: now[0])
    for done in range(1, 1001):  # one second, a thousand reports
        now[0] = done / 1000
        throttle(Progress("Reading", done, 1000))
    assert 15 <= len(sent) <= 22
    assert sent[0].done == 1
    assert sent[-1].done == 1000
    throttle(Progress("Reading", 1000, 1000))  # said already
    throttle(Progress("Checking", 0, 5))
    throttle(Progress("Checking", 1, 5))  # too soon
    assert [report.phase for report in sent[-2:]] == ["Reading", "Checking"]


def test_memory_with_and_without_a_cache(engine: Engine, loaded: Engine, tmp_path: Path) -> None:
    memory = loaded.memory()
    assert memory.rss_bytes > 5_000_000
    assert memory.free_bytes > 5_000_000
    assert (memory.cache_bytes, memory.cache_budget_bytes, memory.device_bytes) == (0, 0, None)
    engine.load(fakes.ref(tmp_path, load="caching"))
    engine.next_token_logits([(fakes.PLAIN,), (fakes.PLAIN, 1)])
    memory = engine.memory()
    assert (memory.cache_bytes, memory.cache_budget_bytes, memory.device_bytes) == (2, 10**9, None)


def test_a_chosen_cache_budget_outlives_the_process(engine: Engine, tmp_path: Path) -> None:
    engine.set_cache_budget(10)  # before there is a model
    engine.load(fakes.ref(tmp_path, load="caching"))
    engine.encode("A")  # notes are read in order with requests, memory beside them
    assert engine.memory().cache_budget_bytes == 10
    engine.set_cache_budget(-1)
    engine.encode("A")
    assert engine.memory().cache_budget_bytes == 0
    engine.restart()
    engine.encode("A")
    assert engine.memory().cache_budget_bytes == 0


def test_notes_without_a_model_a_cache_or_a_process_do_nothing(engine: Engine) -> None:
    def give_all_notes() -> None:
        engine.pin((1,))
        engine.expect((fakes.KILLED,))
        engine.set_look_ahead(8)
        engine.set_cache_budget(100)

    give_all_notes()
    engine.load(fakes.ref())
    give_all_notes()
    assert engine.encode("A") == (1,)
    assert engine.memory().cache_budget_bytes == 0
    engine.kill()
    give_all_notes()
    engine.restart()
    assert engine.pid is not None
    os.kill(engine.pid, signal.SIGKILL)  # and nobody has noticed
    for _ in range(3):
        give_all_notes()
    with pytest.raises(EngineCrashed):
        engine.encode("A")


def test_warnings_in_the_child_reach_the_parents_log(loaded: Engine, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "explorer.engine"):
        loaded.next_token_logits([(fakes.WARNS,)])
    assert any("UserWarning: careful" in record.getMessage() for record in caplog.records)


def test_the_child_imports_neither_qt_nor_torch_nor_the_parents_main_module(loaded: Engine) -> None:
    assert loaded.encode_chat([ChatMessage("system", "")])[0] == ""


def test_the_parents_side_imports_neither_torch_nor_qt() -> None:
    code = "import sys, explorer.engine.client; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=REPOSITORY, check=True)
    assert not {"torch", "transformers", "PySide6"} & set(run.stdout.split())
