"""What users hold, with `device="cuda"` on interpreted kernels: as on the CPU, to the byte.

Arrays are those of a stand-in for CuPy in the interpreter's memory. What needs torch with CUDA
waits for a GPU: the faces of one world, whose rows are torch's, policies of files among `others=`,
training, and `out=` and actions of torch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpu_envs
from tests.ptx.twins import ENVIRONMENTS, MICRO, Twins, simulators

pytestmark = [pytest.mark.usefixtures("device"), pytest.mark.xdist_group("interpreted")]

WORLDS, STEPS = 5, 30
MODES = ("SameStep", "NextStep", "Disabled")
every_environment = pytest.mark.parametrize("key", ENVIRONMENTS)


def _short(key: str) -> tuple[str, dict[str, Any]]:
    """Episodes that end several times within STEPS; not those of CovidEconomy, of years."""
    name, options = ENVIRONMENTS[key]
    return name, options if key == "CovidEconomy" else {**options, "max_episode_steps": 11}


def _vectors(device: Any, key: str, worlds: int = WORLDS, **more: Any) -> Twins:
    name, options = _short(key)
    return Twins(device, lambda **on: gpu_envs.make_vec(name, worlds, **options, **more, **on))


def _play(twins: Twins, steps: int = STEPS) -> None:
    """Step by actions that the CPU's space draws."""
    space = twins.cpu.action_space
    space.seed(4)
    for _ in range(steps):
        twins.call("step", space.sample())


@pytest.mark.parametrize("mode", MODES[:2])
@every_environment
def test_a_vector_environment(device: Any, key: str, mode: str) -> None:
    twins = _vectors(device, key, autoreset_mode=mode)
    twins.call("reset", seed=3)
    _play(twins)
    twins.compare_worlds()
    twins.close()


@pytest.mark.parametrize("others", ["random", "noop"])
@pytest.mark.parametrize("role", ["governor", "planner"])
def test_the_rows_of_one_role_beside_players(device: Any, role: str, others: str) -> None:
    twins = _vectors(device, "CovidEconomy", 2, role=role, others=others)
    twins.call("reset", seed=3)
    _play(twins, 10)
    twins.close()


@pytest.mark.parametrize("mode", MODES[:2])
def test_the_row_of_one_agent_among_partners_of_a_pool(device: Any, mode: str) -> None:
    partners = {"agent": "drawn", "others": ["random", "noop"]}
    twins = _vectors(device, "TagGrid", autoreset_mode=mode, **partners)
    twins.call("reset", seed=3)
    _play(twins)
    twins.compare_worlds()
    twins.close()


@pytest.mark.parametrize("mode", MODES[:2])
@pytest.mark.parametrize("agent", ["player_1", "drawn"])
def test_a_step_lasts_from_turn_to_turn(device: Any, agent: str, mode: str) -> None:
    partners = {"agent": agent, "others": ["random", "noop"], "autoreset_mode": mode}

    def make(**where: Any) -> Any:
        return gpu_envs.make_vec("Hanabi-v0", 3, preset="very_small", **partners, **where)

    twins = Twins(device, make)
    twins.call("reset", seed=3)
    for _ in range(12):
        twins.call("step", twins.cpu.observe()[1]["action_mask"].argmax(-1))
    twins.compare_worlds()
    twins.close()


def test_players_that_are_functions_get_arrays_of_the_device(device: Any) -> None:
    twins = _vectors(
        device,
        "CovidEconomy",
        2,
        role="governor",
        others={"planner": lambda obs, mask: mask.argmax(-1)},
    )
    twins.call("reset", seed=3)
    _play(twins, 10)
    twins.close()


@pytest.mark.parametrize("group", ["agent", "role"])
@pytest.mark.parametrize("key", ["Micro", "CovidEconomy"])
def test_a_batch_of_parallel_environments(device: Any, key: str, group: str) -> None:
    name, options = _short(key)

    def make(**where: Any) -> Any:
        return gpu_envs.batched_parallel_env(name, 3, group=group, **options, **where)

    twins = Twins(device, make)
    twins.call("reset", seed=3)
    random = np.random.default_rng(1)
    for _ in range(10):
        actions = {}
        for group_name, agents in twins.cpu.groups.items():
            shape = (3,) if group == "agent" else (3, len(agents))
            actions[group_name] = random.integers(0, 2, shape)
        twins.call("step", actions)
        twins.call("state")
    twins.close()


