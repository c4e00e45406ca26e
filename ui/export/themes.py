"""The colours of pictures: as in the window, light or dark, or made for paper."""

from __future__ import annotations

from dataclasses import replace

from explorer.export.picture import PictureTheme
from ui.theme import DARK, LIGHT, Colours

# Black on plain white, and what is highlighted in a blue that also a grey print tells from the rest.
PUBLICATION: Colours = replace(
    LIGHT,
    window="#ffffff",
    surface="#ffffff",
    surface_alt="#ffffff",
    border="#8a8f98",
    grid="#d9dce1",
    text="#000000",
    quiet="#474c55",
    accent="#1f4e9c",
    accent_soft="#dfe7f5",
)


def colours_for(theme: PictureTheme) -> Colours:
    """The colours of a picture in this theme."""
    return {"publication": PUBLICATION, "light": LIGHT, "dark": DARK}[theme]
