"""Hanabi in the place of PettingZoo's: the same interface, and the same games on the same decks."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test
from pettingzoo.utils import wrappers

from gpu_envs import hanabi_v0

CASES: list[dict[str, Any]] = [
    {},
    {"players": 3},
    {"players": 4},
    {"players": 4, "hand_size": 4},
    {"players": 5, "observation_type": "seer"},
    {"colors": 2, "hand_size": 2, "max_information_tokens": 3, "max_life_tokens": 1},
    {"observation_type": "minimal"},
]


def test_keywords_have_pettingzoos_defaults() -> None:
    game = hanabi_v0.raw_env(players=4)
    parameters = game.simulator.parameters
    wanted = {
        "color_count": 5,
        "rank_count": 5,
        "player_count": 4,
        "hand_size": 5,
        "max_information_tokens": 8,
        "max_life_tokens": 3,
        "observation_type": "card_knowledge",
        "random_start_player": False,
        "noop": False,
    }
    assert {name: parameters[name] for name in wanted} == wanted
    assert hanabi_v0.parallel_env(players=4).simulator.parameters == {**parameters, "noop": True}


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({"colors": 0}, ValueError, "colors must be between 1 and 5"),
        ({"players": 6}, ValueError, "players must be between 2 and 5"),
        ({"hand_size": 0}, ValueError, "hand_size must be between 1"),
        ({"max_life_tokens": 0}, ValueError, "max_life_tokens must be between 1"),
        ({"ranks": 2.0}, TypeError, "ranks must be an int"),
        ({"colours": 3}, TypeError, "unexpected keyword argument"),
        ({"player_count": 3}, TypeError, "player_count .*: use players="),
        ({"color_count": 3}, TypeError, "color_count .*: use colors="),
        ({"rank_count": 3}, TypeError, "rank_count .*: use ranks="),
        ({"preset": "small"}, TypeError, "preset .*: use colors=, ranks=, players="),
        ({"observation_type": "all"}, ValueError, "observation_type"),
        ({"render_mode": "jpeg"}, ValueError, "'ansi', 'human', 'rgb_array'"),
    ],
)
def test_bad_keywords_are_refused_by_their_names(keywords, error, message) -> None:
    with pytest.raises(error, match=message):
        hanabi_v0.env(**keywords)


def test_illegal_move_ends_the_game_with_minus_one() -> None:
    env = hanabi_v0.env()
    env.reset(seed=0)
    env.step(int(np.flatnonzero(env.last()[0]["action_mask"] == 0)[0]))
    ends = {}
    for agent in env.agent_iter():
        _, reward, terminated, truncated, _ = env.last()
        ends[agent] = (reward, terminated, truncated)
        env.step(None)
    assert ends == {"player_0": (-1.0, True, True), "player_1": (0.0, True, True)}


def test_raw_game_refuses_illegal_moves_and_stays_as_it_was() -> None:
    env = hanabi_v0.raw_env()
    env.reset(seed=0)
    before = env.state()
    with pytest.raises(ValueError, match="action 0 of player_0 is illegal"):
        env.step(0)  # nothing to discard for while all tokens are there
    assert np.array_equal(env.state(), before)


def test_native_termination_equals_pettingzoos_wrapper() -> None:
    options = {"players": 3, "max_life_tokens": 20}
    plain = hanabi_v0.raw_env(illegal="terminate", **options)
    wrapped = wrappers.TerminateIllegalWrapper(hanabi_v0.raw_env(**options), illegal_reward=-1)
    logs = []
    for env in (plain, wrapped):
        env.reset(seed=5)
        log = []
        for step, agent in enumerate(env.agent_iter()):
            observation, *rest = env.last()
            log.append((agent, *rest[:3]))
            legal, illegal = (np.flatnonzero(observation["action_mask"] == k) for k in (1, 0))
            wanted = illegal if step >= 7 and illegal.size else legal
            env.step(None if rest[1] or rest[2] else int(wanted[0]))
        logs.append(log)
    assert logs[0] == logs[1]
    assert logs[0][-1][2:] == (True, True)


@pytest.mark.parametrize("keywords", CASES)
def test_api_test_passes(keywords) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for known in ("unknown reset option", "Observation space for", "Observation is not a"):
            warnings.filterwarnings("ignore", message=known)
        api_test(hanabi_v0.env(**keywords), num_cycles=200)


# Against PettingZoo's own


@pytest.fixture
def theirs() -> Any:
    pytest.importorskip("shimmy", reason="needs pettingzoo[classic]: Shimmy and OpenSpiel")
    pytest.importorskip("pyspiel", reason="needs OpenSpiel")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pettingzoo.classic import hanabi_v5
    return hanabi_v5


@pytest.mark.parametrize("keywords", CASES)
def test_interface_is_pettingzoos(theirs, keywords) -> None:
    left, right = theirs.env(**keywords), hanabi_v0.env(**keywords)
    assert left.possible_agents == right.possible_agents
    for agent in left.possible_agents:
        assert left.action_space(agent) == right.action_space(agent)
        spaces = left.observation_space(agent), right.observation_space(agent)
        assert spaces[0].spaces.keys() == spaces[1].spaces.keys()
        for key, space in spaces[0].spaces.items():
            assert space.shape == spaces[1][key].shape
            assert space.dtype == spaces[1][key].dtype


@pytest.mark.parametrize("keywords", CASES)
def test_games_on_the_same_deck_are_equal(theirs, keywords) -> None:
    left, right = theirs.env(**keywords), hanabi_v0.env(**keywords)
    for seed in range(5):
        moves, deck = _finished_game(left, seed)
        left.reset(seed=seed)
        right.reset(seed=seed)
        _deal(right.unwrapped, deck)
        for move in moves:
            assert left.agent_selection == right.agent_selection
            mine, yours = right.last(), left.last()
            over = yours[2] or yours[3]
            if not over:
                for agent in left.agents:
                    assert np.array_equal(
                        left.observe(agent)["observation"], right.observe(agent)["observation"]
                    )
                    assert np.array_equal(
                        left.observe(agent)["action_mask"], right.observe(agent)["action_mask"]
                    )
            assert mine[1:4] == yours[1:4]
            left.step(move)
            right.step(move)
        assert left.agents == right.agents == []


def _finished_game(env: Any, seed: int) -> tuple[list[int | None], list[int]]:
    """Play at random; return what was passed to `step`, and the cards in the order dealt."""
    env.reset(seed=seed)
    state = env.unwrapped.hanabi_env.game_state
    random = np.random.default_rng(seed)
    moves: list[int | None] = []
    for _ in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        legal = np.flatnonzero(observation["action_mask"])
        moves.append(None if terminated or truncated else int(random.choice(legal)))
        env.step(moves[-1])
    return moves, [act.action for act in state.full_history() if act.player < 0]


def _deal(env: Any, dealt: list[int]) -> None:
    """Let a game that has just been reset begin with a deck; what was never dealt stays."""
    simulator = env.simulator
    hands, deck = simulator.get("hands.card"), simulator.get("deck.card")
    count = simulator.parameters["player_count"] * simulator.parameters["hand_size"]
    hands[0, :count] = dealt[:count]
    deck[0, : len(dealt)] = dealt
    simulator.set("hands.card", hands)
    simulator.set("deck.card", deck)
    shown = simulator.observe()
    env._adopt(shown)
