"""`VectorEnv.xla`: order, resets, actions, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax", reason="needs jax")
import jax
import jax.numpy as jnp

import gpu_envs
from gpu_envs.errors import ResetNeeded
from gpu_envs.faces import jitted
from tests.gpu_envs.faces.jit_cases import NAME, Make, actions_of, environments, refused, wait


@pytest.fixture
def make() -> Iterator[Make]:
    with environments() as made:
        yield made


# ---- order, and what it is under


def test_calls_whose_results_nobody_uses_are_neither_dropped_nor_swapped(make: Make) -> None:
    plain, env = make(), make()
    actions = actions_of(8)
    handle, _, step = env.xla()

    @jax.jit
    def run(handle: Any) -> Any:
        for row in actions:
            handle, _ = step(handle, row)
        return handle

    assert wait(run(handle))[1] - wait(handle)[1] == 8
    for row in actions:
        plain.step(row)
    assert env.simulator.save() == plain.simulator.save()


def test_loops_with_a_length_that_is_found_out_and_donated_handles(make: Make) -> None:
    plain, env = make(), make()
    handle, _, step = env.xla()
    action = jnp.zeros(4, jnp.int32)

    def run(handle: Any) -> Any:
        def goes_on(state: Any) -> Any:
            return state[1] < 3

        def body(state: Any) -> Any:
            handle, ends = state
            handle, (_, _, terminated, _, _) = step(handle, action)
            return handle, ends + terminated.sum()

        return jax.lax.while_loop(goes_on, body, (handle, 0))

    before = wait(handle)
    handle, ends = jax.jit(run, donate_argnums=0)(handle)
    steps = int(wait(handle)[1] - before[1])
    found = 0
    for _ in range(steps):
        assert found < 3
        found += int(plain.step(np.asarray(action))[2].sum())
    assert found == ends >= 3
    assert env.simulator.save() == plain.simulator.save()


def test_calls_outside_of_jit_are_the_same(make: Make) -> None:
    plain, env = make(), make()
    handle, reset, step = env.xla()
    for row in actions_of(5):
        handle, (obs, *_) = step(handle, row)
        assert np.array_equal(obs, plain.step(row)[0])
    handle, (obs, infos) = reset(handle)
    assert np.array_equal(obs, plain.reset()[0]) and infos == {}


def test_two_environments_in_one_program(make: Make) -> None:
    one, other = make(), make(7)
    first, _, step = one.xla()
    second, _, other_step = other.xla()

    @jax.jit
    def run(first: Any, second: Any) -> Any:
        def body(_: Any, handles: Any) -> Any:
            first, _ = step(handles[0], jnp.ones(4, jnp.int32))
            second, _ = other_step(handles[1], jnp.zeros(7, jnp.int32))
            return first, second

        return jax.lax.fori_loop(0, 20, body, (first, second))

    for handle in run(first, second):
        assert wait(handle)[1] == 20


def test_programs_are_shared_by_environments_alike(make: Make) -> None:
    one, other = make(), make()
    step = jax.jit(one.xla()[2])
    for env in (one, other):
        jax.block_until_ready(step(env.xla()[0], actions_of(1)[0]))
    assert step._cache_size() == 1
    assert one.simulator.save() == other.simulator.save()


def test_two_devices_of_a_host(run_python) -> None:
    program = """
import jax, jax.numpy as jnp, numpy as np, gpu_envs
from functools import partial
from jax.sharding import Mesh, PartitionSpec as P
if jax.__version_info__ >= (0, 7):
    from jax import shard_map
else:  # which knows no rule for what refuses vmap
    from jax.experimental.shard_map import shard_map
    shard_map = partial(shard_map, check_rep=False)
assert jax.device_count() == 2
envs = [gpu_envs.make_vec("CartPole-v0", 4, device="cpu") for _ in range(2)]
for seed, env in enumerate(envs): env.reset(seed=seed)
handles = jnp.stack([env.xla()[0] for env in envs])
step = envs[0].xla()[2]
mesh = Mesh(np.array(jax.devices()), ("d",))
@jax.jit
@partial(shard_map, mesh=mesh, in_specs=(P("d"), P(None, "d")), out_specs=(P("d"), P(None, "d")))
def run(handles, actions):
    def one(handle, action):
        handle, (obs, *_) = step(handle, action)
        return handle, obs
    handle, seen = jax.lax.scan(one, handles[0], actions)
    return handle[None], seen
