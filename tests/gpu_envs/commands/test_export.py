"""Policies for other programs: they decide as the package does, and need nothing of it."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs gpu_envs[train]")
pytest.importorskip("onnxruntime", reason="needs gpu_envs[test]")
pytest.importorskip("onnxscript", reason="needs gpu_envs[export]")
pytest.importorskip("safetensors", reason="needs gpu_envs[export]")

import onnxruntime
import torch

import gpu_envs
from gpu_envs.__main__ import main
from gpu_envs.commands import export
from gpu_envs.known import suites
from gpu_envs.players import policy_files
from gpu_envs.policies import agent_kinds, saved, teams
from gpu_envs.policies.distributions import Categorical
from gpu_envs.policies.networks import Policy
from gpu_envs.policies.options import PolicyOptions
from gpu_envs.train import evaluate, worlds
from gpu_envs.train.config import Config
from tests.client.decisions import TIE, exact, farthest, take_doubles

ROOT = Path(__file__).parents[3]
FILES = sorted(policy_files.folder().glob("*.ckpt"))
NEAR = 1e-5  # to exact arithmetic, times the larger of 1 and the size of a number
FAR = 1e-4  # to the package, after an episode's memories of single precision
FEW, MANY = 200, 10_000  # decisions of a policy
# What the trained policies have between them: memory, masks, roles, pictures, numbers, kinds of
# actions. The slow tests play all.
USUAL = [
    "CartPole-v0",
    "CovidEconomy-v0",
    "Flocking-v0",
    "Hanabi-v0",
    "HideSeek-v0",
    "PointGoalNav-v0",
]


@pytest.fixture(autouse=True)
def _one_thread_and_doubles(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Threads that wait for each other cost more than such networks."""
    take_doubles(monkeypatch)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def session(file: Path) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])


class Compared:
    """Decides as a policy does, and compares each decision with another program's.

    Numbers are compared with those of the same network in double precision, from the same memory;
    what is said after a whole episode's memories of its own, with what the package says.
    """

    def __init__(self, policy: Any, ports: list[str], run: Any) -> None:
        self.policy, self.actions, self.memory_size = policy, policy.actions, policy.memory_size
        self.ports, self.run, self.exact = ports, run, exact(policy)
        self.decisions, self.ties, self.farthest, self.drift = 0, 0, 0.0, 0.0
        self.memory: Any = None  # carried on by the other program

    def __call__(self, obs: Any, mask: Any, memory: Any) -> Any:
        outputs, value, after = self.policy(obs, mask, memory)
        if self.run is None:
            return outputs, value, after
        given: dict[str, np.ndarray[Any, Any]] = {}
        for port in self.ports:
            if port == "action_mask":
                given[port] = mask.numpy()
            elif port == "memory":
                given[port] = memory.numpy()
            else:
                given[port] = (obs if port == "observation" else obs.parts[port]).numpy()
        said = self.run(given)
        best = self.exact(obs, mask, None if memory is None else memory.double())
        self._compare(outputs, best[0], said)
        if "value" in said:
            # In the critic's units: a small value may be the rest of large ones.
            away = np.abs(said["value"] - self.exact.real(best[1]).numpy())
            size = np.maximum(np.abs(said["value"]), float(self.policy.scale.deviation))
            self.farthest = max(self.farthest, float((away / np.maximum(1, size)).max()))
        if memory is not None:
            self._near(said["memory_out"], best[2])
            self._carry(outputs, given, memory)
        return outputs, value, after

    def _carry(self, outputs: Any, given: dict[str, np.ndarray[Any, Any]], memory: Any) -> None:
        """Decide again, from memories that the other program itself has made in this episode."""
        if self.memory is None:
            self.memory = memory.numpy().copy()
        self.memory[(memory == 0).all(1).numpy()] = 0  # an episode begins
        said = self.run({**given, "memory": self.memory})
        self.memory = said["memory_out"].copy()
        self._same_action(outputs, said)
        if "logits" in said:
            self.drift = max(self.drift, farthest(said["logits"], outputs.numpy()))

    def _compare(self, outputs: Any, best: Any, said: Mapping[str, Any]) -> None:
        actions = self.actions
        if isinstance(actions, Categorical):
            if "logits" in said:
                self._near(said["logits"], best)
            self._same_action(outputs, said)
        else:
            means, deviations = actions.in_units(best)
            self._near(said["mean"], means)
            self._near(said["deviation"], deviations)
            self._near(said["action"], actions.for_env(actions.likeliest(best)))
        self.decisions += len(outputs)

    def _same_action(self, outputs: Any, said: Mapping[str, Any]) -> None:
        expected = self.actions.likeliest(outputs).numpy()
        heads = np.split(outputs.numpy(), np.cumsum(self.actions.counts)[:-1], -1)
        top = [np.sort(head, -1)[:, -2:] for head in heads]
        is_tie = np.stack([pair[:, 1] - pair[:, 0] < TIE for pair in top], -1)
        differs = (said["action"] != expected).reshape(is_tie.shape)
        assert not (differs & ~is_tie).any()
        self.ties += int(differs.any(-1).sum())

    def _near(self, found: np.ndarray[Any, Any], expected: Any) -> None:
        self.farthest = max(self.farthest, farthest(found, expected.numpy()))


