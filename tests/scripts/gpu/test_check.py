"""scripts/gpu/check.py and scripts/gpu/tune.py, as far as a machine without a GPU can try them."""

import contextlib
import dataclasses
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
import types
from pathlib import Path

import pytest

from gpu_envs.benchmark.clock import Timing
from scripts.checks import golden_cases
from scripts.gpu import check as gpu_check
from scripts.gpu import check_dry_run, evidence, native, speed, steps, tune
from scripts.gpu import profiling as profile
from scripts.gpu import training as trainer

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = ROOT / "scripts" / "gpu"
FAULTS = Path(__file__).with_name("check_faults.py")


without_gpu = pytest.mark.skipif(native.find_gpu() is not None, reason="this machine has a GPU")


def run(*command, **variables):
    environment = os.environ | {"PYTHON": sys.executable} | variables
    return subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )


def found_in(folder, kind="row"):
    return [row for row in evidence.read(folder) if row["kind"] == kind]


@pytest.fixture
def dry_run(tmp_path, monkeypatch):
    """Two steps of two ids of one kind; return what a dry run of them left and printed."""
    ids = ["CartPole-v0", "CartPole64-v0"]
    step = gpu_check.Step(steps.save, lambda _: ids, 1, 1)
    monkeypatch.setattr(
        gpu_check, "STEPS", {"bars": dataclasses.replace(step, reads_all=True), "save": step}
    )
    monkeypatch.setattr(check_dry_run, "TABLES", ("Steps", "Bars"))
    monkeypatch.setattr(evidence, "markdown", lambda _: "# dry run\n\n## Steps\n\n## Bars\n")
    bars = speed.unmeasured()
    bars += [f"bar of {name}" for name, how in trainer.trained().items() if "least" in how]
    for name, of in (("bars", ids[0]), ("bars", ids[1]), ("save", ids[0])):
        found = evidence.Evidence(tmp_path, name, of)
        found.row({"found": 1})
        found.row(kind="end")
    for line in bars:
        evidence.Evidence(tmp_path, "bars", ids[0]).row(bar={"line": line})
    return tmp_path, "\n".join(bars)


def test_a_dry_run_passes_where_every_step_found_something(dry_run):
    assert list(check_dry_run.problems(*dry_run)) == []


@pytest.mark.parametrize("gone", ['"bars", "of": "CartPole64-v0"', '"save", "of": "CartPole-v0"'])
@pytest.mark.parametrize("kind", ["row", "end"])
def test_a_dry_run_fails_where_a_process_found_nothing_or_did_not_end(dry_run, gone, kind):
    folder, printed = dry_run
    rows = folder / evidence.ROWS
    lost = f'{{"kind": "{kind}", "step": {gone}'
    kept = [row for row in rows.read_text().splitlines() if not row.startswith(lost)]
    rows.write_text("\n".join(kept))
    step, _, of = gone.replace('"', "").partition(", of: ")
    assert list(check_dry_run.problems(folder, printed)) == [
        f"{step} {of}: it found nothing, or did not end"
    ]


def test_a_dry_run_fails_where_a_row_a_bar_or_a_table_is_not_as_it_should_be(dry_run):
    folder, printed = dry_run
    evidence.Evidence(folder, "tune", "some").row(status="skip", detail="too short")
    report = folder / evidence.REPORT
    report.write_text(report.read_text().replace("## Bars", ""))
    found = list(check_dry_run.problems(folder, printed.partition("\n")[2]))
    assert found[0] == "tune some: skip: too short"
    assert found[1].startswith("not printed: ")
    assert found[2:] == ["the report has no 'Bars'"]


WITHOUT = """
import runpy, sys
sys.modules.update(gymnasium=None, pettingzoo=None)
sys.argv[0] = "check.py"
runpy.run_path({script!r}, run_name="__main__")
"""


