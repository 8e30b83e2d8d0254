"""Overcooked in lock-step with its reference, PyPI overcooked-ai 1.1.0.

Players seek goals, with noise, so that soups are cooked and served: uniformly random ones hardly
ever deliver. The reference's own `old_dynamics` switch has no effect in this release; the subclass
below is what it does elsewhere.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_envs import Simulator

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    reference = pytest.importorskip(
        "overcooked_ai_py.mdp.overcooked_mdp",
        reason="needs overcooked-ai==1.1.0 (pip install --no-deps overcooked-ai==1.1.0 "
        "gym==0.26.2 gym-notices cloudpickle)",
    )
from overcooked_ai_py.mdp.actions import Action

Make = Callable[..., Simulator]
Array = np.ndarray[Any, Any]
Cell = tuple[int, int]

# Our name, the reference's.
CLASSIC = {
    "cramped_room": "cramped_room",
    "asymmetric_advantages": "asymmetric_advantages",
    "coordination_ring": "coordination_ring",
    "forced_coordination": "forced_coordination",
    "counter_circuit": "counter_circuit_o_1order",
}
HORIZON = 400
STEPS: list[Cell] = [(0, -1), (0, 1), (1, 0), (-1, 0)]
STAY, INTERACT = 4, 5
ITEMS = {"onion": 1, "tomato": 2, "dish": 3}
OPEN, SOUP = 16, 32


class OldDynamics(reference.OvercookedGridworld):  # type: ignore[misc, name-defined]
    def soup_to_be_cooked_at_location(self, state: Any, pos: Cell) -> bool:
        return False

    def step_environment_effects(self, state: Any) -> None:
        for thing in state.objects.values():
            if thing.name == "soup" and thing.is_idle and len(thing.ingredients) == 3:
                thing.begin_cooking()
        super().step_environment_effects(state)


def gridworld(text: str, players: int, dynamics: str, **options: Any) -> Any:
    """The reference's rules on a layout given as text, for any number of players."""
    marks = "1234567890!@#$%^&*()abcdefghijklmnopqrst"[:players]
    rows = text.split("\n")
    starts = {c: (x, y) for y, row in enumerate(rows) for x, c in enumerate(row) if c in marks}
    places = [[c if c in "XPOTDS" else " " for c in row] for row in rows]
    kind = OldDynamics if dynamics == "old" else reference.OvercookedGridworld
    return kind(places, tuple(starts[mark] for mark in marks), **options)


def classic(layout: str, dynamics: str) -> Any:
    world = reference.OvercookedGridworld.from_layout_name(CLASSIC[layout])
    if dynamics == "old":
        world.__class__ = OldDynamics
    return world


def recipes(*names: str) -> list[dict[str, list[str]]]:
    words = {"O": "onion", "T": "tomato"}
    return [{"ingredients": [words[letter] for letter in name]} for name in names]


# ---- players


