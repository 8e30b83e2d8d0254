"""PettingZoo's own tests, and what they leave out, for every registered environment."""

from __future__ import annotations

import functools
import textwrap
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import (
    api_test,
    max_cycles_test,
    parallel_api_test,
    parallel_seed_test,
    render_test,
)
from pettingzoo.test.state_test import state_test
from pettingzoo.utils import parallel_to_aec

import gpu_envs
from gpu_envs.known import measures
from gpu_envs.known.measures import sizes
from tests.contract.playing import rows_of, same
from tests.strict_warnings import warnings_are_errors

REGISTERED = gpu_envs.environments()


def _variants(name: str) -> list[dict[str, Any]]:
    """Return the parameters with which an environment is tried: all that its data lists."""
    own = sizes(name, "small") if sizes(name, "few") else {}
    return measures.measures_of(name)["tests"].get("variants", [own])


LISTED = [(name, options) for name in REGISTERED for options in _variants(name)]


def _cases(wanted: Callable[[dict[str, Any]], bool] = lambda _: True) -> pytest.MarkDecorator:
    """Parametrise over the environments whose description is wanted."""
    cases = [
        pytest.param(name, options, id="-".join([name, *map(str, options.values())]))
        for name, options in LISTED
        if wanted(REGISTERED[name])
    ]
    return pytest.mark.parametrize(("name", "options"), cases)


every_case = _cases()

# What PettingZoo says about choices that are meant, or decided elsewhere.
MEANT = (
    "unknown reset option",  # its tests pass {"options": 1}, and ours is the only sign of a typo
    ".*infinity",  # CartPole's velocities have no bound, as in Gymnasium's own
    "Observation space for each agent probably should be",  # a Dict: observation and mask;
    "Observation is not a NumPy array",  # PettingZoo knows its own games with masks by name
    ".*illegal and w(as|ere) replaced",  # its parallel tests look for no mask in infos
)


@pytest.fixture(autouse=True)
def _warnings_are_errors() -> Iterator[None]:
    with warnings_are_errors(but=MEANT):
        yield


@pytest.fixture
def make(request: pytest.FixtureRequest) -> Callable[..., gpu_envs.ParallelEnv]:
    def make(name: str, **options: Any) -> gpu_envs.ParallelEnv:
        env = gpu_envs.parallel_env(name, **options)
        request.addfinalizer(env.close)
        return env

    return make


def _cycles(name: str, options: dict[str, Any], count: int) -> int:
    """Return fewer cycles for crowds: a cycle of PettingZoo's tests looks at every agent."""
    agents = REGISTERED[name]["agents"]
    crowd = options.get("player_count", int(agents) if agents.isdecimal() else 0) > 5
    return count // 50 if crowd else count


def _allow_what_we_mean(options: dict[str, Any]) -> None:
    # Several numbers at once are as good an action as one.
    warnings.filterwarnings("ignore", message="Action space for each agent probably should be")
    # Where there are several roles.
    warnings.filterwarnings("ignore", message="Agents have different observation space sizes")
    warnings.filterwarnings("ignore", message="Observations are different shapes")
    if options.get("noop") is False:  # who is not on turn has no move at all, by request
        warnings.filterwarnings("ignore", message="Action mask numpy array is all zeros")
    if "resolution" in options:  # a picture is black for who falls off the land
        warnings.filterwarnings("ignore", message="Observation numpy array is all zeros")


def _legal(env: Any, infos: dict[str, Any], random: np.random.Generator) -> dict[str, Any]:
    """Draw an action for every live agent."""
    actions = {}
    for agent in env.agents:
        mask = infos[agent].get("action_mask")
        if mask is None:
            space = env.action_space(agent)
            space.seed(int(random.integers(2**31)))
            actions[agent] = space.sample()
        else:
            actions[agent] = int(random.choice(np.flatnonzero(mask))) if mask.any() else 0
    return actions


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(_equal(left[k], right[k]) for k in left)
    if isinstance(left, np.ndarray):
        return left.dtype == right.dtype and np.array_equal(left, right)
    return type(left) is type(right) and left == right


# PettingZoo's own tests


@every_case
def test_parallel_api_of_pettingzoo_passes(make, name, options) -> None:
    parallel_api_test(make(name, **options), num_cycles=_cycles(name, options, 300))


@every_case
def test_api_of_the_aec_conversion_passes(make, name, options) -> None:
    _allow_what_we_mean(options)
    api_test(parallel_to_aec(make(name, **options)), num_cycles=_cycles(name, options, 300))


