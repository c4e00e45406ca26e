"""Colours and fonts of the window, light and dark; follows the system's colour scheme unless told otherwise.

A widget asks `colours_of` for the colours that go with its own palette, so nothing needs to know the controller.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QByteArray, QObject, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFont, QFontDatabase, QPalette
from PySide6.QtWidgets import QApplication, QStyleFactory, QWidget

Scheme = Literal["light", "dark"]
ThemeChoice = Literal["system", "light", "dark"]
MapName = Literal["cividis", "viridis"]


@dataclass(frozen=True, slots=True)
class Colours:
    """Semantic colours of one scheme, ``#rrggbb``. Everything that carries text has a contrast of at least 4.5:1.

    ``model`` and ``sampling`` are the hues of the two probabilities, the same everywhere (Okabe and Ito's blue and
    vermilion, which colour-blind eyes tell apart); ``*_text`` their variants for text. ``map_low`` and ``map_high`` cut
    the ends of a colour map that would vanish in the background; ``map_reversed`` makes high values the ones that
    stand out.
    """

    scheme: Scheme
    window: str
    surface: str
    surface_alt: str
    button: str
    border: str
    grid: str
    text: str
    quiet: str
    accent: str
    on_accent: str
    accent_soft: str
    model: str
    model_text: str
    sampling: str
    sampling_text: str
    warning: str
    warning_soft: str
    link: str
    map_reversed: bool
    map_low: float
    map_high: float


LIGHT = Colours(
    scheme="light",
    window="#f3f4f6",
    surface="#ffffff",
    surface_alt="#f7f8fa",
    button="#fbfbfc",
    border="#c6cad1",
    grid="#e4e7ec",
    text="#1b1f24",
    quiet="#5b6370",
    accent="#8e3b8a",
    on_accent="#ffffff",
    accent_soft="#f1e1f0",
    model="#5aa3d8",
    model_text="#0b5a94",
    sampling="#c9510c",
    sampling_text="#a8420a",
    warning="#8a5a00",
    warning_soft="#fdf3d9",
    link="#0b5a94",
    map_reversed=True,
    map_low=0.0,
    map_high=0.78,
)
DARK = Colours(
    scheme="dark",
    window="#1c1f24",
    surface="#15181c",
    surface_alt="#1b1f24",
    button="#2a2e35",
    border="#434a55",
    grid="#2a2f37",
    text="#e6e8eb",
    quiet="#a0a8b4",
    accent="#dc9fe0",
    on_accent="#15181c",
    accent_soft="#43304a",
    model="#3f86bd",
    model_text="#7cbdf0",
    sampling="#f2914a",
    sampling_text="#f5a466",
    warning="#f0c060",
    warning_soft="#3a3222",
    link="#7cbdf0",
    map_reversed=False,
    map_low=0.33,
    map_high=1.0,
)

# Every eighth entry of matplotlib's maps (CC0), evenly spaced from 0 to 1.
_MAP_ANCHORS: dict[MapName, str] = {
    "cividis": (
        "00204d 00265a 002c69 00306f 06366e 1f3c6d 2d426c 38486b 414d6b 4a536b 52596c 595f6d"
        " 61646f 686a71 6f7073 767676 7d7c78 848179 8b8779 938e78 9b9477 a39a76 aca174 b4a872"
        " bcaf6f c5b56c cebc68 d7c463 e0cb5e e9d358 f2da50 fbe248 ffea46"
    ),
    "viridis": (
        "440154 470d60 48186a 482374 472d7b 453781 424086 3e4989 3b528b 375b8d 33638d 2f6b8e"
        " 2c728e 297a8e 26828e 23898e 21918c 1f978b 1f9f88 21a685 27ad81 31b57b 3dbc74 4cc26c"
        " 5cc863 6ece58 81d34d 95d840 aadc32 c0df25 d5e21a eae51a fde725"
    ),
}
_STEPS = 256


@lru_cache(maxsize=8)
def colour_table(name: MapName, colours: Colours) -> NDArray[np.uint8]:
    """A perceptually uniform map as uint8[256, 3], cut and directed so that high values stand out on the background."""
    anchors = np.array([[int(a[i : i + 2], 16) for i in (0, 2, 4)] for a in _MAP_ANCHORS[name].split()], dtype=float)
    places = np.linspace(colours.map_low, colours.map_high, _STEPS)
    if colours.map_reversed:
        places = places[::-1]
    positions = np.linspace(0.0, 1.0, len(anchors))
    channels = [np.interp(places, positions, anchors[:, channel]) for channel in range(3)]
    table: NDArray[np.uint8] = np.stack(channels, axis=1).round().astype(np.uint8)
    table.flags.writeable = False
    return table


@lru_cache(maxsize=8)
def map_colours(name: MapName, colours: Colours) -> tuple[QColor, ...]:
    """The same 256 steps as colours. Not to be changed by callers."""
    return tuple(QColor(*(int(c) for c in row)) for row in colour_table(name, colours))


def map_colour(name: MapName, colours: Colours, value: float) -> QColor:
    """The colour for ``value`` in [0, 1]; values outside are clamped."""
    return map_colours(name, colours)[int(max(0.0, min(1.0, value)) * (_STEPS - 1) + 0.5)]


def luminance(colour: QColor) -> float:
    """Relative luminance as WCAG 2 defines it."""
    channels = (colour.redF(), colour.greenF(), colour.blueF())
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: QColor, other: QColor) -> float:
    """Contrast ratio of two colours as WCAG 2 defines it, 1 to 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@lru_cache(maxsize=1024)
def _ink(rgb: int) -> QColor:
    background = QColor.fromRgb(rgb)
    black, white = QColor(0, 0, 0), QColor(255, 255, 255)
    return black if contrast(background, black) >= contrast(background, white) else white


