"""Overcooked played by script: whole games whose every byte was recorded from the reference.

Letters N S E W . I are actions 0 to 5. A game's hash is the SHA-256 of the observations at the
start and after each step, player 0 then player 1, as bytes in [x][y][plane] order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import numpy as np
import pytest

from gpu_envs import Simulator

Make = Callable[..., Simulator]

# Pseudo-random actions, 400 steps: layout, then shaped sum and hash for new and for old dynamics,
# then final cells and facings.
RANDOM_GAMES = [
    (
        "cramped_room",
        {"new": (8, "2d5e97961581df9c"), "old": (6, "b9b896ebc7bb611c")},
        ((1, 2), (2, 1)),
    ),
    (
        "asymmetric_advantages",
        {"new": (6, "e9f5115d8152577f"), "old": (6, "ed7db5cb2865be76")},
        ((5, 3), (2, 2)),
    ),
    (
        "coordination_ring",
        {"new": (8, "c39275de39339309"), "old": (3, "70b9deca3dfd5e69")},
        ((1, 3), (1, 1)),
    ),
    (
        "forced_coordination",
        {"new": (16, "c27f9d13964a5a6b"), "old": (6, "7df5460fbcd21a70")},
        ((3, 3), (1, 1)),
    ),
    (
        "counter_circuit",
        {"new": (3, "e2fb1cf167900901"), "old": (3, "fd918355f36282fd")},
        ((3, 3), (2, 3)),
    ),
]

# Layout, dynamics, steps at which a soup pays 20, shaped sum, hash, the two players' actions.
SCRIPTED_GAMES = [
    (
        "cramped_room",
        "new",
        (64, 113, 138),
        48,
        "c6859372b1cde64b",
        "NWEWIENIEEEEEEEIWIEEINIWWEEENENIIISWSIWINESWEWSINEEE.SSSSS.NISESINNEIW"
        "NIINSWIEWENIIII.SSSWSWINWIIEINISWIESIWSINIENISSSSWSIEEENESNIEWNIISESIW",
        "EINISNEIWWWWWWWWWNIEN.IWNIIIIEWWWWWNIIIIIIIIIIIIIIISSNNNNNNNNNNIEIWNIW"
        "ISW.EEEIWWNSWIENNN.NIIIENIEIWWWWNIEIWNIENISIWNNNNNIISSSSIEIIIIINWWNIWN",
    ),
    (
        "asymmetric_advantages",
        "new",
        (48, 124, 130),
        51,
        "0b0088c1ad7df3c9",
        "WWNIWINIWEWIINIWIISEEINSWWSINWIENISWSINWIEEN.EWEISWSWENWNINWINIWINISWI"
        "SINWIIIIIIIIIIIIIIIESIWS.WIIISIWIIIESWIINWI.IWE.NIIENEISWWNIENIIWSWINI",
        "NNWISEEIWIEESWWNNWSSEISINIISIINWNWI.SSEEIWEWNWNWNIINSE.SE.NWWNWISSNEEI"
        "IWWNWINSESEIWWIWESNWNWISIWIIEEIIWESEENISEIINEIISINEIIIIISEINIWWSEESINE",
    ),
    (
        "coordination_ring",
        "new",
        (129,),
        51,
        "a062df5571aaa4f3",
        "WSSSSINNEEIWWSSWINNEENISWWSSIEEN.NNNIIISWISWWWIEENNNNNNNNNINNNIWWSSIEE"
        "NNEEWENISWINNNEN.IIIIIISEIINII.EIII.INIWSWIESWWNWINEENISSWSINIIEWWINWW",
        "SWINEEIWWIEE.NNISSEISN.NNEINIEIIIIIWWSWINE.EISNIISSSSISSSSISSWWSSESIW."
        "WSINNEEEENEINIIWWNSESWNWINIIEEEEEEEEEEEEIN.EISSWISIWNWIEIIINISEINEENIW",
    ),
    (
        "forced_coordination",
        "new",
        (86, 138),
        40,
        "7fd517146fb8d613",
        "SEWIIIINENSEIWIEIN.IWINISSNNWINI.IISWIIIIIIIIINWIEIWIIIWSWINEIWIIISIWI"
        "N.IIIIEISWINIWSSINNWIIEINIWINIWIIIEIENISSWIIINNWIIIIIIIISSWIIINNEISSIW",
        "WIEWEIN.W.IEIWIENIE.NIEIEENWINIEIN.SWINEISSWISWESINWIEINIEIINESEIIIWSI"
        "ENEIWINEISWIENEIIIIIIIINEIIIIIINISSWIEIIESIWI.EIWIEIIINEINWINISSWIEIWI",
    ),
    (
        "counter_circuit",
        "new",
        (93,),
        31,
        "50dc271282097c28",
        "SIEEENNWWWWNIWNSSESESIWNWNNEEENIWWNNWSINENIEEEEEEEEEEIEEEEEEEE.EEEEEEE"
        "ESIWSWINNSNSIEESIWWNNEENIIWW.SWIEINEENIIIIESIEESSSSNWWWWWSWSNWINWNIIIS",
        "WWSSNSNSEEESIEENNWWN.IEESSWWSIEENEINWWNIIIWWWWWWWWWWWWWWWWWWWWWWWWNWWW"
        "WWWWWSSSSSWINEE.ENIEESEISWWSIEENNWWNIEESSWSWSIEENNNNNWWNISIWNIEEESEISN",
    ),
    (
        "cramped_room",
        "old",
        (96, 130, 135),
        57,
        "c5a126994eab497a",
        "NWIEEENIEEEEEE.ESINSWNNEWNNNNISIENNNNNIS.IENENEIWNIWWWWWWWWWINE.IWWNII"
        "WENIIIIIIIWNIIIIIIIENIIWNWNIENIWIEEINIWSIENIIIIIIIIIIIIIIIESINEIWNINEI",
        "EIWNIEIWWWWWWW.WWNISWSSWINIWIENIIIIISWNIESNIW.N.WIEEENEEEEEEEESENIWSIW"
        "IINEEEEEEEEEEEEEEEESENISESINEIWWNIENWNEWWNIEEI.EEESENNNSNNNNISIESIWWNW",
    ),
    (
        "asymmetric_advantages",
        "old",
        (45, 81, 120, 121),
        62,
        "9f00dfa28c0d0b3e",
        "WNISWINIWINIEWINIWINIESIWSINWIIIIIIIISNWIEENEISWWNIWINIWISINWIIIIIIIII"
        "SSNWIIIEENEISWWNIENIIWISIESIWIIIIIINWIIIIS.WINEENEISSWWSIESIIIIIIIIIII",
        "NNWISEESEINWWE.WN.WISEEEW.EIIIIIWNIEESINEIWNIIIWIENIEIWWNWISEES.NEIIIS"
        "WSIWNNWISEEIWWNWISSEEEIWSINEEIWWNNSWIEEWEISEINEIIINIWWNWINISNISWINWISE",
    ),
    (
        "coordination_ring",
        "old",
        (103, 120),
        40,
        "210d81d7bf977da1",
        "WSISSWIEENNNNEISSWWWSINNEEWNIIESNNNNNNNNNNNNNNNNNNSEENNIWWNIEE.SWSIWSW"
        "INEEEEEEEEENEEEEEEEEEEEEEENISSEWSIWNSINEIINEEEEIWWSSSSSSISSIEENNEIEWSS",
        "SWINEENNINSEWWSSWIENNEEI.WWIWWWWSSSSSSSSSSSSSSSSSSSSINNISSWIEIENNNIWSI"
        "ENIIINEIWWWWWWWWWWWWWWWEWSSWWNWINEENESNEWNIIEISSWSIWWWWWWIEENNEWEEEEEN",
    ),
    (
        "forced_coordination",
        "old",
        (126, 138),
        31,
        "c2b28a2ff363d0b7",
        "WIIEWIIIIIIEISWINENIWIIIIIIIIEIWIIINIWIEIWIIIIIISNWINIWSNWINIEIWIIEIIN"
        "IWIIEIWNIIII.IIIEINIII.WIIEIIIININEISEIIWIIIIEIWINEWNISSIWINNEEISSNSIE",
        "WIEINWINEISWIEIIINIWINIIIIEIWIEWEIWIEIWWINIIIIEINIIIEISSWISIWINEISWISI"
        "III.INIEIEIIIIIIIIINISSWIE.SIIIWNEISSNEIIIISEINNWINIEISWINIIIIIEINSISN",
    ),
    (
        "counter_circuit",
        "old",
        (128, 136),
        37,
        "cd6c5fb6ea9b8346",
        "SIWWWNNEENIWWSSNSEESIWWNNISSSEEE.ENIWWWNNEENIWWSSEEESIEENNWWNIWWWWWIEE"
        "IESSEINNWWNIEESSWWSIEEWEWENNSNWWWWWWWNI.IIIIWWWNIESIEEENSEISWWSIEIENNN",
        "EEESSWWSIEENNWWNIEESWSWWSINIWSIEEEIWWSIEENNWWWNIEEWEWWWWSWINEEENI.IINS"
        "IWWNIISSEESIWWNNEE.ESIINIIIIIIIIIIIIWSISNWENIWWSEWINEINIIEENIESESEISSS",
    ),
]

# One soup in cramped_room, served by player 0 alone.
ONE_SOUP = {
    "new": "NWIENIWIENIWIENIIWSSINEN............ISESI",
    "old": "NWIENIWIENIWIENI.WSSINEN...........ISESI",
}


def actions_of(letters: str) -> list[int]:
    return ["NSEW.I".index(letter) for letter in letters]


def pseudo_random_actions() -> np.ndarray:
    """The 400 pairs of actions of a linear congruential generator."""
    state, actions = 12345, []
    for _ in range(800):
        state = (1103515245 * state + 12345) % 2**31
        actions.append(min((state >> 16) % 8, 5))
    return np.array(actions).reshape(400, 2)


def play(simulator: Simulator, actions: np.ndarray) -> tuple[str, np.ndarray, np.ndarray]:
    """Hash of the observations, and the reward parts (steps, players, 2) and obs (steps, ...)."""
    seen = [simulator.reset(seed=0).obs[0]]
    parts = []
    for pair in actions:
        outputs = simulator.step([pair.tolist()])
        seen.append(outputs.obs[0].copy())
        parts.append(outputs.reward_parts[0].copy())
        expected = parts[-1][:, 0] + parts[-1][:, 1]
        assert (outputs.reward[0] == expected).all() and not outputs.terminated.any()
    digest = hashlib.sha256(b"".join(row.tobytes() for row in seen)).hexdigest()[:16]
    return digest, np.array(parts), np.array(seen)


@pytest.mark.parametrize("dynamics", ["new", "old"])
@pytest.mark.parametrize(("layout", "results", "cells"), RANDOM_GAMES)
def test_pseudo_random_game_equals_the_recorded_one(
    make_simulator: Make,
    layout: str,
    results: dict[str, tuple[int, str]],
    cells: tuple[tuple[int, int], ...],
    dynamics: str,
) -> None:
    simulator = make_simulator(
        "Overcooked-v0", 1, layout=layout, dynamics=dynamics, autoreset_mode="Disabled"
    )
    digest, parts, seen = play(simulator, pseudo_random_actions())
    assert (int(parts[..., 1].sum()), digest) == results[dynamics]
    assert (parts[..., 0] == 0).all()
    height = seen.shape[3]
    assert simulator.get("chefs.cell")[0, :2].tolist() == [x * height + y for x, y in cells]
    assert simulator.get("chefs.facing")[0, :2].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("layout", "dynamics", "sold", "shaped", "digest", "first", "second"), SCRIPTED_GAMES
)
def test_scripted_game_equals_the_recorded_one(
    make_simulator: Make,
    layout: str,
    dynamics: str,
    sold: tuple[int, ...],
    shaped: int,
    digest: str,
    first: str,
    second: str,
) -> None:
    simulator = make_simulator("Overcooked-v0", 1, layout=layout, dynamics=dynamics)
    actions = np.array([actions_of(first), actions_of(second)]).T
    assert actions.shape == (140, 2)
    found, parts, _ = play(simulator, actions)
    assert found == digest
    assert parts[..., 1].sum() == shaped
    for player in (0, 1):  # both are paid for every soup
        assert np.flatnonzero(parts[:, player, 0]).tolist() == list(sold)
        assert (parts[list(sold), player, 0] == 20).all()


def one_soup(make: Make, letters: str, **parameters: object) -> tuple[np.ndarray, np.ndarray]:
    simulator = make("Overcooked-v0", 1, **parameters)
    actions = np.array([actions_of(letters), [4] * len(letters)]).T
    _, parts, seen = play(simulator, actions)
    return parts, seen[:, 0]


def earned(parts: np.ndarray) -> dict[int, int]:
    """What player 0 got for its acts, by step."""
    assert (parts[:, 1, 1] == 0).all()
    return {int(step): int(parts[step, 0, 1]) for step in np.flatnonzero(parts[:, 0, 1])}


def test_one_soup_with_every_reward_accounted_for_under_new_dynamics(make_simulator: Make) -> None:
    parts, seen = one_soup(make_simulator, ONE_SOUP["new"])
    assert earned(parts) == {5: 3, 10: 3, 15: 3, 20: 3, 36: 5}
    assert np.flatnonzero(parts[:, 0, 0]).tolist() == [40] and parts[40, 0, 0] == 20
    pot = seen[1:, 2, 0]  # after action t
    assert [int(pot[t, 16]) for t in (4, 5, 10, 15, 16)] == [0, 1, 2, 3, 0]
    assert (pot[16, 18], pot[16, 20]) == (3, 19)
    assert (pot[34, 20], pot[34, 21]) == (1, 0) and (pot[35, 20], pot[35, 21]) == (0, 1)


def test_one_soup_with_every_reward_accounted_for_under_old_dynamics(make_simulator: Make) -> None:
    parts, seen = one_soup(make_simulator, ONE_SOUP["old"], dynamics="old")
    assert earned(parts) == {5: 3, 10: 3, 15: 3, 20: 3, 35: 5}
    assert np.flatnonzero(parts[:, 0, 0]).tolist() == [39]
    pot = seen[1:, 2, 0]
    assert (pot[15, 18], pot[15, 20]) == (3, 19)
    assert (pot[33, 21], pot[34, 21]) == (0, 1)


def test_dish_in_front_of_a_cooking_pot_changes_nothing(make_simulator: Make) -> None:
    patient = one_soup(make_simulator, ONE_SOUP["new"])
    eager = one_soup(make_simulator, ONE_SOUP["new"].replace("." * 12, "I" * 12))
    assert (patient[0] == eager[0]).all() and (patient[1] == eager[1]).all()


def test_soup_of_one_onion_cooks_and_pays_nothing_where_nobody_ordered_it(
    make_simulator: Make,
) -> None:
    letters = "NWIENI" + "I" + "WSSINEN" + "." * 15 + "ISESI"
    parts, seen = one_soup(make_simulator, letters)
    assert earned(parts) == {5: 3, 10: 3, 29: 5} and (parts[..., 0] == 0).all()
    assert (seen[8:28, 2, 0, 18] == 1).all() and (seen[8:28, 2, 0, 16] == 0).all()
    assert (seen[-1, :, :, 16:25] == 0).all()  # delivered, and gone
    parts, _ = one_soup(make_simulator, letters, orders="O,OOO")
    assert parts[-1, 0, 0] == 20


def test_policy_that_never_interacts_earns_nothing(make_simulator: Make) -> None:
    simulator = make_simulator("Overcooked-v0", 20, autoreset_mode="Disabled")
    simulator.reset(seed=0)
    random = np.random.default_rng(0)
    for step in range(400):
        outputs = simulator.step(random.integers(0, 5, (20, 2)))
        assert (outputs.reward == 0).all() and (outputs.truncated == (step == 399)).all()
    assert (outputs.episode_return == 0).all() and (outputs.episode_length == 400).all()
