"""Hiders without a network: they look about, remember the seekers, and keep walls between them.

    python examples/scripted_hiders.py --worlds 1000

prints in which share of the steps that are paid a hider was seen by seekers that act at random,
and in which share hiders were outside the arena. Hiders that act at random too are seen in about
half of the steps; how near a policy comes to this script says what it has learned. With --still
they do not look about, which costs most of what hiding is worth.

A hider sees only what is ahead of it, so it turns all the time and keeps in mind where it last saw
each seeker. Its lidar shows the free floor around it as a polygon. Every few steps it asks of
points along the rays: is something outside the polygon, a wall or a box, between this point and
every seeker it knows? It goes to the nearest such point, or away from them if there is none.
"""

from __future__ import annotations

import argparse

import gymnasium as gym
import numpy as np

import gpu_envs

RAYS = 30
REACHES = np.array([1.5, 3, 4.5, 7, 10, 14], np.float32)  # of the points along a ray [m]
SAMPLES = 12  # on the way from a point to a seeker
EVERY = 4  # steps between two choices
BODY = 1.3  # what an agent needs around its middle [m]
BOUND = 16.5  # of |x| and |y|: outside of 18 a hider pays [m]
BEHIND = 0.2  # so far behind the polygon there is surely something in between [m]
NEAR = 1.7  # the seeker's own body ends the rays there [m]
TURN, REST = 10, 5  # buckets of an action
HIDERS, SEEKERS, STEPS = 3, 2, 240  # of an episode by default


class Hiders:
    """The script for the hiders of all worlds, for one episode."""

    def __init__(self, worlds: int, hiders: int, seekers: int, turn: int = TURN) -> None:
        self.turn = turn
        rows = worlds * hiders
        self.rows, self.seekers = rows, seekers
        self.seeker_at = np.zeros((rows, seekers, 2), np.float32)
        self.is_known = np.zeros((rows, seekers), bool)
        self.target = np.zeros((rows, 2), np.float32)
        self.steps = 0
        angle = np.arange(RAYS, dtype=np.float32) * (2 * np.pi / RAYS)
        self.ray = np.stack([np.cos(angle), np.sin(angle)], -1)  # ahead, to the left

    def __call__(self, obs: dict[str, np.ndarray]) -> np.ndarray:
        """Return actions (rows, 5) by the hiders' observations, a row each."""
        me, ahead = obs["self"][:, :2], obs["self"][:, [4, 3]] * np.float32([-1, 1])
        right = ahead[:, ::-1] * np.float32([1, -1])
        self._look(obs, me, right, ahead)
        if self.steps % EVERY == 0:
            self.target = self._choose(obs["lidar"], me, right, ahead)
        self.steps += 1
        way = self.target - me
        length = np.linalg.norm(way, axis=1, keepdims=True)
        way = np.where(length > 0.15, way / np.maximum(length, 0.3), 0)
        action = np.full((len(me), 5), 0, np.int32)
        action[:, 0] = REST + np.rint(5 * (way * right).sum(1))
        action[:, 1] = REST + np.rint(5 * (way * ahead).sum(1))
        action[:, 2] = self.turn
        return action

    def _look(
        self, obs: dict[str, np.ndarray], me: np.ndarray, right: np.ndarray, ahead: np.ndarray
    ) -> None:
        """Note where the seekers are that can be seen."""
        away = obs["others"][:, -self.seekers :, :2]  # to the right and ahead; seekers are the last
        at = me[:, None] + away[..., :1] * right[:, None] + away[..., 1:] * ahead[:, None]
        seen = obs["visible_others"][:, -self.seekers :] > 0
        self.seeker_at[seen] = at[seen]
        self.is_known |= seen

    def _choose(
        self, lidar: np.ndarray, me: np.ndarray, right: np.ndarray, ahead: np.ndarray
    ) -> np.ndarray:
        """Return where to go: the nearest point that no known seeker sees, or the furthest away."""
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
            seeker, known = self.seeker_at[:, k] - me, self.is_known[:, k]
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
        points: np.ndarray,
        seeker: np.ndarray,
        gap: np.ndarray,
        free: np.ndarray,
        right: np.ndarray,
        ahead: np.ndarray,
    ) -> np.ndarray:
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


class Rows:
    """The same for flat rows of observations, episode after episode of the default length."""

    def __init__(self) -> None:
        self.hiders: Hiders | None = None

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Return actions (rows, 5)."""
        if self.hiders is None or self.hiders.steps == STEPS or self.hiders.rows != len(rows):
            self.hiders = Hiders(len(rows) // HIDERS, HIDERS, SEEKERS)
            one = gpu_envs.Simulator("HideSeek-v0", 1)
            self.shapes = {field.name: field.shape for field in one.observation_fields}
            one.close()
        ends = np.cumsum([int(np.prod(shape)) for shape in self.shapes.values()])
        parts = np.split(rows, ends[:-1], 1)
        fields = zip(self.shapes.items(), parts, strict=True)
        return self.hiders({name: part.reshape(-1, *shape) for (name, shape), part in fields})


hide = Rows()


def measure(worlds: int, seed: int, turn: int = TURN) -> tuple[float, float]:
    """Play one episode in every world; return the shares of steps seen and of steps outside."""
    env = gym.make_vec("gpu_envs/HideSeek-v0", num_envs=worlds, observation="dict")
    is_hider = np.tile(np.arange(HIDERS + SEEKERS) < HIDERS, worlds)
    script, rng = Hiders(worlds, HIDERS, SEEKERS, turn), np.random.default_rng(seed)
    obs, _ = env.reset(seed=seed)
    seen, outside, paid, ended = 0, 0, 0, np.zeros(len(is_hider), bool)
    highs = env.single_action_space.nvec
    while not ended.any():  # all episodes end together
        action = rng.integers(0, highs, (len(is_hider), len(highs)), dtype=np.int32)
        action[is_hider] = script({name: array[is_hider] for name, array in obs.items()})
        obs, reward, terminated, truncated, _ = env.step(action)
        ended = terminated | truncated
        own = reward[is_hider]
        penalised = own < -5
        own = np.where(penalised, own + 10, own)  # the penalty is added to what is paid
        paid, seen = paid + (own != 0).sum(), seen + (own < 0).sum()
        outside += penalised.sum()
    env.close()
    return seen / paid, outside / paid


def main() -> None:
    """Print how well the script hides."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=1000, help="episodes (default 1000)")
    parser.add_argument("--seed", type=int, default=99, help="of worlds and seekers (default 99)")
    parser.add_argument("--still", action="store_true", help="let hiders face one way")
    given = parser.parse_args()
    seen, outside = measure(given.worlds, given.seed, REST if given.still else TURN)
    print(f"hiders seen in {seen:.1%} of the paid steps, outside in {outside:.2%}")


if __name__ == "__main__":
    main()
