"""Scripted player of HideSeek: hiders look about, remember the seekers, and keep walls between.

A hider sees only what is ahead of it, so it turns all the time and keeps in mind where it last saw
each seeker. Its lidar shows the free floor around it as a polygon. Every few steps it asks of
points along the rays: is something outside the polygon, a wall or a box, between this point and
every seeker it knows? It goes to the nearest such point, or away from them if there is none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_envs.players.scripted import Game, Seen

Array = np.ndarray[Any, Any]

RAYS = 30
REACHES = np.array([1.5, 3, 4.5, 7, 10, 14], np.float32)  # of the points along a ray [m]
SAMPLES = 12  # on the way from a point to a seeker
EVERY = 4  # steps between two choices
BODY = 1.3  # what an agent needs around its middle [m]
BOUND = 16.5  # of |x| and |y|: outside of 18 a hider pays [m]
BEHIND = 0.2  # so far behind the polygon there is surely something in between [m]
NEAR = 1.7  # the seeker's own body ends the rays there [m]
TURN, REST = 10, 5  # buckets of an action


class Hiders:
    """The script for the hiders of all worlds; `forget` begins an episode."""

    def __init__(self, worlds: int, hiders: int, seekers: int, turn: int = TURN) -> None:
        self.turn = turn
        rows = worlds * hiders
        self.rows, self.seekers = rows, seekers
        self.seeker_at = np.zeros((rows, seekers, 2), np.float32)
        self.is_known = np.zeros((rows, seekers), bool)
        self.target = np.zeros((rows, 2), np.float32)
        self.steps = np.zeros(rows, np.int64)  # of their episodes
        angle = np.arange(RAYS, dtype=np.float32) * (2 * np.pi / RAYS)
        self.ray = np.stack([np.cos(angle), np.sin(angle)], -1)  # ahead, to the left

    def forget(self, rows: slice) -> None:
        """Begin an episode in some rows."""
        for array in self.kept().values():
            array[rows] = 0

    def kept(self) -> dict[str, Array]:
        """Return what is kept between steps, a row each; not a copy."""
        return {
            "seeker_at": self.seeker_at,
            "is_known": self.is_known,
            "target": self.target,
            "steps": self.steps,
        }

    def __call__(self, obs: dict[str, Array]) -> Array:
        """Return actions (rows, 5) by the hiders' observations, a row each."""
        me, ahead = obs["self"][:, :2], obs["self"][:, [4, 3]] * np.float32([-1, 1])
        right = ahead[:, ::-1] * np.float32([1, -1])
        self._look(obs, me, right, ahead)
        due = np.flatnonzero(self.steps % EVERY == 0)
        if len(due):
            self.target[due] = self._choose(due, obs["lidar"][due], me[due], right[due], ahead[due])
        self.steps += 1
        way = self.target - me
        length = np.linalg.norm(way, axis=1, keepdims=True)
        way = np.where(length > 0.15, way / np.maximum(length, 0.3), 0)
        action = np.full((len(me), 5), 0, np.int32)
        action[:, 0] = REST + np.rint(5 * (way * right).sum(1))
        action[:, 1] = REST + np.rint(5 * (way * ahead).sum(1))
        action[:, 2] = self.turn
        return action

    def _look(self, obs: dict[str, Array], me: Array, right: Array, ahead: Array) -> None:
        """Note where the seekers are that can be seen."""
        away = obs["others"][:, -self.seekers :, :2]  # to the right and ahead; seekers are the last
        at = me[:, None] + away[..., :1] * right[:, None] + away[..., 1:] * ahead[:, None]
        seen = obs["visible_others"][:, -self.seekers :] > 0
        self.seeker_at[seen] = at[seen]
        self.is_known |= seen

    def _choose(self, at: Array, lidar: Array, me: Array, right: Array, ahead: Array) -> Array:
        """Return where to go: the nearest point that no known seeker sees, or the furthest away.

        Args:
            at: Numbers of the rows that choose; what follows is theirs.
            lidar: Lengths of the rays.
            me: Places.
            right: Directions to the right.
            ahead: Directions ahead.
        """
        rays = self.ray[:, :1] * ahead[:, None] - self.ray[:, 1:] * right[:, None]
        # A ray that hits nothing shows 0, and a body is wider than a ray.
        free = np.where(lidar == 0, np.float32(200), lidar)
        width = np.minimum(free, np.minimum(np.roll(free, 1, 1), np.roll(free, -1, 1))) - BODY
        steps = rays[:, :, None] * REACHES[:, None]  # (rows, rays, reaches, 2)
        points = np.concatenate([np.zeros_like(me)[:, None], steps.reshape(len(me), -1, 2)], 1)
        length = np.concatenate([[0], np.tile(REACHES, RAYS)]).astype(np.float32)
        can = np.concatenate(
            [np.ones((len(me), 1), bool), (width[:, :, None] > REACHES).reshape(len(me), -1)], 1
        )
        can &= (np.abs(points + me[:, None]) < BOUND).all(-1) | (length == 0)
        distance = np.full(can.shape, np.inf, np.float32)  # to the nearest seeker
        hidden = np.ones(can.shape, bool)
        for k in range(self.seekers):
            seeker, known = self.seeker_at[at, k] - me, self.is_known[at, k]
            gap = np.linalg.norm(points - seeker[:, None], axis=-1)
            distance = np.where(known[:, None], np.minimum(distance, gap), distance)
            covered = self._is_covered(points, seeker, gap, free, right, ahead)
            hidden &= covered | ~known[:, None]
        nearest = np.where(hidden & can, length, np.inf).argmin(1)
        furthest = np.where(can, distance, -1).argmax(1)
        best = np.where((hidden & can).any(1), nearest, furthest)
        return me + np.take_along_axis(points, best[:, None, None], 1)[:, 0]

    @staticmethod
    def _is_covered(
        points: Array,
        seeker: Array,
        gap: Array,
        free: Array,
        right: Array,
        ahead: Array,
    ) -> Array:
        """Whether something stands on the way from each point to a seeker."""
        found = np.zeros(gap.shape, bool)
        wide = np.maximum(free, np.roll(free, -1, 1)) + BEHIND
        for share in np.linspace(0, 1, SAMPLES, dtype=np.float32):
            at = points + share * (seeker[:, None] - points)
            angle = np.arctan2(-(at * right[:, None]).sum(-1), (at * ahead[:, None]).sum(-1))
            ray = np.floor(angle * np.float32(RAYS / (2 * np.pi))).astype(np.int64) % RAYS
            beyond = np.linalg.norm(at, axis=-1) > np.take_along_axis(wide, ray, 1)
            found |= beyond & ((1 - share) * gap > NEAR)
        return found


