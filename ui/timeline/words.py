"""What is said of the moments of a film."""

from __future__ import annotations

from explorer.i18n import N_, tr
from explorer.replay import Film, Moment
from explorer.text import Vocabulary
from ui.format import count, elide_middle, token_label
from ui.panels.history_panel import kind_label

_LABEL_LENGTH = 24
_TURNED = {"undo": N_("Undo: {command}"), "redo": N_("Redo: {command}")}


def moment_place(film: Film, number: int) -> str:
    """Which moment of how many."""
    return tr("moment {number} of {total}").format(number=count(number), total=count(len(film)))


def moment_title(film: Film, number: int, vocabulary: Vocabulary | None) -> str:
    """What was done last at a moment, in a few words."""
    if number == 0:
        return tr("the beginning")
    moment = film.moments[number - 1]
    if moment.turned:
        return tr(_TURNED[moment.kind]).format(command=_turned(film, moment, vocabulary))
    return _done(moment, vocabulary)


def moment_lines(film: Film, number: int, vocabulary: Vocabulary | None) -> tuple[str, ...]:
    """Everything to be said of a moment, a line each."""
    place = moment_place(film, number)
    lines = [place[:1].upper() + place[1:], moment_title(film, number, vocabulary)]
    if number:
        moment = film.moments[number - 1]
        lines.append(moment.at.astimezone().strftime("%Y-%m-%d %H:%M:%S"))
        lines += [stop.event.explanation().sentences()[0] for stop in moment.stops]
        if moment.inferred:
            lines.append(tr("When this was undone was not recorded: it is shown as late as what followed allows."))
    return tuple(lines)


def _turned(film: Film, moment: Moment, vocabulary: Vocabulary | None) -> str:
    number = film.moment_of(moment.turned[-1])
    return _done(film.moments[number - 1], vocabulary) if number else ""


def _done(moment: Moment, vocabulary: Vocabulary | None) -> str:
    label = kind_label(moment.kind)
    if len(moment.steps) == 1:
        token = elide_middle(token_label(vocabulary, moment.steps[0].token_id), _LABEL_LENGTH)
        return tr("{command} “{token}”").format(command=label, token=token)
    if moment.steps:
        return tr("{command}, {count} tokens").format(command=label, count=count(len(moment.steps)))
    return label
