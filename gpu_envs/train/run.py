"""The command `python -m gpu_envs train`: starts or resumes a run, and prints its errors."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gpu_envs import errors
from gpu_envs.policies import checkpoint, saved
from gpu_envs.policies.options import flag_of
from gpu_envs.train import by_role, freed_memory, settings, suite, varying
from gpu_envs.train.command import parse
from gpu_envs.train.config import BY_ROLE, Config, folder_of, make, reader
from gpu_envs.train.session import CHECKPOINT, Session

# Options that may differ when a run is resumed: none changes the policies or the learned samples.
_FREE = frozenset(
    "out resume total_steps time_limit goal device threads graphs evaluation_share "
    "evaluation_every evaluation_episodes sampled_evaluation ladder_every checkpoint_seconds "
    "tensorboard wandb".split()
)


def configure(env: str, choices: Mapping[str, Any]) -> tuple[Config, dict[str, Any] | None]:
    """Return the configuration, and the checkpoint where a run is resumed."""
    if not choices.get("resume"):
        return make(env, **choices), None
    # Values of roles are compared below: the file decides whether policies are by role.
    config = make(env, **{n: v for n, v in choices.items() if n not in BY_ROLE})
    path = folder_of(config) / CHECKPOINT
    tree = checkpoint.load(path)
    checkpoint.require(path, tree, {"kind": "run"})
    for learner in tree["state"]["learners"]:  # policy, optimiser, earlier policies
        checkpoint.require_finite(path, learner, f"policy/{learner['name']}")
    kept = saved.restored(path, tree["config"], Config).facts()
    if kept["env"] != config.env:
        raise checkpoint.mismatch(path, "env", kept["env"], config.env)
    for name, value in choices.items():
        if name in BY_ROLE:
            _require_roles(path, name, by_role.values_by_role(value, reader(name)), kept)
        elif name == "parameters":
            _require_parameters(path, value, config, Config(**kept))
        elif name not in _FREE and kept[name] != getattr(config, name):
            raise checkpoint.mismatch(path, flag_of(name), kept[name], value)
    free = {name: value for name, value in choices.items() if name in _FREE}
    return Config(**{**kept, "out": config.out, **free}), tree


def _require_roles(path: Path, name: str, given: by_role.Values, kept: Mapping[str, Any]) -> None:
    """Refuse values of roles that are not those of the checkpoint."""
    own = {by_role.ALL: kept[name]}
    own |= {role: c[name] for role, c in kept["roles"].items() if name in c}
    if by_role.ALL in given:  # it also replaces values of single roles
        given = dict.fromkeys(own, given[by_role.ALL]) | given
    for role, value in given.items():
        found = own.get(role, kept[name])
        if found != value and not (found != found and value != value):
            flag = f"{flag_of(name)} {role}=" if role else flag_of(name)
            raise checkpoint.mismatch(path, flag, found, value)


def _require_parameters(path: Path, given: Mapping[str, Any], asked: Config, kept: Config) -> None:
    """Refuse values, ranges and schedules of parameters that are not those of the checkpoint."""
    saved_with, wanted = settings.training(kept), settings.training(asked)
    for name in given:
        one, other = saved_with.get(name), wanted[name]
        if not varying.is_same(name, one, other):
            raise checkpoint.mismatch(path, flag_of(name), one, other)


def _told(problem: BaseException) -> str:
    """Return one line; for torch's error on GPU memory, with a remedy."""
    line = (str(problem).splitlines() or [type(problem).__name__])[0]
    if isinstance(problem, MemoryError) or ("memory" in line and "allocate" in line):
        return f"out of memory: lower --num-envs, --rollout, --hidden or --memory ({line})"
    return line


def _failed(problem: Exception, session: Session | None) -> int:
    """Print an error and return the exit status; raise errors that only a developer can fix."""
    line = _told(problem)
    if session is None or session.ranks.count == 1:
        is_ours = isinstance(problem, RuntimeError) and not line.startswith("out of memory")
        if session is not None and is_ours:
            raise problem
        print(f"error: {line}", file=sys.stderr)
        return 2
    print(
        f"error: rank {session.ranks.rank} of {session.ranks.count} cannot go on, most likely "
        f"because another one died ({line}); the run stands in {session.folder / CHECKPOINT}: add "
        "--resume to go on from there",
        file=sys.stderr,
    )
    return 1


def _train_suite(words: Sequence[str]) -> int:
    freed_memory.keep()
    try:
        return suite.main(words, lambda line: configure(*parse(line)))
    except KeyboardInterrupt:
        return 130
    except errors.TROUBLE as problem:
        print(f"error: {_told(problem)}", file=sys.stderr)
        return 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    words = sys.argv[1:] if argv is None else argv
    if words and words[0] == suite.OPTION:
        return _train_suite(words[1:])
    env, choices = parse(words)
    session, is_clean = None, False
    freed_memory.keep()
    try:
        session = Session(*configure(env, choices))
        session.run()
        is_clean = True
    except KeyboardInterrupt:
        print("error: stopped at once; --resume goes on from the last checkpoint", file=sys.stderr)
        return 130
    except errors.TROUBLE as problem:
        return _failed(problem, session)
    finally:
        if session is not None:
            session.ranks.close(is_clean=is_clean)
    return 0
