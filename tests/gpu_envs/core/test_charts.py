"""Charts: what a simulator keeps of what they said, and what pictures show of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpu_envs
from gpu_envs.__main__ import main
from gpu_envs.core.pictures import Traces

NAME = "CovidEconomy-v0"
SIZE = (360, 640)
RED = np.array([208, 52, 44])  # of the curve of the infected


def _simulator(**options: Any) -> gpu_envs.Simulator:
    simulator = gpu_envs.Simulator(NAME, 2, device="cpu", **options)
    simulator.reset(seed=0)
    return simulator


def _play(simulator: gpu_envs.Simulator, days: int, *, note: bool = False) -> None:
    noop = np.zeros((2, 52), np.int64)
    for _ in range(days):
        simulator.step(noop)
        if note:
            simulator.note(0)


def _reds(picture: np.ndarray[Any, Any]) -> int:
    """Count the pixels right of the map that are the curve's."""
    beside = picture[:, 2 * SIZE[1] // 3 :].astype(int)
    return int((np.abs(beside - RED).sum(axis=-1) < 60).sum())


def test_reading_is_kept_until_another_episode_or_an_earlier_step() -> None:
    traces = Traces()
    assert traces.add(0, [1.0, 0.0, 5.0]).tolist() == [[1, 0, 5]]
    assert traces.add(0, [1.0, 3.0, 6.0]).tolist() == [[1, 0, 5], [1, 3, 6]]
    assert traces.add(0, [1.0, 3.0, 7.0]).tolist() == [[1, 0, 5], [1, 3, 7]]  # drawn again
    assert traces.add(1, [1.0, 3.0, 8.0]).tolist() == [[1, 3, 8]]
    assert traces.add(0, [1.0, 2.0, 9.0]).tolist() == [[1, 2, 9]]
    assert traces.add(0, [2.0, 4.0, 9.0]).tolist() == [[2, 4, 9]]


def test_scene_without_charts_keeps_nothing() -> None:
    assert Traces().add(0, []).shape == (0, 0)


def test_curves_grow_with_what_was_noted() -> None:
    noted, unseen = _simulator(), _simulator()
    _play(noted, 60, note=True)
    _play(unseen, 60)
    drawn = noted.render(0, size=SIZE)
    assert _reds(drawn) > _reds(unseen.render(0, size=SIZE)) + 10
    # World 1 did the same, but nobody looked at it: its picture is that of now alone.
    assert np.array_equal(noted.render(1, size=SIZE), unseen.render(0, size=SIZE))
    assert np.array_equal(drawn, noted.render(0, size=SIZE))


def _reset(simulator: gpu_envs.Simulator) -> None:
    simulator.reset(seed=0)


def _load(simulator: gpu_envs.Simulator) -> None:
    other = _simulator()
    simulator.load(other.save())
    other.close()


@pytest.mark.parametrize("begin", [_reset, _load])
def test_another_history_begins_with_empty_charts(begin: Callable[..., None]) -> None:
    simulator, fresh = _simulator(), _simulator()
    _play(simulator, 10, note=True)
    begin(simulator)
    # Later than what was noted, and of an episode of the same number.
    for one in (simulator, fresh):
        _play(one, 30)
    assert np.array_equal(simulator.render(0, size=SIZE), fresh.render(0, size=SIZE))


def test_copies_of_a_world_have_its_past() -> None:
    simulator = _simulator()
    _play(simulator, 20, note=True)
    simulator.copy_worlds([0], [1])
    assert np.array_equal(simulator.render(1, size=SIZE), simulator.render(0, size=SIZE))


def test_a_world_that_is_loaded_alone_begins_with_an_empty_chart() -> None:
    simulator, one = _simulator(), gpu_envs.Simulator(NAME, 1, device="cpu")
    one.reset(seed=0)
    _play(simulator, 20, note=True)
    drawn = simulator.render(0, size=SIZE)
    simulator.load(one.save(), worlds=[1])
    assert np.array_equal(simulator.render(0, size=SIZE), drawn)
    simulator.load(one.save(), worlds=[0])
    assert np.array_equal(simulator.render(0, size=SIZE), simulator.render(1, size=SIZE))
    one.close()


def test_rows_by_role_look_alike() -> None:
    split = _simulator(roles="split")
    assert np.array_equal(split.render(0, size=SIZE), _simulator().render(0, size=SIZE))


@pytest.mark.parametrize("options", [(), ("--real-policies", "true"), ("--subsidy-levels", "5")])
def test_command_draws_a_day_with_the_days_before(
    tmp_path: Any, options: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "day.png"
    command = ["render", NAME, "--out", str(out), "--step", "30", "--size", "320x180", *options]
    assert main(command) == 0
    assert "step 30" in capsys.readouterr().out
    assert out.stat().st_size > 5000


def test_film_of_days(tmp_path: Any) -> None:
    pytest.importorskip("imageio_ffmpeg")
    out = tmp_path / "days.mp4"
    command = ["render", NAME, "--out", str(out), "--steps", "5", "--size", "320x180"]
    assert main(command) == 0
    assert out.stat().st_size > 2000
