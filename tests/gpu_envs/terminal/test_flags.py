"""Command lines of environments: parameters of every kind, and what comes first."""

from __future__ import annotations

from typing import Any

import pytest

from gpu_envs.commands import play, render
from gpu_envs.terminal import flags

MAKERS = [play._parser, render._parser]


def _own(make: Any, *words: str) -> dict[str, Any]:
    out = ["--out", "a.png"] if make is render._parser else []
    return flags.for_environment([*words, *out], make)[1]


@pytest.mark.parametrize("make", MAKERS)
def test_parameters_of_every_kind_are_read(make) -> None:
    assert _own(make, "CartPole-v0") == {}
    assert _own(make, "CartPole-v0", "--sutton-barto-reward", "true") == {
        "sutton_barto_reward": True
    }
    assert _own(make, "Micro-v0", "--agent-count", "3", "--max-episode-steps", "0") == {
        "agent_count": 3,
        "max_episode_steps": 0,
    }


@pytest.mark.parametrize("make", MAKERS)
def test_what_does_not_begin_with_an_id_says_so(make, capsys) -> None:
    with pytest.raises(SystemExit) as caught:
        _own(make, "--seed", "1", "CartPole-v0")
    assert caught.value.code == 2
    assert capsys.readouterr().err.endswith("error: the ID comes first\n")


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("text", ["-2", "-.5", "-1e-3", "-2.5E+1"])
def test_negative_numbers_of_every_form_are_values(make, text: str) -> None:
    words = ("TagContinuous-v0", "--tag-penalty-for-runner", text)
    assert _own(make, *words) == {"tag_penalty_for_runner": float(text)}


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("text", ["2..4", "-2..-1", "1..3@0.5"])
def test_a_range_is_refused_where_one_value_is_needed(make, text: str, capsys) -> None:
    with pytest.raises(SystemExit):
        _own(make, "TagContinuous-v0", "--tag-penalty-for-runner", text)
    line = f"must be one value, got '{text}': no range is taken here"
    assert f"--tag-penalty-for-runner: {line}" in capsys.readouterr().err
