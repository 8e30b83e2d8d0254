"""What a native process saved goes on in a module for web pages: same record, text, pixels."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import gpu_envs
from gpu_envs.building import places, upkeep
from tests.client import saved

ROOT = Path(__file__).parents[2]

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
    wanted = saved.expected(saved.played(make_simulator, id))
    task, state, out = (tmp_path / name for name in ("task.json", "state", "out"))
    task.write_text(json.dumps(saved.task(id)))
    state.write_bytes(wanted["state"])
    words = ["scripts/web/node", "tests/client/draw.mjs", stem, str(task), str(state), str(out)]
    ran = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    found = {path.suffix[1:]: path.read_bytes() for path in tmp_path.glob("out.*")}
    assert found.keys() == wanted.keys()
    assert [name for name in wanted if found[name] != wanted[name]] == []
