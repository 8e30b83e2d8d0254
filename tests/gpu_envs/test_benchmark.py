"""The benchmark runs, writes its files, and its figures agree; speed itself is not judged."""

from __future__ import annotations

import ctypes
import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpu_envs
from gpu_envs import benchmark, native
from gpu_envs.benchmark import cuda, machine, peers, subjects, traffic
from gpu_envs.benchmark.clock import Clock
from gpu_envs.benchmark.report import Bar, Report, Table, si

SHORT = ("--quick", "--seconds", "0.0005", "--repeats", "2", "--device", "cpu")


def run(folder: Path, *arguments: str) -> tuple[dict[str, Any], str]:
    """Run the benchmark; returns what its two files say."""
    benchmark.main([*arguments, *SHORT, "--out", str(folder)])
    (data,), (text,) = folder.glob("*.json"), folder.glob("*.md")
    return json.loads(data.read_text()), text.read_text()


def rates_in(tree: Any) -> list[float]:
    """Every rate anywhere in a result."""
    if isinstance(tree, dict):
        own = [tree["per_second"]] if "per_second" in tree else []
        return own + [rate for value in tree.values() for rate in rates_in(value)]
    return [rate for item in tree for rate in rates_in(item)] if isinstance(tree, list) else []


def test_cartpole_writes_consistent_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, text = run(tmp_path, "CartPole", "--worlds", "1,48", "--no-peers")

    assert data["environment"] == "CartPole-v0" and data["machine"]["cores"] >= 1
    assert all(rate > 0 for rate in rates_in(data)) and len(rates_in(data)) > 30
    for row in data["steps_per_second"].values():
        assert set(row) == {"1", "48"}
        for entry in row.values():
            assert entry["per_second_worst"] <= entry["per_second"] <= entry["per_second_best"]
    for lean in ("default", "lean"):
        counted = data["traffic"][lean]
        lines = sum(line["read"] + line["written"] for line in counted["lines"])
        assert math.isclose(lines, counted["bytes_per_step"])
    for share in data["traffic"]["shares"]:
        counted = data["traffic"]["lean" if share["lean"] else "default"]["bytes_per_step"]
        expected = counted / share["ns_per_step"] * 1e9
        assert math.isclose(share["bytes_per_second"], expected, rel_tol=1e-9)
    overhead = data["overhead_us"]
    native = overhead["native step alone"]["total"]
    for entry in overhead.values():
        assert math.isclose(entry["total"] - native, entry["beyond_native"], abs_tol=1e-6)
    assert {bar["verdict"] for bar in data["bars"]} <= {"ok", "short", "not measured"}
    printed = capsys.readouterr().out
    for bar in data["bars"]:
        assert f"bar: {bar['what']}" in printed and f"bar: {bar['what']}" in text


def test_byte_table_of_cartpole_is_what_its_columns_say() -> None:
    for name, real in (("CartPole-v0", 4), ("CartPole64-v0", 8)):
        simulator = gpu_envs.Simulator(name, 32, device="cpu", outputs=["episode_return"])
        counted = traffic.count(simulator, ends_per_step=0.25)
        used = 4 * real + 4 * 4  # motion; step, over, return, fate
        by_name = {line.what: (line.read, line.written) for line in counted.lines}
        assert by_name["columns that every step uses"] == (used, used)
        assert by_name["seed and episode, where one begins"] == (4, 1)
        assert by_name["actions"] == (8, 0)
        outputs = {"obs": 16, "reward": 4, "terminated": 1, "truncated": 1}
        outputs |= {"ended": 1, "episode_return": 4}
        assert {n: w for n, (_, w) in by_name.items() if n in outputs} == outputs
        assert counted.total == 2 * used + 5 + 8 + sum(outputs.values())
        simulator.close()


def test_byte_table_counts_the_agents_that_exist_not_their_capacity() -> None:
    simulator = gpu_envs.Simulator("Micro-v0", 4, device="cpu", agent_count=9)
    line = traffic.count(simulator, ends_per_step=0).lines[0]
    assert line.read == 9 * (16 + 4 + 4) + 4 + 4
    simulator.close()


