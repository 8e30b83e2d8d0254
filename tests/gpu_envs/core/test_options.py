"""The options of a simulator: signatures and help texts of all faces agree with the one table."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import pytest

import gpu_envs
from gpu_envs.core import options
from gpu_envs.core.options import Options
from gpu_envs.faces.single import Env
from gpu_envs.faces.world import World

FIELDS = {field.name: field for field in dataclasses.fields(Options)}
# What each face settles itself, and refuses or describes in words of its own.
SETTLED: dict[type, set[str]] = {
    gpu_envs.Simulator: set(),
    gpu_envs.VectorEnv: {"roles"},
    gpu_envs.BatchedParallelEnv: {"roles"},
    Env: {"roles", *options.OF_BATCHES},
    World: {"roles", *options.OF_BATCHES},
}


def entries(face: type) -> list[str]:
    """Return the names that the help of a class explains, in order."""
    explained = [line for line in str(face.__doc__).splitlines() if line[:9].count(" ") == 8]
    return [line.strip().partition(":")[0] for line in explained]


def test_signature_of_a_simulator_is_that_of_its_options() -> None:
    parameters = inspect.signature(gpu_envs.Simulator).parameters.values()
    keywords = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
    fields = list(FIELDS.values())
    assert [(p.name, p.default, p.annotation) for p in keywords] == [
        (field.name, field.default, field.type) for field in fields
    ]


@pytest.mark.parametrize("face", SETTLED, ids=lambda face: face.__name__)
def test_help_explains_every_option_once(face: type) -> None:
    explained = entries(face)
    assert sorted(set(explained)) == sorted(explained)
    assert set(explained) >= FIELDS.keys() - SETTLED[face]
    assert not set(explained) & SETTLED[face]


def test_help_has_the_whole_text_of_an_option() -> None:
    words = " ".join(str(gpu_envs.Simulator.__doc__).split())
    for name, field in FIELDS.items():
        assert f"{name}: {field.metadata['doc']}" in words


def test_class_without_a_docstring_stays_without() -> None:
    bare: Any = type("Bare", (), {"__doc__": None})
    assert options.documented()(bare).__doc__ is None


def test_options_cannot_be_changed() -> None:
    given = Options(strict=True)
    with pytest.raises(dataclasses.FrozenInstanceError):
        given.strict = False  # type: ignore[misc]
