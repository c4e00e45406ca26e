"""Transformers models: every way of computing gives the numbers of a pass from scratch, and every fault its message."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from accelerate import dispatch_model
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tiny_models import BEGIN, END, KINDS, VOCAB_SIZE, save_tiny_model
from transformers import AutoModelForCausalLM

from explorer.messages import ModelLoadError, OutOfMemory, PromptError
from explorer.models import transformers_loading, transformers_model, tree_forward
from explorer.models.base import ModelIdentity, ModelRef
from explorer.models.calibration import PassSpeed, Seconds, Threads
from explorer.models.catalog import open_model
from explorer.models.devices import Note
from explorer.models.forward import BatchLimits, CausalModel, FreshForward
from explorer.models.state_forward import StateForward
from explorer.models.transformers_model import TransformersModel
from explorer.models.tree_attention import RowLimits
from explorer.models.tree_forward import TreeForward
from explorer.progress import Cancelled, CancelToken, Progress
from explorer.text import ChatMessage

Ids = tuple[int, ...]
# Cached and fresh passes add up the same float32 products in another order; the contract of explorer/models/base.py.
TOLERANCE = 2e-4
TREE_KINDS = ["llama", "gpt2", "mistral", "gemma2", "gemma3", "llama4", "longrope"]
OTHER_KINDS = ["bloom", "lfm2", "mamba", "rwkv"]
SMALL_PASSES = BatchLimits(tokens=5, row=RowLimits(pass_pairs=100, slots=40))


def text(length: int, seed: int = 0) -> Ids:
    """Reproducible ids."""
    return tuple(int(token) for token in np.random.default_rng(seed).integers(0, BEGIN, length))


def load(folder: Path, ref: ModelRef | None = None, **hooks: Any) -> TransformersModel:
    identity = ModelIdentity("tiny", "transformers", str(folder), "", "0" * 64, "0" * 64)
    return TransformersModel.load(folder, ref or ModelRef(str(folder), threads=1), identity, **hooks)


class Reference:
    """The model as transformers loads it, asked from scratch with an explicit mask and no cache."""

    def __init__(self, folder: Path) -> None:
        self.model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
        self.logits = cache(self._logits)

    def _logits(self, prefix: Ids) -> NDArray[np.float32]:
        ids = torch.tensor([prefix])
        with torch.inference_mode():
            logits: NDArray[np.float32] = (
                self.model(ids, attention_mask=torch.ones_like(ids), use_cache=False).logits[0, -1].numpy()
            )
        return logits

    def check(self, model: TransformersModel, prefixes: list[Ids], **hooks: Any) -> None:
        got = model.next_token_logits(prefixes, **hooks)
        assert got.dtype == np.float32
        assert got.shape == (len(prefixes), model.info.vocab_size)
        for row, prefix in zip(got, prefixes, strict=True):
            assert np.abs(row - self.logits(prefix)).max() <= TOLERANCE


@pytest.fixture(scope="session")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("tiny")
    return cache(lambda kind: save_tiny_model(root / kind, kind))


@pytest.fixture(scope="session")
def reference_of(folder_of: Callable[[str], Path]) -> Callable[[str], Reference]:
    return cache(lambda kind: Reference(folder_of(kind)))


@pytest.fixture
def small_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passes of five tokens, so that short texts take several."""
    monkeypatch.setattr(BatchLimits, "for_model", classmethod(lambda *_: SMALL_PASSES))


@pytest.fixture
def llama(folder_of: Callable[[str], Path]) -> TransformersModel:
    return load(folder_of("llama"))


class Passes:
    """Counts the forward passes of a model and the tokens and head rows in them."""

    def __init__(self, model: TransformersModel) -> None:
        self.tokens: list[int] = []
        self.head_rows: list[int] = []
        network = model._fresh._model.model
        network.register_forward_pre_hook(
            lambda _, __, given: self.tokens.append(given["input_ids"].numel()), with_kwargs=True
        )
        network.get_output_embeddings().register_forward_pre_hook(
            lambda _, given: self.head_rows.append(given[0].shape[-2])
        )


