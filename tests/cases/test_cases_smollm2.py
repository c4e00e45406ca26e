"""Field cases on SmolLM2-135M-Instruct, through sessions over the real engine process. Probabilities within 5e-3."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from transformers import AutoModelForCausalLM
from transformers.utils import logging as transformers_logging

from explorer.decoding.params import Settings, settings_from_generation_config
from explorer.decoding.processors import PARAMETERS
from explorer.decoding.stopping import StopEvent
from explorer.engine.client import Engine
from explorer.messages import ModelLoadError, PromptError
from explorer.models.base import ModelRef
from explorer.paths import model_cache
from explorer.progress import Cancelled, CancelToken, Progress
from explorer.scoring.totals import totals_of
from explorer.session import Session
from explorer.text import ChatMessage, path_pieces, prompt_warnings
from explorer.tree import ROOT
from explorer.workspace import Workspace

pytestmark = pytest.mark.model

transformers_logging.disable_progress_bar()  # tqdm would leave a thread behind

FRANCE = "The capital of France is"
PARIS = 7042
LONG = "The river runs from the mountains to the sea; 你好 🙂, the people of the valley live by it, and sing. "
SAY_HI = [ChatMessage("user", "Say hi.")]
END = 2  # <|im_end|>, which is the padding token as well
VOCABULARY, CONTEXT = 49_152, 8_192


def probability(session: Session, token_id: int) -> float:
    """The model's probability of a token after the prompt."""
    found = session.distribution(ROOT)
    assert found is not None
    return found.row(token_id).model_prob


def about(probability: float) -> object:
    return pytest.approx(probability, abs=5e-3)


def run_to_its_stop(session: Session) -> StopEvent:
    """Greedy from the prompt on; the event that ended it."""
    *_, last = session.run("greedy", start=ROOT)
    assert last.stop is not None
    return last.stop[1]


def generated(session: Session) -> tuple[int, ...]:
    return session.tree.token_ids(session.state.current)


def warned(workspace: Workspace, session: Session) -> list[str]:
    model = workspace.model
    found = prompt_warnings(session.state.prompt, session.vocabulary, model.bos_token_id, model.adds_bos)
    return [warning.code for warning in found]


# --- A: filters and penalties -----------------------------------------------------------------------------------------


def test_c07_nothing_is_filtered_unless_it_was_asked_for(smollm2_desk: Workspace) -> None:
    """``generate(do_sample=True)`` would silently keep 50 of these."""
    session = smollm2_desk.new_session(FRANCE)
    found = session.distribution(ROOT)
    assert found is not None
    assert found.kept == VOCABULARY == np.isfinite(found.processed).sum() == (found.sampling_probs > 0).sum()
    assert np.array_equal(found.processed, found.logits)
    assert [stage.name for stage in found.stages if stage.active] == []
    session.step_draw()
    assert session.id is not None
    (step,) = smollm2_desk.store.load(session.id).commands[-1].steps
    assert step.settings == Settings()
    assert {step.settings.source(name) for name in PARAMETERS} == {"off"}
    assert step.sampling_logprob == pytest.approx(step.model_logprob, abs=1e-5)
    session.set_settings(settings_from_generation_config(session.model.generation_defaults).with_sampling(top_k=50))
    found = session.distribution(ROOT)
    assert found is not None
    assert found.kept == 50


def say_hi(workspace: Workspace, **sampling: float) -> tuple[Session, StopEvent]:
    """The chat with one filter on, at most 60 new tokens, run to its stop."""
    settings = Settings().with_sampling(**sampling).with_stopping(max_new_tokens=60)
    session = workspace.new_session(workspace.encode_chat(SAY_HI), settings=settings)
    return session, run_to_its_stop(session)


def test_c09_the_models_own_end_and_a_rule_that_changes_nothing(smollm2_desk: Workspace) -> None:
    for sampling in ({}, {"no_repeat_ngram_size": 2}):
        session, stop = say_hi(smollm2_desk, **sampling)
        assert stop == StopEvent("eos", {"step": 24, "token_id": END})
        assert smollm2_desk.vocabulary.text(generated(session)[-1]) == "<|im_end|>"
        if not sampling:
            expected = generated(session)
        assert generated(session) == expected


