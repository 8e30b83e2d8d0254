"""What worlds of several agents add to the vector interface: masks, turns, states, reward parts.

The first tests run over every registered environment that can have several agents; the rest hold
the numbers of Hanabi and Overcooked, and element types and layouts of observations, against the
pages that promise them.
"""

from __future__ import annotations

import math
from typing import Any

import gymnasium
import numpy as np
import pytest

import gpu_envs
from gpu_envs.known.measures import sizes
from tests.contract.playing import by_row, same

DESCRIPTIONS = gpu_envs.environments()
NAMES = [name for name, description in DESCRIPTIONS.items() if description["agents"] != "1"]
STEPS = 60
WORLDS = 4

every_crowd = pytest.mark.parametrize("name", NAMES)
every_crowd_of_bytes = pytest.mark.parametrize(
    "name",
    [
        name
        for name in NAMES
        if {field["type"] for field in DESCRIPTIONS[name]["observation"]} == {"uint8"}
        and not DESCRIPTIONS[name].get("pictures")  # whose layers have types of their own
    ],
)
every_library = pytest.mark.parametrize("arrays", ["numpy", "torch", "jax"])


@pytest.fixture
def make(make_vec):
    def make(name: str, worlds: int = WORLDS, **options: Any) -> gpu_envs.VectorEnv:
        pytest.importorskip(options.get("arrays", "numpy"))
        return make_vec(name, worlds, **sizes(name, "crowd") | options)

    return make


def _type(array: Any) -> str:
    return str(array.dtype).removeprefix("torch.")


def _draw(simulator: gpu_envs.Simulator, mask: Any, step: int) -> np.ndarray:
    """Legal random actions of all worlds, (worlds, agents) or with several numbers each."""
    space = simulator.single_action_space
    if isinstance(space, gymnasium.spaces.Box):
        shape = (simulator.num_worlds, simulator.agents_per_world, *space.shape)
        drawn = np.random.default_rng(step).uniform(space.low, space.high, shape)
        return drawn.astype(space.dtype)
    if not isinstance(space, gymnasium.spaces.MultiDiscrete):
        return np.asarray(simulator.sample_actions(mask, seed=5))
    shape = (simulator.num_worlds, simulator.agents_per_world, len(space.nvec))
    return np.random.default_rng(step).integers(0, space.nvec, shape)


def _play(env: gpu_envs.VectorEnv, steps: int = STEPS) -> list[tuple[Any, dict[str, Any]]]:
    """Observations and infos of legal random actions, those of the reset first."""
    obs, infos = env.reset(seed=3)
    seen = [(obs, infos)]
    for step in range(steps):
        actions = by_row(_draw(env.simulator, infos.get("action_mask"), step))
        obs, *_, infos = env.step(actions)
        seen.append((obs, infos))
    env.check()  # which an illegal action fails
    return seen


# Every environment with several agents


@every_crowd
@every_library
def test_infos_are_those_that_the_description_promises(make, name, arrays) -> None:
    env = make(name, arrays=arrays, max_episode_steps=23)
    described, rows = DESCRIPTIONS[name], env.num_envs
    outputs = env.simulator.instance["outputs"]
    for step, (_, infos) in enumerate(_play(env)):
        assert infos["agent_active"].shape == (rows,)
        assert _type(infos["agent_active"]) == "bool"
        assert ("action_mask" in infos) == described["action_mask"]
        if described["action_mask"]:
            assert infos["action_mask"].shape == (rows, env.single_action_space.n)
            assert _type(infos["action_mask"]) == "int8"
            mask = np.asarray(infos["action_mask"])
            assert ((mask == 0) | (mask == 1)).all()
        assert ("state" in infos) == bool(described["state"])
        if described["state"]:
            assert infos["state"].shape == tuple(outputs["state"]["shape"])
            assert len(infos["state"]) == WORLDS  # of the world, not repeated for its agents
            assert _type(infos["state"]) == outputs["state"]["type"]
        assert ("reward_parts" in infos) == (bool(described["reward_parts"]) and step > 0)
        for part in infos.get("reward_parts", {}).values():
            assert part.shape == (rows,)
            assert _type(part) == "float32"


