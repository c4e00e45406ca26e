"""Names of decoding stages as people read them."""

from __future__ import annotations

from explorer.decoding.processors import STAGES_BY_NAME
from explorer.i18n import tr


def stage_label(name: str) -> str:
    """The label of a stage in the current language; its name where a newer version stored one unknown here."""
    stage = STAGES_BY_NAME.get(name)
    return name if stage is None else tr(stage.label)
