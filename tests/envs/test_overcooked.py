"""Overcooked: planes against an independent re-encoding, layouts of any shape, random starts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_envs import Simulator

Make = Callable[..., Simulator]
Array = np.ndarray[Any, Any]

LAYOUTS = {
    "cramped_room": "XXPXX\nO  2O\nX1  X\nXDXSX",
    "asymmetric_advantages": ("XXXXXXXXX\nO XSXOX S\nX   P 1 X\nX2  P   X\nXXXDXDXXX"),
    "coordination_ring": "XXXPX\nX 1 P\nD2X X\nO   X\nXOSXX",
    "forced_coordination": "XXXPX\nO X1P\nO2X X\nD X X\nXXXSX",
    "counter_circuit": "XXXPPXXX\nX  2   X\nD XXXX S\nX  1   X\nXXXOOXXX",
    "multiplayer_schelling": "XXSPDXX\nX  1  X\nX  X  X\nO3   4O\nX  X  X\nX  2  X\nXXDPSXX",
}
CLASSIC = tuple(LAYOUTS)[:5]
CRAMPED, SCHELLING = LAYOUTS["cramped_room"], LAYOUTS["multiplayer_schelling"]
MARKS = "1234567890!@#$%^&*()abcdefghijklmnopqrst"
ONION, TOMATO, DISH, OPEN, SOUP = 1, 2, 3, 16, 32
INTERACT = 5
STEPS = np.array([(0, -1), (0, 1), (1, 0), (-1, 0)])  # by facing


def layout_of(simulator: Simulator) -> list[str]:
    """Rows of the kitchen, starts removed."""
    layout = str(simulator.parameters["layout"])
    text = LAYOUTS.get(layout, layout)
    for mark in MARKS:
        text = text.replace(mark, " ")
    return text.strip("\n").split("\n")


class Kitchens:
    """The columns of all worlds by x and y."""

    def __init__(self, simulator: Simulator) -> None:
        self.rows = layout_of(simulator)
        self.width, self.height = len(self.rows[0]), len(self.rows)
        self.place = np.array([list(row) for row in self.rows]).T  # [x, y]
        worlds, n = simulator.num_worlds, simulator.agents_per_world
        grid = (worlds, self.width, self.height)
        cell = simulator.get("chefs.cell")[:, :n].astype(int)
        self.at = np.stack([cell // self.height, cell % self.height], axis=-1)
        self.facing = simulator.get("chefs.facing")[:, :n].astype(int)
        self.held = simulator.get("chefs.held")[:, :n].astype(int)
        cells = self.width * self.height
        self.item = simulator.get("cells.item")[:, :cells].astype(int).reshape(grid)
        self.left = simulator.get("cells.left")[:, :cells].astype(int).reshape(grid)
        self.step = simulator.get("world.step").reshape(-1).astype(int)

    def ahead(self) -> Array:
        """What stands in front of every chef: (worlds, chefs) characters."""
        target = self.at + STEPS[self.facing]
        return self.place[target[..., 0], target[..., 1]]

    def onions(self) -> Array:
        """Onions anywhere, by world."""
        items = np.concatenate([self.item.reshape(len(self.item), -1), self.held], axis=1)
        return np.where(items >= OPEN, items % 16 // 4, items == ONION).sum(axis=1)

    def encode(self, observer: int, horizon: int) -> Array:
        """The 5 n + 16 planes, in floating point and one rule at a time."""
        worlds, n = self.held.shape
        planes = np.zeros((worlds, self.width, self.height, 5 * n + 16))
        order = [observer] + [i for i in range(n) if i != observer]
        world = np.arange(worlds)
        everything, remaining = self.item.copy(), self.left.copy()
        for k, chef in enumerate(order):
            x, y = self.at[:, chef].T
            planes[world, x, y, k] += 1
            planes[world, x, y, n + 4 * k + self.facing[:, chef]] += 1
            everything[world, x, y] = self.held[:, chef]  # chefs stand where nothing lies
            remaining[world, x, y] = 0
        there = planes[..., 5 * n :]
        for k, mark in enumerate("PXOTDS"):
            there[..., k] = self.place == mark
        opened = (everything >= OPEN) & (everything < SOUP)
        soup = everything >= SOUP
        onions, tomatoes = everything % 16 // 4, everything % 4
        there[..., 6], there[..., 7] = opened * onions, opened * tomatoes
        there[..., 8], there[..., 9] = soup * onions, soup * tomatoes
        there[..., 10], there[..., 11] = soup * remaining, soup & (remaining == 0)
        for k, item in ((12, DISH), (13, ONION), (14, TOMATO)):
            there[..., k] = everything == item
        there[..., 15] = ((horizon - self.step) < 40)[:, None, None] & (horizon > 0)
        return planes

    def check(self) -> None:
        """What is true of any kitchen."""
        assert (self.place[self.at[..., 0], self.at[..., 1]] == " ").all()
        code = self.at[..., 0] * self.height + self.at[..., 1]
        assert all(len(set(row)) == len(row) for row in code.tolist())
        assert (self.item[:, (self.place != "X") & (self.place != "P")] == 0).all()
        assert (self.left[:, self.place != "P"] == 0).all()
        counters = self.item[:, self.place == "X"]
        for items in (counters, self.held):  # no open soups outside of pots
            assert ((items <= DISH) | (items > SOUP)).all()


def lively(random: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Random actions, half of them interactions: chefs who get things done by chance."""
    moves = random.integers(0, 5, shape)
    return np.where(random.random(shape) < 0.5, INTERACT, moves)


