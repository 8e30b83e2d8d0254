"""Everything that needs a GPU, in an order by value: check, measure, profile, tune, report.

Each step runs in processes of its own, one for an environment, which write what they find at once
(evidence.py); all of them end with this one (processes.py). Without a GPU, --dry-run runs every
step on CPU modules as stand-ins, with small sizes, most of them for one environment of each kind.
"""

from __future__ import annotations

import argparse
import functools
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the tree this script belongs to

from scripts.gpu import bundle as gpu_bundle
from scripts.gpu import native, processes, programs, speed, steps
from scripts.gpu import profiling as gpu_profile
from scripts.gpu import training as trainer
from scripts.gpu import views as gpu_views
from scripts.gpu.evidence import NO_TIME, ROWS, Evidence, Row, closing, line, read, worst

ROOT = native.ROOT
SCRIPT = Path(__file__).resolve()
COMMAND = 570  # seconds of one command
UNBUNDLED = 300  # seconds of building where no bundle can be taken
NO_GPU, STOPPED = 3, 4  # exit statuses; 2 is argparse's
_POLL = 0.05  # [s]

Work = Callable[[Evidence, str, bool], None]
Names = Callable[[bool], list[str]]


def _once(_: bool) -> list[str]:
    return [""]


def _trained(dry_run: bool) -> list[str]:
    return [name for name in native.names(dry_run) if name in trainer.trained()]


_tested = functools.partial(native.names, tests=True)


@dataclass(frozen=True)
class Step:
    """One step: a process for each of its names, some of them at a time."""

    work: Work
    names: Names
    seconds: int  # of all its processes, of a command of 570
    limit: int  # of one of them
    at_once: int = 1  # more than one where nothing is timed
    decides: bool = False  # the exit status
    reads_all: bool = False  # data of each environment, which a dry run tries too

    @property
    def says(self) -> str:
        """What it does, in a line."""
        return (self.work.__doc__ or "").partition("\n")[0]


STEPS: dict[str, Step] = {
    "machine": Step(programs.machine, _once, 10, 60),
    "build": Step(programs.build, _once, 20, 400, decides=True),
    "launches": Step(speed.launches, native.names, 25, 30, at_once=4, reads_all=True),
    "golden": Step(steps.golden, _tested, 65, 60, at_once=4, decides=True),
    "bars": Step(speed.bars, speed.promising, 120, 60, reads_all=True),
    "profile": Step(gpu_profile.profile, speed.promising, 90, 45),
    "choices": Step(speed.choices, speed.promising, 75, 30),
    "capture": Step(steps.capture, native.names, 55, 40, at_once=4, decides=True),
    "trace": Step(gpu_views.trace, gpu_views.pictured, 10, 20, at_once=4, decides=True),
    "sanitizer": Step(programs.sanitizer, programs.watched, 100, 60, at_once=4, decides=True),
    "large": Step(steps.large, native.names, 60, 60, at_once=2, decides=True),
    "save": Step(steps.save, native.names, 30, 30, at_once=4, decides=True),
    "tests": Step(programs.tests, _once, 90, 200, decides=True),
    "train": Step(trainer.train, _trained, 90, 90, decides=True, reads_all=True),
    "rates": Step(speed.rates, native.names, 100, 45),
    "views": Step(gpu_views.views, gpu_views.pictured, 20, 30),
    "tune": Step(programs.tune, native.names, 110, 60),
    "package": Step(speed.package, speed.promising, 40, 30),
}
PLANS: dict[str, tuple[str, ...]] = {
    "first": tuple(STEPS)[:10],
    "second": ("machine", "build", *tuple(STEPS)[10:]),
    "third": ("machine", "build", "launches", "golden", "bars", "profile", "choices", "train"),
}


# ---- when


def shares(names: Sequence[str], budget: float, is_bundled: bool) -> dict[str, float]:
    """When each step has to end, in seconds from the start; what one leaves is the next one's."""
    own = {name: float(STEPS[name].seconds) for name in names}
    if "build" in own and not is_bundled:
        own["build"] = UNBUNDLED
    scale, ends, end = budget / sum(own.values()), {}, 0.0
    for name, seconds in own.items():
        end += seconds * scale
        ends[name] = end
    return ends


