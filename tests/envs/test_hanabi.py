"""Hanabi on given decks: sizes, golden games, the rules that Python sees, both forms of belief.

The hashes were made by the Hanabi Learning Environment: over every observer's vector, a byte per
bit, before every move.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from gpu_envs import Simulator
from tests.oracles import hanabi_games as games

Make = Callable[..., Simulator]
LIVES, WON, CARDS = 1, 2, 3  # table.ended_by


def seventh_deck(colors: int = 5, ranks: int = 5) -> list[int]:
    """Every seventh card of the sorted deck, from the fourth on."""
    cards = games.sorted_deck(colors, ranks)
    return [cards[(7 * k + 3) % len(cards)] for k in range(len(cards))]


@pytest.fixture
def deal(make_simulator: Make) -> Make:
    """Makes worlds whose games begin with a given deck."""

    def dealt(deck: list[int], worlds: int = 1, **options: Any) -> Simulator:
        options.setdefault("autoreset_mode", "Disabled")
        simulator = make_simulator("Hanabi-v0", worlds, **options)
        simulator.reset(seed=1)
        games.inject_decks(simulator, [deck] * worlds)
        return simulator

    return dealt


def column(simulator: Simulator, name: str) -> int:
    return int(simulator.get(f"table.{name}")[0, 0])


def act(simulator: Simulator, move: int) -> Any:
    """One move of the player on turn in every world; the others wait."""
    outputs = simulator.observe()
    choices = outputs.action_mask.shape[-1]
    actions = np.full(outputs.action_mask.shape[:2], choices - 1)
    actions[outputs.agent_active] = move
    return simulator.step(actions)


# ---- sizes

# preset: moves for 2 to 5 players, elements for 2 to 5 players
SIZES = {
    "full": ((20, 30, 38, 48), (658, 956, 1041, 1280)),
    "full_minimal": ((20, 30, 38, 48), (308, 431, 481, 580)),
    "small": ((11, 18, 25, 32), (171, 226, 281, 336)),
    "very_small": ((10, 16, 22, 28), (106, 139, 172, 205)),
}
SECTIONS = [
    ["hands"], ["short_hands"], ["deck"], ["fireworks"], ["information_tokens"], ["life_tokens"],
    ["discards"], ["last_actor"], ["last_type"], ["last_target"], ["last_color"], ["last_rank"],
    ["last_touched"], ["last_position"], ["last_card"], ["last_scored"], ["last_token"],
    ["knowledge"],
]  # fmt: skip
OFFSETS = {
    ("full", 2): (0, 125, 127, 167, 192, 200, 203, 253, 255, 259, 261, 266, 271, 276, 281, 306, 307,
                  308),
    ("full", 3): (0, 250, 253, 288, 313, 321, 324, 374, 377, 381, 384, 389, 394, 399, 404, 429, 430,
                  431),
    ("full", 4): (0, 300, 304, 338, 363, 371, 374, 424, 428, 432, 436, 441, 446, 450, 454, 479, 480,
                  481),
    ("full", 5): (0, 400, 405, 435, 460, 468, 471, 521, 526, 530, 535, 540, 545, 549, 553, 578, 579,
                  580),
    ("small", 2): (0, 20, 22, 38, 48, 51, 52, 72, 74, 78, 80, 82, 87, 89, 91, 101, 102, 103),
    ("very_small", 2): (0, 10, 12, 18, 23, 26, 27, 37, 39, 43, 45, 46, 51, 53, 55, 60, 61, 62),
}  # fmt: skip


@pytest.mark.parametrize("preset", SIZES)
@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_moves_and_elements_of_every_preset(
    make_simulator: Make, preset: str, players: int
) -> None:
    moves, elements = (row[players - 2] for row in SIZES[preset])
    options = {"preset": preset, "player_count": players}
    outputs = make_simulator("Hanabi-v0", 2, **options).reset(seed=1)
    assert outputs.obs.shape == (2, players, elements) and outputs.obs.dtype == np.uint8
    assert outputs.action_mask.shape == (2, players, moves + 1)
    outputs = make_simulator("Hanabi-v0", 2, noop=False, **options).reset(seed=1)
    assert outputs.action_mask.shape == (2, players, moves)


@pytest.mark.parametrize(("preset", "players"), OFFSETS)
def test_first_index_of_every_section(make_simulator: Make, preset: str, players: int) -> None:
    simulator = make_simulator(
        "Hanabi-v0", 1, preset=preset, player_count=players, observation="dict"
    )
    views = simulator.reset(seed=1).obs
    addresses = {name: view.__array_interface__["data"][0] for name, view in views.items()}
    first = addresses["hands"]
    assert tuple(addresses[name] - first for [name] in SECTIONS) == OFFSETS[preset, players]


def test_parameters_show_what_the_preset_filled_in(make_simulator: Make) -> None:
    for preset, players, expected in [
        ("full", 3, (5, 5, 5, 8, 3, "card_knowledge")),
        ("full", 4, (5, 5, 4, 8, 3, "card_knowledge")),
        ("full_minimal", 2, (5, 5, 5, 8, 3, "minimal")),
        ("small", 5, (2, 5, 2, 3, 1, "card_knowledge")),
        ("very_small", 2, (1, 5, 2, 3, 1, "card_knowledge")),
    ]:
        shown = make_simulator("Hanabi-v0", 1, preset=preset, player_count=players).parameters
        names = ("color_count", "rank_count", "hand_size", "max_information_tokens",
                 "max_life_tokens", "observation_type")  # fmt: skip
        assert tuple(shown[name] for name in names) == expected
    shown = make_simulator("Hanabi-v0", 1, preset="small", color_count=4, hand_size=3).parameters
    assert (shown["color_count"], shown["hand_size"], shown["max_life_tokens"]) == (4, 3, 1)


def test_record_of_five_players_fits_256_bytes(make_simulator: Make) -> None:
    small = make_simulator("Hanabi-v0", 64, player_count=5)
    large = make_simulator("Hanabi-v0", 128, player_count=5)
    small.reset(seed=1), large.reset(seed=1)
    assert (len(large.save()) - len(small.save())) / 64 <= 256


# ---- golden games


@dataclass
class Game:
    """What one game on a given deck brought."""

    moves: list[int] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    token_moves: list[int] = field(default_factory=list)  # before which the token bit is set
    deck_left: int = 0  # before the card that follows the last move is dealt
    vectors: Any = field(default_factory=hashlib.sha256)
    masks: Any = field(default_factory=hashlib.sha256)

    def hashes(self) -> tuple[str, str]:
        return self.vectors.hexdigest()[:16], self.masks.hexdigest()[:16]


def first(legal: list[int], t: int, hints: int) -> int:
    return legal[0]


def last(legal: list[int], t: int, hints: int) -> int:
    return legal[-1] if legal[-1] >= hints else legal[0]


def mix(legal: list[int], t: int, hints: int) -> int:
    return legal[(5 * t + 1) % len(legal)]


def oldest(legal: list[int], t: int, hints: int) -> int:
    return hints // 2


def hint_then_oldest(legal: list[int], t: int, hints: int) -> int:
    return next(move for move in legal if move >= hints) if t == 0 else hints // 2


def play_out(simulator: Simulator, policy: Callable[[list[int], int, int], int]) -> Game:
    """Play the one world to its end, noting what was seen before every move."""
    game, hints = Game(), 2 * simulator.parameters["hand_size"]
    outputs = simulator.observe()
    while not outputs.terminated.any() if game.moves else True:
        player = column(simulator, "player")
        mask = outputs.action_mask[0, player, :-1]
        game.vectors.update(outputs.obs[0].tobytes())
        game.masks.update(mask.astype(np.uint8).tobytes())
        if column(simulator, "token"):
            game.token_moves.append(len(game.moves))
        game.tokens.append(column(simulator, "information_tokens"))
        game.deck_left = column(simulator, "deck_left")
        move = policy(np.flatnonzero(mask).tolist(), len(game.moves), hints)
        outputs = act(simulator, move)
        game.moves.append(move)
        game.rewards.append(float(outputs.reward[0, 0]))
        assert (outputs.reward == outputs.reward[0, 0]).all()
    assert outputs.episode_return[0, 0] == sum(game.rewards)
    assert outputs.episode_length[0, 0] == len(game.moves)
    return game


def heights(simulator: Simulator) -> list[int]:
    ranks, fireworks = simulator.parameters["rank_count"], column(simulator, "fireworks")
    mask = (1 << ranks) - 1
    return [
        (fireworks >> c * ranks & mask).bit_length()
        for c in range(simulator.parameters["color_count"])
    ]


# players, policy, moves, end, fireworks, (tokens, life, deck left), hash, mask hash, rewards
GOLDEN = [
    (2, mix, 12, LIVES, [0, 1, 0, 0, 0], (6, 0, 34), "13075a97c14a60c2", "0c9c08dae689aeea",
     {0: 1, 11: -1}),
    (2, last, 89, CARDS, [0, 0, 0, 0, 0], (1, 3, 0), "39234c7607dca8e1", "db3b257cc414af64", {}),
    (2, first, 4, LIVES, [0, 1, 0, 0, 0], (8, 0, 37), "8f53d882f8b7f022", "18a77ca44d153212", None),
    (3, mix, 26, LIVES, [0, 1, 1, 0, 0], (1, 0, 24), "d08a25ef711c17b8", "961cc49e916bd0b3",
     {0: 1, 12: 1, 25: -2}),
    (3, last, 80, CARDS, [0, 0, 0, 0, 0], (0, 3, 0), "9039b110fe452803", "9bab899b87e83352", {}),
    (4, mix, 13, LIVES, [0, 1, 0, 0, 0], (1, 0, 30), "9c7d6786e3959fb9", "0ee1b0c8418ae0c1", None),
    (4, last, 79, CARDS, [0, 0, 0, 0, 0], (1, 3, 0), "663893d843134f6d", "6e60950f5e19284e", {}),
    (5, mix, 15, LIVES, [0, 1, 0, 0, 0], (1, 0, 25), "21773632d69e3a57", "1620521dd0c41a28", None),
    (5, last, 72, CARDS, [0, 0, 0, 0, 0], (0, 3, 0), "aa679252f282c54f", "4492367e2afb5826", {}),
]  # fmt: skip


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda g: f"{g[0]}-{g[1].__name__}")
def test_golden_games_of_every_seventh_card(deal: Make, golden: tuple[Any, ...]) -> None:
    players, policy, moves, ended_by, fireworks, left, vectors, masks, rewards = golden
    simulator = deal(seventh_deck(), player_count=players)
    game = play_out(simulator, policy)
    assert len(game.moves) == moves and column(simulator, "ended_by") == ended_by
    assert heights(simulator) == fireworks
    end = (column(simulator, "information_tokens"), column(simulator, "life_tokens"))
    assert (*end, game.deck_left) == left
    assert game.hashes() == (vectors, masks)
    if rewards is not None:
        assert {t: r for t, r in enumerate(game.rewards) if r} == rewards
    if (players, policy) == (2, mix):
        assert game.moves == [6, 11, 11, 18, 3, 9, 17, 2, 7, 12, 0, 5]


def test_golden_games_of_the_small_preset(deal: Make) -> None:
    deck = seventh_deck(colors=2)
    assert deck[:7] == [1, 5, 8, 1, 5, 8, 2]
    simulator = deal(deck, preset="small")
    game = play_out(simulator, last)
    assert len(game.moves) == 36 and column(simulator, "ended_by") == CARDS
    assert game.hashes() == ("26282e5e713cc6f5", "a28a281a0c322858")
    game = play_out(deal(deck, preset="small"), mix)
    assert (game.moves, game.rewards) == ([3, 2], [1, -1])
    assert game.hashes()[0] == "459dd3ec0a99dfeb"


PERFECT = {2: ("7aeb7065d3b4fa49", 16), 3: ("68571c4fd8ae304c", 11), 4: ("ce4a5e29e20b4f35", 10),
           5: ("fdba0ab5795ed556", 6)}  # fmt: skip
PERFECT_AFTER_A_HINT = {2: "706c172f746d975f", 3: "c61eb6831335c32c", 4: "ab97ae58bab5da29",
                        5: "9ed6951c7ff6301f"}  # fmt: skip


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_perfect_game_brings_a_reward_with_every_card(deal: Make, players: int) -> None:
    simulator = deal([0] * 50, player_count=players)
    hand_size = simulator.parameters["hand_size"]
    deck = games.perfect_deck(players, hand_size, 5, 5)
    if players == 2:
        assert deck[:25] == [0, 2, 4, 6, 8, 1, 3, 5, 7, 9, *range(10, 25)]
        assert deck[25:31] == [0, 0, 1, 2, 3, 5]
    games.inject_decks(simulator, [deck])
    game = play_out(simulator, oldest)
    assert game.rewards == [1] * 25 and column(simulator, "ended_by") == WON
    assert set(game.tokens) == {8} and not game.token_moves
    assert (game.hashes()[0], game.deck_left) == PERFECT[players]


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_perfect_game_after_a_hint_brings_the_token_back(deal: Make, players: int) -> None:
    hand_size = 5 if players < 4 else 4
    simulator = deal(games.perfect_deck(players, hand_size, 5, 5, hints=1), player_count=players)
    game = play_out(simulator, hint_then_oldest)
    assert len(game.moves) == 26 and sum(game.rewards) == 25
    assert game.tokens == [8, *[7] * 5, *[8] * 20] and game.token_moves == [6]
    assert game.hashes()[0] == PERFECT_AFTER_A_HINT[players]


# ---- the first moves, bit by bit


def test_start_of_every_seventh_card(deal: Make) -> None:
    simulator = deal(seventh_deck())
    assert simulator.get("hands.card")[0, :5].tolist() == [1, 5, 8, 11, 15]  # R2 Y1 Y4 G2 W1
    assert simulator.get("hands.card")[0, 5:10].tolist() == [18, 22, 0, 4, 7]  # W4 B3 R1 R5 Y3
    row = simulator.observe().obs[0, 0]
    expected = [18, 47, 50, 79, 107, *range(127, 167), *range(192, 203)]
    assert np.flatnonzero(row[:308]).tolist() == expected
    assert row.sum() == 306
    cards = row[308:].reshape(10, 35)
    assert cards[:, :25].all() and not cards[:, 25:].any()


def test_hint_shows_in_the_last_move_and_in_the_knowledge(deal: Make) -> None:
    simulator = deal(seventh_deck())
    rows = act(simulator, 11).obs[0]  # yellow: of player 1's cards the last
    assert np.flatnonzero(rows[0, 253:308]).tolist() == [0, 4, 7, 9, 22]
    assert np.flatnonzero(rows[1, 253:308]).tolist() == [1, 4, 6, 9, 22]
    cards = rows[0, 308:].reshape(10, 35)[5:]
    assert np.flatnonzero(cards[4]).tolist() == [5, 6, 7, 8, 9, 26]
    for card in cards[:4]:
        assert np.flatnonzero(card).tolist() == [*range(5), *range(10, 25)]
    assert (rows[1, 308:].reshape(10, 35)[:5] == cards).all()


# ---- masks, turns, the no-op


@pytest.mark.parametrize(
    ("actions", "culprit"),
    [
        ([[5, 20], [3, 20]], "agent 0 in world 1"),  # no discard at full tokens
        ([[20, 20], [5, 20]], "agent 0 in world 0"),  # the no-op on turn
        ([[5, 20], [5, 7]], "agent 1 in world 1"),  # a move not on turn
    ],
)
def test_illegal_moves_are_counted_and_replaced(
    make_simulator: Make, actions: list[list[int]], culprit: str
) -> None:
    good = make_simulator("Hanabi-v0", 2)
    good.reset(seed=5)
    expected = good.step([[5, 20], [5, 20]])  # playing the oldest card is the lowest legal move
    simulator = make_simulator("Hanabi-v0", 2)
    simulator.reset(seed=5)
    outputs = simulator.step(actions)
    assert (outputs.obs == expected.obs).all() and (outputs.reward == expected.reward).all()
    with pytest.raises(ValueError, match=f"1 action was illegal.*{culprit}"):
        simulator.check()
    simulator.check()  # told once
    strict = make_simulator("Hanabi-v0", 2, strict=True)
    strict.reset(seed=5)
    with pytest.raises(ValueError, match=culprit):
        strict.step(actions)


# ---- options


def test_a_random_player_begins_if_asked(make_simulator: Make) -> None:
    simulator = make_simulator("Hanabi-v0", 3_000, player_count=3, random_start_player=True)
    outputs = simulator.reset(seed=6)
    counts = outputs.agent_active.sum(axis=0)
    assert counts.sum() == 3_000 and (abs(counts - 1_000) < 150).all()
    # The deal begins with player 0 all the same.
    deck, hands = simulator.get("deck.card"), simulator.get("hands.card")
    assert (deck[:, :15] == hands[:, :15]).all()


def test_minimal_is_the_card_knowledge_without_its_last_section(make_simulator: Make) -> None:
    whole = make_simulator("Hanabi-v0", 8, player_count=3)
    part = make_simulator("Hanabi-v0", 8, player_count=3, observation_type="minimal")
    for step in random_course(whole, part):
        assert (step[0].obs[..., :431] == step[1].obs).all()
        assert (step[0].state == step[1].state).all()


def test_seer_is_told_everything_but_sees_no_own_cards_in_the_hands(make_simulator: Make) -> None:
    plain = make_simulator("Hanabi-v0", 8, player_count=3)
    seer = make_simulator("Hanabi-v0", 8, player_count=3, observation_type="seer")
    for step in random_course(plain, seer):
        assert (step[0].obs[..., :431] == step[1].obs[..., :431]).all()
        cards, told = seer.get("hands.card"), seer.get("hands.told")
        for observer in range(3):
            for offset in range(3):
                seat = (observer + offset) % 3
                shown = step[1].obs[:, observer, 431:].reshape(8, 3, 5, 35)[:, offset]
                own = slice(5 * seat, 5 * seat + 5)
                held = (told[:, own] & 4 != 0)[..., None]
                one_hots = [np.eye(25)[cards[:, own]], np.eye(5)[cards[:, own] // 5],
                            np.eye(5)[cards[:, own] % 5]]  # fmt: skip
                assert (shown == np.concatenate(one_hots, axis=-1) * held).all()


def random_course(*simulators: Simulator, steps: int = 60) -> Any:
    """Random legal moves, the same for all simulators; yields what all of them show."""
    random = np.random.default_rng(7)
    outputs = [simulator.reset(seed=8) for simulator in simulators]
    yield outputs
    for _ in range(steps):
        mask = outputs[0].action_mask
        actions = (mask * random.random(mask.shape)).argmax(axis=-1)
        outputs = [simulator.step(actions) for simulator in simulators]
        yield outputs


@pytest.mark.parametrize("players", [2, 3, 5])
@pytest.mark.parametrize("preset", ["full", "small"])
def test_beliefs_weigh_plausible_cards_by_their_hidden_copies(
    make_simulator: Make, preset: str, players: int
) -> None:
    options = {"preset": preset, "player_count": players}
    bits = make_simulator("Hanabi-v0", 16, observation="dict", **options)
    beliefs = make_simulator("Hanabi-v0", 16, belief="v0", observation="dict", **options)
    seen = 0.0
    for plain, weighed in random_course(bits, beliefs):
        for name, view in plain.obs.items():
            if name != "knowledge":
                assert weighed.obs[name].dtype == np.float32
                assert (weighed.obs[name] == view).all()
        expected = weighed_knowledge(plain.obs, *plain.obs["fireworks"].shape[-2:])
        assert np.abs(weighed.obs["knowledge"] - expected).max() < 1e-6
        seen = max(seen, np.ptp(expected[expected > 0]))
    assert seen > 0.5  # not all probabilities are alike


def weighed_knowledge(obs: dict[str, Any], colors: int, ranks: int) -> Any:
    """Recompute the belief section from the bits of all other sections."""
    copies = np.array([3, *[2] * (ranks - 2), 1])
    starts = np.concatenate([[0], np.cumsum(copies)])
    gone = np.stack([obs["discards"][..., a:b].sum(-1) for a, b in itertools.pairwise(starts)], -1)
    tops = np.where(obs["fireworks"].any(-1), obs["fireworks"].argmax(-1) + 1, 0)
    played = np.arange(ranks) < tops[..., None]
    counts = (copies - gone - played).reshape(*tops.shape[:-1], 1, 1, colors * ranks)
    knowledge = obs["knowledge"].astype(np.float64)
    weighed = knowledge[..., : colors * ranks] * counts
    total = weighed.sum(-1, keepdims=True)
    knowledge[..., : colors * ranks] = weighed / np.where(total > 0, total, 1)
    return knowledge


# ---- what others read


@pytest.mark.parametrize("players", [2, 4])
def test_state_is_all_hands_and_the_public_part(make_simulator: Make, players: int) -> None:
    simulator = make_simulator("Hanabi-v0", 8, player_count=players)
    hand = 25 * simulator.parameters["hand_size"]
    for (outputs,) in random_course(simulator):
        own = outputs.obs[:, 1, (players - 2) * hand : (players - 1) * hand]  # player 0's, by 1
        rest = slice(hand * players, outputs.obs.shape[-1] + hand)
        assert (outputs.state[:, :hand] == own).all()
        assert (outputs.state[:, hand : rest.stop] == outputs.obs[:, 0]).all()
        turn = outputs.state[:, rest.stop : rest.stop + players]
        assert (turn == outputs.agent_active).all()
        turns_left = simulator.get("table.turns_left")
        assert (outputs.state[:, -players:] == (np.arange(players) < turns_left)).all()


def test_text_hides_the_viewers_cards_alone(deal: Make) -> None:
    simulator = deal(seventh_deck())
    act(simulator, 11)
    everything, own = (strip(simulator.text(0, viewer)) for viewer in (-1, 0))
    assert "R2" in everything and "W4" in everything and "Y3" in everything
    assert "R2" not in own and own.count("??") == 5 and "Y3   [Y] 12345" in own
    assert "player 0 told player 1 Y: cards 4" in own
    assert "information 7   lives 3   deck 40" in own


def test_the_picture_of_a_player_hides_its_cards_and_no_others(make_simulator: Make) -> None:
    game = make_simulator("Hanabi-v0", 1, player_count=3)
    game.reset(seed=4)

    def seen() -> list[Any]:
        return [game.render(0, size=(180, 320), view=view) for view in (None, "agent:0", "agent:1")]

    before = seen()
    cards = game.get("hands.card")
    other = cards.copy()
    other[0, :5] = (other[0, :5] + 1) % 25  # of player 0
    game.set("hands.card", other)
    whole, own, partner = seen()
    assert np.array_equal(own, before[1])
    assert not np.array_equal(whole, before[0]) and not np.array_equal(partner, before[2])
    with pytest.raises(ValueError, match="3 agents to look with, got 'agent:3'"):
        game.render(0, view="agent:3")
    for view in ("perspective", "agent:", "agent:x", "agent:-1", "agent:0000000"):
        with pytest.raises(ValueError, match="seen from above"):
            game.render(0, view=view)


def strip(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_actions_have_names_in_the_order_of_their_numbers(make_simulator: Make) -> None:
    names = make_simulator("Hanabi-v0", 1, preset="small", player_count=3).action_names()
    assert names == [
        "discard card 0", "discard card 1", "play card 0", "play card 1",
        "tell player +1 colour R", "tell player +1 colour Y",
        "tell player +2 colour R", "tell player +2 colour Y",
        *(f"tell player +{k} rank {rank}" for k in (1, 2) for rank in (1, 2, 3, 4, 5)),
        "wait",
    ]  # fmt: skip