def play(path: Path, files: Mapping[str, Any], runs: Mapping[str, Any], decisions: int) -> Any:
    """Play with the policies of a file until each has decided that often."""
    tree = saved.read(path)
    config = Config(**tree["config"])
    own: dict[str, Any] = {**config.parameters, **config.evaluation_parameters}
    agents = tree["outlook"]["agents"]
    count = 1 if agents > 100 else 16
    least = min(len(entry["agents"]) for entry in files.values()) * count
    own["max_episode_steps"] = min(-(-decisions // least), 100 if agents > 100 else 400)
    env = worlds.Worlds(config.env, count, device="cpu", arrays="torch", threads=1, **own)
    with closing(env):
        team = teams.Team.load(path, env.simulator)
        names = list(saved.policies_of(tree))
        compared = [
            Compared(policy, [port["name"] for port in files[name]["inputs"]], runs[name])
            for name, policy in zip(names, team.policies, strict=True)
        ]
        rows = evaluate.rows_of(team.of_agent, count, "cpu")
        seed = 3
        while min(one.decisions for one in compared if one.run) < decisions:
            for one in compared:
                one.memory = None
            evaluate.play(env, compared, rows, seed=seed, is_sampled=config.sampled_evaluation)
            seed += 1
    return compared


def check(path: Path, folder: Path, decisions: int) -> str:
    listed, *files = export.write(path, "onnx", folder)
    facts = json.loads(listed.read_text())
    runs = {}
    for name, entry in facts["policies"].items():
        assert folder / entry["file"] in files
        ready = session(folder / entry["file"])
        outputs = [port["name"] for port in entry["outputs"]]
        assert [port.name for port in ready.get_inputs()] == [p["name"] for p in entry["inputs"]]
        assert [port.name for port in ready.get_outputs()] == outputs
        runs[name] = lambda given, ready=ready, outputs=outputs: dict(
            zip(outputs, ready.run(None, given), strict=True)
        )
    lines = []
    for name, one in zip(
        facts["policies"], play(path, facts["policies"], runs, decisions), strict=True
    ):
        assert one.decisions >= decisions
        assert one.ties < one.decisions / 100
        lines.append(
            f"{path.stem} {name}: {one.decisions:,} decisions, {one.farthest:.1e} away, "
            f"{one.drift:.1e} over episodes, {one.ties} ties"
        )
        assert one.farthest < NEAR and one.drift < FAR, lines[-1]
    return "\n".join(lines)


@pytest.mark.parametrize("name", USUAL)
def test_onnx_decides_as_the_package(name: str, tmp_path: Path) -> None:
    check(policy_files.folder() / f"{name}.ckpt", tmp_path, FEW)


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_onnx_decides_as_the_package_for_long(path: Path, tmp_path: Path) -> None:
    print(check(path, tmp_path, MANY))


# ---- every encoder


def untrained(env_id: str, path: Path, own: Mapping[str, Any], **network: Any) -> Path:
    """Write a policy of random weights."""
    options = Config(env=env_id, parameters=dict(own), **network)
    torch.manual_seed(5)
    with closing(gpu_envs.Simulator(env_id, 1, device="cpu", threads=1, **own)) as simulator:
        kind = agent_kinds.kinds_of(simulator, torch.device("cpu"))[0]
        policy = Policy(kind.shape, kind.actions, options)
        with torch.no_grad():
            for weight in policy.parameters():
                weight.add_(0.05 * torch.randn_like(weight))  # heads that are not all alike
        saved.save(path, options, simulator, {"all": policy}, {})
    return path


ENCODERS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "mlp": (
        "SokobanGrid-v0",
        {"encoding": "around"},
        {"hidden": "32", "normalize_observations": True},
    ),
    "cnn": ("Collect-v0", {"resolution": "20x36", "channels": "last"}, {"hidden": "32"}),
    "patches": (
        "Explore-v0",
        {"observation": "depth+rgb"},
        {"hidden": "32", "memory": 16, "memory_norm": True},
    ),
    "residual": ("Collect-v0", {"resolution": "18x32"}, {"hidden": "32", "memory": 16}),
    "attention": ("HideSeek-v0", {}, {"hidden": "32,32", "normalize_observations": True}),
}


@pytest.mark.parametrize("encoder", ENCODERS)
def test_every_encoder_can_be_exported(encoder: str, tmp_path: Path) -> None:
    env_id, own, network = ENCODERS[encoder]
    if env_id == "Explore-v0":
        own = {**own, "house_count": 2, "resolution": "16x16", "rooms_low": 1, "rooms_high": 1}
    path = untrained(env_id, tmp_path / "best.ckpt", own, encoder=encoder, **network)
    check(path, tmp_path, FEW)


def test_every_encoder_of_the_trainer_is_tried() -> None:
    field = next(f for f in dataclasses.fields(PolicyOptions) if f.name == "encoder")
    assert set(ENCODERS) == set(field.metadata["choices"])


# ---- files


def test_a_graph_of_torch_needs_nothing_of_the_package(tmp_path: Path) -> None:
    source = policy_files.folder() / "CartPole-v0.ckpt"
    _, file = export.write(source, "torch", tmp_path)
    script = (
        "import sys, torch\n"
        f"program = torch.export.load({str(file)!r}).module()\n"
        "said = program(torch.linspace(-1, 1, 12).view(3, 4))\n"
        "assert not any(name.startswith('gpu_envs') for name in sys.modules)\n"
        "print(said['action'].tolist(), said['logits'].tolist())\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    with closing(gpu_envs.Simulator("CartPole-v0", 1, device="cpu")) as simulator:
        policy = teams.Team.load(source, simulator).policies[0]
    outputs = policy(torch.linspace(-1, 1, 12).view(3, 4))[0]
    actions, logits = ran.stdout.split("] [")
    assert json.loads(actions + "]") == outputs.argmax(-1).tolist()
    np.testing.assert_allclose(json.loads("[" + logits), outputs.numpy(), atol=NEAR)


@pytest.mark.parametrize("form", export.FORMS)
def test_files_are_the_same_again_and_name_no_place(form: str, tmp_path: Path) -> None:
    source = policy_files.folder() / "CovidEconomy-v0.ckpt"
    written = []
    for folder in (tmp_path / "a", tmp_path / "b"):
        listed, *files = export.write(source, form, folder)
        assert [file.stem for file in files] == [
            "CovidEconomy-v0.governor",
            "CovidEconomy-v0.planner",
        ]
        written.append([file.read_bytes() for file in (listed, *files)])
    if form != "torch":  # whose archive has names of torch's own
        assert written[0] == written[1]
    for content in written[0]:
        assert str(ROOT).encode() not in content and str(tmp_path).encode() not in content


def test_the_json_says_what_a_player_needs(tmp_path: Path) -> None:
    listed, *_ = export.write(
        policy_files.folder() / "TagContinuous-v0.ckpt", "safetensors", tmp_path
    )
    facts = json.loads(listed.read_text())
    with closing(
        gpu_envs.Simulator("TagContinuous-v0", 2, device="cpu", **facts["parameters"])
    ) as made:
        results = made.reset(seed=1)
        policy = facts["policies"]["tagger"]
        assert [name in policy["agents"] for name in made.agent_names] == [
            name.startswith("tagger") for name in made.agent_names
        ]
        observation = next(p for p in policy["inputs"] if p["name"] == "observation")
        assert list(results.obs.shape[-1:]) == observation["shape"][1:]
        assert results.obs.dtype.name == observation["type"]
        assert sum(field["choices"] for field in policy["action"]) == 22
    assert facts["environments"] == ["gpu_envs/TagContinuous-v0"]
    assert facts["trained"]["steps"] > 0 and facts["acts"] in ("greedy", "sampled")


def test_forms_and_runs_without_a_score_are_plain_json(tmp_path: Path) -> None:
    tree = saved.read(policy_files.folder() / "CartPole-v0.ckpt")
    saved.checkpoint.save(tmp_path / "best.ckpt", {**tree, "score": float("nan")})
    for form in ("safetensors", "torch"):
        listed, file = export.write(tmp_path / "best.ckpt", form, tmp_path)
        told = json.loads(listed.read_text(), parse_constant=pytest.fail)
        assert told["policies"]["all"]["file"] == file.name and "score" not in told["trained"]
    assert len(list(tmp_path.glob("*.json"))) == 2


def test_a_policy_of_a_suite_names_all_of_its_games(tmp_path: Path) -> None:
    tree = saved.read(policy_files.folder() / "Collect-v0.ckpt")
    games = suites.games_of("megaverse8")
    tree["config"] |= {
        "env": "megaverse8",
        "parameters": {"resolution": "18x32", "channels": "last"},
    }
    tree["config"]["evaluation_parameters"] = {}
    tree["outlook"]["environment"] = "megaverse8"
    saved.checkpoint.save(tmp_path / "best.ckpt", tree)
    listed, file = export.write(tmp_path / "best.ckpt", "safetensors", tmp_path)
    assert file.name == "megaverse8.safetensors"
    told = json.loads(listed.read_text())
    assert told["environments"] == [f"gpu_envs/{game}" for game in games]


def test_an_id_is_meant_where_a_folder_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "CartPole-v0").mkdir()
    assert main(["export", "CartPole-v0", "--to", "safetensors"]) == 0
    assert (tmp_path / "CartPole-v0.safetensors").exists()


# ---- the page


def test_the_page_decides_with_numpy_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "policies.md").read_text(encoding="utf-8")
    mlp, gru, checkpoint = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    monkeypatch.chdir(tmp_path)
    folder = policy_files.folder()
    shutil.copy(folder / "CartPole-v0.ckpt", "best.ckpt")
    named: dict[str, Any] = {}
    export.write(folder / "CartPole-v0.ckpt", "safetensors", tmp_path)
    exec(mlp, named)
    exec(checkpoint, read := {})
    for name, tensor in named["weights"].items():
        np.testing.assert_array_equal(read["weights"][name], tensor)

    listed, *_ = export.write(folder / "HideSeek-v0.ckpt", "safetensors", tmp_path)
    exec(gru, named)

    def decide(given: Mapping[str, Any]) -> dict[str, Any]:
        action, memory = named["decide"](given["observation"], given["memory"])
        return {"action": action, "memory_out": memory}

    files = json.loads(listed.read_text())["policies"]
    runs = {"hider": None, "seeker": decide}
    hider, seeker = play(folder / "HideSeek-v0.ckpt", files, runs, FEW)
    assert seeker.decisions >= FEW and hider.decisions == 0


