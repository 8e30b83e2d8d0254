"""The cells of one voxel world, as scripted players plan in them: what is solid, where one stands.

A cell is named by one whole number, so that its neighbours are fixed distances away: `up` is 1, the
four `sides` are along x and y. Cells around the level are empty, so plans never leave the arrays.
A place is the cell in which a body stands: free, with room for its head, and something below it.
Floors may lie up to half a metre below the cells that stand on them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Cell = tuple[int, int, int]

FREE, SOLID, BOX = 0, 1, 2
LAVA, PAD, ZONE = range(3)  # kinds of marks
MARGIN = 7  # empty cells around a level: more than any jump is long
NOWHERE = -1
_LOW_STEP = 0.2  # that a body walks up [m]
_FLAT = 0.1  # by which a box may reach into cells that count as free [m]


class Ground:
    """One world.

    Args:
        statics: Rows of the state's table: lowest and highest corner, whether it is shown.
        marks: Rows of the state's table: whether it exists, kind, lowest and highest corner.
    """

    def __init__(self, statics: Array, marks: Array) -> None:
        real = statics[(statics[:, 3:6] > statics[:, :3]).all(axis=1)]
        low = np.floor(real[:, :3] + _FLAT).astype(int)
        high = np.ceil(real[:, 3:6] - _FLAT).astype(int)
        is_whole = (real[:, :6] == np.round(real[:, :6])).all()
        self._floors = None if is_whole else real[:, :6]
        self._ledges: dict[tuple[int, int], bool] = {}
        self._origin = low.min(axis=0) - MARGIN
        shape = high.max(axis=0) + MARGIN - self._origin
        solid = np.zeros(shape, np.uint8)
        for box_low, box_high in zip(low - self._origin, high - self._origin, strict=True):
            solid[tuple(slice(a, b) for a, b in zip(box_low, box_high, strict=True))] = SOLID
        self._shape = tuple(int(n) for n in shape)
        self.cells = bytearray(solid.tobytes())
        self._lowest = int(low[:, 2].min() - self._origin[2])
        x, y = self._shape[1] * self._shape[2], self._shape[2]
        self.sides = (x, y, -x, -y)
        self.marks: list[set[int]] = [set(), set(), set()]
        for row in marks[marks[:, 0] > 0]:
            inside = np.zeros(self._shape, bool)
            begin, end = (row[k : k + 3].astype(int) - self._origin for k in (2, 5))
            inside[tuple(slice(max(a, 0), b) for a, b in zip(begin, end, strict=True))] = True
            self.marks[int(row[1])].update(np.flatnonzero(inside).tolist())
        self.lava = self.marks[LAVA]
        self._boxes: set[int] = set()
        # What was found out of a place and the columns around it, until a box changes there.
        self.known: dict[int, Any] = {}

    # ---- names of cells

    def number(self, cell: Iterable[int]) -> int:
        """Return the number of a cell; NOWHERE outside of the arrays."""
        x, y, z = (int(c - o) for c, o in zip(cell, self._origin, strict=True))
        nx, ny, nz = self._shape
        inside = 1 <= x < nx - 1 and 1 <= y < ny - 1 and 1 <= z < nz - 3
        return (x * ny + y) * nz + z if inside else NOWHERE

    def cell(self, number: int) -> Cell:
        """Return the cell of a number."""
        _, ny, nz = self._shape
        x, rest = divmod(number, ny * nz)
        y, z = divmod(rest, nz)
        ox, oy, oz = (int(o) for o in self._origin)
        return x + ox, y + oy, z + oz

    def middle(self, number: int) -> tuple[float, float]:
        """Return x and y of the middle of a cell."""
        x, y, _ = self.cell(number)
        return x + 0.5, y + 0.5

    # ---- boxes

    def set_boxes(self, cells: Iterable[Iterable[int]]) -> None:
        """Replace the standing boxes; those that fell out of the level are left out."""
        found = {self.number(cell) for cell in cells}
        now = {n for n in found if n != NOWHERE and self.cells[n] != SOLID}
        for number in self._boxes - now:
            self.take(number)
        for number in now - self._boxes:
            self.put(number)

    def boxes(self) -> Iterator[int]:
        """Yield the cells of standing boxes, from the lowest number on."""
        return iter(sorted(self._boxes))

    def put(self, number: int) -> None:
        """Note a box in a cell."""
        self._boxes.add(number)
        self.cells[number] = BOX
        self._forget(number)

    def take(self, number: int) -> None:
        """Note that a box is gone."""
        self._boxes.discard(number)
        self.cells[number] = FREE
        self._forget(number)

    def _forget(self, number: int) -> None:
        height, forget = self._shape[2], self.known.pop
        foot = self.column(number)
        for side in self.sides:
            for away in range(MARGIN):
                column = foot + away * side
                for place in range(column, column + height):
                    forget(place, None)

    # ---- places

    def is_place(self, number: int) -> bool:
        """Whether a body can stand in a cell; not in lava."""
        cells = self.cells
        return bool(
            not cells[number]
            and not cells[number + 1]
            and cells[number - 1]
            and number not in self.lava
        )

    def rest(self, number: int) -> int:
        """Return the free cell to which something falls from a free cell; NOWHERE: out of it."""
        cells, bottom = self.cells, self.column(number) + self._lowest
        while not cells[number - 1]:
            number -= 1
            if number < bottom:
                return NOWHERE
        return number

    def is_brink(self, number: int) -> bool:
        """Whether a place is the top of an outer wall: one side is deep, and on another is nothing.

        Between two sides with nothing it is one too.
        """
        depths = []
        for side in self.sides:
            ahead = number + side
            below = number if self.cells[ahead] else self.rest(ahead)
            depths.append(99 if below == NOWHERE else ahead - below if below != number else 0)
        is_deep = any(1 < depth < 99 for depth in depths)
        between = any(depths[k] == depths[k + 2] == 99 for k in (0, 1))
        return between or (is_deep and 99 in depths)

    def is_ledge(self, number: int, ahead: int) -> bool:
        """Whether the floor rises between two places side by side by more than a low step."""
        if self._floors is None or self.cells[number - 1] != SOLID:
            return False
        if (number, ahead) not in self._ledges:
            self._ledges[number, ahead] = self._rise(number, ahead) > _LOW_STEP
        return self._ledges[number, ahead]

    def _rise(self, number: int, ahead: int) -> float:
        """Return the highest step between the middles of two places."""
        assert self._floors is not None
        low, high = self._floors[:, :2], self._floors[:, 3:5]
        tops = self._floors[:, 5]
        begin, end = np.array(self.middle(number)), np.array(self.middle(ahead))
        floors = []
        for share in np.linspace(0, 1, 11):
            at = begin + share * (end - begin)
            is_here = (low <= at).all(axis=1) & (at <= high).all(axis=1)
            is_below = tops <= self.cell(number)[2] + _FLAT
            floors.append(tops[is_here & is_below].max(initial=-np.inf))
        return float(np.diff(floors).max())

    def column(self, number: int) -> int:
        """Return the number of the lowest cell of a cell's column."""
        return number - number % self._shape[2]

    def place_of(self, x: float, y: float, feet: float) -> int:
        """Return the place of a body on the ground; one that leans out of its cell has a near one.

        NOWHERE if it stands on nothing that this world knows.
        """
        z = int(np.floor(feet + 0.52))
        here = self.number((int(np.floor(x)), int(np.floor(y)), z))
        if here == NOWHERE or self.is_place(here):
            return here
        near = []
        for step_x in (-1, 0, 1):
            for step_y in (-1, 0, 1):
                cell = int(np.floor(x)) + step_x, int(np.floor(y)) + step_y, z
                number = self.number(cell)
                if number != NOWHERE and self.is_place(number):
                    away = max(abs(cell[0] + 0.5 - x), abs(cell[1] + 0.5 - y))
                    near.append((away, number))
        return min(near)[1] if near and min(near)[0] < 0.9 else NOWHERE
