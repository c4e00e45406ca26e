"""What was chosen for an export: remembered from one time to the next, and turned into the wishes for a picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, get_args

from explorer.export.picture import LEAST_SCALE, MOST_SCALE, PictureContent, PictureOptions, PictureTheme


@dataclass(frozen=True, slots=True)
class ExportChoices:
    """Everything the dialog remembers. ``titled``: whether a picture has a title, whatever it says that time."""

    format: str = "png"
    content: PictureContent = "tree"
    scale: float = 2.0
    theme: PictureTheme = "publication"
    transparent: bool = False
    titled: bool = False
    legend: bool = True
    stamp: bool = True
    folder: str = ""

    def options(self, title: str) -> PictureOptions:
        """The wishes for a picture that is called ``title``."""
        return PictureOptions(
            content=self.content,
            scale=self.scale,
            transparent=self.transparent,
            title=title if self.titled else "",
            legend=self.legend,
            stamp=self.stamp,
            theme=self.theme,
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ExportChoices:
        """Inverse of `to_json`; what is missing or makes no sense counts as unset."""
        default = cls()
        known = {
            field.name: data[field.name]
            for field in fields(cls)
            if type(data.get(field.name)) is type(getattr(default, field.name))
        }
        if known.get("content") not in get_args(PictureContent):
            known.pop("content", None)
        if known.get("theme") not in get_args(PictureTheme):
            known.pop("theme", None)
        if not LEAST_SCALE <= known.get("scale", default.scale) <= MOST_SCALE:
            known.pop("scale")
        return cls(**known)
