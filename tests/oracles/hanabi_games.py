"""Games of Hanabi played side by side: many worlds of a simulator against one oracle game each.

An oracle is any object with the members of `Oracle`; the tests beside this file bring OpenSpiel
and the Hanabi Learning Environment. Cards are numbers, colour * ranks + rank.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from gpu_envs import Simulator

PRESETS = ("full", "full_minimal", "small", "very_small")
LIVES, WON, CARDS = 1, 2, 3  # the values of table.ended_by


class Oracle(Protocol):
    """One game of a reference implementation, dealt from a given deck."""

    def observations(self) -> list[Any]:
        """Every player's vector, from player 0 on."""

    def player(self) -> int:
        """Who is on turn."""

    def legal(self) -> list[int]:
        """The legal moves of the player on turn, in order."""

    def play(self, move: int) -> float:
        """Make a move and return its reward."""

    def is_over(self) -> bool:
        """Whether the game has ended."""

    def score(self) -> float:
        """What the reference says the game has brought."""


@dataclass
class Tally:
    """What has happened in the games of one comparison."""

    games: int = 0
    moves: int = 0
    bonus: int = 0  # completed colours that brought a token
    ended_by: dict[int, int] = field(default_factory=lambda: {LIVES: 0, WON: 0, CARDS: 0})

    def add(self, other: Tally) -> None:
        """Count the games of another comparison too."""
        self.games += other.games
        self.moves += other.moves
        self.bonus += other.bonus
        for how, count in other.ended_by.items():
            self.ended_by[how] += count


def options_of(settings: dict[str, Any]) -> dict[str, int]:
    """Return a game's numbers under the names that both references have for them."""
    return {
        "players": settings["player_count"],
        "colors": settings["color_count"],
        "ranks": settings["rank_count"],
        "hand_size": settings["hand_size"],
        "max_information_tokens": settings["max_information_tokens"],
        "max_life_tokens": settings["max_life_tokens"],
    }


def sorted_deck(colors: int, ranks: int) -> list[int]:
    """All cards in index order."""
    copies = [3, *[2] * (ranks - 2), *[1] * (ranks > 1)]
    return [c * ranks + r for c in range(colors) for r in range(ranks) for _ in range(copies[r])]


def perfect_deck(
    players: int, hand_size: int, colors: int, ranks: int, hints: int = 0
) -> list[int]:
    """Return a deck whose perfect game is: everyone always plays the oldest card.

    With `hints`, the first players give one hint each before the first card is played.
    """
    left = sorted_deck(colors, ranks)
    deck = [-1] * len(left)
    plays = [0] * players
    for card in range(colors * ranks):
        player = (hints + card) % players
        play = plays[player]
        plays[player] += 1
        if play < hand_size:
            position = player * hand_size + play
        else:  # the card drawn after this player's play number `play - hand_size`
            first = (player - hints) % players
            position = players * hand_size + (play - hand_size) * players + first
        deck[position] = card
        left.remove(card)
    return [left.pop(0) if card < 0 else card for card in deck]


def inject_decks(simulator: Simulator, decks: Sequence[Sequence[int]]) -> None:
    """Deal every world of a simulator that has just been reset from its deck."""
    settings = simulator.parameters
    cards = np.asarray(decks, np.uint8)
    deck = simulator.get("deck.card")
    deck[:, : cards.shape[1]] = cards
    simulator.set("deck.card", deck)
    hands = simulator.get("hands.card")
    dealt = settings["player_count"] * settings["hand_size"]
    hands[:, :dealt] = cards[:, :dealt]
    simulator.set("hands.card", hands)


# ---- policies: they may look at everything, since all that counts is where the games go


