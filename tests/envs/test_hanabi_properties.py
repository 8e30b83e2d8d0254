"""Hanabi under random options, random moves and bad input: what must hold whatever one does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gpu_envs import Simulator

Make = Callable[..., Simulator]
ID = "Hanabi-v0"


def copies(ranks: int) -> np.ndarray:
    """Copies of each rank of a colour."""
    return np.array([3, *[2] * (ranks - 2), *[1] * (ranks > 1)])


def random_options(random: np.random.Generator) -> dict[str, Any]:
    """Options of some game that can be played."""
    while True:
        colors, ranks = (int(n) for n in random.integers(1, 6, 2))
        players = int(random.integers(2, 6))
        deck = colors * int(copies(ranks).sum())
        if deck >= players:
            break
    return {
        "player_count": players,
        "color_count": colors,
        "rank_count": ranks,
        "hand_size": int(random.integers(1, deck // players + 1)),
        "max_information_tokens": int(random.integers(0, 33)),
        "max_life_tokens": int(random.integers(1, 33)),
        "observation_type": str(random.choice(["minimal", "card_knowledge", "seer"])),
        "belief": str(random.choice(["bits", "v0"])),
        "random_start_player": bool(random.integers(2)),
        "noop": bool(random.integers(2)),
        "keep_score": bool(random.integers(2)),
    }


def random_legal(outputs: Any, random: np.random.Generator) -> np.ndarray:
    mask = outputs.action_mask
    return (mask * (random.random(mask.shape) + 0.1)).argmax(axis=-1)


# ---- properties


class Ledger:
    """Counts the cards of all worlds wherever they are."""

    def __init__(self, simulator: Simulator) -> None:
        """Read the options."""
        p = self.p = simulator.parameters
        self.simulator = simulator
        self.kinds = p["color_count"] * p["rank_count"]
        self.copies = np.tile(copies(p["rank_count"]), p["color_count"])
        self.slots = p["player_count"] * p["hand_size"]

    def get(self, name: str) -> np.ndarray:
        return self.simulator.get(name)

    def bits(self, name: str, count: int) -> np.ndarray:
        words = self.get(f"table.{name}")[:, :1].astype(np.uint64)
        return (words >> np.arange(count, dtype=np.uint64)) & np.uint64(1)

    def played(self) -> np.ndarray:
        """1 for each card that lies in a firework."""
        tops = self.bits("fireworks", self.kinds).reshape(
            -1, self.p["color_count"], self.p["rank_count"]
        )
        return np.flip(np.maximum.accumulate(np.flip(tops, -1), -1), -1).reshape(-1, self.kinds)

    def discarded(self) -> np.ndarray:
        ends = np.cumsum(self.copies)
        bits = self.bits("discards", int(ends[-1]))
        parts = np.split(bits, ends[:-1], axis=1)
        for part in parts:  # set from the lowest on
            assert (np.sort(part, axis=1)[:, ::-1] == part).all()
        return np.stack([part.sum(axis=1) for part in parts], axis=1)

    def in_hands(self) -> np.ndarray:
        cards, held = self.get("hands.card"), (self.get("hands.told") & 4) != 0
        assert not held[:, self.slots :].any()
        return (np.eye(self.kinds)[np.where(held, cards, 0)] * held[..., None]).sum(axis=1)

    def in_deck(self) -> np.ndarray:
        size, left = int(self.copies.sum()), self.get("table.deck_left")
        deck = self.get("deck.card")[:, :size]
        there = np.arange(size) >= size - left
        return (np.eye(self.kinds)[deck] * there[..., None]).sum(axis=1)

    def check(self) -> None:
        """Every copy of every card is somewhere, and hints have excluded no true card."""
        total = self.in_hands() + self.in_deck() + self.discarded() + self.played()
        assert (total == self.copies).all()
        assert (self.get("table.points")[:, 0] == self.played().sum(axis=1)).all()
        tokens = self.get("table.information_tokens")
        assert (tokens <= self.p["max_information_tokens"]).all()
        cards, told = self.get("hands.card"), self.get("hands.told")
        held = told & 4 != 0
        color, rank = cards // self.p["rank_count"], cards % self.p["rank_count"]
        assert (self.get("hands.colors") >> color & 1 == 1)[held].all()
        assert (self.get("hands.ranks") >> rank & 1 == 1)[held].all()
        assert (self.get("hands.colors") == 1 << color)[told & 1 != 0].all()
        assert (self.get("hands.ranks") == 1 << rank)[told & 2 != 0].all()
        short = self.get("table.short_hands") >> np.arange(self.p["player_count"]) & 1
        hands = held[:, : self.slots].reshape(-1, self.p["player_count"], self.p["hand_size"])
        assert (hands.sum(axis=2) == self.p["hand_size"] - short).all()


@pytest.mark.parametrize("seed", range(40))
def test_cards_and_tokens_are_conserved_under_random_options(
    make_simulator: Make, seed: int
) -> None:
    random = np.random.default_rng(seed)
    simulator = make_simulator(ID, 12, **random_options(random))
    outputs, ledger = simulator.reset(seed=seed), Ledger(simulator)
    for _ in range(60):
        ledger.check()
        on_turn = outputs.action_mask[outputs.agent_active]
        assert outputs.agent_active.sum(axis=1).tolist() == [1] * 12 and on_turn.any(axis=1).all()
        assert outputs.obs.min() >= 0 and outputs.obs.max() <= 1
        outputs = simulator.step(random_legal(outputs, random))
        simulator.check()
        score = outputs.episode_return
        assert (score[outputs.ended] >= 0).all() and (score <= ledger.kinds).all()


@pytest.mark.parametrize("seed", range(10))
def test_any_moves_at_all_keep_the_worlds_whole(make_simulator: Make, seed: int) -> None:
    random = np.random.default_rng(seed)
    simulator = make_simulator(ID, 12, **random_options(random))
    outputs, ledger = simulator.reset(seed=seed), Ledger(simulator)
    for _ in range(60):
        outputs = simulator.step(
            random.integers(0, outputs.action_mask.shape[-1], outputs.reward.shape)
        )
        ledger.check()


def test_decks_are_shuffled_evenly(make_simulator: Make) -> None:
    worlds = 20_000
    simulator = make_simulator(ID, worlds)
    simulator.reset(seed=1)
    deck = simulator.get("deck.card")
    expected = np.repeat(np.arange(25), np.tile([3, 2, 2, 2, 1], 5))
    assert (np.sort(deck, axis=1) == expected).all()
    ones = worlds * np.tile([3, 2, 2, 2, 1], 5) / 50
    counts = np.stack([np.bincount(deck[:, k], minlength=25) for k in range(50)])
    assert (np.abs(counts - ones) < 6 * np.sqrt(ones)).all()
    # Neighbours are independent, as far as a deck without replacement lets them be.
    same = (deck[:, :-1] == deck[:, 1:]).mean()
    assert abs(same - (5 * 3 * 2 + 15 * 2 * 1) / (50 * 49)) < 1e-3
    assert len(np.unique(deck, axis=0)) == worlds


def test_random_play_lasts_as_long_as_the_reference_says(make_simulator: Make) -> None:
    for players, moves in ((2, 12.9), (3, 17.5), (4, 19.0), (5, 19.7)):
        simulator = make_simulator(ID, 2_000, player_count=players, autoreset_mode="Disabled")
        outputs, random = simulator.reset(seed=2), np.random.default_rng(players)
        while not simulator.get("world.over").all():
            outputs = simulator.step(random_legal(outputs, random))
        assert abs(simulator.get("world.step").mean() - moves) < 0.6
        assert simulator.get("world.step").max() <= (90, 81, 80, 73)[players - 2]


# ---- bad input

BAD_OPTIONS = [
    ({"players": 3}, TypeError, "did you mean 'player_count'"),
    ({"hand_size": 11, "player_count": 5}, ValueError, "hand_size must be at most 10 here"),
    ({"preset": "very_small", "hand_size": 6}, ValueError, "hand_size must be at most 5 here"),
    ({"color_count": 1, "rank_count": 1, "player_count": 5}, ValueError, "hand_size must be"),
    ({"belief": "v0", "dtype": "bits"}, ValueError, "dtype"),
    ({"belief": "v0", "dtype": "uint8"}, ValueError, "dtype"),
    ({"dtype": "float16"}, ValueError, "dtype must be"),
]


@pytest.mark.parametrize(("options", "error", "message"), BAD_OPTIONS)
def test_options_that_cannot_be_played_are_refused_by_name(
    make_simulator: Make, options: dict[str, Any], error: Any, message: str
) -> None:
    with pytest.raises(error, match=message):
        make_simulator(ID, 2, **options)


# What any environment refuses: tests/gpu_envs/test_bad_input.py.
BAD_CALLS: list[tuple[Callable[[Simulator], object], type[Exception], str]] = [
    (lambda s: s.set("deck.card", np.zeros((2, 49), np.uint8)), ValueError, "deck.card"),
    (lambda s: s.set("deck.card", 0, worlds=[2]), ValueError, "worlds must be in"),
    (lambda s: s.text(2), ValueError, "world"),
    (lambda s: s.text(0, 2), ValueError, "viewer"),
]


@pytest.mark.parametrize(("call", "error", "message"), BAD_CALLS)
def test_calls_that_fail_leave_the_worlds_as_they_were(
    make_simulator: Make, call: Callable[[Simulator], object], error: Any, message: str
) -> None:
    simulator, twin = make_simulator(ID, 2), make_simulator(ID, 2)
    for each in (simulator, twin):
        each.reset(seed=3)
    before = simulator.save()
    with pytest.raises(error, match=message):
        call(simulator)
    assert simulator.save() == before
    good = [[5, 20], [5, 20]]
    assert (simulator.step(good).obs == twin.step(good).obs).all()


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("table.player", 1),
        ("table.deck_left", 50),
        ("table.short_hands", 3),
        ("table.information_tokens", 8),
    ],
)
def test_numbers_that_no_game_has_harm_nobody_else(
    make_simulator: Make, column: str, value: int
) -> None:
    simulator, twin = make_simulator(ID, 3), make_simulator(ID, 3)
    for each in (simulator, twin):
        each.reset(seed=4)
    with pytest.raises(ValueError, match=rf"{column} must be from 0 to {value}, got {value + 1}"):
        simulator.set(column, np.full((1, 1), value + 1, np.uint8), worlds=[1])
    simulator.set(column, np.full((1, 1), value, np.uint8), worlds=[1])
    for _ in range(20):
        rows = [each.step([[5, 20], [5, 20], [5, 20]]).obs[[0, 2]] for each in (simulator, twin)]
        assert (rows[0] == rows[1]).all()
