"""What tests of a page's policies share: worlds of a file, runs of node, and ties of choices."""

from __future__ import annotations

import copy
import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from gpu_envs.policies import layers
from gpu_envs.policies.layered import of_arrays
from gpu_envs.policies.layers import RowShape
from gpu_envs.policies.networks import Policy

ROOT = Path(__file__).parents[2]
TIE = 1e-4  # between the two best choices, or between a draw and the edge of a choice
SEED = 7


def made(make: Callable[..., Any], config: Mapping[str, Any], **options: Any) -> Any:
    """Make worlds as those in which a file's policies are evaluated."""
    parameters = {**config["parameters"], **config.get("evaluation_parameters", {}), **options}
    return make(config["env"], arrays="torch", **parameters)


def observed(simulator: Any, results: Any) -> Any:
    """Return what policies see of a call: layers by name, where there are several."""
    return results.obs if simulator.views is None else of_arrays(simulator.views.observed(results))


def node(script: str, task: Mapping[str, Any], folder: Path) -> str:
    """Run a script beside this file on a task, and return what it prints."""
    (folder / "task.json").write_text(json.dumps(task))
    words = ["scripts/web/node", f"tests/client/{script}", str(folder / "task.json")]
    ran = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


def farthest(found: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> float:
    """Return the largest difference, as a share of what is expected or of 1."""
    return float((np.abs(found - expected) / np.maximum(1, np.abs(expected))).max())


def ties(actions: Any, side: Mapping[str, Any]) -> tuple[np.ndarray[Any, Any], ...]:
    """Return how far choices are from others, for each row and head: the likeliest, and drawn."""
    best, edge = [], []
    heads = np.split(side["outputs"], np.cumsum(actions.counts)[:-1], -1)
    for k, head in enumerate(heads):
        top = np.sort(head, -1)[:, -2:]
        best.append(top[:, -1] - top[:, 0] if head.shape[1] > 1 else np.ones(len(head)))
        sums = np.exp(head).cumsum(-1, dtype=np.float64)
        edge.append(np.abs(sums - side["draws"][:, k : k + 1] * sums[:, -1:]).min(-1))
    return np.stack(best, -1), np.stack(edge, -1)


class _Doubles(RowShape):
    """Rows of doubles."""

    def flat(self, obs: Any, axes: int) -> Any:
        return super().flat(obs, axes).double()


def exact(policy: Policy) -> Policy:
    """Return the same network in double precision."""
    made = copy.deepcopy(policy).double()
    made.shape = _Doubles(**vars(policy.shape))
    return made


def take_doubles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let layers take doubles, which the engine's tanh does not."""
    own = layers._IN_PLACE["tanh"]

    def tanh(x: Any) -> Any:
        return x.tanh_() if x.dtype == torch.float64 else own(x)

    monkeypatch.setitem(layers._IN_PLACE, "tanh", tanh)
