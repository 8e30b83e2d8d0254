"""The rows of hide-and-seek as libraries see them: fields, the critic's state, names of agents."""

from __future__ import annotations

import numpy as np
import pytest
from hide_seek_worlds import ALL, random_actions, simulate

from gpu_envs import Simulator
from gpu_envs.faces.parallel import parallel_env as make_parallel

WORLDS, STEPS = 24, 50


def played(profile: str, **options: object) -> tuple[Simulator, object]:
    simulator = simulate(profile, WORLDS, **options)
    outputs = simulator.reset(seed=21)
    random = np.random.default_rng(7)
    for _ in range(STEPS):
        outputs = simulator.step(random_actions(simulator, random))
    return simulator, outputs


@pytest.mark.parametrize("profile", ALL)
@pytest.mark.parametrize("mode", ["masked", "full"])
def test_the_dictionary_is_slices_of_the_row(profile, mode):
    fields = played(profile, observation_mode=mode)[1].obs
    simulator, outputs = played(profile, observation_mode=mode, observation="flat")
    at = 0
    for described in simulator.observation_fields:
        part = outputs.obs[..., at : at + described.size]
        view = fields[described.name].reshape(WORLDS, 5, -1)
        assert np.array_equal(part, view), described.name
        at += described.size
    assert at == outputs.obs.shape[-1] == simulator.single_observation_space.shape[0]


def state_parts(simulator: Simulator, state: np.ndarray) -> dict[str, np.ndarray]:
    parts, at = {}, 0
    for described in simulator.instance["state"]:
        size = int(np.prod(described["shape"]))
        parts[described["name"]] = state[:, at : at + size].reshape(-1, *described["shape"])
        at += size
    assert at == state.shape[1]
    return parts


@pytest.mark.parametrize("profile", ALL)
def test_the_state_is_the_unmasked_truth(profile):
    simulator, outputs = played(profile)
    parts = state_parts(simulator, outputs.state)
    column = {
        name: simulator.get(f"bodies.{name}")
        for name in ("position", "orientation", "velocity", "spin", "state", "owner")
    }
    whole = np.concatenate(
        [column[name] for name in ("position", "orientation", "velocity", "spin")], axis=-1
    )
    there = (column["state"] & 1) == 1
    objects = np.concatenate([parts["boxes"], parts["ramps"]], axis=1)
    expected = np.where(there[:, 5:16, None], whole[:, 5:16], 0)
    assert np.array_equal(objects[..., :13], expected.astype(np.float32))
    assert np.array_equal(objects[..., 16] == 1, there[:, 5:16])
    for k, team in ((17, 2), (18, 1)):
        owned = there[:, 5:16] & (column["owner"][:, 5:16] == team)
        assert np.array_equal(objects[..., k] == 1, owned)
    assert (column["owner"][:, 5:16] != 0).any()
    p = simulator.parameters
    longs = (simulator.get("bodies.kind")[:, 5:14] == 3) & there[:, 5:14]
    size = [p["long_length"], p["long_width"], p["box_size"]]
    assert parts["boxes"][longs][:, 13:16] == pytest.approx(np.tile(size, (longs.sum(), 1)))
    agents = parts["agents"]
    assert np.array_equal(agents[..., :7], whole[:, :5, :7])
    assert np.array_equal(agents[..., 13], np.tile([1, 1, 1, 0, 0], (WORLDS, 1)))
    assert np.array_equal(agents[..., 14] == 1, simulator.get("joints.type")[:, :5] != 0)
    assert np.all(parts["prep"] == 96 - STEPS)
    for world, count in enumerate(simulator.get("statics.count").ravel()):
        walls = parts["walls"][world]
        centre, half = (simulator.get(f"statics.{k}")[world, :count] for k in ("centre", "half"))
        assert np.array_equal(walls[:count], np.concatenate([centre, half], axis=-1))
        assert not walls[count:].any()


@pytest.mark.parametrize("profile", ALL)
def test_ramp_sizes_of_the_state_are_their_extents(profile):
    simulator, outputs = played(profile)
    p = simulator.parameters
    size = [p["ramp_width"], p["ramp_run"], p["ramp_height"]]
    got = state_parts(simulator, outputs.state)["ramps"][..., 13:16]
    there = got.any(axis=-1)
    assert there.any()
    assert np.allclose(got[there], size)


@pytest.mark.parametrize("profile", ALL)
def test_the_state_does_not_depend_on_the_mask(profile):
    assert np.array_equal(
        played(profile)[1].state, played(profile, observation_mode="full")[1].state
    )


def test_own_rows_of_fixed_show_pose_grip_and_locks():
    simulator, outputs = played("fixed", observation_mode="full", preparation_steps=0)
    own = outputs.obs["self"]
    assert np.array_equal(own[..., :3], simulator.get("bodies.position")[:, :5])
    assert own[..., 3] ** 2 + own[..., 4] ** 2 == pytest.approx(1, abs=1e-5)
    holding = simulator.get("joints.type")[:, :5] != 0
    assert np.array_equal(own[..., 9] == 1, holding)
    for me in range(5):
        rest = [k for k in range(5) if k != me]
        others = outputs.obs["others"][:, me]
        assert np.array_equal(others[..., 4], np.tile([float(k < 3) for k in rest], (WORLDS, 1)))
        assert np.array_equal(others[..., 5] == 1, holding[:, rest])
    owner = simulator.get("bodies.owner")[:, None, 5:16]
    boxes, ramps = outputs.obs["boxes"][..., 7:], outputs.obs["ramps"][..., 5:]
    locks = np.concatenate([boxes, ramps], axis=2)
    assert np.array_equal(locks[..., 0] == 1, np.repeat(owner == 2, 5, axis=1))
    assert np.array_equal(locks[..., 1] == 1, np.repeat(owner == 1, 5, axis=1))
    assert locks.any()


def test_pettingzoo_names_the_agents_by_team():
    env = make_parallel("HideSeek-v0", hider_count=2, seeker_count=3, device="cpu")
    names = ["hider_0", "hider_1", "seeker_0", "seeker_1", "seeker_2"]
    assert env.possible_agents == names
    observations, _ = env.reset(seed=1)
    assert list(observations) == names
    assert env.action_space("hider_0").nvec.tolist() == [11, 11, 11, 2, 2]
    actions = {name: env.action_space(name).sample() for name in names}
    rewards = env.step(actions)[1]
    assert list(rewards) == names
    env.close()