# --- The numbers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "way"),
    [(kind, TreeForward) for kind in TREE_KINDS]
    + [("bloom", StateForward), ("lfm2", StateForward), ("mamba", StateForward), ("rwkv", FreshForward)],
)
def test_the_self_check_finds_the_fastest_way_each_model_can_take(
    kind: str, way: type, folder_of: Callable[[str], Path]
) -> None:
    model = load(folder_of(kind))
    assert type(model._forward) is way
    assert len(model.info.notes) == 3  # number format, what another would cost, way


def test_every_kind_is_tested() -> None:
    assert sorted(TREE_KINDS + OTHER_KINDS) == sorted(KINDS)


# A few beginnings and tails, so that requests meet each other's paths again and again, also past windows of six.
paths = st.builds(
    lambda start, stop, tail: (*text(24, start)[:stop], *tail),
    st.integers(0, 1),
    st.integers(1, 24),
    st.lists(st.integers(0, 2), max_size=3),
)
requests = st.tuples(st.just("ask"), st.lists(paths, min_size=1, max_size=6))
interruptions = st.tuples(st.just("cancel"), st.lists(paths, min_size=1, max_size=6))
budgets = st.tuples(st.just("budget"), st.integers(0, 120_000))
pins = st.tuples(st.just("pin"), paths)


@pytest.mark.parametrize("kind", TREE_KINDS + OTHER_KINDS)
@pytest.mark.usefixtures("small_passes")
def test_any_sequence_of_requests_evictions_and_cancels_gives_the_numbers_of_fresh_passes(
    kind: str, folder_of: Callable[[str], Path], reference_of: Callable[[str], Reference]
) -> None:
    model, reference = load(folder_of(kind)), reference_of(kind)

    @settings(max_examples=5)
    @given(st.lists(st.one_of(requests, requests, interruptions, budgets, pins), max_size=12))
    def run(steps: list[tuple[str, Any]]) -> None:
        for name, value in steps:
            if name == "ask":
                reference.check(model, value)
            elif name == "cancel":
                ask_and_cancel_after_one_pass(model, value)
            elif name == "budget":
                model.set_cache_budget(value)
            else:
                model.pin(value)
            stats = model.cache_stats()
            assert 0 <= stats.bytes_used <= stats.budget

    run()


def ask_and_cancel_after_one_pass(model: TransformersModel, prefixes: list[Ids]) -> None:
    token = CancelToken()
    network = model._fresh._model.model
    handle = network.register_forward_hook(lambda *_: token.cancel())
    try:
        model.next_token_logits(prefixes, cancel=token)
    except Cancelled:
        pass
    finally:
        handle.remove()


@pytest.mark.parametrize("length", [50, 100])
def test_c38_back_and_forth_past_the_sliding_window(
    length: int, folder_of: Callable[[str], Path], reference_of: Callable[[str], Reference]
) -> None:
    model, reference = load(folder_of("gemma3")), reference_of("gemma3")
    node = text(length)
    for path in (node, (*node, 7), node, (*node, 9), (*node, 7, 1), node[:-1], node[:3], (*node, 9, 1)):
        reference.check(model, [path])
    reference.check(model, [(*node, child) for child in range(20)] + [node[:4], (*node[:4], 8)])


def test_c36_a_pad_token_inside_the_prompt_is_attended_to(
    folder_of: Callable[[str], Path], reference_of: Callable[[str], Reference]
) -> None:
    model, reference = load(folder_of("llama")), reference_of("llama")
    prompt = (*text(4), END, *text(3, 1), END, *text(2, 2))
    assert model.info.pad_token_id == END
    reference.check(model, [prompt])
    ids = torch.tensor([prompt])
    masked = reference.model(ids, attention_mask=(ids != END).long()).logits[0, -1].detach().numpy()
    assert np.abs(masked - reference.logits(prompt)).max() > 0.1  # the fault would show


