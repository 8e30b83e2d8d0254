"""Finds the package in this tree, whole or, where Gymnasium is missing, by its folder alone.

A bare GPU machine may lack Gymnasium, which the package imports when it registers environments.
Then an empty module stands in for the package itself, whose files are found as ever: what scripts
import of it does without.
"""

from __future__ import annotations

import sys
import types
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
try:
    import gpu_envs
except ImportError:
    gpu_envs = types.ModuleType("gpu_envs")
    gpu_envs.__path__ = [str(ROOT / "gpu_envs")]
    sys.modules["gpu_envs"] = gpu_envs