@pytest.mark.parametrize(
    ("step", "name", "status"),
    [
        ("bars", "Overcooked-v0", "pass"),
        ("rates", "Hanabi-v0", "pass"),
        ("package", "CartPole-v0", "skip"),
        ("train", "CartPole-v0", "skip"),
    ],
)
def test_without_gymnasium_native_steps_measure_and_others_say_what_lacks(
    tmp_path, step, name, status
):
    program = WITHOUT.format(script=str(SCRIPTS / "check.py"))
    arguments = ["--dry-run", "--step", step, "--of", name, "--out", tmp_path]
    done = run(sys.executable, "-c", program, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = found_in(tmp_path)
    assert rows and {row["status"] for row in rows} == {status}
    assert status == "pass" or "gymnasium" in rows[0]["detail"]


@without_gpu
@pytest.mark.parametrize("program", ["check.sh", "tune.py"])
def test_without_a_gpu_one_clear_line_and_status_3(program):
    done = run(*([] if program.endswith("sh") else [sys.executable]), SCRIPTS / program)
    assert done.returncode == 3
    assert "no NVIDIA GPU with a working driver was found" in done.stdout.splitlines()[0]
    assert not done.stderr
    if program == "check.sh":
        bars = [line for line in done.stdout.splitlines() if line.startswith("bar: ")]
        assert bars == speed.unmeasured() and len(bars) > 7
        assert all(line.endswith("not measured") for line in bars)
    if program == "tune.py":
        assert "would time lanes 1, 8, 32" in done.stdout
        assert "CartPole-v0, tier 0: 1,048,576 worlds" in done.stdout


@pytest.mark.parametrize("program", ["check.py", "tune.py"])
def test_help_explains_itself(program):
    done = run(sys.executable, SCRIPTS / program, "--help")
    assert done.returncode == 0
    assert "--dry-run" in done.stdout and "GPU" in done.stdout


# ---- what is asked for


def test_options_that_the_usage_names_are_those_that_there_are():
    head = (SCRIPTS / "check.sh").read_text().partition("set -euo")[0]
    named = set(re.findall(r"--[a-z-]+", head)) - {"--help"}
    assert named == set(re.findall(r"--[a-z-]+", gpu_check.parser().format_usage()))


def test_the_list_has_every_step_and_plan():
    done = run(SCRIPTS / "check.sh", "--list")
    assert done.returncode == 0
    assert all(f"  {name} " in done.stdout for name in (*gpu_check.STEPS, *gpu_check.PLANS))


def test_plans_keep_to_a_command_and_two_of_them_hold_every_step():
    for names in gpu_check.PLANS.values():
        assert sum(gpu_check.STEPS[name].seconds for name in names) <= gpu_check.COMMAND
    assert {*gpu_check.PLANS["first"], *gpu_check.PLANS["second"]} == set(gpu_check.STEPS)


def test_shares_fill_the_budget_and_building_has_more_where_nothing_is_brought():
    names = gpu_check.PLANS["first"]
    for is_bundled in (True, False):
        ends = gpu_check.shares(names, 300.0, is_bundled)
        assert list(ends) == list(names) and list(ends.values()) == sorted(ends.values())
        assert ends[names[-1]] == pytest.approx(300.0)
    assert ends["build"] > 90.0


@pytest.mark.parametrize(
    ("words", "said"),
    [(["--only", "golden,nonsense"], "'nonsense' is not a step"), ([], "--out: name a folder")],
)
def test_wrong_usage_is_status_2_and_says_why(words, said):
    done = run(SCRIPTS / "check.sh", "--dry-run", *words, OUT="")
    assert done.returncode == 2 and said in done.stderr


# ---- a step that goes wrong


def faulty(out, *words):
    return [sys.executable, str(FAULTS), "--dry-run", "--out", str(out), *words]


def test_what_was_found_before_a_crash_or_a_hang_is_in_the_report(tmp_path):
    done = run(*faulty(tmp_path, "--only", "crash,hang,good"))
    assert done.returncode == 0, done.stdout + done.stderr
    text = (tmp_path / "report.md").read_text()
    for said in ("before the crash", "before it hung", "the last words", "## What crash"):
        assert said in text
    ends = {row["step"]: row for row in found_in(tmp_path, "end")}
    assert ends["crash"]["detail"] == "status -6: the last words"
    assert ends["hang"]["detail"] == "stopped after 2 s: begun"
    assert ends["good"]["status"] == "pass" and not left_over(tmp_path)


def test_a_deciding_step_that_fails_is_the_exit_status(tmp_path, monkeypatch, capsys):
    for decides in (True, False):
        folder = tmp_path / str(decides)
        monkeypatch.setattr(gpu_check, "SCRIPT", tmp_path / "missing.py")
        step = gpu_check.Step(steps.golden, gpu_check._once, 10, 60, decides=decides)
        monkeypatch.setattr(gpu_check, "STEPS", {"golden": step})
        monkeypatch.setattr(gpu_check, "PLANS", {})
        monkeypatch.setattr(gpu_check.processes, "lead", lambda: lambda: None)
        assert gpu_check.main(["--dry-run", "--out", str(folder)]) == (1 if decides else 0)
        assert ("failed: golden" in capsys.readouterr().out) == decides


def test_what_failed_in_an_earlier_command_fails_no_later_one(tmp_path):
    evidence.Evidence(tmp_path, "good").row(status="fail", detail="then")
    assert run(*faulty(tmp_path, "--only", "good")).returncode == 0


def test_what_no_time_is_left_for_is_skipped(tmp_path):
    done = run(*faulty(tmp_path, "--only", "good", "--budget", "0.5"))
    assert done.returncode == 0
    assert evidence.NO_TIME in (tmp_path / "report.md").read_text()


def test_a_second_command_adds_to_what_the_first_found(tmp_path):
    for _ in range(2):
        assert run(*faulty(tmp_path, "--only", "good")).returncode == 0
    assert len(found_in(tmp_path)) == 4 and len(found_in(tmp_path, "run")) == 2


# ---- a command that is ended


def left_over(out):
    """Processes that still work for a folder, a moment after their command has ended."""
    for _ in range(100):
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal():
                with contextlib.suppress(OSError):
                    if str(out).encode() in (entry / "cmdline").read_bytes():
                        found.append(entry.name)
        if not found:
            break
        time.sleep(0.05)
    return found


def shown(folder):
    """Numbers in the report, by who found them."""
    rows = re.findall(r"^\| (one|two) \| (\d+) \|", (folder / "report.md").read_text(), re.M)
    return {name: [int(n) for one, n in rows if one == name] for name in ("one", "two")}


def begun(out, *words):
    """A command that counts, in whose folder there is a first row of either process."""
    process = subprocess.Popen(
        faulty(out, "--only", "count", *words), stdout=subprocess.DEVNULL, start_new_session=True
    )
    for _ in range(1000):
        if len({row["of"] for row in found_in(out)}) == 2:
            return process
        time.sleep(0.02)
    raise AssertionError("it found nothing")


def lost(out):
    """Rows of each process that neither file has, of those that it was about to add."""
    counts = []
    for name in ("one", "two"):
        truth = out.with_suffix(f".{name}").read_text().splitlines()
        added = [int(r["cells"]["number"]) for r in found_in(out) if r["of"] == name]
        reported = shown(out)[name]
        assert added == [*range(1, len(added) + 1)] and reported == added[: len(reported)]
        counts += [len(truth) - len(added), len(truth) - len(reported)]
    return counts


def kill(out, seconds):
    process = begun(out)
    time.sleep(seconds)
    process.kill()
    process.wait()
    assert not left_over(out)
    return lost(out)


def test_a_kill_in_the_middle_loses_one_row_of_each_process_and_leaves_none(tmp_path):
    assert max(kill(tmp_path / "out", 0.2)) <= 1


@pytest.mark.slow
def test_twenty_kills_at_random_times_lose_one_row_each_at_most(tmp_path):
    drawn = random.Random()
    losses = [kill(tmp_path / f"{i}", drawn.uniform(0.0, 2.0)) for i in range(20)]
    print("rows lost by process, of rows.jsonl and of report.md:", losses)
    assert max(max(each) for each in losses) <= 1


def test_a_signal_ends_what_runs_and_is_said_in_the_report(tmp_path):
    process = begun(tmp_path / "out")
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == gpu_check.STOPPED
    assert not left_over(tmp_path / "out")
    assert "stopped by SIGTERM" in (tmp_path / "out" / "report.md").read_text()


def test_a_command_ends_with_the_shell_that_ran_it(tmp_path):
    out = tmp_path / "out"
    words = " ".join(faulty(out, "--only", "count"))
    shell = subprocess.Popen(["bash", "-c", f"{words} >/dev/null; true"], start_new_session=True)
    for _ in range(1000):
        if found_in(out):
            break
        time.sleep(0.02)
    shell.kill()
    shell.wait()
    assert found_in(out) and not left_over(out)


# ---- the folder


def test_half_a_line_is_passed_over_and_the_next_row_begins_anew(tmp_path):
    found = evidence.Evidence(tmp_path, "golden")
    found.row({"equal": 1})
    with (tmp_path / evidence.ROWS).open("a") as file:
        file.write('{"kind": "row", "ste')
    found.row({"equal": 2})
    assert [row["cells"]["equal"] for row in evidence.read(tmp_path)] == ["1", "2"]


def test_a_row_that_is_too_long_loses_its_data_alone(tmp_path):
    found = evidence.Evidence(tmp_path, "bars")
    found.row({"rate": "a | b"}, status="fail", detail="why", data={"output": "x" * 100_000})
    (row,) = evidence.read(tmp_path)
    assert row["cells"] == {"rate": "a | b"} and row["data"] == {}
    assert "| a \\| b | fail: why |" in (tmp_path / evidence.REPORT).read_text()


# ---- steps


def test_a_wrong_hash_is_found(tmp_path, monkeypatch):
    case = golden_cases.Case("CartPole-v0", 5, {"parameters": {}}, 3, 1, ("0" * 16, "0" * 16))
    monkeypatch.setattr(golden_cases, "read", lambda _: iter([case]))
    steps.golden(evidence.Evidence(tmp_path, "golden", "CartPole-v0"), "CartPole-v0", True)
    rows = evidence.read(tmp_path)
    assert len(rows) == 2 * len(steps.WAYS) and {row["status"] for row in rows} == {"fail"}
    assert rows[0]["detail"].startswith("1 wrong, first: Case(id='CartPole-v0', worlds=5")


@pytest.mark.parametrize(
    "name", ["CovidEconomy-v0", "Flocking-v0", "Hanabi-v0", "HideSeek-v0", "TagGrid-v0"]
)
def test_every_promise_on_a_gpu_is_measured_at_its_size(monkeypatch, name):
    monkeypatch.setattr(speed.Plan, "on_gpu", property(lambda plan: True))
    plan = speed.Plan(name, "cuda", speed.Clock(0.0, 1), through_package=False)
    for bar in speed.device_bars(name):
        found = [*speed.promises.cases(plan, bar)]
        points = [speed.Point(c, Timing(1e-3, 1e-3, 1e-3), 1, 1, 1, 1) for c in found]
        assert speed.promises.judged(plan, bar, points).measured is not None


@pytest.mark.parametrize("wrong", [["it is for Python 2.9"], []])
def test_what_no_bundle_brings_is_built_from_source(tmp_path, monkeypatch, wrong):
    built, programs = [], gpu_check.programs
    cuda = types.SimpleNamespace(device_problem=lambda: "")
    monkeypatch.setattr(programs.gpu_bundle, "problems", lambda gpu: wrong)
    monkeypatch.setattr(programs.native, "build_all", lambda: built.append("all"))
    monkeypatch.setattr(programs.native.native, "at", lambda target: cuda)
    monkeypatch.setattr(programs.native, "names", lambda dry_run, tests: ["CartPole-v0"])
    programs.build(evidence.Evidence(tmp_path, "build"), "", False)
    assert built == ["all"] * bool(wrong)
    assert evidence.read(tmp_path)[-1]["status"] == "pass"


def test_instructions_come_from_where_they_are_estimated(monkeypatch):
    case = speed.Case("CartPole-v0", "cuda", 64)
    monkeypatch.setitem(sys.modules, "occupancy", None)
    assert speed.instructions(case) is None
    estimates = types.SimpleNamespace(instructions=lambda case: 4.0 * case.worlds)
    monkeypatch.setitem(sys.modules, "occupancy", estimates)
    assert speed.instructions(case) == 256.0


NCU = """==PROF== Connected to process 7
"ID","Process ID","Kernel Name","gpu__time_duration.sum","launch__registers_per_thread",\
"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",\
"smsp__average_warps_issue_stalled_selected_per_issue_active.ratio"
"","","","ns","register/thread","",""
"0","7","void ge::phase_kernel<ge::envs::Cart, 0>(ge::Shared, int)","12,500","48","3.25","9"
"""


def test_what_ncu_prints_becomes_a_row_of_a_kernel():
    (kernel,) = profile.read_ncu(NCU.replace("\\\n", ""))
    cells = profile.shown(kernel)
    assert (cells["kernel"], cells["us"], cells["registers"]) == (
        "phase_kernel<Cart, 0>",
        "12.5",
        "48",
    )
    assert cells["stalled by"] == "long_scoreboard 3.2" and cells["DRAM, %"] == ""


def test_kernels_of_a_trace_are_told_by_name_and_shape():
    known = {"grid": [2, 1, 1], "block": [64, 1, 1], "registers per thread": 40}
    event = {"cat": "kernel", "name": "void ge::f<1>(int)", "args": known}
    events = [{**event, "dur": dur} for dur in (4.0, 8.0)]
    events += [{**event, "dur": 30.0, "name": "ge::g"}, {"cat": "cpu_op", "name": "x"}]
    rows = [*profile.read_trace({"traceEvents": events}, 2)]
    assert [(r["kernel"], r["us a step"], r["launches"]) for r in rows] == [
        ("g", "15", "0.5"),
        ("f<1>", "6", "1"),
    ]
    assert rows[1]["registers"] == "40"


def test_records_that_differ_are_named():
    found = bytearray(40)
    found[13] = 1
    assert steps._first_difference(bytes(40), bytes(found), 5) == (
        "1 records differ, first world 1 at byte 5"
    )


# ---- the tuning table


def test_rows_replace_those_of_the_same_phase_and_leave_others():
    text = tune.TABLE.read_text()
    row = tune.Row("Some-v0", 1, "step", 90, 0, 8, 256, True)
    other = tune.Row("Some-v0", 1, "step", 80, 0, 1, 64, False)
    small = tune.Row("Some-v0", 1, "step", 90, 8192, 32, 32, True)  # as `row`, for few worlds
    once = tune.merge(text, [row, other, small])
    assert '    {"Some-v0", 1, "step", 90, 0, 8, 256, true},\n' in once
    assert '{"", 0' not in once
    twice = tune.merge(once, [tune.Row("Some-v0", 1, "step", 90, 0, 32, 64, True)])
    assert '"step", 90, 0, 8' not in twice
    assert '    {"Some-v0", 1, "step", 90, 0, 32, 64, true},\n' in twice
    assert tune.line(other) in twice
    assert tune.line(small) in twice
    back = twice.replace("90, 0, 32, 64", "90, 0, 8, 256")
    assert sorted(back.splitlines()) == sorted(once.splitlines())
    assert once.startswith(text.partition("{\n")[0])


def test_rows_come_from_what_gpu_check_found(tmp_path):
    row = tune.Row("Some-v0", 0, "step", 90, 0, 8, 256, True)
    evidence.Evidence(tmp_path, "golden").row({"equal": 1})
    evidence.Evidence(tmp_path, "tune").row(data={"row": tune.asdict(row), "timings": []})
    assert tune.read_rows(tmp_path / evidence.ROWS) == [row]
    file = tmp_path / "rows.json"
    file.write_text(json.dumps({"rows": [tune.asdict(row)], "timings": []}))
    assert tune.read_rows(file) == [row]
    file.write_text("{}")
    with pytest.raises(SystemExit, match="has no rows"):
        tune.read_rows(file)
