"""Reward parts: how their weights are written, how they change, and what they weigh."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="needs torch")

import torch

from gpu_envs import VectorEnv
from gpu_envs.train.config import Config
from gpu_envs.train.rewards import Rewards

CPU = torch.device("cpu")
PARTS = ("sparse", "shaped")


def rewards(text: str, parts: tuple[str, ...] = PARTS) -> Rewards:
    config = Config(env="Kitchen-v0", reward_weights=text)
    return Rewards(config, parts, parts, "Kitchen-v0", CPU)


def weights_at(text: str, *fractions: float) -> list[list[float]]:
    found, result = rewards(text), []
    for fraction in fractions:
        found.set(fraction)
        result.append(found.weights.tolist())
    return result


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("", [(1, 1, 1), (1, 1, 1)]),
        ("shaped=0", [(1, 1, 1), (0, 0, 1)]),
        ("shaped=1..0@0.5", [(1, 1, 1), (1, 0, 0.5)]),
        ("sparse=2 shaped=-1..3@0.25", [(2, 2, 1), (-1, 3, 0.25)]),
        ("shaped=.5,sparse=1e-3", [(0.001, 0.001, 1), (0.5, 0.5, 1)]),
        ("shaped=1...5@1", [(1, 1, 1), (1, 0.5, 1)]),  # from 1 to .5, not from 1. to 5
        ("shaped=1.5..-.25@1e-2", [(1, 1, 1), (1.5, -0.25, 0.01)]),
        ("shaped=0..0@1", [(1, 1, 1), (0, 0, 1)]),
        ("  shaped=2,  sparse=3 ", [(3, 3, 1), (2, 2, 1)]),
    ],
)
def test_weights_are_read_as_written(text: str, rules: list[tuple[float, ...]]) -> None:
    assert rewards(text).rules == rules


@pytest.mark.parametrize(
    "text",
    [
        "shaped", "shaped=", "=1", "shaped=a", "shaped=1..0", "shaped=1@0.5", "shaped=1..0@",
        "shaped=1..0@half", "shaped=1-0@0.5", "shaped==1", "shaped=1.", "shaped=nan", "shaped=inf",
        "shaped:1", "shaped=1..0@-0.5", "shaped =1", "1", "shaped=1..2..3@1", "--", "shaped=0x1",
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_shown_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="--reward-weights") as found:
        rewards(text)
    message = str(found.value)
    assert repr(text.split()[0]) in message and "\n" not in message
    assert "shaped=1..0@0.5" in message or "above 0" in message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("shape=1", ["'shape'", "did you mean 'shaped'?", "sparse, shaped", "Kitchen-v0"]),
        ("shaped=1..0@0", ["above 0", "'shaped=1..0@0'"]),
        ("shaped=1 sparse=1 shaped=0", ["'shaped'", "more than once"]),
        ("shaped=1e999", ["too large", "'shaped=1e999'"]),
        ("shaped=1..0@1e999", ["too large"]),
    ],
)
def test_what_makes_no_sense_is_refused(text: str, words: list[str]) -> None:
    with pytest.raises(ValueError, match="--reward-weights") as found:
        rewards(text)
    assert all(word in str(found.value) for word in words), found.value


def test_environments_without_parts_refuse_weights_and_need_none() -> None:
    with pytest.raises(ValueError, match=r"unknown reward part .*'sparse'.*valid: none"):
        rewards("sparse=1", ())
    reward = torch.ones(2, 3)
    assert torch.equal(rewards("", ()).of(reward, None), reward)


def test_weights_change_along_a_line_and_stay_at_the_end() -> None:
    found = weights_at("shaped=1..0@0.5", 0.0, 0.125, 0.25, 0.5, 0.75, 1.0)
    assert found == [[1, 1], [1, 0.75], [1, 0.5], [1, 0], [1, 0], [1, 0]]
    assert weights_at("shaped=-1..1@1", 0.0, 0.5, 1.0) == [[1, -1], [1, 0], [1, 1]]
    assert weights_at("shaped=1..0@2", 0.0, 1.0) == [[1, 1], [1, 0.5]]  # half of the way
    assert weights_at("sparse=3", 0.0, 1.0) == [[3, 1], [3, 1]]


def test_weights_stay_where_a_captured_graph_reads_them() -> None:
    found = rewards("shaped=1..0@1")
    place = found.weights.data_ptr()
    found.set(0.3)
    assert found.weights.data_ptr() == place


def test_the_sum_is_exact_and_a_new_array() -> None:
    found, reward = rewards("sparse=2 shaped=0.5"), torch.full((2, 2), 99.0)
    parts = torch.tensor([[[1.0, 4.0], [0.0, 1.0]], [[20.0, 3.0], [0.0, 0.0]]])
    found.set(0.0)
    assert found.of(reward, parts).tolist() == [[4.0, 0.5], [41.5, 0.0]]
    plain = rewards("").of(reward, None)
    plain += 1  # values of what was cut short are added to it
    assert (reward == 99).all()


def first_pay(env: VectorEnv) -> tuple[torch.Tensor, torch.Tensor]:
    """Play at random until somebody was paid for something useful."""
    env.reset(seed=1)
    rewards, parts = [], []
    for step in range(200):
        actions = env.simulator.sample_actions(seed=step).flatten()
        _, reward, _, _, infos = env.step(actions)
        rewards.append(reward.clone())
        parts.append(torch.stack([infos["reward_parts"][n].clone() for n in PARTS], -1))
    return torch.stack(rewards), torch.stack(parts)


@pytest.mark.parametrize("factor", [1.0, 0.25])
def test_parts_of_a_real_game_weigh_as_its_own_factor_does(factor: float) -> None:
    env = VectorEnv("Overcooked-v0", 32, device="cpu", arrays="torch", shaping_factor=factor)
    reward, parts = first_pay(env)
    assert (parts[..., 1] > 0).any()  # somebody was
    config = Config(env="Overcooked-v0", reward_weights=f"shaped={factor}")
    found = Rewards(config, PARTS, PARTS, "Overcooked-v0", CPU)
    found.set(0.7)
    assert torch.equal(found.of(reward, parts), reward)
    config = Config(env="Overcooked-v0", reward_weights="shaped=0")
    none = Rewards(config, PARTS, PARTS, "Overcooked-v0", CPU)
    none.set(0.0)
    assert torch.equal(none.of(reward, parts), parts[..., 0])
    env.close()
