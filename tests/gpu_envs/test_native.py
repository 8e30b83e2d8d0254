"""The choice of the compiled module."""

from __future__ import annotations

import platform
from collections.abc import Callable

import pytest

from gpu_envs import native

V2 = native._NEEDED["v2"]
V3 = V2 | native._NEEDED["v3"]
V4 = V3 | native._NEEDED["v4"]


@pytest.mark.parametrize(
    ("flags", "levels"),
    [
        (V4, ("v4", "v3", "v2", "generic")),
        (V4 - {"avx512vl"}, ("v3", "v2", "generic")),
        (V4 - {"fma"}, ("v2", "generic")),  # a gap: nothing above it counts
        (V2, ("v2", "generic")),
        (set(), ("v2", "generic")),
    ],
)
def test_levels_follow_the_processor_flags(
    monkeypatch: pytest.MonkeyPatch, flags: set[str], levels: tuple[str, ...]
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(native, "_processor_flags", lambda: flags)
    assert native.runnable_levels() == levels


def test_other_processors_run_the_generic_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert native.runnable_levels() == ("generic",)


def _pretend(monkeypatch: pytest.MonkeyPatch, built: set[str], runnable: tuple[str, ...]) -> None:
    monkeypatch.setattr(native, "_exists", lambda name: name in built)
    monkeypatch.setattr(native, "runnable_levels", lambda: runnable)


def test_best_built_and_runnable_level_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GPU_ENVS_CPU", raising=False)
    _pretend(monkeypatch, {"_cpu_v2", "_cpu_v3", "_cpu_v4"}, ("v3", "v2", "generic"))
    assert native._chosen_level() == "v3"


def test_environment_variable_forces_a_level(monkeypatch: pytest.MonkeyPatch) -> None:
    _pretend(monkeypatch, {"_cpu_v2", "_cpu_v3"}, ("v3", "v2"))
    monkeypatch.setenv("GPU_ENVS_CPU", "v2")
    assert native._chosen_level() == "v2"


@pytest.mark.parametrize(
    ("forced", "message"),
    [("v9", "must be one of"), ("v4", "is not built"), ("v3", "cannot run here")],
)
def test_impossible_level_is_an_error_that_names_the_variable(
    monkeypatch: pytest.MonkeyPatch, forced: str, message: str
) -> None:
    _pretend(monkeypatch, {"_cpu_v2", "_cpu_v3"}, ("v2",))
    monkeypatch.setenv("GPU_ENVS_CPU", forced)
    with pytest.raises(ImportError, match=f"GPU_ENVS_CPU.*{message}"):
        native._chosen_level()


def test_missing_build_says_how_to_build(monkeypatch: pytest.MonkeyPatch) -> None:
    _pretend(monkeypatch, set(), ("v2",))
    with pytest.raises(ImportError, match="pip install"):
        native._chosen_level()


def test_forced_level_is_the_one_loaded(run_python: Callable[..., object]) -> None:
    program = "import gpu_envs.native as n; print(n.cpu().INSTRUCTION_SET)"
    for level in native.runnable_levels():
        if native._exists(f"_cpu_{level}"):
            printed = run_python(program, GPU_ENVS_CPU=level).stdout  # type: ignore[attr-defined]
            assert level in printed


@pytest.mark.parametrize("device", ["gpu", "cuda:x", "cpu:1", "", "cuda:", 3])
def test_unknown_device_lists_the_valid_ones(device: str) -> None:
    with pytest.raises(ValueError, match="device must be 'auto', 'cpu', 'cuda' or 'cuda:<n>'"):
        native.parse_device(device)


def test_cpu_is_machine_cpu() -> None:
    assert native.parse_device("cpu") == ("cpu", 0)


def test_cuda_without_a_device_gives_one_line_of_reason() -> None:
    if native.cuda_is_available():
        pytest.skip("this machine has a GPU")
    with pytest.raises(ValueError, match="device 'cuda' is not available: ") as caught:
        native.parse_device("cuda")
    assert "\n" not in str(caught.value)
    assert "undefined symbol" not in str(caught.value)  # a module that no machine could load
    assert native.parse_device("auto") == ("cpu", 0)
