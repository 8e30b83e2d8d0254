"""Actions with several heads, of categories or of numbers: names and keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gpu_envs.known.fields import Field

REST = "."  # the key of the category that is taken while no key of its head is pressed
RESERVED = ("q", "?", "p", ".")  # keys that mean the same in every game
_SPACE = "space"  # its name on the screen
_PLACES = 3  # of a number: its lowest value, the one nearest to 0, its highest
_STRENGTH = re.compile(r" \d+$")  # at the end of a category's name
Chosen = tuple[int, int]  # a head, and its category or place


class Heads:
    """The heads of an action.

    A head of a number has three places in the role of categories: the lowest value, the one nearest
    to 0, and the highest.

    Args:
        described: The fields of the action, all categories or all numbers.
        names: Names of the categories, head after head; empty for none.
        keys: Keys of the categories, head after head; "" for none. A head with no key pressed is
            the category with the key ".", else 0; of a number the one nearest to 0.
    """

    def __init__(
        self, described: Sequence[Field], names: Sequence[str], keys: Sequence[str]
    ) -> None:
        fields = [field for field in described for _ in range(field.size)]
        self.titles = [field.name for field in fields]
        self.is_float = any(field.type.startswith("float") for field in fields)
        self.counts = [_PLACES if self.is_float else int(field.choices or 1) for field in fields]
        self._values = [_values(field) for field in fields] if self.is_float else []
        places = [(head, k) for head, count in enumerate(self.counts) for k in range(count)]
        self.names = dict(zip(names, places, strict=bool(names)))
        pairs = zip(keys, places, strict=bool(keys))
        self.keys: dict[str, Chosen] = {}
        self.rest = np.full(len(self.counts), int(self.is_float), np.int64)
        for key, (head, category) in pairs:
            if key == REST:
                self.rest[head] = category
            elif key and key not in RESERVED:
                self.keys[key] = head, category

    def row(self, chosen: Iterable[Chosen]) -> Any:
        """Return an action of these categories or places, one of a head at most."""
        action = self.rest.copy()
        taken = set()
        for head, category in chosen:
            if head in taken:
                raise ValueError(f"{self.titles[head]} is chosen twice")
            taken.add(head)
            action[head] = category
        if not self.is_float:
            return action
        pairs = zip(self._values, action.tolist(), strict=True)
        return np.array([values[place] for values, place in pairs], np.float32)

    def read(self, typed: str) -> Any:
        """Parse names or keys between commas into an action; None if the text is neither."""
        chosen: list[Chosen] = []
        for part in typed.split(","):
            word = part.strip() or part
            if word in self.names:
                chosen.append(self.names[word])
            elif word == _SPACE and " " in self.keys:
                chosen.append(self.keys[" "])
            elif word and all(key in self.keys for key in word):
                chosen += [self.keys[key] for key in word]
            else:
                return None
        return self.row(chosen)

    def lines(self) -> list[str]:
        """Return the heads with the names and keys of their categories."""
        key_of = {place: spelt(key) for key, place in self.keys.items()}
        lines = []
        for head, title in enumerate(self.titles):
            words = [
                f"{self._typed(place)} {name}" + (f" ({key_of[place]})" if place in key_of else "")
                for name, place in self.names.items()
                if place[0] == head
            ]
            lines.append(f"{title}: {', '.join(words)}")
        return lines

    def _typed(self, place: Chosen) -> str:
        """Return a category, or a number, as it is typed."""
        head, k = place
        return f"{self._values[head][k]:g}" if self.is_float else str(k)

    def short(self, width: int) -> str:
        """Return the keys of all heads in one line: with names where they fit, or by head."""
        names = {place: name for name, place in self.names.items()}
        plain = [_STRENGTH.sub("", names[place]) for place in self.keys.values()]
        if len(set(plain)) < len(plain):
            plain = [names[place] for place in self.keys.values()]
        named = "  ".join(
            f"{spelt(key)} {name}" for key, name in zip(self.keys, plain, strict=True)
        )
        if len(self.counts) == 1 or len(named) <= width:
            return named
        parts = []
        for head, title in enumerate(self.titles):
            keys = [spelt(key) for key, place in self.keys.items() if place[0] == head]
            if keys:
                parts.append(
                    f"{' '.join(keys) if max(map(len, keys)) > 1 else ''.join(keys)} {title}"
                )
        return "  ".join(parts)


def _values(field: Field) -> tuple[float, float, float]:
    """Return the values of a number's places."""
    low = -np.inf if field.low is None else field.low
    high = np.inf if field.high is None else field.high
    return low, min(max(0.0, low), high), high


def spelt(key: str) -> str:
    """Return the name of a key on the screen."""
    return _SPACE if key == " " else key


class Pressed:
    """Guesses which keys are held: a terminal reports presses and repeats, but no releases."""

    def __init__(self, heads: Heads, ticks: int) -> None:
        self._heads, self._ticks = heads, ticks
        self._chosen: dict[int, tuple[int, int]] = {}  # by head: category, and ticks left

    def press(self, key: str) -> str:
        """Take a key; return "key", "shifted" (for one tick), or "" for an unknown one.

        A head with two categories is on for one tick, so that a press acts once; other heads stay
        on until the keyboard repeats.
        """
        is_shifted = key not in self._heads.keys
        plain = key.lower() if is_shifted else key
        if plain not in self._heads.keys:
            return ""
        head, category = self._heads.keys[plain]
        is_deed = self._heads.counts[head] == 2
        self._chosen[head] = (category, 1 if is_deed or is_shifted else self._ticks)
        return "shifted" if is_shifted else "key"

    def take(self) -> Any:
        """Return the action of this tick."""
        action = self._heads.row((head, k) for head, (k, _) in self._chosen.items())
        left = {head: (k, ticks - 1) for head, (k, ticks) in self._chosen.items()}
        self._chosen = {head: pair for head, pair in left.items() if pair[1] > 0}
        return action
