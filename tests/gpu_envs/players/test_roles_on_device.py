"""What players and actions by role compute where arrays are a GPU's: here torch's, in host memory.

The simulator is a real one that says it is on a GPU; what is stepped is looked at before it is.
"""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpu_envs.core import role_actions, roles
from gpu_envs.known.outputs import Outputs
from gpu_envs.players import lots, other_players

WORLDS = 7
pytestmark = pytest.mark.usefixtures("troupe")


@pytest.fixture
def device(make_simulator, torch, monkeypatch) -> Any:
    """Makes pairs of a simulator and its double on a GPU whose memory is the host's."""
    monkeypatch.setattr(role_actions, "to_library", _to_library)
    for module in (other_players, lots):
        monkeypatch.setattr(module, "to_library", _to_library)
    monkeypatch.setattr(
        role_actions.RoleReader, "_is_on_device", lambda _, a: hasattr(a, "is_cuda")
    )

    def make(name: str, **options: Any) -> tuple[Any, Any]:
        simulator = make_simulator(name, WORLDS, **options)
        names = (
            "get",
            "num_worlds",
            "agents_per_world",
            "roles",
            "kinds",
            "action_fields",
            "instance",
        )
        facts = {name: getattr(simulator, name) for name in names}
        facts |= {"changes": 0, "name": simulator.name, "device": "cuda:0", "arrays": "torch"}
        double = SimpleNamespace(**facts)
        double.role_actions = role_actions.RoleActions(double, double.kinds, double.roles)
        return simulator, double

    return make


def _to_library(array: np.ndarray, simulator: Any) -> Any:
    import torch

    return array if simulator.device == "cpu" else torch.from_numpy(np.ascontiguousarray(array))


def _seen(simulator: Any, role: roles.Role, on: Any, masks: Any) -> other_players.Seen:
    mask = None if masks is None else on(np.ascontiguousarray(masks[role.name]))
    return other_players.Seen(Outputs(), None, mask)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("Troupe-v0", {"roles": "split"}),
        ("Band-v0", {"roles": "split"}),
        ("TagContinuous-v0", {"num_taggers": 2, "num_runners": 3}),
        ("SwarmTag-v0", {"chaser_count": 2, "runner_count": 3}),
    ],
)
@pytest.mark.parametrize("player", [other_players.Chance, other_players.Idle])
def test_players_do_the_same_in_both_libraries(device, torch, name, options, player) -> None:
    simulator, double = device(name, **options)
    outputs = simulator.reset(seed=0)
    masks = None if outputs.action_mask is None else simulator.by_role(outputs.action_mask)
    if masks is not None:
        masks["dancer"] = np.where(np.arange(3) == 1, 0, masks["dancer"])  # a stricter one
        masks["dancer"][2] = 0  # and where nothing is left
    first = (5,) if player is other_players.Chance else ()
    for role in simulator.roles:
        own = masks if role.has_mask else None
        pair = [player(each, role, *first) for each in (simulator, double)]
        for each in pair:
            each.begin(12, None)
            each.begin([3] * WORLDS, np.arange(WORLDS) > 4)
        for _ in range(4):
            plain = pair[0](_seen(simulator, role, np.asarray, own))
            placed = pair[1](_seen(double, role, torch.from_numpy, own))
            assert isinstance(placed, torch.Tensor)
            assert np.array_equal(plain.astype(np.float32), placed.numpy().astype(np.float32))
            assert plain.shape == (WORLDS, role.count, *(role.action_space.shape or ()))
            for row in plain.reshape(-1, *plain.shape[2:]):
                assert row.astype(role.action_space.dtype) in role.action_space


@pytest.mark.parametrize("name", ["Troupe-v0", "Band-v0"])
def test_a_pool_does_the_same_in_both_libraries(device, torch, name) -> None:
    simulator, double = device(name, roles="split")
    masks = simulator.by_role(simulator.reset(seed=0).action_mask)
    for role in simulator.roles:
        own = masks if role.has_mask else None
        pair = [
            lots.Pool(
                each,
                role,
                [other_players.Idle(each, role), other_players.Chance(each, role, 0)],
                purpose=0,
            )
            for each in (simulator, double)
        ]
        stepped = np.arange(WORLDS) > 2
        for each in pair:
            each.begin(5, None)
        for waits in (None, stepped, None):
            plain = _seen(simulator, role, np.asarray, own)._replace(stepped=waits)
            given = None if waits is None else torch.from_numpy(waits)
            placed = _seen(double, role, torch.from_numpy, own)._replace(stepped=given)
            here, there = pair[0](plain), pair[1](placed)
            assert isinstance(there, torch.Tensor)
            assert np.array_equal(here, there.numpy())
        assert len({row.tobytes() for row in here}) > 1
        rows = [each.rows([1, 5]) for each in pair]
        assert all(np.array_equal(rows[0][n], np.asarray(rows[1][n])) for n in rows[0])
        pair[1].put([1, 5], rows[0])


def test_actions_by_role_are_joined_on_the_device(device, torch) -> None:
    simulator, double = device("TagContinuous-v0", num_taggers=2, num_runners=3)
    joiner = double.role_actions
    drawn = {role.name: torch.randint(0, 11, (WORLDS, role.count, 2)) for role in simulator.roles}
    joined = joiner.read(drawn).clone()
    assert isinstance(joined, torch.Tensor)
    parts = simulator.by_role(joined.numpy())
    assert all(np.array_equal(parts[name], drawn[name].numpy()) for name in drawn)
    by_row = {name: part.flatten(0, 1).int() for name, part in drawn.items()}
    assert torch.equal(joiner.read(by_row), joined)
    lists = {name: part.tolist() for name, part in drawn.items()}
    assert torch.equal(joiner.read(lists), joined)


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda torch: torch.zeros(7, 3, 2), TypeError, "must be integers such as int64, got flo"),
        (lambda torch: torch.zeros(7, 2, dtype=int), ValueError, r"\(21, 2\).*got \(7, 2\)"),
        (lambda torch: np.zeros((7, 3), int), ValueError, r"must have shape.*got \(7, 3\)"),
    ],
)
def test_bad_actions_on_the_device_are_refused(device, torch, make, kind, message) -> None:
    simulator, double = device("TagContinuous-v0", num_taggers=2, num_runners=3)
    runner = next(role for role in simulator.roles if role.name == "runner")
    with pytest.raises(kind, match=message):
        double.role_actions.readers[runner.name].read(make(torch))


def test_answers_on_the_device_are_not_looked_at(device, torch) -> None:
    _, double = device("Troupe-v0", roles="split")
    drummer = double.roles[1]

    def shout(obs: Any, mask: Any) -> Any:
        return torch.full((WORLDS, 2), 9)

    player = other_players.Called(double, drummer, shout)
    assert (player(other_players.Seen(Outputs(), None, None)) == 9).all()


def test_roles_without_agents_may_be_named_among_the_actions(make_simulator) -> None:
    simulator = make_simulator("Troupe-v0", WORLDS)
    empty = dataclasses.replace(simulator.roles[0], name="ghost", count=0)
    actions = role_actions.RoleActions(simulator, simulator.kinds, (*simulator.roles, empty))
    given = simulator.by_role(simulator.sample_actions())
    assert actions.read({**given, "ghost": np.zeros((WORLDS, 0), int)}) is actions.whole
