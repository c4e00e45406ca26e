"""A button of the toolbar whose action is switched on and off with every step."""

from __future__ import annotations

from PySide6.QtCore import QEvent
from PySide6.QtGui import QAction, QActionEvent
from PySide6.QtWidgets import QToolBar, QToolButton


class SteadyButton(QToolButton):
    """Follows its action without having anything laid out where that is only switched on or off.

    The toolbar's own buttons take over all of an action at each change of it, icon and size included, and the toolbar
    and the window are laid out anew: twice a step, for the action that stops it.
    """

    def __init__(self, action: QAction, bar: QToolBar) -> None:
        super().__init__(bar)
        self._looks = _looks(action)
        self.setDefaultAction(action)
        self.setAutoRaise(True)
        self.setIconSize(bar.iconSize())
        self.setToolButtonStyle(bar.toolButtonStyle())

    def actionEvent(self, event: QActionEvent) -> None:
        action = event.action()
        if event.type() == QEvent.Type.ActionChanged and action is self.defaultAction():
            before, self._looks = self._looks, _looks(action)
            if self._looks == before:
                self.setEnabled(action.isEnabled())
                return
        super().actionEvent(event)


def _looks(action: QAction) -> tuple[object, ...]:
    return action.iconText(), action.icon().cacheKey(), action.toolTip(), action.isVisible()