@every_case
def test_api_of_the_aec_form_passes(name, options) -> None:
    _allow_what_we_mean(options)
    api_test(gpu_envs.aec_env(name, **options), num_cycles=_cycles(name, options, 300))


@every_case
def test_seed_of_the_parallel_form_repeats_its_episode(make, name, options) -> None:
    parallel_seed_test(lambda: make(name, **options))


@every_case
def test_state_of_both_forms_is_that_of_pettingzoo(make, name, options) -> None:
    state_test(gpu_envs.aec_env(name, **options), make(name, **options))


def _lasts(description: dict[str, Any]) -> bool:
    """Whether episodes of random actions last for the cycles of PettingZoo's test."""
    tests = measures.measures_of(description["id"])["tests"]
    return not (description["turns"] or tests.get("brief", False))


@_cases(_lasts)
def test_max_cycles_end_both_forms(name, options) -> None:
    module = types.SimpleNamespace(
        parallel_env=functools.partial(gpu_envs.parallel_env, name, **options),
        env=functools.partial(gpu_envs.aec_env, name, **options),
    )
    max_cycles_test(module)


@_cases(lambda description: description["text"])
def test_text_of_the_aec_form_is_rendered(name, options, capsys) -> None:
    render_test(functools.partial(gpu_envs.aec_env, name, **options))
    assert capsys.readouterr().out.strip()


# What they leave out


@every_case
def test_two_copies_with_one_seed_agree_for_500_steps(make, name, options) -> None:
    envs = [make(name, **options) for _ in range(2)]
    shown = [env.reset(seed=42) for env in envs]
    random = np.random.default_rng(1)
    for _ in range(_cycles(name, options, 500)):
        assert _equal(*(dict(enumerate(step)) for step in shown))
        assert _equal(*(env.state() for env in envs))
        if not envs[0].agents:
            shown = [env.reset() for env in envs]
            continue
        actions = _legal(envs[0], shown[0][-1], random)
        shown = [env.step(actions) for env in envs]
        assert envs[0].agents == envs[1].agents


@every_case
def test_agents_leave_and_results_name_those_who_acted(make, name, options) -> None:
    env = make(name, **options)
    random = np.random.default_rng(0)
    for _ in range(3):
        observations, infos = env.reset()
        assert env.agents == env.possible_agents
        assert list(observations) == list(infos) == env.agents
        for _ in range(60):
            before = env.agents[:]
            results = env.step(_legal(env, infos, random))
            observations, _, terminations, truncations, infos = results
            assert all(list(part) == before for part in results)
            ended = {a for a in before if terminations[a] or truncations[a]}
            assert env.agents == [agent for agent in before if agent not in ended]
            for agent in before:
                assert observations[agent] in env.observation_space(agent)
            assert env.state() in env.state_space
            if not env.agents:
                break


@every_case
def test_world_of_a_batch_equals_the_one_world(make, name, options) -> None:
    _assert_world_equals_env(make, name, options, seed=7, env_seed=7, world=0)
    _assert_world_equals_env(make, name, options, seed=[3, 1, 9], env_seed=9, world=2)


def _assert_world_equals_env(make, name, options, *, seed, env_seed, world) -> None:
    env = make(name, **options)
    batch = gpu_envs.batched_parallel_env(name, 3, device="cpu", **options)
    observations, infos = env.reset(seed=env_seed)
    rows, batch_infos = batch.reset(seed=seed)
    random = np.random.default_rng(2)
    live = env.agents
    step = 0
    while live and step < 100:
        for agent in live:
            plain = observations[agent]
            if isinstance(plain, dict) and "observation" in plain:
                plain = plain["observation"]
            assert same(rows_of(rows[agent], world), plain)
            mask = infos[agent].get("action_mask")
            assert mask is None or np.array_equal(batch_infos[agent]["action_mask"][world], mask)
        states = [batch.state()[world], env.state()]
        if not REGISTERED[name]["state"]:
            # Rows of all agents. Who left before the others shows its last row in the one world;
            # in a batch, whose worlds reset in the same step, final_obs has it.
            shown = [agent in live for agent in env.possible_agents]
            sizes = [int(np.prod(r.row)) for r in env.simulator.roles for _ in range(r.count)]
            length = sizes if env.simulator.kinds.is_split else states[0].size // len(shown)
            states = [state.ravel()[np.repeat(shown, length)] for state in states]
        assert np.array_equal(*states)
        actions = _legal(env, infos, random)
        observations, rewards, terminations, truncations, infos = env.step(actions)
        nothing = {agent: 0 * batch.action_space(agent).sample() for agent in batch.agents}
        batched = {
            agent: np.repeat(np.asarray(actions.get(agent, nothing[agent]))[None], 3, axis=0)
            for agent in batch.agents
        }
        rows, batch_rewards, *flags, batch_infos = batch.step(batched)
        for agent in live:
            assert batch_rewards[agent][world] == rewards[agent]
            assert [flag[agent][world] for flag in flags] == [
                terminations[agent],
                truncations[agent],
            ]
        live = env.agents
        step += 1
    batch.close()


