"""Hand-laid worlds of hide-and-seek for tests, and a slow second opinion of what agents see.

`Scene` lays one or more equal worlds and reads them by thing instead of by column. `Geometry` holds
one world's shapes in double precision: rays against it are cut by half-spaces, so that they share
nothing with the kernels.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_envs import Simulator

Array = NDArray[Any]

PROFILES = {"p": "port", "f": "fixed", "o": "openai"}
PF = ("port", "fixed")
ALL = ("port", "fixed", "openai")

NEUTRAL = (5, 5, 5, 0, 0)
GRAB, LOCK, BOTH = (5, 5, 5, 1, 0), (5, 5, 5, 0, 1), (5, 5, 5, 1, 1)
AHEAD, BACK, LEFT_TURN = (5, 10, 5, 0, 0), (5, 0, 5, 0, 0), (5, 5, 10, 0, 0)
RAMP, AGENT = 4, 5  # body kinds; 2 and 3 are boxes
PRESENT, LOCKED = 1, 2  # bits of a body's state
HALF_CONE = math.radians(67.5)


def simulate(profile: str, worlds: int = 1, **options: Any) -> Simulator:
    """Make a simulator on the CPU whose observations are dictionaries and whose episodes go on."""
    options = {
        "device": "cpu",
        "observation": "dict",
        "autoreset_mode": "Disabled",
        "max_episode_steps": 0,
    } | options
    return Simulator("HideSeek-v0", worlds, profile=profile, **options)


def random_actions(simulator: Simulator, random: np.random.Generator) -> Array:
    """Draw all five heads uniformly."""
    shape = (simulator.num_worlds, simulator.agents_per_world)
    heads = [random.integers(0, most, shape) for most in (11, 11, 11, 2, 2)]
    return np.stack(heads, axis=-1).astype(np.int32)


def yaw_of(q: Array) -> Any:
    w, x, y, z = np.moveaxis(np.asarray(q, np.float64), -1, 0)
    return np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


def yaw_quaternion(yaw: float) -> tuple[float, float, float, float]:
    return (math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2))


def wrapped(angle: Any) -> Any:
    return (np.asarray(angle) + math.pi) % (2 * math.pi) - math.pi


def in_frame(v: Array, yaw: float) -> Array:
    """To the right and ahead of one who faces `yaw`, of a vector in the world."""
    c, s = math.cos(yaw), math.sin(yaw)
    return np.array([v[0] * c + v[1] * s, -v[0] * s + v[1] * c])


class Scene:
    """Worlds laid by hand, the preparation over unless asked for.

    Who is not in the text stands in a far corner: a world needs a hider and a seeker.
    """

    def __init__(self, profile: str, text: str, **options: Any) -> None:
        words = [part.split()[0] for part in text.replace("\n", ";").split(";") if part.split()]
        size = 6 if profile == "openai" else 36
        corner = 0.45 * size
        for name, x in (("hider", -corner), ("seeker", corner)):
            if name not in words:
                text, words = f"{text}; {name} {x} {-corner}", [*words, name]
        options = {"preparation_steps": 0} | options
        self.hiders, self.seekers = words.count("hider"), words.count("seeker")
        self.agents = self.hiders + self.seekers
        self.simulator = simulate(
            profile, hider_count=self.hiders, seeker_count=self.seekers, **options
        )
        self.text = text
        self.lay(text)

    def lay(self, text: str) -> None:
        self.outputs = self.simulator.reset(seed=0, options={"layout": text})

    # Rows of bodies.

    def box(self, k: int = 0) -> int:
        return self.agents + k

    def ramp(self, k: int = 0) -> int:
        return self.agents + self.simulator.parameters["box_slots"] + k

    def step(self, actions: dict[int, tuple[int, ...]] | None = None, steps: int = 1) -> Scene:
        """Step with these actions by agent, all others neutral."""
        heads = np.tile(np.array(NEUTRAL, np.int32), (self.simulator.num_worlds, self.agents, 1))
        for agent, action in (actions or {}).items():
            heads[:, agent] = action
        for _ in range(steps):
            self.outputs = self.simulator.step(heads)
        return self

    def get(self, column: str, row: int) -> Array:
        return self.simulator.get(column)[0, row]

    def set(self, column: str, row: int, value: Any) -> None:
        values = self.simulator.get(column)
        values[:, row] = value
        self.simulator.set(column, values)

    def at(self, row: int) -> Array:
        return self.get("bodies.position", row).astype(np.float64)

    def yaw(self, row: int) -> float:
        return float(yaw_of(self.get("bodies.orientation", row)))

    def pose(self, row: int) -> bytes:
        parts = self.get("bodies.position", row), self.get("bodies.orientation", row)
        return b"".join(part.tobytes() for part in parts)

    def held_by(self, agent: int) -> int | None:
        """Return the row of the body that the agent holds."""
        joint = {name: int(self.get(f"joints.{name}", agent)) for name in ("type", "a", "b")}
        assert joint["type"] in (0, 1)
        assert joint["type"] == 0 or joint["a"] == agent
        return joint["b"] if joint["type"] else None

    def lock_of(self, row: int) -> str:
        """Return whose lock is on a body: "", "seekers" or "hiders"."""
        owner = ("", "seekers", "hiders")[int(self.get("bodies.owner", row))]
        assert bool(self.get("bodies.state", row) & LOCKED) == bool(owner)
        return owner

    def observed(self, field: str, agent: int) -> Array:
        self.outputs = self.outputs._replace(obs=self.simulator.observe().obs)
        return np.array(self.outputs.obs[field][0, agent])

    def reward(self, agent: int) -> float:
        return float(self.outputs.reward[0, agent])


# ---- a second opinion


def _turn(q: Array) -> Array:
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


class Geometry:
    """The shapes of one world: a ray is cut by the half-spaces of each (or by a sphere)."""

    def __init__(self, simulator: Simulator, world: int) -> None:
        p = simulator.parameters
        self.flat = p["profile"] == "openai"
        self.agents = simulator.agents_per_world
        names = ("position", "orientation", "kind", "state")
        position, orientation, kind, state = (
            simulator.get(f"bodies.{name}")[world].astype(np.float64) for name in names
        )
        self.position, self.turn = position, [_turn(q) for q in orientation]
        self.there = (state.astype(int) & PRESENT) != 0
        halves = {
            2: np.full(3, p["box_size"]) / 2,
            3: np.array([p["long_length"], p["long_width"], p["box_size"]]) / 2,
            5: np.full(3, p["agent_size"]) / 2,
        }
        run, height, width = p["ramp_run"], p["ramp_height"], p["ramp_width"]
        slope = np.array([0, -height, run]) / math.hypot(run, height)
        lift = run * height / (3 * math.hypot(run, height))  # of the slope over the centroid
        wedge_normals = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, 0, -1], slope])
        wedge = wedge_normals, np.array([width / 2, width / 2, run / 3, height / 3, lift])
        box = np.vstack([np.eye(3), -np.eye(3)])
        self.shapes: list[tuple[int, float, Array, Array]] = []  # row, radius, normals, offsets
        for row in np.flatnonzero(self.there):
            what = int(kind[row])
            if what == AGENT and self.flat:
                self.shapes.append((row, p["agent_size"] / 2, np.empty((0, 3)), np.empty(0)))
                continue
            half = halves.get(what)
            normals, offsets = wedge if half is None else (box, np.concatenate([half, half]))
            normals = normals @ self.turn[row].T
            self.shapes.append((row, 0.0, normals, offsets + normals @ position[row]))
        for k in range(int(simulator.get("statics.count")[world].item())):
            centre = simulator.get("statics.centre")[world, k].astype(np.float64)
            half = simulator.get("statics.half")[world, k].astype(np.float64)
            self.shapes.append((-1, 0.0, box, np.concatenate([half, half]) + box @ centre))

    def _enter(self, shape: tuple[int, float, Array, Array], origin: Array, way: Array) -> float:
        """Return where the ray enters, in units of `way`; inf if it misses or begins inside."""
        row, radius, normals, offsets = shape
        if radius > 0:
            to = origin - self.position[row]
            a, b, c = way @ way, to @ way, to @ to - radius * radius
            root = b * b - a * c
            return (-b - math.sqrt(root)) / a if root > 0 and c > 0 and b < 0 else math.inf
        height, rate = offsets - normals @ origin, normals @ way
        if np.any((rate == 0) & (height <= 0)):
            return math.inf
        crossings = height[rate != 0] / rate[rate != 0]
        falling = rate[rate != 0] < 0
        low = crossings[falling].max(initial=-math.inf)
        high = crossings[~falling].min(initial=math.inf)
        return low if 0 < low < high else math.inf

    def first_hit(self, agent: int, origin: Array, way: Array) -> tuple[float, int]:
        hits = [(self._enter(s, origin, way), s[0]) for s in self.shapes if s[0] != agent]
        return min(hits, default=(math.inf, -1))

    def sees(self, agent: int, body: int, extra: float = 0.0) -> bool:
        """Tell whether an agent sees a body, with the cone wider by `extra` radians."""
        if body == agent or not self.there[body]:
            return False
        way = self.position[body] - self.position[agent]
        ahead = self.turn[agent][:, 1]
        flat = way * [1, 1, 0] if self.flat else way
        length = float(np.linalg.norm(flat))
        if length > 0 and flat @ ahead < math.cos(HALF_CONE + extra) * length:
            return False
        distance, row = self.first_hit(agent, self.position[agent], way)
        return row == body and distance < 1

    def lidar(self, agent: int) -> Array:
        ahead = np.array([1.0, 0, 0]) if self.flat else self.turn[agent][:, 1]
        ranges = []
        for ray in range(30):
            c, s = math.cos(2 * math.pi * ray / 30), math.sin(2 * math.pi * ray / 30)
            way = np.array([ahead[0] * c - ahead[1] * s, ahead[1] * c + ahead[0] * s, 0.0])
            ranges.append(self.first_hit(agent, self.position[agent], way)[0])
        return np.array(ranges)
