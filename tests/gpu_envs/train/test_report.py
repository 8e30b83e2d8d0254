"""What a run leaves on disk: tables and events; full disks."""

from __future__ import annotations

import math
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("matplotlib", reason="needs matplotlib")
pytest.importorskip("rich", reason="needs rich")

from gpu_envs.train import curves
from tests.gpu_envs.train.reports import EVALUATION, LOSS, NAN, RETURN, fill, lines, make

# The table


def test_every_row_is_on_disk_at_once_and_nan_is_an_empty_cell(tmp_path: Path) -> None:
    report = make(tmp_path)
    report.row(64, 0.25, {RETURN: NAN, LOSS: 1 / 3})
    assert lines(tmp_path) == [
        f"steps,seconds,{RETURN},{EVALUATION},{LOSS}",
        "64,0.25,,,0.333333333",
    ]
    report.row(128, 0.5, {RETURN: 12, LOSS: math.inf, EVALUATION: 9.5})
    assert lines(tmp_path)[2:] == ["128,0.5,12,9.5,inf"]
    report.row(192, 0.75, {LOSS: 2})
    assert lines(tmp_path)[3:] == ["192,0.75,,,2"]


def test_a_late_name_becomes_a_column(tmp_path: Path) -> None:
    report = make(tmp_path)
    fill(report, 2)
    report.row(300, 1.5, {"time/simulation, share": 0.5})
    fill(report, 1, first=4)
    head, *rows = lines(tmp_path)
    assert head == f'steps,seconds,{RETURN},{EVALUATION},{LOSS},"time/simulation, share"'
    assert rows == ["100,0.5,10,,1,", "200,1,20,40,0.5,", "300,1.5,,,,0.5", "400,2,40,80,0.25,"]
    assert curves.read(tmp_path / "curve.csv")[2]["time/simulation, share"] == 0.5


def test_numbers_of_32_bits_come_back_exactly(tmp_path: Path) -> None:
    import numpy as np

    values = np.random.default_rng(0).standard_normal(100).astype(np.float32)
    report = make(tmp_path)
    for k, value in enumerate(values):
        report.row(2**53 - 100 + k, k, {LOSS: value})
    rows = curves.read(tmp_path / "curve.csv")
    assert [np.float32(row[LOSS]) for row in rows] == list(values)
    assert [row["steps"] for row in rows] == [2**53 - 100 + k for k in range(100)]


def test_a_resumed_run_continues_where_its_checkpoint_was(tmp_path: Path) -> None:
    first = make(tmp_path)
    fill(first, 5)
    whole = lines(tmp_path)
    with open(tmp_path / "curve.csv", "a") as file:
        file.write("600,3,")  # a killed process
    second = make(tmp_path, append=True)
    second.rewind(300)
    assert lines(tmp_path) == whole[:4]
    fill(second, 2, first=4)
    assert lines(tmp_path) == whole
    second.close()
    third = make(tmp_path, append=True)  # without a step to go back to
    fill(third, 1, first=6)
    assert lines(tmp_path)[:6] == whole and len(lines(tmp_path)) == 7
    make(tmp_path).row(1, 1, {LOSS: 1})
    assert len(lines(tmp_path)) == 2  # a new run


def test_a_resumed_run_without_a_table_begins_one(tmp_path: Path) -> None:
    report = make(tmp_path, append=True)
    report.rewind(300)
    assert not (tmp_path / "curve.csv").exists()
    fill(report, 1, first=4)
    assert len(lines(tmp_path)) == 2


KILLED = """
import os, signal, sys
from pathlib import Path
from gpu_envs.train.report import Report
options = {"total_steps": 9, "threshold": None, "tensorboard": sys.argv[2] == "1"}
run = Report(Path(sys.argv[1]), "x", {}, **options)
for k in range(3):
    run.row(k, k, {"losses/a": k})
os.kill(os.getpid(), signal.SIGKILL)
"""


def kill_amid_a_run(folder: Path, has_tensorboard: bool) -> None:
    command = [sys.executable, "-c", KILLED, str(folder), str(int(has_tensorboard))]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr


def test_a_killed_run_leaves_all_rows(tmp_path: Path) -> None:
    kill_amid_a_run(tmp_path, has_tensorboard=False)
    assert [row["losses/a"] for row in curves.read(tmp_path / "curve.csv")] == [0, 1, 2]


# Disks


