"""A damaged file of the catalogue is left out and named; in a tree it can be written again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpu_envs.building import places
from gpu_envs.known import registration


@pytest.fixture
def catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the catalogue, which a test may damage."""
    copy = tmp_path / "catalogue"
    shutil.copytree(places.CATALOGUE, copy)
    monkeypatch.setattr(places, "CATALOGUE", copy)
    yield copy
    monkeypatch.undo()
    registration.refresh()


DAMAGES = {
    "empty": b"",
    "half": b'[{"id": "CartPole-v0", "doc"',
    "no text": b"\xff\xfe",
    "no list": b"{}",
    "no object": b"[3]",
    "nothing said": b"[{}]",
    "an id that is a list": b'[{"id": [], "doc": "", "agents": "1", "max_episode_steps": 1}]',
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_left_out_with_one_warning(catalogue: Path, damage: str) -> None:
    file = catalogue / "cartpole.json"
    described = [registration.find("CartPole-v0")]
    others = set(registration.environments()) - {"CartPole-v0"}
    file.write_bytes(DAMAGES[damage])
    with pytest.warns(UserWarning, match="gpu_envs leaves environments out") as warned:
        registration.refresh()
    (warning,) = warned
    assert str(file) in str(warning.message)
    assert "`python -m gpu_envs build cartpole` writes it again" in str(warning.message)
    assert set(registration.environments()) == others
    with pytest.raises(ValueError, match="unknown environment") as refused:
        registration.find("CartPole-v0")
    assert str(file) in str(refused.value)
    # As `build` does, once it has asked the module.
    assert registration.remember(registration.Home("cartpole"), described)
    assert json.loads(file.read_text()) == described == [registration.find("CartPole-v0")]
    assert registration.damaged() == []
