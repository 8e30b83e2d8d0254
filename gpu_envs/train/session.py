"""A training run from beginning to end: worlds, evaluations, checkpoints, reports, interruptions.

The learning is `ppo.Trainer`'s; this is what surrounds it. Whatever ends a run, the folder then
holds a checkpoint from which `--resume` goes on: one is written before the first step, from time to
time, and at the end. Ctrl-C and SIGTERM end the run after the present update, a second one at once.
"""

from __future__ import annotations

import math
import shutil
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import torch

from gpu_envs.known import suites
from gpu_envs.policies import checkpoint, saved, teams
from gpu_envs.policies.networks import Policy
from gpu_envs.train import cloning, settings, worlds
from gpu_envs.train.columns import EVALUATION, Told, measure_column
from gpu_envs.train.config import Config, as_options, folder_of
from gpu_envs.train.data.minari_files import DataSet
from gpu_envs.train.evaluations import Trials
from gpu_envs.train.ppo import Trainer
from gpu_envs.train.ranks import Ranks
from gpu_envs.train.report import Report

CHECKPOINT, BEST, LADDER = "checkpoint.ckpt", "best.ckpt", "ladder"


class Session:
    """One process of a run.

    Args:
        config: What was chosen.
        tree: The checkpoint that is continued, or None.
    """

    def __init__(self, config: Config, tree: Mapping[str, Any] | None) -> None:
        self.config, self.entry = config, suites.described(config.env)
        self.is_new = tree is None
        self.ranks = Ranks(config.device)
        self.folder = folder_of(config)
        self.signals, self.is_interrupted = 0, False
        first, count = self.ranks.share(config.num_envs)
        if count == 0:
            raise ValueError(
                f"--num-envs must be at least the number of ranks, {self.ranks.count}, got "
                f"{config.num_envs}"
            )
        self.env = worlds.for_training(config, self.ranks.device, count, first)
        if config.precision != "float32" and self.env.device == "cpu":
            raise ValueError(
                f"--precision {config.precision} needs a GPU: on a CPU it is slower than float32"
            )
        self._set_up_torch()
        self.trainer = Trainer(config, self.env, self.ranks, self._say)
        self.trials = Trials(config, self.env.device, self.ranks)
        what = tuple(measure.facts["what"] for measure in self.trials.measures)
        apart = tuple(settings.within(config))
        self.told = Told(
            *(tuple(self.trials.sides), what, config.sampled_evaluation, apart),
            is_suite=suites.is_suite(config.env),
        )
        self.goal = self._goal()
        self.best, self.score, self.seconds = -math.inf, math.nan, 0.0
        self.reached: dict[str, float] = {}  # by the last evaluation
        self.counted = 0  # episodes of the best evaluation
        self.at_end = 0.0  # seconds of the last evaluation
        if self.trainer.device.type == "cuda":
            self.trainer.time_simulation()
        if tree is not None:
            self._continue(tree)
            self._check_time()
        else:
            if config.init:
                team = teams.Team.load(Path(config.init), self.env.simulator)
                own = [player for player in team.policies if isinstance(player, Policy)]
                self.trainer.take_over(own)
            if config.clone:
                if self.ranks.count > 1:
                    raise ValueError(
                        "--clone is for one process: clone with --total-steps 0, then --init its "
                        "best.ckpt"
                    )
                cloning.clone(self.trainer, DataSet(config.clone), self._say)
            self.trainer.start()
        self.report: Report | None = None

    def _goal(self) -> float:
        """Return the episode return that ends the run; inf where roles are opponents."""
        wanted, roles = self.config.goal, self.told.sides
        if len(roles) > 1:
            if math.isfinite(wanted):
                raise ValueError(
                    f"--goal must be inf where several roles learn ({', '.join(roles)}), got "
                    f"{wanted:g}: a mean over opponents does not measure progress; "
                    "--learn ROLE trains one of them"
                )
            return math.inf
        goal = self.entry["reward_threshold"] if math.isnan(wanted) else wanted
        return math.inf if goal is None else float(goal)

    def _set_up_torch(self) -> None:
        torch.set_num_threads(self.config.threads or worlds.cores())
        is_exact = self.config.precision == "float32"
        torch.set_float32_matmul_precision("highest" if is_exact else "high")
        torch.backends.cudnn.allow_tf32 = not is_exact
        if self.env.device != "cpu":
            torch.cuda.set_device(self.env.device)

    def _continue(self, tree: Mapping[str, Any]) -> None:
        path = self.folder / CHECKPOINT
        checkpoint.require(path, tree["outlook"], saved.outlook(self.env.simulator))
        if not self.trainer.load(tree["state"]):
            self._say(
                f"{len(tree['state']['worlds'])} ranks wrote {path} and {self.ranks.count} go on: "
                "the worlds begin new episodes"
            )
        self.best, self.score, self.seconds = tree["best"], tree["score"], tree["seconds"]
        self.trials.spent = tree["evaluating"]
        self.trials.lasted = tree.get("evaluation_lasted", 0.0)  # missing in older checkpoints
        self.counted = tree.get("best_episodes", self.trials.episodes)
        self.trainer.seconds.update(tree["shares"])

    def _check_time(self) -> None:
        """Print the rest of the limits of a resumed run; raise if no time is left."""
        limit, gone, steps = self.config.time_limit, self.seconds, self.config.total_steps
        if 0 < limit <= gone:
            raise ValueError(
                f"--time-limit {limit:g} counts from the beginning of the run, which has taken "
                f"{gone:.0f} s: --time-limit {math.ceil(gone + limit)} goes on for {limit:g} s more"
            )
        if limit:
            self._say(
                f"--time-limit {limit:g} counts from the beginning of the run, which has taken "
                f"{gone:.0f} s: {limit - gone:.0f} s are left"
            )
        if self.trainer.steps >= steps:
            self._say(
                f"--total-steps {steps} counts from the beginning of the run, which has them: "
                f"--total-steps {self.trainer.steps + steps} goes on for as many more"
            )

    def _say(self, line: str) -> None:
        if self.ranks.is_first:
            report = getattr(self, "report", None)
            if report is None:
                print(line, flush=True)
            else:
                report.line(line)

    # The run

    def run(self) -> None:
        """Train until the goal, the last step, the time limit or an interruption."""
        config = self.config
        title = f"{config.env}, seed {config.seed}"
        if self.ranks.is_first:
            self.folder.mkdir(parents=True, exist_ok=True)
            if not config.resume:
                self._set_aside()
            if config.ladder_every:
                (self.folder / LADDER).mkdir(exist_ok=True)
            self.report = Report(
                self.folder,
                title,
                config.facts(),
                total_steps=config.total_steps,
                threshold=self.goal if math.isfinite(self.goal) else None,
                tensorboard=config.tensorboard,
                wandb=config.wandb,
                append=config.resume,
                told=self.told,
            )
            if config.resume:
                self.report.rewind(self.trainer.steps)
            self._introduce()
        self._save()
        before = {s: signal.signal(s, self._interrupted) for s in (signal.SIGINT, signal.SIGTERM)}
        try:
            self._loop()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            if self.report is not None:
                self.report.close()

    def _loop(self) -> None:
        config, trainer = self.config, self.trainer
        begin, saved = time.perf_counter() - self.seconds, time.perf_counter()
        is_last = trainer.steps >= config.total_steps
        if self.is_new:  # every curve begins with play before the first update
            results = self._evaluate(is_last=True) if is_last else self._evaluate_first()
            is_last |= self.score >= self.goal
            self.seconds = time.perf_counter() - begin
            self._tell(results)
            if is_last:
                self._save()
        while not is_last:
            results = trainer.iterate()
            lasted, self.seconds = self.seconds, time.perf_counter() - begin
            results["charts/SPS"] = trainer.steps / self.seconds
            kept_back = self.seconds - lasted + self.trials.last_takes()
            is_over = trainer.steps >= config.total_steps
            is_over |= 0 < config.time_limit <= self.seconds + kept_back
            # Ranks agree on facts that only one process has: a signal, or its clock.
            is_due = time.perf_counter() - saved >= config.checkpoint_seconds
            agreed = self.ranks.lowest(0 if self.signals else 1 if is_over else 2 if is_due else 3)
            self.is_interrupted, is_last = agreed == 0, agreed <= 1
            self._climb()
            if agreed == 1 or self.trials.is_due(trainer.updates, self.seconds):
                results |= self._evaluate(is_last=agreed == 1)
                is_last |= self.score >= self.goal
                self.seconds = time.perf_counter() - begin
            self._tell(results)
            if is_last or agreed == 2:
                self._save()
                saved = time.perf_counter()
        if self.report is not None:
            self.report.stop()
        if self.is_interrupted:
            self._say("interrupted; --resume goes on from here")
        self._conclude()

    def _tell(self, results: dict[str, float]) -> None:
        results["time/evaluation"] = self.trials.spent
        results |= {f"time/{name}": spent for name, spent in self.trainer.seconds.items()}
        if self.report is not None:
            self.report.row(self.trainer.steps, self.seconds, results)

    def _policies(self) -> list[Policy]:
        return [learner.policy for learner in self.trainer.learners]

    def _evaluate_first(self) -> dict[str, float]:
        """Evaluate before the first update; too few episodes cannot end a run or be its best."""
        trials = self.trials
        found = trials.first(self._policies())
        if trials.played == trials.episodes:
            return self._judge(found)
        self._save_policies(self.folder / BEST, {"score": math.nan})
        who = f"{trials.played} episodes are measured" if found else "nothing is measured"
        part = f"their part of --evaluation-share {self.config.evaluation_share:g}"
        if not trials.is_by_share:
            part = f"half of --time-limit {self.config.time_limit:g}"
        self._say(
            f"before the first update {who}: all {trials.episodes} would take more than {part}"
        )
        return found

    def _evaluate(self, *, is_last: bool) -> dict[str, float]:
        """Evaluate, and keep the policies if they are the best."""
        before, updates = self.trials.spent, self.trainer.updates
        play = self.trials.last if is_last else self.trials
        found = self._judge(play(self._policies(), updates))
        self.at_end = self.trials.spent - before if is_last else 0.0
        return found

    def _judge(self, found: dict[str, float]) -> dict[str, float]:
        """Keep the policies: the best, or the last where sides are opponents."""
        self.reached, self.score = found, found.get(EVALUATION, math.nan)
        if self.score > self.best or len(self.told.sides) > 1:
            self.counted = self.trials.played
        self.best = max(self.best, self.score)
        is_kept = self.score == self.best or len(self.told.sides) > 1
        if is_kept:
            self._save_policies(self.folder / BEST, {"score": self.score})
        return found

    def _climb(self) -> None:
        """Keep the present policies for good where a rung of the ladder was passed."""
        every, steps = self.config.ladder_every, self.trainer.steps
        before = steps - self.trainer.steps_per_update
        if every and steps // every > before // every:
            self._save_policies(self.folder / LADDER / f"{steps // every * every:012}.ckpt", {})

    def _save_policies(self, path: Path, facts: dict[str, Any]) -> None:
        if not self.ranks.is_first:
            return
        policies = {x.name: x.policy for x in self.trainer.learners}
        facts = {**facts, "steps": self.trainer.steps, "seconds": self.seconds}
        self._write(lambda: saved.save(path, self.config, self.env.simulator, policies, facts))

    def _set_aside(self) -> None:
        """Keep what an earlier run left in this folder, once, under other names."""
        earlier = [self.folder / name for name in (CHECKPOINT, BEST, "curve.csv", LADDER)]
        earlier = [path for path in earlier if path.exists()]
        for path in earlier:
            kept = path.with_name(f"old_{path.name}")
            if kept.is_dir():
                shutil.rmtree(kept)
            path.replace(kept)
        if earlier:
            self._say(f"the files of an earlier run in {self.folder} are old_* now")

    def _save(self) -> None:
        try:
            self.env.check()
        except (ValueError, RuntimeError) as problem:  # worlds have moved on, so the run continues
            self._say(f"warning: {problem}")
        state = self.trainer.state()
        if state is None:
            return
        tree = {
            "kind": "run",
            "outlook": saved.outlook(self.env.simulator),
            "config": {**self.config.facts(), "resume": False},
            "state": state,
            "best": self.best,
            "best_episodes": self.counted,
            "score": self.score,
            "seconds": self.seconds,
            "evaluating": self.trials.spent,
            "evaluation_lasted": self.trials.lasted,
            "shares": dict(self.trainer.seconds),
        }
        self._write(lambda: checkpoint.save(self.folder / CHECKPOINT, tree))

    def _write(self, save: Any) -> None:
        """Save; a failure is reported, and the run continues with the earlier file."""
        try:
            save()
        except checkpoint.CheckpointError as problem:
            if self.trainer.updates == 0:
                raise
            self._say(f"warning: {problem}")

    def _interrupted(self, number: int, _: FrameType | None) -> None:
        self.signals += 1
        if self.signals > 1:
            raise KeyboardInterrupt
        if self.ranks.is_first:
            print("stopping after this update; again: at once", file=sys.stderr, flush=True)

    # Lines for the user

    def _introduce(self) -> None:
        config, env = self.config, self.env
        agents = f" of {env.agents_per_world} agents" if env.agents_per_world > 1 else ""
        ranks = f", {self.ranks.count} ranks" if self.ranks.count > 1 else ""
        goal = f"{self.goal:g}" if math.isfinite(self.goal) else "none"
        learning = sum(map(len, self.trials.sides.values()))
        others = f", {env.agents_per_world - learning} agents act at random" if config.learn else ""
        learners = self.trainer.learners
        sizes = dict.fromkeys(sum(p.numel() for p in x.parameters) for x in learners)
        size = " or ".join(f"{size:,}" for size in sizes)
        self._say(
            f"{config.env}, seed {config.seed}: {config.num_envs} worlds{agents} on {env.device}"
            f"{ranks}; {len(learners)} {'policy' if len(learners) == 1 else 'policies'} of "
            f"{size} weights{others}; goal {goal}"
        )
        self._say(as_options(config))
        if self.told.differences:
            self._say(f"training and evaluations differ: {'; '.join(self.told.differences)}")

    def _by_game(self) -> str:
        """Return the last evaluation of a suite as a table."""
        rows: dict[str, list[str]] = {}
        for measure in self.trials.measures:
            game, what = measure.facts["game"], measure.facts["what"]
            value = self.reached.get(measure_column(what), math.nan)
            rows.setdefault(game, []).append(f"{what.removesuffix(f' in {game}')} {value:.3g}")
        width = max(map(len, rows))
        return "\n".join(f"{game:<{width}}  {', '.join(own)}" for game, own in rows.items())

    def _conclude(self) -> None:
        trainer, total = self.trainer, max(self.seconds, 1e-9)
        shares = {**trainer.seconds, "evaluation": self.trials.spent - self.at_end}
        if self.at_end:  # earlier ones keep to --evaluation-share
            shares["last evaluation"] = self.at_end
        shares["other"] = max(0.0, total - sum(shares.values()))
        parts = ", ".join(f"{name} {value / total:.0%}" for name, value in shares.items())
        self._say(f"{trainer.steps:,} steps in {self.seconds:.1f} s of training: {parts}")
        episodes = f"mean return of {self.counted} evaluation episode{'s' * (self.counted != 1)}"
        if self.reached and len(self.told.sides) > 1:
            last = ", ".join(self.told.words(self.reached)[1:]).removeprefix("evaluation ")
            self._say(f"{episodes}: {last}; best.ckpt holds these policies, the last ones")
        elif self.best > -math.inf:
            self._say(f"{episodes}: best {self.best:.1f}")
        if self.told.is_suite and self.reached:
            self._say(self._by_game())
        is_reached = self.score >= self.goal
        if is_reached and (moving := trainer.schedules.under_way(trainer.fraction())):
            self._say(
                f"the goal ended the run while parameters moved: {', '.join(moving)}; --resume "
                "--goal inf goes on"
            )
        if self.report is not None and not is_reached:
            self.report.hint()