def test_a_wrong_mask_is_noticed_and_the_model_computed_another_way(
    folder_of: Callable[[str], Path], reference_of: Callable[[str], Reference], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_forward, "mask_forms", lambda config: [blind(form) for form in honest(config)])
    monkeypatch.setattr("explorer.models.self_check.mask_forms", tree_forward.mask_forms)
    model = load(folder_of("gemma3"))
    assert type(model._forward) is StateForward
    reference_of("gemma3").check(model, [text(30), (*text(30), 1), text(9)])


honest = tree_forward.mask_forms


def blind(form: tree_forward.MaskForm) -> tree_forward.MaskForm:
    """The same masks as if no layer had a window."""
    return replace(form, layers={name: tree_forward.Attention("full") for name in form.layers})


def test_unknown_layer_types_get_no_tree() -> None:
    assert tree_forward.mask_forms(type("Config", (), {"layer_types": ["full_attention", "novel"]})) == []


def test_rotary_embeddings_that_switch_with_length_are_never_reused_beyond_it(
    folder_of: Callable[[str], Path], reference_of: Callable[[str], Reference]
) -> None:
    model, reference = load(folder_of("longrope")), reference_of("longrope")
    prompt = text(20)
    reference.check(model, [prompt[:15], prompt[:16], prompt[:17], prompt, (*prompt, 1), prompt[:10]])


@pytest.mark.parametrize("kind", ["llama", "gemma3"])
def test_bfloat16_takes_the_fast_way_too(kind: str, folder_of: Callable[[str], Path]) -> None:
    model = load(folder_of(kind), ModelRef("", dtype="bfloat16", threads=1))
    assert type(model._forward) is TreeForward
    assert model.info.environment.dtype == "bfloat16"
    assert np.isfinite(model.next_token_logits([text(20), text(21)])).all()


# --- The cost ---------------------------------------------------------------------------------------------------------


def test_children_of_a_node_are_one_pass_over_their_own_tokens(llama: TransformersModel) -> None:
    node = text(40)
    llama.next_token_logits([node])
    passes = Passes(llama)
    llama.next_token_logits([(*node, child) for child in range(64)])
    assert passes.tokens == [64]


def test_the_head_is_computed_only_where_it_was_asked_for(llama: TransformersModel) -> None:
    passes = Passes(llama)
    llama.next_token_logits([text(40), text(30)])
    assert (passes.tokens, passes.head_rows) == ([40], [2])


def test_a_step_computes_one_token(llama: TransformersModel) -> None:
    path = text(10)
    llama.next_token_logits([path])
    passes = Passes(llama)
    for token in text(5, 1):
        path = (*path, token)
        llama.next_token_logits([path])
    assert passes.tokens == [1] * 5


def test_what_was_answered_is_answered_again_with_the_same_bits_and_no_pass(llama: TransformersModel) -> None:
    prefixes = [text(10), text(12), text(10)]
    first = llama.next_token_logits(prefixes)
    kept = first.copy()
    with pytest.raises(ValueError, match="read-only"):
        first[:] = 0
    passes = Passes(llama)
    assert np.array_equal(llama.next_token_logits(prefixes), kept)
    assert passes.tokens == []
    assert np.array_equal(kept[0], kept[2])


def test_nothing_asked_is_nothing_answered(llama: TransformersModel) -> None:
    assert llama.next_token_logits([]).shape == (0, VOCAB_SIZE)


@pytest.mark.usefixtures("small_passes")
def test_a_long_prompt_tells_its_progress_and_stops_between_passes(folder_of: Callable[[str], Path]) -> None:
    model, prompt, token = load(folder_of("llama")), text(100), CancelToken()
    seen: list[Progress] = []

    def watch(progress: Progress) -> None:
        seen.append(progress)
        if progress.done == 50:
            token.cancel()

    with pytest.raises(Cancelled):
        model.next_token_logits([prompt], progress=watch, cancel=token)
    assert [(step.done, step.total) for step in seen] == [(done, 100) for done in range(5, 55, 5)]
    passes = Passes(model)
    model.next_token_logits([prompt])
    assert sum(passes.tokens) == 50  # what was finished before the cancel was kept