def test_c09_no_repeated_1grams_block_the_end_token_that_the_template_wrote(smollm2_desk: Workspace) -> None:
    """The end token's own row says so, and the stop is the limit, never an end of the model's."""
    session, stop = say_hi(smollm2_desk, no_repeat_ngram_size=1)
    assert (stop.kind, stop.particulars["step"]) == ("max_new_tokens", 60)
    assert END not in generated(session)
    for node in (ROOT, session.state.current):
        found = session.distribution(node)
        assert found is not None
        end = found.row(END)
        assert (end.removed_by, end.sampling_prob, end.sampling_logprob) == ("no_repeat_ngram", 0, None)
        assert end.model_prob > 0


def test_c09_a_repetition_penalty_holds_the_end_token_down(smollm2_desk: Workspace) -> None:
    session, stop = say_hi(smollm2_desk, repetition_penalty=2.0)
    assert (stop.kind, stop.particulars["step"]) == ("max_new_tokens", 60)
    assert END not in generated(session)
    found = session.distribution(ROOT)
    assert found is not None
    values = dict(found.stage_values(END))
    logit = found.row(END).logit
    assert values["repetition_penalty"] == pytest.approx(logit * 2 if logit < 0 else logit / 2)


# --- B: scores --------------------------------------------------------------------------------------------------------


def test_c16_every_token_of_a_text_is_scored_by_what_stands_before_it(smollm2_desk: Workspace) -> None:
    first, *scores = smollm2_desk.score(smollm2_desk.encode(FRANCE + " Paris").ids)
    assert first is None
    judged = [score for score in scores if score is not None]
    assert len(judged) == len(scores) == 5
    assert max(score.model_logprob for score in judged) <= 0
    assert (judged[-1].token_id, judged[-1].rank) == (PARIS, 1)
    assert math.exp(judged[-1].model_logprob) == about(0.7725)


def test_c16_a_long_text_is_scored_as_by_a_plain_pass_of_transformers(smollm2_desk: Workspace, smollm2: str) -> None:
    """600 tokens: the prefixes are asked for 64 at a time, and nothing slips where calls meet."""
    ids = smollm2_desk.encode(LONG * 24).ids[:600]
    first, *judged = smollm2_desk.score(ids)
    scores = [score for score in judged if score is not None]
    assert (first, len(scores), len(ids)) == (None, 599, 600)
    logs = plain_logs(smollm2, ids)
    assert max(abs(score.model_logprob - logs[t, ids[t + 1]]) for t, score in enumerate(scores)) <= 2e-4
    assert max(abs(score.entropy + (np.exp(logs[t]) * logs[t]).sum()) for t, score in enumerate(scores)) <= 2e-3
    assert min(logs[t, score.preferred] - logs[t].max() for t, score in enumerate(scores)) >= -2e-4
    loss = -logs[np.arange(599), ids[1:]].mean()
    totals = totals_of(smollm2_desk.vocabulary, scores)
    assert totals.mean_loss == pytest.approx(loss, abs=2e-4)
    assert totals.perplexity == pytest.approx(math.exp(loss), rel=2e-4)
    alone = list(smollm2_desk.score(ids[:1]))
    assert alone == [None]
    assert totals_of(smollm2_desk.vocabulary, alone).perplexity is None


def plain_logs(name: str, ids: tuple[int, ...]) -> NDArray[np.float64]:
    """Log-probabilities after each token but the last, float64[n - 1, vocabulary], without a cache."""
    model = AutoModelForCausalLM.from_pretrained(model_cache() / name, dtype=torch.float32).eval()
    with torch.inference_mode():
        logits = model(torch.tensor([ids]), use_cache=False).logits[0, :-1].double()
        logs: NDArray[np.float64] = torch.log_softmax(logits, dim=-1).numpy()
    return logs


# --- D: stopping ------------------------------------------------------------------------------------------------------

COUNT = "Count: one, two, three, four,"
ALPHABET = "Here is the English alphabet: ABC"


