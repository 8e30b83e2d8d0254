"""Runs everything that needs a GPU and writes what it found; scripts/gpu_check.sh is the command.

Each stage is a function below that returns what it measured, raises `Skip` with a reason, or fails
with any other error; a failure does not stop the others. Stages that load a native module do so in
a process of their own (`--worker`), so that a crash is one stage's and a sanitizer can watch it.
Two builds are made: the package in place, and one whose CUDA module holds the test environment that
uses every stage of the engine.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "gpu_check"
TEST_ENVIRONMENT = "arena"  # of tests/kernels/envs
LANES = (0, 1, 8, 32)  # per world; 0: the tuned choice
MODES = ("NextStep", "SameStep", "Disabled")
SANITIZERS = ("memcheck", "racecheck", "synccheck", "initcheck")


class Skip(Exception):
    """A stage that cannot run here, with the reason and what would help."""


def run(command: list[str], limit: float, **settings: Any) -> str:
    """Run a command; its output, or an error that ends with the last of it."""
    done = subprocess.run(
        command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        timeout=limit, **settings,
    )  # fmt: skip
    if done.returncode:
        tail = "\n".join(done.stdout.splitlines()[-25:])
        raise RuntimeError(f"{shlex.join(command)} failed ({done.returncode}):\n{tail}")
    return done.stdout


def worker(task: str, module: Path, limit: float, wrapper: tuple[str, ...] = ()) -> Any:
    """Run one of this file's workers on a module; its answer is the last line that it prints."""
    command = [*wrapper, sys.executable, __file__, "--worker", task, "--module", str(module)]
    return json.loads(run(command, limit).splitlines()[-1 if not wrapper else -2].strip() or "{}")


def has(package: str) -> bool:
    """Whether a package is installed."""
    return importlib.util.find_spec(package) is not None


def need(*packages: str) -> None:
    """Skip the stage unless the packages are installed."""
    missing = [package for package in packages if not has(package)]
    if missing:
        raise Skip(f"{' and '.join(missing)} not installed (pip install {' '.join(missing)})")


def modules() -> list[Path]:
    """The CUDA modules that were built: the package's, and the test environment's."""
    found = [*sorted((ROOT / "gpu_envs").glob("_cuda.*.so")), *sorted(BUILD.glob("_cuda.*.so"))]
    if not found:
        raise Skip("the build made no CUDA module")
    return found


# ---- stages


def device() -> dict[str, Any]:
    """The GPU and its driver, as nvidia-smi says."""
    smi = shutil.which("nvidia-smi")
    if not smi:
        raise Skip("this machine has no NVIDIA GPU (nvidia-smi is not there)")
    fields = "name,compute_cap,memory.total,driver_version"
    answer = run([smi, f"--query-gpu={fields}", "--format=csv,noheader"], 60).splitlines()[0]
    return dict(zip(fields.split(","), (part.strip() for part in answer.split(",")), strict=True))


def tool(name: str) -> str:
    """Return a build tool's path: from its Python package where installed, else from PATH."""
    if has(name):
        found = importlib.import_module(name)
        folder = Path(getattr(found, "CMAKE_BIN_DIR", None) or found.BIN_DIR)
        return str(folder / name)
    path = shutil.which(name)
    if not path:
        raise RuntimeError(f"{name} is needed to build: pip install {name}")
    return path


def build() -> dict[str, Any]:
    """Both builds, side by side."""
    cmake, ninja, jobs = tool("cmake"), tool("ninja"), str(os.cpu_count() or 2)
    own = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"]
    configure = [cmake, "-S", "kernels", "-B", str(BUILD), "-G", "Ninja", "-DGPU_ENVS_CUDA=1"]
    configure += [f"-DCMAKE_MAKE_PROGRAM={ninja}", f"-DGE_PYTHON={sys.executable}"]
    configure += [f"-DGE_MODULE_ENVS={TEST_ENVIRONMENT}"]
    with ThreadPoolExecutor(2) as pool:
        package = pool.submit(run, own, 420, env={**os.environ, "GPU_ENVS_CUDA": "1"})
        run(configure, 120)
        run([cmake, "--build", str(BUILD), "--parallel", jobs, "--target", "_cuda"], 420)
        package.result()
    spills = run([sys.executable, "scripts/check_spills.py", str(ROOT / "build/dev/cuda")], 60)
    return {"modules": [str(m.relative_to(ROOT)) for m in modules()], "spills": spills.strip()}


