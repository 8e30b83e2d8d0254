"""`python -m gpu_envs check ID`: what is right passes, what is wrong is named."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpu_envs.building import places
from gpu_envs.commands import check
from gpu_envs.known import native

COUNTER = Path(__file__).parents[1] / "building" / "counter.hpp"
# Calls are counted over all worlds, and what is seen passes its bounds.
PLANTED = {
    '#include "engine/environment.hpp"\n': '#include "engine/environment.hpp"\n'
    "// lint: allow impure: planted\ninline int calls = 0;\n",
    "float(action.amount);": "float(action.amount) + float(calls++ % 7);",
    '&Observation::sum, "of all actions")': '&Observation::sum, "of all actions").within(0, 5)',
    "Counter-v0": "Planted-v0",
}


def test_an_environment_of_the_package_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert check.main(["CartPole-v0"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[-1] == "CartPole-v0: nothing is wrong"
    assert [line[:4] for line in printed[:-1:2]] == ["ok  "] * len(check.CHECKS)


def test_what_is_not_for_an_environment_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    case = check.Case("Micro-v0", worlds=2, steps=30)
    rows = {promise: (state, seen) for state, promise, seen in check.run(case)}
    assert rows["Gymnasium's own `check_env` is content."] == ("-", "several agents")
    assert {state for state, _ in rows.values()} == {"ok", "-"}


def _command(cache: Path, *words: str) -> subprocess.CompletedProcess[str]:
    shared = {"GPU_ENVS_CACHE": str(cache), "GPU_ENVS_BUILD_DIR": str(places.build_folder())}
    return subprocess.run(
        [sys.executable, "-m", "gpu_envs", *words],
        capture_output=True,
        text=True,
        env=os.environ | shared,
        check=False,
    )


def test_state_beside_the_worlds_and_wrong_bounds_are_found(tmp_path: Path) -> None:
    header, text = tmp_path / "planted.hpp", COUNTER.read_text()
    for old, new in PLANTED.items():
        assert old in text
        text = text.replace(old, new)
    header.write_text(
        text.replace("envs::counter", "envs::planted").replace("= counter::", "= planted::")
    )
    built = _command(tmp_path, "build", "--target", native.cpu_target(), str(header))
    assert built.returncode == 0, built.stderr
    done = _command(tmp_path, "check", "Planted-v0")
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    said = dict(zip(lines[:-1:2], lines[1:-1:2], strict=True))
    assert "differs with 1 threads at step" in said[_failed(check.repeats)]
    assert "differs in world 8 alone at step" in said[_failed(check.alone)]
    assert "steps after loading" in said[_failed(check.saves)]
    assert "of the copy differs" in said[_failed(check.copies)]
    assert "at element [0], whose bounds are 0.0 and 5.0" in said[_failed(check.numbers)]
    assert lines[-1].endswith("checks failed")


def _failed(promise: object) -> str:
    return f"FAIL  {str(promise.__doc__).splitlines()[0]}"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["CartPol-v0"], "unknown environment 'CartPol-v0'; did you mean 'CartPole-v0'?"),
        (["CartPole-v0", "--worlds", "1"], "--worlds must be between 2 and"),
    ],
)
def test_bad_options_are_one_line(
    capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    with pytest.raises(SystemExit) as leaving:
        check.main(words)
    said = capsys.readouterr().err
    assert leaving.value.code == 2
    assert message in said
    assert said.count("\n") == 1
