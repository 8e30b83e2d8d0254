"""What a run leaves on disk: tables, events, pictures; full disks."""

from __future__ import annotations

import builtins
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
from gpu_envs.train.columns import Told
from tests.gpu_envs.train.reports import EVALUATION, LOSS, NAN, RETURN, fill, make


def lines(folder: Path) -> list[str]:
    return (folder / "curve.csv").read_text().splitlines()


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
    with pytest.raises(PermissionError, match="nothing can be written"):
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


# What a person sees


ROLES = Told(("hider", "seeker"))
OF_ROLES = {f"{RETURN}_hider": -1.0, f"{RETURN}_seeker": 1.0, f"{EVALUATION}_hider": -3.0}


def test_of_several_sides_each_has_words_and_columns_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = make(tmp_path, told=ROLES)
    report.row(100, 1.0, {LOSS: 0.5, **OF_ROLES})
    shown = capsys.readouterr().out
    assert shown == (
        "100 steps, 100/s, return hider -1.0 seeker 1.0, evaluation hider -3.0 seeker -, 1.0 s\n"
    )
    assert lines(tmp_path) == [
        f"steps,seconds,{RETURN}_hider,{RETURN}_seeker,{EVALUATION}_hider,{EVALUATION}_seeker,"
        f"{LOSS}",
        "100,1,-1,1,-3,,0.5",
    ]


def test_of_several_sides_each_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figures = drawn(monkeypatch)
    with make(tmp_path, told=ROLES, threshold=None) as report:
        for k in range(1, 5):
            report.row(100 * k, 1.0 * k, {name: k * value for name, value in OF_ROLES.items()})
    found = figures[0].axes[0].get_lines()
    assert [list(line.get_ydata()) for line in found] == [
        [-1, -2, -3, -4], [-3, -6, -9, -12], [1, 2, 3, 4], [],
    ]  # fmt: skip
    assert found[0].get_color() == found[1].get_color() != found[2].get_color()
    shown = [text.get_text() for text in figures[0].legends[0].get_texts()]
    assert shown == [
        "hider, training: sampled actions",
        "hider, evaluation: likeliest actions",
        "seeker, training: sampled actions",
    ]


def test_the_environments_own_measure_has_words_a_column_and_a_panel(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = drawn(monkeypatch)
    with make(tmp_path, told=Told(measure="hiders seen")) as report:
        report.row(100, 1.0, {RETURN: 3.0})
        report.row(200, 20.0, {"evaluation/hiders_seen": 0.5234, EVALUATION: 1.0})
    first, second, _ = capsys.readouterr().out.splitlines()
    assert "evaluation -, hiders seen -, 1.0 s" in first
    assert "evaluation 1.0, hiders seen 0.523, 20.0 s" in second
    assert lines(tmp_path)[0] == f"steps,seconds,{RETURN},{EVALUATION},evaluation/hiders_seen"
    panel = figures[0].axes[2]
    assert panel.get_ylabel() == "hiders seen" and len(figures[0].axes) == 4
    assert list(panel.get_lines()[0].get_ydata()) == [0.5234]
    assert size_of(tmp_path / "curve.png") == (1300, 806)


@pytest.mark.parametrize(
    ("ends", "told", "is_told"),
    [
        ((60.0, 30.0), Told(differences=("x 1 in training, 2 in evaluations", "y")), True),
        ((60.0, 40.0), Told(differences=("x",)), False),
        ((60.0, 90.0), Told(differences=("x",)), True),
        ((60.0, 30.0), Told(is_sampled=True, differences=("x",)), True),
        ((60.0, 30.0), Told(is_sampled=True), False),
        ((60.0, None), Told(differences=("x",)), False),
    ],
)
def test_a_hint_names_what_differs_where_evaluations_are_far_off(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    ends: tuple[float, float | None],
    told: Told,
    is_told: bool,
) -> None:
    report = make(tmp_path, told=told)
    report.row(0, 0.0, {RETURN: 0.0})
    report.row(1, 1.0, {RETURN: 100.0})
    for k in range(2, 7):
        report.row(k, 1.0 * k, {RETURN: ends[0] + k - 4})  # of which the mean counts
    report.row(7, 7.0, {} if ends[1] is None else {EVALUATION: ends[1]})
    report.stop()
    capsys.readouterr()
    report.hint()
    line = capsys.readouterr().out
    assert bool(line) is is_told
    if is_told:
        draw = "" if told.is_sampled else "; --sampled-evaluation draws actions in evaluations too"
        assert line == (
            f"at the end training returns 60.0, evaluations {ends[1]}; what differs: "
            f"{'; '.join(told.differences)}{draw}\n"
        )


# Pictures


def size_of(picture: Path) -> tuple[int, int]:
    content = picture.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n") and content[12:16] == b"IHDR"
    assert len(content) > 10_000  # not an empty page
    return int.from_bytes(content[16:20], "big"), int.from_bytes(content[20:24], "big")


def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Collects the figures that are saved."""
    figures: list[Any] = []
    save = curves._save
    monkeypatch.setattr(curves, "_save", lambda f, path: (figures.append(f), save(f, path)))
    return figures


def test_the_end_draws_training_evaluation_and_threshold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = drawn(monkeypatch)
    with make(tmp_path) as report:
        fill(report, 6)
    assert size_of(tmp_path / "curve.png") == (1300, 546)
    steps, seconds = figures[0].axes
    assert [(axes.get_xlabel(), len(axes.get_lines())) for axes in (steps, seconds)] == [
        ("steps", 3),
        ("seconds", 3),
    ]
    training, evaluation, threshold = steps.get_lines()
    assert list(training.get_xdata()) == [100, 200, 300, 400, 500, 600]
    assert list(evaluation.get_ydata()) == [40, 80, 120]
    assert list(threshold.get_ydata()) == [475, 475] and threshold.get_linestyle() == "--"
    assert list(seconds.get_lines()[1].get_xdata()) == [1, 2, 3]
    shown = [text.get_text() for text in figures[0].legends[0].get_texts()]
    assert shown == ["training: sampled actions", "evaluation: likeliest actions", "threshold"]


def test_a_run_without_rows_draws_nothing(tmp_path: Path) -> None:
    make(tmp_path).close()
    assert os.listdir(tmp_path) == []


def test_a_run_without_evaluations_has_no_such_label(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = drawn(monkeypatch)
    with make(tmp_path, threshold=None) as report:
        report.row(100, 1.0, {RETURN: 3.0})
    shown = [text.get_text() for text in figures[0].legends[0].get_texts()]
    assert shown == ["training: sampled actions"]
    assert figures[0].axes[0].get_lines()[0].get_marker() == "o"  # a line of one point


def test_a_missing_matplotlib_costs_the_picture_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    genuine = builtins.__import__

    def refuse(name: str, *rest: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError("No module named 'matplotlib'")
        return genuine(name, *rest)

    with make(tmp_path) as report:
        fill(report, 1)
        monkeypatch.setattr(builtins, "__import__", refuse)
    assert "curve.png could not be drawn: No module named" in capsys.readouterr().out
