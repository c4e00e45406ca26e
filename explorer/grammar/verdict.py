"""Whether a grammar that is being written can be used, for editors: never raises."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from explorer.grammar.compiling import GrammarError, check_without_vocabulary
from explorer.grammar.constraint import LONGEST_TEXT, Constraint
from explorer.grammar.provider import Grammars
from explorer.i18n import N_
from explorer.messages import SettingsError, UserMessage
from explorer.text import Vocabulary

_LONGEST_FILE: Final = 4 * LONGEST_TEXT  # bytes: a character has four at most


@dataclass(frozen=True, slots=True)
class GrammarVerdict:
    """``error`` says why ``constraint`` cannot be used, None where it can; ``unenforced`` what of it is left out.

    ``line`` and ``column`` count from 1, 0 where the place of the error is not known.
    """

    constraint: Constraint
    error: UserMessage | None = None
    line: int = 0
    column: int = 0
    unenforced: tuple[str, ...] = ()


def judge(constraint: Constraint, vocabulary: Vocabulary | None) -> GrammarVerdict:
    """Try to compile ``constraint``; without a vocabulary what can be said of any."""
    try:
        unenforced = (
            check_without_vocabulary(constraint) if vocabulary is None else Grammars(vocabulary).check(constraint)
        )
    except GrammarError as error:
        params = error.message.params
        return GrammarVerdict(constraint, error.message, int(params["line"]), int(params["column"]))
    except SettingsError as error:
        return GrammarVerdict(constraint, error.message)
    return GrammarVerdict(constraint, unenforced=unenforced)


def read_grammar_file(path: Path) -> str | UserMessage:
    """The text of a file, or why it cannot be one of a grammar."""
    try:
        with path.open("rb") as file:
            data = file.read(_LONGEST_FILE + 1)
        text = data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        return _unreadable(path, str(error))
    if len(text) > LONGEST_TEXT:
        return _unreadable(path, f"> {LONGEST_TEXT}")
    return text.replace("\r\n", "\n")


def _unreadable(path: Path, problem: str) -> UserMessage:
    return UserMessage(
        "grammar.file",
        N_("The file {path} holds no grammar: {problem}."),
        N_("The text in the editor stays as it was."),
        N_("Choose a text file (UTF-8) with a schema, a regular expression or a Lark grammar."),
        {"path": path.name, "problem": problem},
    )
