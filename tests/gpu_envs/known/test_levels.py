"""The choice of an instruction set."""

from __future__ import annotations

import pytest

from gpu_envs.building import processor
from gpu_envs.known import levels


def _pretend(
    monkeypatch: pytest.MonkeyPatch,
    built: set[str],
    runnable: tuple[str, ...],
    can_build: bool = False,
) -> None:
    monkeypatch.setattr(levels, "is_built", lambda target: target in built)
    monkeypatch.setattr(levels, "can_build", lambda: can_build)
    monkeypatch.setattr(processor, "runnable_levels", lambda: runnable)


def test_best_built_and_runnable_level_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GPU_ENVS_CPU", raising=False)
    _pretend(monkeypatch, {"cpu_v2", "cpu_v3", "cpu_v4"}, ("v3", "v2", "generic"))
    assert levels.chosen() == "v3"
    assert levels.built() == ("v4", "v3", "v2")


def test_a_tree_that_can_build_takes_the_best_level(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GPU_ENVS_CPU", raising=False)
    _pretend(monkeypatch, {"cpu_v2"}, ("v4", "v3", "v2", "generic"), can_build=True)
    assert levels.chosen() == "v4"
    monkeypatch.setenv("GPU_ENVS_CPU", "v3")
    assert levels.chosen() == "v3"


def test_environment_variable_forces_a_level(monkeypatch: pytest.MonkeyPatch) -> None:
    _pretend(monkeypatch, {"cpu_v2", "cpu_v3"}, ("v3", "v2"))
    monkeypatch.setenv("GPU_ENVS_CPU", "v2")
    assert levels.chosen() == "v2"


@pytest.mark.parametrize(
    ("forced", "message"),
    [("v9", "must be one of"), ("v4", "is not built"), ("v3", "does not run on this processor")],
)
def test_impossible_level_is_an_error_that_names_the_variable(
    monkeypatch: pytest.MonkeyPatch, forced: str, message: str
) -> None:
    _pretend(monkeypatch, {"cpu_v2", "cpu_v3"}, ("v2",))
    monkeypatch.setenv("GPU_ENVS_CPU", forced)
    with pytest.raises(ImportError, match=f"GPU_ENVS_CPU.*{message}"):
        levels.chosen()


def test_missing_build_says_how_to_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GPU_ENVS_CPU", raising=False)
    _pretend(monkeypatch, set(), ("v2",))
    with pytest.raises(ImportError, match="pip install"):
        levels.chosen()


def test_a_build_for_better_processors_says_what_this_one_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("GPU_ENVS_CPU", raising=False)
    _pretend(monkeypatch, {"cpu_v4"}, ("v2", "generic"))
    with pytest.raises(ImportError, match="this processor runs v2, generic; built: v4"):
        levels.chosen()