def golden() -> dict[str, Any]:
    """The recorded hashes, with every number of lanes, with and without dependent launch."""
    total: dict[str, Any] = {"compared": 0, "wrong": []}
    for module in modules():
        answer = worker("golden", module, 240)
        total["compared"] += answer["compared"]
        total["wrong"] += answer["wrong"]
    if total["wrong"]:
        raise RuntimeError(f"{len(total['wrong'])} hashes differ: " + "; ".join(total["wrong"][:5]))
    return total


def sanitizers() -> dict[str, Any]:
    """compute-sanitizer's four tools, on short runs of all environments."""
    found = shutil.which("compute-sanitizer")
    if not found:
        raise Skip("compute-sanitizer is not on PATH (it comes with the CUDA toolkit)")

    def watch(name: str, module: Path) -> tuple[str, str]:
        command = (found, "--tool", name, "--error-exitcode", "86", "--print-limit", "10")
        try:
            worker("short", module, 200, command)
        except RuntimeError as problem:
            return f"{name} {module.parent.name}", str(problem)
        return f"{name} {module.parent.name}", "0 errors"

    jobs = [(name, module) for name in SANITIZERS for module in modules()]
    with ThreadPoolExecutor(4) as pool:
        answers = dict(pool.map(lambda job: watch(*job), jobs))
    bad = {name: text for name, text in answers.items() if text != "0 errors"}
    if bad:
        raise RuntimeError("\n".join(f"{name}: {text}" for name, text in bad.items()))
    return answers


def capture() -> dict[str, Any]:
    """Steps replayed from a CUDA graph equal steps that were enqueued one by one, bit for bit."""
    need("torch")
    answers = [worker("capture", module, 120) for module in modules()]
    return {"equal": sorted({name for answer in answers for name in answer["equal"]})}


def tests() -> dict[str, Any]:
    """The Python tests, those of the GPU included."""
    need("torch", "gymnasium", "pettingzoo", "pytest")
    out = run([sys.executable, "-m", "pytest", "-q", "-x", "--no-header", "tests"], 200)
    return {"summary": out.strip().splitlines()[-1]}


def benchmarks(folder: Path) -> dict[str, Any]:
    """Steps per second against the limit that the memory's measured bandwidth sets."""
    need("torch", "gymnasium")
    answer = {}
    for name, options in (("CartPole", []), ("Micro", ["--quick"])):
        command = [sys.executable, "scripts/benchmark.py", name, "--device", "cuda"]
        out = run([*command, "--out", str(folder), "--no-peers", *options], 180)
        answer[name] = out.strip().splitlines()
    return answer


def tuning(folder: Path) -> dict[str, Any]:
    """The fastest variant of each phase; the table lies beside the results, ready to be copied."""
    need("torch")
    table = folder / "tuning_table.hpp"
    out = run([sys.executable, "scripts/tune.py", "--table", str(table)], 150)
    return {"table": str(table), "output": out.strip().splitlines()}


# ---- workers: they run in a process of their own, under a sanitizer or not


