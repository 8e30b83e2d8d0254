"""What Ninja would compile for targets of a build that CMake has configured, without doing it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NINJA = str(ROOT / ".venv/bin/ninja")
_OBJECT = re.compile(r"Building CXX object (\S+)")


def refresh(build: Path) -> None:
    """Let CMake look whether files came or went."""
    command = [NINJA, "-C", str(build), "build.ninja"]
    subprocess.run(command, capture_output=True, check=True)


def objects(build: Path, *targets: str) -> list[str]:
    """Return the objects that are missing or old, as paths in the build's folder."""
    # By another name: of build.ninja itself a dry run would only say that CMake looks at it again.
    (build / "plan.ninja").write_text("include build.ninja\n", encoding="utf-8")
    command = [NINJA, "-C", str(build), "-f", "plan.ninja", "-n", *targets]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return _OBJECT.findall(done.stdout)