def test_c30_a_call_cancelled_before_it_starts_runs_no_pass(llama: TransformersModel) -> None:
    token, passes = CancelToken(), Passes(llama)
    token.cancel()
    with pytest.raises(Cancelled):
        llama.next_token_logits([text(5)], cancel=token)
    assert passes.tokens == []


@pytest.mark.parametrize("kind", ["llama", "lfm2"])
def test_the_pinned_path_survives_others(kind: str, folder_of: Callable[[str], Path]) -> None:
    model = load(folder_of(kind))
    node = text(30)
    model.next_token_logits([node])
    model.pin(node)
    model.set_cache_budget(2 * model.cache_stats().bytes_used)
    for seed in range(1, 12):
        model.next_token_logits([text(20, seed)])
    passes = Passes(model)
    model.next_token_logits([(*node, 1)])
    assert passes.tokens == [1]


@pytest.mark.parametrize("kind", ["llama", "lfm2"])
def test_what_a_call_would_have_to_compute_is_known_before(kind: str, folder_of: Callable[[str], Path]) -> None:
    model = load(folder_of(kind))
    node = text(10)
    children = [(*node, token) for token in (3, 1, 3)]
    assert model.missing([]) == 0
    assert model.missing([node]) == 10
    assert model.missing(children) == 12
    model.next_token_logits([node])
    assert model.missing([node, *children]) == 2
    model.next_token_logits(children[:1])
    assert model.missing(children) == 1


def test_without_a_cache_every_call_is_as_dear_as_the_first(folder_of: Callable[[str], Path]) -> None:
    model = load(folder_of("longrope"))  # beyond 16 tokens nothing may be reused
    node = text(20)
    model.next_token_logits([node])
    assert model.missing([(*node, 1)]) == 21


def test_a_budget_of_nothing_keeps_nothing_and_is_right(
    folder_of: Callable[[str], Path], reference_of: Callable[[str], Reference]
) -> None:
    model, reference = load(folder_of("llama")), reference_of("llama")
    model.set_cache_budget(0)
    for path in (text(10), text(11), text(10)):
        reference.check(model, [path])
        assert model.cache_stats().bytes_used == 0


