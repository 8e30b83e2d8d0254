"""Hanabi against the Hanabi Learning Environment itself, last observations included."""

from __future__ import annotations

from typing import Any

import pytest

from tests.oracles import hanabi_games as games

pyhanabi = pytest.importorskip(
    "hanabi_learning_environment.pyhanabi",
    reason="needs HLE: CMAKE_POLICY_VERSION_MINIMUM=3.5 "
    "pip install hanabi-learning-environment==0.0.4",
)


GAMES = 200
TYPES = {"minimal": 0, "card_knowledge": 1, "seer": 2}


class Dealer:
    """A game of the reference with its encoder, and a move that deals each of its cards."""

    def __init__(self, settings: dict[str, Any]) -> None:
        """Find the dealing moves: they can only be read back from histories."""
        shown = {"observation_type": TYPES[settings["observation_type"]]}
        self.game = pyhanabi.HanabiGame(games.options_of(settings) | shown)
        self.encoder = pyhanabi.ObservationEncoder(self.game)
        self.ranks = settings["rank_count"]
        self.deals: dict[int, Any] = {}
        while len(self.deals) < settings["color_count"] * self.ranks:
            scratch = self.game.new_initial_state()
            while scratch.cur_player() == pyhanabi.CHANCE_PLAYER_ID:
                scratch.deal_random_card()
            for item in scratch.move_history():
                move = item.move()
                self.deals[move.color() * self.ranks + move.rank()] = move


class ReferenceGame:
    """A game of the reference that is dealt from a given deck, as its `rl_env` deals."""

    def __init__(self, dealer: Dealer, deck: list[int]) -> None:
        """Deal the first hands."""
        self.dealer = dealer
        self.state = dealer.game.new_initial_state()
        self.cards = iter(deck)
        self.deal()

    def deal(self) -> None:
        """Give out cards for as long as it is their turn, after the last move too."""
        while self.state.cur_player() == pyhanabi.CHANCE_PLAYER_ID:
            self.state.apply_move(self.dealer.deals[next(self.cards)])

    def observations(self) -> list[Any]:
        """Every player's vector, from player 0 on."""
        encode, players = self.dealer.encoder.encode, self.dealer.game.num_players()
        return [encode(self.state.observation(player)) for player in range(players)]

    def player(self) -> int:
        """Who is on turn."""
        return int(self.state.cur_player())

    def legal(self) -> list[int]:
        """The legal moves of the player on turn, in order."""
        return sorted(self.dealer.game.get_move_uid(move) for move in self.state.legal_moves())

    def play(self, move: int) -> float:
        """Make a move and return its reward."""
        before = self.state.score()
        self.state.apply_move(self.dealer.game.get_move(move))
        self.deal()
        return float(self.state.score() - before)

    def is_over(self) -> bool:
        """Whether the game has ended."""
        return bool(self.state.is_terminal())

    def score(self) -> float:
        """What the players have earned."""
        return float(self.state.score())


def compare(worlds: int, seed: int, **parameters: Any) -> Any:
    """Play against the reference; one dealer serves all games."""
    dealers: list[Dealer] = []

    def make(settings: dict[str, Any], deck: list[int]) -> ReferenceGame:
        if not dealers:
            dealers.append(Dealer(settings))
        return ReferenceGame(dealers[0], deck)

    return games.compare(make, worlds, seed, terminal=True, **parameters)


def test_a_few_games_are_equal_move_by_move() -> None:
    for players in (2, 5):
        assert compare(8, players, player_count=players).games == 8


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 3, 4, 5])
@pytest.mark.parametrize("preset", games.PRESETS)
def test_games_of_a_preset_are_equal_with_their_last_observations(
    preset: str, players: int
) -> None:
    assert compare(GAMES, players, preset=preset, player_count=players).games == GAMES


@pytest.mark.slow
@pytest.mark.parametrize("observation_type", ["minimal", "card_knowledge", "seer"])
@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_games_of_three_colors_and_ranks_are_equal(players: int, observation_type: str) -> None:
    tally = compare(
        50,
        players,
        player_count=players,
        color_count=3,
        rank_count=3,
        hand_size=3,
        observation_type=observation_type,
    )
    assert tally.games == 50
