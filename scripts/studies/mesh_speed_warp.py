"""Rays cast by Warp on a CPU, for mesh_speed.py. Needs warp-lang."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import warp as wp

Array = np.ndarray[Any, Any]


@wp.kernel
def cast(
    mesh: wp.uint64,
    origins: wp.array(dtype=wp.vec3),  # type: ignore[valid-type]
    ways: wp.array(dtype=wp.vec3),  # type: ignore[valid-type]
    found: wp.array(dtype=float),  # type: ignore[valid-type]
) -> None:
    """Find how far each ray comes; 0 where it meets nothing."""
    k = wp.tid()
    query = wp.mesh_query_ray(mesh, origins[k], ways[k], 100.0)
    found[k] = wp.where(query.result, query.t, 0.0)


def made(corners: Array) -> Callable[[Array, Array], object]:
    """Return a caster of a mesh; rays are copied into Warp's arrays once."""
    points = wp.array(corners.reshape(-1, 3), dtype=wp.vec3, device="cpu")
    numbers = wp.array(np.arange(3 * len(corners), dtype=np.int32), dtype=wp.int32, device="cpu")
    mesh = wp.Mesh(points=points, indices=numbers)
    kept: dict[int, tuple[Any, ...]] = {}

    def call(origins: Array, ways: Array) -> object:
        if id(origins) not in kept:
            arrays = (wp.array(rays, dtype=wp.vec3, device="cpu") for rays in (origins, ways))
            kept[id(origins)] = (*arrays, wp.zeros(len(origins), dtype=float, device="cpu"))
        first, second, found = kept[id(origins)]
        wp.launch(cast, dim=len(origins), inputs=[mesh.id, first, second, found], device="cpu")
        return found

    return call
