"""Pickles and copies: an object that has not begun is made again from its arguments.

Native memory is neither copied nor pickled. The error for an object that has begun names the way
to do it.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

Recipe = tuple[Callable[[], Any], tuple[()], dict[str, Any]]

# Set or seeded from outside, after the constructor.
_CARRIED = (
    "spec",
    "action_space",
    "single_action_space",
    "action_spaces",
    "observation_spaces",
)


def recipe(original: object, make: Callable[[], Any], has_begun: bool, is_closed: bool) -> Recipe:
    """Return the value of `__reduce__`: a function and its arguments, which make another one.

    Args:
        original: The object to pickle or copy.
        make: Makes another one.
        has_begun: Whether it holds more than its arguments.
        is_closed: Whether `close` was called.
    """
    kind = type(original).__name__
    if is_closed:
        raise TypeError(f"cannot pickle or copy a closed {kind}: make another one")
    article = "an" if kind[0] in "AEIOU" else "a"
    if has_begun:
        owner = "" if kind == "Simulator" else "simulator."
        raise TypeError(
            f"cannot pickle or copy {article} {kind} that has begun: it holds native memory; copy "
            f"it before its first reset, or make another one and move the state with "
            f"{owner}save() and load()"
        )
    held = vars(original)
    return make, (), {name: deepcopy(held[name]) for name in _CARRIED if name in held}