# ---- running


class Run:
    """One command: its steps, and the lines of what they find."""

    def __init__(self, given: argparse.Namespace, is_bundled: bool) -> None:
        self.given, self.begin = given, time.monotonic()
        self.names: list[str] = given.only or list(PLANS.get(given.plan, STEPS))
        self.ends = shares(self.names, given.budget, is_bundled)
        self.before = self.shown = len(read(given.out))
        self.size = 0  # of the file when it was last looked into
        self.failed: list[str] = []

    def go(self) -> None:
        """Run the steps one after the other; without modules there is nothing to run."""
        for name in self.names:
            self._step(name, STEPS[name])
            if name == "build" and name in self.failed:
                return

    def _step(self, name: str, step: Step) -> None:
        found, end = Evidence(self.given.out, name), self.begin + self.ends[name]
        waiting, running = self._wanted(step), list[processes.Child]()
        most = os.cpu_count() or 1 if self.given.dry_run else step.at_once
        limit = step.limit * max(1.0, self.given.budget / COMMAND)
        while waiting or running:
            while waiting and len(running) < most:
                one, now = waiting.pop(0), time.monotonic()
                if end - now < 1:
                    found.of = one
                    found.row(kind="end", status="skip", detail=NO_TIME)
                else:
                    running.append(self._start(name, one, min(end, now + limit)))
            for child in [child for child in running if processes.has_ended(child)]:
                running.remove(child)
                self._end(found, child)
            self.show()
            processes.look_for_parent()
            time.sleep(_POLL)
        own = [row for row in self.rows() if row["step"] == name]
        if step.decides and worst(own) == "fail":
            self.failed.append(name)

    def _wanted(self, step: Step) -> list[str]:
        chosen = self.given.environments
        names = step.names(self.given.dry_run)
        if self.given.dry_run and not chosen and not step.reads_all:
            return native.one_of_each_kind(names)
        return [n for n in names if not (chosen and n) or n.split()[-1].split("-")[0] in chosen]

    def _start(self, name: str, one: str, end: float) -> processes.Child:
        command = [sys.executable, str(SCRIPT), "--step", name, "--of", one]
        command += ["--out", str(self.given.out), *(["--dry-run"] if self.given.dry_run else [])]
        return processes.start(one, command, ROOT, end)

    def _end(self, found: Evidence, child: processes.Child) -> None:
        """Say how a process ended, and what it said last where that was no good end."""
        found.of, cells = child.of, {"seconds": f"{child.seconds:.1f}"}
        code, printed = child.process.returncode, child.printed()
        if not code:
            found.row(cells, kind="end")
            return
        why = f"stopped after {child.seconds:.0f} s" if child.is_stopped else f"status {code}"
        last = (printed.splitlines() or ["it printed nothing"])[-1][:200]
        detail = f"{why}: {last}"
        found.row(cells, kind="end", status="fail", detail=detail, data={"output": printed})

    def rows(self) -> list[Row]:
        """What this command has found."""
        return read(self.given.out)[self.before :]

    def show(self) -> None:
        """Print the rows that are new."""
        size = (self.given.out / ROWS).stat().st_size
        if size == self.size:
            return
        self.size, rows = size, read(self.given.out)
        for row in rows[self.shown :]:
            print(line(row), flush=True)
        self.shown = len(rows)


def run(given: argparse.Namespace, command: str) -> int:
    """Run the steps and report; return the exit status."""
    gpu = native.find_gpu()
    if given.dry_run:
        os.environ.setdefault("OMP_NUM_THREADS", "1")  # processes side by side fill the cores
    if given.dry_run and native.cpu_levels():
        first = "bundle: not looked at, this tree has modules of its own"
    else:
        first = gpu_bundle.take(gpu)
    run = Run(given, not gpu_bundle.problems(gpu))
    name = "dry run" if given.dry_run or gpu is None else gpu["name"]
    found = Evidence(given.out)
    cells = {"machine": name, "command": command, "date": time.strftime("%Y-%m-%d %H:%M")}
    found.row(cells, kind="run", detail=first)
    leave = processes.lead()
    try:
        run.go()
    except processes.Stopped as told:
        found.row(kind="run", status="fail", detail=str(told), cells={**cells})
        processes.end_descendants()
        _close(run)
        return STOPPED
    finally:
        leave()
    _close(run)
    print(f"gpu_check: {'failed: ' + ', '.join(run.failed) if run.failed else 'no check failed'}")
    return 1 if run.failed else 0


