"""Houses of indoor navigation beside outside programs: files, depths, shortest walks.

Embree casts rays at the mesh of a written file, trimesh reads it, SciPy's Dijkstra walks a graph of
corners that is made here, in double precision, from the rectangles that stand in a house.
"""

from __future__ import annotations

import io
import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_envs import Simulator, __main__
from gpu_envs.core import meshes

Array = np.ndarray[Any, Any]

FLEE, POINT_GOAL = "Flee-v0", "PointGoalNav-v0"
SIZE, HOUSES = 64, 6
LOOK = {"house_count": HOUSES, "observation": "depth", "resolution": f"{SIZE}x{SIZE}"}
EYE = 1.25  # height [m]


@pytest.fixture
def trimesh() -> Any:
    return pytest.importorskip("trimesh", reason="needs trimesh (pip install trimesh)")


def read(trimesh: Any, data: bytes, kind: str) -> Any:
    return trimesh.load(io.BytesIO(data), file_type=kind, process=False)


# ---- files


@pytest.mark.parametrize("number", range(HOUSES))
def test_written_files_have_the_same_triangles(
    make_simulator, trimesh: Any, number: int, tmp_path: Path
) -> None:
    mesh = meshes.of(make_simulator(FLEE, 1, **LOOK), number)
    assert meshes.count(make_simulator(FLEE, 1, **LOOK)) == HOUSES
    path = tmp_path / "house.glb"
    words = ["mesh", FLEE, "--out", str(path), "--number", str(number)]
    assert __main__.main([*words, "--house-count", str(HOUSES)]) == 0
    scene = trimesh.load(path, process=False)
    # y is upwards in glTF.
    low, high = mesh.corners.min(axis=(0, 1)), mesh.corners.max(axis=(0, 1))
    bounds = np.array([[low[0], low[2], -high[1]], [high[0], high[2], -low[1]]])
    assert np.abs(scene.bounds - bounds).max() < 1e-3
    assert sum(len(one.faces) for one in scene.geometry.values()) == len(mesh.corners)
    names = {
        one.visual.material.name
        for one in scene.geometry.values()
        if hasattr(one.visual, "material")
    }
    colours = np.concatenate(
        [one.visual.vertex_attributes["color"][:, :3] for one in scene.geometry.values()]
    )
    shares = np.sort(mesh.colours.reshape(-1, 3) / 255.0, axis=0)
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    scale = 65535 if colours.max() > 1 else 1
    assert np.abs(np.sort(colours / scale, axis=0) - linear).max() < 1e-4
    parts = set(mesh.parts.tolist())
    assert len(scene.geometry) == len(parts)
    assert names <= {f"part_{part}" for part in parts}
    flat = read(trimesh, meshes.ply(mesh), "ply")
    assert np.array_equal(flat.vertices.astype(np.float32), mesh.corners.reshape(-1, 3))
    assert np.array_equal(flat.visual.vertex_colors[:, :3], mesh.colours.reshape(-1, 3))


# ---- depths


def embree_depths(trimesh: Any, mesh: Any, at: Array, yaw: float) -> Array:
    """Return the depths along the axis of sight, row by row."""
    embreex = pytest.importorskip("embreex", reason="needs embreex (pip install embreex)")
    assert embreex
    from embreex import rtcore_scene
    from embreex.mesh_construction import TriangleMesh

    scene = rtcore_scene.EmbreeScene(robust=True)
    TriangleMesh(scene, np.ascontiguousarray(mesh, np.float32))
    slopes = (2 * np.arange(SIZE) + 1 - SIZE) / SIZE  # 90 degrees
    forward = np.array([-math.sin(yaw), math.cos(yaw), 0.0])
    right = np.array([math.cos(yaw), math.sin(yaw), 0.0])
    ways = (
        forward
        + slopes[np.newaxis, :, np.newaxis] * right
        - slopes[:, np.newaxis, np.newaxis] * np.array([0.0, 0.0, 1.0])
    ).reshape(-1, 3)
    origins = np.broadcast_to([*at, EYE], ways.shape).astype(np.float32)
    distance = scene.run(origins, ways.astype(np.float32), query="DISTANCE")
    return np.asarray(distance).reshape(SIZE, SIZE)