@every_crowd
@every_library
def test_libraries_agree_on_every_info(make, name, arrays) -> None:
    expected, found = _play(make(name)), _play(make(name, arrays=arrays))
    for (left_obs, left), (right_obs, right) in zip(expected, found, strict=True):
        assert same(left_obs, right_obs)
        assert left.keys() == right.keys()
        for key in ("action_mask", "agent_active", "state"):
            if key in left:
                assert np.array_equal(left[key], np.asarray(right[key])), key
        for key, part in left.get("reward_parts", {}).items():
            assert np.array_equal(part, np.asarray(right["reward_parts"][key])), key


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_results_are_the_simulators_outputs_by_row(make, name) -> None:
    env, simulator = (
        make(name),
        gpu_envs.Simulator(name, WORLDS, device="cpu", ends="world", **sizes(name, "crowd")),
    )
    pairs = [(env.reset(seed=3), simulator.reset(seed=3))]
    for step in range(10):
        actions = _draw(env.simulator, pairs[-1][1].action_mask, step)
        pairs.append((env.step(by_row(actions)), simulator.step(actions)))
    for (obs, *flags, infos), outputs in pairs:
        assert same(obs, by_row(outputs.obs))
        for key, flag in zip(("reward", "terminated", "truncated"), flags, strict=False):
            assert np.array_equal(flag, getattr(outputs, key).ravel()), key
        for key in ("action_mask", "agent_active"):
            if key in infos:
                whole = getattr(outputs, key)
                assert np.array_equal(infos[key], whole.reshape(env.num_envs, *whole.shape[2:]))
        if "state" in infos:
            assert np.array_equal(infos["state"], outputs.state)
        for k, part in enumerate(infos.get("reward_parts", {}).values()):
            assert np.array_equal(part, outputs.reward_parts[..., k].ravel())
    simulator.close()


@every_crowd
def test_a_state_and_a_mask_depend_on_their_world_alone(make, name) -> None:
    batch, alone = make(name), make(name, 1, first_world=2)
    agents = batch.agents_per_world
    place = slice(2 * agents, 3 * agents)
    infos, single = batch.reset(seed=3)[1], alone.reset(seed=3)[1]
    for step in range(STEPS):
        if "state" in infos:
            assert np.array_equal(infos["state"][2:3], single["state"])
        if "action_mask" in infos:
            assert np.array_equal(infos["action_mask"][place], single["action_mask"])
        assert np.array_equal(infos["agent_active"][place], single["agent_active"])
        actions = by_row(_draw(batch.simulator, infos.get("action_mask"), step))
        infos, single = batch.step(actions)[4], alone.step(actions[place])[4]


@every_crowd
def test_lean_outputs_leave_them_out(make, name) -> None:
    env = make(name, outputs=["state"] if DESCRIPTIONS[name]["state"] else [])
    _, first = env.reset(seed=0)
    infos = env.step(0 * env.action_space.sample())[4]
    kept = {"state"} if DESCRIPTIONS[name]["state"] else set()
    assert set(infos) == set(first) == kept


# Hanabi


@every_library
@pytest.mark.parametrize(("player_count", "moves"), [(2, 20), (3, 30), (5, 48)])
@pytest.mark.parametrize("noop", [True, False])
def test_hanabi_exactly_one_player_is_active(make, arrays, player_count, moves, noop) -> None:
    env = make("Hanabi-v0", arrays=arrays, player_count=player_count, noop=noop)
    assert env.single_action_space.n == moves + noop
    players = set()
    for _, infos in _play(env):
        active = np.asarray(infos["agent_active"]).reshape(WORLDS, player_count)
        assert (active.sum(axis=1) == 1).all()
        on_turn = np.asarray(infos["state"])[:, -2 * player_count : -player_count]
        assert np.array_equal(on_turn, active)
        legal = np.asarray(infos["action_mask"]).reshape(*active.shape, -1)
        if noop:
            assert legal.any(axis=2).all()
            assert np.array_equal(legal[..., -1] == 0, active)  # who acts cannot wait
            assert not legal[~active][:, :-1].any()
        else:
            assert np.array_equal(legal.any(axis=2), active)
        players.update(active.argmax(axis=1).tolist())
    assert players == set(range(player_count))


