"""Which outputs are written, and where they lie in a block."""

from __future__ import annotations

from typing import Any

import pytest

from gpu_envs import layout

INSTANCE: dict[str, Any] = {
    "id": "Test-v0",
    "num_worlds": 3,
    "agents_per_world": 2,
    "autoreset_mode": "SameStep",
    "outputs": {
        "obs": {"type": "float32", "shape": [3, 2, 5]},
        "reward": {"type": "float32", "shape": [3, 2]},
        "terminated": {"type": "bool", "shape": [3, 2]},
        "truncated": {"type": "bool", "shape": [3, 2]},
        "final_obs": {"type": "float32", "shape": [3, 2, 5]},
        "ended": {"type": "bool", "shape": [3, 2]},
        "episode_return": {"type": "float32", "shape": [3, 2]},
        "episode_length": {"type": "int32", "shape": [3, 2]},
        "state": {"type": "float32", "shape": [3, 7]},
    },
}


def _written(**changes: Any) -> list[str]:
    wanted = changes.pop("wanted", None)
    read = layout.read(INSTANCE | changes, wanted, 64)
    return [output.name for output in read.outputs if output is not None]


def test_everything_that_exists_is_written_by_default() -> None:
    assert _written() == [name for name in layout.OUTPUTS if name in INSTANCE["outputs"]]


@pytest.mark.parametrize("mode", ["NextStep", "Disabled"])
def test_final_obs_belongs_to_same_step(mode: str) -> None:
    assert "final_obs" not in _written(autoreset_mode=mode)


def test_masked_outputs_bring_their_mask() -> None:
    assert _written(wanted=["final_obs"]) == [*layout.OUTPUTS[:4], "final_obs", "ended"]
    assert _written(wanted=["state"]) == [*layout.OUTPUTS[:4], "state"]


def test_output_that_the_environment_lacks_is_named() -> None:
    with pytest.raises(ValueError, match="action_mask"):
        _written(wanted=["action_mask"])


@pytest.mark.parametrize("alignment", [64, 256])
def test_offsets_are_aligned_and_disjoint(alignment: int) -> None:
    read = layout.read(INSTANCE, None, alignment)
    end = 0
    for output in filter(None, read.outputs):
        assert output.offset % alignment == 0
        assert output.offset >= end
        end = output.offset + output.nbytes
    assert read.block_bytes >= end


def test_rows_flatten_worlds_and_agents_but_not_the_state() -> None:
    read = layout.read(INSTANCE, None, 64)
    assert read.of("obs").rows == (6, 5)  # type: ignore[union-attr]
    assert read.of("reward").rows == (6,)  # type: ignore[union-attr]
    assert read.of("state").rows == (3, 7)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("outputs", "error"), [("obs", TypeError), (3, TypeError), (["obz"], ValueError)]
)
def test_bad_names_are_refused(outputs: object, error: type[Exception]) -> None:
    with pytest.raises(error, match="outputs"):
        layout.checked_names(outputs)
