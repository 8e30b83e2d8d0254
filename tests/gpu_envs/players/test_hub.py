"""Policies of the Hugging Face Hub, from a folder as its library keeps it: nothing is fetched."""

from __future__ import annotations

import os
import pickle
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs gpu_envs[train]")
pytest.importorskip("huggingface_hub", reason="needs gpu_envs[hub]")

from huggingface_hub import constants

import gpu_envs
from gpu_envs.__main__ import main
from gpu_envs.players import hub, policy_files

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class _Trap:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("touch trapped",)


@pytest.fixture
def cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder of repositories on this machine, and return the one above it."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.chdir(tmp_path)
    trained = policy_files.folder() / "CartPole-v0.ckpt"
    contents = {
        "one--pole": {"best.ckpt": trained, "old/first.ckpt": trained},
        "one--by-id": {"CartPole-v0.ckpt": trained, "best.ckpt": b"noise"},
        "one--pickled": {"best.ckpt": pickle.dumps(_Trap()), "pytorch_model.bin": b"\x80"},
        "one--models": {"pytorch_model.bin": pickle.dumps(_Trap())},
    }
    for name, files in contents.items():
        folder = tmp_path / "hub" / f"models--{name}"
        for file, content in files.items():
            target = folder / "snapshots" / COMMIT / file
            target.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, bytes):
                target.write_bytes(content)
            else:
                shutil.copy(content, target)
        (folder / "refs").mkdir()
        for ref in ("main", "v2"):
            (folder / "refs" / ref).write_text(COMMIT)
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ("CartPole-v0", "--policy", "hf:one/pole"),
        ("CartPole-v0", "--policy", "hf:one/by-id@v2"),
        ("hf:one/pole/old/first.ckpt",),
    ],
)
@pytest.mark.usefixtures("cached")
def test_a_policy_of_the_hub_plays(words: tuple[str, ...], capsys: Any) -> None:
    assert main(["evaluate", *words, "--episodes", "4"]) == 0
    assert "500.000" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        ("hf:one/pickled", "is not a checkpoint of gpu_envs"),
        ("hf:one/models", "downloaded before has no CartPole-v0.ckpt or best.ckpt"),
        ("hf:one/pole/gone.ckpt", "has no gone.ckpt"),
        ("hf:nobody/nothing", "hf:nobody/nothing"),
        ("hf:one/pole@v3", "hf:one/pole@v3"),
    ],
)
def test_what_is_no_policy_is_refused_and_not_run(
    cached: Path, policy: str, says: str, capsys: Any
) -> None:
    assert main(["evaluate", "CartPole-v0", "--policy", policy, "--episodes", "4"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1 and says in error, error
    assert not (cached / "trapped").exists()


@pytest.mark.parametrize(
    "policy", ["hf:", "hf:one", "hf:one/", "hf:one/two@", "hf:/two", "hf:a b/c"]
)
def test_a_name_of_another_form_is_refused(policy: str) -> None:
    with pytest.raises(ValueError, match="hf:OWNER/NAME"):
        hub.fetched(policy)


def test_without_the_library_a_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ValueError, match=r"needs huggingface-hub: .*\[hub\]"):
        hub.fetched("hf:one/pole")


@pytest.mark.usefixtures("cached")
def test_others_of_an_environment_come_from_the_hub() -> None:
    with pytest.raises(ValueError, match="environment"):  # one of another environment
        gpu_envs.make_vec("TagGrid-v0", 1, role="runner", others="hf:one/pole")