# --- Memory runs out --------------------------------------------------------------------------------------------------


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A device whose memory holds a pass of only so many tokens: the one number in the list."""
    room, honest_call = [10**6], CausalModel.call

    def call(self: CausalModel, ids: torch.Tensor, *rest: Any, **named: Any) -> Any:
        if ids.numel() > room[0]:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return honest_call(self, ids, *rest, **named)

    monkeypatch.setattr(CausalModel, "call", call)
    # Collecting the garbage of a whole test run takes half a second each time.
    monkeypatch.setattr("explorer.models.transformers_model.release_memory", lambda device: None)
    return room


@pytest.mark.parametrize("kind", ["llama", "bloom"])
@pytest.mark.usefixtures("small_passes")
def test_passes_get_smaller_until_they_fit(
    kind: str, room: list[int], folder_of: Callable[[str], Path], reference_of: Callable[[str], Reference]
) -> None:
    model = load(folder_of(kind))
    room[0] = 3
    reference_of(kind).check(model, [(*text(30), child) for child in range(10)])


@pytest.mark.usefixtures("small_passes")
def test_where_nothing_helps_a_message_says_so_and_the_model_lives_on(
    room: list[int], folder_of: Callable[[str], Path], reference_of: Callable[[str], Reference]
) -> None:
    model, reference = load(folder_of("llama")), reference_of("llama")
    model.set_cache_budget(10**8)
    room[0] = 0
    with pytest.raises(OutOfMemory) as raised:
        model.next_token_logits([text(10)])
    assert raised.value.message.code == "engine.out_of_memory"
    assert all(raised.value.message.sentences())
    assert "2.00 GiB" in raised.value.message.details
    assert model.cache_stats().budget < 10**8  # the cache was given up first
    room[0] = 10**6
    reference.check(model, [text(10)])


def test_other_failures_of_a_pass_are_not_taken_for_a_full_memory(
    llama: TransformersModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def call(*_: Any, **__: Any) -> Any:
        raise RuntimeError("device-side assert triggered")

    monkeypatch.setattr(CausalModel, "call", call)
    with pytest.raises(RuntimeError, match="device-side assert"):
        llama.next_token_logits([text(3)])


# --- What it refuses --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "limit"), [("gpt2", {"n_positions": 8}), ("llama", {"max_position_embeddings": 8})])
def test_c29_the_context_window_to_its_exact_edge(kind: str, limit: dict[str, int], tmp_path: Path) -> None:
    model = load(save_tiny_model(tmp_path, kind, **limit))
    assert model.info.context_length == 8
    assert model.next_token_logits([text(7), text(8)]).shape == (2, VOCAB_SIZE)
    passes = Passes(model)
    with pytest.raises(PromptError) as raised:
        model.next_token_logits([text(8, 1), text(9)])
    assert raised.value.message.code == "prompt.too_long"
    assert "9" in raised.value.message.text()
    assert "8" in raised.value.message.text()
    assert passes.tokens == []  # refused before the model runs


@pytest.mark.parametrize(
    ("prefix", "code"), [((), "prompt.empty"), ((1, VOCAB_SIZE), "prompt.unknown_id"), ((-1,), "prompt.unknown_id")]
)
def test_prefixes_the_model_cannot_take(prefix: Ids, code: str, llama: TransformersModel) -> None:
    with pytest.raises(PromptError) as raised:
        llama.next_token_logits([text(3), prefix])
    assert raised.value.message.code == code
    assert all(raised.value.message.sentences())


def test_a_context_of_one_token(tmp_path: Path) -> None:
    model = load(save_tiny_model(tmp_path, "llama", max_position_embeddings=2))
    assert model.next_token_logits([(1,), (1, 2)]).shape == (2, VOCAB_SIZE)


# --- Text -------------------------------------------------------------------------------------------------------------


def test_text_is_encoded_as_the_tokenizer_does(llama: TransformersModel) -> None:
    assert llama.vocabulary.decode(llama.encode("Hé </s>!")) == "Hé </s>!"
    assert END in llama.encode("Hé </s>!")
    assert len(llama.vocabulary) == llama.info.vocab_size == VOCAB_SIZE


TEMPLATE = (
    "{% for m in messages %}<s>{{ m.role }}:{{ m.content }}{% endfor %}{% if add_generation_prompt %}>{% endif %}"
)
REFUSAL = "{{ raise_exception('only users here') }}"


def with_template(folder: Path, template: str) -> TransformersModel:
    save_tiny_model(folder, "llama")
    (folder / "chat_template.jinja").write_text(template, "utf-8")
    return load(folder)


def test_a_chat_is_rendered_by_the_models_template(tmp_path: Path) -> None:
    model = with_template(tmp_path, TEMPLATE)
    messages = [ChatMessage("user", "Hi"), ChatMessage("assistant", "Yo")]
    rendered, ids = model.encode_chat(messages)
    assert rendered == "<s>user:Hi<s>assistant:Yo>"
    assert ids.count(BEGIN) == 2
    assert model.vocabulary.decode(ids) == rendered
    assert model.encode_chat(messages, add_generation_prompt=False)[0] == rendered[:-1]
    assert model.info.chat_template == TEMPLATE


def test_c33_a_model_without_a_template_says_so(llama: TransformersModel) -> None:
    assert llama.info.chat_template is None
    with pytest.raises(PromptError) as raised:
        llama.encode_chat([ChatMessage("user", "Hi")])
    assert raised.value.message.code == "prompt.no_template"


@pytest.mark.parametrize(("template", "words"), [(REFUSAL, "only users here"), ("{{ messages[7].content.x }}", "x")])
def test_a_template_that_fails_says_why(template: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(PromptError) as raised:
        with_template(tmp_path, template).encode_chat([ChatMessage("system", "Hi")])
    assert raised.value.message.code == "prompt.template"
    assert words in raised.value.message.text()


# --- What it knows of itself ------------------------------------------------------------------------------------------


@pytest.fixture
def threads() -> Iterator[None]:
    """The number of threads is one for the whole process."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