actions = np.random.default_rng(1).integers(0, 2, (30, 8)).astype(np.int32)
handles, seen = run(handles, actions)
for seed in range(2):
    plain = gpu_envs.make_vec("CartPole-v0", 4, device="cpu")
    plain.reset(seed=seed)
    for k in range(30):
        part = slice(4 * seed, 4 * seed + 4)
        assert np.array_equal(plain.step(actions[k, part])[0], seen[k, part]), (seed, k)
print("same")
"""
    ran = run_python(
        program, XLA_FLAGS="--xla_force_host_platform_device_count=2", JAX_PLATFORMS="cpu"
    )
    assert ran.stdout.strip() == "same", ran.stderr


def test_a_long_loop_needs_no_more_memory(make: Make) -> None:
    resource = pytest.importorskip("resource")
    env = make(2)
    handle, _, step = env.xla()
    action = jnp.zeros(2, jnp.int32)
    run = jax.jit(
        lambda handle: jax.lax.fori_loop(0, 50_000, lambda _, h: step(h, action)[0], handle),
        donate_argnums=0,
    )
    handle = run(handle)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    handle = run(handle)
    assert wait(handle)[1] >= 100_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # kB


@pytest.mark.slow
def test_ten_million_steps_need_no_more_memory(make: Make) -> None:
    resource = pytest.importorskip("resource")
    env = make(1)
    handle, _, step = env.xla()
    action = jnp.zeros(1, jnp.int32)
    run = jax.jit(
        lambda handle: jax.lax.fori_loop(0, 1_000_000, lambda _, h: step(h, action)[0], handle),
        donate_argnums=0,
    )
    handle = run(handle)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(9):
        handle = run(handle)
    assert wait(handle)[1] >= 10_000_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # kB


# ---- resets


@pytest.mark.parametrize("seed", [7, [1, 2, 3, 2**32 - 1], None], ids=["one", "each", "none"])
@pytest.mark.parametrize("mask", [None, [True, False, False, True]], ids=["all", "some"])
def test_resets_by_seed_and_mask(make: Make, seed: Any, mask: Any) -> None:
    plain, env = make(), make()
    handle, reset, step = env.xla()
    row = actions_of(1)[0]
    handle, _ = step(handle, row)
    plain.step(row)
    given = None if seed is None else jnp.asarray(seed, jnp.uint32)
    marks = None if mask is None else jnp.asarray(mask)
    handle, (obs, _) = jax.jit(lambda h, s, m: reset(h, seed=s, mask=m))(handle, given, marks)
    options = {} if mask is None else {"reset_mask": np.array(mask)}
    assert np.array_equal(obs, plain.reset(seed=seed, options=options)[0])
    assert env.simulator.save() == plain.simulator.save()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"seed": 1.5}, "seed must be a Python int"),
        ({"seed": jnp.zeros(())}, "seed must be an integer, or 4 of them"),
        ({"seed": jnp.zeros(3, jnp.int32)}, "got int32 of shape .3,"),
        ({"mask": jnp.zeros(4, jnp.int32)}, "mask must be bool of shape .4,"),
        ({"mask": jnp.zeros(3, bool)}, "mask must be bool of shape .4,.*shape .3,"),
    ],
)
def test_bad_resets_are_refused(make: Make, given: Any, message: str) -> None:
    handle, reset, _ = make().xla()
    with pytest.raises(TypeError, match=message):
        reset(handle, **given)


@pytest.mark.parametrize("seed", [2**31, 2**32 + 7, 2**63, [1, 2**40, 3, 4], np.arange(4)])
def test_seeds_have_64_bits(make: Make, seed: Any) -> None:
    plain, env = make(), make()
    handle, reset, _ = env.xla()
    _, (obs, _) = jax.block_until_ready(reset(handle, seed=seed))
    own = seed.tolist() if isinstance(seed, np.ndarray) else seed
    assert np.array_equal(obs, plain.reset(seed=own)[0])
    assert env.simulator.save() == plain.simulator.save()


@pytest.mark.parametrize("seed", [-1, 2**64, [0, 1, 2, -3]])
def test_seeds_that_are_none_are_refused(make: Make, seed: Any) -> None:
    handle, reset, _ = make().xla()
    with pytest.raises(ValueError, match=r"must be in \[0, 2\*\*64\)"):
        reset(handle, seed=seed)
    found = jnp.asarray(-1 if isinstance(seed, int) else [0, 1, 2, -3], jnp.int32)
    refused(lambda: jax.jit(lambda h, s: reset(h, seed=s))(handle, found), "seed must be from 0")


def test_one_world_takes_an_integer(make: Make) -> None:
    handle, reset, _ = make(1).xla()
    with pytest.raises(TypeError, match="give the one world an integer"):
        reset(handle, seed=jnp.zeros(1, jnp.int32))


# ---- actions


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        (jnp.zeros(4), r"actions must be int32 of shape .4,"),
        (jnp.zeros(5, jnp.int32), "got int32 of shape .5,"),
        (jnp.zeros((4, 1), jnp.int32), "got int32 of shape .4, 1"),
    ],
)
def test_actions_of_other_shapes_are_refused(make: Make, actions: Any, message: str) -> None:
    handle, _, step = make().xla()
    with pytest.raises(TypeError, match=message):
        jax.jit(step)(handle, actions)


@pytest.mark.parametrize("bad", [-1, 2, 2**31 - 1])
def test_a_bad_action_is_an_error_and_moves_no_world(make: Make, bad: int) -> None:
    env = make()
    handle, _, step = env.xla()
    before = env.simulator.save()
    refused(lambda: jax.jit(step)(handle, jnp.array([0, 1, bad, 0])), "world 2, agent 0")
    assert env.simulator.save() == before
    jax.block_until_ready(step(handle, actions_of(1)[0]))


@pytest.mark.parametrize(
    "actions",
    [
        np.array([0, 2**32, 0, 0]),
        np.array([0, -(2**32) + 1, 0, 0]),
        [0, 2**40, 0, 0],
        jnp.array([0, 2**32 - 2**31, 0, 0], jnp.uint32),
        np.array([0, 2**63, 0, 0], np.uint64),
    ],
)
def test_wide_integers_do_not_become_legal(make: Make, actions: Any) -> None:
    env = make()
    handle, _, step = env.xla()
    before = env.simulator.save()
    refused(lambda: step(handle, actions), "world 1, agent 0")
    assert env.simulator.save() == before


def test_integers_of_64_bits_in_a_program(run_python) -> None:
    program = """
