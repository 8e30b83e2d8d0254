"""The package's own exception, those that commands expect, and the wording of messages."""

from __future__ import annotations

import difflib
import re
import sys
import warnings
from collections.abc import Callable, Container, Iterable, Mapping, Sequence

# What a command ends with a line for; anything else is for a developer.
TROUBLE = (ValueError, TypeError, RuntimeError, ImportError, MemoryError, OSError)
_COUNTS = {"count", "num", "number", "n", "total"}


class ResetNeeded(RuntimeError):
    """A world was stepped that waits for a reset: call `reset`, or use another autoreset."""


def suggestion(name: object, candidates: Iterable[str]) -> str:
    """Return `; did you mean 'x'?` for the closest candidate, or nothing."""
    close = closest(str(name), list(candidates))
    return "" if close is None else f"; did you mean {close!r}?"


def closest(name: str, candidates: Sequence[str]) -> str | None:
    """Return the candidate that is meant by a name: spelt alike, or of the same words.

    Case and underscores do not count: `same_step` is SameStep. A typing error comes before words,
    and words before what merely looks alike: `hiders` is `hider_count`.
    """
    by_letters = {_letters(candidate): candidate for candidate in reversed(candidates)}
    for look in (_alike(0.8), _by_words, _alike(0.6)):
        found = look(name, by_letters)
        if found is not None:
            return found
    return None


def _alike(cutoff: float) -> Callable[[str, Mapping[str, str]], str | None]:
    def look(name: str, by_letters: Mapping[str, str]) -> str | None:
        close = difflib.get_close_matches(_letters(name), by_letters, n=1, cutoff=cutoff)
        return by_letters[close[0]] if close else None

    return look


def _by_words(name: str, by_letters: Mapping[str, str]) -> str | None:
    """Return the candidate with the largest share of words in common, more than a third of them."""
    wanted = _words(name, is_asked=True)
    best, most = None, 1 / 3
    for candidate in reversed(list(by_letters.values())):  # in the order given: the first of equals
        words = _words(candidate)
        share = len(wanted & words) / len(wanted | words)
        if share > most and not (wanted & words) <= _COUNTS:
            best, most = candidate, share
    return best


def _letters(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def _words(name: str, is_asked: bool = False) -> set[str]:
    """Return the words of a name; of one that is asked for, a plural is a count."""
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+", name)
    words = {part.lower() for part in parts}
    found = {re.sub(r"(?<=[sxh])es$|(?<=[^s])s$", "", word) for word in words}
    if found & _COUNTS or (is_asked and found != words):
        found = {*(found - _COUNTS), "count"}
    return found


def unknown(what: str, name: object, candidates: Iterable[str], whole: str = "") -> str:
    """Return the message for a name that is not among `candidates`: suggestion, then a list.

    `whole` is the command that prints a list which is too long for a message.
    """
    names = list(candidates)
    valid = listed(names, name, whole=whole)
    return f"unknown {what} {shown(name)}{suggestion(name, names)} (valid: {valid})"


def shown(value: object, most: int = 80) -> str:
    """Return how a value is written, cut where it is long."""
    text = repr(value)
    return text if len(text) <= most else f"{text[: most - 3]}..."


def listed(names: Sequence[str], near: object = "", most: int = 16, whole: str = "") -> str:
    """Return names between commas; of more than `most` those spelt like `near`, and the first."""
    if len(names) <= most:
        return ", ".join(names) or "none"
    alike = difflib.get_close_matches(str(near), names, n=most - 4, cutoff=0.4)
    first = [name for name in names if name not in alike][: most - 4 - len(alike)]
    chosen = [name for name in names if name in alike or name in first]
    command = f": {whole}" if whole else ""
    return f"{', '.join(chosen)} and {len(names) - len(chosen)} more{command}"


def warn(line: str) -> None:
    """Warn of something that is left out; print the line where warnings are errors.

    One damaged file must not end `import gpu_envs`, nor the command that removes the file.
    """
    try:
        warnings.warn(line, stacklevel=3)
    except UserWarning:
        if sys.stderr is not None:  # else it was closed before the start
            print(line, file=sys.stderr)


def refuse(fixed: Iterable[str], keywords: Container[str], why: str) -> None:
    """Refuse keywords that a form of the environment has settled."""
    for name in fixed:
        if name in keywords:
            raise TypeError(f"{name} cannot be chosen for {why}")


def unexpected(who: str, keyword: str, candidates: Iterable[str]) -> str:
    """Return the message for a keyword that is not among `candidates`, as Python words it.

    Libraries that try keywords out read these words: TorchRL's GymEnv goes on without a keyword
    that is refused so.
    """
    names = list(candidates)
    said = f"{who} got an unexpected keyword argument {keyword!r}"
    whole = f"`python -m gpu_envs info {who}`"
    return f"{said}{suggestion(keyword, names)} (valid: {listed(names, keyword, whole=whole)})"


def flag(value: object, argument: str) -> bool:
    """Return a bool, also of NumPy, or 0 or 1; any other raises an error with the name."""
    kind, extent = getattr(value, "dtype", None), getattr(value, "shape", None)
    is_array_of_one = getattr(kind, "kind", "") == "b" and extent == ()
    if is_array_of_one or (isinstance(value, int) and value in (0, 1)):
        return bool(value)
    raise TypeError(f"{argument} must be a bool, got {shown(value)} of type {type(value).__name__}")


def whole(value: object, argument: str, low: int, high: int) -> int:
    """Return `value` as an int in [low, high]; any other raises an error with the name."""
    wrong = f"{argument} must be an int, got {value!r} of type {type(value).__name__}"
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(wrong)
    try:
        number = int(value.__index__())
    except TypeError as problem:  # arrays have the method, but are not all one number
        raise TypeError(wrong) from problem
    if not low <= number <= high:
        raise ValueError(f"{argument} must be between {low} and {high}, got {number}")
    return number
