"""What a native process saved goes on in a module for web pages: same record, text, pixels."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import gpu_envs
from gpu_envs.building import places, upkeep

ROOT = Path(__file__).parents[2]
SIZE = (90, 160)  # rows and columns
WORLDS = 3

pytestmark = pytest.mark.web


def _ids() -> list[tuple[str, str]]:
    known = places.environments()
    return [
        (stem, entry["id"])
        for stem in known
        for entry in json.loads((places.CATALOGUE / f"{stem}.json").read_text())
    ]


@pytest.mark.filterwarnings("ignore:.*actions were illegal")
@pytest.mark.parametrize(("stem", "id"), _ids(), ids=lambda value: str(value))
def test_a_saved_state_goes_on_in_a_page(
    stem: str,
    id: str,
    tmp_path: Path,
    make_simulator: Callable[..., gpu_envs.Simulator],
) -> None:
    if not upkeep.is_current(places.module_file(stem, places.WASM), places.WASM):
        pytest.skip(f"needs `python -m gpu_envs build --target wasm {id}`")
    made = make_simulator(id, WORLDS, autoreset_mode="SameStep")
    made.reset(seed=11)
    for k in range(12):
        made.step(made.sample_actions(seed=k))
    state = made.save()
    (tmp_path / "state").write_bytes(state)
    task = {
        "id": id,
        "state": str(tmp_path / "state"),
        "settings": {"worlds": WORLDS, "autoreset": "SameStep"},
        "world": 1,
        "height": SIZE[0],
        "width": SIZE[1],
    }
    (tmp_path / "task.json").write_text(json.dumps(task))
    out = tmp_path / "out"
    words = [
        "scripts/web/node",
        "tests/client/draw.mjs",
        stem,
        str(tmp_path / "task.json"),
        str(out),
    ]
    ran = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert out.with_suffix(".state").read_bytes() == state
    assert out.with_suffix(".text").read_text() == made.text(1)
    if made.instance["scene"]:
        drawn = np.frombuffer(out.with_suffix(".pixels").read_bytes(), np.uint8)
        pixels = drawn.reshape(*SIZE, 4)
        assert np.array_equal(pixels[..., :3], made.render(1, size=SIZE))
        assert (pixels[..., 3] == 255).all()