class Players:
    """Noisy cooks who know the way to everything and share no plan."""

    def __init__(self, world: Any, dynamics: str, noise: float = 0.12, pace: float = 1.0) -> None:
        self.dynamics, self.noise, self.pace = dynamics, noise, pace
        self.rows = ["".join(row) for row in world.terrain_mtx]
        self.places: dict[str, list[Cell]] = {mark: [] for mark in " XPOTDS"}
        for y, row in enumerate(self.rows):
            for x, mark in enumerate(row):
                self.places[mark].append((x, y))
        self.floor = set(self.places[" "])
        self.far = {cell: self._distances(cell) for mark in "XPOTDS" for cell in self.places[mark]}
        self.shared = [cell for cell in self.places["X"] if self._rooms(cell) > 1]

    def _beside(self, cell: Cell) -> list[Cell]:
        near = [(cell[0] + dx, cell[1] + dy) for dx, dy in STEPS]
        return [one for one in near if one in self.floor]

    def _distances(self, target: Cell) -> dict[Cell, int]:
        """Steps from every floor cell to one beside the target."""
        distance = dict.fromkeys(self._beside(target), 0)
        queue = deque(distance)
        while queue:
            cell = queue.popleft()
            for near in self._beside(cell):
                if near not in distance:
                    distance[near] = distance[cell] + 1
                    queue.append(near)
        return distance

    def _rooms(self, counter: Cell) -> int:
        """Rooms that a counter can be reached from: things go from one to another over it."""
        rooms: list[Cell] = []
        for cell in self._beside(counter):
            if not any(cell in self._distances(other) for other in rooms):
                rooms.append(cell)
        return len(rooms)

    def act(self, state: Any, random: np.random.Generator) -> list[int]:
        self.things = state.objects
        self.hands = [p.held_object.name if p.held_object else "" for p in state.players]
        self.first, self.taken = state.players[0], set(state.player_positions)
        return [self._act(player, random) for player in state.players]

    def _act(self, player: Any, random: np.random.Generator) -> int:
        luck = random.random()
        if luck > self.pace:
            return STAY
        if luck < self.noise * self.pace:
            return int(random.integers(6))
        here, facing = player.position, Action.ACTION_TO_INDEX[player.orientation]
        goals = [cell for cell in self._goals(player, random) if here in self.far[cell]]
        if not goals:
            return int(random.integers(5))
        best = min(self.far[cell][here] for cell in goals)
        goal = next(cell for cell in goals if self.far[cell][here] == best)
        if best == 0:
            towards = STEPS.index((goal[0] - here[0], goal[1] - here[1]))
            return INTERACT if towards == facing else towards
        ahead = [(here[0] + dx, here[1] + dy) for dx, dy in STEPS]
        moves = [k for k, cell in enumerate(ahead) if self.far[goal].get(cell, 99) < best]
        if player is not self.first and all(ahead[k] in self.taken for k in moves):
            # The first player has the right of way: back off.
            away = [k for k, cell in enumerate(ahead) if cell in self.floor - self.taken]
            moves = away or moves
        return int(random.choice(moves))

    def _pots(self, kind: Callable[[Any], bool]) -> list[Cell]:
        return [pot for pot in self.places["P"] if kind(self.things.get(pot))]

    def _lying(self, name: str) -> list[Cell]:
        return [
            cell
            for cell in self.places["X"]
            if cell in self.things and self.things[cell].name == name
        ]

    def _goals(self, player: Any, random: np.random.Generator) -> list[Cell]:
        here = player.position
        if player.held_object:
            return self._goals_with(player.held_object.name, here, random)
        reaches_pots = any(here in self.far[pot] for pot in self.places["P"])
        full = self._pots(lambda soup: soup and soup.is_idle and len(soup.ingredients) == 3)
        some = self._pots(lambda soup: soup and soup.is_idle and len(soup.ingredients) > 0)
        hot = self._pots(lambda soup: soup and not soup.is_idle)
        hungry = len(self.places["P"]) - len(full) - len(hot)
        if self.dynamics == "new" and reaches_pots:
            if full:
                return full
            if some and random.random() < 0.01:
                return some
        soups = self._lying("soup")
        if soups and any(here in self.far[window] for window in self.places["S"]):
            return soups
        dishes = self._lying("dish")
        if len(hot) + len(full) > self.hands.count("dish") + (0 if reaches_pots else len(dishes)):
            return dishes + self.places["D"] if reaches_pots else self.places["D"]
        food = self.places["O"] + self.places["T"]
        lying = self._lying("onion") + self._lying("tomato")
        if not reaches_pots:
            return food if len(lying) < 2 else []
        return lying + food if hungry > 0 else []

    def _goals_with(self, held: str, here: Cell, random: np.random.Generator) -> list[Cell]:
        free = [cell for cell in self.places["X"] if cell not in self.things]
        shared = [cell for cell in self.shared if cell not in self.things]
        if held == "soup":
            windows = [cell for cell in self.places["S"] if here in self.far[cell]]
            return windows or shared
        if held == "dish":
            wanted = self._pots(lambda soup: soup and not soup.is_idle)
        else:
            wanted = self._pots(lambda soup: not soup or not soup.is_full)
        if not any(here in self.far[pot] for pot in self.places["P"]):
            return shared
        reachable = [pot for pot in wanted if here in self.far[pot]]
        return reachable or (free if random.random() < 0.2 else [])


# ---- the two sides of the comparison


