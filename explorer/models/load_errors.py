"""The messages of models that could not be found, fetched, imported or opened."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from explorer.i18n import N_
from explorer.messages import ExplorerError, ModelLoadError, UserMessage
from explorer.progress import Cancelled

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_READ_ONLY = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
STAYS = N_("No model was opened; the one open before stays as it was.")


def missing(source: str, details: str = "") -> ModelLoadError:
    """No such file, folder or name."""
    return ModelLoadError(
        UserMessage(
            "model.missing",
            N_("There is no model “{source}”."),
            STAYS,
            N_(
                "Give a name that “models list” shows, a hub name such as owner/name, a folder, a .gguf file, "
                "table:FILE or lesson:NAME, and check its spelling."
            ),
            {"source": source},
            details,
        )
    )


def corrupt(name: str, details: str, *, removed: bool = False) -> ModelLoadError:
    """A file that is damaged or not what it should be. ``removed``: a download that was thrown away."""
    return ModelLoadError(
        UserMessage(
            "model.corrupt",
            N_("{name} is damaged or not a model file."),
            STAYS,
            N_("The damaged download was removed; fetch it again.")
            if removed
            else N_("Fetch the file again from where it came from, and compare its sha256 with the published one."),
            {"name": name},
            details,
        )
    )


def unsupported(name: str, details: str) -> ModelLoadError:
    """An architecture or a format that cannot be run."""
    return ModelLoadError(
        UserMessage(
            "model.unsupported",
            N_("{name} is of a kind that this version of transformers cannot run."),
            STAYS,
            N_("Open another model, or update transformers; the details name the architecture."),
            {"name": name},
            details,
        )
    )


def package_missing(package: str) -> ModelLoadError:
    """An optional package that an import needs (C40)."""
    return ModelLoadError(
        UserMessage(
            "model.package_missing",
            N_("The Python package {package} is not installed."),
            N_("GGUF files cannot be imported without it; models imported before still open."),
            N_("Install it with: pip install {package}"),
            {"package": package},
        )
    )


def disk_full(folder: Path, details: str = "", *, needed: int | None = None, free: int | None = None) -> ModelLoadError:
    """No room for an import or a download. ``needed`` and ``free`` in bytes where they are known."""
    known = needed is not None and free is not None
    return ModelLoadError(
        UserMessage(
            "model.disk_full",
            N_("The disk of {folder} has no room for the model: it needs {needed} MB and {free} MB are free.")
            if known
            else N_("The disk of {folder} has no room for the model."),
            N_("Nothing was kept of it, and the model open before stays as it was."),
            N_("Free some space, or set TOKEN_TREE_MODELS to a folder on a larger disk, and try again."),
            {"folder": str(folder), "needed": (needed or 0) // 10**6 + 1, "free": (free or 0) // 10**6},
            details,
        )
    )


def not_writable(folder: Path, details: str = "") -> ModelLoadError:
    """The model cache cannot be written."""
    return ModelLoadError(
        UserMessage(
            "model.not_writable",
            N_("The model folder {folder} cannot be written."),
            N_("Nothing was imported, and the model open before stays as it was."),
            N_("Give yourself the right to write there, or set TOKEN_TREE_MODELS to another folder."),
            {"folder": str(folder)},
            details,
        )
    )


def unreadable(path: str, details: str) -> ModelLoadError:
    """A file that the system does not let us read."""
    return ModelLoadError(
        UserMessage(
            "model.unreadable",
            N_("You may not read {path}."),
            STAYS,
            N_("Give yourself the right to read it, or choose another file."),
            {"path": path},
            details,
        )
    )


def unreachable(name: str, host: str, details: str) -> ModelLoadError:
    """A download that failed for want of a connection."""
    return ModelLoadError(
        UserMessage(
            "model.unreachable",
            N_("{name} could not be fetched from {host}."),
            STAYS,
            N_("Check the connection and the proxy settings and try again; what was cut off starts over cleanly."),
            {"name": name, "host": host},
            details,
        )
    )


@contextmanager
def explained(name: str, folder: Path) -> Iterator[None]:
    """Turn what libraries raise while they read ``name``, or write below ``folder``, into a `ModelLoadError`."""
    try:
        yield
    except (ExplorerError, Cancelled):
        raise
    except OSError as error:
        if error.errno in _FULL:
            raise disk_full(folder, str(error)) from error
        if error.errno in _READ_ONLY:
            raise _forbidden(error, folder) from error
        raise corrupt(name, f"{type(error).__name__}: {error}") from error
    except MemoryError as error:
        raise ModelLoadError(
            UserMessage(
                "model.memory",
                N_("{name} does not fit into this computer's memory."),
                STAYS,
                N_("Close other programs, or open a smaller model."),
                {"name": name},
                str(error),
            )
        ) from error
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        if "No space left" in str(error):  # safetensors writes in Rust and keeps only the words of ENOSPC
            raise disk_full(folder, text) from error
        if isinstance(error, NotImplementedError) or "not supported" in str(error):
            raise unsupported(name, text) from error
        raise corrupt(name, text) from error


def _forbidden(error: OSError, folder: Path) -> ModelLoadError:
    path = error.filename if isinstance(error.filename, str | Path) else None
    if path is None or Path(path).is_relative_to(folder) or folder.is_relative_to(path):
        return not_writable(folder, str(error))
    return unreadable(str(path), str(error))
