"""Who plays what: groups of agents, worlds with earlier policies, and what those remember."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch")

import torch
from gymnasium import spaces

from gpu_envs.policies.distributions import of_space
from gpu_envs.policies.layers import RowShape
from gpu_envs.policies.networks import Policy
from gpu_envs.policies.sharing import groups
from gpu_envs.train.config import Config
from gpu_envs.train.self_play import Past, Seats

CPU = torch.device("cpu")
ROLES = ["hider_0", "hider_1", "seeker_0", "seeker_1", "seeker_2"]
PLAYERS = ["player_0", "player_1", "player_2"]


def seats(worlds: int, agents: int, first_world: int = 0, total: int = 0, **choices: Any) -> Seats:
    env: Any = SimpleNamespace(
        agents_per_world=agents, agent_names=ROLES[:agents], num_worlds=worlds
    )
    config = Config(env="Game-v0", num_envs=total or worlds, **choices)
    return Seats(config, env, CPU, first_world)


# ---- groups


def test_agents_are_grouped_by_policy() -> None:
    assert groups("shared", ROLES) == {"all": [0, 1, 2, 3, 4]}
    assert groups("role", ROLES) == {"hider": [0, 1], "seeker": [2, 3, 4]}
    assert groups("agent", ROLES[:3]) == {"hider_0": [0], "hider_1": [1], "seeker_0": [2]}


def test_agents_without_roles_are_one_role() -> None:
    assert groups("role", PLAYERS) == {"player": [0, 1, 2]}
    assert groups("agent", PLAYERS[:2]) == {"player_0": [0], "player_1": [1]}
    assert groups("shared", PLAYERS[:1]) == {"all": [0]}


@pytest.mark.parametrize("policies", ["shared", "role", "agent"])
@pytest.mark.parametrize("agents", [1, 2, 5])
def test_every_row_has_exactly_one_policy(policies: str, agents: int) -> None:
    learners = list(seats(4, agents, policies=policies).learners())
    if len(learners) == 1:
        assert learners[0][2] is None  # all rows
        return
    rows = torch.cat([rows for _, _, rows, _ in learners if rows is not None])
    assert torch.equal(rows.sort().values, torch.arange(4 * agents))
    for name, _, own, past in learners:
        assert own is not None and past is None
        names = {ROLES[row % agents] for row in own.tolist()}
        assert all(n.startswith(name) for n in names)


# ---- worlds in which earlier policies play


def learned(chosen: Seats) -> torch.Tensor:
    """Return what is learned from, (worlds, agents), checked against who plays."""
    learners = list(chosen.learners())
    rows = chosen.worlds * chosen.agents
    played = torch.zeros(rows, dtype=torch.int64)
    for _, _, own, past in learners:
        assert past is not None
        mine = torch.arange(rows) if own is None else own
        played[mine[past.positions]] += 1
        assert torch.equal(past.learns, learners[0][3].learns)  # type: ignore[union-attr]
    learns = learners[0][3].learns  # type: ignore[union-attr]
    # A row is played by an earlier policy or learned from, never both or neither.
    assert torch.equal(played, (~learns).long())
    return learns.view(chosen.worlds, chosen.agents)


def test_one_agent_in_turn_learns_where_one_policy_plays_all() -> None:
    found = learned(seats(8, 2, past_worlds=0.5))
    assert found[1::2].tolist() == [[True, False], [False, True]] * 2
    assert found[::2].all()


def test_one_role_in_turn_learns_where_roles_have_their_own() -> None:
    found = learned(seats(6, 5, policies="role", past_worlds=0.5))
    hiders, seekers = [True] * 2 + [False] * 3, [False] * 2 + [True] * 3
    assert found[1::2].tolist() == [hiders, seekers, hiders]
    assert found[::2].all()


def test_one_agent_in_turn_learns_where_each_has_its_own() -> None:
    found = learned(seats(7, 3, policies="agent", past_worlds=1.0))
    assert torch.equal(found, torch.eye(3, dtype=torch.bool)[torch.arange(7) % 3])


@pytest.mark.parametrize("policies", ["shared", "role", "agent"])
@pytest.mark.parametrize("share", [0.3, 0.5, 1.0])
@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_share_the_worlds_of_one_process(policies: str, share: float, ranks: int) -> None:
    total = 13
    choices = {"policies": policies, "past_worlds": share, "total": total}
    whole = learned(seats(total, 5, **choices))
    cuts = [total * r // ranks for r in range(ranks + 1)]
    parts = [learned(seats(b - a, 5, a, **choices)) for a, b in itertools.pairwise(cuts)]
    assert torch.equal(torch.cat(parts), whole)
    assert int((~whole.all(1)).sum()) == round(share * total)


def test_earlier_policies_need_somebody_to_play_against() -> None:
    with pytest.raises(ValueError, match="--past-worlds needs an environment with several agents"):
        seats(4, 1, past_worlds=0.5)
    assert next(seats(4, 1).learners())[3] is None


# ---- earlier policies


def policy(**choices: Any) -> Policy:
    config = Config(env="Game-v0", hidden="4", **choices)
    shape = RowShape(("x",), ((3,),), 1.0)
    return Policy(shape, of_space(spaces.Discrete(3), CPU), config)


def past(positions: list[int], rows: int = 6, number: int = 0, **choices: Any) -> Past:
    learns = torch.ones(rows, dtype=torch.bool)
    learns[positions] = False
    config = Config(env="Game-v0", hidden="4", **choices)
    found = Past(config, number, torch.tensor(positions, dtype=torch.int64), learns, CPU)
    found.policy = policy(**choices)
    return found


def mark(present: Policy, number: float) -> None:
    for parameter in present.parameters():
        parameter.data.fill_(number)


def marks(kept: list[dict[str, torch.Tensor]]) -> list[int]:
    return [int(one["critic.bias"]) for one in kept]


def test_the_first_and_the_latest_policies_are_kept() -> None:
    found, present = past([0], past_every=2, past_kept=3), policy()
    history = []
    for update in range(12):
        mark(present, update)
        found.choose(present, update)
        history.append(marks(found.kept))
    assert history[0] == history[1] == [0]
    assert history[2] == [0, 2] and history[5] == [0, 2, 4]
    assert history[6] == [0, 4, 6] and history[11] == [0, 8, 10]


def test_the_fewest_that_can_be_kept_are_the_first_and_the_latest() -> None:
    found, present = past([0], past_every=1, past_kept=2), policy()
    for update in range(5):
        mark(present, update)
        found.choose(present, update)
    assert marks(found.kept) == [0, 4]
    with pytest.raises(ValueError, match="--past-kept must be at least 2, got 1"):
        Config(env="Game-v0", past_kept=1)


def test_every_policy_that_is_kept_plays_at_times_and_learners_choose_apart() -> None:
    present, chosen = policy(), {}
    for number in (0, 1):
        found, chosen[number] = past([0], number=number, past_every=1, past_kept=4), []
        for update in range(100):
            mark(present, update)
            found.choose(present, update)
            plays = int(found.policy.critic.bias)
            assert plays in marks(found.kept)
            chosen[number].append(marks(found.kept).index(plays))
    assert chosen[0] != chosen[1]
    for choices in chosen.values():
        counts = [choices[4:].count(k) for k in range(4)]
        assert min(counts) > 8  # of 24 each


def test_what_is_kept_does_not_learn_on() -> None:
    found, present = past([0], past_every=5), policy()
    mark(present, 1)
    found.choose(present, 0)
    mark(present, 2)
    found.choose(present, 1)
    assert marks(found.kept) == [1] and int(found.policy.critic.bias) == 1


def test_a_state_goes_on_with_the_same_choices() -> None:
    one, present = past([0], past_every=1, past_kept=3), policy()
    for update in range(7):
        mark(present, update)
        one.choose(present, update)
    other = past([0], past_every=1, past_kept=3)
    other.load(one.state())  # type: ignore[arg-type]
    assert marks(other.kept) == marks(one.kept)
    for update in range(7, 15):
        mark(present, update)
        for each in (one, other):
            each.choose(present, update)
        assert int(one.policy.critic.bias) == int(other.policy.critic.bias)
        assert marks(one.kept) == marks(other.kept)


def drawn(found: Past) -> list[tuple[int, torch.Tensor]]:
    """Put a list in the place of the draws."""
    calls: list[tuple[int, torch.Tensor]] = []
    found.draw = lambda t, outputs: calls.append((t, outputs))  # type: ignore[assignment]
    return calls


@pytest.mark.parametrize("memory", [0, 5])
def test_only_the_rows_of_earlier_policies_are_answered(memory: int) -> None:
    found = past([1, 4], memory=memory)
    calls, obs = drawn(found), torch.randn(6, 3)
    before = torch.randn(6, memory) if memory else None
    after = None if before is None else before + 100
    own = found.act(9, obs, before, after)
    at, others = torch.tensor([1, 4]), torch.tensor([0, 2, 3, 5])
    outputs, _, expected = found.policy.plain(obs[at], None if before is None else before[at])
    [(step, rows)] = calls
    assert step == 9 and torch.equal(rows, outputs)
    if after is None:
        assert own is None
    else:
        assert own is not None and expected is not None
        assert torch.equal(own[others], after[others]) and torch.equal(own[at], expected)


@pytest.mark.parametrize("memory", [0, 5])
def test_a_rank_without_such_worlds_changes_nothing(memory: int) -> None:
    found = past([], memory=memory)
    calls, after = drawn(found), torch.randn(6, memory) if memory else None
    own = found.act(0, torch.randn(6, 3), after, after)
    assert [len(outputs) for _, outputs in calls] == [0]
    assert (own is None) == (after is None)
    if own is not None and after is not None:
        assert torch.equal(own, after)