@pytest.fixture
def file_limit() -> Iterator[Any]:
    """Lets no file grow beyond a number of bytes, as a full disk would."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def limit(size: int | None) -> None:
        soft = before[0] if size is None else size
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, before[1]))

    yield limit
    limit(None)


@pytest.mark.parametrize("room", [0, 1, 30])
def test_rows_wait_while_the_disk_is_full_and_are_told_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], file_limit: Any, room: int
) -> None:
    report = make(tmp_path)
    fill(report, 3)
    before = lines(tmp_path)
    file_limit((tmp_path / "curve.csv").stat().st_size + room)
    fill(report, 3, first=4)
    report.row(700, 3.5, {RETURN: 70.0, LOSS: 1 / 7, "losses/late": 1.0})
    assert lines(tmp_path)[:3] == before[:3]
    told = capsys.readouterr().out
    assert told.count("warning: curve.csv in") == 1
    assert "cannot be written (File too large): the training goes on" in told
    file_limit(None)
    fill(report, 1, first=8)
    assert "curve.csv is written again, nothing is missing" in capsys.readouterr().out
    rows = curves.read(tmp_path / "curve.csv")
    assert [row["steps"] for row in rows] == [100 * k for k in range(1, 9)]
    assert [row[LOSS] for row in rows] == pytest.approx([1 / k for k in range(1, 9)])
    assert sorted(os.listdir(tmp_path)) == ["curve.csv"]


def test_waiting_rows_are_written_at_the_end_or_told_to_be_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], file_limit: Any
) -> None:
    for name, is_lifted in (("lifted", True), ("full", False)):
        report = make(tmp_path / name)
        fill(report, 2)
        file_limit((tmp_path / name / "curve.csv").stat().st_size)
        fill(report, 2, first=3)
        file_limit(None if is_lifted else 10)
        capsys.readouterr()
        report.close()
        file_limit(None)
        shown = capsys.readouterr().out
        assert len(lines(tmp_path / name)) == (5 if is_lifted else 3)
        assert ("the last rows are missing" in shown) is not is_lifted
        assert ("curve.png could not be drawn: [Errno 27]" in shown) is not is_lifted


def test_no_space_from_the_first_row_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], file_limit: Any
) -> None:
    report = make(tmp_path)
    file_limit(0)
    fill(report, 2)
    assert os.listdir(tmp_path) == []
    shown = capsys.readouterr()
    assert shown.out.count("warning: curve.csv") == 1 and shown.err == ""
    file_limit(None)
    fill(report, 1, first=3)
    assert len(lines(tmp_path)) == 4


def test_a_folder_that_is_removed_comes_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    report = make(folder)
    fill(report, 2)
    (folder / "curve.csv").unlink()
    folder.rmdir()
    fill(report, 1, first=3)
    assert "No such file or directory" in capsys.readouterr().out
    folder.mkdir()
    fill(report, 1, first=4)
    assert len(lines(folder)) == 5


def test_a_folder_that_takes_no_file_is_an_error_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(OSError, match="/dev/null/x"):
        make(Path("/dev/null/x"))
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    with pytest.raises(PermissionError, match="is not writable"):
        make(tmp_path)


def test_a_log_that_takes_nothing_does_not_stop_the_run(tmp_path: Path) -> None:
    program = KILLED.replace("os.kill(os.getpid(), signal.SIGKILL)", "run.close()").replace(
        "run.row(", "run.line('x' * 100_000); run.row("
    )
    command = [sys.executable, "-c", program, str(tmp_path), "0"]
    with open("/dev/full", "w") as full:
        subprocess.run(command, stdout=full, stderr=subprocess.DEVNULL)
    assert len(lines(tmp_path)) == 4 and (tmp_path / "curve.png").exists()
    reader = subprocess.Popen(["true"], stdin=subprocess.PIPE)
    reader.wait()
    subprocess.run([*command[:3], str(tmp_path / "2"), "0"], stdout=reader.stdin)
    assert len(lines(tmp_path / "2")) == 4 and (tmp_path / "2" / "curve.png").exists()


# TensorBoard


@pytest.fixture
def read_events() -> Any:
    accumulator = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator", reason="needs tensorboard"
    )

    def read(folder: Path) -> Any:
        return accumulator.EventAccumulator(str(folder)).Reload()

    return read


def scalars(found: Any, name: str) -> list[tuple[int, float]]:
    return [(event.step, event.value) for event in found.Scalars(name)]


def test_tensorboard_reads_scalars_and_texts(tmp_path: Path, read_events: Any) -> None:
    report = make(tmp_path, tensorboard=True)
    report.note("machine", "two cores")
    fill(report, 4)
    found = read_events(tmp_path)  # before the run has ended
    assert sorted(found.Tags()["scalars"]) == sorted([RETURN, LOSS, EVALUATION])
    assert scalars(found, RETURN) == [(100, 10), (200, 20), (300, 30), (400, 40)]
    assert scalars(found, EVALUATION) == [(200, 40), (400, 80)]  # NaN is not written
    texts = {
        tag.partition("/")[0]: found.Tensors(tag)[0].tensor_proto.string_val[0].decode()
        for tag in found.Tags()["tensors"]
    }
    assert texts["machine"] == "two cores"
    assert "| hidden | 64 |" in texts["settings"] and "| gamma | 0.99 |" in texts["settings"]


def test_tensorboard_forgets_what_was_rewound(tmp_path: Path, read_events: Any) -> None:
    fill(make(tmp_path, tensorboard=True), 5)
    resumed = make(tmp_path, tensorboard=True, append=True)
    resumed.rewind(300)
    resumed.row(400, 2.0, {RETURN: -1.0})
    assert scalars(read_events(tmp_path), RETURN) == [(100, 10), (200, 20), (300, 30), (400, -1)]
    make(tmp_path, tensorboard=True).row(50, 0.5, {RETURN: 7.0})
    assert scalars(read_events(tmp_path), RETURN) == [(50, 7)]


def test_tensorboards_file_survives_a_kill(tmp_path: Path, read_events: Any) -> None:
    kill_amid_a_run(tmp_path, has_tensorboard=True)
    assert scalars(read_events(tmp_path), "losses/a") == [(0, 0), (1, 1), (2, 2)]


def test_tensorboards_file_waits_while_the_disk_is_full(
    tmp_path: Path, read_events: Any, file_limit: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    report = make(tmp_path, tensorboard=True)
    fill(report, 2)
    file_limit(next(tmp_path.glob("events*")).stat().st_size + 20)  # the table is smaller
    fill(report, 2, first=3)
    assert capsys.readouterr().out.count("warning: TensorBoard's file in") == 1
    file_limit(None)
    fill(report, 1, first=5)
    assert "TensorBoard's file is written again" in capsys.readouterr().out
    assert [step for step, _ in scalars(read_events(tmp_path), LOSS)] == [100, 200, 300, 400, 500]
    assert len(lines(tmp_path)) == 6


def test_without_tensorboard_a_run_goes_on_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    report = make(tmp_path, tensorboard=True)
    report.note("a", "b")
    fill(report, 2)
    report.close()
    assert capsys.readouterr().out.count("TensorBoard is not installed") == 1
    assert sorted(os.listdir(tmp_path)) == ["curve.csv", "curve.png"]


# W&B


class Wandb(ModuleType):
    """Notes what it is told."""

    def __init__(self, trouble: str = "") -> None:
        super().__init__("wandb")
        self.trouble, self.calls = trouble, []

    def init(self, **options: Any) -> Any:
        if self.trouble == "init":
            raise RuntimeError("no API key\nand a page of advice")
        self.calls.append(("init", options))
        return self

    def log(self, values: dict[str, float], step: int) -> None:
        self.calls.append(("log", step, values))
        if self.trouble == "log":
            raise ConnectionError("gone")

    def finish(self) -> None:
        self.calls.append(("finish",))


def test_wandb_gets_the_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = Wandb()
    monkeypatch.setitem(sys.modules, "wandb", fake)
    with make(tmp_path, wandb="balance") as report:
        fill(report, 2)
    options = {"project": "balance", "name": "CartPole-v0 [seed 1]", "dir": str(tmp_path)}
    assert fake.calls == [
        ("init", {**options, "config": {"hidden": 64, "gamma": 0.99}}),
        ("log", 100, {RETURN: 10.0, LOSS: 1.0, "seconds": 0.5}),
        ("log", 200, {RETURN: 20.0, LOSS: 0.5, EVALUATION: 40.0, "seconds": 1.0}),
        ("finish",),
    ]


def test_wandb_that_is_missing_or_does_not_start_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(ValueError, match=r"'balance' needs wandb: .*pip install wandb"):
        make(tmp_path, wandb="balance")
    monkeypatch.setitem(sys.modules, "wandb", Wandb("init"))
    with pytest.raises(ValueError, match=r"^W&B did not start: no API key$"):
        make(tmp_path, wandb="balance")


def test_wandb_that_fails_later_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake = Wandb("log")
    monkeypatch.setitem(sys.modules, "wandb", fake)
    with make(tmp_path, wandb="balance") as report:
        fill(report, 3)
    assert [call[0] for call in fake.calls] == ["init", "log"]
    assert capsys.readouterr().out.count("W&B gets nothing more from this run: gone") == 1
    assert len(lines(tmp_path)) == 4
