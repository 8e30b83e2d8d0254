"""Writes saved policies for other programs: `python -m gpu_envs export FILE --to onnx`.

Each policy becomes a file of its own; one JSON beside them says what goes in and comes out, which
agents each plays, and in which worlds it was trained.
"""

from __future__ import annotations

import importlib
import json
import logging
import math
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import torch

from gpu_envs import errors
from gpu_envs.core.simulator import Simulator
from gpu_envs.known import extras, fields, registration, suites
from gpu_envs.players import hub, policy_files
from gpu_envs.policies import saved
from gpu_envs.policies.checkpoint import package_version, replacing
from gpu_envs.policies.decisions import Decision, Port
from gpu_envs.policies.distributions import Categorical
from gpu_envs.policies.networks import Policy
from gpu_envs.policies.teams import Team
from gpu_envs.terminal import flags

FORMAT, VERSION = "gpu_envs exported policies", 1
_BATCH = "rows"
# Options of training that shape the networks.
_NETWORK = (
    *("encoder", "hidden", "activation", "memory", "memory_norm", "share", "blind"),
    *("normalize_observations", "critic_state", "policies", "learn", "roles"),
)
_REACHED = ("score", "steps", "seconds")
# Statistics of training, which no decision needs.
_OF_TRAINING = ("moments",)


# ---- forms of a policy


def _program(decision: Decision) -> Any:
    """Return the policy as a graph of torch's own operators, for any number of rows."""
    zeros = tuple(port.zeros(2) for port in decision.inputs)
    rows = torch.export.Dim(_BATCH)
    shapes = {"given": tuple({0: rows} for _ in zeros)}
    with torch.no_grad():
        made = torch.export.export(decision, zeros, dynamic_shapes=shapes)
    for node in made.graph.nodes:  # where a line of Python lies on this machine is nobody's concern
        node.meta.pop("stack_trace", None)
    return made


def _torch(decision: Decision, path: Path, facts: Mapping[str, Any]) -> None:
    with replacing(path) as file:
        torch.export.save(_program(decision), file, extra_files={"policy.json": json.dumps(facts)})


def _onnx(decision: Decision, path: Path, facts: Mapping[str, Any]) -> None:
    onnx = _needed("onnx")
    _needed("onnxscript")
    names = [port.name for port in decision.inputs]
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on what the exporter itself will change
        made = torch.onnx.export(
            _program(decision),
            dynamo=True,
            verbose=False,
            input_names=names,
            output_names=[port.name for port in decision.outputs()],
        )
    assert made is not None  # with dynamo
    model = made.model_proto
    model.producer_name, model.producer_version = "gpu_envs", package_version()
    for part in (model, model.graph, *model.graph.node, *model.graph.value_info, *model.functions):
        del part.metadata_props[:]
    onnx.helper.set_model_props(model, {"policy": json.dumps(facts)})
    onnx.checker.check_model(model, full_check=True)
    with replacing(path) as file:
        file.write(model.SerializeToString())


def _safetensors(decision: Decision, path: Path, facts: Mapping[str, Any]) -> None:
    write = _needed("safetensors.torch").save
    kept = {
        name: tensor.contiguous()
        for name, tensor in decision.policy.state_dict().items()
        if name.rpartition(".")[2] not in _OF_TRAINING
    }
    with replacing(path) as file:
        file.write(write(kept, metadata={"policy": json.dumps(facts)}))


