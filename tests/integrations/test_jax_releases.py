"""Every release of JAX that `xla()` claims gives what a loop in Python gives."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest.importorskip("jax", reason="needs jax")

pytestmark = pytest.mark.xdist_group("releases")  # installed once, by one process
SLOW = pytest.mark.slow
RELEASES = [
    "0.5.0",
    *(pytest.param(release, marks=SLOW) for release in ("0.6.2", "0.7.2", "0.8.3", "0.9.2")),
]

# Prints the release, and whether all bits are the same.
PLAY = """
import os
os.environ["JAX_PLATFORMS"] = "cpu"
import warnings
warnings.simplefilter("ignore")  # of older releases about newer NumPy
import jax, jax.numpy as jnp, numpy as np
import gpu_envs

same = []
for mode in ("SameStep", "NextStep", "Disabled"):
    for name, parameters in (("CartPole-v0", {}), ("Hanabi-v0", {"preset": "very_small"})):
        options = {"device": "cpu", "autoreset_mode": mode, **parameters}
        plain, env = (gpu_envs.make_vec(name, 3, **options) for _ in range(2))
        for each in (plain, env):
            each.reset(seed=5)
        handle, reset, step = env.xla()
        actions = np.random.default_rng(0).integers(0, 2, (60, env.num_envs)).astype(np.int32)
        run = jax.jit(lambda h, a: jax.lax.scan(step, h, a), donate_argnums=0)
        handle, (obs, reward, *_) = run(handle, actions)
        for k in range(60):
            own = plain.step(actions[k])
            same += [np.array_equal(own[0], obs[k]), np.array_equal(own[1], reward[k])]
        try:
            jax.block_until_ready(step(env.xla()[0] + 1, actions[0]))
            same.append(False)
        except Exception as problem:
            same.append("handle" in str(problem))
        handle, (obs, _) = jax.jit(lambda h, s: reset(h, seed=s))(env.xla()[0], 9)
        same.append(np.array_equal(obs, plain.reset(seed=9)[0]))
print(jax.__version__, all(same), len(same))
"""


@pytest.mark.parametrize("wanted", RELEASES)
def test_releases_give_the_same_bits(run_with: Callable[..., str], wanted: str) -> None:
    printed = run_with(PLAY, f"jax=={wanted}", f"jaxlib=={wanted}")
    assert printed.split() == [wanted, "True", str(6 * 122)]