@pytest.mark.parametrize(
    ("prompt", "stop", "tokens", "text"),
    [
        (COUNT, "six", 3, " five, "),
        (COUNT, "six, s", 5, " five, "),
        (COUNT, "igh", 7, " five, six, seven, e"),
        (COUNT, " seven, ei", 7, " five, six,"),
        (COUNT, "ne, t", 11, " five, six, seven, eight, ni"),
        (COUNT, ",", 2, " five"),
        (ALPHABET, "DE", 1, ""),
    ],
)
def test_c26_stop_strings_across_and_inside_tokens(
    smollm2_desk: Workspace, prompt: str, stop: str, tokens: int, text: str
) -> None:
    """The text is cut before the stop string; the tree keeps the token that completed it whole."""
    settings = Settings().with_stopping(stop_strings=(stop,), max_new_tokens=20)
    session = smollm2_desk.new_session(prompt, settings=settings)
    event = run_to_its_stop(session)
    assert event == StopEvent("stop_string", {"step": tokens, "string": stop, "offset": len(text)})
    view = session.view()
    assert view.text == text
    assert len(view.path) == tokens
    whole = "".join(piece.text for piece in view.pieces)
    assert whole.startswith(text + stop)
    assert whole in (" five, six, seven, eight, nine, ten"[: len(whole)], "DEF")


def test_c26_a_stop_string_of_the_prompt_does_not_count(smollm2_desk: Workspace) -> None:
    settings = Settings().with_stopping(stop_strings=("four", "three, four,"), max_new_tokens=2)
    session = smollm2_desk.new_session(COUNT, settings=settings)
    assert run_to_its_stop(session).kind == "max_new_tokens"


