"""Which outputs are written, and where they lie in a block."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import pytest

import gpu_envs
from gpu_envs.core import layout
from gpu_envs.known import outputs


def _output(kind: str, *shape: int) -> dict[str, Any]:
    facts = {"per_agent": len(shape) > 1, "by_a_step": False, "where_ended": False}
    return {"type": kind, "shape": list(shape), **facts}


INSTANCE: dict[str, Any] = {
    "id": "Test-v0",
    "num_worlds": 3,
    "agents_per_world": 2,
    "autoreset_mode": "SameStep",
    "outputs": {
        "obs": _output("float32", 3, 2, 5),
        "reward": _output("float32", 3, 2),
        "terminated": _output("bool", 3, 2),
        "truncated": _output("bool", 3, 2),
        "final_obs": _output("float32", 3, 2, 5),
        "ended": _output("bool", 3, 2),
        "episode_return": _output("float32", 3, 2),
        "episode_length": _output("int32", 3, 2),
        "state": _output("float32", 3, 7) | {"per_agent": False},
    },
}


ALWAYS = {"obs", "reward", "terminated", "truncated"}


def _written(*wanted: str, mode: str = "SameStep") -> set[str]:
    outputs = {"outputs": wanted} if wanted else {}
    native = gpu_envs.known.native.make("cpu", "CartPole-v0", 1, autoreset_mode=mode, **outputs)
    return set(native.outputs)


def test_everything_that_exists_is_written_by_default() -> None:
    stats = {"ended", "episode_return", "episode_length"}
    assert _written() == ALWAYS | stats | {"final_obs"}
    assert _written(mode="NextStep") == _written(mode="Disabled") == ALWAYS | stats


def test_masked_outputs_bring_their_mask_and_others_do_not() -> None:
    assert _written("final_obs") == ALWAYS | {"final_obs", "ended"}
    assert _written("episode_length") == ALWAYS | {"episode_length", "ended"}
    assert _written("state") == _written("reward") == ALWAYS


def test_output_that_the_environment_lacks_is_named() -> None:
    layout.check_existing(INSTANCE, ["state", "final_obs"])
    with pytest.raises(ValueError, match="action_mask"):
        layout.check_existing(INSTANCE, ["action_mask"])


def test_results_that_name_other_outputs_than_the_engine_are_refused() -> None:
    native = gpu_envs.known.native.cpu()
    for fields in (
        outputs.OUTPUTS[:-1],
        (*outputs.OUTPUTS, "picture"),
        (*outputs.OUTPUTS[:-1], "x"),
    ):
        with pytest.raises(ValueError, match="the outputs of the engine"):
            native.use_results(namedtuple("Other", fields))
    native.use_results(outputs.Outputs)


def test_results_in_another_order_are_filled_by_name() -> None:
    native = gpu_envs.known.native.cpu()
    backwards = namedtuple("Backwards", outputs.OUTPUTS[::-1])
    try:
        native.use_results(backwards)
        simulator = native.Simulator("CartPole-v0", 2)
        addresses, results = simulator.allocate(False)
        simulator.reset(3, 0, {}, addresses, 0)
        assert type(results) is backwards
        assert results[-1] is results.obs
        assert results.obs.shape == (2, 1, 4)
        assert results.state is None
    finally:
        native.use_results(outputs.Outputs)


@pytest.mark.parametrize("alignment", [64, 256])
def test_offsets_are_aligned_and_disjoint(alignment: int) -> None:
    read = layout.read(INSTANCE, outputs.OUTPUTS, alignment)
    ends = [0, 0]
    for output in filter(None, read.outputs):
        assert output.offset % alignment == 0
        assert output.offset >= ends[output.block]
        ends[output.block] = output.offset + output.nbytes
    assert all(size >= end for size, end in zip(read.block_bytes, ends, strict=True))


def test_what_is_large_and_what_is_small_lie_apart() -> None:
    read = layout.read(INSTANCE, outputs.OUTPUTS, 64)
    large = {output.name for output in filter(None, read.outputs) if output.block == 0}
    assert large == {"obs", "final_obs", "state"}


def test_rows_flatten_worlds_and_agents_but_not_the_state() -> None:
    read = layout.read(INSTANCE, outputs.OUTPUTS, 64)
    assert read.output("obs").rows == (6, 5)  # type: ignore[union-attr]
    assert read.output("reward").rows == (6,)  # type: ignore[union-attr]
    assert read.output("state").rows == (3, 7)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("outputs", "error"), [("obs", TypeError), (3, TypeError), (["obz"], ValueError)]
)
def test_bad_names_are_refused(outputs: object, error: type[Exception]) -> None:
    with pytest.raises(error, match="outputs"):
        layout.checked_names(outputs)


def test_sizes_are_told_as_worlds_and_agents() -> None:
    assert layout.size_in_words(64, 5) == "64 worlds x 5 agents = 320 rows"
    assert layout.size_in_words(1, 1) == "1 world x 1 agent = 1 row"