import jax, jax.numpy as jnp, numpy as np, gpu_envs
jax.config.update("jax_enable_x64", True)
envs = [gpu_envs.make_vec("CartPole-v0", 2, device="cpu") for _ in range(2)]
for env in envs: env.reset(seed=1)
handle, reset, step = envs[0].xla()
handle, _ = jax.jit(lambda h, s: reset(h, seed=s))(handle, jnp.int64(2**32 + 7))
envs[1].reset(seed=2**32 + 7)
jax.block_until_ready(handle)
assert envs[0].simulator.save() == envs[1].simulator.save()
try:
    jax.block_until_ready(jax.jit(step)(handle, jnp.array([0, 2**32 + 1], jnp.int64)))
except Exception as problem:
    assert "world 1, agent 0" in str(problem)
    print("refused")
"""
    ran = run_python(program, JAX_PLATFORMS="cpu")
    assert ran.stdout.strip() == "refused", ran.stderr


@pytest.mark.parametrize("dtype", [jnp.uint8, jnp.int8, bool, jnp.int32])
def test_integers_of_any_size_are_actions(make: Make, dtype: Any) -> None:
    plain, env = make(), make()
    handle, _, step = env.xla()
    row = actions_of(1)[0]
    _, (obs, *_) = jax.jit(step)(handle, jnp.asarray(row, dtype))
    assert np.array_equal(obs, plain.step(row)[0])


def test_numbers_are_actions_where_they_are(make: Make) -> None:
    name = "CartPoleContinuous-v0"
    plain, env = make(4, name), make(4, name)
    handle, _, step = env.xla()
    row = np.linspace(-1, 1, 4, dtype=np.float32)[:, np.newaxis]
    _, (obs, *_) = jax.jit(step)(handle, row)
    assert np.array_equal(obs, plain.step(row)[0])
    with pytest.raises(TypeError, match=r"actions must be float32 of shape .4, 1"):
        step(handle, jnp.zeros((4, 1), jnp.int32))


# ---- what is not offered


def test_vmap_is_refused_by_name(make: Make) -> None:
    handle, reset, step = make().xla()
    with pytest.raises(NotImplementedError, match=r"jax\.vmap of a step of CartPole-v0"):
        jax.vmap(lambda row: step(handle, row))(jnp.zeros((2, 4), jnp.int32))
    with pytest.raises(NotImplementedError, match=r"jax\.vmap of a reset"):
        jax.vmap(lambda seed: reset(handle, seed=seed))(jnp.arange(2))


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        (
            "HideSeek-v0",
            {"role": "hider", "others": "random"},
            r"without role=, agent= and others=",
        ),
        ("HideSeek-v0", {"role": "hider", "others": lambda *_: 0}, "players are in Python"),
        (NAME, {"strict": True}, "needs strict=False"),
    ],
)
def test_what_needs_python_is_refused(
    make: Make, name: str, options: dict[str, Any], message: str
) -> None:
    env = make(2, name, **options)
    with pytest.raises(ValueError, match=message):
        env.xla()


@pytest.mark.parametrize("layers", ["segmentation", "rgb+depth+segmentation"])
def test_pictures_of_every_type_are_results(make: Make, layers: str) -> None:
    plain, env = (make(2, "ObstaclesEasy-v0", observation=layers) for _ in range(2))
    handle, _, step = env.xla()
    actions = np.ones(env.action_space.shape, np.int32)
    seen, expected = jax.jit(step)(handle, actions)[1][0], plain.step(actions)[0]
    pairs = zip(jax.tree.leaves(seen), jax.tree.leaves(expected), strict=True)
    assert all(one.dtype == two.dtype and np.array_equal(one, two) for one, two in pairs)


def test_a_first_reset_comes_before(make: Make) -> None:
    env = gpu_envs.make_vec(NAME, 2, device="cpu")
    with pytest.raises(ResetNeeded, match="reset"):
        env.xla()
    env.close()


def test_a_jax_that_is_missing_or_old_is_named(make: Make, monkeypatch) -> None:
    env = make()
    monkeypatch.setattr(jax, "__version_info__", (0, 4, 30))
    with pytest.raises(ImportError, match=r"needs jax 0\.5\.0 or newer"):
        env.xla()
    monkeypatch.setattr(
        jitted.libraries, "require", lambda name: (_ for _ in ()).throw(ImportError(name))
    )
    with pytest.raises(ImportError, match=r"xla\(\) needs jax: .*install.* jax"):
        make().xla()


def test_faces_with_infos_of_their_own_refuse(make: Make) -> None:
    from gpu_envs.integrations import cleanrl

    env = cleanrl.VectorEnv(NAME, 2, device="cpu")
    env.reset(seed=1)
    with pytest.raises(ValueError, match="has its own step"):
        env.xla()
    env.close()


@pytest.mark.parametrize(
    ("what", "arguments"),
    [
        ("step", 0),
        ("step", 1),
        ("reset", 1),
        ("reset", ("bool", "bool")),
        ("reset", ("uint32", "float32")),
        ("step", ("float32",)),
    ],
)
def test_calls_by_hand_are_refused(make: Make, what: str, arguments: Any) -> None:
    env = make()
    handle, _, _ = env.xla()
    name = jitted._target(jax, what, "cpu")
    given = [handle][:arguments] if isinstance(arguments, int) else [handle]
    if not isinstance(arguments, int):
        given += [jnp.zeros(4, dtype) for dtype in arguments]
    types = [jax.ShapeDtypeStruct((3,), jnp.uint32)]
    for results in (types, [jax.ShapeDtypeStruct((1,), jnp.uint8)]):
        call = jax.ffi.ffi_call(name, results, has_side_effect=True)
        refused(
            lambda call=call: call(*given),
            "not one that gpu_envs makes|three words|another|must be|pairs",
        )
