"""docs/learning.md: what is learned of every environment, from the runs in trained/learning.

`<task>/<seed>/facts.json` says how a run was made and what it reached, `curve.csv` how it went
there. The page and its pictures follow from them, and from the tasks beside the headers, alone:
the same runs give the same bytes. `learning.py` makes the runs.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpu_envs.known import fields
from gpu_envs.train import settings
from scripts.house import wrap_pages
from scripts.studies.learning_curves import Line, Points, picture

PAGE, PICTURES, RUNS = "docs/learning.md", "docs/curves", "trained/learning"
COLUMNS = r"steps|seconds|charts/episodic_return.*|evaluation/return.*"  # that are kept
RETURN = "evaluation/return"  # of those who learn
EPISODE_SEED = 99  # of the measured worlds
MOST_ROWS = 60  # of a kept curve

Facts = dict[str, Any]
Row = dict[str, float]

_INTRODUCTION = """# What is learned

`scripts/train --table` writes this page from the runs in `trained/learning`.
`scripts/train --table ID --minutes M --seeds 1 2 3` trains the rows of an environment again, with M
minutes a seed, measures them and writes the page. The tasks are described beside the headers
([measures](measures.md)).

- A run uses one thread of a CPU that other programs used too, so seconds do not measure speed.
- The measured policies are those of a run's best evaluation, or of its last one where several roles
  learn. They play new episodes. Random agents, the environment's scripted player (if there is one:
  `<name>_player.py` beside its header) and others that a task names play the same episodes.
- "Variant" lists the parameters of the measured worlds that differ from the defaults. "Actions"
  tells whether actions were sampled or the likeliest ones were taken. Each section lists how
  training differed, and has the command that prints its number again.
- Behind +- is the standard error of the mean over one run's episodes; "mean" is over seeds. A seed
  whose own evaluation stays low may be trained a second time, from other random numbers; its row
  shows that.
- Where one side learns, the others act at random, in training and in what is measured.
- The plots show the mean return of a run's own evaluations, of each side where opponents learn. If
  that is what is measured, they also show what random and scripted agents reach, and the bar.
