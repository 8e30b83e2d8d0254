"""What scripted players can have: boxes within reach, and points of a crowded field."""

from __future__ import annotations

from collections.abc import Collection

from gpu_envs.kernels.voxel.ground import NOWHERE, Ground


def stands(ground: Ground, box: int, reached: Collection[int]) -> list[int]:
    """Return the places, of those reached, from which hands take a box."""
    cells = ground.cells
    if cells[box + 1]:
        return []
    found = []
    for side in ground.sides:
        for lower in (0, 1, 2):
            place = box + side - lower
            if place not in reached or cells[box + side]:
                continue
            # Hands take the lower of two cells first, where nothing is on top of it.
            if lower < 2 or not cells[place + 2]:
                found.append(place)
    return found


def spare(ground: Ground, places: Collection[int], reached: Collection[int]) -> int:
    """Return how many boxes can be taken from the reached places.

    Args:
        ground: The world.
        places: Those of a route; boxes in their columns stay.
        reached: Where one can stand.
    """
    columns = {ground.column(place) for place in places}
    return sum(
        ground.column(box) not in columns and bool(stands(ground, box, reached))
        for box in ground.boxes()
    )


def slots(ground: Ground, field: Collection[int]) -> list[tuple[float, float]]:
    """Return points of a field of places on which bodies stand close together, the deepest first.

    Deep is what is far from the side where the field is open.
    """
    places = [place for place in field if ground.is_place(place)]
    points = [ground.middle(place) for place in places]
    low = [min(point[axis] for point in points) - 0.5 for axis in (0, 1)]
    high = [max(point[axis] for point in points) + 0.5 for axis in (0, 1)]
    counts = [
        sum(ground.is_place(place + side) and place + side not in field for place in places)
        for side in ground.sides
    ]
    opening = counts.index(max(counts))  # of +x, +y, -x, -y
    axis, is_high = opening % 2, opening < 2
    deep = low if is_high else high
    inwards = -1.0 if is_high else 1.0
    depth, width = high[axis] - low[axis], high[1 - axis] - low[1 - axis]
    rows, columns = int((depth - 0.39) / 0.67) + 1, int((width - 0.66) / 0.67) + 1
    found = []
    for row in range(rows):
        for column in range(columns):
            share = column / max(columns - 1, 1)
            point = [0.0, 0.0]
            point[axis] = deep[axis] - inwards * (0.33 + 0.67 * row)
            point[1 - axis] = low[1 - axis] + 0.33 + share * (width - 0.66)
            found.append((point[0], point[1]))
    return found


def holds(ground: Ground, place: int, target: int) -> bool:
    """Whether a box comes to rest that is put down before a place, towards another."""
    (x, y, z), (to_x, to_y, _) = ground.cell(place), ground.cell(target)
    ahead = x + (to_x > x) - (to_x < x), y + (to_y > y) - (to_y < y), z
    return ground.rest(ground.number(ahead)) != NOWHERE