def test_micro_writes_both_sweeps_and_their_plots(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs matplotlib")
    data, text = run(tmp_path, "Micro")
    for parameter in ("agent_count", "work"):
        for points in data[f"by_{parameter}"].values():
            assert [point[parameter] for point in points] == sorted(p[parameter] for p in points)
            assert all(rate > 0 for rate in rates_in(points))
    assert len(data["figures"]) == 2
    for name in data["figures"]:
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG") and name in text
    ratio = data.get("two_threads_over_one")
    (bar,) = data["bars"]
    assert bar["measured"] == ratio and bar["verdict"] != ("not measured" if ratio else "ok")


def test_a_missing_peer_gets_a_line_and_the_others_a_ratio(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def absent(worlds: int) -> subjects.Subject:
        raise peers.MissingError("it is not here")

    def broken(worlds: int) -> subjects.Subject:
        raise KeyError("inside")

    present = next(p for p in peers.PEERS["CartPole-v0"] if "NumPy" in p.name)
    chosen = (peers.Peer("absent", absent, 99), peers.Peer("broken", broken, 99), present)
    monkeypatch.setattr(peers, "PEERS", {"CartPole-v0": chosen})
    data, _ = run(tmp_path, "CartPole", "--worlds", "2,16")
    printed = capsys.readouterr().out
    assert "absent is missing at N = 2: it is not here" in printed
    assert "broken is missing at N = 2: it failed with KeyError: 'inside'" in printed
    assert set(data["peers"][present.name]) == {"2", "16"}
    for entry in data["peers"][present.name].values():
        expected = entry["ours_per_second"] / entry["per_second"]
        assert math.isclose(entry["ours_over_theirs"], expected, rel_tol=1e-9)


def test_the_plain_c_loop_plays_the_same_game(tmp_path: Path) -> None:
    """One step of the peer from our own states: the same rules, to float32 rounding."""
    try:
        loop = peers.compile_loop(tmp_path)
    except peers.MissingError as reason:
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


def test_bars_say_ok_short_or_not_measured() -> None:
    assert Bar("speed", 2.0, 3.0, "x").verdict == "ok"
    assert Bar("speed", 2.0, 1.0, "x").verdict == "short"
    assert Bar("delay", 5.0, 7.0, " us", at_least=False).verdict == "short"
    assert Bar("delay", 5.0, None, " us", at_least=False).verdict == "not measured"
    assert Bar("speed", 6e7, 6.13e7, "/s").line() == (
        "bar: speed: at least 60 M/s; measured 61.3 M/s: ok"
    )
    assert (si(0.5), si(1234.0), si(5e10)) == ("0.5", "1.23 k", "50 G")


def test_tables_print_without_rich(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    where = {"device_name": "A CPU", "cores": 2}
    Report("X-v0", where, "x").show(Table("Title", ["", "rate"], [["a", "1"], ["bb", "22"]]))
    assert capsys.readouterr().out.split("\n")[1:5] == ["Title", "    rate", "a      1", "bb    22"]


def test_unknown_environments_and_options_are_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for arguments in (["Cartpol"], ["CartPole", "--worlds", "0"], ["CartPole", "--set", "x"]):
        with pytest.raises(SystemExit):
            benchmark.main(arguments)
        assert "error" in capsys.readouterr().err


class StandIn:
    """As much of torch.cuda as the suite uses, on the CPU: it shows that the suite runs."""

    cuda_stream = 0
    L2_cache_size = 1 << 20

    def __init__(self, *_: object, **__: object) -> None:
        self.at = 0.0

    def __enter__(self) -> StandIn:
        return self

    def __exit__(self, *_: object) -> None: ...

    def record(self) -> None:
        self.at = time.perf_counter()

    def elapsed_time(self, other: StandIn) -> float:
        return (other.at - self.at) * 1e3

    def synchronize(self) -> None: ...

    wait_stream = replay = __init__


def test_cuda_suite_runs_on_a_stand_in(
    torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("Event", "device", "Stream", "stream", "current_stream", "CUDAGraph", "graph")
    fake: dict[str, Any] = dict.fromkeys((*names, "get_device_properties"), StandIn)
    fake["synchronize"] = lambda *_: None
    for name, value in fake.items():
        monkeypatch.setattr(torch.cuda, name, value)
    make = native.make
    monkeypatch.setattr(native, "make", lambda _, *args, **options: make("cpu", *args, **options))
    monkeypatch.setattr(cuda, "_COPIED", 1 << 16)
    monkeypatch.setattr(cuda, "_BARS", {"CartPole-v0": (30_000, 5e10)})
    report = Report("CartPole-v0", machine.describe("cpu"), "test")
    clock = cuda.device_clock(0.0005, 2, "cpu")
    cuda.run(cuda.Plan("CartPole-v0", (64, 30_000), clock, "cpu", {}), report)
    report.write(tmp_path)

    assert set(report.results["lanes_per_world"]) == {"1", "8", "32"}
    assert len(report.bars) == 3 and all(bar.measured for bar in report.bars)
    limits = report.results["traffic"]["limits"]
    assert [entry["records_fit_cache"] for entry in limits] == [True, False] * 2
    assert limits[0]["bytes_per_step"] < limits[1]["bytes_per_step"]
    assert len(rates_in(report.results)) > 20


@pytest.mark.parametrize("name", ["Hanabi", "Overcooked"])
def test_games_report_steps_of_worlds_copies_and_a_curve(tmp_path, name) -> None:
    arguments = ["--quick", "--worlds", "64", "--repeats", "1", "--seconds", "0.002"]
    benchmark.main([name, *arguments, "--no-peers", "--out", str(tmp_path)])
    report = json.loads(next(tmp_path.glob("*.json")).read_text())
    rates = report["world_steps_per_second"]
    assert {"uint8 reuse, all threads", "uint8 fresh, all threads"} <= set(rates)
    assert all(row["64"]["per_second"] > 0 for row in rates.values())
    share = report["against_a_copy"]["64"]
    assert share["share_of_drawing"] > 0 and share["bytes_per_world_step"] > 1000
    agents = [point["agents"] for point in report["by_agents"]]
    assert agents == sorted(agents) and len(agents) == 2
    assert report["bars"][0]["required"] == {"Hanabi": 3e6, "Overcooked": 6e6}[name]
    assert list(tmp_path.glob("*_agents.png"))
