"""Walking the tree by key: parent, child, siblings by probability; folded branches are walked past."""

from __future__ import annotations

from PySide6.QtCore import Qt

from explorer.tree import ROOT
from ui.tree.scene import TreeScene

_Step = str
_RIGHT: dict[Qt.Key, _Step] = {
    Qt.Key.Key_Left: "parent",
    Qt.Key.Key_Right: "child",
    Qt.Key.Key_Up: "before",
    Qt.Key.Key_Down: "after",
    Qt.Key.Key_Home: "root",
}
_DOWN: dict[Qt.Key, _Step] = {
    Qt.Key.Key_Up: "parent",
    Qt.Key.Key_Down: "child",
    Qt.Key.Key_Left: "before",
    Qt.Key.Key_Right: "after",
    Qt.Key.Key_Home: "root",
}


class TreeWalk:
    """Neighbours of nodes as they are drawn."""

    def __init__(self, scene: TreeScene) -> None:
        self._scene = scene

    def parent_of(self, node_id: int) -> int | None:
        """The parent, also outside the focus; None for the root and for nodes that are not in the tree."""
        mirror = self._scene.mirror
        return None if node_id == ROOT or node_id not in mirror else int(mirror.parent[node_id])

    def child_of(self, node_id: int) -> int | None:
        """The likeliest child; None for a leaf and for a folded node."""
        children = self._scene.outline.children_of(node_id)
        return children[0] if children else None

    def sibling_of(self, node_id: int, delta: int) -> int | None:
        """The sibling ``delta`` places less probable, more probable where negative; None where there is none."""
        scene = self._scene
        if node_id == scene.outline.top or node_id not in scene.mirror:
            return None
        return scene.mirror.sibling_of(node_id, delta)

    def target(self, key: Qt.Key) -> int | None:
        """Where a key leads from the current node; None where it leads nowhere. Arrows follow the picture."""
        current = self._scene.current
        step = (_DOWN if self._scene.options.orientation == "down" else _RIGHT).get(key)
        if step == "parent":
            return self.parent_of(current)
        if step == "child":
            return self.child_of(current)
        if step in ("before", "after"):
            return self.sibling_of(current, -1 if step == "before" else 1)
        return ROOT if step == "root" else None
