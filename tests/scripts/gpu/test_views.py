"""The steps of scripts/gpu/check.py about pictures: `scripts/gpu/views.py`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scripts.gpu import evidence, views

TRACED = {
    "traceEvents": [
        {"name": views._MARK, "cat": "user_annotation", "ts": 100.0, "dur": 50.0},
        {"name": "cudaLaunchKernelExC", "cat": "cuda_runtime", "ts": 101.0, "dur": 2.0},
        {"name": "cudaLaunchKernelExC", "cat": "cuda_runtime", "ts": 120.0, "dur": 2.0},
        {"name": "cuStreamGetCaptureInfo", "cat": "cuda_driver", "ts": 130.0, "dur": 2.0},
        {"name": "phase_kernel", "cat": "kernel", "ts": 131.0, "dur": 9.0},
        {"name": "cudaDeviceSynchronize", "cat": "cuda_runtime", "ts": 151.0, "dur": 2.0},
        {"name": "process_name", "ph": "M"},
    ]
}


def test_calls_are_those_between_the_ends_of_the_mark() -> None:
    assert views.read_calls(TRACED) == {"cudaLaunchKernelExC": 2, "cuStreamGetCaptureInfo": 1}
    assert views.read_calls({"traceEvents": TRACED["traceEvents"][1:]}) == {}


@pytest.mark.parametrize(
    ("call", "waits"),
    [
        *((name, True) for name in ("cudaStreamSynchronize", "cudaEventSynchronize", "cudaMalloc")),
        *((name, True) for name in ("cudaMallocAsync", "cudaFree", "cudaMemcpy", "cuMemAlloc_v2")),
        *((name, False) for name in ("cudaLaunchKernel", "cudaMemcpyAsync", "cudaMemsetAsync")),
        *((name, False) for name in ("cudaGetDevice", "cudaEventRecord", "cuLaunchKernelEx")),
    ],
)
def test_calls_that_wait_or_allocate_are_known(call: str, waits: bool) -> None:
    assert bool(views._WAITS.search(call)) is waits


def test_a_step_that_waits_fails_on_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tested = views.native.tested
    monkeypatch.setattr(views.native, "tested", lambda dry_run, name: tested(True, name))
    for calls, status in (
        ({"cudaLaunchKernel": 200}, "pass"),
        ({"cudaFree": 1}, "fail"),
        ({}, "skip"),
    ):
        monkeypatch.setattr(views, "_traced", lambda step, calls=calls: views.Counter(calls))
        views.trace(evidence.Evidence(tmp_path, "trace"), "ObstaclesEasy-v0", False)
        assert evidence.read(tmp_path)[-1]["status"] == status
    first = evidence.read(tmp_path)[0]
    assert first["cells"]["launches a step"] == "2"


def test_batches_are_held_to_shares_of_the_best_one() -> None:
    small, large = views.scaling({64: 1e5, 256: 2e5, 4_096: 1e6, 16_384: 8.9e5})
    assert (small["of the best"], small["wanted"]) == ("0.20", "0.25: not met")
    assert (large["of the best"], large["wanted"]) == ("0.89", "0.9: not met")
    assert [row["wanted"] for row in views.scaling({256: 3.0, 65_536: 4.0})] == ["0.25: met"]
    assert not [*views.scaling({})]


def test_views_have_rates_beside_what_was_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[dict[str, Any]] = [
        {"name": "ObstaclesEasy-v0", "form": "depth 4 x 6", "machine": 812.4}
    ]
    monkeypatch.setattr(views, "RAYS", tmp_path / "rays.json")
    views.RAYS.write_text(json.dumps({"rays": kept}))
    monkeypatch.setattr(views, "FORMS", ({"observation": "depth", "resolution": "4x6"},))
    views.views(evidence.Evidence(tmp_path, "views"), "ObstaclesEasy-v0", True)
    rows = [row["cells"] for row in evidence.read(tmp_path)]
    assert [row["views"] for row in rows] == ["2", "8", "256"]
    assert {row["pictures"] for row in rows[:2]} == {"depth 4 x 6"}
    assert {row["instructions of a ray"] for row in rows[:2]} == {"812"}
    assert views.of_ray("ObstaclesEasy-v0", "rgb 4 x 6") == 0.0


def test_environments_with_pictures_are_found() -> None:
    found = views.pictured(True)
    assert "CartPole-v0" not in found
    assert set(found) <= set(views.registration.shipped())