def item_of(thing: Any) -> tuple[int, int]:
    """Our code of the reference's object, and the steps until it is ready."""
    if thing is None:
        return 0, 0
    if thing.name != "soup":
        return ITEMS[thing.name], 0
    recipe = 4 * thing.ingredients.count("onion") + thing.ingredients.count("tomato")
    return (OPEN + recipe, 0) if thing.is_idle else (SOUP + recipe, thing.cook_time_remaining)


def check_columns(simulator: Simulator, states: Sequence[Any], height: int) -> None:
    """Every chef and every thing of all worlds."""
    cells, facings = simulator.get("chefs.cell"), simulator.get("chefs.facing")
    held, items = simulator.get("chefs.held"), simulator.get("cells.item")
    left = simulator.get("cells.left")
    for world, state in enumerate(states):
        for i, player in enumerate(state.players):
            x, y = player.position
            assert cells[world, i] == x * height + y
            assert facings[world, i] == Action.ACTION_TO_INDEX[player.orientation]
            assert held[world, i] == item_of(player.held_object)[0]
        expected = np.zeros((2, items.shape[1]), int)
        for (x, y), thing in state.objects.items():
            expected[:, x * height + y] = item_of(thing)
        assert (items[world] == expected[0]).all() and (left[world] == expected[1]).all()


def encodings(world: Any, states: Sequence[Any]) -> Array:
    return np.array([world.lossless_state_encoding(state, horizon=HORIZON) for state in states])


def advance(
    world: Any, states: list[Any], players: Players, random: np.random.Generator
) -> tuple[list[Any], Array, Array]:
    """One step of the reference: states, actions, rewards (worlds, players, sparse and shaped)."""
    after, actions, rewards = [], [], []
    for state in states:
        chosen = players.act(state, random)
        following, info = world.get_state_transition(
            state, [Action.INDEX_TO_ACTION[action] for action in chosen]
        )
        sparse = sum(info["sparse_reward_by_agent"])
        rewards.append([(sparse, own) for own in info["shaped_reward_by_agent"]])
        after.append(following)
        actions.append(chosen)
    return after, np.array(actions), np.array(rewards)


def check_step(outputs: Any, rewards: Array) -> None:
    assert (outputs.reward_parts == rewards).all()
    assert (outputs.reward == rewards.sum(axis=-1)).all()
    assert not outputs.terminated.any()