@dataclass
class Cards:
    """The cards of one world, read from the columns of a simulator."""

    hand: list[int]
    heights: list[int]
    ranks: int
    hand_size: int

    def fits(self, card: int) -> bool:
        """Whether the card can be played now."""
        return self.heights[card // self.ranks] == card % self.ranks

    def is_dead(self, card: int) -> bool:
        """Whether the card has been played already."""
        return card % self.ranks < self.heights[card // self.ranks]


def read_cards(simulator: Simulator) -> list[Cards]:
    """What the players on turn hold, and the fireworks, for all worlds."""
    settings = simulator.parameters
    ranks, size = settings["rank_count"], settings["hand_size"]
    hands, told = simulator.get("hands.card"), simulator.get("hands.told")
    fireworks = simulator.get("table.fireworks")[:, 0].astype(int)
    players = simulator.get("table.player")[:, 0]
    masks = [(1 << ranks) - 1 << c * ranks for c in range(settings["color_count"])]
    found = []
    for world in range(simulator.num_worlds):
        rows = slice(players[world] * size, (players[world] + 1) * size)
        hand = [int(c) for c, t in zip(hands[world, rows], told[world, rows], strict=True) if t & 4]
        heights = [
            ((fireworks[world] & mask) >> c * ranks).item().bit_length()
            for c, mask in enumerate(masks)
        ]
        found.append(Cards(hand, heights, ranks, size))
    return found


def choose(cards: Cards, legal: list[int], style: int, random: np.random.Generator) -> int:
    """Style 0 plays at random, 1 what fits and else at random, 2 as well as it can.

    Style 3 is style 2 that gives hints now and then although a card fits.
    """
    if style == 0 or (style == 1 and random.random() < 0.03):
        return int(random.choice(legal))
    size = cards.hand_size
    hints = [move for move in legal if move >= 2 * size]
    plays = [size + i for i, card in enumerate(cards.hand) if cards.fits(card)]
    if plays and not (style == 3 and hints and random.random() < 0.2):
        return int(random.choice(plays))
    others = [move for move in legal if not size <= move < 2 * size]
    if style == 1 and others:
        return int(random.choice(others))
    dead = [move for move in legal if move < size and cards.is_dead(cards.hand[move])]
    if dead:
        return int(random.choice(dead))
    if hints:
        return int(random.choice(hints))
    return int(random.choice(others or legal))


# ---- the comparison


def start(simulator: Simulator, seed: int, lucky: float) -> np.ndarray:
    """Reset all worlds, give a part of them an easily won deck, and return the decks."""
    settings = simulator.parameters
    simulator.reset(seed=seed)
    size = len(sorted_deck(settings["color_count"], settings["rank_count"]))
    decks = simulator.get("deck.card")[:, :size].astype(int)
    count = int(lucky * simulator.num_worlds)
    for world in range(count):
        decks[world] = perfect_deck(
            settings["player_count"],
            settings["hand_size"],
            settings["color_count"],
            settings["rank_count"],
            hints=world % 2 if settings["max_information_tokens"] else 0,
        )
    inject_decks(simulator, decks.tolist())
    return decks


def compare(
    make_oracle: Callable[[dict[str, Any], list[int]], Oracle],
    worlds: int,
    seed: int,
    *,
    terminal: bool,
    lucky: float = 0.25,
    **parameters: Any,
) -> Tally:
    """Play games to their ends against the oracle and return what happened in them.

    Every observer's vector, the legal moves, rewards, scores and ends must be equal at every step;
    of the last step the vectors only with `terminal`.
    """
    simulator = Simulator(
        "Hanabi-v0", worlds, device="cpu", autoreset_mode="Disabled", **parameters
    )
    decks = start(simulator, seed, lucky)
    oracles = [make_oracle(simulator.parameters, deck) for deck in decks.tolist()]
    random = np.random.default_rng(seed)
    tally, live = Tally(games=worlds), list(range(worlds))
    outputs = simulator.observe()
    score = np.zeros(worlds)
    first_style = int(lucky * worlds)
    while live:
        players = simulator.get("table.player")[:, 0]
        cards = read_cards(simulator)
        noop = simulator.parameters["noop"]
        moves = outputs.action_mask.shape[-1] - noop
        actions = np.full((worlds, outputs.action_mask.shape[1]), moves if noop else 0)
        for world in live:
            compare_observations(outputs.obs[world], oracles[world])
            legal = compare_masks(outputs.action_mask[world], oracles[world], moves)
            assert players[world] == oracles[world].player()
            style = 3 if world < first_style else world % 4
            actions[world, players[world]] = choose(cards[world], legal, style, random)
        outputs = simulator.step(actions)
        tally.moves += len(live)
        tally.bonus += int(simulator.get("table.token")[live].sum())
        for world in live:
            reward = oracles[world].play(int(actions[world, players[world]]))
            assert (outputs.reward[world] == reward).all()
            score[world] += reward
            assert outputs.terminated[world].all() == oracles[world].is_over()
            assert not outputs.truncated[world].any()
        compare_ends(simulator, outputs, oracles, live, terminal)
        live = [world for world in live if not oracles[world].is_over()]
    for how in simulator.get("table.ended_by")[:, 0]:
        tally.ended_by[int(how)] += 1
    simulator.close()
    return tally


def compare_observations(rows: np.ndarray, oracle: Oracle) -> None:
    """Hold every observer's vector against the oracle's."""
    for player, vector in enumerate(oracle.observations()):
        expected = np.asarray(vector)
        if (rows[player] != expected).any():
            where = np.flatnonzero(rows[player] != expected)
            raise AssertionError(f"observer {player} differs at {where.tolist()}")


def compare_masks(rows: np.ndarray, oracle: Oracle, moves: int) -> list[int]:
    """Hold the masks against the oracle's legal moves; those not on turn have the no-op alone."""
    player, legal = oracle.player(), oracle.legal()
    for seat, row in enumerate(rows):
        expected = legal if seat == player else list(range(moves, len(row)))
        assert np.flatnonzero(row).tolist() == expected
    return legal


def compare_ends(
    simulator: Simulator, outputs: Any, oracles: list[Any], live: list[int], terminal: bool
) -> None:
    """Hold scores, and where wanted the last vectors, against those of games that have ended."""
    for world in live:
        if not oracles[world].is_over():
            continue
        assert (outputs.episode_return[world] == oracles[world].score()).all()
        if terminal:
            compare_observations(outputs.obs[world], oracles[world])