FAST = PassSpeed(fixed=1e-3, token=1e-6)  # so fast that no pass of these tests is parted, whatever the machine does


@pytest.mark.usefixtures("threads")
def test_threads_are_measured_unless_the_user_says_how_many(
    folder_of: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    limits: list[int] = []
    note = ("{step} and {batch} threads", {"step": 2, "batch": 3})

    def measured(limit: int, measure: Callable[[int], Seconds]) -> tuple[Threads, PassSpeed, Note]:
        limits.append(limit)
        assert min(measure(2)) > 0.0
        return Threads(2, 3), FAST, note

    monkeypatch.setattr("explorer.models.opening.most_threads", lambda: 4)
    monkeypatch.setattr("explorer.models.opening.measure_threads", measured)
    model = load(folder_of("llama"), ModelRef(""))
    assert (limits, model.info.environment.threads) == ([4], 3)
    assert note in model.info.notes
    used = []
    model._fresh._model.model.register_forward_pre_hook(lambda *_: used.append(torch.get_num_threads()))
    model.next_token_logits([text(5)])
    model.next_token_logits([(*text(5), child) for child in range(40)])
    assert used == [2, 3]  # five tokens, forty tokens
    model = load(folder_of("llama"), ModelRef("", threads=1))
    assert (limits, model.info.environment.threads, torch.get_num_threads()) == ([4], 1, 1)


@pytest.mark.usefixtures("threads")
def test_what_a_model_says_of_itself(tmp_path: Path) -> None:
    folder = save_tiny_model(tmp_path, "llama")
    generation = {"eos_token_id": [END, 3], "temperature": 0.6, "top_k": 20, "do_sample": True}
    (folder / "generation_config.json").write_text(json.dumps(generation), "utf-8")
    info = load(folder, ModelRef(str(folder), threads=2)).info
    assert info.eos_token_ids == (END, 3)
    assert (info.bos_token_id, info.pad_token_id, info.adds_bos) == (BEGIN, END, False)
    assert (info.vocab_size, info.context_length) == (VOCAB_SIZE, 128)
    assert info.generation_defaults == generation
    assert (info.environment.device, info.environment.dtype, info.environment.threads) == ("cpu", "float32", 2)
    assert torch.get_num_threads() == 2
    assert {"python", "torch", "transformers", "tokenizers", "numpy"} <= set(info.environment.versions)
    assert info.parameters == sum(p.numel() for p in AutoModelForCausalLM.from_pretrained(folder).parameters())
    assert all("{" not in note.format(**params) for note, params in info.notes)
    json.dumps(dict(info.generation_defaults))


# --- Loading ----------------------------------------------------------------------------------------------------------


def test_loading_tells_its_progress_and_can_be_cancelled(folder_of: Callable[[str], Path]) -> None:
    seen: list[Progress] = []
    load(folder_of("llama"), progress=seen.append)
    tensors = [step for step in seen if step.unit == "tensors"]
    assert tensors[-1].done == tensors[-1].total
    for stop in range(len(seen)):
        token, count = CancelToken(), iter(range(len(seen)))
        with pytest.raises(Cancelled):
            load(
                folder_of("llama"),
                progress=lambda _, token=token, count=count, stop=stop: token.cancel() if next(count) == stop else None,
                cancel=token,
            )


def rewrite_config(folder: Path, **values: Any) -> None:
    file = folder / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text("utf-8")), **values}), "utf-8")


def cut_off(folder: Path) -> None:
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-10])


