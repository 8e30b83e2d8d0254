"""The one list of compiler flags."""

from __future__ import annotations

from pathlib import Path

from gpu_envs.building import flags


def test_a_line_is_a_name_and_flags(tmp_path: Path) -> None:
    path = tmp_path / "flags.txt"
    path.write_text("# one: -x\n\nlevel v2: -a '-b c' $ROOT/d\nempty:\n")
    assert flags.read(path) == {"level v2": ["-a", "-b c", "$ROOT/d"], "empty": []}
