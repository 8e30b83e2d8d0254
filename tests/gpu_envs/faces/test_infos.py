"""Which outputs are infos, and when: by their traits alone, so that a new one is shown too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpu_envs
from gpu_envs.core.layout import Layout, Output
from gpu_envs.faces.infos import RETURNED, infos_of, parts_by_name
from gpu_envs.known.fields import Field
from gpu_envs.known.outputs import OUTPUTS, Outputs


def layout(**traits: dict[str, bool]) -> Layout:
    usual = {"by_a_step": True, "where_ended": False, "per_agent": True}
    made = {
        name: Output(name, "float32", (2, 1), (2,), **{**usual, **own}, nbytes=8, block=1, offset=0)
        for name, own in traits.items()
    }
    return Layout(2, 1, Outputs(**made), (0, 0))


def test_every_output_is_returned_by_itself_or_an_info() -> None:
    traits: dict[str, dict[str, bool]] = {name: {} for name in OUTPUTS}
    infos = infos_of(layout(**traits))
    shown = {*infos.always, *infos.of_steps, *infos.of_ends}
    assert shown | RETURNED == set(OUTPUTS) and not shown & RETURNED


@pytest.mark.parametrize(
    ("traits", "kind"),
    [
        ({"by_a_step": False}, "always"),
        ({"by_a_step": False, "per_agent": False}, "always"),
        ({}, "of_steps"),
        ({"where_ended": True}, "of_ends"),
        ({"where_ended": True, "per_agent": False}, "of_steps"),  # ends are marked by agent
    ],
)
def test_traits_say_when_an_output_is_shown(traits: dict[str, bool], kind: str) -> None:
    infos = infos_of(layout(true_objective=traits, obs={}))
    assert infos._asdict() == {
        name: ("true_objective",) if name == kind else () for name in infos._fields
    }
    assert not any(infos_of(layout(true_objective=traits), but=("true_objective",)))


def test_parts_of_a_reward_are_cut_by_their_fields() -> None:
    fields = (Field("shaped", "float32"), Field("goals", "float32", (2,)))
    parts = parts_by_name(np.arange(6.0).reshape(2, 3), fields)
    assert parts["shaped"].tolist() == [0, 3] and parts["goals"].tolist() == [[1, 2], [4, 5]]


def test_one_world_shows_what_a_step_writes_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """`ended` stands for an output that only a step writes and that is valid for every agent."""
    monkeypatch.setattr("gpu_envs.faces.infos.RETURNED", RETURNED - {"ended"})
    single = gpu_envs.make("CartPole-v0")
    assert "ended" not in single.reset(seed=1)[1]
    assert single.step(1)[-1]["ended"] is False
    parallel: Any = gpu_envs.parallel_env("CartPole-v0")
    assert "ended" not in parallel.reset(seed=1)[1]["player_0"]
    assert parallel.step({"player_0": 1})[-1]["player_0"]["ended"] is False
    single.close()
    parallel.close()