def stir(random: np.random.Generator, *simulators: Simulator, recipes: tuple[int, ...]) -> None:
    """Puts random things into all hands and pots, the same in each simulator."""
    worlds, chefs = simulators[0].get("chefs.cell").shape
    soups = [SOUP + recipe for recipe in recipes]
    held = random.choice([0, ONION, DISH, *soups], (worlds, chefs))
    pots = random.choice([0, *[OPEN + recipe for recipe in recipes], *soups], worlds)
    left = np.where(pots >= SOUP, random.integers(0, 3, worlds), 0)
    for simulator in simulators:
        place = Kitchens(simulator).place.reshape(-1)
        item, times = simulator.get("cells.item"), simulator.get("cells.left")
        for cell in np.flatnonzero(place == "P"):
            item[:, cell], times[:, cell] = pots, left
        simulator.set("chefs.held", held)
        simulator.set("cells.item", item)
        simulator.set("cells.left", times)


def check_encoding(simulator: Simulator, obs: Array) -> Kitchens:
    kitchens = Kitchens(simulator)
    kitchens.check()
    for observer in range(simulator.agents_per_world):
        expected = kitchens.encode(observer, simulator.max_episode_steps)
        assert (obs[:, observer] == expected).all(), observer
    return kitchens


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


# ---- layouts of any shape


def random_layout(random: np.random.Generator, players: int) -> str:
    """A closed room with floor in one piece, all that cooking needs, and starts."""
    while True:
        width, height = random.integers(4, 12, 2)
        grid = np.full((height, width), "X")
        floor = [(int(random.integers(1, height - 1)), int(random.integers(1, width - 1)))]
        for _ in range(int(random.integers(players + 1, width * height))):
            y, x = floor[random.integers(len(floor))]
            dy, dx = STEPS[random.integers(4)]
            if 0 < y + dy < height - 1 and 0 < x + dx < width - 1:
                floor.append((y + dy, x + dx))
        floor = sorted(set(floor))
        for cell in floor:
            grid[cell] = " "
        beside = sorted({(y + dy, x + dx) for y, x in floor for dx, dy in STEPS} - set(floor))
        if len(floor) < players or len(beside) < 5:
            continue
        random.shuffle(beside)
        wanted = ["P", "D", "S", "OT"[random.integers(2)]]
        extra = random.choice(list("PDSOTXX"), size=random.integers(0, len(beside) - 3))
        for cell, mark in zip(beside, [*wanted, *extra], strict=False):
            grid[cell] = mark
        for k, index in enumerate(random.permutation(len(floor))[:players]):
            grid[floor[index]] = MARKS[k]
        return "\n".join("".join(row) for row in grid)


