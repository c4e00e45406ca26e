"""GGUF files are imported once: exact numbers, nothing left behind, every failure in three sentences (C40)."""

from __future__ import annotations

import errno
import importlib.util
import json
import shutil
from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gguf_samples import TEMPLATE, TinyGguf, write_tiny_gguf

from explorer.messages import ExplorerError, ModelLoadError
from explorer.models import catalog, gguf_import
from explorer.models.base import ModelRef
from explorer.models.model_cache import Manifest, ModelCache
from explorer.progress import Cancelled, CancelToken, Progress
from explorer.text import ChatMessage

Usage = namedtuple("Usage", "total used free")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> TinyGguf:
    return write_tiny_gguf(tmp_path_factory.mktemp("gguf") / "tiny model Q8.gguf")


@pytest.fixture(scope="module")
def tiny_spm(tmp_path_factory: pytest.TempPathFactory) -> TinyGguf:
    return write_tiny_gguf(tmp_path_factory.mktemp("gguf") / "tiny-spm.gguf", "llama")


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != "sha256.json") if folder.exists() else []


def assert_explained(error: ExplorerError, code: str, *words: str) -> None:
    assert error.message.code == code
    assert all(error.message.sentences())
    for word in words:
        assert word in f"{error} {error.message.details}"


# --- A good file ------------------------------------------------------------------------------------------------------


def test_an_import_gives_the_numbers_of_the_file(tiny: TinyGguf, cache: ModelCache) -> None:
    reports: list[Progress] = []
    entry = catalog.import_gguf(tiny.path, reports.append)
    assert entry.name.startswith("tiny-model-Q8-")
    assert (entry.state, entry.licence, entry.source) == ("installed", "mit", "tiny model Q8.gguf")
    model = catalog.open_model(ModelRef(str(tiny.path), threads=1))
    prefixes = [model.encode("hello world"), (1, 2, 3), tuple(range(40, 90))]
    logits = model.next_token_logits(prefixes)
    for prefix, row in zip(prefixes, logits, strict=True):
        with torch.no_grad():
            expected = tiny.model(torch.tensor([prefix])).logits[0, -1].numpy()
        np.testing.assert_allclose(row, expected, atol=2e-4)
    assert model.info.identity.sha256 == entry.sha256
    assert model.info.identity.name == model.info.identity.source == entry.name
    assert model.info.vocab_size == len(model.vocabulary) == logits.shape[1]
    assert list(dict.fromkeys(report.phase for report in reports)) == [
        "Checking the model files",
        "Reading the tokenizer",
        "Reading the architecture",
        "Reading the weights",
        "De-quantising the weights",
        "Placing the weights",
        "Saving the model",
    ]
    assert [r.done for r in reports if r.phase == "De-quantising the weights"] == list(range(1, 21))


def test_the_import_is_a_folder_any_tool_can_open(tiny: TinyGguf, cache: ModelCache) -> None:
    entry = catalog.import_gguf(tiny.path)
    assert entry.path is not None
    config = json.loads((entry.path / "config.json").read_text("utf-8"))
    assert "quantization_config" not in config
    assert config["dtype"] == "float32"
    manifest = Manifest.read(entry.path)
    assert (manifest.quantisation, manifest.architecture) == ("Q8_0", "LlamaForCausalLM")
    assert manifest.parameters == sum(parameter.numel() for parameter in tiny.model.parameters())
    assert {"transformers", "gguf", "torch", "tokenizers"} <= manifest.versions.keys()
    assert set(manifest.files) == {path.name for path in entry.path.iterdir()} - {"manifest.json"}
    assert left_in(cache.root) == [entry.name]


def test_the_tokenizer_and_the_template_survive(tiny: TinyGguf, cache: ModelCache) -> None:
    model = catalog.open_model(ModelRef(str(tiny.path), threads=1))
    assert model.info.chat_template == TEMPLATE
    assert not model.info.adds_bos
    text = "hello 你好🙂 x"
    assert model.vocabulary.decode(model.encode(text)) == text
    rendered, ids = model.encode_chat([ChatMessage("user", "hello")])
    assert rendered == "<|im_start|>user\nhello<|im_end|>\n"
    assert ids[0] == 1


def test_a_begin_token_the_file_asks_for_is_still_added_after_the_import(tiny_spm: TinyGguf, cache: ModelCache) -> None:
    """C33: without it, or with two, the numbers are wrong."""
    model = catalog.open_model(ModelRef(str(tiny_spm.path), threads=1))
    assert model.info.adds_bos
    ids = model.encode("hello")
    assert ids[0] == model.info.bos_token_id == 1
    assert 1 not in ids[1:]
    assert model.vocabulary.strips_leading_space
    assert model.vocabulary.decode(ids[1:]) == "hello"
    assert model.info.chat_template is None