def ink_on(background: QColor) -> QColor:
    """Black or white, whichever reads better on ``background``; at least 4.5:1 on any opaque colour."""
    return _ink(background.rgb())


def blend(colour: QColor, background: QColor, share: float) -> QColor:
    """``share`` of ``colour`` over ``background``, opaque."""
    parts = zip(_rgb(colour), _rgb(background), strict=True)
    return QColor(*(round(share * c + (1 - share) * b) for c, b in parts))


@lru_cache(maxsize=256)
def ink(colour: str) -> QColor:
    """A colour of the theme, made once. Not to be changed by callers."""
    return QColor(colour)


@lru_cache(maxsize=256)
def tint(colour: str, background: str, share: float) -> QColor:
    """`blend` of two colours of the theme, made once. Not to be changed by callers."""
    return blend(QColor(colour), QColor(background), share)


def _rgb(colour: QColor) -> tuple[int, int, int]:
    return colour.red(), colour.green(), colour.blue()


def colours_of(widget: QWidget | QPalette) -> Colours:
    """The colours that go with a widget's palette, whoever set it."""
    palette = widget if isinstance(widget, QPalette) else widget.palette()
    return DARK if palette.color(QPalette.ColorRole.Window).lightness() < 128 else LIGHT


def build_palette(colours: Colours) -> QPalette:
    """The whole Qt palette of a scheme, for the Fusion style."""
    role = QPalette.ColorRole
    palette = QPalette(QColor(colours.button), QColor(colours.window))
    every = {
        role.Window: colours.window,
        role.WindowText: colours.text,
        role.Base: colours.surface,
        role.AlternateBase: colours.surface_alt,
        role.Text: colours.text,
        role.PlaceholderText: colours.quiet,
        role.Button: colours.button,
        role.ButtonText: colours.text,
        role.BrightText: colours.on_accent,
        role.ToolTipBase: colours.surface,
        role.ToolTipText: colours.text,
        role.Link: colours.link,
        role.LinkVisited: colours.link,
        role.Highlight: colours.accent,
        role.HighlightedText: colours.on_accent,
        role.Accent: colours.accent,
        role.Mid: colours.border,
    }
    for which, colour in every.items():
        palette.setColor(which, QColor(colour))
    disabled = blend(QColor(colours.text), QColor(colours.window), 0.45)
    for which in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText):
        palette.setColor(QPalette.ColorGroup.Disabled, which, disabled)
    palette.setColor(QPalette.ColorGroup.Disabled, role.Highlight, QColor(colours.border))
    return palette


class ThemeController(QObject):
    """Puts a theme on the application: Fusion with our palette, after the system's scheme or the user's choice."""

    changed = Signal(str)
    """The scheme now in force, "light" or "dark"."""

    def __init__(self, application: QApplication, choice: ThemeChoice = "system") -> None:
        super().__init__(application)
        self._application = application
        self._choice: ThemeChoice = choice
        self._scheme: Scheme | None = None
        application.setStyle(QStyleFactory.create("Fusion"))
        self._system = application.styleHints().colorScheme()
        application.styleHints().colorSchemeChanged.connect(self._system_changed)
        self._apply()

    @property
    def choice(self) -> ThemeChoice:
        return self._choice

    @property
    def scheme(self) -> Scheme:
        """The scheme in force. An unknown system scheme means light."""
        if self._choice != "system":
            return self._choice
        return "dark" if self._system == Qt.ColorScheme.Dark else "light"

    @property
    def colours(self) -> Colours:
        return DARK if self.scheme == "dark" else LIGHT

    def choose(self, choice: ThemeChoice) -> None:
        """Follow the system, or stay light or dark whatever it says."""
        self._choice = choice
        self._apply()

    @Slot(Qt.ColorScheme)
    def _system_changed(self, system: Qt.ColorScheme) -> None:
        self._system = system
        self._apply()

    def _apply(self) -> None:
        scheme = self.scheme
        if scheme == self._scheme:
            return
        self._scheme = scheme
        self._application.setPalette(build_palette(self.colours))
        self.changed.emit(scheme)


def monospace_font(like: QFont) -> QFont:
    """The system's fixed-width face in the size of ``like``: for token text."""
    font = QFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
    _copy_size(font, like, 1.0)
    return font


def figures_font(like: QFont, scale: float = 1.0) -> QFont:
    """``like`` with figures of equal width, so that numbers line up in columns."""
    font = QFont(like)
    font.setFeature(QFont.Tag("tnum"), 1)
    _copy_size(font, like, scale)
    return font


def _copy_size(font: QFont, like: QFont, scale: float) -> None:
    if like.pixelSize() > 0:
        font.setPixelSize(max(7, round(like.pixelSize() * scale)))
    else:
        font.setPointSizeF(max(6.0, like.pointSizeF() * scale))


def covers_chinese() -> bool:
    """Whether any font at hand has Chinese characters. Needs a running `QGuiApplication`."""
    return bool(QFontDatabase.families(QFontDatabase.WritingSystem.SimplifiedChinese))


def load_chinese_font() -> str | None:
    """Load the bundled CJK face where no font at hand covers 你; Qt then falls back to it by itself.

    Returns the family that was loaded, None where none was needed. Tens of milliseconds when it loads.
    """
    if covers_chinese():
        return None
    data = (files("noto_cjk_sans_jp_regular") / "NotoSansCJKjp-Regular.otf").read_bytes()
    number = QFontDatabase.addApplicationFontFromData(QByteArray(data))
    families = QFontDatabase.applicationFontFamilies(number)
    return families[0] if families else None
