"""The benchmark runs, writes its files, and its figures agree; speed itself is not judged."""

from __future__ import annotations

import ctypes
import itertools
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpu_envs
from gpu_envs import benchmark
from gpu_envs.benchmark import bars, c_loop, cases, limits, look, loop, machine, peers, plan
from gpu_envs.benchmark.clock import Clock, Timing
from gpu_envs.benchmark.points import Case, Point, Subject
from gpu_envs.benchmark.report import Bar, Report, Table, si
from gpu_envs.benchmark.worlds import Run, draw_valid
from gpu_envs.known import measures, native
from gpu_envs.terminal import progress
from tests.gpu_envs.benchmark.plans import planned

BRIEF = ("--seconds", "0.0005", "--repeats", "2", "--device", "cpu")
SHORT = ("--full", "--bars", "--quick", "--seconds", "0.0005", "--repeats", "2", "--device", "cpu")
NAMES = list(gpu_envs.environments())


def run(folder: Path, *arguments: str) -> tuple[dict[str, Any], str]:
    """Run the benchmark; returns what its two files say."""
    benchmark.main([*arguments, *SHORT, "--out", str(folder)])
    (data,), (text,) = folder.glob("*.json"), folder.glob("*.md")
    return json.loads(data.read_text()), text.read_text()


def chosen(data: dict[str, Any], **labels: Any) -> dict[str, Any]:
    """The one point with these labels; those that are not named are as by default."""
    usual = {"threads": machine.cores(), **labels}
    keys = ("entry", "memory", "outputs", "dtype", "form", "sweep", "value", "arrays")
    plain = {"entry": "native", "memory": "reuse", "outputs": "default"}
    wanted = {key: plain.get(key) for key in keys} | usual
    (found,) = [p for p in data["points"] if all(p.get(k) == v for k, v in wanted.items())]
    return found


def check_figures(data: dict[str, Any]) -> None:
    """What holds for the points of any environment."""
    for point in data["points"]:
        rates = point["world_steps"]
        assert 0 < rates["per_second_worst"] <= rates["per_second"] <= rates["per_second_best"]
        expected = rates["per_second"] * point["agents"]
        assert point["agent_steps_per_second"] == pytest.approx(expected)
        if "limit" in point:
            assert point["of_limit"] == pytest.approx(rates["per_second"] / point["limit"])


