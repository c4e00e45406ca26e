"""The menu about the chosen sessions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtWidgets import QMenu

from explorer.i18n import tr
from explorer.store.records import SessionSummary
from ui.format import tooltip
from ui.library.verbs import LIST_MENU, TRASH_MENU, VERBS

_MOST_TAGS = 30


def fill_menu(
    menu: QMenu,
    chosen: Sequence[SessionSummary],
    tags: Mapping[str, int],
    fits: Callable[[str], bool],
    do: Callable[[str], object],
    toggle_tag: Callable[[str, bool], object],
    *,
    trash: bool,
) -> None:
    """Put in what can be done with ``chosen``; ``tags`` are those in use, with how many sessions have them."""
    menu.clear()
    menu.setToolTipsVisible(True)
    for name in TRASH_MENU if trash else LIST_MENU:
        if name == "-":
            menu.addSeparator()
        elif name == "@tags":
            _add_tags(menu, chosen, tags, fits, do, toggle_tag)
        elif name in ("star", "unstar"):
            if fits(name) or (name == "star" and not fits("unstar")):  # one of the two
                _add(menu, name, fits, do)
        else:
            _add(menu, name, fits, do)


def _add(menu: QMenu, name: str, fits: Callable[[str], bool], do: Callable[[str], object]) -> None:
    verb = VERBS[name]
    # The key as text: as a shortcut it would be the window's as well.
    action = menu.addAction(f"{tr(verb.text)}\t{verb.key_text}" if verb.key is not None else tr(verb.text))
    action.setToolTip(tooltip(tr(verb.help)))
    action.setEnabled(fits(name))
    action.triggered.connect(lambda _=False: do(name))


def _add_tags(
    menu: QMenu,
    chosen: Sequence[SessionSummary],
    tags: Mapping[str, int],
    fits: Callable[[str], bool],
    do: Callable[[str], object],
    toggle: Callable[[str, bool], object],
) -> None:
    submenu = QMenu(tr("Tags"), menu)
    submenu.setToolTipsVisible(True)
    mine = {tag for line in chosen for tag in line.tags}
    often = sorted(tags, key=lambda tag: (tag not in mine, -tags[tag], tag.casefold()))[:_MOST_TAGS]
    for tag in sorted({*often, *mine}, key=str.casefold):
        on_all = bool(chosen) and all(tag in line.tags for line in chosen)
        action = submenu.addAction(tag.replace("&", "&&"))
        action.setCheckable(True)
        action.setChecked(on_all)
        action.setEnabled(fits("tag"))
        action.setToolTip(tooltip(tr("Take the tag away.") if on_all else tr("Put the tag on.")))
        action.triggered.connect(lambda on, tag=tag: toggle(tag, on))
    submenu.addSeparator()
    _add(submenu, "tag", fits, do)
    menu.addMenu(submenu)