def test_depths_are_those_of_embree_on_the_written_file(make_simulator, trimesh: Any) -> None:
    worlds = 40
    simulator = make_simulator(FLEE, worlds, **LOOK)
    seen = np.asarray(simulator.reset(seed=5).obs).reshape(worlds, SIZE, SIZE)
    houses = simulator.get("task.house").ravel()
    at = np.stack([simulator.get("walker.x").ravel(), simulator.get("walker.y").ravel()], 1)
    yaw = simulator.get("walker.yaw").ravel()
    files = [
        read(trimesh, meshes.ply(meshes.of(simulator, number)), "ply") for number in range(HOUSES)
    ]
    close = np.zeros(worlds)
    for world in range(worlds):
        triangles = files[houses[world]].triangles
        meant = embree_depths(trimesh, triangles, at[world], float(yaw[world]))
        close[world] = (np.abs(seen[world] - meant) < 1e-3).mean()
    assert close.mean() > 0.999
    assert close.min() > 0.99


# ---- shortest walks


class Corners:
    """A graph of the corners of all rectangles, which bodies keep away from."""

    def __init__(self, assets: dict[str, Array], house: int) -> None:
        row = assets["houses"][house]
        first = row["blocks"]
        blocks = assets["blocks"][first : first + row["thing_count"]]
        low = np.stack([blocks["low_x"], blocks["low_y"]], 1).astype(float)
        high = np.stack([blocks["high_x"], blocks["high_y"]], 1).astype(float)
        # Where two touch, a third lies across the seam; sight lines may graze by a millimetre.
        self.low, self.high = low + 1e-3, high - 1e-3
        corners = np.concatenate(
            [np.stack([x[:, 0], y[:, 1]], 1) for x in (low, high) for y in (low, high)]
        )
        outside = ~((corners[:, np.newaxis] > self.low) & (corners[:, np.newaxis] < self.high)).all(
            -1
        ).any(-1)
        self.corners = corners[outside]
        n = len(self.corners)
        self.lengths = np.array([self.straight(at, self.corners) for at in self.corners])
        assert self.lengths.shape == (n, n)

    def straight(self, start: Array, ends: Array) -> Array:
        """Return distances to points, infinite where a rectangle is between."""
        way = ends - start
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            one = (self.low - start)[np.newaxis] / way[:, np.newaxis]
            other = (self.high - start)[np.newaxis] / way[:, np.newaxis]
        still = way[:, np.newaxis] == 0
        inside = (start > self.low) & (start < self.high)
        enter = np.where(still, np.where(inside, -np.inf, np.inf), np.minimum(one, other)).max(-1)
        leave = np.where(still, np.where(inside, np.inf, -np.inf), np.maximum(one, other)).min(-1)
        blocked = (np.maximum(enter, 0) < np.minimum(leave, 1)).any(-1)
        return np.where(blocked, np.inf, np.hypot(way[:, 0], way[:, 1]))

    def walks(self, start: Array, ends: Array) -> Array:
        from scipy.sparse.csgraph import dijkstra

        first = self.straight(start, self.corners)
        graph = np.zeros((len(self.corners) + 1,) * 2)
        graph[:-1, :-1], graph[-1, :-1] = self.lengths, first
        graph[~np.isfinite(graph)] = 0  # no edge
        far = dijkstra(graph, indices=len(self.corners))[:-1]
        return np.array(
            [
                min(
                    float(self.straight(start, end[np.newaxis])[0]),
                    float((far + self.straight(end, self.corners)).min()),
                )
                for end in ends
            ]
        )


def test_shortest_walks_are_those_of_scipy_over_a_graph_of_corners(make_simulator) -> None:
    pytest.importorskip("scipy", reason="needs SciPy")
    worlds, houses = 512, 12
    simulator: Simulator = make_simulator(
        POINT_GOAL, worlds, house_count=houses, observation="numbers"
    )
    assets = simulator.assets()
    simulator.reset(seed=7)
    numbers = simulator.get("task.house").ravel()
    starts = np.stack([simulator.get(f"walker.{axis}").ravel() for axis in "xy"], 1).astype(float)
    goals = np.stack([simulator.get(f"task.{axis}").ravel() for axis in "xy"], 1).astype(float)
    walks = simulator.get("task.walk").ravel().astype(float)
    errors = []
    for house in range(houses):
        graph = Corners(assets, house)
        for world in np.flatnonzero(numbers == house)[:25]:
            meant = graph.walks(starts[world], goals[world][np.newaxis])[0]
            assert np.isfinite(meant)
            assert walks[world] >= math.dist(starts[world], goals[world]) - 1e-4
            errors.append(abs(walks[world] - meant) / meant)
    assert len(errors) > 200
    assert np.mean(errors) < 1e-3
    assert np.quantile(errors, 0.99) < 5e-3
