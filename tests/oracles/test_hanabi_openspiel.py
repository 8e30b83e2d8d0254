"""Hanabi against OpenSpiel, move by move.

OpenSpiel does not deal a card after the move that ends a game, so vectors are compared up to it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.oracles import hanabi_games as games

pyspiel = pytest.importorskip("pyspiel", reason="needs open_spiel")


CONFIGURATIONS = [(preset, players) for preset in games.PRESETS for players in (2, 3, 4, 5)]
# Games of all 16 configurations; enough that each event happens often.
GAMES_IN_ALL, GAMES_WHEN_SLOW, AT_LEAST = 1_024, 10_000, 100
# The reference keeps which cards a hint touched in eight bits: of larger hands it forgets the rest.
LARGEST_HAND = 8


class OpenSpielGame:
    """A game of OpenSpiel that is dealt from a given deck."""

    def __init__(self, settings: dict[str, Any], deck: list[int]) -> None:
        """Deal the first hands."""
        shown = {"observation_type": settings["observation_type"]}
        self.game = pyspiel.load_game("hanabi", games.options_of(settings) | shown)
        self.state = self.game.new_initial_state()
        self.cards = iter(deck)
        self.deal()

    def deal(self) -> None:
        """Give out cards for as long as it is their turn."""
        while self.state.is_chance_node():
            self.state.apply_action(next(self.cards))

    def observations(self) -> list[Any]:
        """Every player's vector, from player 0 on."""
        return [self.state.observation_tensor(p) for p in range(self.game.num_players())]

    def player(self) -> int:
        """Who is on turn."""
        return int(self.state.current_player())

    def legal(self) -> list[int]:
        """The legal moves of the player on turn, in order."""
        return sorted(self.state.legal_actions())

    def play(self, move: int) -> float:
        """Make a move and return its reward."""
        self.state.apply_action(move)
        reward = float(self.state.rewards()[0])
        self.deal()
        return reward

    def is_over(self) -> bool:
        """Whether the game has ended."""
        return bool(self.state.is_terminal())

    def score(self) -> float:
        """What the players have earned."""
        return float(self.state.returns()[0])


def compare(worlds: int, seed: int, **parameters: Any) -> Any:
    return games.compare(OpenSpielGame, worlds, seed, terminal=False, **parameters)


def test_games_of_all_presets_are_equal_move_by_move() -> None:
    total = games.Tally()
    for seed, (preset, players) in enumerate(CONFIGURATIONS):
        worlds = GAMES_IN_ALL // len(CONFIGURATIONS)
        total.add(compare(worlds, seed, preset=preset, player_count=players))
    assert total.games >= 1_000
    assert min(*total.ended_by.values(), total.bonus) >= AT_LEAST, total


@pytest.mark.slow
@pytest.mark.parametrize(("preset", "players"), CONFIGURATIONS)
def test_ten_thousand_games_of_a_preset_are_equal_move_by_move(preset: str, players: int) -> None:
    total = games.Tally()
    for seed in range(GAMES_WHEN_SLOW // 1_000):
        total.add(compare(1_000, 100 + seed, preset=preset, player_count=players))
    assert total.games == GAMES_WHEN_SLOW
    # Five moves in all, and all of them plays: no token is ever spent.
    bonus = total.bonus if (preset, players) != ("very_small", 5) else AT_LEAST
    assert min(*total.ended_by.values(), bonus) >= AT_LEAST, total


def random_options(random: np.random.Generator) -> dict[str, Any]:
    """Any game that OpenSpiel can play."""
    colors, ranks = (int(n) for n in random.integers(1, 6, 2))
    players = int(random.integers(2, 6))
    deck = len(games.sorted_deck(colors, ranks))
    if deck < players:
        return random_options(random)
    return {
        "player_count": players,
        "color_count": colors,
        "rank_count": ranks,
        "hand_size": int(random.integers(1, min(deck // players, LARGEST_HAND) + 1)),
        "max_information_tokens": int(random.integers(0, 12)),
        "max_life_tokens": int(random.integers(1, 6)),
        "observation_type": str(random.choice(["minimal", "card_knowledge", "seer"])),
        "noop": bool(random.integers(2)),
    }


@pytest.mark.parametrize("seed", range(40))
def test_games_of_random_options_are_equal_move_by_move(seed: int) -> None:
    options = random_options(np.random.default_rng(seed))
    compare(6, seed, lucky=0.0, **options)
