"""Pickles and copies: what has not begun is made again of the arguments that it was made of.

Native memory is neither copied nor pickled. Who has begun says what to do instead.
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
    """Return what `__reduce__` has to: how to make another one like `original`.

    Args:
        original: What is to be pickled or copied.
        make: Makes another one.
        has_begun: Whether it holds more than it was made of.
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