@pytest.mark.parametrize("seed", range(40))
def test_any_valid_layout_plays(make_simulator: Make, seed: int) -> None:
    random = np.random.default_rng(seed)
    players = int(random.integers(1, 7))
    simulator = make_simulator(
        "Overcooked-v0",
        3,
        layout=random_layout(random, players),
        player_count=int(random.choice([0, players])),
        dynamics=str(random.choice(["new", "old"])),
        cook_time=int(random.integers(0, 30)),
        max_episode_steps=int(random.choice([0, 45, 300])),
    )
    outputs = simulator.reset(seed=seed)
    for _ in range(60):
        check_encoding(simulator, outputs.obs)
        outputs = simulator.step(lively(random, (3, players)))


def spoil(random: np.random.Generator, text: str, players: int) -> tuple[str, str]:
    """A layout with one defect, and what the message says of it."""
    lines = [list(line) for line in text.split("\n")]
    kind = random.choice(["ragged", "letter", "border", "start", "gap", "twice", "missing"])
    y, x = int(random.integers(len(lines))), int(random.integers(len(lines[0])))
    inside = next((b, a) for b, row in enumerate(lines) for a, c in enumerate(row) if c == "1")
    if kind == "ragged":
        lines[max(y, 1)].append("X")
        message = f"line {max(y, 1) + 1} has {len(lines[0]) + 1} cells"
    elif kind == "letter":
        lines[y][x] = str(random.choice(list("xzuQ?Z")))
        message = f"line {y + 1}, column {x + 1}: unknown character"
    elif kind == "border":
        lines[0][x] = " "
        message = f"line 1, column {x + 1}: floor on the border"
    elif kind == "start":
        lines[y][0] = "1"
        message = f"line {y + 1}, column 1: a start on the border"
    elif kind == "gap":
        lines[inside[0]][inside[1]] = MARKS[players + 1]
        message = "players are numbered without gaps"
    elif kind == "twice":
        lines = [["1" if c == " " else c for c in row] for row in lines]
        lines[inside[0]][inside[1]] = "1"
        message = "a second start '1'" if sum(r.count("1") for r in lines) > 1 else ""
    else:
        gone = str(random.choice(list("PDS")))
        lines = [["X" if c == gone else c for c in row] for row in lines]
        message = f"layout: no {({'P': 'pot', 'D': 'dish', 'S': 'serving'})[gone]}"
    return "\n".join("".join(row) for row in lines), message


@pytest.mark.parametrize("seed", range(60))
def test_any_broken_layout_is_refused_by_its_defect(make_simulator: Make, seed: int) -> None:
    random = np.random.default_rng(1000 + seed)
    text, message = spoil(random, random_layout(random, 2), 2)
    if not message:
        pytest.skip("no room for a second start")
    with pytest.raises(ValueError) as problem:
        make_simulator("Overcooked-v0", 1, layout=text)
    assert message in str(problem.value), text


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("trailing", [0, 1, 3])
def test_layout_files_are_read_whatever_their_line_ends(
    make_simulator: Make, tmp_path: Path, end: str, trailing: int
) -> None:
    file = tmp_path / "kitchen.layout"
    file.write_bytes((CRAMPED.replace("\n", end) + end * trailing).encode())
    simulator = make_simulator("Overcooked-v0", 2, layout=str(file), orders="OOO")
    named = make_simulator("Overcooked-v0", 2)
    assert (simulator.reset(seed=0).obs == named.reset(seed=0).obs).all()
    file.unlink()  # a save does not need it
    assert str(simulator.parameters["layout"]).split() == CRAMPED.split()


# ---- faces


def test_picture_shows_what_lies_cooks_and_is_held(make_simulator: Make) -> None:
    simulator = make_simulator("Overcooked-v0", 1, layout=SCHELLING, player_count=4)
    simulator.reset(seed=1)
    plain = simulator.render(size=(700, 700)).astype(int)

    def changed() -> set[tuple[int, int]]:
        """Cells, column and row, that look unlike the plain picture, and become plain."""
        nonlocal plain
        now = simulator.render(size=(700, 700)).astype(int)
        rows, columns = np.nonzero(np.abs(now - plain).max(axis=2) > 60)
        plain = now
        return {
            (int(x), int(y))
            for x, y in zip((columns - 17) * 7 // 666, (rows - 17) * 7 // 666, strict=True)
        }

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
