"""The choice of an engine, what is refused before it is opened, and loading."""

from __future__ import annotations

import os
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from gpu_envs import Simulator
from gpu_envs.building import labels, places, processor, toolchain
from gpu_envs.core import pictures
from gpu_envs.known import levels, native


def test_forced_level_is_the_one_loaded(run_python: Callable[..., object]) -> None:
    program = "import gpu_envs.known.native as n; print(n.cpu().INSTRUCTION_SET)"
    for level in set(processor.runnable_levels()) & set(levels.built()):
        printed = run_python(program, GPU_ENVS_CPU=level).stdout  # type: ignore[attr-defined]
        assert level in printed


# ---- what is refused before it is opened: opening a damaged library kills the process

TRY = (
    "try:\n    gpu_envs.make_vec('CartPole-v0', 2, device='cpu')\n    print('made')\n"
    "except ImportError as problem:\n    print(problem)\n"
)


def _relabelled(path: Path, **changes: str) -> bytes:
    _, start = labels._held(path)
    label = labels.read(path)
    other = path.with_suffix(".other")
    other.write_bytes(path.read_bytes()[:start])
    labels.attach(other, labels.Label(**vars(label) | changes))
    return other.read_bytes()


def _flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def _damages(path: Path) -> dict[str, tuple[bytes, str]]:
    """Return contents that must not be opened, and what is said of each."""
    whole = path.read_bytes()
    _, start = labels._held(path)
    return {
        "empty": (b"", "is damaged: it has 0 bytes"),
        "half": (whole[: start // 2], "has no label"),
        "no label": (whole[:start], "has no label"),
        "cut in front": (whole[4096:], "its length differs from its label"),
        "flipped byte": (_flipped(whole, start // 2), "its content does not match its label"),
        "flipped label": (_flipped(whole, start + 9), "its label cannot be read"),
        "engine": (_relabelled(path, engine="0" * 16), "was made for another engine"),
        "target": (_relabelled(path, target="cpu_v9"), "was made for another engine"),
    }


@pytest.mark.parametrize("kind", ["engine", "bindings", "module"])
def test_nothing_damaged_or_strange_is_opened(package, tmp_path, kind) -> None:
    target = native.cpu_target()
    path = {
        "engine": places.engine_file(target, package.modules),
        "bindings": places.bindings_file(target, package.modules),
        "module": package.module("cartpole"),
    }[kind]
    damages = _damages(path)
    for name, (content, _) in damages.items():
        (tmp_path / name).write_bytes(content)
    whole = tmp_path / "whole"
    path.rename(whole)
    program = "import gpu_envs, shutil\n" + "".join(
        f"shutil.copyfile({str(tmp_path / name)!r}, {str(path)!r})\n" + TRY for name in damages
    )
    program += f"shutil.copyfile({str(whole)!r}, {str(path)!r})\n" + TRY
    done = package.run(program)
    assert done.returncode == 0, done.stderr
    *refused, last = done.stdout.splitlines()
    for line, (name, (_, message)) in zip(refused, damages.items(), strict=True):
        assert line.startswith(str(path)), name
        assert message in line, name
    assert last == "made"


def test_a_module_that_an_installed_package_lacks_is_named(package) -> None:
    package.module("cartpole").unlink()
    done = package.run("import gpu_envs\n" + TRY)
    module = package.module("cartpole")
    said = "No such file or directory"
    assert done.stdout == f"{module} cannot be read ({said}): install gpu_envs again\n"


def test_the_loader_refuses_what_only_the_label_calls_this_engines(package) -> None:
    """A stamp of another engine under a label of this one, as a hand may put it there."""
    module = package.module("cartpole")
    data = module.read_bytes()
    own = f"engine {places.engine_hash()}".encode()
    assert data.count(own) == 1
    start = labels._held(module)[1]
    label = labels.read(module)
    module.write_bytes(data[:start].replace(own, b"engine " + b"0" * 16))
    labels.attach(module, label)
    done = package.run(f"import gpu_envs\n{TRY.replace('ImportError', 'Exception')}")
    assert done.returncode == 0, done.stderr
    assert "was made for another engine (engine 0000000000000000, " in done.stdout
    assert len(done.stdout.splitlines()) == 1


# ---- forks, and several engines in one process

PLAY = """
import os, sys
import numpy as np
import gpu_envs

def play(name):
    env = gpu_envs.make_vec(name, 64, device="cpu")
    rows = env.reset(seed=3)[0].sum()
    for _ in range(20):
        rows += env.step(np.zeros(64, np.int64))[0].sum()
    return float(rows)
"""


@pytest.mark.parametrize("first", ["", "play('CartPole-v0')"])
def test_make_works_in_the_child_of_a_fork_and_in_both(run_python, first) -> None:
    program = PLAY + textwrap.dedent(f"""
        {first}
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(write, str(play("CartPole-v0")).encode())
            os._exit(0)
        own = play("CartPole-v0")
        print(os.waitpid(child, 0)[1], float(os.read(read, 100)) == own)
    """)
    done = run_python(program)
    assert done.stdout.strip() == "0 True", done.stderr


GOLDEN = """
import os, sys
sys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL)
from gpu_envs import Simulator
from gpu_envs.known import levels, native
from gpu_envs.core import pictures
engines = {level: native.at(f"cpu_{level}", "CartPole-v0") for level in sys.argv[1:]}
for level, engine in [*engines.items(), *reversed(engines.items())]:
    assert level in engine.INSTRUCTION_SET, (level, engine.INSTRUCTION_SET)
    simulator = engine.Simulator("CartPole-v0", 33, autoreset_mode="SameStep")
    print(*simulator.golden(200, 7))
    for bad, kind in (({"nobody": 1}, TypeError), ({"velocities": 3}, TypeError)):
        try:
            engine.Simulator("CartPole-v0", 2, parameters=bad)
        except kind:
            continue
        raise AssertionError(bad)
"""


LEVELS = [level for level in processor.runnable_levels() if level != "generic"] or ["generic"]


@pytest.mark.slow  # of two engines, both global, loading_modules_test.cpp proves it
def test_engines_of_all_levels_share_a_process_whose_libraries_are_global(tree) -> None:
    done = tree.run(f"import sys\nsys.argv[1:] = {LEVELS}\n{GOLDEN}")
    assert done.returncode == 0, done.stderr
    found = done.stdout.splitlines()
    assert len(found) == 2 * len(LEVELS)
    simulator = native.at(native.cpu_target(), "CartPole-v0").Simulator(
        "CartPole-v0", 33, autoreset_mode="SameStep"
    )
    assert set(found) == {" ".join(simulator.golden(200, 7))}


# ---- devices


@pytest.mark.parametrize("device", ["gpu", "cuda:x", "cpu:1", "", "cuda:", 3])
def test_unknown_device_lists_the_valid_ones(device: str) -> None:
    with pytest.raises(ValueError, match="device must be 'auto', 'cpu', 'cuda' or 'cuda:<n>'"):
        native.parse_device(device)


def test_cpu_is_machine_cpu() -> None:
    assert native.parse_device("cpu") == ("cpu", 0)


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine whose driver answers, in a tree that has no engine for it."""
    monkeypatch.setattr(toolchain, "driver_answers", lambda: True)
    monkeypatch.setattr(levels, "is_built", lambda target: target != "cuda")
    monkeypatch.setattr(native, "builds_cuda", lambda: True)
    monkeypatch.setattr(native, "_broken", [])
    monkeypatch.setattr(places, "settings", dict)
    monkeypatch.delenv("GPU_ENVS_CUDA", raising=False)
    native.cuda.cache_clear()


@pytest.mark.usefixtures("driver")
def test_an_engine_for_cuda_that_cannot_be_built_is_told_once_and_not_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried = []

    def refuse(target: str, name: str | None = None) -> object:
        tried.append(target)
        raise ImportError("a mistake in device.cu")

    monkeypatch.setattr(native, "at", refuse)
    with pytest.warns(UserWarning, match="mistake in device.cu\n\ngpu_envs continues on the CPU"):
        assert native.parse_device("auto") == ("cpu", 0)
    assert native.parse_device("auto") == ("cpu", 0)
    assert tried == ["cuda"]
    with pytest.raises(ValueError, match="device 'cuda' is not available: a mistake"):
        native.parse_device("cuda")


FORKED = "CUDA cannot be used in a process that was forked from one that has used it: start workers"


@pytest.mark.usefixtures("driver")
def test_a_forked_child_says_once_why_it_goes_on_with_the_cpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    devices = 1
    engine = SimpleNamespace(
        device_count=lambda: devices, device_problem=lambda: "" if devices else FORKED
    )
    monkeypatch.setattr(native, "at", lambda target: engine)
    assert native.parse_device("auto") == ("cuda", 0)
    devices = 0  # as in the child
    with pytest.warns(UserWarning, match=f"{FORKED}\n\ngpu_envs continues on the CPU"):
        assert native.parse_device("auto") == ("cpu", 0)
    assert native.parse_device("auto") == ("cpu", 0)
    with pytest.raises(ValueError, match=f"device 'cuda' is not available: {FORKED}"):
        native.parse_device("cuda")
    native.cuda.cache_clear()


@pytest.mark.usefixtures("driver")
def test_nonsense_in_the_environment_is_not_taken_for_no_device(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GPU_ENVS_CUDA", "maybe")
    with pytest.raises(ValueError, match="GPU_ENVS_CUDA must be auto, 1 or 0, got 'maybe'"):
        native.parse_device("auto")


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without a driver, on which kernels are interpreted."""
    engine = SimpleNamespace(device_count=lambda: 1, device_problem=lambda: "")
    monkeypatch.setenv("GPU_ENVS_CUDA_RUNTIME", "interpreted")
    monkeypatch.delenv("GPU_ENVS_CUDA", raising=False)
    monkeypatch.setattr(places, "settings", dict)
    monkeypatch.setattr(toolchain, "driver_answers", lambda: False)
    monkeypatch.setattr(toolchain, "nvcc", lambda: None)
    monkeypatch.setattr(levels, "is_built", lambda target: False)
    monkeypatch.setattr(native, "_engine", lambda target: SimpleNamespace(bindings=engine))
    monkeypatch.setattr(native, "_broken", [])
    native.cuda.cache_clear()


@pytest.mark.usefixtures("interpreted")
def test_interpreted_kernels_are_device_cuda_but_never_auto(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(native, "_up_to_date", asked.append)
    assert native.builds_cuda() and native.cuda_is_available()
    assert native.parse_device("cuda") == ("cuda", 0)
    assert native.parse_device("auto") == ("cpu", 0)
    assert native.target_of("cuda") == "cuda_ptx" and native.target_of("cpu") != "cuda_ptx"
    native.at("cuda")
    assert {*asked} == {"cuda_ptx"}
    monkeypatch.setenv("GPU_ENVS_CUDA_RUNTIME", "driver")
    assert native.target_of("cuda") == "cuda" and not native.builds_cuda()
    native.cuda.cache_clear()


@pytest.mark.usefixtures("interpreted")
def test_interpreted_kernels_need_nvcc_and_no_setting_against_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing() -> None:
        raise toolchain.CannotBuild("nvcc was not found")

    monkeypatch.setattr(toolchain, "nvcc", missing)
    with pytest.raises(ValueError, match="device 'cuda' is not available: nvcc was not found"):
        native.parse_device("cuda")
    monkeypatch.setenv("GPU_ENVS_CUDA", "0")
    monkeypatch.setattr(places, "settle_cuda", lambda: "0")
    with pytest.raises(native.NoDevice, match="device 'cuda' is not available"):
        native.parse_device("cuda")


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("device", ["auto", "cuda"])
def test_an_unknown_runtime_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, device: str
) -> None:
    monkeypatch.setenv("GPU_ENVS_CUDA_RUNTIME", "emulated")
    with pytest.raises(ValueError, match="GPU_ENVS_CUDA_RUNTIME must be driver or interpreted"):
        native.parse_device(device)


def test_a_child_forked_while_a_thread_builds_has_a_lock_of_its_own() -> None:
    done = threading.Event()
    begun = threading.Event()

    def build() -> None:
        with native._loading:
            begun.set()
            done.wait()

    thread = threading.Thread(target=build)
    thread.start()
    begun.wait()
    pid = os.fork()
    if pid == 0:
        os._exit(0 if native._loading.acquire(timeout=5) else 1)
    done.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_what_a_header_says_anew_holds_for_the_next_make(counted) -> None:
    header = counted.root / "kernels" / "envs" / "counter.hpp"
    text = header.read_text().replace(".max_episode_steps = 10", ".max_episode_steps = 7")
    assert text != header.read_text()
    head, mark, tail = text.partition("  static constexpr auto describe() { return fields(); }\n")
    assert mark
    head += "  float pace = 1.0f;\n  static constexpr auto describe() {\n"
    head += '    return fields(field("pace", &Params::pace, "of it").within(0, 9));\n  }\n'
    header.write_text(head + tail)
    done = counted.run(
        "import gymnasium, gpu_envs\n"
        "env = gymnasium.make('gpu_envs/Counter-v0', pace=3.0)\n"  # rebuilt by this call
        "print(env.spec.max_episode_steps, env.unwrapped.simulator.parameters['pace'])\n"
        "print(gymnasium.make_vec('Counter-v0', 2, pace=2.0, device='cpu').spec.max_episode_steps)"
    )
    assert done.stdout.split() == ["7", "3", "7"], done.stderr
    assert "pace" in counted.command("info", "Counter-v0").stdout


def test_what_a_killed_builder_did_not_note_is_noted_later(counted) -> None:
    known = counted.root / "gpu_envs" / "catalogue" / "counter.json"
    said = known.read_text()
    known.write_text(said.replace("A number that grows", "An older text"))
    assert known.read_text() != said
    done = counted.run("import gpu_envs; gpu_envs.make_vec('Counter-v0', 2, device='cpu')")
    assert "counter.json is new: commit it" in done.stderr
    assert known.read_text() == said


def test_a_picture_is_not_drawn_by_rules_of_another_layout() -> None:
    simulator = Simulator("CartPole-v0", 1, device="cpu", arrays="numpy")
    own = simulator.instance["layout"]
    pictures.Mirror("CartPole-v0", simulator.parameters, 0, own).close()
    with pytest.raises(
        RuntimeError, match="CartPole-v0 has changed since its load: restart Python"
    ):
        pictures.Mirror("CartPole-v0", simulator.parameters, 0, own + "x")
