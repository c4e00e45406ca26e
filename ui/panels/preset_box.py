"""Settings to begin with: those that are usual, and the user's own under names of their choice."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QInputDialog

from explorer.i18n import tr
from ui.panels.common import compact, describe
from ui.panels.presets import PRESETS, OwnPreset, Preset

_SAVE, _REMOVE, _MINE = "@save", "@remove", "mine:"
_LONGEST_NAME = 60


class PresetBox(QComboBox):
    """A menu in the shape of a list: its first line says what it is, and stays."""

    chosen = Signal(object)
    """A `Preset` or an `OwnPreset` to put in force."""
    save_requested = Signal(str)
    """A name for the settings in hand."""
    removed = Signal(str)
    """The name of an own preset that is no longer wanted."""

    def __init__(self) -> None:
        super().__init__()
        self._entries: dict[str, Preset | OwnPreset] = {}
        self._own: tuple[str, ...] = ()
        compact(self)
        describe(
            self,
            tr("Starting points"),
            tr("Settings others often begin with, and your own. Change one thing at a time from there."),
        )
        self.activated.connect(self._activate)
        self.set_own(())

    def set_own(self, own: Sequence[OwnPreset], *, editable: bool = True) -> None:
        """The user's own, by name; ``editable``: and others can be saved or removed here."""
        self._own = tuple(preset.name for preset in own)
        self._entries = {**{preset.name: preset for preset in PRESETS}, **{f"{_MINE}{mine.name}": mine for mine in own}}
        self.clear()
        self.addItem(tr("Starting points…"), "")
        for preset in PRESETS:
            self.addItem(tr(preset.label), preset.name)
        if own:
            self.insertSeparator(self.count())
            for mine in own:
                self.addItem(mine.name, f"{_MINE}{mine.name}")
        if not editable:
            return
        self.insertSeparator(self.count())
        self.addItem(tr("Save these settings…"), _SAVE)
        if own:
            self.addItem(tr("Remove one of yours…"), _REMOVE)

    def _activate(self, index: int) -> None:
        entry = self.itemData(index)
        self.setCurrentIndex(0)
        if entry in self._entries:
            self.chosen.emit(self._entries[entry])
        elif entry == _SAVE:
            self._save()
        elif entry == _REMOVE:
            self._remove()

    def _save(self) -> None:
        dialog = self._dialog(tr("Save these settings"), tr("Name (one that exists is replaced):"), tr("Save"))
        if dialog.exec():
            name = " ".join(dialog.textValue().split())[:_LONGEST_NAME]
            if name:
                self.save_requested.emit(name)
        dialog.deleteLater()

    def _remove(self) -> None:
        dialog = self._dialog(tr("Remove settings of yours"), tr("Which one:"), tr("Remove"))
        dialog.setComboBoxItems(self._own)
        if dialog.exec():
            self.removed.emit(dialog.textValue())
        dialog.deleteLater()

    def _dialog(self, title: str, label: str, button: str) -> QInputDialog:
        dialog = QInputDialog(self)
        dialog.setWindowTitle(title)
        dialog.setLabelText(label)
        dialog.setOkButtonText(button)
        dialog.setCancelButtonText(tr("Cancel"))
        return dialog