def compare_classic(
    make: Make, layout: str, dynamics: str, worlds: int, seed: int
) -> tuple[int, int]:
    """Whole episodes with every plane, reward and state; soups served and steps compared."""
    world = classic(layout, dynamics)
    simulator = make("Overcooked-v0", worlds, layout=layout, dynamics=dynamics)
    players, random = Players(world, dynamics), np.random.default_rng(seed)
    states = [world.get_standard_start_state() for _ in range(worlds)]
    start = encodings(world, states)
    assert (simulator.reset(seed=0).obs == start).all()
    served = 0
    for step in range(1, HORIZON + 1):
        states, actions, rewards = advance(world, states, players, random)
        served += int((rewards[:, 0, 0] > 0).sum())
        outputs = simulator.step(actions)
        check_step(outputs, rewards)
        assert outputs.truncated.all() == outputs.truncated.any() == (step == HORIZON)
        expected = encodings(world, states)
        assert ((outputs.final_obs if step == HORIZON else outputs.obs) == expected).all()
        if step < HORIZON:
            planes = expected[:, 0].reshape(worlds, -1)
            assert (outputs.state[:, :-2] == planes).all()
            assert (outputs.state[:, -2:] == (step // 256, step % 256)).all()
    assert (outputs.obs == start).all()  # the next episode
    return served, worlds * HORIZON


@pytest.mark.parametrize("dynamics", ["new", "old"])
@pytest.mark.parametrize("layout", CLASSIC)
def test_four_thousand_steps_equal_the_reference(
    make_simulator: Make, layout: str, dynamics: str
) -> None:
    served, steps = compare_classic(make_simulator, layout, dynamics, 10, seed=1)
    assert served >= 10 and steps == 4_000


@pytest.mark.slow
@pytest.mark.parametrize("dynamics", ["new", "old"])
@pytest.mark.parametrize("layout", CLASSIC)
def test_two_hundred_episodes_equal_the_reference(
    make_simulator: Make, layout: str, dynamics: str
) -> None:
    served, steps = compare_classic(make_simulator, layout, dynamics, 200, seed=2)
    print(f"{layout} {dynamics}: {served} soups in {steps} steps")
    assert served >= 500


# ---- kitchens with tomatoes, prices and times of their own

MIXED = [
    (
        "XXPPTXX\nO  1  D\nX  2  S\nXXTXXXX",
        {"orders": "OT,OOT,TTT,O", "bonus_orders": "OT,O", "order_bonus": 3},
        {"onion_value": 21, "tomato_value": 13, "onion_time": 15, "tomato_time": 7},
    ),
    (
        "XXXPXXX\nD  1  O\nX XXX T\nX  2  S\nXXXPXXX",
        {"orders": "OOO,OO,T", "bonus_orders": "T", "order_bonus": 2},
        {"recipe_values": "30,17,4", "recipe_times": "11,25,1"},
    ),
    (
        "XXPXX\nT1 2O\nD   S\nXXXXX",
        {"orders": "", "bonus_orders": "TTT", "order_bonus": 2},
        {"delivery_reward": 7, "cook_time": 4},
    ),
]


@pytest.mark.parametrize(("text", "orders", "prices"), MIXED)
def test_mixed_recipes_equal_the_reference(
    make_simulator: Make, text: str, orders: dict[str, Any], prices: dict[str, Any]
) -> None:
    lists = {
        key: [int(number) for number in value.split(",")] if isinstance(value, str) else value
        for key, value in prices.items()
    }
    world = gridworld(
        text,
        2,
        "new",
        start_all_orders=recipes(*filter(None, orders["orders"].split(","))),
        start_bonus_orders=recipes(*orders["bonus_orders"].split(",")),
        order_bonus=orders["order_bonus"],
        **lists,
    )
    simulator = make_simulator("Overcooked-v0", 5, layout=text, **orders, **prices)
    players, random = Players(world, "new", noise=0.2), np.random.default_rng(3)
    states = [world.get_standard_start_state() for _ in range(5)]
    simulator.reset(seed=0)
    paid: set[int] = set()
    for step in range(1, HORIZON):
        states, actions, rewards = advance(world, states, players, random)
        outputs = simulator.step(actions)
        check_step(outputs, rewards)
        assert (outputs.obs == encodings(world, states)).all(), step
        paid |= set(rewards[:, 0, 0].tolist())
    assert len(paid) > 1


def test_twenty_planes_follow_from_the_reference(make_simulator: Make) -> None:
    for dynamics in ("new", "old"):
        world = classic("counter_circuit", dynamics)
        simulator = make_simulator(
            "Overcooked-v0",
            4,
            layout="counter_circuit",
            dynamics=dynamics,
            encoding="lossless20",
        )
        players, random = Players(world, dynamics), np.random.default_rng(4)
        states = [world.get_standard_start_state() for _ in range(4)]
        obs = simulator.reset(seed=0).obs
        for _ in range(HORIZON - 1):
            wide = encodings(world, states)
            pot = wide[..., 10]
            soup = (1 - pot) * wide[..., 21]
            cooked = pot * (wide[..., 18] > 0) * (20 - wide[..., 20])
            onions = pot * (wide[..., 16] + wide[..., 18])
            kept = [wide[..., k] for k in (*range(13), 14, 15)]
            rest = [onions, cooked, soup, wide[..., 22], wide[..., 23]]
            assert (obs == np.stack(kept[:13] + kept[13:] + rest, axis=-1)).all()
            states, actions, _ = advance(world, states, players, random)
            obs = simulator.step(actions).obs


# ---- more than two players: rules only, since the reference encodes two


def many_player_text() -> str:
    marks = iter("1234567890!@#$%^&*()abcdefghijklmnopqrst")
    rows = ["X" * 15]
    for k in range(8):
        rows.append("X" + "  ".join(next(marks) for _ in range(5)) + "X")
        rows.append("S TX PX OX DX S" if k < 7 else "X" * 15)
    return "\n".join(rows)


CROWDS = [
    ("XXSPDXX\nX  1  X\nX  X  X\nO3   4O\nX  X  X\nX  2  X\nXXDPSXX", 4, 300, 1.0),
    (many_player_text(), 8, 200, 0.6),
    (many_player_text(), 40, 60, 0.12),  # with everybody on the move nobody would move
]


@pytest.mark.parametrize("dynamics", ["new", "old"])
@pytest.mark.parametrize(("text", "count", "steps", "pace"), CROWDS)
def test_rules_for_many_players_equal_the_reference(
    make_simulator: Make, text: str, count: int, steps: int, pace: float, dynamics: str
) -> None:
    orders = ("OOO", "OOT", "TTT")
    world = gridworld(text, count, dynamics, start_all_orders=recipes(*orders))
    simulator = make_simulator(
        "Overcooked-v0",
        3,
        layout=text,
        player_count=count,
        orders=",".join(orders),
        dynamics=dynamics,
    )
    players, random = Players(world, dynamics, pace=pace), np.random.default_rng(count)
    states = [world.get_standard_start_state() for _ in range(3)]
    simulator.reset(seed=0)
    moved, shaped = 0, 0.0
    for _ in range(steps):
        before = [state.player_positions for state in states]
        states, actions, rewards = advance(world, states, players, random)
        check_step(simulator.step(actions), rewards)
        check_columns(simulator, states, len(text.split("\n")))
        moved += sum(a != s.player_positions for a, s in zip(before, states, strict=True))
        shaped += float(rewards[..., 1].sum())
    assert moved > 20 and shaped > 0


# ---- every layout that the reference ships


def shipped_layouts() -> list[str]:
    folder = Path(reference.__file__).parent.parent / "data" / "layouts"
    return sorted(file.stem for file in folder.glob("*.layout"))


def recipe_text(orders: list[dict[str, list[str]]]) -> str:
    return ",".join("".join(word[0].upper() for word in o["ingredients"]) for o in orders)


def our_parameters(layout: dict[str, Any]) -> dict[str, Any]:
    """A layout file of the reference as our keyword arguments."""
    rows = [row.strip() for row in layout["grid"].split("\n")]
    given: dict[str, Any] = {"layout": "\n".join(rows) + "\n"}
    given["orders"] = recipe_text(layout.get("start_all_orders") or [])
    given["bonus_orders"] = recipe_text(layout.get("start_bonus_orders") or [])
    for key in ("recipe_values", "recipe_times"):
        given[key] = ",".join(str(number) for number in layout.get(key) or [])
    for key in ("order_bonus", "delivery_reward", "cook_time"):
        given |= {key: layout[key]} if layout.get(key) else {}
    for key in ("onion_value", "tomato_value", "onion_time", "tomato_time"):
        given |= {key: layout[key]} if layout.get(key) else {}
    shaping = layout.get("rew_shaping_params")
    if shaping:
        given["placement_reward"] = shaping["PLACEMENT_IN_POT_REW"]
        given["dish_reward"] = shaping["DISH_PICKUP_REWARD"]
        given["soup_reward"] = shaping["SOUP_PICKUP_REWARD"]
    return given


@pytest.mark.parametrize("name", shipped_layouts())
def test_shipped_layout_equals_the_reference(make_simulator: Make, name: str) -> None:
    world = reference.OvercookedGridworld.from_layout_name(name)
    if world.num_players != 2:
        pytest.skip(f"the reference encodes two players, this layout has {world.num_players}")
    if world.order_bonus == float("inf"):
        pytest.skip("an infinite bonus is not a whole number")
    simulator = make_simulator(
        "Overcooked-v0", 2, **our_parameters(reference.read_layout_dict(name))
    )
    players, random = Players(world, "new", noise=0.2), np.random.default_rng(5)
    start = reference.OvercookedState.from_player_positions(
        world.start_player_positions, world.start_bonus_orders, world.start_all_orders
    )
    states = [start, start]
    assert (simulator.reset(seed=0).obs == encodings(world, states)).all()
    for _ in range(150):
        states, actions, rewards = advance(world, states, players, random)
        outputs = simulator.step(actions)
        check_step(outputs, rewards)
        assert (outputs.obs == encodings(world, states)).all()
