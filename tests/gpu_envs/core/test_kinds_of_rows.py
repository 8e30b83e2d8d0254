"""Roles whose rows differ in kind: one sees a picture, one a wide row, one three floats.

What each role sees is compared with what the header of Fair-v0 makes of its columns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

import gpu_envs
from gpu_envs.core import role_actions

WORLDS = 3
ROLES = ("painter", "reader", "judge")
SIZE = (13, 37)
NAMES = {"painter": {"stroke", "lasted"}, "reader": {"read"}, "judge": {"reward"}}
pytestmark = pytest.mark.usefixtures("fair")


def actions(simulator: gpu_envs.Simulator, step: int) -> dict[str, Any]:
    """Return actions of all roles that the masks allow or not; what is played is read back."""
    size = {role.name: (simulator.num_worlds, role.count) for role in simulator.roles}
    return {
        "painter": np.full(size["painter"], step % 5),
        "reader": np.full(size["reader"], step % 7),
        "judge": np.full((*size["judge"], 2), 0.25, np.float32),
    }


def is_there(simulator: gpu_envs.Simulator, outputs: Any, role: str) -> np.ndarray[Any, Any]:
    there: np.ndarray[Any, Any] = np.asarray(simulator.by_role(outputs.agent_active)[role])
    return there


def expected(simulator: gpu_envs.Simulator, role: str) -> np.ndarray[Any, Any]:
    """Return what the rules of Fair-v0 show of the columns as they are."""
    count = next(each.count for each in simulator.roles if each.name == role)
    step = simulator.get("world.step").astype(int).reshape(-1)
    if role == "painter":
        shade = simulator.get("painters.shade")[:, :count, None, None]
        red = shade + np.arange(SIZE[0])[:, None]
        green = np.broadcast_to(np.arange(SIZE[1]), (*shade.shape[:2], *SIZE))
        blue = np.broadcast_to(step[:, None, None, None], green.shape)
        return np.stack([np.broadcast_to(red, green.shape), green, blue], -1).astype(np.uint8)
    at = simulator.get("readers.at")
    if role == "reader":
        at = at[:, :count]
        rows = np.tile((np.arange(701) % 251).astype(np.uint8), (*at.shape, 1))
        np.put_along_axis(rows, at[..., None], 253, -1)
        rows[..., -1] = np.arange(at.shape[1])
        return rows
    total = simulator.get("judges.sum")
    return np.stack([step[:, None] * np.ones_like(total), total, at[:, :1]], -1, dtype=np.float32)


@pytest.mark.parametrize("arrays", ["numpy", "torch", "jax"])
def test_each_role_sees_rows_of_its_own_kind(make_simulator, arrays: str) -> None:
    pytest.importorskip(arrays)
    simulator = make_simulator("Fair-v0", WORLDS, roles="split", arrays=arrays)
    outputs = simulator.reset(seed=1)
    for step in range(20):
        parts = simulator.by_role(outputs.obs)
        for role in simulator.roles:
            seen, there = np.asarray(parts[role.name]), is_there(simulator, outputs, role.name)
            assert seen.dtype == role.observation_space.dtype
            assert seen.shape == (WORLDS, role.count, *role.observation_space.shape)
            assert np.array_equal(seen[there], expected(simulator, role.name)[there]), role.name
            assert not seen[~there].any()
        outputs = simulator.step(actions(simulator, step))


def test_spaces_are_those_of_each_kind(make_simulator) -> None:
    simulator = make_simulator("Fair-v0", 1, roles="split")
    painter, reader, judge = (role.observation_space for role in simulator.roles)
    assert painter == spaces.Box(0, 255, (*SIZE, 3), np.uint8)
    assert reader == spaces.Box(0, 255, (701,), np.uint8)
    assert judge.shape == (3,) and judge.dtype == np.float32


def test_layers_of_a_role_are_named(make_simulator) -> None:
    simulator = make_simulator("Fair-v0", WORLDS, roles="split", layers=7)
    outputs = simulator.reset(seed=1)
    parts = simulator.by_role(outputs.depth)
    across = np.broadcast_to(np.arange(SIZE[1], dtype=np.float32), SIZE)
    assert set(simulator.roles[0].observation_space) == {"rgb", "depth", "segmentation"}
    depth, there = np.asarray(parts["painter"])[..., 0], is_there(simulator, outputs, "painter")
    assert (depth[there] == across).all() and parts["judge"] is None


def test_rows_that_differ_in_kind_are_not_padded() -> None:
    for make in (gpu_envs.Simulator, gpu_envs.make_vec):
        with pytest.raises(ValueError, match=r"differ in kind.*roles='split', role="):
            make("Fair-v0", 1, device="cpu")


@pytest.mark.parametrize("role", ROLES)
def test_rows_of_one_role_are_those_of_the_batch(make_vec, make_simulator, role: str) -> None:
    env = make_vec("Fair-v0", WORLDS, role=role, others="noop", ends="agent")
    obs, infos = env.reset(seed=4)
    assert obs.dtype == env.single_observation_space.dtype
    assert obs.shape == (env.num_envs, *env.single_observation_space.shape)
    for step in range(15):
        own = actions(env.simulator, step)[role]
        obs, reward, _, _, infos = env.step(own.reshape(env.num_envs, *own.shape[2:]))
        parts = infos["reward_parts"]
        assert set(parts) == NAMES[role]
        assert np.allclose(sum(parts.values()), reward)
        seen = expected(env.simulator, role).reshape(obs.shape)
        there = infos["agent_active"]
        assert np.array_equal(obs[there], seen[there])


def test_agents_by_name_see_their_own_kind() -> None:
    env = gpu_envs.parallel_env("Fair-v0", ends="world")
    observations, _ = env.reset(seed=2)
    for _ in range(14):
        for agent, observation in observations.items():
            assert env.observation_space(agent).contains(observation), agent
        chosen = {agent: env.action_space(agent).sample() for agent in env.agents}
        if not chosen:  # cut short after 12 steps
            break
        observations, rewards, _, _, infos = env.step(chosen)
        for agent, info in infos.items():
            parts = info["reward_parts"]
            assert set(parts) == NAMES[agent.rpartition("_")[0]]
            assert sum(parts.values()) == pytest.approx(rewards[agent])
    env.close()


@pytest.mark.parametrize("group", ["agent", "role"])
def test_batches_by_agent_and_by_role_hold_the_same(group: str) -> None:
    env = gpu_envs.batched_parallel_env("Fair-v0", WORLDS, group=group, device="cpu")
    obs, _ = env.reset(seed=1)
    infos: dict[str, Any] = {}
    for step in range(6):
        by_role = actions(env.simulator, step)
        given = by_role
        if group == "agent":
            given = {
                agent: by_role[role.name][:, k]
                for role in env.roles
                for k, agent in enumerate(role.agents)
            }
        obs, _, _, _, infos = env.step(given)
    for role in env.roles:
        there, whole = infos, expected(env.simulator, role.name)
        keys = [role.name] if group == "role" else role.agents
        for k, key in enumerate(keys):
            active = np.asarray(there[key]["agent_active"])
            own = whole if group == "role" else whole[:, k]
            assert np.array_equal(np.asarray(obs[key])[active], own[active])
            assert set(infos[key]["reward_parts"]) == NAMES[role.name]
    env.close()


@pytest.fixture
def trained() -> Callable[..., Any]:
    pytest.importorskip("torch")
    pytest.importorskip("matplotlib")
    from gpu_envs.train import config, ppo, ranks, worlds

    def make(**choices: Any) -> Any:
        made = config.make("Fair-v0", num_envs=6, rollout=8, policies="role", **choices)
        env = worlds.for_training(made, "cpu", 6)
        trainer = ppo.Trainer(made, env, ranks.Ranks("cpu"), print)
        trainer.start()
        return trainer

    return make


def test_rollouts_have_rows_of_each_kind_and_weigh_its_parts(trained) -> None:
    trainer = trained(reward_weights="stroke=2 lasted=0", encoder="painter=cnn")
    trainer.iterate()
    painters, readers, judges = trainer.rollouts
    assert painters.obs.shape[2:] == (*SIZE, 3) and str(painters.obs.dtype) == "torch.uint8"
    assert readers.obs.shape[2:] == (701,) and judges.obs.shape[2:] == (3,)
    rewards = [
        weights.of(rollout.reward, rollout.parts)
        for weights, rollout in zip(trainer.rewards, trainer.rollouts, strict=True)
    ]
    assert (rewards[0] == 2 * painters.parts[..., 0]).all() and painters.parts[..., 0].any()
    assert (rewards[1] == readers.reward).all() and (rewards[2] == judges.reward).all()


def test_a_part_that_no_role_has_is_refused(trained) -> None:
    with pytest.raises(ValueError, match=r"unknown reward part of Fair-v0.*stroke"):
        trained(reward_weights="strokes=2")


@pytest.mark.parametrize("layers", [1, 7])
def test_a_world_without_a_state_shows_the_rows_of_all_kinds(layers: int) -> None:
    env = gpu_envs.parallel_env("Fair-v0", layers=layers)
    observations, _ = env.reset(seed=3)
    batch = gpu_envs.batched_parallel_env("Fair-v0", 2, device="cpu", layers=layers)
    batch.reset(seed=3)
    state, several = env.state(), batch.state()
    assert env.state_space.contains(state)
    assert several.shape == (2, *env.state_space.shape) and several.dtype == state.dtype
    begin = 0
    for role in batch.roles:
        shape = (*SIZE, 3) if role.name == "painter" else role.observation_space.shape
        for agent in role.agents:  # some are absent
            end = begin + int(np.prod(shape))
            seen = observations.get(agent, np.zeros(shape))
            while isinstance(seen, dict):  # a mask beside the row, layers beside the colours
                seen = seen.get("observation", seen.get("rgb"))
            assert np.array_equal(state[begin:end].reshape(shape), seen)
            begin = end
    assert begin == len(state)
    assert np.array_equal(state, several[0])
    env.close()
    batch.close()


def test_a_number_beyond_32_bits_is_refused_beside_roles_of_floats(make_vec) -> None:
    env = make_vec("Fair-v0", WORLDS, role="reader")
    env.reset(seed=1)
    with pytest.raises(ValueError, match="4294967296 is too large for int32"):
        env.step(np.full(env.num_envs, 2**32))
    assert (env.simulator.get("world.step") == 0).all()


def test_actions_are_written_in_and_outside_inference_mode(make_simulator, monkeypatch) -> None:
    torch = pytest.importorskip("torch")
    simulator = make_simulator("Fair-v0", WORLDS, roles="split")
    monkeypatch.setattr(role_actions, "to_library", lambda array, _: torch.from_numpy(array))
    monkeypatch.setattr(role_actions.RoleReader, "_is_on_device", lambda *_: True)
    place = role_actions.Place("cuda:0", "torch")
    with torch.inference_mode():
        actions = role_actions.RoleActions(place, simulator.kinds, simulator.roles)
    for inside in (True, False):
        with torch.inference_mode(inside):
            sizes = {r.name: (WORLDS, r.count, *r.action_space.shape) for r in simulator.roles}
            given = {name: torch.ones(size, dtype=torch.int64) for name, size in sizes.items()}
            given["judge"] = given["judge"].bfloat16()
            parts = simulator.kinds.actions.all_parts(actions.read(given))
    assert (parts[0] == 1).all() and (parts[1] == 1).all()
    assert (parts[2].view(torch.float32) == 1).all()


@pytest.mark.parametrize("worlds", [1, 3])
def test_masked_draws_are_legal_wherever_a_mask_begins(make_simulator, worlds: int) -> None:
    simulator = make_simulator("Fair-v0", worlds, roles="split", painter_count=1)
    outputs = simulator.reset(seed=2)
    for _ in range(100):
        drawn = simulator.sample_actions(outputs.action_mask)
        masks = simulator.by_role(outputs.action_mask)
        chosen = dict(zip(ROLES, simulator.kinds.actions.all_parts(drawn), strict=True))
        for role in ("painter", "reader"):
            mask = np.asarray(masks[role])
            allowed = np.take_along_axis(mask, chosen[role][..., None].astype(int), -1)[..., 0]
            assert (allowed[mask.any(-1)] == 1).all(), role
        outputs = simulator.step(drawn)


def test_the_only_role_has_its_spaces_where_rows_are_split(make_simulator) -> None:
    simulator = make_simulator("Court-v0", WORLDS, roles="split")
    (judge,) = simulator.roles
    assert (judge.name, judge.count, judge.has_mask) == ("judge", 1, False)
    assert judge.observation_space.shape == (3,) and judge.action_space.shape == (2,)
    simulator.reset(seed=1)
    outputs = simulator.step({"judge": np.full((WORLDS, 1, 2), 0.5, np.float32)})
    assert outputs.action_mask is None
    assert np.array_equal(simulator.by_role(outputs.obs)["judge"][:, 0], [[1, 0, 0]] * WORLDS)
    env = gpu_envs.batched_parallel_env("Court-v0", WORLDS, group="role", device="cpu")
    assert env.observation_spaces["judge"].shape == (3,)
    env.close()


@pytest.mark.parametrize("layers", [9, 15])
@pytest.mark.parametrize("group", ["role", "agent"])
def test_batches_by_name_show_all_layers_and_numbers(layers: int, group: str) -> None:
    options: dict[str, Any] = {"group": group, "layers": layers, "autoreset_mode": "SameStep"}
    env = gpu_envs.batched_parallel_env("Fair-v0", WORLDS, device="cpu", **options)
    observed, _ = env.reset(seed=3)
    counts = {role.name: role.count for role in env.roles}
    leads = {key: (WORLDS, counts[key]) if group == "role" else (WORLDS,) for key in observed}
    told_any = False
    for step in range(14):
        for key, seen in observed.items():
            role = "painter" if key.startswith("painter") else ""
            assert isinstance(seen, dict) == bool(role)
            if not role:
                continue
            place = (0, 0) if group == "role" else (0,)
            one = {name: np.asarray(part[place]) for name, part in seen.items()}
            assert env.observation_space(key).contains(one), (key, step)
            if group == "role":
                shade = env.simulator.get("painters.shade")[:, : seen["shade"].shape[1]]
                told = seen["shade"][..., 0]  # 0 of those who are not there
                assert ((told == shade) | (told == 0)).all()
                told_any |= bool(told.any())
        acted = {
            key: np.zeros((*lead, *env.action_space(key).shape), env.action_space(key).dtype)
            for key, lead in leads.items()
        }
        observed = env.step(acted)[0]
    assert told_any or group == "agent"
    env.close()


def test_outputs_of_the_same_form_are_told_apart(make_simulator) -> None:
    options: dict[str, Any] = {"painter_count": 2, "reader_count": 1, "layers": 9}
    options["roles"] = "split"
    simulator = make_simulator("Fair-v0", WORLDS, device="cpu", **options)
    simulator.reset(seed=1)
    results = simulator.step(actions(simulator, 0))
    assert results.numbers.shape == results.reward_parts.shape
    with pytest.raises(ValueError, match=r"have the same form.*name='final_numbers'"):
        simulator.by_role(results.numbers)
    painters = simulator.by_role(results.numbers, "numbers")
    assert painters["painter"].shape == (WORLDS, 2, 3) and painters["reader"] is None
    numbers = painters["painter"][..., 1]
    assert numbers.any() and ((numbers == [0, 1]) | (numbers == 0)).all()
    assert simulator.by_role(results.reward_parts, "reward_parts")["judge"].shape == (WORLDS, 1, 1)
