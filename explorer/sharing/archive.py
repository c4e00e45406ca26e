"""The container of a shared session: a magic number, a checksum, and compressed JSON. Nothing in it is ever run.

``TTSESSION1\\n``, the SHA-256 of the JSON (32 bytes), then the JSON in UTF-8 as one zstd frame.
"""

from __future__ import annotations

import io
import json
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import zstandard

from explorer.i18n import N_
from explorer.messages import ExplorerError, UserMessage

SUFFIX: Final = ".ttsession"
LARGEST: Final = 2**30  # bytes of JSON: a hundred thousand nodes with all they saw take about a third of it
_MAGIC: Final = b"TTSESSION1\n"
_DIGEST: Final = 32
_LARGEST_WINDOW: Final = 2**27


class SharingError(ExplorerError):
    """A file could not be written, or holds no session that can be taken over."""


def refused(why: str, details: str = "", **params: Any) -> SharingError:
    """The error of a file that is not taken over; ``why`` is a msgid."""
    return SharingError(
        UserMessage(
            "sharing.refused",
            why,
            N_("Nothing was taken over from it; the library is unchanged."),
            N_("Ask for the file again, or choose another one."),
            params,
            details,
        )
    )


def pack(content: Any) -> bytes:
    """A file's bytes. Raises ValueError for what strict JSON cannot hold."""
    text = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode()
    compressed = zstandard.ZstdCompressor(level=6, write_content_size=True).compress(text)
    return _MAGIC + sha256(text).digest() + compressed


def unpack(data: bytes) -> bytes:
    """The JSON text in a file's bytes. Raises `SharingError`."""
    if not data.startswith(_MAGIC):
        raise refused(N_("This file is no shared session of this program."))
    body = data[len(_MAGIC) + _DIGEST :]
    try:
        with zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW).stream_reader(io.BytesIO(body)) as reader:
            text = reader.read(LARGEST + 1)
    except (zstandard.ZstdError, MemoryError) as error:
        raise refused(N_("This file is damaged: it does not unpack."), str(error)) from error
    if len(text) > LARGEST:
        raise refused(N_("This file holds more than {largest} MB, which no session does."), largest=LARGEST // 10**6)
    if sha256(text).digest() != data[len(_MAGIC) : len(_MAGIC) + _DIGEST]:
        raise refused(N_("This file is damaged: its contents are not what its checksum says."))
    return text


def read_bytes(path: Path) -> bytes:
    """The bytes of a file. Raises `SharingError`."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise refused(N_("The file {path} could not be read."), str(error), path=str(path)) from error


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file; one that was there before is replaced once the new one is complete. Raises `SharingError`."""
    part = path.with_name(f".{path.name}.part")
    try:
        try:
            part.write_bytes(data)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise SharingError(
            UserMessage(
                "sharing.io",
                N_("The file {path} could not be written."),
                N_("The session itself is untouched, and so is a file that was there before."),
                N_("Choose another place, or free some space, and try again."),
                {"path": str(path)},
                details=str(error),
            )
        ) from error