def test_one_agent_a_world_is_stepped_in_every_way(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, text = run(tmp_path, "CartPole", "--worlds", "1,48", "--no-peers")

    assert data["environment"] == "CartPole-v0" and data["machine"]["cores"] >= 1
    check_figures(data)
    assert len(data["points"]) > 30 and {p["worlds"] for p in data["points"]} == {1, 48}
    for how in ({"threads": 1}, {"outputs": "lean"}, {"entry": "make_vec", "memory": "fresh"}):
        arrays = {"arrays": "numpy"} if "entry" in how else {}
        assert chosen(data, worlds=48, **how, **arrays)["agents"] == 1
    overhead = data["overhead_us"]
    native_step = overhead["native step alone"]["total"]
    for entry in overhead.values():
        assert math.isclose(entry["total"] - native_step, entry["beyond_native"], abs_tol=1e-6)
    moved = chosen(data, worlds=48)["bytes_moved"]
    assert math.isclose(sum(map(sum, data["bytes"].values())), moved)
    assert sum(data["parts"].values()) > 0 and set(data["parts"]) == set(data["stages"])
    promised = len(measures.measures_of("CartPole-v0")["benchmark"]["bars"])
    assert [bar["verdict"] for bar in data["bars"][-promised:]] == ["not measured"] * promised
    printed = capsys.readouterr().out
    for bar in data["bars"]:
        assert f"bar: {bar['what']}" in printed and f"bar: {bar['what']}" in text


@pytest.mark.parametrize("name", ["CartPole", "Hanabi-v0"])
def test_a_first_look_is_one_small_table_and_writes_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(look, "WORLDS", (1, 8))
    benchmark.main([name, *BRIEF])
    said = capsys.readouterr().out.splitlines()
    rows = [line.split() for line in said if line.startswith(" ")]
    assert rows[0][:2] == ["worlds", "agents"]
    assert [row[:2] for row in rows[1:]] == (
        [["1", "1"], ["8", "8"]] if name == "CartPole" else [["1", "2"], ["8", "16"]]
    )
    assert "agent-steps/s" in said[-1] and "--full" in said[-1] and len(said) <= 6
    assert "bar:" not in "".join(said) and not list(tmp_path.iterdir())


def test_a_first_look_ends_before_a_row_that_would_take_long() -> None:
    half_a_second = point(64 / 0.5, 64)
    assert look._fits([], 1, 0.0)
    assert look._fits([half_a_second], 64, 9.0)
    assert not look._fits([half_a_second], 1024, 9.0)


def test_rows_are_printed_when_they_are_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said: list[str] = []

    def slow(group: list[Case], *_: object) -> list[Point]:
        said.append(capsys.readouterr().out)
        return [replace(point(1e5, case.worlds), case=case) for case in group]

    monkeypatch.setattr(look, "WORLDS", (1, 8))
    monkeypatch.setattr(look, "measure", slow)
    look.run(planned("CartPole-v0"), Report("CartPole-v0", {}, "test"))
    assert "agent-steps/s" in said[0] and said[1].split()[0] == "1"
    monkeypatch.setattr(loop, "measure", slow)
    report = Report("CartPole-v0", {}, "test", is_followed=True)
    made = planned("CartPole-v0", chosen=(1, 8))
    loop.Bench(made, report).measure(list(made.plain(made.forms()[0])))
    assert "1 worlds" in said[-1] and "world steps/s" in said[-1]


def test_a_long_measurement_says_where_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", -1.0)
    made = planned("CartPole-v0", chosen=(8,))
    cases_of = list(made.plain(made.forms()[0]))[:1]
    loop.Bench(made, Report("CartPole-v0", {}, "test", is_followed=True)).measure(cases_of)
    said = capsys.readouterr()
    assert said.err.startswith("measuring CartPole-v0: 0 of 1, -:-- left, 8 worlds, 1 thread")
    assert "8 worlds" in said.out


def test_bars_are_judged_where_they_are_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [option for option in SHORT if option != "--bars"]
    benchmark.main(["CartPole", *options, "--worlds", "1", "--no-peers"])
    printed = capsys.readouterr().out
    assert "bar:" not in printed and "wrote" not in printed
    assert "microseconds per step" in printed


@pytest.mark.parametrize("option", ["--bars", "--quick", "--no-peers"])
def test_options_of_the_full_run_say_so(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        benchmark.main(["CartPole", option])
    assert f"{option} applies to the full run only: add --full" in capsys.readouterr().err


def test_curves_are_drawn_and_moves_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs matplotlib")
    data, text = run(tmp_path, "Hanabi", "--no-peers", "--worlds", "64")
    check_figures(data)
    drawing = [p["share_of_drawing"] for p in data["points"] if p["entry"] == "native"]
    assert len(drawing) > 8 and all(share > 0 for share in drawing)
    lean, bits = (chosen(data, worlds=64, outputs="lean", dtype=d) for d in (None, "bits"))
    assert lean["bytes_handed_out"] > bits["bytes_handed_out"]
    curve = [p["value"] for p in data["points"] if p.get("sweep") == "player_count"]
    assert sorted(set(curve)) == [2, 4]
    (name,) = data["figures"]
    assert (tmp_path / name).read_bytes().startswith(b"\x89PNG") and name in text


@pytest.mark.parametrize("name", NAMES)
def test_forms_and_sweeps_of_the_data_can_be_made(name: str) -> None:
    made = planned(name)
    for form in made.forms():
        case = made.case(form, 1)
        one = cases.probe(case)
        said = form.label.replace(",", "").split()
        pairs = itertools.pairwise([*said, ""])
        counts = [
            int(n) for n, of in pairs if n.isdecimal() and of not in ("worlds", "nearest", "m")
        ]
        assert sum(counts) in (0, one.units)
        assert (limits.pairs_in_range(case, form) > 0) == bool(form.ranges)
        assert sum(x.read + x.written for x in limits.byte_table(case)) > 4 * one.units
        one.close()
    for _, curve in made.sweeps():
        assert all(case.batch >= case.worlds >= 1 for case in curve)
    labels = [form.label for form in made.forms()]
    for peer in made.data.get("peers", ()):
        assert peer["program"] in peers.PROGRAMS and peer.get("form", labels[0]) in labels
    for bar in made.data.get("bars", ()):
        assert bar["of"] in bars.UNITS and bar.get("form", labels[0]) in labels
        assert bars.unmeasured(name, made.data, bar.get("on", "cpu"))


@pytest.mark.parametrize("form", ["padded", "split"])
def test_actions_are_drawn_within_each_role(form: str) -> None:
    module = native.at(native.cpu_target(), "CovidEconomy-v0")
    files = native.data_files(native.cpu_target(), "CovidEconomy-v0")
    run = Run(module, "CovidEconomy-v0", 40, roles=form, data_files=files)
    drawn = np.stack(run.actions)
    assert drawn.shape[1:] == ((40 * 52,) if form == "split" else (40, 52))
    if form == "split":
        governors, planners = drawn[:, : 40 * 51], drawn[:, 40 * 51 :]
    else:
        rows = drawn.reshape(len(drawn), 40, 52)
        governors, planners = rows[..., :51], rows[..., 51]
    assert (governors.min(), governors.max()) == (0, 10)
    assert planners.min() < 3 and 17 < planners.max() <= 20
    run.reset(0)
    for actions in run.actions:
        run.step(actions)  # which refuses what a role does not have
    assert run.outputs["obs"] == 40 * 4 * (52 * 463 if form == "padded" else 51 * 64 + 463)
    run.close()


def test_actions_of_mixed_roles_are_words() -> None:
    whole = {"name": "a", "type": "int32", "shape": [], "choices": 3, "low": 0, "high": 2}
    number = {"type": "float32", "shape": [2], "choices": None, "low": -1.0, "high": 0.5}
    number["name"] = "b"
    shared = {"masked": False, "observation": []}
    seen = {"obs": {"type": "float32", "shape": [1], "begin": 0}}
    facts = {
        "id": "Mixed-v0", "num_worlds": 4, "role_form": "split", "agents_per_world": 3,
        "roles": [
            {"name": "choosers", "action": [whole], **shared},
            {"name": "movers", "action": [number], **shared},
        ],
        "parts": [
            {"role": "choosers", "first": 0, "count": 2, "begin": 0, "is_float": False,
             "outputs": seen},
            {"role": "movers", "first": 2, "count": 1, "begin": 8, "is_float": True,
             "outputs": {"obs": {**seen["obs"], "begin": 32}}},
        ],
        "action": [whole], "observation": [], "reward_parts": [],
        "outputs": {"obs": {"type": "float32", "shape": [4 * 3]}},
    }  # fmt: skip
    (words,) = draw_valid(facts, 1)
    assert (words.dtype, words.shape) == (np.int32, (4 * 2 + 4 * 2,))
    assert set(words[:8].tolist()) == {0, 1, 2}
    moved = words[8:].view(np.float32)
    assert -1 <= moved.min() < moved.max() <= 0.5


def test_a_form_by_role_is_measured_and_told_so(tmp_path: Path) -> None:
    data, text = run(tmp_path, "CovidEconomy", "--worlds", "2", "--no-peers")
    by_role = chosen(data, roles="split", worlds=2)
    padded = chosen(data, form="padded", worlds=2)
    assert padded["bytes_handed_out"] > 4 * by_role["bytes_handed_out"]
    assert "rows split" in text


def test_an_environment_without_data_is_measured_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measures, "measures_of", lambda name: {"benchmark": {}})
    (form,) = planned("Micro-v0").forms()
    assert (form.label, form.parameters, form.worlds) == ("", {}, plan.WORLDS)


def test_byte_table_is_what_the_columns_say() -> None:
    for name, real in (("CartPole-v0", 4), ("CartPole64-v0", 8)):
        case = Case(name, native.cpu_target(), 1)
        lines = limits.byte_table(replace(case, memory="fresh"))
        by_name = {line.what: (line.read, line.written) for line in lines}
        used = 4 * real + 2 * 4  # motion; step, return
        assert by_name.pop("columns that every step uses") == (used, used)
        assert by_name.pop("actions") == (8, 0)
        outputs = {"obs": 16, "reward": 4, "terminated": 1, "truncated": 1, "final_obs": 16}
        outputs |= {"ended": 1, "episode_return": 4, "episode_length": 4}
        assert by_name == {name: (0, size) for name, size in outputs.items()}
        # Who reuses arrays gets the rows of final_obs written in which an episode ended, no others.
        assert limits.byte_table(case) == [line for line in lines if line.what != "final_obs"]


def test_byte_table_counts_the_agents_that_exist_not_their_capacity() -> None:
    line = limits.byte_table(Case("Micro-v0", native.cpu_target(), 1, {"agent_count": 9}))[0]
    assert line.read == 9 * (16 + 4 + 4) + 4 + 4


def test_pairs_in_range_are_those_of_an_even_spread() -> None:
    form = planned("Flocking-v0").forms()[0]
    expected = 1024 * 1023 * math.pi * 0.1**2
    case = planned("Flocking-v0").case(form, 1)
    assert limits.pairs_in_range(case, form) == pytest.approx(expected)


# ---- bars


def point(rate: float, worlds: int = 64, **labels: Any) -> Point:
    case = Case("A-v0", "cpu_v4", worlds, **{"threads": machine.cores(), **labels})
    seconds = worlds / rate
    return Point(case, Timing(seconds, seconds, seconds), 3, 8, 8, 8)


@pytest.mark.parametrize(
    ("bar", "expected"),
    [
        ({"of": "world_steps"}, 9.0),
        ({"of": "world_steps", "worlds": 8}, 4.0),
        ({"of": "agent_steps", "worlds": 8}, 12.0),
        ({"of": "calls", "worlds": 8}, 0.5),
        ({"of": "world_steps", "threads": 1}, 5.0 if machine.cores() > 1 else 9.0),
        ({"of": "world_steps", "outputs": "lean"}, 20.0),
        ({"of": "world_steps", "worlds": 8, "over": {"outputs": "lean"}}, 0.2),
        ({"of": "world_steps", "form": "large"}, None),
        ({"of": "world_steps", "on": "device"}, None),
        ({"of": "of_limit"}, None),
    ],
)
def test_bars_find_what_they_are_about(
    monkeypatch: pytest.MonkeyPatch, bar: dict[str, Any], expected: float | None
) -> None:
    points = [point(9.0), point(4.0, 8), point(5.0, threads=1), point(20.0, 8, outputs="lean")]
    points.append(point(99.0, lanes=8))
    data = {"benchmark": {"bars": [bar | {"least": 1.0}]}}
    monkeypatch.setattr(measures, "measures_of", lambda name: data)
    for plan_of, found in ((planned("A-v0"), expected), (planned("A-v0", quick=True), None)):
        report = Report("A-v0", {}, "test")
        bars.judge(plan_of, report, points)
        measured = report.bars[0].measured
        assert measured == (None if found is None else pytest.approx(found))


@pytest.mark.parametrize(("target", "asked"), [("cpu_v4", 8.0), ("cpu_v3", 3.2)])
def test_less_may_be_asked_of_processors_with_avx2(
    monkeypatch: pytest.MonkeyPatch, target: str, asked: float
) -> None:
    data = {"benchmark": {"bars": [{"of": "world_steps", "least": 8.0, "avx2": 0.4}]}}
    monkeypatch.setattr(measures, "measures_of", lambda name: data)
    found = bars.judged(replace(planned("A-v0"), target=target), data["benchmark"]["bars"][0], [])
    assert found.required == pytest.approx(asked) and "avx2" not in found.what


def test_bars_say_ok_short_or_not_measured() -> None:
    assert Bar("speed", 2.0, 3.0, "x").verdict == "ok"
    assert Bar("speed", 2.0, 1.0, "x").verdict == "short"
    assert Bar("delay", 5.0, 7.0, " us", at_least=False).verdict == "short"
    assert Bar("delay", 5.0, None, " us", at_least=False).verdict == "not measured"
    assert Bar("speed", 6e7, 6.13e7, "/s").line() == (
        "bar: speed: at least 60 M/s; measured 61.3 M/s: ok"
    )
    assert (si(0.5), si(1234.0), si(5e10)) == ("0.5", "1.23 k", "50 G")


# ---- peers


def test_a_missing_peer_gets_a_line_and_the_others_a_ratio(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def absent(worlds: int) -> Subject:
        raise peers.MissingError("it is not here")

    def broken(worlds: int) -> Subject:
        raise KeyError("inside")

    there = peers.PROGRAMS["gymnasium"]
    programs = {"absent": absent, "broken": broken, "there": there}
    monkeypatch.setattr(peers, "PROGRAMS", programs)
    listed = [{"label": name, "program": name, "worlds": 99} for name in programs]
    listed[-1]["with"] = {"id": "CartPole-v1", "mode": "vector_entry_point"}
    data = measures.measures_of("CartPole-v0")
    held = data["benchmark"] | {"peers": listed}
    monkeypatch.setattr(measures, "measures_of", lambda name: {**data, "benchmark": held})
    report, _ = run(tmp_path, "CartPole", "--worlds", "2,16")
    printed = capsys.readouterr().out
    assert "absent is missing at N = 2: it is not here" in printed
    assert "broken is missing at N = 2: it failed with KeyError: 'inside'" in printed
    assert set(report["peers"]["there"]) == {"2", "16"}
    for entry in report["peers"]["there"].values():
        expected = entry["ours_per_second"] / entry["per_second"]
        assert math.isclose(entry["ours_over_theirs"], expected, rel_tol=1e-9)


def test_the_plain_c_loop_plays_the_same_game(tmp_path: Path) -> None:
    """One step of the peer from our own states: the same rules, to float32 rounding."""
    try:
        loop = c_loop.compile_loop("tests/oracles/cartpole_loop.c", tmp_path)
    except (OSError, ValueError) as reason:
        pytest.skip(f"needs the C loop: {reason}")
    worlds, steps = 512, 40
    obs = np.empty((worlds, 4), np.float32)
    reward = np.empty(worlds, np.float32)
    terminated, truncated = np.empty(worlds, np.uint8), np.empty(worlds, np.uint8)
    state = np.zeros((worlds, loop.world_bytes()), np.uint8)
    places = [ctypes.c_void_p(a.ctypes.data) for a in (obs, reward, terminated, truncated)]
    count, memory = ctypes.c_int64(worlds), ctypes.c_void_p(state.ctypes.data)
    loop.reset_all(memory, count, ctypes.c_uint32(3), places[0])
    assert np.abs(obs).max() <= 0.0500001 and obs.std() > 0.02
    simulator = gpu_envs.Simulator("CartPole-v0", worlds, device="cpu")
    simulator.reset(seed=0)
    random, ends = np.random.default_rng(0), 0
    for _ in range(steps):
        for k, column in enumerate(("cart.x", "cart.velocity", "cart.angle", "cart.spin")):
            simulator.set(column, obs[:, k : k + 1])
        actions = random.integers(0, 2, worlds)
        loop.step_all(memory, count, ctypes.c_void_p(actions.ctypes.data), *places)
        ours = simulator.step(actions)
        assert (terminated == ours.terminated[:, 0]).all() and (reward == ours.reward[:, 0]).all()
        runs = terminated == 0
        assert np.abs(obs - ours.obs[:, 0])[runs].max() < 1e-6
        ends += int(terminated.sum())
    assert ends > 0 and not truncated.any()
    simulator.close()


# ---- the loop


def test_clock_divides_by_the_calls_it_made() -> None:
    calls: list[int] = []
    ran: list[int] = []

    def fake(call: Any, count: int) -> float:
        for i in range(count):
            call(i)
        ran.append(count)
        return 0.25 * count

    timing = Clock(seconds=2.0, repeats=3, run=fake).time(calls.append)
    assert timing.median == timing.fastest == timing.slowest == 0.25
    assert sum(ran) == len(calls) and ran[-3:] == [8, 8, 8]


def test_tables_print_without_rich(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    where = {"device_name": "A CPU", "cores": 2}
    Report("X-v0", where, "x").show(Table("Title", ["", "rate"], [["a", "1"], ["bb", "22"]]))
    assert capsys.readouterr().out.split("\n")[1:5] == ["Title", "    rate", "a      1", "bb    22"]


def test_times_of_interpreted_kernels_are_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GPU_ENVS_CUDA_RUNTIME", "interpreted")
    with pytest.raises(SystemExit):
        benchmark.main(["CartPole", "--device", "cuda:0"])
    assert "interpreter's times say nothing" in capsys.readouterr().err.splitlines()[-1]


def test_unknown_environments_and_options_are_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for arguments, words in (
        (["Cartpol"], "did you mean 'CartPole-v0'"),
        (["CartPole", "--worlds", "0"], "--worlds: must be numbers such as"),
        (["CartPole", "--set", "x"], "--set: must be NAME=VALUE"),
        (["HideSeek", "--set", "hiders=4"], "did you mean 'hider_count'"),
        (["HideSeek", "--set", "profile=openia"], "did you mean 'openai'"),
        (["HideSeek", "--set", "hider_count=99"], "must be in 1 to 20"),
        (["HideSeek", "--set", "box_count_low=7", "--set", "box_count_high=3"], "is above"),
    ):
        with pytest.raises(SystemExit):
            benchmark.main([*arguments, "--device", "cpu"])
        assert words in capsys.readouterr().err.splitlines()[-1]