# ---- what is refused


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["gone.ckpt", "--to", "onnx"], "does not exist"),
        (["CartPole-v9", "--to", "onnx"], "CartPole-v9"),
        (["Sokoban-v0", "--to", "onnx"], "no policy of Sokoban-v0"),
        (["noise.ckpt", "--to", "torch"], "not a checkpoint"),
        (["cut.ckpt", "--to", "torch"], "damaged"),
        (["nan.ckpt", "--to", "torch"], "NaN"),
        ([".", "--to", "onnx"], "is a folder"),
        (["hf:nobody", "--to", "onnx"], "hf:OWNER/NAME"),
        (["CartPole-v0", "--to", "onnx", "--policy", "random"], "must be a file of policies"),
        (["noise.ckpt", "--to", "onnx", "--policy", "noise.ckpt"], "--policy needs an ID"),
        (["Hanabi-v0", "--to", "onnx", "--policy", "pole.ckpt"], "environment"),
    ],
)
def test_what_is_no_policy_is_refused(
    words: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    whole = (policy_files.folder() / "CartPole-v0.ckpt").read_bytes()
    Path("noise.ckpt").write_bytes(b"noise" * 99)
    Path("pole.ckpt").write_bytes(whole)
    Path("cut.ckpt").write_bytes(whole[: len(whole) // 2])
    tree = saved.read(policy_files.folder() / "CartPole-v0.ckpt")
    tree["policies"]["all"]["actor.weight"][0, 0] = float("nan")
    saved.checkpoint.save(Path("nan.ckpt"), tree)
    assert main(["export", *words]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1 and says in error, error
    assert not list(tmp_path.glob("*.onnx")) and not list(tmp_path.glob("*.json"))


def test_without_its_libraries_a_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    for library, form in (("safetensors", "safetensors"), ("onnx", "onnx"), ("onnxscript", "onnx")):
        with monkeypatch.context() as patch:
            for name in [n for n in sys.modules if n.partition(".")[0] == library]:
                patch.delitem(sys.modules, name)
            patch.setitem(sys.modules, library, None)
            assert main(["export", "CartPole-v0", "--to", form, "--out", str(tmp_path)]) == 2
        error = capsys.readouterr().err
        assert f"needs {library}: " in error and "[export]" in error