def _needed(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as problem:
        library = str(problem.name).partition(".")[0]
        raise ValueError(extras.needs("this export", library, "export")) from problem


Writer = Callable[[Decision, Path, Mapping[str, Any]], None]
FORMS: dict[str, tuple[str, Writer]] = {
    "onnx": (".onnx", _onnx),
    "safetensors": (".safetensors", _safetensors),
    "torch": (".pt2", _torch),
}


# ---- what is said of them


def _field(field: fields.Field) -> dict[str, Any]:
    """Return the facts of a field in plain JSON, which knows no infinity."""
    facts: dict[str, Any] = {"name": field.name, "type": field.type, "shape": list(field.shape)}
    for name in ("low", "high", "choices", "unit", "doc"):
        value = getattr(field, name)
        if value not in (None, "") and not (isinstance(value, float) and not math.isfinite(value)):
            facts[name] = fields.short(value, field.type)
    if field.names:
        facts["names"] = list(field.names)
    return facts


def _port(port: Port) -> dict[str, Any]:
    return {"name": port.name, "type": port.type, "shape": [_BATCH, *port.shape]}


def _of_policy(decision: Decision, simulator: Simulator, kind: int, agents: Sequence[str]) -> Any:
    described = simulator.kinds.kinds[kind]
    count = sum(weight.numel() for weight in decision.policy.parameters())
    actions = decision.policy.actions
    heads = {"heads": list(actions.counts)} if isinstance(actions, Categorical) else {}
    return {
        "agents": list(agents),
        "observation": [_field(field) for field in described.fields],
        "action": [_field(field) for field in described.action_fields],
        **heads,
        "inputs": [_port(port) for port in decision.inputs],
        "outputs": [_port(port) for port in decision.outputs()],
        "weights": count,
    }


def _of_run(tree: Mapping[str, Any], simulator: Simulator, source: Path) -> dict[str, Any]:
    """Return what holds for all policies of a file."""
    config = tree["config"]
    games = suites.games_of(config["env"]) if suites.is_suite(config["env"]) else [simulator.name]
    return {
        "format": FORMAT,
        "version": VERSION,
        "package": package_version(),
        "environments": [f"{registration.NAMESPACE}/{game}" for game in games],
        "parameters": {**config["parameters"], **config["evaluation_parameters"]},
        "all_parameters": dict(simulator.parameters),
        "acts": "sampled" if config.get("sampled_evaluation") else "greedy",
        "trained": {
            "file": source.name,
            **{name: config[name] for name in ("parameters", "varying", "seed") if name in config},
            **{name: tree[name] for name in _REACHED if math.isfinite(tree.get(name, math.nan))},
        },
        "network": {name: config[name] for name in _NETWORK if name in config},
    }


# ---- the command


def write(source: Path, form: str, out: Path) -> list[Path]:
    """Write the policies of a file for other programs; return the files, the JSON first.

    Args:
        source: A policy file, or a run's checkpoint.
        form: A key of `FORMS`.
        out: The folder; it is made.
    """
    suffix, writer = FORMS[form]
    tree = saved.read(source)
    config = tree["config"]
    env_id = suites.games_of(config["env"])[0] if suites.is_suite(config["env"]) else config["env"]
    own = policy_files.parameters_of(source, env_id)
    with closing(Simulator(env_id, 1, device="cpu", threads=1, **own)) as simulator:
        team = Team.load(source, simulator)
        facts = _of_run(tree, simulator, source)
        kind_of = [kind.number for kind in team.kinds for _ in range(kind.count)]
        parts, files = {}, []
        for number, name in enumerate(saved.policies_of(tree)):
            agents = [agent for agent, own in enumerate(team.of_agent) if own == number]
            kind = team.kinds[kind_of[agents[0]]]
            policy = team.policies[number]
            assert isinstance(policy, Policy)  # of a file
            decision = Decision(policy, kind, simulator).eval()
            stem = config["env"] if len(team.policies) == 1 else f"{config['env']}.{name}"
            names = [simulator.agent_names[agent] for agent in agents]
            of_one = _of_policy(decision, simulator, kind.number, names)
            out.mkdir(parents=True, exist_ok=True)
            files.append(out / f"{stem}{suffix}")
            writer(decision, files[-1], {**facts, "policies": {name: of_one}})
            parts[name] = {"file": files[-1].name, **of_one}
    listed = out / f"{config['env']}{suffix}.json"
    text = json.dumps({**facts, "policies": parts}, indent=2, allow_nan=False)
    with replacing(listed) as file:
        file.write(text.encode() + b"\n")
    return [listed, *files]


def _parser() -> flags.Parser:
    parser = flags.Parser(
        prog="python -m gpu_envs export",
        usage="python -m gpu_envs export FILE|ID --to onnx|safetensors|torch [--out DIR]",
        allow_abbrev=False,
        description="Write saved policies for other programs, a file each, and a JSON that says "
        "what goes in and comes out of them.",
    )
    add = parser.add_argument
    add(
        "what",
        metavar="FILE|ID",
        help=f"a best.ckpt or checkpoint.ckpt of the trainer, {hub.FORM}, or the ID "
        "of an environment for its policy in this repository",
    )
    add("--policy", metavar="FILE", help="behind an ID: the file, instead of that policy")
    add(
        "--to",
        required=True,
        choices=tuple(FORMS),
        help="onnx: a graph with its weights; torch: the same for torch.export.load; safetensors: "
        "the weights by name",
    )
    add("--out", type=Path, default=Path("."), metavar="DIR", help="folder of the files")
    return parser


def _source(what: str, policy: str | None) -> Path:
    """Return the file that is meant."""
    if policy is not None:
        if policy_files.is_file(what):
            raise ValueError(f"--policy needs an ID: {what} is a file of policies already")
        found = policy_files.file_of(what, policy)
        if found is None:
            raise ValueError(f"--policy must be a file of policies, got {policy!r}")
        policy_files.parameters_of(found, what)  # refuses a file of another environment
        return found
    if policy_files.is_file(what):
        path = policy_files.path_of(what)
        if missing := "" if path.is_file() else policy_files.missing_file(path):
            raise ValueError(missing)
        return path
    found = policy_files.file_of(what, policy_files.TRAINED, "export")
    assert found is not None  # else it is refused
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    chosen = _parser().parse_args(sys.argv[1:] if argv is None else argv)
    try:
        files = write(_source(chosen.what, chosen.policy), chosen.to, chosen.out)
    except errors.TROUBLE as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    for path in files:
        print(f"{path}: {path.stat().st_size:,} bytes")
    return 0
