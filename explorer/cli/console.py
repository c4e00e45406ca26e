"""What the command line prints: one document or table on standard output, everything else on standard error."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from explorer.i18n import N_, tr
from explorer.messages import UserMessage
from explorer.progress import CancelToken, Progress
from explorer.tree import HowChosen

_HOW_CHOSEN: Mapping[HowChosen, str] = {
    "greedy": N_("greedy"),
    "drawn": N_("drawn"),
    "manual": N_("manual"),
    "beam": N_("beam"),
    "expanded": N_("expanded"),
    "given": N_("given"),
}
_UNITS = {"tokens": N_("tokens"), "tensors": N_("tensors"), "nodes": N_("nodes"), "runs": N_("runs")}
_PIPE_WIDTH = 200  # columns of a table that no terminal limits
# A model may well generate escape sequences; the terminal must not obey them.
_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"}


def print_json(document: Any) -> None:
    """One strict JSON document in UTF-8, whatever the terminal's encoding. Raises ValueError for NaN and infinities."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2)
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace") + b"\n")  # half a character: as JSON escapes it
    sys.stdout.buffer.flush()


def print_table(headers: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A plain table; numbers to the right, None as nothing. ``headers`` are translated already."""
    numeric = [all(isinstance(row[i], int | float | None) for row in rows) for i in range(len(headers))]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for header, right in zip(headers, numeric, strict=True):
        table.add_column(Text(header), justify="right" if right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(_shown(value)) for value in row))  # Text: a token may look like markup
    _console().print(table)


def print_facts(facts: Mapping[str, Any]) -> None:
    """One line a fact, ``name: value``; None is left out. Names are translated already."""
    for name, value in facts.items():
        if value is not None:
            _console().print(Text(f"{name}: {_shown(value)}"), soft_wrap=True)


def print_message(message: UserMessage) -> None:
    """A message for people, with its technical details below it."""
    note(message.text())
    if message.details:
        note(message.details)


def how_chosen(how: HowChosen) -> str:
    """How a token was chosen, in a word."""
    return tr(_HOW_CHOSEN[how])


def note(text: str) -> None:
    """A line on standard error; ``text`` is translated already."""
    print(text, file=sys.stderr, flush=True)


def _console() -> Console:
    return Console(file=sys.stdout, width=None if sys.stdout.isatty() else _PIPE_WIDTH, highlight=False)


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value).translate(_CONTROLS).encode("utf-8", "backslashreplace").decode()  # half characters can be there


class ProgressLine:
    """Progress on standard error: rewritten in place on a terminal, else one line a phase."""

    def __init__(self) -> None:
        self._phase = ""
        self._open = False

    def __call__(self, progress: Progress) -> None:
        if sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K" + _progress_text(progress))
            sys.stderr.flush()
            self._open = True
        elif progress.phase != self._phase:
            note(tr(progress.phase))
        self._phase = progress.phase

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the terminal's line free for what is printed next."""
        if self._open:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._open = False


def _progress_text(progress: Progress) -> str:
    phase, scale, unit = tr(progress.phase), 1.0, tr(_UNITS.get(progress.unit, ""))
    if progress.unit == "bytes":
        scale, unit = 1e6, "MB"
    if progress.total:
        return f"{phase} {progress.done / scale:.0f} / {progress.total / scale:.0f} {unit}"
    return f"{phase} {progress.done / scale:.0f} {unit}" if progress.done else phase


@contextmanager
def interruptible() -> Iterator[CancelToken]:
    """A token that Ctrl-C cancels, so that what was finished is kept; a second Ctrl-C raises KeyboardInterrupt."""
    token = CancelToken()

    def on_interrupt(_signal: int, _frame: FrameType | None) -> None:
        if token.cancelled:
            raise KeyboardInterrupt
        token.cancel()
        note(tr(N_("Stopping. Press Ctrl-C again to stop at once.")))

    previous = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield token
    finally:
        signal.signal(signal.SIGINT, previous)
