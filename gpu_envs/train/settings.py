"""Settings of training, evaluation and later play, and their differences.

The lines and the curve of a run, `evaluate` and docs/learning.md all take them from here. A setting
is a parameter of the environment, by its name and with its default where it was not chosen, or the
way in which agents act.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from gpu_envs.known import fields, suites
from gpu_envs.train.config import Config

Settings = dict[str, Any]

SAMPLED, LIKELIEST = "sampled", "likeliest"
LIMIT = "max_episode_steps"
ACTIONS = "policy's actions"
_NOISE, _PAST = "steps of the same noise", "share of worlds with earlier opponents"
_NAMES = "names by which agents play"
TRUE, DRAWN = "true", "drawn"
_LEVELS = "levels of episodes"


def described(env: str) -> list[fields.Field]:
    """Return the fields of the worlds: the parameters of the environment, and its time limit."""
    entry = suites.described(env)
    found = list(fields.read(entry["parameters"]))
    if all(field.name != LIMIT for field in found):
        doc = "steps after which an episode is cut short; 0: never"
        usual = entry["max_episode_steps"] or 0
        found.append(fields.Field(LIMIT, "int32", low=0, default=usual, doc=doc))
    return found


def usual(env: str) -> Settings:
    """Return the parameters of an environment by default."""
    own = suites.own_defaults(env)
    return {
        field.name: fields.short(field.default, field.type)
        for field in described(env)
        if field.name not in own
    }


def _parameters(env: str, *chosen: Mapping[str, Any]) -> Settings:
    found = usual(env)
    for own in chosen:
        found |= fields.shortened(described(env), own)
    return found


def training(config: Config) -> Settings:
    """Return the settings of a run's rollouts."""
    found = _parameters(config.env, config.parameters) | config.varying
    found |= {ACTIONS: SAMPLED, _NOISE: config.hold_noise, _PAST: config.past_worlds}
    names = DRAWN if config.other_play else TRUE
    return found | {_NAMES: names, _LEVELS: _levels(config.level_count)}


def _levels(count: int) -> str:
    return f"{count} fixed" if count else "any"


def evaluation(config: Config, *, is_sampled: bool | None = None, level_count: int = 0) -> Settings:
    """Return the settings of a run's evaluations, or of play with its policies.

    Args:
        config: The run.
        is_sampled: Whether actions are drawn; None: as the run says.
        level_count: Of fixed levels, 0 for any.
    """
    found = _parameters(config.env, config.parameters, config.evaluation_parameters)
    draws = config.sampled_evaluation if is_sampled is None else is_sampled
    # The likeliest actions use no noise, so how long it is held makes no difference.
    found |= {ACTIONS: SAMPLED, _NOISE: 1} if draws else {ACTIONS: LIKELIEST}
    return found | {_PAST: 0.0, _NAMES: TRUE, _LEVELS: _levels(level_count)}


def variant(config: Config) -> list[str]:
    """Return the parameters of a run's evaluations that are not as by default, as NAME=VALUE."""
    plain, own = usual(config.env), evaluation(config)
    return [f"{n}={fields.spelt(own[n])}" for n, value in plain.items() if own[n] != value]


def differing(one: Settings, other: Settings) -> dict[str, tuple[str, str]]:
    """Return the differences: both values by name, as they would be typed."""
    return {
        name: (fields.spelt(one[name]), fields.spelt(other[name]))
        for name in one
        if name in other and one[name] != other[name]
    }


def within(config: Config) -> list[str]:
    """Return the differences between a run's training and its evaluations, in words."""
    found = differing(training(config), evaluation(config))
    return words(config.env, found, "in training", "in evaluations")


def words(env: str, found: Mapping[str, tuple[str, str]], here: str, there: str) -> list[str]:
    """Return differences in words; a value that stands for another one is explained."""
    docs = {field.name: field.doc for field in described(env)}

    def said(name: str, value: str) -> str:
        meaning = re.search(rf"[;,:] {re.escape(value)}: ([^;]+)", docs.get(name, ""))
        return f"{value} ({meaning[1]})" if meaning else value

    return [
        f"{name} {said(name, one)} {here}, {said(name, other)} {there}"
        for name, (one, other) in found.items()
    ]