- Here policies play with themselves; [partners](training.md#partners) are those of other seeds.
- A dash under "published" means that we know of no number for these rules and sizes.

The policies of the best seed of an environment's first task are `trained/<ID>.ckpt`, only in the
repository:

```sh
python -m gpu_envs evaluate TagGrid-v0 --policy trained --against random
python -m gpu_envs render Flocking-v0 --policy trained --out swarm.mp4
python -m gpu_envs play Hanabi-v0 --policy trained
```

`Micro-v0` has nothing to learn. `Sokoban-v0` has not been studied yet.
"""


@dataclass(frozen=True)
class Task:
    """A row of the table: a task and its runs, in order of their seeds."""

    name: str
    data: Mapping[str, Any]
    runs: Sequence[Facts]

    def means(self) -> list[float]:
        """Return what each seed reaches."""
        return [float(run["trained"]["mean"]) for run in self.runs]

    def bar(self) -> str:
        """Return what is to be reached, in words."""
        for key in ("least", "most"):
            if key in self.data:
                return f"at {key} {self.data[key]:g}"
        return f"{self.data['times']:g} times random" if "times" in self.data else "-"

    def limit(self) -> float | None:
        """Return what is to be reached; None: nothing."""
        for key in ("least", "most"):
            if key in self.data:
                return float(self.data[key])
        random = float(self.runs[0]["random"]["mean"])
        return float(self.data["times"]) * random if "times" in self.data else None

    def is_reached(self) -> bool:
        """Whether the seed that is furthest from the bar reaches it."""
        limit = self.limit()
        if limit is None:
            return True
        return max(self.means()) <= limit if "most" in self.data else min(self.means()) >= limit

    def verdict(self) -> str:
        """Return a line on the bar."""
        reached = ", ".join(number(mean) for mean in self.means())
        if self.bar() == "-":
            return f"{self.name}, {self.data['what']}: {reached}"
        state = "reached" if self.is_reached() else "missed"
        return f"{self.name}, {self.data['what']}: {reached}; {self.bar()}: {state}"


def number(value: float) -> str:
    """Return a score in three digits, more where it has more before the point."""
    digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{value:.{min(digits, 5)}f}"


def score(found: Mapping[str, float]) -> str:
    """Return a score and its error, which has a digit at least."""
    shown, error = number(found["mean"]), found["error"]
    if not error:
        return shown
    digits = max(len(shown.partition(".")[2]), min(5, -math.floor(math.log10(error))))
    return f"{found['mean']:.{digits}f} +- {error:.{digits}f}"


# ---- the runs


def runs_of(root: Path) -> Path:
    """Return where the runs are kept."""
    return root / RUNS


def keep(folder: Path, facts: Facts, rows: Sequence[Row]) -> None:
    """Write a run's folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_facts(folder, facts)
    (folder / "curve.csv").write_text(_thinned(rows), encoding="utf-8")


def write_facts(folder: Path, facts: Facts) -> None:
    """Write what is known of a run."""
    (folder / "facts.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def runs(root: Path, name: str) -> list[Facts]:
    """Return the runs of a task, in order of their seeds."""
    files = (runs_of(root) / name).glob("*/facts.json")
    found = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    return sorted(found, key=lambda run: int(run["seed"]))


def kept(task: Task) -> Facts:
    """Return the run whose policies are kept, where this is the first task of its environment."""
    sign = -1 if "most" in task.data else 1
    return max(task.runs, key=lambda run: sign * float(run["trained"]["mean"]))


def _thinned(rows: Sequence[Row]) -> str:
    """Return the columns that are kept of evenly spaced rows: of evaluations, if there are any."""
    rows = [row for row in rows if _is_evaluated(row)] or list(rows)
    last = len(rows) - 1
    chosen = {round(k * last / (MOST_ROWS - 1)) for k in range(MOST_ROWS)}
    names = [name for name in rows[0] if re.fullmatch(COLUMNS, name)]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(names)
    for k in sorted(chosen):
        writer.writerow(_cell(rows[k].get(name, math.nan)) for name in names)
    return stream.getvalue()


def _cell(value: float) -> str:
    if math.isnan(value):
        return ""
    return f"{value:.0f}" if value % 1 == 0 else f"{value:.6g}"


def _is_evaluated(row: Row) -> bool:
    return any(name.startswith(RETURN) and not math.isnan(value) for name, value in row.items())


def rows(tasks: Mapping[str, Mapping[str, Any]], root: Path) -> list[Task]:
    """Return the tasks that have runs, in order of their environments."""
    found = []
    for name, data in sorted(tasks.items(), key=lambda pair: pair[1]["id"]):
        own = runs(root, name)
        if own:
            found.append(Task(name, data, own))
    return found


# ---- the page


def write(tasks: Sequence[Task], root: Path) -> None:
    """Write the page and its pictures."""
    for path, content in files(tasks, root).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")


def files(tasks: Sequence[Task], root: Path) -> dict[Path, str]:
    """Return the page and its pictures."""
    found = {root / PAGE: text(tasks)}
    for task in tasks:
        found[root / PICTURES / f"{task.name}.svg"] = _picture(task, root)
    return found


def text(tasks: Sequence[Task]) -> str:
    """Return the page."""
    lines = [_INTRODUCTION, *_summary(tasks)]
    for task in tasks:
        lines += ["", f"## {task.data['id']}: {task.data['who']}", "", *_section(task)]
    return wrap_pages.wrapped("\n".join(lines))


def _summary(tasks: Sequence[Task]) -> Iterator[str]:
    yield _line(
        "environment", "who learns", "variant", "actions", "measured", "seeds", "minutes a seed",
        "trained", "mean", "random", "scripted", "to be reached", "published",
    )  # fmt: skip
    yield "|" + "---|" * 13
    for task in tasks:
        first, means = task.runs[0], task.means()
        spent = max(run["seconds"] for run in task.runs) / 60
        yield _line(
            f"`{task.data['id']}`",
            f"[{task.data['who']}](#{_anchor(task)})",
            _variant(task),
            task.data["played"]["actions"],
            task.data["what"],
            ", ".join(map(_seed, task.runs)),
            f"{spent:.1f}" if spent >= 0.1 else "< 0.1",
            ", ".join(score(run["trained"]) for run in task.runs),
            number(sum(means) / len(means)),
            score(first["random"]),
            score(first["scripted"]) if "scripted" in first else "-",
            f"{task.bar()}{'' if task.is_reached() else ': missed'}",
            "; ".join(one["what"] for one in task.data.get("published", ())) or "-",
        )
        yield from _elsewhere(task)


def _seed(run: Facts) -> str:
    return f"{run['seed']}{' (again)' * ('again' in run)}"


def _elsewhere(task: Task) -> Iterator[str]:
    """Yield a line for each other place in which a kept policy was measured."""
    for run in task.runs:
        for one in run.get("elsewhere", ()):
            yield _line(
                f"`{task.data['id']}`",
                f"[{task.data['who']}, {one['who']}](#{_anchor(task)})",
                _variant(task, one["evaluation"]),
                task.data["played"]["actions"],
                *(task.data["what"], str(run["seed"]), "-"),
                *(score(one["trained"]), number(one["trained"]["mean"]), score(one["random"])),
                *(score(one["scripted"]) if "scripted" in one else "-", "-", "-"),
            )


def _variant(task: Task, changes: Mapping[str, Any] | None = None) -> str:
    """Return the parameters that are not as by default, where `changes` go before the task's."""
    shown: list[str] = task.data["played"]["variant"]
    if changes:
        pairs = dict(part.split("=", 1) for part in shown)
        pairs |= {name: fields.spelt(value) for name, value in changes.items()}
        plain = {n: fields.spelt(value) for n, value in settings.usual(task.data["id"]).items()}
        shown = [f"{name}={value}" for name, value in pairs.items() if value != plain[name]]
    own = [f"`{part}`" for part in shown]
    return ", ".join(own) or "as by default"


def _anchor(task: Task) -> str:
    """Return what a heading is called in an address."""
    return re.sub(r"[^\w-]", "", f"{task.data['id']} {task.data['who']}".lower().replace(" ", "-"))


def _section(task: Task) -> Iterator[str]:
    first = task.runs[0]
    yield "```sh"
    for told in first["commands"]:
        yield from _folded(told)
    yield "```"
    yield ""
    played = task.data["played"]
    yield f"Variant: {_variant(task)}. Actions: {played['actions']}."
    if played["differences"]:
        yield f"Training differs from what is measured: {'; '.join(played['differences'])}."
    yield ""
    yield from _evaluations(task)
    yield f"![{task.data['who']}: return of evaluations over steps](curves/{task.name}.svg)"
    yield ""
    extra = _extra(task)
    yield _line("seed", "steps", "seconds", task.data["what"], *extra, "machine")
    yield "|" + "---|" * (5 + len(extra))
    for run in task.runs:
        own = [number(run["trained"][key]) for key in extra.values()]
        cells = (f"{run['steps'] / 1e6:.2f} M", f"{run['seconds']:.0f}", score(run["trained"]))
        again = f", again as {run['again']}" if "again" in run else ""
        yield _line(f"{run['seed']}{again}", *cells, *own, run["machine"])
    others = [(who, first[who]) for who in ("random", "scripted") if who in first]
    there = [
        (f"{who}, {one['who']}", one[key])
        for run in task.runs
        for one in run.get("elsewhere", ())
        for who, key in (
            (f"seed {run['seed']}", "trained"),
            ("random", "random"),
            ("scripted", "scripted"),
        )
        if key in one
    ]
    beside = [(one["who"], one) for one in first.get("beside", ())]
    for who, found in [*others, *beside, *there]:
        own = [number(found[key]) for key in extra.values()]
        yield _line(who, "-", "-", score(found), *own, "-")
    yield ""
    yield f"Over {first['episodes']:,} episodes."
    for one in task.data.get("published", ()):
        yield f"Published: {one['what']} ({one['source']})."
    if "page" in task.data:
        yield f"Read more: [{task.data['page']['what']}]({task.data['page']['at']})."


def _evaluations(task: Task) -> Iterator[str]:
    """Yield the commands that measure again what stands in the table."""
    run = kept(task)
    how = f"--task {task.name} --episodes {run['episodes']} --seed {EPISODE_SEED} --device cpu"
    if task.data["played"]["actions"] == settings.SAMPLED:
        how = f"--sampled {how}"
    if not task.data["is_kept"]:
        out = run["commands"][-1].rpartition("--out ")[2]
        told = f"python -m gpu_envs evaluate {out}/best.ckpt {how}"
        yield from _command(
            "The policies are not kept. This measures what the commands above train:", told
        )
        return
    told = f"python -m gpu_envs evaluate {task.data['id']} --policy trained {how}"
    who = f"The policies of seed {run['seed']} are kept."
    yield from _command(f"{who} This prints their {score(run['trained'])}:", told)
    for one in run.get("elsewhere", ()):
        more = (f"--{n.replace('_', '-')} {fields.spelt(v)}" for n, v in one["evaluation"].items())
        what = f"This prints their {score(one['trained'])} in {one['who']}:"
        yield from _command(what, " ".join((told, *more)))


def _command(what: str, told: str) -> Iterator[str]:
    yield from (what, "", "```sh", *_folded(told), "```", "")


def _extra(task: Task) -> dict[str, str]:
    """Return further columns, and what they are called in a run's facts."""
    found = {"penalised": "penalised"} if "penalised" in task.runs[0]["trained"] else {}
    return found | ({task.data["also"]["what"]: "also"} if "also" in task.data else {})


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _folded(told: str) -> Iterator[str]:
    """Break a command before options, in lines that are not too long."""
    line = ""
    for part in re.split(r" (?=--)", told):
        if line and len(line) + len(part) > 96:
            yield f"{line} \\"
            line = f"   {part}"
        else:
            line = f"{line} {part}" if line else part
    yield line


# ---- pictures


def _picture(task: Task, root: Path) -> str:
    """Return the curves of all seeds, and what others reach where that is the same return."""
    lines = []
    for seed, run in enumerate(task.runs):
        points = _points(runs_of(root) / task.name / str(run["seed"]))
        for number, (side, own) in enumerate(points.items()):
            label = ", ".join([*_plural(task, side), f"seed {_seed(run)}"])
            lines.append(Line(label, own, seed, number))
    side = task.data["played"]["measured"]
    levels = _levels(task) if side is not None else {}
    title = f"{task.data['id']}, {task.data['who']}: return of evaluations over steps"
    return picture(title, lines, levels, "".join(_plural(task, side or "")))


def _plural(task: Task, side: str) -> list[str]:
    """Return what the agents of a side are called; nothing for the only side."""
    return [side + "s" * (task.data["played"]["sides"][side] > 1)] if side else []


def _levels(task: Task) -> dict[str, float]:
    """Return what others reach, and the bar."""
    first, limit = task.runs[0], task.limit()
    found = {who: float(first[who]["mean"]) for who in ("random", "scripted") if who in first}
    return found | ({"to be reached": limit} if limit is not None else {})


def _points(folder: Path) -> dict[str, Points]:
    """Return steps and return of the evaluations of a kept run, of each side that learns."""
    lines = list(csv.DictReader(io.StringIO((folder / "curve.csv").read_text(encoding="utf-8"))))
    return {
        name.removeprefix(RETURN).removeprefix("_"): [
            (float(line["steps"]), float(line[name])) for line in lines if line[name]
        ]
        for name in lines[0]
        if name.startswith(RETURN)
    }
