"""What needs a GPU. Importing it finds the package, with or without Gymnasium.

A bare GPU machine may lack Gymnasium, which the package imports when it registers environments.
Then an empty module stands in for the package itself, whose files are found as ever: what scripts
import of it does without.
"""

from __future__ import annotations

import sys
import types
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
try:
    import gpu_envs
except ImportError:
    gpu_envs = types.ModuleType("gpu_envs")
    gpu_envs.__path__ = [str(ROOT / "gpu_envs")]
    sys.modules["gpu_envs"] = gpu_envs
