"""Both themes can be read by everybody, and follow the system until somebody chooses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPalette
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from ui import theme
from ui.text.token_label import Inks
from ui.theme import DARK, LIGHT, Colours, MapName, ThemeController

MAPS: tuple[MapName, ...] = ("cividis", "viridis")


@pytest.fixture
def application(qapp: QApplication) -> Iterator[QApplication]:
    """The application, given back as it was."""
    palette, style = QPalette(qapp.palette()), qapp.style().name()
    yield qapp
    qapp.setStyle(style)
    qapp.setPalette(palette)


@pytest.fixture
def controller(application: QApplication) -> Iterator[ThemeController]:
    controller = ThemeController(application)
    yield controller
    controller.setParent(None)
    controller.deleteLater()


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_everything_that_is_read_has_enough_contrast(colours: Colours) -> None:
    papers = (colours.window, colours.surface, colours.surface_alt, colours.button)
    inks = (
        colours.text,
        colours.quiet,
        colours.accent,
        colours.model_text,
        colours.sampling_text,
        colours.warning,
        colours.link,
    )
    pairs = [(ink, paper) for ink in inks for paper in papers]
    rows = (colours.text, colours.quiet, colours.model_text, colours.sampling_text)
    pairs += [(ink, colours.accent_soft) for ink in rows]
    pairs += [(colours.on_accent, colours.accent), (colours.text, colours.warning_soft)]
    faint = {pair: ratio for pair in pairs if (ratio := theme.contrast(*map(QColor, pair))) < 4.5}
    assert not faint


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_bars_and_borders_stand_out_from_the_background(colours: Colours) -> None:
    """Graphics need 3:1; the two bars are told apart by their thickness and place as well."""
    surface = QColor(colours.surface)
    assert theme.contrast(QColor(colours.sampling), surface) >= 3
    assert theme.contrast(QColor(colours.model), surface) >= 2.5


@given(st.integers(0, 0xFFFFFF))
def test_ink_reads_on_any_colour(rgb: int) -> None:
    background = QColor.fromRgb(rgb)
    assert theme.contrast(theme.ink_on(background), background) >= 4.5
    inks = Inks.on(background)
    assert theme.contrast(inks.quiet, background) >= 4.5


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("name", MAPS)
def test_the_higher_the_value_the_more_it_stands_out(name: MapName, colours: Colours) -> None:
    surface = QColor(colours.surface)
    contrasts = [theme.contrast(colour, surface) for colour in theme.map_colours(name, colours)]
    assert len(contrasts) == 256
    assert (np.diff(contrasts) > -0.05).all()
    assert contrasts[0] > 1.5
    assert contrasts[-1] > 7


def test_map_colours_are_clamped() -> None:
    steps = theme.map_colours("cividis", DARK)
    assert theme.map_colour("cividis", DARK, -1) == steps[0]
    assert theme.map_colour("cividis", DARK, 2) == steps[-1]
    assert theme.map_colour("cividis", DARK, 0.5) == steps[128]


def test_colour_tables_cannot_be_changed_by_accident() -> None:
    table = theme.colour_table("viridis", DARK)
    assert table.shape == (256, 3)
    with pytest.raises(ValueError, match="read-only"):
        table[0, 0] = 1


def test_a_widget_has_the_colours_of_its_own_palette(qtbot: QtBot) -> None:
    widget = QWidget()
    qtbot.addWidget(widget)
    widget.setPalette(theme.build_palette(DARK))
    assert theme.colours_of(widget) is DARK
    widget.setPalette(theme.build_palette(LIGHT))
    assert theme.colours_of(widget) is LIGHT


def test_an_unknown_system_scheme_means_light(controller: ThemeController, application: QApplication) -> None:
    assert application.styleHints().colorScheme() == Qt.ColorScheme.Unknown
    assert controller.scheme == "light"
    assert application.palette().color(QPalette.ColorRole.Window) == QColor(LIGHT.window)
    assert application.style().name() == "fusion"


def test_the_theme_follows_the_system(qtbot: QtBot, controller: ThemeController, application: QApplication) -> None:
    with qtbot.waitSignal(controller.changed) as changed:
        application.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert changed.args == ["dark"]
    assert controller.colours is DARK
    assert application.palette().color(QPalette.ColorRole.Base) == QColor(DARK.surface)


def test_a_choice_overrides_the_system(qtbot: QtBot, controller: ThemeController, application: QApplication) -> None:
    with qtbot.waitSignal(controller.changed) as changed:
        controller.choose("dark")
    assert changed.args == ["dark"]
    with qtbot.assertNotEmitted(controller.changed):
        application.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Light)
    assert controller.scheme == "dark"
    controller.choose("system")
    assert controller.scheme == "light"
    assert controller.choice == "system"


def test_choosing_what_is_there_changes_nothing(qtbot: QtBot, controller: ThemeController) -> None:
    with qtbot.assertNotEmitted(controller.changed):
        controller.choose("light")


def test_disabled_text_is_quieter_in_both_themes() -> None:
    for colours in (LIGHT, DARK):
        palette = theme.build_palette(colours)
        disabled = palette.color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.Text)
        enabled = palette.color(QPalette.ColorGroup.Active, QPalette.ColorRole.Text)
        window = QColor(colours.window)
        assert theme.contrast(disabled, window) < theme.contrast(enabled, window)


def test_fonts_take_the_size_they_are_given(qapp: QApplication) -> None:
    by_points, by_pixels = QFont(), QFont()
    by_points.setPointSizeF(10)
    by_pixels.setPixelSize(20)
    assert theme.monospace_font(by_points).pointSizeF() == 10
    assert theme.monospace_font(by_pixels).pixelSize() == 20
    assert theme.figures_font(by_pixels, 0.5).pixelSize() == 10
    assert theme.figures_font(by_points, 0.9).pointSizeF() == pytest.approx(9)
    measured = QFontMetricsF(theme.monospace_font(by_points))  # some fixed faces do not call themselves fixed
    assert measured.horizontalAdvance("i") == measured.horizontalAdvance("W")


def test_chinese_can_be_read_on_a_bare_machine(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(theme, "covers_chinese", lambda: False)
        family = theme.load_chinese_font()
    assert family is not None
    assert "CJK" in family
    assert theme.covers_chinese()
    assert theme.load_chinese_font() is None
