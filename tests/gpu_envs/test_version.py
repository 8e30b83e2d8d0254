"""The version is that of the installed distribution."""

from __future__ import annotations

from importlib.metadata import version

import gpu_envs


def test_version_is_that_of_the_distribution() -> None:
    assert gpu_envs.__version__ == version("gpu_envs")
