"""A report on the house: numbers, the places behind them, and how both are printed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from scripts.house import rooms


@dataclass
class Part:
    """What is known about one side of the house."""

    title: str
    numbers: dict[str, float] = field(default_factory=dict)
    places: dict[str, list[str]] = field(default_factory=dict)

    def count(self, name: str, places: list[str]) -> None:
        """Add a number and the places that it counts."""
        self.numbers[name] = len(places)
        self.places[name] = places


def describe_circles(graph: rooms.Graph) -> list[str]:
    """Return one line per circle."""
    return [" - ".join(circle) for circle in rooms.circles(graph)]


def table(columns: dict[str, list[Part]], markdown: bool) -> Iterator[str]:
    """Yield the lines of the table of numbers, a column per tree."""
    rows: list[list[str]] = [["", *columns]]
    for parts in zip(*columns.values(), strict=True):
        title = parts[0].title
        rows.append([f"**{title}**" if markdown else title, *("" for _ in parts)])
        for name in dict.fromkeys(name for part in parts for name in part.numbers):
            values = [part.numbers.get(name, "-") for part in parts]
            cells = [f"{value:.2f}" if isinstance(value, float) else str(value) for value in values]
            rows.append([name if markdown else f"  {name}", *cells])
    if markdown:
        rows.insert(1, ["---", *("---:" for _ in columns)])
        yield from (f"| {' | '.join(row)} |" for row in rows)
    else:
        width = max(len(row[0]) for row in rows)
        for name, *cells in rows:
            yield f"{name:<{width}}{''.join(f'{cell:>9}' for cell in cells)}".rstrip()


def without_lines(place: str) -> str:
    """Return a place without line numbers, which change when nothing does."""
    return re.sub(r":\d+(?:-\d+)?", "", place)


def places(columns: dict[str, list[Part]], markdown: bool) -> Iterator[str]:
    """Yield the places behind the numbers, of two trees those in which they differ."""
    for parts in zip(*columns.values(), strict=True):
        for name in dict.fromkeys(name for part in parts for name in part.places):
            before, after = (part.places.get(name, []) for part in (parts[0], parts[-1]))
            shown = [f"{'- ' if markdown else '  '}{place}" for place in after]
            if len(parts) == 2:
                old, new = set(map(without_lines, before)), set(map(without_lines, after))
                shown = [f"- {place}" for place in before if without_lines(place) not in new]
                shown += [f"+ {place}" for place in after if without_lines(place) not in old]
            if shown:
                title = f"{parts[0].title}: {name}"
                yield from ("", f"**{title}**", "", *shown) if markdown else ("", title, *shown)
