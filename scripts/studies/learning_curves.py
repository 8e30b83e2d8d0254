"""Pictures of learning curves as SVG, for docs/learning.md: by hand, so that bytes are the same.

Seeds differ in colour and marker, sides in dashes, so that lines can be told apart in grey too.
Level lines, dashed and grey, say what others reach. The legend has rows of its own above the plot.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gpu_envs.train.curves import COLOURS, RETURN_LABEL

LEVELS = {"random": "2 4", "scripted": "9 3 2 3", "to be reached": "9 5"}  # their dashes
_SIDES = ("", "6 4", "2 3")  # dashes of the first side, the second, ...
_MARKERS = (
    "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",  # a disc
    "m-3.5-3.5h7v7h-7z",
    "m0-5l5 8.5h-10z",
    "m0-5l5 5-5 5-5-5z",
    "m0 5l5-8.5h-10z",
)
_MOST_MARKERS = 12  # of a line

_WIDTH, _HEIGHT = 560, 220  # of all, and of the plot
_LEFT, _RIGHT, _TOP, _BOTTOM = 74, 24, 8, 48  # around the plot; the legend is below _TOP
_ROW, _SAMPLE, _LETTER, _GAP = 22, 40, 9.0, 12  # of the legend: a letter is rarely wider
_FONT = 'font-family="system-ui, sans-serif" font-size="14" fill="#222"'

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Line:
    """A curve: its label, its points, and the numbers of its seed and its side, from 0."""

    label: str
    points: Points
    seed: int = 0
    side: int = 0


@dataclass(frozen=True)
class Style:
    """Dashes of a line, its colour and its marker."""

    dashes: str
    colour: str = "#444"
    marker: str = ""
    width: float = 1.6

    def drawn(self, points: Points) -> Iterator[str]:
        """Yield a line through points of the picture."""
        dashes = f' stroke-dasharray="{self.dashes}"' * bool(self.dashes)
        colour = f'stroke="{self.colour}" stroke-width="{self.width}"{dashes}'
        yield f'<path d="M{"L".join(map(_pair, points))}" fill="none" {colour}/>'
        if self.marker:
            yield self.marked(points[:: math.ceil(len(points) / _MOST_MARKERS)])

    def marked(self, points: Points) -> str:
        """Return a marker at each point."""
        shapes = "".join(f"M{_pair(point)}{self.marker}" for point in points)
        return f'<path d="{shapes}" fill="{self.colour}" stroke="#fff" stroke-width="0.8"/>'


def _pair(point: tuple[float, float]) -> str:
    return f"{point[0]:.1f} {point[1]:.1f}"


def _style(line: Line) -> Style:
    colour, marker = COLOURS[line.seed % len(_MARKERS)], _MARKERS[line.seed % len(_MARKERS)]
    return Style(_SIDES[line.side % len(_SIDES)], colour, marker, 2)


@dataclass(frozen=True)
class Frame:
    """Ranges of values, and the top of the plot."""

    right: float
    low: float
    high: float
    top: float

    @staticmethod
    def around(lines: Sequence[Line], levels: Sequence[float], top: float) -> Frame:
        """Return the frame of all points and levels, with a margin above and below."""
        ys = [y for line in lines for _, y in line.points] + [*levels]
        margin = 0.04 * (max(ys) - min(ys)) or 0.5
        right = max(x for line in lines for x, _ in line.points)
        return Frame(right, min(ys) - margin, max(ys) + margin, top)

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point is drawn."""
        across = (_WIDTH - _LEFT - _RIGHT) * x / self.right
        return _LEFT + across, self.top + _HEIGHT * (self.high - y) / (self.high - self.low)


def _ticks(low: float, high: float) -> list[float]:
    """Return round numbers within a range, four to eight of them."""
    rough = (high - low) / 4
    power = 10.0 ** math.floor(math.log10(rough))
    step = power * max(f for f in (1, 2, 5) if f * power <= rough)
    return [k * step for k in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _short(value: float) -> str:
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g} {letter}"
    return f"{value:g}"


