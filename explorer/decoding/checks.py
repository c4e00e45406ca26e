"""What a setting may be: values are checked and made plain Python, or refused with the permitted range."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping
from typing import Any

from explorer.decoding.parameter import Parameter, ParamValue
from explorer.decoding.processors import ORDERS, STAGES_BY_NAME
from explorer.grammar.constraint import Constraint, read_constraint
from explorer.i18n import N_
from explorer.messages import SettingsError, UserMessage

_UNCHANGED = N_("The setting stays as it was.")
_TYPE_NAMES: Mapping[str, str] = {
    "float": N_("{parameter} must be a number, not {value}."),
    "int": N_("{parameter} must be a whole number, not {value}."),
    "ids": N_("{parameter} must be a list of token ids, not {value}."),
    "id_values": N_("{parameter} must be a list of token ids with a number each, not {value}."),
}


def check_value(parameter: Parameter, value: Any) -> ParamValue:
    """The value as plain Python, None and aliases of "off" as ``parameter.off``. Raises `SettingsError`."""
    if value is None:
        return parameter.off
    if parameter.kind == "int":
        whole = _whole(parameter.name, parameter.kind, value)
        # Other programs write -1 for a top-k that is off.
        return parameter.off if parameter.name == "top_k" and whole == -1 else int(_in_range(parameter, whole))
    if parameter.kind == "float":
        return _in_range(parameter, _number(parameter, value))
    if parameter.kind == "grammar":
        return read_constraint(parameter.name, value)
    if parameter.kind == "ids":
        return tuple(sorted({_token_id(parameter, item) for item in _items(parameter, value)}))
    pairs = value.items() if isinstance(value, Mapping) else _items(parameter, value)
    biases = {}
    for pair in pairs:
        if not isinstance(pair, Iterable) or isinstance(pair, str) or len(pair := tuple(pair)) != 2:
            raise _wrong_type(parameter.name, parameter.kind, value)
        biases[_token_id(parameter, pair[0])] = _in_range(parameter, _number(parameter, pair[1]))
    return tuple(sorted(biases.items()))


def check_stop_value(name: str, value: Any) -> Any:
    """A stop rule's value as plain Python. Raises `SettingsError`."""
    if name == "stop_strings":
        if isinstance(value, str) or not all(isinstance(text, str) and text for text in value):
            raise SettingsError(
                UserMessage(
                    code="settings.type",
                    what=N_("Stop texts must be a list of texts that are not empty."),
                    meaning=_UNCHANGED,
                    params={"parameter": name},
                )
            )
        return tuple(dict.fromkeys(value))
    if value is None:
        return None
    if name == "eos_token_ids":
        parameter = Parameter(name, "ids", (), "", "")
        return tuple(dict.fromkeys(_token_id(parameter, item) for item in _items(parameter, value)))
    return int(_in_range(Parameter(name, "int", 0, "", "", minimum=0), _whole(name, "int", value)))


def check_known_ids(name: str, value: ParamValue, vocab_size: int) -> None:
    """Raise `SettingsError` where ids, or ids with a number each, name a token the vocabulary does not have."""
    for item in value if isinstance(value, tuple) and not isinstance(value, Constraint) else ():
        token_id = item[0] if isinstance(item, tuple) else item
        if token_id >= vocab_size:
            raise SettingsError(
                UserMessage(
                    code="settings.unknown_id",
                    what=N_("{parameter} cannot be {value}."),
                    meaning=N_("The model's vocabulary has ids 0 to {last}."),
                    action=N_("Correct the list of ids."),
                    params={
                        "parameter": name,
                        "value": f"{item[0]}={item[1]:g}" if isinstance(item, tuple) else item,
                        "last": vocab_size - 1,
                    },
                )
            )


def check_order(order: str | tuple[str, ...], stages_on: set[str]) -> str | tuple[str, ...]:
    """The order itself, if it is a preset or names stages once each, among them all that are on.

    Raises `SettingsError`.
    """
    if isinstance(order, str):
        if order in ORDERS:
            return order
        raise _wrong_order(N_("There is no order called {names}."), [order])
    unknown = [name for name in order if name not in STAGES_BY_NAME]
    if unknown:
        raise _wrong_order(N_("The order names filters that do not exist: {names}."), unknown)
    twice = sorted({name for name in order if order.count(name) > 1})
    if twice:
        raise _wrong_order(N_("The order names filters more than once: {names}."), twice)
    missing = [name for name in STAGES_BY_NAME if name in stages_on and name not in order]
    if missing:
        raise _wrong_order(N_("The order leaves out filters that are on: {names}."), missing)
    return order


def unknown_parameter(name: str) -> SettingsError:
    """The error for a setting that does not exist."""
    return SettingsError(
        UserMessage(
            code="settings.unknown",
            what=N_("There is no setting called {parameter}."),
            meaning=_UNCHANGED,
            action=N_("Check the spelling, for example top_p or repetition_penalty."),
            params={"parameter": name},
        )
    )


def _whole(name: str, kind: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise _wrong_type(name, kind, value)
    return int(value)


def _number(parameter: Parameter, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise _wrong_type(parameter.name, parameter.kind, value)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise _wrong_type(parameter.name, parameter.kind, value)
    return number


def _token_id(parameter: Parameter, value: Any) -> int:
    token_id = _whole(parameter.name, parameter.kind, value)
    if token_id < 0:
        raise _wrong_type(parameter.name, parameter.kind, value)
    return token_id


def _items(parameter: Parameter, value: Any) -> list[Any]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise _wrong_type(parameter.name, parameter.kind, value)
    return list(value)


def _in_range(parameter: Parameter, value: float) -> float:
    low, high = parameter.minimum, parameter.maximum
    too_low = low is not None and (value < low or (parameter.exclusive_minimum and value == low))
    too_high = high is not None and (value > high or (parameter.exclusive_maximum and value == high))
    if not too_low and not too_high:
        return value
    raise SettingsError(
        UserMessage(
            code="settings.range",
            what=N_("{parameter} cannot be {value}."),
            meaning=_UNCHANGED,
            action=_permitted(parameter),
            params={
                "parameter": parameter.name,
                "value": value,
                "minimum": "" if low is None else f"{low:g}",
                "maximum": "" if high is None else f"{high:g}",
            },
        )
    )


def _permitted(parameter: Parameter) -> str:
    if parameter.maximum is None:
        if parameter.exclusive_minimum:
            return N_("Choose a value above {minimum}.")
        return N_("Choose {minimum} or more.")
    if parameter.exclusive_minimum:
        return N_("Choose a value above {minimum}, up to {maximum}.")
    if parameter.exclusive_maximum:
        return N_("Choose a value from {minimum} to just below {maximum}.")
    return N_("Choose a value from {minimum} to {maximum}.")


def _wrong_type(name: str, kind: str, value: Any) -> SettingsError:
    return SettingsError(
        UserMessage(
            code="settings.type", what=_TYPE_NAMES[kind], meaning=_UNCHANGED, params={"parameter": name, "value": value}
        )
    )


def _wrong_order(what: str, names: list[str]) -> SettingsError:
    return SettingsError(
        UserMessage(
            code="settings.order",
            what=what,
            meaning=N_("The filters keep the order they had."),
            action=N_("Choose transformers, llama.cpp, or list every filter that is on once."),
            params={"names": ", ".join(names)},
        )
    )
