"""What libraries raise over foreign files and full disks becomes a message of three sentences."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from explorer.messages import ModelLoadError, PromptError, UserMessage
from explorer.models.load_errors import explained, missing
from explorer.progress import Cancelled

FOLDER = Path("/cache/models")


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "model.disk_full", "/cache/models"),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), "model.disk_full", "/cache/models"),
        (RuntimeError("I/O error: No space left on device (os error 28)"), "model.disk_full", "/cache/models"),
        (OSError(errno.EROFS, "Read-only file system", "/cache/models/x"), "model.not_writable", "/cache/models"),
        (PermissionError(errno.EACCES, "denied", "/cache"), "model.not_writable", "/cache/models"),
        (PermissionError(errno.EACCES, "denied", "/home/you/a.gguf"), "model.unreadable", "/home/you/a.gguf"),
        (OSError(errno.EIO, "Input/output error"), "model.corrupt", "tiny"),
        (MemoryError(), "model.memory", "tiny"),
        (ValueError("GGUF model with architecture x is not supported yet."), "model.unsupported", "tiny"),
        (NotImplementedError("Unknown gguf model_type"), "model.unsupported", "tiny"),
        (KeyError("general.architecture"), "model.corrupt", "general.architecture"),
    ],
)
def test_every_error_is_explained(error: Exception, code: str, words: str) -> None:
    with pytest.raises(ModelLoadError) as caught, explained("tiny", FOLDER):
        raise error
    message = caught.value.message
    assert message.code == code
    assert all(message.sentences())
    assert words in f"{caught.value} {message.details}"
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("error", [Cancelled(), missing("x"), PromptError(UserMessage("prompt.empty", "Empty."))])
def test_what_is_explained_already_passes(error: Exception) -> None:
    with pytest.raises(type(error)) as caught, explained("tiny", FOLDER):
        raise error
    assert caught.value is error