def test_hanabi_players_take_turns(make) -> None:
    env = make("Hanabi-v0", max_life_tokens=32)
    for step, (_, infos) in enumerate(_play(env, 20)):
        active = infos["agent_active"].reshape(WORLDS, env.agents_per_world)
        assert (active.argmax(axis=1) == step % env.agents_per_world).all()


@pytest.mark.parametrize("noop", [True, False])
def test_spaces_sample_what_the_mask_allows(make, noop) -> None:
    env = make("Hanabi-v0", noop=noop, strict=True)
    env.action_space.seed(0)
    env.single_action_space.seed(0)
    _, infos = env.reset(seed=0)
    for step in range(STEPS):
        mask = infos["action_mask"]
        if step % 2:
            actions = [env.single_action_space.sample(mask=row) for row in mask]
        else:
            actions = env.action_space.sample(mask=tuple(mask))
        chosen = mask[np.arange(env.num_envs), actions]
        assert chosen[infos["agent_active"]].all()
        assert chosen.all() or not noop
        infos = env.step(np.asarray(actions))[4]  # strict: an illegal action would raise


# Overcooked


def test_overcooked_every_chef_acts_at_once_and_no_action_is_masked(make) -> None:
    for _, infos in _play(make("Overcooked-v0")):
        assert infos["agent_active"].all()
        assert "action_mask" not in infos


def test_overcooked_state_is_what_chef_0_sees_and_the_time(make) -> None:
    env = make("Overcooked-v0", max_episode_steps=0)
    for step, (obs, infos) in enumerate(_play(env, 300)):
        first = obs.reshape(WORLDS, env.agents_per_world, -1)[:, 0]
        assert np.array_equal(infos["state"][:, :-2], first)
        assert (infos["state"][:, -2:] == divmod(step, 256)).all()


# Element types and layouts


@every_library
@every_crowd_of_bytes
def test_floats_hold_what_bytes_hold(make, name, arrays) -> None:
    options = {"arrays": arrays, "max_episode_steps": 23}
    own, floats = make(name, **options), make(name, dtype="float32", **options)
    assert own.single_observation_space.dtype == np.uint8
    assert floats.single_observation_space.dtype == np.float32
    for (left, _), (right, infos) in zip(_play(own), _play(floats), strict=True):
        assert (_type(left), _type(right)) == ("uint8", "float32")
        assert np.array_equal(np.asarray(left), np.asarray(right))
        assert np.asarray(right) in floats.observation_space
        if "final_obs" in infos:
            assert _type(infos["final_obs"]) == "float32"


@every_library
@pytest.mark.parametrize("observation_type", ["minimal", "card_knowledge"])
def test_bits_hold_what_bytes_hold(make, arrays, observation_type) -> None:
    options = {"arrays": arrays, "observation_type": observation_type, "max_episode_steps": 23}
    own, bits = make("Hanabi-v0", **options), make("Hanabi-v0", dtype="bits", **options)
    size = own.single_observation_space.shape[0]
    assert bits.single_observation_space.shape == (math.ceil(size / 8),)
    for (left, wide), (right, packed) in zip(_play(own), _play(bits), strict=True):
        assert np.asarray(right) in bits.observation_space
        pairs = [(left, right)]
        if "final_obs" in wide:
            pairs.append((wide["final_obs"], packed["final_obs"]))
            assert np.array_equal(wide["_final_obs"], packed["_final_obs"])
        for bytewise, bitwise in pairs:
            unpacked = np.unpackbits(np.asarray(bitwise), axis=1, bitorder="little")
            assert np.array_equal(unpacked[:, :size], np.asarray(bytewise))
            assert not unpacked[:, size:].any()
        if "state" in wide:  # which is the critic's and keeps its type
            assert np.array_equal(wide["state"], packed["state"])