def _text(what: str, place: str, anchor: str = "start") -> str:
    return f'<text {place} text-anchor="{anchor}">{html.escape(what)}</text>'


def _at(x: float, y: float) -> str:
    return f'x="{x:.1f}" y="{y:.1f}"'


def _axes(frame: Frame) -> Iterator[str]:
    """Yield a light grid, labels of ticks and of both axes, and lines along them."""
    left, bottom = frame.place(0, frame.low)
    right, top = frame.place(frame.right, frame.high)
    for y in _ticks(frame.low, frame.high):
        at = frame.place(0, y)[1]
        yield f'<path d="M{left:.1f} {at:.1f}H{right:.1f}" stroke="#ddd"/>'
        yield _text(_short(y), _at(left - 8, at + 5), "end")
    for x in _ticks(0, frame.right):
        at = frame.place(x, 0)[0]
        yield f'<path d="M{at:.1f} {top:.1f}V{bottom:.1f}" stroke="#ddd"/>'
        yield _text(_short(x), _at(at, bottom + 19), "middle")
    yield f'<path d="M{left:.1f} {top:.1f}V{bottom:.1f}H{right:.1f}" fill="none" stroke="#444"/>'
    yield _text("agent steps", _at((left + right) / 2, bottom + 40), "middle")
    middle = f"translate(16 {(top + bottom) / 2:.1f}) rotate(-90)"
    yield _text(RETURN_LABEL, f'transform="{middle}"', "middle")


def _legend(groups: Sequence[Mapping[str, Style]]) -> tuple[list[str], float]:
    """Return the entries of the legend, each group in rows of its own, and where these end."""
    drawn: list[str] = []
    y = float(_TOP)
    for group in filter(None, groups):
        x = float(_LEFT)
        for label, style in group.items():
            wide = _SAMPLE + _LETTER * len(label)
            if x + wide > _WIDTH:
                x, y = float(_LEFT), y + _ROW
            drawn += _entry(x, y + _ROW / 2, label, style)
            x += wide + _GAP
        y += _ROW
    return drawn, y


def _entry(x: float, y: float, label: str, style: Style) -> Iterator[str]:
    end = x + _SAMPLE - 6
    yield from replace(style, marker="").drawn([(x, y), (end, y)])
    if style.marker:
        yield style.marked([((x + end) / 2, y)])
    yield _text(label, _at(x + _SAMPLE, y + 5))


def _told(line: Line) -> str:
    (_, first), (steps, last) = line.points[0], line.points[-1]
    return f"{line.label}: from {first:g} to {last:g} after {_short(steps)} agent steps"


def picture(title: str, lines: Sequence[Line], levels: Mapping[str, float], of: str = "") -> str:
    """Return curves as SVG.

    Args:
        title: Of the picture, for those who hear it.
        lines: The curves.
        levels: What others reach, by the names of `LEVELS`.
        of: The side to which the levels belong, where there are several.
    """
    whose = {f"{of}, {name}" if of else name: name for name in levels}
    styles = {label: Style(LEVELS[name]) for label, name in whose.items()}
    legend, top = _legend([{line.label: _style(line) for line in lines}, styles])
    frame = Frame.around(lines, list(levels.values()), top + 8)
    told = [*map(_told, lines), *(f"{label}: {levels[name]:g}" for label, name in whose.items())]
    text = f"The {RETURN_LABEL} in evaluations. {'; '.join(told)}."
    height = frame.top + _HEIGHT + _BOTTOM
    size = f'width="{_WIDTH}" height="{height:g}" viewBox="0 0 {_WIDTH} {height:g}"'
    found = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size} {_FONT}>',
        f"<title>{html.escape(title)}</title>",
        f"<desc>{html.escape(text)}</desc>",
        '<rect width="100%" height="100%" fill="#fff"/>',
        *_axes(frame),
    ]
    for label, name in whose.items():
        ends = [frame.place(x, levels[name]) for x in (0, frame.right)]
        found += styles[label].drawn(ends)
    for line in lines:
        found += _style(line).drawn([frame.place(*point) for point in line.points])
    return "\n".join([*found, *legend, "</svg>"]) + "\n"
