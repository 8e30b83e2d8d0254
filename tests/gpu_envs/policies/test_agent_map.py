"""Any map from agents to policies: what it names, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs gpu_envs[train]")

from gpu_envs.policies import teams
from gpu_envs.policies.sharing import groups, role_of_policy
from gpu_envs.train import config, match, run
from tests.gpu_envs.train import fresh

ROLES = ["hider_0", "hider_1", "seeker_0", "seeker_1"]


def test_agents_are_named_one_by_one_or_by_role_in_the_order_of_agents() -> None:
    found = groups("b = seeker, hider_1 ; a=hider_0", ROLES)
    assert found == {"a": [0], "b": [1, 2, 3]} and list(found) == ["a", "b"]
    made = config.make("HideSeek-v0", policies="a=hider;b=seeker", hidden="8,b=16")
    assert role_of_policy(made, "b") == "b" and made.of_role("b").hidden == "16"
    assert made.of_role("a").hidden == "8"
    assert "--policies 'a=hider;b=seeker' " in config.as_options(made)  # as a shell reads it


@pytest.mark.parametrize(
    ("policies", "message"),
    [
        ("a=hider", "no policy to seeker_0, seeker_1"),
        ("a=hider;b=seeker,hider_1", "gives hider_1 twice, to a and b"),
        ("a=hider,hider_0,seeker", "gives hider_0 twice, to a$"),
        ("a=hider;b=sekeer", "unknown agent or role .--policies b=.* did you mean 'seeker'"),
    ],
)
def test_each_agent_has_exactly_one_policy(policies: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        groups(policies, ROLES)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"policies": "a=hider;a=seeker"}, "names the policy 'a' more than once"),
        ({"policies": "a=hider;=seeker"}, "'=seeker' of a map is not of the form"),
        ({"policies": "a=hider;"}, "'' of a map is not of the form"),
        ({"policies": "a=hi der"}, "'a=hi der' of a map is not of the form"),
        ({"policies": "roles"}, "must be shared or role or agent, or a map"),
        ({"policies": "a=hider", "learn": "hider"}, "--learn and a map of --policies exclude"),
    ],
)
def test_nonsense_is_named(choices: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        config.make("HideSeek-v0", **choices)


def test_a_policy_that_the_map_does_not_have_is_named(capsys: Any) -> None:
    words = ("Hanabi-v0", "--policies", "a=player", "--hidden", "b=8", "--device", "cpu")
    assert run.main([*words, "--out", "runs/none"]) == 2
    assert "unknown role (--hidden b=...) 'b' (valid: a)" in capsys.readouterr().err


def test_a_file_with_a_map_plays_as_it_says(tmp_path: Path, capsys: Any) -> None:
    path = fresh.write(
        tmp_path / "p", "Micro-v0", policies="one=player_0,player_3;two=player_1,player_2,player_4"
    )
    config_of = match._saved(path)
    names = [f"player_{k}" for k in range(5)]
    assert teams.agents_of(config_of, names) == [0, 1, 1, 0, 1]
    assert match.main([str(path), "--episodes", "2", "--device", "cpu"]) == 0
    assert "FILE" in capsys.readouterr().out
