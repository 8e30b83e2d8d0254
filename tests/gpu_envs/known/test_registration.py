"""What importing registers, and how environments are found."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from gymnasium.envs.registration import EnvSpec

import gpu_envs
from gpu_envs.building import outside, places
from gpu_envs.known import registration

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
    assert gymnasium.spec("Micro-v0").vector_entry_point == "gpu_envs.faces.vector:VectorEnv"
    assert gymnasium.spec("CartPole-v0").vector_entry_point != "gpu_envs.faces.vector:VectorEnv"
    assert "CartPole-v1" in gymnasium.registry


def test_registering_twice_changes_nothing(recwarn: pytest.WarningsRecorder) -> None:
    before = dict(gymnasium.registry)
    registration.register_all()
    assert dict(gymnasium.registry) == before
    assert not recwarn.list


@pytest.mark.parametrize("name", ["CartPole-v0", "gpu_envs/CartPole-v0", "CartPole"])
def test_find_takes_ids_with_and_without_namespace(name: str) -> None:
    assert registration.find(name)["id"] == "CartPole-v0"


def test_find_suggests_the_closest_id() -> None:
    for name in ("CartPol-v0", "cartpole", "cart_pole-v0", "CartPole-v1"):
        with pytest.raises(ValueError, match=r"did you mean 'CartPole-v0'"):
            registration.find(name)


def test_an_unknown_id_lists_all() -> None:
    with pytest.raises(ValueError, match=r"unknown environment 'Nobody' .*CartPole-v0.* more"):
        registration.find("Nobody")


def test_environments_of_the_cache_come_after_those_of_the_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GPU_ENVS_CACHE", str(tmp_path / "cache"))
    template = registration.find("CartPole-v0")
    header = tmp_path / "mine.hpp"
    later = {**template, "id": "CartPole-v7"}
    outside.keep(header, [{**template, "id": "Mine-v0"}, {**template, "doc": "another"}, later])
    with pytest.warns(UserWarning) as warned:
        registration.refresh()
    said = "\n".join(str(warning.message) for warning in warned)
    assert f"CartPole-v0 of {header} is hidden by that of gpu_envs" in said
    assert f"CartPole-v7 of {header} is hidden by CartPole-v0 of gpu_envs" in said
    try:
        assert registration.home("Mine-v0") == registration.Home("mine", header)
        assert registration.home("CartPole-v0") == registration.Home("cartpole")
        for name in ("CartPole-v0", "CartPole"):  # without a version: the package's own
            assert registration.find(name) == template
        assert "CartPole-v7" not in registration.environments()
        assert gymnasium.spec("gpu_envs/Mine-v0").kwargs == {"name": "Mine-v0"}
    finally:
        gymnasium.registry.pop("gpu_envs/Mine-v0", None)
        gymnasium.registry.pop("Mine-v0", None)
        monkeypatch.undo()
        registration.refresh()


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


def test_pages_pass_ids_to_gymnasium_with_the_prefix() -> None:
    root = Path(__file__).resolve().parents[3]
    pages = [root / "README.md", *root.glob("docs/**/*.md"), *root.glob("examples/*.py")]
    call = re.compile(r"\b(?:gymnasium|gym)\.make(?:_vec)?\(\s*\"([^\"]+)\"")
    shown = [(page.name, name) for page in pages for name in call.findall(page.read_text("utf-8"))]
    assert len(shown) > 15
    bare = {name for _, name in shown if not name.startswith("gpu_envs/")}
    assert bare <= {"CartPole-v1"}  # Gymnasium's own, beside ours where a script is moved


def test_what_a_user_has_built_is_no_part_of_the_tests() -> None:
    """In this process and in those that tests start."""
    assert places.cache_folder().name.startswith("gpu_envs-tests-")
    assert registration.shipped() == list(registration.environments())


def test_shipped_ids_are_those_of_the_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ours = registration.shipped()
    monkeypatch.setenv("GPU_ENVS_CACHE", str(tmp_path / "cache"))
    outside.keep(tmp_path / "mine.hpp", [{**registration.find("CartPole-v0"), "id": "Mine-v0"}])
    try:
        registration.refresh()
        assert "Mine-v0" in registration.environments()
        assert registration.shipped() == ours
    finally:
        for name in ("gpu_envs/Mine-v0", "Mine-v0"):
            gymnasium.registry.pop(name, None)
        monkeypatch.undo()
        registration.refresh()
