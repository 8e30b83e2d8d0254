"""scripts/gpu_check.py and scripts/tune.py, as far as a machine without a GPU can try them."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"


def load(name):
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


golden_cases = load("golden_cases")
native = load("gpu_native")
steps = load("gpu_steps")
gpu_speed = load("gpu_speed")
gpu_train = load("gpu_train")
gpu_check = load("gpu_check")
tune = load("tune")
without_gpu = pytest.mark.skipif(native.find_gpu() is not None, reason="this machine has a GPU")


def run(*command):
    environment = os.environ | {"PYTHON": sys.executable}
    return subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )


@pytest.mark.long
def test_a_dry_run_passes_and_writes_both_files(tmp_path):
    chosen = [name for name in gpu_check.STEPS if name not in ("tests", "package")]
    limits = ["--seconds", "1800", "--total", "3600"]  # its own are for a machine that is idle
    command = [SCRIPTS / "gpu_check.sh", "--dry-run", *limits, "--out", tmp_path, "--only", *chosen]
    done = run(*command)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(next(tmp_path.glob("dry-run-*.json")).read_text())
    assert {step["name"]: step["status"] for step in report["steps"]} == dict.fromkeys(
        chosen, "pass"
    )
    text = next(tmp_path.glob("dry-run-*.md")).read_text()
    for title in ("# dry run", "## Steps", "## Bars", "## Recorded hashes", "## Tuning"):
        assert title in text
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| golden")]
    assert rows[0][1] == "pass"
    known = gpu_speed.registration.environments()
    measured = {name for name, facts in known.items() if facts["agents"] == "1"}
    measured |= {*gpu_speed.names_of("bodies"), *gpu_speed.names_of("swarms")}
    bars = [bar.split()[1].strip(",:") in measured for bar in gpu_speed.unmeasured()]
    trained = ["least" in training for training in gpu_train.trained().values()]
    assert done.stdout.count("bar: ") == sum(bars) + sum(trained)


WITHOUT = """
import runpy, sys
sys.modules.update(gymnasium=None, pettingzoo=None)
sys.argv[0] = "gpu_check.py"
sys.path.insert(0, {scripts!r})
runpy.run_path({script!r}, run_name="__main__")
"""


def test_steps_measure_where_gymnasium_is_missing(tmp_path):
    program = WITHOUT.format(scripts=str(SCRIPTS), script=str(SCRIPTS / "gpu_check.py"))
    for step, status in (("swarms", "pass"), ("package", "skip")):
        file = tmp_path / f"{step}.json"
        arguments = ["--dry-run", "--step", step, "--result", file]
        done = run(sys.executable, "-c", program, *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        found = json.loads(file.read_text())
        assert found["status"] == status
        assert set(found["data"]) == {name for name in gpu_speed.names_of(step) if step == "swarms"}


@without_gpu
@pytest.mark.parametrize("program", ["gpu_check.sh", "tune.py"])
def test_without_a_gpu_one_clear_line_and_status_2(program):
    done = run(*([] if program.endswith("sh") else [sys.executable]), SCRIPTS / program)
    assert done.returncode == 2
    assert "no NVIDIA GPU with a working driver was found" in done.stdout.splitlines()[0]
    assert not done.stderr
    if program == "gpu_check.sh":
        bars = [line for line in done.stdout.splitlines() if line.startswith("bar: ")]
        assert bars == gpu_speed.unmeasured() and len(bars) > 7
        assert all(line.endswith("not measured") for line in bars)
    if program == "tune.py":
        assert "would time lanes 1, 8, 32" in done.stdout
        assert "CartPole-v0, tier 0: 1,048,576 worlds" in done.stdout


@pytest.mark.parametrize("program", ["gpu_check.py", "tune.py"])
def test_help_explains_itself(program):
    done = run(sys.executable, SCRIPTS / program, "--help")
    assert done.returncode == 0
    assert "--dry-run" in done.stdout and "GPU" in done.stdout


# ---- a step that goes wrong


def _set(monkeypatch, name, decides=True):
    monkeypatch.setattr(gpu_check, "STEPS", {name: (None, 30, decides)})


@pytest.mark.parametrize("decides", [True, False])
def test_a_failure_decides_the_status_only_where_it_must(tmp_path, monkeypatch, decides, capsys):
    _set(monkeypatch, "golden", decides)
    failed = steps.Result("fail", "a | b", data={"output": "why"})
    monkeypatch.setattr(gpu_check, "run_step", lambda *_: failed)
    assert gpu_check.main(["--dry-run", "--out", str(tmp_path)]) == (1 if decides else 0)
    assert ("failed: golden" in capsys.readouterr().out) == decides
    text = next(tmp_path.glob("*.md")).read_text()
    assert "| a \\\\| b |" in text
    assert "## What golden printed last" in text


def test_a_step_that_hangs_or_crashes_is_a_failure(tmp_path, monkeypatch):
    script = tmp_path / "step.py"
    monkeypatch.setattr(gpu_check, "SCRIPT", script)
    script.write_text("import time\nprint('begun', flush=True)\ntime.sleep(60)\n")
    hung = gpu_check.run_step("golden", 1.5, True)
    assert (hung.status, hung.detail) == ("fail", "stopped after 2 s: begun")
    script.write_text("raise SystemExit('a bad end')\n")
    crashed = gpu_check.run_step("golden", 30, True)
    assert (crashed.status, crashed.detail) == ("fail", "ended with status 1: a bad end")


def test_what_no_time_is_left_for_is_skipped(tmp_path):
    arguments = ["--dry-run", "--out", str(tmp_path), "--total", "1", "--only", "golden"]
    assert gpu_check.main(arguments) == 0
    assert "no time left" in next(tmp_path.glob("*.md")).read_text()


def test_a_wrong_hash_is_found(monkeypatch):
    case = golden_cases.Case("CartPole-v0", 5, {"parameters": {}}, 3, 1, ("0" * 16, "0" * 16))
    monkeypatch.setattr(golden_cases, "read", lambda _: iter([case]))
    result = steps.golden(True)
    assert result.status == "fail"
    launches = 2 * len(steps.WAYS)
    assert f"{launches} wrong, first: Case(id='CartPole-v0', worlds=5" in result.detail


def test_crowds_are_timed_with_as_many_agents_as_the_row_says(monkeypatch):
    timed, measure = [], gpu_speed.cases.measure

    def watched(cases, clock):
        (point,) = measure(cases, gpu_speed.Clock(1e-9, 1))
        timed.append((point.case.name, point.agents, point.case.worlds))
        return [point]

    monkeypatch.setattr(gpu_speed.cases, "measure", watched)
    rows = gpu_speed.crowds(native.environments(native.tested(True)), True).rows
    said = [(row[0], int(row[1].replace(",", "")), int(row[2].replace(",", ""))) for row in rows]
    assert [case for case in said for _ in steps.LANES] == timed
    assert {("Hanabi-v0", 2, 1000), ("Micro-v0", 1000, 2), ("Overcooked-v0", 1, 2000)} < set(said)


def test_records_that_differ_are_named():
    found = bytearray(40)
    found[13] = 1
    assert steps._first_difference(bytes(40), bytes(found), 5) == (
        "1 records differ, first world 1 at byte 5"
    )


# ---- the tuning table


def test_rows_replace_those_of_the_same_phase_and_leave_others():
    text = tune.TABLE.read_text()
    row = tune.Row("Some-v0", 1, "step", 90, 8, 256, True)
    other = tune.Row("Some-v0", 1, "step", 80, 1, 64, False)
    once = tune.merge(text, [row, other])
    assert '    {"Some-v0", 1, "step", 90, 8, 256, true},\n' in once
    assert '{"", 0' not in once
    twice = tune.merge(once, [tune.Row("Some-v0", 1, "step", 90, 32, 64, True)])
    assert '"step", 90, 8' not in twice
    assert '    {"Some-v0", 1, "step", 90, 32, 64, true},\n' in twice
    assert tune.line(other) in twice
    back = twice.replace("90, 32, 64", "90, 8, 256")
    assert sorted(back.splitlines()) == sorted(once.splitlines())
    assert once.startswith(text.partition("{\n")[0])


def test_rows_come_from_a_report_of_gpu_check(tmp_path):
    row = tune.Row("Some-v0", 0, "step", 90, 8, 256, True)
    data = {"rows": [tune.asdict(row)], "timings": []}
    file = tmp_path / "report.json"
    file.write_text(json.dumps({"steps": [{"name": "golden"}, {"name": "tune", "data": data}]}))
    assert tune.read_rows(file) == [row]
    file.write_text(json.dumps(data))
    assert tune.read_rows(file) == [row]
    file.write_text("{}")
    with pytest.raises(SystemExit, match="has no rows"):
        tune.read_rows(file)
