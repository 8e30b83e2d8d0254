"""A game on a terminal, for tests of what a person sees and presses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from shown import Play, Player


@pytest.fixture
def play() -> Iterator[Play]:
    """Starts a game on a terminal of its own; what goes on at the end of a test is killed."""
    players = []

    def play(*options: str, name: str = "ObstaclesEasy-v0", **terminal: Any) -> Player:
        player = Player(["-m", "gpu_envs", "play", name, "--seed", "3", *options], **terminal)
        players.append(player)
        return player

    yield play
    for player in players:
        player.process.kill()
        player.process.wait()