@pytest.mark.parametrize("roles", ["padded", "split"])
@pytest.mark.parametrize("mode", MODES)
@every_environment
def test_a_simulator_draws_and_steps(device: Any, key: str, mode: str, roles: str) -> None:
    name, options = _short(key)
    twins = simulators(device, name, WORLDS, autoreset_mode=mode, roles=roles, **options)
    twins.call("reset", seed=[9, 8, 7, 6, 5])
    for step in range(11 if mode == "Disabled" else STEPS):
        drawn = twins.call("sample_actions", seed=step)
        twins.call("step", drawn)
        twins.call("observe")
    twins.compare_worlds()
    twins.close()


@pytest.mark.parametrize("roles", ["padded", "split"])
def test_draws_follow_the_mask_of_the_last_call(device: Any, roles: str) -> None:
    twins = simulators(device, "CovidEconomy-v0", 3, roles=roles)
    last = twins.call("reset", seed=3)
    there = twins.gpu.observe()
    for step in range(20):
        here = twins.cpu.sample_actions(last.action_mask, seed=2)
        drawn = twins.gpu.sample_actions(there.action_mask, seed=2)
        twins.compare(here, drawn, "actions")
        last, there = twins.cpu.step(here), twins.gpu.step(drawn)
        twins.compare(last, there, f"step {step}")
    twins.gpu.check()
    twins.close()


def test_actions_by_role_are_written_on_the_device(device: Any) -> None:
    twins = simulators(device, "CovidEconomy-v0", 3, roles="split")
    twins.call("reset", seed=3)
    random = np.random.default_rng(1)
    for kind in (np.int64, np.int32, np.uint8):
        twins.call(
            "step",
            {
                "planner": random.integers(0, 21, (3, 1)).astype(kind),
                "governor": random.integers(0, 11, (3, 51)).astype(kind),
            },
        )
    here, there = twins.cpu.observe(), twins.gpu.observe()
    twins.compare(twins.cpu.by_role(here.obs), twins.gpu.by_role(there.obs), "by_role")
    twins.close()


@pytest.mark.parametrize("key", ["CartPole", "CovidEconomy"])
def test_outputs_go_where_the_caller_wants_them(device: Any, key: str) -> None:
    name, options = _short(key)
    twins = simulators(device, name, WORLDS, **options)
    first = twins.call("reset", seed=3)
    out = {name: np.full_like(getattr(first, name), 7) for name in ("obs", "reward", "ended")}
    there = twins.moved(out)
    for seed in range(STEPS):
        drawn = twins.call("sample_actions", seed=seed)
        results = twins.gpu.step(twins.moved(drawn), out=there)
        assert results.obs is there["obs"]
        twins.compare(twins.cpu.step(drawn, out=out), results, "step")
    wrong = {"obs": there["obs"][1:]}
    with pytest.raises(ValueError, match=r"out\['obs'\] must be .* on cuda:0"):
        twins.gpu.step(twins.moved(drawn), out=wrong)
    with pytest.raises(TypeError, match=r"out\['obs'\] must be .* on cuda:0, got ndarray"):
        twins.gpu.step(twins.moved(drawn), out={"obs": out["obs"]})
    twins.close()


@every_environment
def test_reused_arrays_are_written_again(device: Any, key: str) -> None:
    name, options = _short(key)
    twins = simulators(device, name, WORLDS, reuse=True, **options)
    twins.call("reset", seed=3)
    kept = twins.gpu.observe()
    for seed in range(STEPS):
        twins.call("step", twins.call("sample_actions", seed=seed))
    assert twins.gpu.observe().obs.data.ptr == kept.obs.data.ptr
    twins.close()


@every_environment
def test_saves_go_from_machine_to_machine(device: Any, key: str) -> None:
    name, options = _short(key)
    twins = simulators(device, name, WORLDS, **options)
    twins.call("reset", seed=3)
    for seed in range(9):
        twins.call("step", twins.call("sample_actions", seed=seed))
    saved = twins.gpu.save()
    assert saved == twins.cpu.save()
    for seed in range(5):  # the GPU goes on, and comes back by what the CPU has saved
        twins.gpu.step(twins.gpu.sample_actions(seed=50 + seed))
    twins.gpu.load(twins.cpu.save())
    other = simulators(device, name, WORLDS, **options)
    other.cpu.load(saved)
    twins.compare(other.cpu.observe(), twins.gpu.observe(), "observe")
    actions = other.cpu.sample_actions(seed=7)
    twins.compare(other.cpu.step(actions), twins.gpu.step(twins.moved(actions)), "step")
    assert other.cpu.save() == twins.gpu.save()
    twins.close()
    other.close()


