"""Boxes that a scripted player can have: from where hands take one, and how many are to spare."""

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


def holds(ground: Ground, place: int, target: int) -> bool:
    """Whether a box comes to rest that is put down before a place, towards another."""
    (x, y, z), (to_x, to_y, _) = ground.cell(place), ground.cell(target)
    ahead = x + (to_x > x) - (to_x < x), y + (to_y > y) - (to_y < y), z
    return ground.rest(ground.number(ahead)) != NOWHERE
