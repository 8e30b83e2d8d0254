"""Saves that an earlier build wrote still load, and mean what they meant."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from gpu_envs import Simulator

# Two worlds after seven steps from seed 3, as the release before modules wrote them, and a hash of
# what was observed then. Where a form of saves is given up on purpose, its entry goes.
SAVES = json.loads(Path(__file__).with_name("saves.json").read_text(encoding="utf-8"))


def _parts(data: bytes) -> tuple[set[str], bytes]:
    """Return the lines of a save's header, and its records."""
    end = 16 + int.from_bytes(data[8:16], "little")
    return {line.strip(" ,}") for line in data[16:end].decode().splitlines()}, data[end:-16]


@pytest.mark.parametrize("name", sorted(SAVES))
def test_a_save_of_an_earlier_build_loads(name: str) -> None:
    data = base64.b64decode(SAVES[name]["save"])
    simulator = Simulator(name, 2, device="cpu", arrays="numpy")
    simulator.reset(seed=4)
    assert simulator.save() != data
    simulator.load(data)
    facts, records = _parts(data)
    new_facts, new_records = _parts(simulator.save())
    assert new_records == records
    # That came since: a hash of assets, and parameters, which have their defaults.
    came = {line for line in new_facts - facts if '"assets"' not in line}
    gone = facts - new_facts
    assert len(came) == len(gone) <= 1
    for old, new in zip(gone, came, strict=True):
        before, now = (json.loads("{" + line + "}}")["parameters"] for line in (old, new))
        assert before.items() <= now.items()
    observed = np.asarray(simulator.observe().obs).tobytes()
    assert hashlib.sha256(observed).hexdigest() == SAVES[name]["observed"]