def test_a_second_start_reads_only_the_import(
    tiny: TinyGguf, cache: ModelCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = catalog.import_gguf(tiny.path)

    def not_again(*_: Any, **__: Any) -> None:
        raise AssertionError("the file was converted again")

    monkeypatch.setattr(gguf_import, "convert_gguf", not_again)
    assert catalog.import_gguf(tiny.path) == entry
    reports: list[Progress] = []
    catalog.open_model(ModelRef(entry.name, threads=1), reports.append)
    assert all(report.phase != "Checking the model files" for report in reports)  # digests are remembered


def test_the_same_file_under_another_name_is_another_import(tiny: TinyGguf, cache: ModelCache, tmp_path: Path) -> None:
    copy = tmp_path / "模型.gguf"
    shutil.copyfile(tiny.path, copy)
    first, second = catalog.import_gguf(tiny.path), catalog.import_gguf(copy)
    assert first.sha256 == second.sha256
    assert second.name.startswith("模型-")


# --- Cancel and failure -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "phase", ["Reading the tokenizer", "Reading the weights", "De-quantising the weights", "Saving the model"]
)
def test_cancel_leaves_nothing_and_the_next_try_works(phase: str, tiny: TinyGguf, cache: ModelCache) -> None:
    cancel = CancelToken()

    def stop_there(report: Progress) -> None:
        if report.phase == phase:
            cancel.cancel()

    with pytest.raises(Cancelled):
        catalog.import_gguf(tiny.path, stop_there, cancel)
    assert left_in(cache.root) == []
    if phase == "Saving the model":
        assert catalog.import_gguf(tiny.path).state == "installed"


@pytest.mark.parametrize("keep", [0, 3, 200, 20_000, -1000])
def test_a_cut_off_file_is_named(keep: int, tiny: TinyGguf, cache: ModelCache, tmp_path: Path) -> None:
    """C40: a broken file."""
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(tiny.path.read_bytes()[:keep])
    with pytest.raises(ModelLoadError) as caught:
        catalog.open_model(ModelRef(str(broken)))
    assert_explained(caught.value, "model.corrupt", "broken.gguf")
    assert left_in(cache.root) == []


def test_random_bytes_after_the_magic_are_named(cache: ModelCache, tmp_path: Path) -> None:
    noise = tmp_path / "noise.gguf"
    noise.write_bytes(b"GGUF" + np.random.default_rng(3).bytes(5000))
    with pytest.raises(ModelLoadError) as caught:
        catalog.import_gguf(noise)
    assert_explained(caught.value, "model.corrupt", "noise.gguf")


def test_an_unknown_architecture_is_named(tiny: TinyGguf, cache: ModelCache, tmp_path: Path) -> None:
    """C40: an unknown architecture."""
    other = tmp_path / "other.gguf"
    other.write_bytes(tiny.path.read_bytes().replace(b"llama", b"klama"))
    with pytest.raises(ModelLoadError) as caught:
        catalog.import_gguf(other)
    assert_explained(caught.value, "model.unsupported", "klama")
    assert left_in(cache.root) == []


def test_a_missing_file_is_named(cache: ModelCache, tmp_path: Path) -> None:
    with pytest.raises(ModelLoadError) as caught:
        catalog.open_model(ModelRef(str(tmp_path / "none.gguf")))
    assert_explained(caught.value, "model.missing", "none.gguf")


@pytest.mark.parametrize("package", ["gguf", "accelerate"])
def test_a_missing_package_is_named(
    package: str, tiny: TinyGguf, cache: ModelCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C40: start without the package."""
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == package else find_spec(name))
    with pytest.raises(ModelLoadError) as caught:
        catalog.import_gguf(tiny.path)
    assert_explained(caught.value, "model.package_missing", f"pip install {package}")


def test_a_disk_without_room_is_told_before_anything_is_written(
    tiny: TinyGguf, cache: ModelCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10**9, 10**9 - 10**6, 10**6))
    with pytest.raises(ModelLoadError) as caught:
        catalog.import_gguf(tiny.path)
    assert_explained(caught.value, "model.disk_full", "1 MB are free", str(cache.root))
    assert left_in(cache.root) == []


def test_a_disk_that_fills_up_meanwhile_is_told(
    tiny: TinyGguf, cache: ModelCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(type(tiny.model), "save_pretrained", full)
    with pytest.raises(ModelLoadError) as caught:
        catalog.import_gguf(tiny.path)
    assert_explained(caught.value, "model.disk_full")
    assert left_in(cache.root) == []


def test_a_tokenizer_that_changes_on_saving_is_not_kept(
    tiny: TinyGguf, cache: ModelCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other(folder: Path, **_: Any) -> Any:
        return lambda text: type("Encoding", (), {"input_ids": [0]})

    real = gguf_import.AutoTokenizer.from_pretrained
    monkeypatch.setattr(
        gguf_import.AutoTokenizer,
        "from_pretrained",
        lambda *args, **options: real(*args, **options) if "gguf_file" in options else other(*args, **options),
    )
    with pytest.raises(ModelLoadError) as caught:
        catalog.import_gguf(tiny.path)
    assert_explained(caught.value, "model.corrupt", "tokenizer")
    assert left_in(cache.root) == []
