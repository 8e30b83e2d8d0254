"""A column of one world, whatever `set` writes into it, reaches no other world and ends no program.

Each environment plays in a process of its own, since what these tests are about ends a process.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpu_envs
from gpu_envs.known import measures
from gpu_envs.known.measures import sizes
from tests.contract import playing
from tests.contract.playing import NAMES, every_environment

SWEEP = Path(__file__).with_name("column_sweep.py")
ROOT = SWEEP.parents[2]
HEADERS = [
    *(ROOT / "tests/kernels/envs" / f"{name}.hpp" for name in ("arena", "herd", "crowd", "wide")),
    *(
        ROOT / "tests/kernels/envs" / f"{name}.hpp"
        for name in ("sandbox", "gallery", "troupe", "hill_views")
    ),
    ROOT / "tests/kernels/envs/maze",
    ROOT / "examples/snow_plough/snow_plough.hpp",
]
SETTINGS = sorted(
    {(name, json.dumps(own)) for name, own in playing.SETTINGS}
    | {
        (name, json.dumps(each))
        for name in NAMES
        for each in (
            *(sizes(name, purpose) for purpose in ("few", "varied", "alone", "crowd")),
            *measures.measures_of(name)["tests"].get("variants", []),
        )
    }
)


def _swept(*arguments: str, **environment: str) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", str(SWEEP), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=1200,
        env=os.environ | environment,
    )
    assert done.returncode == 0, f"{done.returncode}\n{done.stdout}\n{done.stderr}"


def test_no_world_reaches_another_whatever_is_set() -> None:
    """All columns at once, a few times; the sweep below takes them one by one."""
    _swept("--quick", *NAMES)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options"), SETTINGS)
def test_no_column_of_a_world_reaches_another(name: str, options: str) -> None:
    _swept(name, options)


@pytest.mark.slow
@pytest.mark.parametrize("header", HEADERS, ids=lambda header: header.stem)
def test_no_column_of_a_header_reaches_another_world(header: Path, tmp_path: Path) -> None:
    cache = {"GPU_ENVS_CACHE": str(tmp_path)}
    build = [sys.executable, "-m", "gpu_envs", "build", str(header)]
    built = subprocess.run(build, capture_output=True, text=True, env=os.environ | cache)
    names = re.findall(r"\w+-v\d+(?=.* can be made)", built.stdout)
    assert names, built.stderr
    for name in names:
        _swept(name, **cache)


# ---- ranges


@every_environment
def test_every_whole_number_says_what_it_may_be(
    name: str, make_simulator: Callable[..., Any]
) -> None:
    """Numbers of zero rows and of play are within it, in rows that are not live too."""
    simulator = make_simulator(name, 3, **sizes(name, "few"))
    simulator.reset(seed=2)
    for column in simulator.instance["columns"]:
        values = simulator.get(column["name"])
        if values.dtype.kind in "iub":
            assert column["low"] is None or values.min() >= column["low"], column
            assert column["high"] is None or values.max() <= column["high"], column


def _with_record(
    data: bytes, simulator: gpu_envs.Simulator, change: Callable[[Any], None]
) -> bytes:
    """Return a save whose record of world 1 is changed, with a checksum that fits."""
    size = simulator.instance["record_bytes"]
    whole = bytearray(data[:-16])
    records = np.frombuffer(whole, np.uint8)[-simulator.num_worlds * size :]
    change(records.reshape(-1, size)[1])
    return bytes(whole) + hashlib.blake2b(whole, digest_size=16).digest()


def test_a_save_whose_column_is_out_of_range_is_refused_by_name(
    make_simulator: Callable[..., Any],
) -> None:
    simulator = make_simulator("ObstaclesEasy-v0", 3)
    simulator.reset(seed=1)
    simulator.set("agents.home", 77777, worlds=[1])
    data = simulator.save()

    def displace(record: Any) -> None:
        words = record.view(np.int32)
        words[np.flatnonzero(words == 77777)[1]] = 1 << 30

    changed = _with_record(data, simulator, displace)
    wanted = (
        r"load: agents\.home must be from -1048576 to 1048576, got 1073741824 for world 1, row 0, "
        "element 1"
    )
    with pytest.raises(ValueError, match=wanted):
        simulator.load(changed)
    assert simulator.save() == data
    simulator.load(_with_record(data, simulator, lambda record: None))


def test_a_save_whose_list_is_longer_than_its_table_is_refused(
    make_simulator: Callable[..., Any],
) -> None:
    simulator = make_simulator("ObstaclesEasy-v0", 3)
    simulator.reset(seed=1)
    simulator.set("marks.count", 7, worlds=[1])
    before = np.frombuffer(simulator.save(), np.uint8).copy()
    simulator.set("marks.count", 8, worlds=[1])
    data = simulator.save()
    place = int(np.flatnonzero(before[:-16] != np.frombuffer(data, np.uint8)[:-16])[0])

    whole = bytearray(data[:-16])
    whole[place] = 9
    changed = bytes(whole) + hashlib.blake2b(whole, digest_size=16).digest()
    with pytest.raises(ValueError, match=r"marks\.count must be from 0 to 8, got 9 for world 1"):
        simulator.load(changed)
    assert simulator.save() == data


# ---- what reached another world, or had no end


def test_a_box_that_does_not_exist_is_not_carried(make_simulator: Callable[..., Any]) -> None:
    simulator = make_simulator("ObstaclesEasy-v0", 4)
    simulator.reset(seed=1)
    rows = simulator.get("crates.cell").shape[1]
    for column, last in (("agents.carries", rows - 1), ("crates.carrier", 0)):
        for value in (last + 1, 30000, 1000000, -2):
            with pytest.raises(ValueError, match=f"{column} must be from -1 to {last}"):
                simulator.set(column, value)


@pytest.mark.parametrize("value", [2**31 - 1, -(2**31)])
def test_a_mark_beyond_every_map_is_refused_and_the_longest_is_drawn(
    value: int, make_simulator: Callable[..., Any]
) -> None:
    simulator = make_simulator("ObstaclesEasy-v0", 2)
    simulator.reset(seed=1)
    with pytest.raises(ValueError, match=r"marks\.high must be from"):
        simulator.set("marks.high", value)
    simulator.set("marks.high", 1 << 20)
    simulator.set("marks.low", -(1 << 20))
    assert len(simulator.text(0)) < 100_000


def test_a_level_without_an_end_sends_an_agent_home_all_the_same(
    make_simulator: Callable[..., Any],
) -> None:
    simulator = make_simulator("ObstaclesEasy-v0", 2)
    simulator.reset(seed=1)
    simulator.set("statics.low", -3e38)
    simulator.set("statics.high", 3e38)
    simulator.set("agents.position", [0.0, 0.0, -100.0])
    space = simulator.single_action_space
    simulator.step(np.zeros((2, simulator.agents_per_world, *space.shape), space.dtype))
    assert len(simulator.text(0)) < 1_000_000
