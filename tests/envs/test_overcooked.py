"""Overcooked: planes against an independent re-encoding, whole games, random starts, faces."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from gpu_envs import Simulator
from tests.envs.kitchens import (
    CLASSIC,
    CRAMPED,
    DISH,
    INTERACT,
    LAYOUTS,
    MARKS,
    ONION,
    SCHELLING,
    SOUP,
    TOMATO,
    Array,
    Kitchens,
    Make,
    check_encoding,
    layout_of,
    lively,
    stir,
)

# ---- planes


@pytest.mark.parametrize(
    ("layout", "player_count"),
    [(CRAMPED, 1), (CRAMPED, 2), (CRAMPED, 3), (CRAMPED, 4), (SCHELLING, 4), (SCHELLING, 8)],
)
@pytest.mark.parametrize("dynamics", ["new", "old"])
def test_planes_equal_a_re_encoding_of_the_columns(
    make_simulator: Make, layout: str, player_count: int, dynamics: str
) -> None:
    simulator = make_simulator(
        "Overcooked-v0",
        20,
        layout=layout,
        dynamics=dynamics,
        player_count=player_count,
        extra_starts=True,
        cook_time=5,
        max_episode_steps=70,
    )
    random = np.random.default_rng(player_count)
    outputs = simulator.reset(seed=1)
    planes = (*Kitchens(simulator).place.shape, 5 * player_count + 16)
    assert outputs.obs.shape == (20, player_count, *planes)
    shaped = 0.0
    for _ in range(150):
        check_encoding(simulator, outputs.obs)
        outputs = simulator.step(lively(random, (20, player_count)))
        shaped += outputs.reward_parts[..., 1].sum()
    assert shaped > 0


def test_planes_of_forty_chefs_equal_a_re_encoding(make_simulator: Make) -> None:
    simulator = make_simulator(
        "Overcooked-v0", 2, layout=many_player_text(), player_count=40, max_episode_steps=60
    )
    outputs = simulator.reset(seed=1)
    assert outputs.obs.shape == (2, 40, 15, 17, 216)
    random = np.random.default_rng(40)
    for step in range(50):
        if step % 7 == 0:
            check_encoding(simulator, outputs.obs)
        outputs = simulator.step(lively(random, (2, 40)))
    environment = outputs.obs[:, :, :, :, 200:]
    assert (environment == environment[:, :1]).all()  # equal for all observers


def many_player_text() -> str:
    rows, marks = ["X" * 15], iter(MARKS)
    for k in range(8):
        rows.append("X" + "  ".join(next(marks) for _ in range(5)) + "X")
        rows.append("S TX PX OX DX S" if k < 7 else "X" * 15)
    return "\n".join(rows)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_named_layout_is_its_text_with_onion_soup(make_simulator: Make, layout: str) -> None:
    named = make_simulator("Overcooked-v0", 1, layout=layout)
    text = make_simulator("Overcooked-v0", 1, layout=LAYOUTS[layout] + "\n", orders="OOO")
    assert (named.reset(seed=0).obs == text.reset(seed=0).obs).all()
    assert named.parameters["orders"] == "OOO" and named.parameters["bonus_orders"] == ""
    assert named.parameters["layout"] == layout


def test_named_scaling_layout_is_its_text_with_its_recipes(make_simulator: Make) -> None:
    named = make_simulator("Overcooked-v0", 1, layout="many_player", player_count=0)
    text = make_simulator(
        "Overcooked-v0",
        1,
        layout=many_player_text(),
        player_count=40,
        orders="OOO,OOT,TTT,T",
        bonus_orders="TTT,OOT",
        onion_value=21,
        tomato_value=13,
        onion_time=15,
        tomato_time=7,
    )
    ours = {key: value for key, value in named.parameters.items() if key != "layout"}
    assert ours == {key: value for key, value in text.parameters.items() if key != "layout"}
    random = np.random.default_rng(0)
    assert (named.reset(seed=0).obs == text.reset(seed=0).obs).all()
    for _ in range(40):
        actions = lively(random, (1, 40))
        first, second = named.step(actions), text.step(actions)
        assert (first.obs == second.obs).all() and (first.reward == second.reward).all()


@pytest.mark.parametrize("dynamics", ["new", "old"])
@pytest.mark.parametrize("layout", CLASSIC)
def test_twenty_planes_follow_from_twenty_six(
    make_simulator: Make, layout: str, dynamics: str
) -> None:
    both = [
        make_simulator(
            "Overcooked-v0", 30, layout=layout, dynamics=dynamics, encoding=encoding, cook_time=9
        )
        for encoding in ("lossless26", "lossless20")
    ]
    random = np.random.default_rng(2)
    wide, narrow = (simulator.reset(seed=2) for simulator in both)
    cooked = 0
    for step in range(200):
        assert (narrow.obs == twenty_of(wide.obs, cook_time=9)).all()
        assert (narrow.reward == wide.reward).all()
        cooked += narrow.obs[..., 16].sum()
        if step % 20 == 19:
            stir(random, *both, recipes=(4, 8, 12))
        actions = lively(random, (30, 2))
        wide, narrow = (simulator.step(actions) for simulator in both)
    assert cooked > 0 and narrow.state.shape == (30, narrow.obs[0, 0].size + 2)


def twenty_of(obs: Array, cook_time: int) -> Array:
    """The 2019 planes out of the newer ones."""
    pot = obs[..., 10]
    cooked = pot * (obs[..., 18] > 0) * (cook_time - obs[..., 20].astype(int))
    planes = [obs[..., k] for k in (*range(10), 10, 11, 12, 14, 15)]
    planes += [pot * (obs[..., 16] + obs[..., 18]), cooked, (1 - pot) * obs[..., 21]]
    return np.stack([*planes, obs[..., 22], obs[..., 23]], axis=-1)


# ---- rules that hold of whole games


def test_onions_come_from_dispensers_and_leave_in_soups(make_simulator: Make) -> None:
    simulator = make_simulator("Overcooked-v0", 200, layout=SCHELLING, player_count=4, cook_time=3)
    simulator.reset(seed=4)
    random = np.random.default_rng(4)
    before, served = Kitchens(simulator), 0
    for step in range(200):
        if step % 20 == 0:
            stir(random, simulator, recipes=(1, 4, 6, 9, 12))
            before = Kitchens(simulator)
        actions = lively(random, (200, 4))
        acts, ahead = actions == INTERACT, before.ahead()
        simulator.step(actions)
        after = Kitchens(simulator)
        taken = (acts & (ahead == "O") & (before.held == 0)).sum(axis=1)
        sold = acts & (ahead == "S") & (before.held >= SOUP)
        gone = np.where(sold, before.held % 16 // 4, 0).sum(axis=1)
        assert (after.onions() == before.onions() + taken - gone).all()
        before, served = after, served + int(sold.sum())
    assert served > 20


@pytest.mark.parametrize("layout", [CRAMPED, "XXPXX\nO 12D\nX   S\nXXXXX"])
def test_exchanging_the_players_exchanges_their_observations(
    make_simulator: Make, layout: str
) -> None:
    swapped = layout.translate(str.maketrans("12", "21"))
    simulators = [make_simulator("Overcooked-v0", 50, layout=text) for text in (layout, swapped)]
    random = np.random.default_rng(5)
    first, second = (simulator.reset(seed=5) for simulator in simulators)
    for _ in range(200):
        assert (first.obs == second.obs[:, ::-1]).all()
        assert (first.reward_parts == second.reward_parts[:, ::-1]).all()
        actions = lively(random, (50, 2))
        both = (actions == INTERACT).all(axis=1)
        actions[both, 1] = 4  # the order of interactions would matter
        first, second = simulators[0].step(actions), simulators[1].step(actions[:, ::-1].copy())


def test_rewards_are_made_of_their_parts(make_simulator: Make) -> None:
    own = make_simulator("Overcooked-v0", 40, cook_time=2, shaping_factor=0.5)
    total = make_simulator("Overcooked-v0", 40, cook_time=2, shaped_total=True)
    own.reset(seed=6), total.reset(seed=6)
    random, sold = np.random.default_rng(6), 0.0
    for step in range(400):
        if step % 20 == 0:
            stir(random, own, total, recipes=(8, 12))
        actions = lively(random, (40, 2))
        first, second = own.step(actions), total.step(actions)
        parts = first.reward_parts
        assert (parts == second.reward_parts).all()
        assert (parts[:, 0, 0] == parts[:, 1, 0]).all()
        assert (first.reward == parts[..., 0] + 0.5 * parts[..., 1]).all()
        assert (second.reward == parts[..., 0] + parts[..., 1].sum(axis=1, keepdims=True)).all()
        sold += parts[:, 0, 0].sum()
    assert (first.episode_return > 0).any() and sold > 0


# ---- random starts


def test_random_positions_are_uniform_over_pairs_of_floor_cells(make_simulator: Make) -> None:
    simulator = make_simulator("Overcooked-v0", 15_000, random_start_positions=True)
    simulator.reset(seed=7)
    cells = simulator.get("chefs.cell")[:, :2].astype(int)
    pairs, counts = np.unique(cells, axis=0, return_counts=True)
    assert len(pairs) == 30 and (pairs[:, 0] != pairs[:, 1]).all()
    assert set(pairs.reshape(-1)) == {4 * x + y for x in (1, 2, 3) for y in (1, 2)}
    assert abs(counts - 500).max() < 5 * np.sqrt(500)
    simulator.reset()
    assert (simulator.get("chefs.cell")[:, :2] != cells).any()


def test_random_objects_have_the_stated_probabilities(make_simulator: Make) -> None:
    simulator = make_simulator("Overcooked-v0", 40_000, random_start_objects=0.6)
    simulator.reset(seed=8)
    kitchens = Kitchens(simulator)
    kitchens.check()
    pot, left = kitchens.item[:, 2, 0], kitchens.left[:, 2, 0]

    def near(condition: Array, expected: float) -> None:
        assert abs(condition.mean() - expected) < 0.015, (condition.mean(), expected)

    near(pot > 0, 0.6)
    near(pot[pot > 0] >= SOUP, 0.6)
    assert (left == np.where(pot >= SOUP, 20, 0)).all()
    recipes = pot[pot > 0] % 16
    for onions in (1, 2, 3):
        near(recipes // 4 == onions, 1 / 3)
        for tomatoes in range(4 - onions):
            near(recipes == 4 * onions + tomatoes, 1 / 3 / (4 - onions))
    held = kitchens.held.reshape(-1)
    near(held > 0, 0.6)
    for item, share in ((DISH, 0.2), (ONION, 0.6)):
        near(held[held > 0] == item, share)
    near(held[held > 0] >= SOUP, 0.2)
    near(held[held >= SOUP] % 16 == 12, 1 / 3)


def test_random_starts_do_not_disturb_the_episode_that_follows(make_simulator: Make) -> None:
    simulator = make_simulator(
        "Overcooked-v0",
        30,
        layout=CRAMPED,
        random_start_positions=True,
        random_start_objects=0.5,
        max_episode_steps=9,
    )
    obs = simulator.reset(seed=9).obs
    random = np.random.default_rng(9)
    for _ in range(40):
        check_encoding(simulator, obs)
        obs = simulator.step(lively(random, (30, 2))).obs


# ---- faces


def _changes(simulator: Simulator, view: str | None = None) -> Callable[[], set[tuple[int, int]]]:
    """Return a function that lists the cells, column and row, that look unlike the last time.

    Row -1 is what stands over the kitchen.
    """
    kitchen, size = layout_of(simulator), simulator.picture_size()
    margin = 0.022 * min(size) + 1
    cell = (size[1] - 2 * margin) / len(kitchen[0])
    whole = cell * len(kitchen[0]) * size[0] / size[1]  # rows of pixels, in the picture's middle
    top = (size[0] + whole) / 2 - cell * len(kitchen)
    plain = simulator.render(size=size, view=view).astype(int)

    def changed() -> set[tuple[int, int]]:
        nonlocal plain
        now = simulator.render(size=size, view=view).astype(int)
        rows, columns = np.nonzero(np.abs(now - plain).max(axis=2) > 60)
        plain = now
        across, down = (columns + 0.5 - margin) // cell, (rows + 0.5 - top) // cell
        return {(int(x), int(max(y, -1))) for x, y in zip(across, down, strict=True)}

    return changed


def test_picture_shows_what_lies_cooks_and_is_held(make_simulator: Make) -> None:
    simulator = make_simulator("Overcooked-v0", 1, layout=SCHELLING, player_count=4)
    simulator.reset(seed=1)
    changed = _changes(simulator)

    item = simulator.get("cells.item")
    for column, row, value in ((0, 0, DISH), (0, 1, ONION), (3, 0, SOUP + 12)):  # a pot, the last
        item[0, 7 * column + row] = value
        simulator.set("cells.item", item)
        simulator.set("cells.left", 5 * (item >= SOUP))
        assert changed() == {(column, row)}
    simulator.set("cells.left", 0)
    assert changed() == {(3, 0)}  # done
    simulator.set("chefs.held", [[TOMATO, 0, 0, 0]])
    (chef,) = changed()
    assert chef == divmod(int(simulator.get("chefs.cell")[0, 0]), 7)


def test_picture_shows_score_timers_and_where_chefs_look(make_simulator: Make) -> None:
    simulator = make_simulator("Overcooked-v0", 1, layout=SCHELLING, player_count=4)
    simulator.reset(seed=1)
    item = simulator.get("cells.item")
    item[0, 7 * 3] = SOUP + 12
    simulator.set("cells.item", item)
    simulator.set("cells.left", 20 * (item >= SOUP))
    changed = _changes(simulator)
    simulator.set("cells.left", 19 * (item >= SOUP))
    assert changed() == {(3, 0)}
    simulator.set("chefs.facing", [[3, 0, 0, 0]])
    assert changed() == {divmod(int(simulator.get("chefs.cell")[0, 0]), 7)}
    simulator.set("board.score", 20)
    assert {row for _, row in changed()} == {-1}


def test_picture_shows_every_order_that_pays(make_simulator: Make) -> None:
    few, many = (
        make_simulator("Overcooked-v0", 1, layout=CRAMPED, orders=orders)
        for orders in ("OOO", "OOO,OOT,OTT,TTT,OO")
    )
    for simulator in (few, many):
        simulator.reset(seed=1)
    # The plates of two lines more stand over the kitchen.
    shapes = [rows / columns for rows, columns in (few.picture_size(), many.picture_size())]
    assert shapes[1] - shapes[0] == pytest.approx(0.5 / 5, abs=0.01)
    changed = _changes(few)
    few.set_parameters(delivery_reward=55)
    assert {row for _, row in changed()} == {-1}


def test_picture_for_a_chef_has_a_ring_around_it(make_simulator: Make) -> None:
    simulator = make_simulator("Overcooked-v0", 1, layout=SCHELLING, player_count=4)
    simulator.reset(seed=1)
    pictures = [
        simulator.render(view=view).astype(int) for view in (None, "top:0", "agent:0", "top:2")
    ]
    assert np.array_equal(pictures[1], pictures[2])
    assert not np.array_equal(pictures[0], pictures[1])
    assert not np.array_equal(pictures[1], pictures[3])


def test_text_shows_chefs_pots_orders_and_score(make_simulator: Make) -> None:
    simulator = make_simulator("Overcooked-v0", 2, layout=SCHELLING, player_count=4)
    simulator.reset(seed=1)
    simulator.set("chefs.held", [[ONION, TOMATO, DISH, SOUP + 12]])
    item = simulator.get("cells.item")
    item[:, 7 * 3] = SOUP + 9  # the upper pot, at (3, 0)
    simulator.set("cells.item", item)
    simulator.set("cells.left", item // (SOUP + 9) * 13)
    for viewer in (-1, 0, 3):
        text = simulator.text(world=1, viewer=viewer)
        for shown in ("\u25b20o", "\u25b21t", "\u25b22d", "\u25b23s", "P 13", "13 steps left"):
            assert shown in text
        assert "OOO pays 20" in text and "step 0 of 400, score 0 for 0 soups" in text
    assert simulator.action_names()[5] == "interact" and simulator.action_keys()[5] == " "