class Player:
    """Hiders hide; seekers turn on the spot.

    Args:
        game: What is played.
        turns: Whether hiders look about.
    """

    def __init__(self, game: Game, turns: bool = True) -> None:
        self._shape = (game.worlds, len(game.agents), len(game.action_space.nvec))
        self._hides = game.role == "hider"
        self._fields = [(field.name, field.shape, field.size) for field in game.fields]
        seekers = int(game.parameters["seeker_count"])
        turn = TURN if turns else REST
        self._script = Hiders(game.worlds, len(game.agents), seekers, turn)

    def begin(self, worlds: list[int]) -> None:
        """Forget where seekers were seen in these worlds."""
        for world in worlds:
            self._script.forget(slice(world * self._shape[1], (world + 1) * self._shape[1]))

    def save_worlds(self, worlds: list[int]) -> dict[str, Array]:
        """Return where seekers were seen, and what follows from it."""
        return {name: array[worlds] for name, array in self._by_world().items()}

    def load_worlds(self, worlds: list[int], rows: dict[str, Array]) -> None:
        """Take over what was saved."""
        for name, array in self._by_world().items():
            array[worlds] = rows[name]

    def _by_world(self) -> dict[str, Array]:
        """Return views of what the script keeps, with the world first."""
        return {
            name: array.reshape(*self._shape[:2], *array.shape[1:])
            for name, array in self._script.kept().items()
        }

    def __call__(self, seen: Seen) -> Array:
        """Return the actions of each agent."""
        if self._hides:
            return self._script(self._by_name(seen.obs)).reshape(self._shape)
        actions = np.zeros(self._shape, np.int64)
        actions[..., :2], actions[..., 2] = REST, TURN
        return actions

    def _by_name(self, obs: Any) -> dict[str, Array]:
        """Return observations by field, a row for each hider."""
        if isinstance(obs, dict):
            return {name: part.reshape(-1, *part.shape[2:]) for name, part in obs.items()}
        ends = np.cumsum([size for _, _, size in self._fields])
        parts = np.split(obs.reshape(-1, obs.shape[-1]), ends[:-1], 1)
        pairs = zip(self._fields, parts, strict=True)
        return {name: part.reshape(-1, *shape) for (name, shape, _), part in pairs}