@pytest.mark.parametrize("given", ["float32", np.float32, np.dtype("float32"), "torch.float32"])
def test_a_type_may_be_given_in_any_form(make, given) -> None:
    assert make("Hanabi-v0", dtype=given).reset(seed=0)[0].dtype == np.float32


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("Overcooked-v0", {"dtype": "bits"}, "Overcooked-v0 .*'uint8', 'float32', got 'bits'"),
        ("Hanabi-v0", {"dtype": "bits", "belief": "v0"}, "one of 'float32', got 'bits'"),
        ("Hanabi-v0", {"dtype": "uint8", "belief": "v0"}, "one of 'float32', got 'uint8'"),
        ("Hanabi-v0", {"dtype": "bits", "observation": "dict"}, "use observation='flat'"),
        ("Hanabi-v0", {"dtype": "float64"}, "'uint8', 'float32' or 'bits', got 'float64'"),
        ("Hanabi-v0", {"dtype": 8}, "'uint8', 'float32' or 'bits', got 8"),
        ("Micro-v0", {"dtype": "uint8"}, "Micro-v0 .*'float32', got 'uint8'"),
        ("Hanabi-v0", {"observation": "tuple"}, "'flat' or 'dict', got 'tuple'"),
    ],
)
def test_types_that_do_not_exist_are_refused_with_those_that_do(
    make, name, options, message
) -> None:
    with pytest.raises(ValueError, match=message):
        make(name, **options)


@every_library
@every_crowd_of_bytes
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_dictionaries_hold_the_fields_of_flat_rows_in_order(make, name, arrays, dtype) -> None:
    options = {"arrays": arrays, "dtype": dtype, "max_episode_steps": 23}
    flat, split = make(name, **options), make(name, observation="dict", **options)
    fields = split.simulator.observation_fields
    for (rows, wide), (views, infos) in zip(_play(flat), _play(split), strict=True):
        pairs = [(rows, views)]
        if "final_obs" in infos:
            pairs.append((wide["final_obs"], infos["final_obs"]))
        for whole, parts in pairs:
            assert list(parts) == [field.name for field in fields]
            for field in fields:
                assert parts[field.name].shape == (flat.num_envs, *field.shape)
                assert _type(parts[field.name]) == dtype
            joined = [np.asarray(part).reshape(flat.num_envs, -1) for part in parts.values()]
            expected = np.asarray(whole).reshape(flat.num_envs, -1)
            assert np.array_equal(np.concatenate(joined, axis=1), expected)
        if arrays == "numpy":
            assert views in split.observation_space


@every_crowd_of_bytes
@pytest.mark.parametrize("arrays", ["numpy", "torch"])
def test_dictionaries_are_views_of_one_array(make, name, arrays) -> None:
    env = make(name, observation="dict", arrays=arrays)
    obs, _ = env.reset(seed=0)
    parts = [np.asarray(part) for part in obs.values()]
    first = parts[0].__array_interface__["data"][0]
    offset = 0
    for part in parts:
        assert part.__array_interface__["data"][0] == first + offset
        offset += math.prod(part.shape[1:]) * part.itemsize


@pytest.mark.parametrize(
    ("options", "missing"),
    [
        ({"observation_type": "minimal"}, "knowledge"),
        ({"preset": "very_small", "player_count": 5}, "deck"),  # all ten cards are in hands
        ({"max_information_tokens": 0}, "information_tokens"),
    ],
)
def test_hanabi_sections_without_elements_are_left_out(make, options, missing) -> None:
    env = make("Hanabi-v0", observation="dict", **options)
    names = set(make("Hanabi-v0", observation="dict").single_observation_space)
    assert names - set(env.single_observation_space) == {missing}
    obs, _ = env.reset(seed=0)
    assert obs in env.observation_space
