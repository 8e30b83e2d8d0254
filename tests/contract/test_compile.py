"""Inside `torch.compile` every environment gives the same bits as outside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpu_envs
from gpu_envs.known.measures import sizes
from tests.contract.playing import drawn, every_environment, every_mode

AT_ONCE, TURNS = 2, 12  # steps of a program, and how often it runs


def told(torch: Any, results: Any) -> dict[str, Any]:
    """Return type, shape and bytes of all arrays of nested results, by their places."""
    found, _ = torch.utils._pytree.tree_flatten_with_path(results)
    arrays = {torch.utils._pytree.keystr(at): array.numpy() for at, array in found}
    return {name: (array.dtype, array.shape, array.tobytes()) for name, array in arrays.items()}


@every_environment
@every_mode
@pytest.mark.filterwarnings("ignore:.*were illegal")
def test_a_program_is_the_loop(torch: Any, name: str, mode: str) -> None:
    form = {"max_episode_steps": 11, **sizes(name, "varied"), **sizes(name, "few")}
    form |= {"autoreset_mode": mode, "device": "cpu", "arrays": "torch"}
    plain, compiled = (gpu_envs.make_vec(name, 3, **form) for _ in range(2))
    steps = AT_ONCE * TURNS
    actions = np.stack(drawn(plain.simulator, steps)).reshape(steps, plain.num_envs, -1)
    shape = plain.single_action_space.shape
    rows = torch.as_tensor(actions.reshape(TURNS, AT_ONCE, plain.num_envs, *shape))
    for env in (plain, compiled):
        env.reset(seed=9)
    first = plain.reset(seed=4)
    token, reset, step = compiled.compiled()
    torch.compiler.reset()

    @torch.compile(fullgraph=True, backend="aot_eager")
    def run(token: Any, rows: Any) -> Any:
        results = []
        for k in range(AT_ONCE):
            token, found = step(token, rows[k])
            results.append(found)
        return results

    _, begun = reset(token, seed=4)
    assert told(torch, begun) == told(torch, first)
    for turn in range(TURNS):
        for k, found in enumerate(run(token, rows[turn])):
            assert told(torch, found) == told(torch, plain.step(rows[turn, k])), (turn, k)
    assert compiled.simulator.save() == plain.simulator.save()
    for env in (plain, compiled):
        env.close()