def test_columns_and_copies_of_worlds(device: Any) -> None:
    twins = simulators(device, "CartPole-v0", WORLDS)
    twins.call("reset", seed=3)
    twins.call("set", "cart.angle", [[0.1], [-0.1]], worlds=[1, 4])
    twins.call("copy_worlds", [1, 1], [0, 2], reseed=True)
    twins.call("copy_worlds", [4], [3])
    for name in ("cart.angle", "world.step"):
        twins.call("get", name)
    twins.call("step", np.ones(WORLDS, np.int64))
    twins.compare_worlds()
    twins.close()


MASK = np.array([True, False, False, True, True])


@pytest.mark.parametrize("kind", ["list", "array of the host", "array", "rows", "numbers of rows"])
def test_resets_of_some_worlds(device: Any, kind: str) -> None:
    name, options = MICRO
    twins = simulators(device, name, WORLDS, **options)
    twins.call("reset", seed=3)
    for seed in range(4):
        twins.call("step", twins.call("sample_actions", seed=seed))
    rows = np.repeat(MASK, 3)
    mask = {"list": MASK.tolist(), "rows": rows}.get(kind, MASK)
    key = "env_idx" if kind == "numbers of rows" else "reset_mask"
    here = np.flatnonzero(rows) if key == "env_idx" else mask
    there = here if kind == "array of the host" else twins.moved(here)
    for seed in (None, 5, [1, 2, 3, 4, 5]):
        found = [
            side.reset(seed=seed, options={key: given})
            for side, given in ((twins.cpu, here), (twins.gpu, there))
        ]
        twins.compare(*found, f"reset with seed {seed}")
        twins.call("step", twins.call("sample_actions", seed=9))
    twins.compare_worlds()
    twins.close()


def test_reset_options(device: Any) -> None:
    twins = simulators(device, "CartPole-v0", WORLDS)
    twins.call("reset", seed=3, options={"low": -0.2, "high": 0.1})
    twins.call("reset", mask=MASK, options={"low": 0.01, "high": 0.02})
    twins.compare_worlds()
    twins.close()


def test_bad_actions_are_counted_until_they_are_asked_for(device: Any) -> None:
    simulator = gpu_envs.Simulator("CartPole-v0", WORLDS, device="cuda", arrays=device.name)
    simulator.reset(seed=3)
    simulator.step(device.to_gpu(np.array([0, 1, 2, -1, 1])))
    with pytest.raises(ValueError, match="2 actions were out of range and replaced, first"):
        simulator.check()
    simulator.check()
    simulator.close()
    with pytest.raises(RuntimeError, match="closed"):
        simulator.step(device.to_gpu(np.zeros(WORLDS, np.int64)))


def test_strict_environments_name_the_world(device: Any) -> None:
    env = gpu_envs.make_vec("CartPole-v0", 3, device="cuda", arrays=device.name, strict=True)
    env.reset(seed=0)
    with pytest.raises(ValueError, match="world 1"):
        env.step(device.to_gpu(np.array([0, 5, 1])))
    env.close()


def test_pictures_that_agents_see(device: Any) -> None:
    options = {"resolution": "9x17", "observation": "rgb+depth", "max_episode_steps": 6}
    twins = simulators(device, "ObstaclesEasy-v0", 2, **options)
    twins.call("reset", seed=3)
    for step in range(10):
        found = twins.call("step", twins.call("sample_actions", seed=step))
        assert found.obs["rgb"].any()
    twins.compare_worlds()
    twins.close()


def test_rendered_worlds(device: Any) -> None:
    twins = _vectors(device, "CartPole", 3, render_mode="rgb_array", render_size=(24, 32))
    twins.call("reset", seed=3)
    _play(twins, 3)
    twins.call("render")
    twins.close()


def test_what_needs_torch_on_the_gpu_says_so(device: Any) -> None:
    torch = pytest.importorskip("torch", reason="needs torch")
    if torch.cuda.is_available():
        pytest.skip("torch has CUDA")
    for make in (gpu_envs.make, gpu_envs.parallel_env, gpu_envs.make_vec):
        with pytest.raises(
            ValueError, match=r"arrays='torch' on 'cuda:0' needs a torch build with"
        ):
            made = make("CartPole-v0", device="cuda")
            made.reset(seed=1)
