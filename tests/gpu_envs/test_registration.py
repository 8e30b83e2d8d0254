"""What importing registers, and how environments are found."""

from __future__ import annotations

from typing import Any

import gymnasium
import pytest
from gymnasium.envs.registration import EnvSpec

import gpu_envs
from gpu_envs import registration

IDS = [f"gpu_envs/{name}" for name in gpu_envs.environments()]


@pytest.mark.parametrize("env_id", IDS)
def test_spec_round_trips_through_json(env_id: str) -> None:
    spec = gymnasium.spec(env_id)
    assert isinstance(spec.entry_point, str)
    assert isinstance(spec.vector_entry_point, str)
    assert EnvSpec.from_json(spec.to_json()) == spec


@pytest.mark.parametrize("env_id", IDS)
def test_spec_carries_limit_and_threshold_of_the_description(env_id: str) -> None:
    description = gpu_envs.environments()[env_id.removeprefix("gpu_envs/")]
    spec = gymnasium.spec(env_id)
    assert spec.max_episode_steps == (description["max_episode_steps"] or None)
    assert spec.reward_threshold == description["reward_threshold"]


def test_bare_id_exists_only_where_nobody_else_has_the_name() -> None:
    assert gymnasium.spec("Micro-v0").vector_entry_point == "gpu_envs.vector:VectorEnv"
    assert gymnasium.spec("CartPole-v0").vector_entry_point != "gpu_envs.vector:VectorEnv"
    assert "CartPole-v1" in gymnasium.registry


def test_registering_twice_changes_nothing(recwarn: pytest.WarningsRecorder) -> None:
    before = dict(gymnasium.registry)
    registration.register_all()
    assert dict(gymnasium.registry) == before
    assert not recwarn.list


@pytest.mark.parametrize("name", ["CartPole-v0", "gpu_envs/CartPole-v0"])
def test_find_takes_ids_with_and_without_namespace(name: str) -> None:
    assert registration.find(name)["id"] == "CartPole-v0"


def test_find_suggests_the_closest_id() -> None:
    with pytest.raises(ValueError, match=r"did you mean 'CartPole-v0'"):
        registration.find("CartPol-v0")


def test_missing_catalogue_says_how_to_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registration, "environments", dict)
    with pytest.raises(RuntimeError, match="pip install"):
        registration.find("CartPole-v0")


def test_make_helpers_look_in_this_package_first() -> None:
    env = gpu_envs.make("CartPole-v0")
    batch = gpu_envs.make_vec("CartPole-v0", 3, device="cpu")
    assert isinstance(env.unwrapped, gpu_envs.Env)
    assert isinstance(batch.unwrapped, gpu_envs.VectorEnv)
    env.close()
    batch.close()


def test_unknown_attribute_of_the_package_is_an_attribute_error() -> None:
    missing: Any = "simulatr"
    with pytest.raises(AttributeError, match="simulatr"):
        getattr(gpu_envs, missing)
    assert set(gpu_envs.__all__) <= set(dir(gpu_envs))