def _close(run: Run) -> None:
    """Print what is left, and the sum of this command last: of a long log the end is kept."""
    run.show()
    print(closing(run.rows()))
    print(f"wrote {run.given.out}")


def work(given: argparse.Namespace) -> int:
    """Do a step's work for one name, as a process of its own."""
    if given.step:
        processes.end_with_parent()
    if given.step != "build":
        native.take_as_built()
    if given.small:
        steps.small(given.small, given.dry_run)
    elif given.profiled:
        gpu_profile.stepped(given.profiled)
    else:
        STEPS[given.step].work(Evidence(given.out, given.step, given.of), given.of, given.dry_run)
    return 0


# ---- the command line


def listed() -> str:
    """Every step with its seconds, and the plans."""
    lines = ["steps, in this order (those with * decide the exit status):"]
    for name, step in STEPS.items():
        lines.append(f"  {name:9} {'*' if step.decides else ' '} {step.seconds:4} s  {step.says}")
    lines.append(f"plans, of {COMMAND} s each:")
    for plan, names in PLANS.items():
        seconds = sum(STEPS[name].seconds for name in names)
        lines.append(f"  {plan:9} {seconds:6} s  {', '.join(names)}")
    lines.append("exit status: 0 all is well, 1 a step with * failed, 2 wrong usage, 3 no GPU,")
    lines.append("4 stopped by a signal")
    return "\n".join(lines)


def _steps_of(text: str) -> list[str]:
    names = text.split(",")
    unknown = [name for name in names if name not in STEPS]
    if unknown:
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} is not a step: {', '.join(STEPS)}")
    return names


def parser() -> argparse.ArgumentParser:
    """The options."""
    options = argparse.ArgumentParser(
        prog="scripts/gpu/check.sh",
        description="Does everything that needs a GPU, in an order by value. Rows are added to "
        "rows.jsonl and report.md when they are found, so that nothing is lost when it is killed.",
        epilog=listed(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = options.add_argument
    out = os.environ.get("OUT")
    add("--out", type=Path, metavar="DIR", default=Path(out) if out else None, help="default: $OUT")
    add("--plan", choices=PLANS, help="the steps of one command; default: all, as time allows")
    add("--only", type=_steps_of, metavar="STEP,...", help="run these steps alone")
    add("--environments", type=_environments, metavar="NAME,...", help="of these alone: CartPole")
    add("--budget", type=float, default=COMMAND, metavar="SECONDS", help="default: %(default)s")
    add("--list", action="store_true", help="list the steps and plans, and do nothing")
    add("--dry-run", action="store_true", help="use CPU modules in place of CUDA; needs no GPU")
    for name in ("--small", "--profiled", "--step"):
        add(name, help=argparse.SUPPRESS)
    add("--of", default="", help=argparse.SUPPRESS)
    return options


def _environments(text: str) -> list[str]:
    return [name.split("-")[0] for name in text.split(",")]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the steps, or one of them for a process of its own; return the exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    options = parser()
    given = options.parse_args(words)
    if given.list:
        print(listed())
        return 0
    if given.small or given.profiled or given.step:
        return work(given)
    if native.find_gpu() is None and not given.dry_run:
        print(f"gpu_check: {native.NO_GPU} (--dry-run tries the script on the CPU)")
        print("\n".join(speed.unmeasured()))
        return NO_GPU
    if given.out is None:
        options.error("--out: name a folder that outlasts this machine, or set OUT")
    given.out = given.out.resolve()
    return run(given, " ".join(["scripts/gpu/check.sh", *words]))


if __name__ == "__main__":
    sys.exit(main())
