"""Wording of messages, and the package's own exception."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_envs import ResetNeeded, errors


def test_suggestion_names_the_closest_candidate() -> None:
    assert errors.suggestion("agent_cuont", ["work", "agent_count"]) == (
        "; did you mean 'agent_count'?"
    )


NAMES = ["agent_size", "hider_count", "box_count_low", "box_size", "max_life_tokens"]
OPTIONS = ["threads", "autoreset_mode", "max_episode_steps", "SameStep", "HideSeek-v0", "layout"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("hiders", "hider_count"),
        ("num_hiders", "hider_count"),
        ("n_hiders", "hider_count"),
        ("hider_cuont", "hider_count"),
        ("boxes", "box_count_low"),
        ("life_tokens", "max_life_tokens"),
        ("num_threads", "threads"),
        ("autoreset", "autoreset_mode"),
        ("max_steps", "max_episode_steps"),
        ("same_step", "SameStep"),
        ("SAMESTEP", "SameStep"),
        ("hide_seek", "HideSeek-v0"),
        ("hideseek-v0", "HideSeek-v0"),
        ("layout_name", "layout"),
    ],
)
def test_suggestion_knows_words_and_not_their_case(name: str, meant: str | None) -> None:
    assert errors.closest(name, [*NAMES, *OPTIONS]) == meant


def test_suggestion_is_empty_without_a_close_candidate() -> None:
    assert errors.suggestion("zzz", ["work"]) == ""


def test_unknown_lists_all_candidates() -> None:
    assert errors.unknown("option", "lo", ["low", "high"]) == (
        "unknown option 'lo'; did you mean 'low'? (valid: low, high)"
    )
    assert errors.unknown("option", "x", []).endswith("(valid: none)")


def test_unexpected_keyword_is_worded_as_by_python() -> None:
    assert errors.unexpected("Some-v0", "wrok", ["work", "agent_count"]) == (
        "Some-v0 got an unexpected keyword argument 'wrok'; did you mean 'work'? "
        "(valid: work, agent_count)"
    )


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3)])
def test_whole_accepts_integers_of_any_library(value: object) -> None:
    assert errors.whole(value, "count", 1, 5) == 3


@pytest.mark.parametrize("value", [True, 3.0, "3", None, np.array([3]), np.array([3, 4])])
def test_whole_refuses_other_types_by_name(value: object) -> None:
    with pytest.raises(TypeError, match="count must be an int"):
        errors.whole(value, "count", 1, 5)


@pytest.mark.parametrize("value", [0, 6, -(10**30)])
def test_whole_refuses_values_outside_by_name(value: int) -> None:
    with pytest.raises(ValueError, match="count must be between 1 and 5"):
        errors.whole(value, "count", 1, 5)


def test_reset_needed_is_a_runtime_error() -> None:
    assert issubclass(ResetNeeded, RuntimeError)
