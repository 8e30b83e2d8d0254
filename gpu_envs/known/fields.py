"""Described fields (parameters, options, channels, columns) and the values they accept.

Every field is described once, in the environment's header; this module reads those descriptions and
checks keyword arguments against them. The native code alone knows the meaning of a value.
"""

from __future__ import annotations

import ctypes
import math
import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gpu_envs import errors

Value = bool | int | float | str
_FEW = 6  # choices that a message lists


@dataclass(frozen=True, slots=True)
class Field:
    """One described field; `low` and `high` are inclusive, None where unbounded."""

    name: str
    type: str
    shape: tuple[int, ...] = ()
    low: float | None = None
    high: float | None = None
    choices: int | None = None
    default: Any = None
    unit: str = ""
    doc: str = ""
    names: tuple[str, ...] = ()  # of the choices
    by_world: str = ""  # of a parameter that may differ by world: "step" or "reset" acts on it

    @property
    def size(self) -> int:
        """Number of elements."""
        count = 1
        for length in self.shape:
            count *= length
        return count

    def bounds(self) -> str:
        """Return the accepted values in words."""
        if self.names:
            return " | ".join(self.names)
        if self.type in ("bool", "boolean"):
            return "true | false"
        if self.type == "string":
            return "text"
        if self.choices is not None:
            return f"0 to {self.choices - 1}"
        if self.low is None and self.high is None:
            return "any"
        low = "-inf" if self.low is None else f"{self.low:g}"
        high = "inf" if self.high is None else f"{self.high:g}"
        return f"{low} to {high}"

    def default_text(self) -> str:
        """Return the default as it would be typed."""
        return spelt(short(self.default, self.type))


def short(value: Any, kind: str) -> Any:
    """Return the shortest float that rounds to the same float32: 0.1 for 0.10000000149."""
    if kind != "float32" or not isinstance(value, float) or not math.isfinite(value):
        return value
    wanted = ctypes.c_float(value).value
    texts = (f"{value:.{digits}g}" for digits in range(1, 10))  # nine digits tell all apart
    return next(float(text) for text in texts if ctypes.c_float(float(text)).value == wanted)


def shortened(fields: Iterable[Field], values: Mapping[str, Any]) -> dict[str, Value]:
    """Return values of these fields, their floats with the fewest digits."""
    kinds = {field.name: field.type for field in fields}
    return {name: short(value, kinds.get(name, "")) for name, value in values.items()}


def spelt(value: Any) -> str:
    """Return a value as it would be typed; '' for an empty text."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return "''" if value == "" else str(value)


def read(descriptions: Iterable[Mapping[str, Any]]) -> tuple[Field, ...]:
    """Read fields from the JSON of a description; keys this version does not know are left out."""
    known = Field.__dataclass_fields__
    fields = []
    for entry in descriptions:
        values = {key: value for key, value in entry.items() if key in known}
        for key in ("shape", "names"):
            values[key] = tuple(values.get(key) or ())
        fields.append(Field(**values))
    return tuple(fields)


def packed(size: int) -> Field:
    """Return the one field of an observation whose bits are packed."""
    return Field("bits", "uint8", (size,), 0, 255, doc="eight booleans a byte, the first lowest")


def checked_values(
    fields: Iterable[Field], values: Mapping[str, object], what: str, error: type[Exception]
) -> dict[str, Value]:
    """Return `values` as plain Python scalars.

    Args:
        fields: The accepted fields.
        values: The caller's keywords.
        what: Their name in messages, such as "parameter of Micro-v0".
        error: The exception for a name that does not exist.
    """
    by_name = {field.name: field for field in fields}
    result = {}
    for name, value in values.items():
        if name not in by_name:
            raise error(errors.unknown(what, name, by_name))
        result[name] = _checked(by_name[name], value, what)
    return result


def _checked(field: Field, value: object, what: str) -> Value:
    scalar = _plain(value)
    label = f"{what.split(' of ')[0]} {field.name!r}"
    if field.names:
        return _named(field, scalar, label)
    if field.type in ("string", "str"):
        text = _joined(scalar)
        if text is None:
            raise TypeError(f"{label} must be a str{_examples(field.default)}, got {value!r}")
        return text
    if field.type in ("bool", "boolean"):
        if isinstance(scalar, int | float) and scalar in (0, 1):
            return bool(scalar)
        raise TypeError(f"{label} must be a bool, got {value!r}")
    if isinstance(scalar, bool) or not isinstance(scalar, int | float):
        raise TypeError(f"{label} must be a number ({field.type}), got {value!r}")
    if not field.type.startswith("float"):
        scalar = _integral(scalar, label)
    return _bounded(field, scalar, label)


def _joined(value: object) -> str | None:
    """Return a text as it is, a pair of whole numbers as "AxB", any other value as None."""
    if isinstance(value, tuple | list) and value:
        if any(isinstance(part, bool) or not hasattr(part, "__index__") for part in value):
            return None
        return "x".join(str(operator.index(part)) for part in value)
    return value if isinstance(value, str) else None


def _examples(default: Any) -> str:
    """Return the default as an example for a message; "" where it shows nothing."""
    if not default:
        return ""
    shown, parts = f" such as {default!r}", str(default).split("x")
    if len(parts) > 1 and all(part.isdecimal() for part in parts):
        shown += f" or whole numbers such as {tuple(map(int, parts))}"
    return shown


def _named(field: Field, scalar: object, label: str) -> str:
    """Return the name of a choice, given by name or by number."""
    if isinstance(scalar, str) and scalar in field.names:
        return scalar
    if isinstance(scalar, int) and not isinstance(scalar, bool) and 0 <= scalar < len(field.names):
        return field.names[scalar]
    error = ValueError if isinstance(scalar, int | str) else TypeError
    close = errors.suggestion(scalar, field.names) if isinstance(scalar, str) else ""
    listed = errors.listed(list(map(repr, field.names)), scalar)
    if len(field.names) <= _FEW:
        raise error(f"{label} must be one of {listed}, got {scalar!r}{close}")
    raise error(f"{label}: unknown choice {scalar!r}{close} (valid: {listed})")


def _integral(scalar: int | float, label: str) -> int:
    if isinstance(scalar, float):
        if not scalar.is_integer():
            raise TypeError(f"{label} must be an int, got {scalar!r}")
        return int(scalar)
    return scalar


def _bounded(field: Field, scalar: int | float, label: str) -> int | float:
    if scalar != scalar:
        raise ValueError(f"{label} must be a number, got nan")
    low = 0 if field.choices is not None else field.low
    high = field.choices - 1 if field.choices is not None else field.high
    if (low is not None and scalar < low) or (high is not None and scalar > high):
        raise ValueError(f"{label} must be in {field.bounds()}, got {scalar!r}")
    return scalar


def _plain(value: object) -> object:
    """NumPy scalars and 0-d arrays or tensors become Python scalars."""
    if isinstance(value, bool | int | float | str):
        return value
    item = getattr(value, "item", None)
    if callable(item) and getattr(value, "ndim", 0) == 0:
        return item()
    return value