def load(path: Path) -> Any:
    """Import a native module from its file."""
    spec = importlib.util.spec_from_file_location("checked._cuda", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if module.device_count() == 0:
        raise SystemExit(f"no GPU: {module.device_problem()}")
    return module


def value_of(text: str) -> bool | int | float:
    """A parameter's value as the golden files spell it."""
    if text in ("true", "false"):
        return text == "true"
    return float(text) if re.search(r"[.e]", text) else int(text)


def golden_cases(module: Any) -> Iterator[tuple[str, dict[str, Any], int, int, tuple[str, str]]]:
    """Cases of tests/golden that the module can run: line, settings, steps, seed, hashes."""
    known = {environment["id"] for environment in json.loads(module.environments())}
    for file in sorted((ROOT / "tests/golden").glob("*.txt")):
        for line in file.read_text().splitlines():
            parts = [part.strip() for part in line.split("|")]
            if line.startswith("#") or parts[0] not in known:
                continue
            pairs = [pair.split("=") for pair in parts[1].split(",") if parts[1] != "-"]
            values = {name: value_of(value) for name, value in pairs}
            settings = {"id": parts[0], "num_worlds": int(parts[3]), "autoreset_mode": parts[2]}
            settings["max_episode_steps"] = values.pop("max_episode_steps", -1)
            settings["parameters"] = values
            yield " | ".join(parts[:6]), settings, int(parts[4]), int(parts[5]), (*parts[6:8],)


def work_golden(module: Any) -> dict[str, Any]:
    """Compare every case; a number of lanes that an environment lacks is passed over."""
    compared, wrong = 0, []
    for line, settings, steps, seed, hashes in golden_cases(module):
        for lanes, dependent in [*((lanes, True) for lanes in LANES), (0, False)]:
            try:
                made = module.Simulator(**settings, lanes=lanes, dependent_launch=dependent)
            except ValueError as problem:
                if "lanes must be one of" in str(problem):
                    continue
                raise
            found = made.golden(steps, seed)
            made.close()
            compared += 1
            if found != hashes:
                wrong.append(f"{line}, {lanes} lanes, dependent={dependent}: {' | '.join(found)}")
    return {"compared": compared, "wrong": wrong}


def work_short(module: Any) -> dict[str, Any]:
    """A few steps of everything: sanitizers are slow."""
    runs = 0
    for environment in json.loads(module.environments()):
        for mode in MODES:
            for lanes in LANES[1:]:
                settings = {"autoreset_mode": mode, "lanes": lanes, "max_episode_steps": 3}
                made = module.Simulator(environment["id"], 37, **settings)
                made.golden(5, 1)
                made.faults()
                data = made.save()
                made.copy_worlds([0, 1], [20, 36], True)
                made.load(data)
                made.close()
                runs += 1
    return {"runs": runs}


class Rollout:
    """A simulator that steps into its own tensors, with actions drawn in advance."""

    def __init__(self, module: Any, name: str, worlds: int, **settings: Any) -> None:
        import torch

        self.torch = torch
        self.simulator = module.Simulator(name, worlds, **settings)
        facts = json.loads(self.simulator.instance)
        self.outputs = {
            output: torch.zeros(facts["outputs"][output]["shape"], dtype=torch_type, device="cuda")
            for output in module.OUTPUTS
            if output in facts["outputs"]
            for torch_type in [getattr(torch, facts["outputs"][output]["type"])]
        }
        places = [self.outputs[o].data_ptr() if o in self.outputs else 0 for o in module.OUTPUTS]
        self.addresses = module.Addresses(places)
        rows = worlds * facts["agents_per_world"]
        columns = [
            torch.randint(field["choices"], (rows,))
            if field["choices"]
            else torch.empty(rows).uniform_(max(field["low"], -1), min(field["high"], 1))
            for field in facts["action"]
        ]
        self.actions = torch.stack(columns, 1).cuda()

    def reset(self) -> None:
        """All worlds, seeded."""
        stream = self.torch.cuda.current_stream().cuda_stream
        self.simulator.reset(7, 0, {}, self.addresses, stream)

    def step(self) -> None:
        """One step on the current stream."""
        kind = str(self.actions.dtype).removeprefix("torch.")
        stream = self.torch.cuda.current_stream().cuda_stream
        self.simulator.step(self.actions.data_ptr(), kind, self.addresses, stream)

    def hash(self) -> str:
        """Of all that a caller receives."""
        self.torch.cuda.synchronize()
        digest = hashlib.blake2b(digest_size=8)
        for output in self.outputs.values():
            digest.update(output.cpu().numpy().tobytes())
        return digest.hexdigest()


def work_capture(module: Any) -> dict[str, Any]:
    """Each environment and mode twice: enqueued, and replayed from a graph of three steps."""
    import torch

    equal = []
    for environment in json.loads(module.environments()):
        for mode in MODES:
            histories = []
            torch.manual_seed(1)
            rollout = Rollout(module, environment["id"], 1000, autoreset_mode=mode)
            for captured in (False, True):
                rollout.reset()
                graph = torch.cuda.CUDAGraph()
                if captured:
                    torch.cuda.synchronize()
                    with torch.cuda.graph(graph):
                        for _ in range(3):
                            rollout.step()
                history = []
                for _ in range(20):
                    if captured:
                        graph.replay()
                    else:
                        for _ in range(3):
                            rollout.step()
                    history.append(rollout.hash())
                torch.cuda.synchronize()
                histories.append((history, rollout.simulator.save()))
            if histories[0] != histories[1]:
                raise SystemExit(f"{environment['id']} {mode}: a replayed graph differs")
            if len(set(histories[0][0])) < 2 and mode != "Disabled":
                raise SystemExit(f"{environment['id']} {mode}: every replay gave the same outputs")
            equal.append(f"{environment['id']} {mode}")
            rollout.simulator.close()
    return {"equal": equal}


WORKERS = {"golden": work_golden, "short": work_short, "capture": work_capture}


# ---- the report


def stages(folder: Path) -> dict[str, Callable[[], dict[str, Any]]]:
    """All stages in running order."""
    return {
        "device": device,
        "build": build,
        "golden": golden,
        "capture": capture,
        "sanitizers": sanitizers,
        "benchmarks": lambda: benchmarks(folder),
        "tuning": lambda: tuning(folder),
        "tests": tests,
    }


def perform(name: str, stage: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Run one stage, print its outcome in a line, and return it."""
    print(f"{name} ...", flush=True)
    begin = time.monotonic()
    result: dict[str, Any] = {"status": "ok"}
    try:
        result["found"] = stage()
    except Skip as reason:
        result = {"status": "skipped", "reason": str(reason)}
    except subprocess.TimeoutExpired as reason:
        result = {"status": "failed", "reason": f"took more than {reason.timeout:.0f} s"}
    except Exception as problem:  # a stage's failure is its result; the others still run
        result = {"status": "failed", "reason": f"{type(problem).__name__}: {problem}"}
    result["seconds"] = round(time.monotonic() - begin, 1)
    reason = f": {result['reason']}" if "reason" in result else ""
    print(f"{name}: {result['status']} in {result['seconds']} s{reason}", flush=True)
    return result


def as_markdown(report: dict[str, Any]) -> str:
    """The report for people: a table of stages, then what each found."""
    lines = [f"# GPU check on {report['gpu']}", "", f"{report['date']}, {report['system']}", ""]
    lines += ["| stage | outcome | seconds |", "| --- | --- | --- |"]
    for name, result in report["stages"].items():
        lines.append(f"| {name} | {result['status']} | {result['seconds']} |")
    for name, result in report["stages"].items():
        body = result.get("reason") or json.dumps(result.get("found"), indent=1)
        lines += ["", f"## {name}: {result['status']}", "", "```", body, "```"]
    return "\n".join(lines) + "\n"


def check(folder: Path, wanted: set[str] | None) -> int:
    """Run the stages, write the report, and say by the exit status whether any failed."""
    folder.mkdir(parents=True, exist_ok=True)
    done: dict[str, Any] = {}
    for name, stage in stages(folder).items():
        if wanted is None or name in wanted:
            done[name] = perform(name, stage)
        if name == "device" and name in done and done[name]["status"] != "ok":
            print("nothing was checked: every stage needs a GPU (run this where there is one)")
            return 2
    found = done.get("device", {}).get("found", {})
    report = {
        "gpu": found.get("name", "unknown"),
        "date": time.strftime("%Y-%m-%d %H:%M"),
        "system": f"{platform.platform()}, Python {platform.python_version()}",
        "stages": done,
    }
    stem = "gpu_check_" + re.sub(r"[^A-Za-z0-9]+", "-", str(report["gpu"])).strip("-")
    (folder / f"{stem}.json").write_text(json.dumps(report, indent=1) + "\n")
    (folder / f"{stem}.md").write_text(as_markdown(report))
    seconds = sum(result["seconds"] for result in done.values())
    failed = [name for name, result in done.items() if result["status"] == "failed"]
    skipped = [name for name, result in done.items() if result["status"] == "skipped"]
    print(f"wrote {folder / stem}.json and .md after {seconds:.0f} s")
    print(f"failed: {', '.join(failed) or 'none'}; skipped: {', '.join(skipped) or 'none'}")
    return 1 if failed else 0


def main() -> int:
    """Check everything, or do one worker's task."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results", metavar="DIR")
    parser.add_argument("--only", metavar="STAGE,...", help="these stages alone")
    parser.add_argument("--list", action="store_true", help="name the stages and end")
    parser.add_argument("--worker", choices=WORKERS, help=argparse.SUPPRESS)
    parser.add_argument("--module", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        print(json.dumps(WORKERS[options.worker](load(options.module))))
        return 0
    known = stages(options.out)
    if options.list:
        for name, stage in known.items():
            print(f"{name:12} {(stage.__doc__ or globals()[name].__doc__).splitlines()[0]}")
        return 0
    wanted = set(options.only.split(",")) if options.only else None
    if wanted and not wanted <= set(known):
        parser.error(f"--only: the stages are {', '.join(known)}")
    return check(options.out.resolve(), wanted)


if __name__ == "__main__":
    sys.exit(main())
