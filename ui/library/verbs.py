"""What can be done with chosen sessions, by name: words, keys, and when it makes sense. Menus and keys read this."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QKeyCombination, Qt
from PySide6.QtGui import QKeySequence

from explorer.i18n import N_
from explorer.store.records import SessionSummary

_CONTROL, _SHIFT, _NONE = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.NoModifier,
)


@dataclass(frozen=True, slots=True)
class Verb:
    """``text`` and ``help`` are msgids. ``most`` sessions at once; 0: any number, also none. ``writes`` needs a library
    that can be written; ``where`` it stands: in the list, in the trash, or both."""

    name: str
    text: str
    help: str
    key: QKeyCombination | None = None
    most: int | None = None
    writes: bool = True
    where: str = "list"

    @property
    def key_text(self) -> str:
        """How the key is written; empty where there is none."""
        return "" if self.key is None else QKeySequence(self.key).toString(QKeySequence.SequenceFormat.NativeText)


VERBS: Mapping[str, Verb] = {
    verb.name: verb
    for verb in (
        Verb(
            "open",
            N_("Open"),
            N_("Open the chosen session; the one that is open stays saved."),
            QKeyCombination(_NONE, Qt.Key.Key_Return),
            most=1,
            writes=False,
        ),
        Verb(
            "rename", N_("Rename"), N_("Give the session another title."), QKeyCombination(_NONE, Qt.Key.Key_F2), most=1
        ),
        Verb(
            "star",
            N_("Star"),
            N_("Put a star on what you want to find again."),
            QKeyCombination(_NONE, Qt.Key.Key_Asterisk),
        ),
        Verb("unstar", N_("Take the star away"), N_("The session stays."), QKeyCombination(_NONE, Qt.Key.Key_Asterisk)),
        Verb("tag", N_("New tag…"), N_("Put a tag of your own on the sessions."), QKeyCombination(_NONE, Qt.Key.Key_T)),
        Verb(
            "note",
            N_("Note…"),
            N_("Keep a note about the session; a search finds it."),
            QKeyCombination(_NONE, Qt.Key.Key_N),
            most=1,
        ),
        Verb(
            "duplicate",
            N_("Duplicate"),
            N_("Make a second session with all of the first."),
            QKeyCombination(_CONTROL, Qt.Key.Key_D),
        ),
        Verb(
            "share",
            N_("Export as one file…"),
            N_("Write each session, whole, to a file that another library takes over. The model is not in it."),
            QKeyCombination(_CONTROL, Qt.Key.Key_E),
            writes=False,
        ),
        Verb(
            "trash",
            N_("Move to the trash"),
            N_("Nothing is lost until the trash is emptied."),
            QKeyCombination(_NONE, Qt.Key.Key_Delete),
        ),
        Verb(
            "restore",
            N_("Restore"),
            N_("Take the chosen sessions out of the trash."),
            QKeyCombination(_NONE, Qt.Key.Key_Return),
            where="trash",
        ),
        Verb(
            "delete",
            N_("Delete for good…"),
            N_("Remove the chosen sessions from the library. This cannot be taken back."),
            QKeyCombination(_NONE, Qt.Key.Key_Delete),
            where="trash",
        ),
        Verb(
            "undo",
            N_("Undo"),
            N_("Take back the last change of the list."),
            QKeyCombination(_CONTROL, Qt.Key.Key_Z),
            most=0,
            where="both",
        ),
        Verb(
            "redo",
            N_("Redo"),
            N_("Bring the change of the list again."),
            QKeyCombination(_CONTROL | _SHIFT, Qt.Key.Key_Z),
            most=0,
            where="both",
        ),
    )
}
LIST_MENU: Sequence[str] = (
    *("open", "rename", "-", "star", "unstar", "@tags", "note", "-"),
    *("duplicate", "share", "-", "trash"),
)
TRASH_MENU: Sequence[str] = ("restore", "-", "delete")


def fits(verb: Verb, chosen: int, lines: Sequence[SessionSummary], *, trash: bool, writable: bool) -> bool:
    """Whether it can be done now to so many sessions; ``lines`` are those of them that are known."""
    if verb.where != "both" and (verb.where == "trash") is not trash:
        return False
    if verb.writes and not writable:
        return False
    if verb.most == 0:
        return True
    if not chosen or (verb.most is not None and chosen > verb.most):
        return False
    if verb.name == "star":
        return not lines or any(not line.starred for line in lines)
    if verb.name == "unstar":
        return bool(lines) and all(line.starred for line in lines)
    return True
