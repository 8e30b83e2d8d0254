"""What errors say: the point first, the likely name, and no list longer than a line or two."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpu_envs
from gpu_envs import errors


def seeker(others: Any) -> Any:
    return gpu_envs.make_vec("HideSeek-v0", 2, role="seeker", others=others)


class Player:
    def __call__(self, role: str, obs: Any, mask: Any) -> Any:
        return np.zeros((*obs.shape[:2], 5), np.int64)


ARGUMENTS = [
    (lambda: 0, r"others=: the callable is called with \(role, obs, mask\), got <lambda>\(\)"),
    (lambda role, obs: 0, r"called with \(role, obs, mask\), got <lambda>\(role, obs\)"),
    ({"hider": lambda role, obs, mask: 0}, r"others= of role 'hider': .* \(obs, mask\), got"),
]


@pytest.mark.parametrize(("others", "message"), ARGUMENTS)
def test_callables_with_other_arguments_are_refused_when_they_are_given(others, message) -> None:
    with pytest.raises(TypeError, match=message):
        seeker(others)


def test_callables_of_any_kind_that_take_the_arguments_play() -> None:
    for others in (
        Player(),
        lambda *given: Player()(*given),
        {"hider": lambda o, m: Player()("", o, m)},
    ):
        env = seeker(others)
        env.reset(seed=1)
        env.step(np.zeros((env.num_envs, 5), np.int64))
        env.close()


@pytest.mark.parametrize("array", [None, 3, "obs", [1, 2], object(), {"x": 3}])
def test_by_role_of_what_is_not_an_array_is_refused(array) -> None:
    simulator = gpu_envs.Simulator("HideSeek-v0", 2)
    with pytest.raises(TypeError, match="by_role takes an output of HideSeek-v0, an array or a"):
        simulator.by_role(array)


def test_outputs_of_unknown_names_suggest_the_likeliest() -> None:
    for name, likely in (("final", "final_obs"), ("mask", "action_mask"), ("rewards", "reward")):
        with pytest.raises(ValueError, match=f"'{name}'; did you mean '{likely}'"):
            gpu_envs.Simulator("CartPole-v0", 2, outputs=(name,))


def test_long_lists_come_after_the_point_and_are_shortened() -> None:
    simulator = gpu_envs.Simulator("HideSeek-v0", 2)
    for call in (
        lambda: gpu_envs.make_vec("HideSeek-v0", 2, foo=3),
        lambda: simulator.get("foo"),
        lambda: gpu_envs.Simulator("CartPole-v0", 2, outputs=("foo",)),
    ):
        with pytest.raises((TypeError, ValueError)) as raised:
            call()
        text = str(raised.value)
        assert text.index("'foo'") < text.index("valid: ") and len(text) < 400
        assert re.search(r" and \d+ more(: `python -m gpu_envs info HideSeek-v0`)?\)$", text)


def test_a_shortened_list_keeps_what_is_spelt_alike_in_its_order() -> None:
    names = [f"{letter}{k}" for letter in "abcd" for k in range(10)]
    shown, _, rest = errors.listed(names, "c5").partition(" and ")
    chosen = shown.split(", ")
    assert "c5" in chosen and chosen == [n for n in names if n in chosen]
    assert len(chosen) + int(rest.split()[0]) == len(names)
    assert errors.listed(["a", "b"]) == "a, b" and errors.listed([]) == "none"


def test_a_policy_of_another_layout_says_what_it_was_trained_with() -> None:
    pytest.importorskip("torch", reason="needs torch")
    from gpu_envs.players import policy_files

    path = policy_files.folder() / "Overcooked-v0.ckpt"
    simulator = gpu_envs.Simulator("Overcooked-v0", 2, layout="coordination_ring")
    with pytest.raises(ValueError, match=r"was trained with layout='cramped_room'.* this environ"):
        policy_files.team(path, simulator)


def test_a_policy_that_does_not_fit_names_real_differences_alone(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs torch")
    from gpu_envs.players import policy_files
    from tests.gpu_envs.train import fresh

    own = {"num_taggers": 2, "min_turn": -0.1, "max_speed": "0.1..0.3"}
    path = fresh.write(tmp_path / "own.ckpt", "TagContinuous-v0", own)
    given = {
        "tagging_distance": 0.01,
        "skill_level_tagger": gpu_envs.uniform(1, 2),
        "num_taggers": 1,
    }
    simulator = gpu_envs.Simulator("TagContinuous-v0", 2, device="cpu", **given)
    usual = simulator.parameters["min_turn"]
    with pytest.raises(
        ValueError,
        match=r"own\.ckpt: was trained with num_taggers=2, min_turn=-0\.1, this environment has "
        rf"num_taggers=1, min_turn={usual:.8g}; a policy plays",
    ):
        policy_files.team(path, simulator)
