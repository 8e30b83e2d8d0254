"""Inside `jax.jit` every environment gives the same bits as outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpu_envs
from gpu_envs.known.measures import sizes
from tests.contract.playing import drawn, every_environment, every_mode

STEPS = 25


def told(results: Any) -> dict[str, Any]:
    """Return type, shape and bytes of all arrays of nested results, by their places."""
    jax = pytest.importorskip("jax", reason="needs jax")
    found, _ = jax.tree_util.tree_flatten_with_path(results)
    arrays = {jax.tree_util.keystr(at): np.asarray(array) for at, array in found}
    return {name: (array.dtype, array.shape, array.tobytes()) for name, array in arrays.items()}


def played(jax: Any, step: Callable[..., Any], handle: Any, actions: np.ndarray) -> list[Any]:
    """Return what each step of a scan tells."""

    @jax.jit
    def run(handle: Any, actions: Any) -> Any:
        return jax.lax.scan(step, handle, actions)

    handle, results = run(handle, actions)
    assert int(handle[1]) > 0
    return [jax.tree.map(lambda array, k=k: array[k], results) for k in range(len(actions))]


@every_environment
@every_mode
@pytest.mark.filterwarnings("ignore:.*were illegal")
def test_a_scan_is_the_loop(jax: Any, name: str, mode: str) -> None:
    form = {"max_episode_steps": 11, **sizes(name, "varied"), **sizes(name, "few")}
    form |= {"autoreset_mode": mode, "device": "cpu"}
    plain, jitted = (gpu_envs.make_vec(name, 3, **form) for _ in range(2))
    actions = np.stack(drawn(plain.simulator, STEPS)).reshape(STEPS, plain.num_envs, -1)
    actions = actions.reshape(STEPS, plain.num_envs, *plain.single_action_space.shape)
    for env in (plain, jitted):
        env.reset(seed=9)
    first = plain.reset(seed=4)
    handle, reset, step = jitted.xla()
    handle, begun = jax.jit(lambda handle: reset(handle, seed=4))(handle)
    assert told(begun) == told(first)
    for k, found in enumerate(played(jax, step, handle, actions)):
        assert told(found) == told(plain.step(actions[k])), k
    assert jitted.simulator.save() == plain.simulator.save()
    for env in (plain, jitted):
        env.close()