def lose_a_tensor(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    tensors = load_file(folder / "model.safetensors")
    del tensors["model.layers.1.mlp.up_proj.weight"]
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def only_pickle(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


FAULTS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "no config": (lambda folder: (folder / "config.json").unlink(), "model.missing"),
    "broken config": (lambda folder: (folder / "config.json").write_text("{"), "model.corrupt"),
    "pickle only": (only_pickle, "model.no_safetensors"),
    "cut off": (cut_off, "model.corrupt"),
    "empty weights": (lambda folder: (folder / "model.safetensors").write_bytes(b""), "model.corrupt"),
    "random weights": (
        lambda folder: (folder / "model.safetensors").write_bytes(bytes(range(256)) * 9),
        "model.corrupt",
    ),
    "a tensor less": (lose_a_tensor, "model.corrupt"),
    "another width": (lambda folder: rewrite_config(folder, hidden_size=48, head_dim=12), "model.corrupt"),
    "more layers": (lambda folder: rewrite_config(folder, num_hidden_layers=3), "model.corrupt"),
    "broken index": (lambda folder: (folder / "model.safetensors.index.json").write_text("[]"), "model.corrupt"),
    "a lost shard": (
        lambda folder: (folder / "model.safetensors.index.json").write_text('{"weight_map": {"a": "b.safetensors"}}'),
        "model.corrupt",
    ),
    "unknown kind": (lambda folder: rewrite_config(folder, model_type="novel"), "model.unsupported"),
    "foreign code": (
        lambda folder: rewrite_config(folder, model_type="novel", auto_map={"AutoConfig": "evil.Config"}),
        "model.unsupported",
    ),
    "not causal": (lambda folder: rewrite_config(folder, model_type="vit"), "model.unsupported"),
    "no tokenizer": (lambda folder: (folder / "tokenizer.json").unlink(), "model.tokenizer"),
    "broken tokenizer": (lambda folder: (folder / "tokenizer.json").write_text("{}"), "model.tokenizer"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_c40_a_folder_that_cannot_be_opened_says_why_in_three_sentences(fault: str, tmp_path: Path) -> None:
    damage, code = FAULTS[fault]
    damage(save_tiny_model(tmp_path, "llama"))
    with pytest.raises(ModelLoadError) as raised:
        load(tmp_path)
    assert raised.value.message.code == code
    assert all(raised.value.message.sentences())


def test_a_model_larger_than_the_memory_is_refused_before_it_is_read(
    folder_of: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("explorer.models.transformers_loading.free_memory", lambda device: 1000)
    with pytest.raises(ModelLoadError) as raised:
        load(folder_of("llama"))
    assert raised.value.message.code == "model.too_large"


def test_c11_float16_on_the_processor_is_refused(folder_of: Callable[[str], Path]) -> None:
    with pytest.raises(ModelLoadError) as raised:
        load(folder_of("llama"), ModelRef("", dtype="float16"))
    assert raised.value.message.code == "dtype.float16"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("kind", TREE_KINDS)
def test_the_gpu_gives_the_processors_numbers(
    kind: str, folder_of: Callable[[str], Path], reference_of: Callable[[str], Reference]
) -> None:
    model = load(folder_of(kind), ModelRef("", device="cuda", dtype="float32"))
    prefixes = [text(30), (*text(30), 1), (*text(30), 2), text(9)]
    for row, prefix in zip(model.next_token_logits(prefixes), prefixes, strict=True):
        assert np.abs(row - reference_of(kind).logits(prefix)).max() <= 1e-2  # TF32 and other kernels


def places_of(name: str, part: torch.nn.Module) -> dict[str, str]:
    """Every part of a model in memory, but its second block, which is on disk."""
    if isinstance(part, torch.nn.ModuleList):
        return {f"{name}.{index}": "disk" if index == 1 else "cpu" for index in range(len(part))}
    if not any(isinstance(inner, torch.nn.ModuleList) for inner in part.modules()):
        return {name: "cpu"}
    places: dict[str, str] = {}
    for child, inner in part.named_children():
        places |= places_of(f"{name}.{child}" if name else child, inner)
    return places


@pytest.mark.parametrize("kind", ["llama", "gemma3", "bloom", "mamba"])
def test_a_model_in_several_places_gives_the_numbers_of_one_in_one_place(
    kind: str,
    folder_of: Callable[[str], Path],
    reference_of: Callable[[str], Reference],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Memory and disk stand for two GPUs: the same hooks of accelerate move what a pass needs."""
    load_weights = transformers_model.load_weights

    def spread(*arguments: Any) -> Any:
        network = load_weights(*arguments)
        places = places_of("", network)
        return dispatch_model(network, places, main_device="cpu", offload_dir=str(tmp_path), force_hooks=True)

    monkeypatch.setattr(transformers_model, "load_weights", spread)
    check_spread(load(folder_of(kind)), kind, reference_of(kind), TOLERANCE)


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two CUDA devices")
@pytest.mark.parametrize("kind", ["llama", "gemma3"])
def test_two_gpus_give_the_processors_numbers(
    kind: str,
    folder_of: Callable[[str], Path],
    reference_of: Callable[[str], Reference],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(transformers_loading, "_places", lambda *_: {"device_map": "balanced"})
    check_spread(load(folder_of(kind), ModelRef("", device="cuda", dtype="float32")), kind, reference_of(kind), 1e-2)


def check_spread(model: TransformersModel, kind: str, reference: Reference, tolerance: float) -> None:
    assert model._fresh._model._spread
    assert type(model._forward) is (TreeForward if kind in TREE_KINDS else StateForward)
    for prefixes in ([text(20), *((*text(20), child) for child in range(5)), text(9)], [(*text(20), 3, 4), text(30)]):
        for row, prefix in zip(model.next_token_logits(prefixes), prefixes, strict=True):
            assert np.abs(row - reference.logits(prefix)).max() <= tolerance


# --- The real model ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def smollm2_model(smollm2: str) -> TransformersModel:
    model = open_model(ModelRef(smollm2))
    assert isinstance(model, TransformersModel)
    return model


def probabilities(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    weights = np.exp(logits.astype(np.float64) - logits.max())
    result: NDArray[np.float64] = weights / weights.sum()
    return result


@pytest.mark.model
def test_smollm2_continues_as_it_should_and_the_same_after_looking_around(smollm2_model: TransformersModel) -> None:
    prompt = smollm2_model.encode("The capital of France is")
    assert (smollm2_model.info.vocab_size, smollm2_model.info.context_length) == (49152, 8192)
    assert type(smollm2_model._forward) is TreeForward
    for _ in range(2):
        path, first = prompt, smollm2_model.next_token_logits([prompt])[0]
        assert int(first.argmax()) == 7042
        assert probabilities(first)[7042] == pytest.approx(0.7725, abs=0.005)
        for expected in (7042, 30, 198, 198, 504):
            assert int(smollm2_model.next_token_logits([path])[0].argmax()) == expected
            path = (*path, expected)
        smollm2_model.next_token_logits([(*path[:cut], token) for cut in (3, 7, 9) for token in (1, 100, 1000)])


@pytest.mark.model
def test_c36_smollm2_attends_to_end_tokens_in_a_chat(smollm2_model: TransformersModel) -> None:
    text_of_chat, ids = smollm2_model.encode_chat([ChatMessage("user", "Say hi.")])
    assert ids.count(2) == 2
    assert smollm2_model.vocabulary.decode(ids) == text_of_chat
    found = probabilities(smollm2_model.next_token_logits([ids])[0])
    hello, i = smollm2_model.encode("Hello")[0], smollm2_model.encode("I")[0]
    assert found[[hello, i]] == pytest.approx([0.1181, 0.1136], abs=0.005)


@pytest.mark.model
def test_smollm2_branches_agree_with_passes_from_scratch(smollm2_model: TransformersModel) -> None:
    node = smollm2_model.encode("Count: one, two, three, four,")
    prefixes = [node[:4], *((*node, token) for token in (100, 200, 300)), (*node, 100, 5)]
    with torch.inference_mode():
        fresh = [smollm2_model._fresh._model.whole([prefix])[0] for prefix in prefixes]
    assert np.abs(smollm2_model.next_token_logits(prefixes) - np.stack(fresh)).max() <= TOLERANCE
