"""HideSeek: what is refused, with which words, and that nothing happens to the worlds by it.

A message has to name the argument, say what came and what would do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from gpu_envs import Simulator

Make = Callable[..., Simulator]
AGENTS = "hider -5 0; hider -5 3; hider -5 6; seeker 4 4; seeker 4 8"
WORLDS, IDLE = 2, np.array([5, 5, 5, 0, 0], np.int32)

# Parameters that do not go together, or lie between a profile's number and what can be: what the
# message says. What one alone cannot be: tests/contract/test_described_numbers.py.
BAD_VALUES: list[tuple[dict[str, Any], str]] = [
    ({"arena_size": 0}, "'arena_size' must be at least 1, or -1 .*, got 0"),
    (
        {"arena_size": 10},
        "arena is too small: .*=5, box_count_high=8 .* raise arena_size",
    ),
    ({"arena_size": 15, "hider_count": 20, "seeker_count": 20}, "arena is too small: .*=40,"),
    ({"box_size": 0.001}, "'box_size' must be at least 0.01, or -1 .*, got 0.001"),
    ({"box_size": 9.9}, "arena is too small: .* or lower counts or sizes of bodies"),
    ({"long_length": 30}, "long_length=30 must be at most half of arena_size=36"),
    ({"ramp_run": 19.5, "ramp_count": 1}, "ramp_run=19.5 must be at most half of arena_size=36"),
    ({"box_mass": 0}, "'box_mass' must be at least 0.001, or -1 .*, got 0"),
    ({"division_count_low": 5, "division_count_high": 2}, "low=5 is above division_count_high=2"),
    ({"cut_count_low": 6, "cut_count_high": 1}, "cut_count_low=6 is above cut_count_high=1"),
    ({"cut_count_high": 2}, "cut_count_low=4 is above cut_count_high=2"),
    ({"division_count_high": 8, "cut_count_high": 12}, "can make 48 walls, at most 40"),
    ({"door_width": 20}, "door_width=20 must be at most a quarter of arena_size=36"),
    ({"cut_width": 20}, "cut_width=20 must be at most a quarter of arena_size=36"),
    ({"box_count_low": 5, "box_count_high": 2}, "box_count_low=5 is above box_count_high=2"),
    ({"long_count_low": 9}, "long_count_low=9 is above box_count_high=8"),
    ({"box_slots": 3}, "box_slots=3 must be at least box_count_high=8"),
    ({"observation": "pixels"}, "observation must be 'flat' or 'dict', got 'pixels'"),
    ({"time_step": 0}, "'time_step' must be at least 0.0001, or -1 .*, got 0"),
    ({"substeps": 0}, "'substeps' must be at least 1, or -1 .*, got 0"),
    ({"restitution": -0.5}, "'restitution' must be at least 0, or -1 .*, got -0.5"),
    ({"placement_tries": 0}, "'placement_tries' must be at least 1, or -1 .*, got 0"),
    ({"wall_height": -0.5}, "'wall_height' must be at least"),
    ({"wall_thickness": 0}, "'wall_thickness' must be at least 0.01, or -1 .*, got 0"),
]

# Layouts, what the message says.
BAD_LAYOUTS: list[tuple[str, str]] = [
    ("cow 1 2", "line 1: unknown thing 'cow'; known are hider, seeker, cube, long, ramp, wall"),
    ("hider 0 0\n# a comment\ncow 2 2", "line 3: unknown thing 'cow'"),
    (AGENTS + "; hider\0 1 1", r"unknown thing 'hider\?'"),
    (AGENTS + "; cübe 0 0", r"unknown thing 'c\?\?be'"),
    ("hider", "line 1: x is missing"),
    ("hider 1", "line 1: y is missing"),
    ("hider x 1", "line 1: x must be a number, got 'x'"),
    ("hider 0x10 0", "line 1: x must be a number, got '0x10'"),
    ("hider +-5 0", r"line 1: x must be a number, got '\+-5'"),
    ("hider nan 0", "line 1: x of 'hider nan' must be from -1000 to 1000, got 'nan'"),
    ("hider 0 inf", "line 1: y of 'hider 0 inf' must be from -1000 to 1000, got 'inf'"),
    ("hider 1e30 0", "line 1: x of 'hider 1e30' must be from -1000 to 1000, got '1e30'"),
    ("hider 1e400 0", "line 1: x of 'hider 1e400' must be from -1000 to 1000, got '1e400'"),
    ("cube 3 -1000.5", "line 1: y of 'cube 3 -1000.5' must be from -1000 to 1000, got '-1000.5'"),
    ("cube 0 0 -5", "line 1: z of 'cube 0 0 -5' must be above the floor, 0, got -5"),
    ("cube 0 0 0", "line 1: z of 'cube 0 0 0' must be above the floor, 0, got 0"),
    ("hider 1 2 yaw", "line 1: yaw is missing"),
    ("hider 1 2 yaw left", "line 1: yaw must be a number, got 'left'"),
    (
        "hider 1 2 yaw nan",
        "line 1: yaw of 'hider 1 2 yaw nan' must be from -1000 to 1000, got 'nan'",
    ),
    ("hider 1 2 tilt 3", "unknown word 'tilt'; known are yaw, pitch, roll, velocity, spin, locked"),
    ("hider 1 2 roll 1", "a hider is upright here: only yaw turns it"),
    ("hider 1 2 spin 1 0 0", "a hider is upright here: its spin has only the third number"),
    ("cube 1 2 velocity 1 2", "line 1: z of velocity is missing"),
    (
        "cube 1 2 spin 1 nan 0",
        "line 1: y of spin of 'cube 1 2 spin 1 nan' must be from -1000 to 1000, got 'nan'",
    ),
    ("hider 1 2 locked hiders", "line 1: agents cannot be locked"),
    ("cube 1 2 locked", "locked must be followed by hiders or seekers, got ''"),
    ("cube 1 2 locked me", "locked must be followed by hiders or seekers, got 'me'"),
    ("hider 0 0; seeker 3 3", "1 hiders, but hider_count=3: every agent needs a place"),
    ("hider -5 0; hider -5 3; hider -5 6", "0 seekers, but seeker_count=2: every agent"),
    ("cube 0 0", "0 hiders, but hider_count=3: every agent needs a place"),
    (AGENTS + "; hider 0 0", "one hider more than hider_count=3, which the simulator"),
    (AGENTS + "; ramp 0 0; ramp 5 5; ramp 9 9", "one ramp more than ramp_count=2"),
    (AGENTS + "; cube 0 0" * 10, "one cube more than box_slots=9"),
    (AGENTS + "; wall 0 0 5 0" * 33, "a layout has at most 32 walls and planes"),
    (AGENTS + "; wall 3 3 3 3", "a wall runs along x or along y: from"),
    (AGENTS + "; wall 0 0 5 5", "a wall runs along x or along y: from"),
    (AGENTS + "; wall 0 0 5", "y1 is missing"),
    (AGENTS + "; wall 0 0 nan 0", "x1 of 'wall 0 0 nan' must be from -1000 to 1000, got 'nan'"),
    (AGENTS + "; wall 0 0 2000 0", "x1 of 'wall 0 0 2000' must be from -1000 to 1000, got '2000'"),
    (AGENTS + "; wall 0 0 5 0 height -2", "the height of a wall must be above 0"),
    (AGENTS + "; wall 0 0 5 0 colour 3", "unknown word 'colour'; known is height"),
    (AGENTS + "; plane 0 0 0 0 0 0", "a plane's normal must not be zero"),
    (AGENTS + "; plane 0 0 0 0 1", "z of the normal is missing"),
    (AGENTS + "; plane 0 0 0 0 0 1 2", "a plane has six numbers, .* got another word '2'"),
    ("  ;; # hider 0 0", "the text names nothing"),
    ("debug:", "no scene is called 'debug:'; known are corner_cube, flat_cube"),
    ("debug:no_such", "no scene is called 'debug:no_such'; known are corner_cube"),
    ("x" * 20000, "a text of 20000 bytes, at most 16384 are read"),
]


class Pair:
    """A simulator that is told nonsense, and its twin that is not."""

    def __init__(self) -> None:
        made = [Simulator("HideSeek-v0", WORLDS, device="cpu") for _ in range(2)]
        self.subject, self.twin = made
        for simulator in made:
            simulator.reset(seed=11)
        self.actions = np.tile(IDLE, (WORLDS, self.subject.agents_per_world, 1))
        self.actions[..., :2] = (8, 10)

    def refuses(self, call: Callable[[Simulator], object], error: Any, message: str) -> None:
        """The call fails with this message, and the worlds go on as if it had not been made."""
        with pytest.raises(error, match=message):
            call(self.subject)
        self.agree()

    def agree(self) -> None:
        for _ in range(2):
            digests = [hashlib.sha256(s.save()).hexdigest() for s in (self.subject, self.twin)]
            assert digests[0] == digests[1]
            seen = [s.step(self.actions).obs for s in (self.subject, self.twin)]
            np.testing.assert_array_equal(seen[0], seen[1])
        self.subject.check()


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    made = Pair()
    yield made
    made.agree()
    made.subject.close()
    made.twin.close()


@pytest.mark.parametrize(("parameters", "message"), BAD_VALUES)
def test_impossible_parameters_are_refused(
    make_simulator: Make, parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        make_simulator("HideSeek-v0", 2, **parameters)


@pytest.mark.parametrize(("layout", "message"), BAD_LAYOUTS)
def test_impossible_layouts_are_refused(pair: Pair, layout: str, message: str) -> None:
    pair.refuses(
        lambda s: s.reset(options={"layout": layout}), ValueError, f"layout: (line 1: )?{message}"
    )


@pytest.mark.parametrize(
    ("mask", "error", "message"),
    [
        (np.array([1, 0]), TypeError, "reset_mask must be a bool array, got int64"),
        (np.array([True]), ValueError, r"reset_mask must have shape \(2,\) .*, got \(1,\)"),
    ],
)
def test_a_bad_mask_with_a_good_layout_lays_nothing(
    pair: Pair, mask: Any, error: type[Exception], message: str
) -> None:
    pair.refuses(lambda s: s.reset(options={"layout": AGENTS, "reset_mask": mask}), error, message)


def good() -> Any:
    """Actions that do nothing."""
    return np.tile(IDLE, (WORLDS, 5, 1))


@pytest.mark.parametrize(
    ("actions", "error", "message"),
    [
        ([[1], [2, 3]], ValueError, "actions must have shape .*, got a ragged list"),
        (good() + 0.5, TypeError, "actions must be integers .*, got float64"),
        (good() > 0, TypeError, "actions must be integers .*, got bool"),
    ],
)
def test_bad_actions_are_refused(
    pair: Pair, actions: Any, error: type[Exception], message: str
) -> None:
    pair.refuses(lambda s: s.step(actions), error, message)


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({"view": "side"}, ValueError, "view must be .*'side'"),
        ({"view": "agent:9"}, ValueError, "view.*agent:9"),
        ({"view": "agent:-1"}, ValueError, "view.*agent:-1"),
        ({"view": "agent:"}, ValueError, "view.*agent:"),
        ({"view": 3}, TypeError, "view must be a str or None, got 3"),
        ({"world": 0.5}, TypeError, "world must be an int, got 0.5"),
    ],
)
def test_bad_pictures_are_refused(
    pair: Pair, keywords: dict[str, Any], error: type[Exception], message: str
) -> None:
    pair.refuses(lambda s: s.render(**keywords), error, message)


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("bodies.position", np.zeros((3, 3, 3)), r"'bodies.position' must fit \(2, 17, 3\)"),
        ("bodies.positon", 0, "'bodies.positon'; did you mean 'bodies.position'"),
    ],
)
def test_bad_columns_are_refused(pair: Pair, column: str, values: Any, message: str) -> None:
    pair.refuses(lambda s: s.set(column, values), ValueError, message)


def test_more_of_a_named_scene_than_there_is_room_for_is_refused(make_simulator: Make) -> None:
    simulator = make_simulator("HideSeek-v0", 1, box_count_high=2, box_slots=2)
    with pytest.raises(ValueError, match="debug:falling_cubes: one cube more than box_slots=2"):
        simulator.reset(seed=1, options={"layout": "debug:falling_cubes"})


def test_bodies_laid_into_each_other_are_parted_gently(make_simulator: Make) -> None:
    simulator = make_simulator("HideSeek-v0", 1, max_episode_steps=0)
    simulator.reset(seed=1, options={"layout": AGENTS + "; cube 9 0; cube 9.5 0.2; long 9 0.1"})
    fastest = 0.0
    for _ in range(60):
        simulator.step(np.tile(IDLE, (1, 5, 1)))
        fastest = max(fastest, float(np.abs(simulator.get("bodies.velocity")).max()))
    present = (simulator.get("bodies.state")[0] & 1) != 0
    assert np.isfinite(simulator.get("bodies.position")).all()
    assert simulator.get("bodies.position")[0, present, 2].min() > 0.5
    assert fastest < 10


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"box_count_low": 9}, "box_count_low is above box_count_high"),
        ({"division_count_low": 6}, "division_count_low is above division_count_high"),
        ({"cut_count_high": 3}, "cut_count_low is above cut_count_high"),
        ({"division_count_high": 8, "cut_count_high": 12}, "more walls than are possible"),
        ({"door_width": 9.5}, "door_width must be at most a quarter of arena_size"),
        ({"cut_width": [5, 9.5]}, "cut_width must be at most a quarter of arena_size.*world 1"),
        ({"box_mass": -1}, "'box_mass' must be a number from 0.001 to 1000"),
        ({"agent_mass": 0}, "'agent_mass' must be a number from 0.001 to 1000"),
    ],
)
def test_changes_that_do_not_fit_are_refused(
    make_simulator: Make, change: dict[str, Any], message: str
) -> None:
    simulator = make_simulator("HideSeek-v0", WORLDS, varies=list(change))
    simulator.reset(seed=1)
    before = simulator.save()
    with pytest.raises(ValueError, match=message):
        simulator.set_parameters(**change)
    assert simulator.save() == before


@pytest.mark.parametrize(
    "parameters",
    [
        {"grab_reach": [1.0, 4.0]},
        {"agent_friction": [0.0, 0.9]},
        {"sight_half_angle": [0.4, 3.0]},
        {"box_count_low": [0, 6]},
    ],
)
@pytest.mark.parametrize("profile", ["fixed", "openai"])
def test_what_is_left_to_a_parameter_follows_it_in_each_world(
    make_simulator: Make, parameters: dict[str, list[float]], profile: str
) -> None:
    options: dict[str, Any] = {"profile": profile, "preparation_steps": 3}
    batch = make_simulator("HideSeek-v0", WORLDS, **options, **parameters)
    own = [{name: value[world] for name, value in parameters.items()} for world in range(WORLDS)]
    alone = [
        make_simulator("HideSeek-v0", 1, first_world=world, **options, **own[world])
        for world in range(WORLDS)
    ]
    for simulator in (batch, *alone):
        simulator.reset(seed=5)
    random = np.random.default_rng(2)
    shape = (30, WORLDS, batch.agents_per_world, 5)
    for actions in random.integers(0, [11, 11, 11, 2, 2], shape, np.int32):
        seen = batch.step(actions)
        for world, simulator in enumerate(alone):
            one = simulator.step(actions[world : world + 1])
            np.testing.assert_array_equal(seen.obs[world], one.obs[0])
            np.testing.assert_array_equal(seen.reward[world], one.reward[0])