# The registry

needs_registry = pytest.mark.skipif(
    not hasattr(pettingzoo, "register"), reason="PettingZoo has a registry since 1.27"
)
MAKE = """
    import {first}, {second}
    for prefix in ("gpu_envs/", ""):
        env = pettingzoo.make("parallel", prefix + "Micro-v0", max_cycles=3, agent_count=2, work=0)
        env.reset(seed=0)
        cycles = 0
        while env.agents:
            env.step(dict.fromkeys(env.agents, 0))
            cycles += 1
        print(cycles, isinstance(pettingzoo.make("aec", prefix + "CartPole_v0"), pettingzoo.AECEnv))
"""


@needs_registry
@pytest.mark.parametrize("order", [("gpu_envs", "pettingzoo"), ("pettingzoo", "gpu_envs")])
def test_pettingzoo_makes_them_after_imports_in_any_order(run_python, order) -> None:
    program = textwrap.dedent(MAKE.format(first=order[0], second=order[1]))
    result = run_python(program, "-W", "error")
    assert result.stdout.split() == ["3", "True"] * 2, result.stderr


LEAVES = """
    import importlib.util, sys
    import gpu_envs
    before = len(sys.meta_path)
    assert importlib.util.find_spec("pettingzoo") is not None
    assert len(sys.meta_path) == before  # it was looked for, not loaded
    import pettingzoo
    assert len(sys.meta_path) == before - 1
    assert "exec_module" not in vars(pettingzoo.__spec__.loader)
    print("gpu_envs/Micro-v0" in getattr(pettingzoo, "aec_registry", ["gpu_envs/Micro-v0"]))
"""
FAILS = """
    import warnings
    from gpu_envs.faces import zoo_registry
    def fail(*_):
        raise KeyError("moved")
    zoo_registry._register_with = fail
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        import pettingzoo
    print([str(w.message) for w in caught if "gpu_envs" in str(w.message)], pettingzoo.__name__)
"""


def test_finder_leaves_once_pettingzoo_is_loaded(run_python) -> None:
    result = run_python(textwrap.dedent(LEAVES))
    assert result.stdout.split() == ["True"], result.stderr


def test_failing_to_register_is_a_warning(run_python) -> None:
    result = run_python(textwrap.dedent(FAILS))
    assert "could not register with PettingZoo's registry: KeyError" in result.stdout, result.stderr
    assert result.stdout.endswith("pettingzoo\n")


@needs_registry
def test_both_registries_have_every_environment() -> None:
    for registry in (pettingzoo.parallel_registry, pettingzoo.aec_registry):
        assert {f"gpu_envs/{name}" for name in REGISTERED} <= set(registry)


def test_later_assignment_of_max_cycles_is_tolerated(make) -> None:
    env = make("Micro-v0", agent_count=1, max_cycles=5, work=0)
    assert env.max_cycles == 5
    env.max_cycles = 1000
    env.reset(seed=0)
    steps = 0
    while env.agents:
        env.step({"player_0": 0})
        steps += 1
    assert steps == 5


def test_supersuit_copies_and_steps(make) -> None:
    supersuit = pytest.importorskip("supersuit", reason="needs SuperSuit")
    warnings.simplefilter("ignore")  # about its own use of Gymnasium
    env = supersuit.black_death_v3(make("Micro-v0", agent_count=3, work=1, max_cycles=20))
    batch = supersuit.concat_vec_envs_v1(supersuit.pettingzoo_env_to_vec_env_v1(env), 2)
    observations, _ = batch.reset(seed=0)
    assert observations.shape == (6, 4)
    for _ in range(50):
        observations, *_ = batch.step(np.zeros(6, int))
    assert observations.shape == (6, 4)