def test_c29_one_token_more_than_the_context_is_refused_before_the_model_runs(
    smollm2_desk: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(*_: object, **__: object) -> None:
        raise AssertionError("the model was asked")

    assert smollm2_desk.model.context_length == CONTEXT
    monkeypatch.setattr(Engine, "next_token_logits", asked)
    full = smollm2_desk.new_session(smollm2_desk.prompt_of_ids((504,) * CONTEXT))
    assert full.stop_at(ROOT) is None  # it yields one token more
    before = smollm2_desk.session
    for prompt in (smollm2_desk.prompt_of_ids((504,) * (CONTEXT + 1)), "one" * (CONTEXT + 1)):
        with pytest.raises(PromptError) as refusal:
            smollm2_desk.new_session(prompt)
        assert refusal.value.message.code == "prompt.too_long"
        assert "8193" in str(refusal.value)
        assert "8192" in str(refusal.value)
    assert smollm2_desk.session is before


def test_c29_the_engine_itself_refuses_what_the_model_cannot_read(smollm2_desk: Workspace) -> None:
    reports: list[Progress] = []
    with pytest.raises(PromptError, match="8193"):
        smollm2_desk.engine.next_token_logits([(504,) * (CONTEXT + 1)], progress=reports.append)
    assert reports == []


# --- E: text and tokens -----------------------------------------------------------------------------------------------

CHINESE = (18645, 250, 48392, 138, 10813, 38887, 2231)  # 你好🙂ok, cut within its characters


def test_c31_half_characters_on_a_path(smollm2_desk: Workspace) -> None:
    session = smollm2_desk.new_session(FRANCE)
    texts = []
    for token_id in CHINESE:
        session.pick(token_id)
        texts.append(session.view(compute=False).text)
    assert texts == ["", "你", "你", "你好", "你好", "你好🙂", "你好🙂ok"]
    view = session.view(compute=False)
    assert [piece.text for piece in view.pieces] == ["", "你", "", "好", "", "🙂", "ok"]
    assert [piece.incomplete for piece in view.pieces] == [True, False, True, False, True, False, False]
    assert view.pieces[0].label == "<0xE4 0xBD>"
    assert not any("\ufffd" in piece.text + piece.label for piece in view.pieces)
    half = session.view(view.path[0], compute=False)
    assert half.pieces[-1].incomplete
    assert session.vocabulary.decode(session.tree.token_ids(view.path[0])) == "<0xE4><0xBD>"


def test_c31_tokens_that_read_the_same_are_different_nodes(smollm2_desk: Workspace) -> None:
    """Hundreds of tokens decode to the same U+FFFD; only ids and bytes tell them apart."""
    session = smollm2_desk.new_session(FRANCE)
    halves = (250, 138, 38887)
    for token_id in halves:
        session.pick(token_id, ROOT)
    children = session.tree.children(ROOT)
    assert [session.tree.node(child).token_id for child in children] == list(halves)
    assert len({session.view(child, compute=False).pieces[-1].label for child in children}) == len(halves)


@pytest.mark.parametrize(
    ("ids", "text"), [((104, 6541, 329), "x != y"), ((4563,), " ..."), ((216, 827), "  two"), (CHINESE, "你好🙂ok")]
)
def test_c32_ids_come_back_as_their_text(smollm2_desk: Workspace, ids: tuple[int, ...], text: str) -> None:
    prompt = smollm2_desk.prompt_of_ids(ids)
    assert prompt.text == text
    assert "".join(piece.text for piece in path_pieces(smollm2_desk.vocabulary, ids)) == text
    assert smollm2_desk.encode(text).ids == ids


@pytest.mark.parametrize("text", ["for 'manual'", "do n't . stop !", "\n\n\t x", " two  spaces ", "Ġ ▁", "👨‍👩‍👧"])
def test_c32_texts_come_back_exactly(smollm2_desk: Workspace, text: str) -> None:
    assert smollm2_desk.vocabulary.decode(smollm2_desk.encode(text).ids) == text


def test_c33_a_chat_has_one_start_token_a_message(smollm2_desk: Workspace) -> None:
    prompt = smollm2_desk.encode_chat([ChatMessage("user", "Hi")])
    assert len(prompt.ids) == 31
    assert prompt.ids[:3] == (1, 9690, 198)
    assert prompt.ids.count(1) == 3  # the template's own system message, the user's, and the answer that begins
    assert smollm2_desk.vocabulary.decode(prompt.ids) == prompt.text
    assert warned(smollm2_desk, smollm2_desk.new_session(prompt)) == []
    typed = smollm2_desk.encode_chat([ChatMessage("user", "Hi<|im_start|>")])
    assert warned(smollm2_desk, smollm2_desk.new_session(typed)) == ["special_in_text"]


def test_c35_a_trailing_space_is_kept_as_a_token_of_its_own(smollm2_desk: Workspace) -> None:
    bare = smollm2_desk.new_session(FRANCE)
    assert probability(bare, PARIS) == about(0.7725)
    assert probability(bare, smollm2_desk.encode(" the").ids[0]) == about(0.0645)
    assert warned(smollm2_desk, bare) == []
    spaced = smollm2_desk.new_session(FRANCE + " ")
    assert spaced.state.prompt.ids == (*bare.state.prompt.ids, 216)
    assert spaced.view(compute=False).prompt_pieces[-1].label == "·"
    found = spaced.distribution(ROOT)
    assert found is not None
    best = [found.row_at(place) for place in range(2)]
    assert [spaced.vocabulary.text(row.token_id) for row in best] == ["2", "1"]
    assert [row.model_prob for row in best] == [about(0.3257), about(0.2452)]
    assert warned(smollm2_desk, spaced) == ["trailing_space"]


def test_c35_a_word_cut_by_the_end_of_the_prompt_is_not_healed(smollm2_desk: Workspace) -> None:
    assert smollm2_desk.encode("http:").ids + smollm2_desk.encode("//").ids != smollm2_desk.encode("http://").ids
    assert smollm2_desk.new_session("http:").state.prompt.text == "http:"


# --- F: the model -----------------------------------------------------------------------------------------------------


def test_c36_a_chat_is_attended_to_where_its_ids_equal_the_padding(smollm2_desk: Workspace) -> None:
    """With a mask made from the ids Hello would have .1759 and I .1255."""
    session = smollm2_desk.new_session(smollm2_desk.encode_chat(SAY_HI))
    assert smollm2_desk.model.pad_token_id == END
    assert session.state.prompt.ids.count(END) == 2
    for word, expected in {"Hello": 0.1181, "I": 0.1136}.items():
        assert probability(session, smollm2_desk.encode(word).ids[0]) == about(expected)


def test_c40_the_good_file(smollm2_desk: Workspace) -> None:
    assert smollm2_desk.encode("Hello world").ids == (19556, 905)
    assert smollm2_desk.vocabulary.decode((19556, 905)) == "Hello world"
    assert smollm2_desk.model.vocab_size == len(smollm2_desk.vocabulary) == VOCABULARY
    assert smollm2_desk.engine.next_token_logits([(19556, 905)]).shape == (1, VOCABULARY)
    session = smollm2_desk.new_session(FRANCE)
    session.step_greedy()
    assert generated(session) == (PARIS,)
    assert probability(session, PARIS) == about(0.7725)


def assert_still_working(workspace: Workspace, session: Session, pid: int | None) -> None:
    assert workspace.engine.pid == pid
    assert session.live
    session.step_greedy()
    assert generated(session) == (PARIS,)


@pytest.mark.parametrize("data", [b"not a model", b"GGUF" + bytes(range(256)) * 40])
def test_c40_a_model_that_does_not_load_leaves_the_old_one_working(
    smollm2_desk: Workspace, tmp_path: Path, data: bytes
) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(data)
    session, pid = smollm2_desk.new_session(FRANCE), smollm2_desk.engine.pid
    with pytest.raises(ModelLoadError) as refusal:
        smollm2_desk.open_model(ModelRef(str(path)))
    assert refusal.value.message.code == "model.corrupt"
    assert all(refusal.value.message.sentences())
    assert_still_working(smollm2_desk, session, pid)


def test_c40_loading_tells_how_far_it_is_and_may_be_cancelled(smollm2_desk: Workspace, smollm2: str) -> None:
    session, pid = smollm2_desk.new_session(FRANCE), smollm2_desk.engine.pid
    cancel, reports = CancelToken(), list[Progress]()

    def watch(progress: Progress) -> None:
        reports.append(progress)
        if progress.unit == "tensors":
            cancel.cancel()

    with pytest.raises(Cancelled):
        smollm2_desk.open_model(ModelRef(smollm2), progress=watch, cancel=cancel)
    assert reports[-1].total is not None
    assert_still_working(smollm2_desk, session, pid)


# --- G: what a prompt may hold ----------------------------------------------------------------------------------------


def test_c41_control_characters_of_a_prompt_come_back_from_the_library(smollm2_desk: Workspace) -> None:
    text = "a\x00b\r\n\x1b[0m"
    session = smollm2_desk.new_session(text)
    session.step_greedy()
    assert session.unsaved == 0
    assert session.id is not None
    stored = smollm2_desk.store.load(session.id)
    assert stored.state.prompt == session.state.prompt
    assert stored.state.prompt.text == text
    assert smollm2_desk.vocabulary.decode(stored.state.prompt.ids) == text


def test_c41_half_a_surrogate_pair_is_refused_by_name(smollm2_desk: Workspace) -> None:
    """Tokenizers fail on it in words nobody understands."""
    for encode in (smollm2_desk.encode, lambda text: smollm2_desk.encode_chat([ChatMessage("user", text)])):
        with pytest.raises(PromptError, match=r"U\+D83D") as refusal:
            encode("half \ud83d")
        assert refusal.value.message.code == "prompt.half_character"
    assert smollm2_desk.encode("whole \U0001f642").ids


def test_c41_numbers_of_other_libraries_are_stored_as_plain_ones(smollm2_desk: Workspace) -> None:
    session = smollm2_desk.new_session(FRANCE)
    session.pick(np.int64(PARIS))  # type: ignore[arg-type]  # what a plot or an array hands over
    assert session.unsaved == 0
    assert session.id is not None
    (node,) = smollm2_desk.store.load(session.id).nodes
    assert (node.token_id, type(node.token_id)) == (PARIS, int)
