"""Checkpoints: what comes back, what a damaged file says, what an interrupted save leaves."""

from __future__ import annotations

import errno
import json
import math
import os
import resource
import struct
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs torch")

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from gpu_envs.policies import checkpoint
from gpu_envs.policies.checkpoint import CheckpointError, load, save

TREE: dict[str, Any] = {
    "env": "CartPole-v0",
    "weights": torch.arange(12.0).reshape(3, 4),
    "state": {0: {"step": torch.tensor(3.0)}, 1: [b"bits", None, True]},
    "rows": np.arange(5, dtype=np.uint16),
    "score": math.nan,
}


def is_same(one: Any, other: Any) -> bool:
    """Whether two trees agree to the bit and in all types; a tuple is as good as a list."""
    if isinstance(one, torch.Tensor):
        if not isinstance(other, torch.Tensor) or one.dtype != other.dtype:
            return False
        rows = [t.detach().clone(memory_format=torch.contiguous_format) for t in (one, other)]
        bits = [bytes(row.untyped_storage()) for row in rows]
        return one.shape == other.shape and bits[0] == bits[1]
    if isinstance(one, np.ndarray):
        facts = [(a.dtype, a.shape, a.tobytes()) for a in (one, other) if isinstance(a, np.ndarray)]
        return len(facts) == 2 and facts[0] == facts[1]
    if isinstance(one, dict):
        if not isinstance(other, dict) or list(one) != list(other):
            return False
        kinds = [type(a) is type(b) for a, b in zip(one, other, strict=True)]
        return all(kinds) and all(is_same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        pairs = zip(one, other, strict=False) if isinstance(other, list) else ()
        return len(one) == len(other) and all(is_same(a, b) for a, b in pairs)
    if isinstance(one, float) and isinstance(other, float):
        return struct.pack(">d", one) == struct.pack(">d", other)
    return type(one) is type(other) and bool(one == other)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "checkpoint.gpu"


# What comes back

NAMES = (
    "bool uint8 int8 int16 int32 int64 uint16 float16 float32 float64 bfloat16 complex64".split()
)


@st.composite
def tensors(draw: st.DrawFn) -> torch.Tensor:
    dtype = getattr(torch, draw(st.sampled_from(NAMES)))
    shape = draw(st.lists(st.integers(0, 3), max_size=3))
    size = math.prod(shape) * dtype.itemsize
    bits = draw(st.binary(min_size=size, max_size=size))
    if dtype == torch.bool:
        return torch.tensor([b % 2 == 1 for b in bits], dtype=dtype).reshape(shape)
    if not size:
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(bytearray(bits), dtype=dtype).reshape(shape)


arrays = st_numpy.arrays(
    st.one_of(
        st_numpy.boolean_dtypes(),
        st_numpy.integer_dtypes(endianness="?"),
        st_numpy.floating_dtypes(sizes=(16, 32, 64)),
        st_numpy.unicode_string_dtypes(max_len=3),
    ),
    st_numpy.array_shapes(min_dims=0, min_side=0, max_side=3),
)
surrogates = st.text(st.characters(codec=None, categories=("Cs", "L")), max_size=3)
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=True),
    st.text(),
    surrogates,
    st.binary(),
    tensors(),
    arrays,
)
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.tuples(inner, inner),
        st.dictionaries(st.one_of(st.text(), st.integers()), inner, max_size=4),
    ),
    max_leaves=12,
)


@settings(deadline=None, max_examples=60)
@given(tree=st.dictionaries(st.text(), trees, max_size=4))
def test_every_tree_comes_back(tree: dict[str, Any], tmp_path_factory: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "tree"
    save(path, tree)
    assert is_same(tree, load(path))


def test_what_looks_like_a_tag_is_only_a_dict(path: Path) -> None:
    tree = {"dict": [["a", 1]], "bits": "00", "tensor": "0.npy", "x": {"bytes": {"array": "1"}}}
    save(path, tree)
    assert load(path) == tree


def test_keys_are_not_confused(path: Path) -> None:
    tree = {"state": {0: "number", "0": "text"}}
    save(path, tree)
    assert load(path) == tree


def test_strided_parameters_and_shared_memory_come_back_as_plain_tensors(path: Path) -> None:
    whole = torch.arange(24.0).reshape(2, 3, 4)
    parts = {
        "across": whole.transpose(0, 2),
        "every second": whole[:, ::2],
        "parameter": torch.nn.Parameter(whole),
        "turned": np.asfortranarray(whole.numpy()),
        "backwards": np.arange(5)[::-1],
        "bfloat": whole.bfloat16().transpose(0, 1),
    }
    save(path, parts)
    loaded = load(path)
    assert is_same(parts, loaded)
    assert not loaded["parameter"].requires_grad
    loaded["across"].add_(1)  # theirs to change
    loaded["backwards"][0] = 7


def test_numbers_of_numpy_become_pythons(path: Path) -> None:
    save(path, {"a": [np.float32(0.5), np.int64(3), np.bool_(True)]})
    assert is_same(load(path), {"a": [0.5, 3, True]})


def test_optimiser_continues_as_if_nothing_had_been(path: Path) -> None:
    def made() -> tuple[torch.nn.Linear, torch.optim.Adam]:
        torch.manual_seed(0)
        layer = torch.nn.Linear(3, 2)
        return layer, torch.optim.Adam(layer.parameters(), lr=torch.tensor(0.1), capturable=True)

    def train(layer: torch.nn.Linear, optimiser: torch.optim.Adam, steps: int) -> None:
        for step in range(steps):
            optimiser.zero_grad()
            layer(torch.full((4, 3), float(step))).square().sum().backward()
            # On the CPU Adam refuses to step while capturable; its state stays tensors.
            for group in optimiser.param_groups:
                group["capturable"] = False
            optimiser.step()
            for group in optimiser.param_groups:
                group["capturable"] = True

    layer, optimiser = made()
    train(layer, optimiser, 3)
    state = optimiser.state_dict()
    assert (
        isinstance(state["state"][0]["step"], torch.Tensor) and state["state"][0]["step"].ndim == 0
    )
    save(path, {"layer": layer.state_dict(), "optimiser": state})
    again, resumed = made()
    loaded = load(path)
    assert is_same(state, loaded["optimiser"])
    again.load_state_dict(loaded["layer"])
    resumed.load_state_dict(loaded["optimiser"])
    train(layer, optimiser, 2)
    train(again, resumed, 2)
    assert is_same(layer.state_dict(), again.state_dict())
    assert is_same(optimiser.state_dict(), resumed.state_dict())


def test_tensors_go_to_the_device_and_arrays_stay(path: Path) -> None:
    save(path, TREE)
    loaded = load(path, "meta")
    assert loaded["weights"].is_meta and loaded["state"][0]["step"].is_meta
    assert isinstance(loaded["rows"], np.ndarray)


def test_same_tree_gives_the_same_bytes_and_replaces_the_file(path: Path) -> None:
    save(path, TREE)
    first = path.read_bytes()
    save(path, {"other": 1})
    assert load(path) == {"other": 1}
    save(path, TREE)
    assert path.read_bytes() == first
    assert os.listdir(path.parent) == [path.name]


def test_only_plain_members_are_written(path: Path) -> None:
    save(path, TREE)
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        assert {e.compress_type for e in archive.infolist()} == {zipfile.ZIP_STORED}
        facts = json.loads(archive.read("checkpoint.json"))
    assert sorted(names) == ["0.npy", "1.npy", "2.bin", "3.npy", "checkpoint.json"]
    assert facts["format"] == "gpu_envs checkpoint" and facts["version"] == 1
    assert is_same(np.load(path)["3"], TREE["rows"])  # any NumPy opens it


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (object(), "object"),
        ({1.5: 2}, "1.5"),
        ([np.array([object()])], "array of object"),
        ({"a": {"b": len}}, "tree['x']['a']['b']"),
        (torch.eye(3).to_sparse(), "array of torch.float32"),
        (1j, "complex"),
    ],
)
def test_what_needs_pickled_code_is_refused_by_its_place(
    path: Path, value: Any, words: str
) -> None:
    save(path, TREE)
    with pytest.raises(TypeError) as refused:
        save(path, {"x": value})
    assert words in str(refused.value) and "tree['x']" in str(refused.value)
    assert is_same(TREE, load(path))


# Files that are no checkpoints


def refusal(path: Path) -> str:
    with pytest.raises(CheckpointError) as refused:
        load(path)
    line = str(refused.value)
    assert line.startswith(f"{path}: ") and "\n" not in line
    return line


def test_files_of_other_kinds_are_refused(path: Path, tmp_path: Path) -> None:
    assert "does not exist" in refusal(path)
    assert "is a folder" in refusal(tmp_path)
    path.write_bytes(b"")
    assert "is empty" in refusal(path)
    path.write_text("steps,seconds\n")
    assert "is not a checkpoint of gpu_envs" in refusal(path)
    torch.save({"a": 1}, path)
    assert "archive of another kind" in refusal(path)
    np.savez(path.with_suffix(".npz"), a=np.ones(2))
    assert "archive of another kind" in refusal(path.with_suffix(".npz"))
    assert "cannot be read (Not a directory)" in refusal(path / "below")


def rewritten(path: Path, change: Any) -> None:
    """Write a sound archive with another skeleton or other members."""
    save(path, TREE)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    facts = json.loads(members["checkpoint.json"])
    change(facts, members)
    members.setdefault("checkpoint.json", json.dumps(facts).encode())
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def _skeleton(**changes: Any) -> Any:
    def change(facts: dict[str, Any], members: dict[str, bytes]) -> None:
        facts.update(changes)
        del members["checkpoint.json"]

    return change


def _pickled(_: Any, members: dict[str, bytes]) -> None:
    import io

    stream = io.BytesIO()
    np.save(stream, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    members["0.npy"] = stream.getvalue()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_skeleton(format="other"), "archive of another kind"),
        (_skeleton(version=2, package="9.9"), "version 2 of the format, saved by gpu_envs 9.9"),
        (_skeleton(tree=[1]), "its tree is not a dict"),
        (_skeleton(tree={"dict": [["a", {"tensor": "7.npy", "dtype": "int8"}]]}), "7.npy"),
        (_skeleton(tree={"dict": [["a", {"tensor": "0.npy", "dtype": "load"}]]}), "'load'"),
        (_skeleton(tree={"dict": [["a", {"unknown": 1}]]}), "damaged"),
        (_pickled, "allow_pickle"),
        (
            lambda _, members: members.update({"0.npy": members["0.npy"] + b"x"}),
            "extra bytes after an array",
        ),
        (lambda _, members: members.update({"0.npy": members["0.npy"][:-1]}), "damaged"),
        (lambda _, members: members.update({"checkpoint.json": b"[1]"}), "damaged"),
        (lambda _, members: members.update({"checkpoint.json": b"{"}), "damaged"),
    ],
)
def test_sound_archives_with_wrong_content_are_refused(path: Path, change: Any, words: str) -> None:
    rewritten(path, change)
    assert words in refusal(path)


def test_truncated_files_are_refused(path: Path) -> None:
    save(path, TREE)
    content = path.read_bytes()
    for length in {*range(0, len(content), 5), *range(len(content) - 30, len(content))}:
        path.write_bytes(content[:length])
        assert refusal(path)


def test_a_flipped_byte_anywhere_is_refused_or_harmless(path: Path) -> None:
    save(path, TREE)
    content = path.read_bytes()
    refused = 0
    for place in range(len(content)):
        flipped = content[place] ^ (0x01, 0x80, 0xFF)[place % 3]
        path.write_bytes(content[:place] + bytes([flipped]) + content[place + 1 :])
        try:
            assert is_same(TREE, load(path)), place
        except CheckpointError as problem:
            assert "\n" not in str(problem)
            refused += 1
    assert refused > 0.8 * len(content)  # only unused fields of the headers are harmless


def test_flips_in_arrays_never_pass(path: Path) -> None:
    save(path, {"weights": torch.zeros(20_000)})
    content = path.read_bytes()
    for place in range(5_000, 80_000, 997):
        path.write_bytes(content[:place] + b"\x01" + content[place + 1 :])
        assert "CRC" in refusal(path)


def test_facts_that_differ_are_named(path: Path) -> None:
    facts = {"env": "CartPole-v0", "hidden": [64, 64]}
    checkpoint.require(path, facts, {"env": "CartPole-v0"})
    with pytest.raises(CheckpointError, match=r"was saved for env 'CartPole-v0', expected 'X-v0'$"):
        checkpoint.require(path, facts, {"env": "X-v0"})
    with pytest.raises(CheckpointError, match="does not say which seed"):
        checkpoint.require(path, facts, {"seed": 1})
    problem = checkpoint.mismatch(path, "env", "A", "B")
    assert isinstance(problem, ValueError) and str(problem).startswith(f"{path}: was saved for")


# Saves that fail


def assert_untouched(path: Path) -> None:
    assert is_same(TREE, load(path))
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_full_disk_is_told_and_leaves_the_old_file(
    path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    save(path, TREE)

    def fail(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(CheckpointError) as refused:
        save(path, {"weights": torch.zeros(500_000)})
    line = str(refused.value)
    assert line.startswith(f"{path}: ") and "\n" not in line
    assert "No space left on device" in line and "needs 2.0 MB; free some space" in line
    monkeypatch.undo()
    assert_untouched(path)


@pytest.mark.parametrize("limit", [*range(0, 4000, 97), 100_000, 399_000, 400_500])
def test_a_limit_of_the_system_within_any_part_leaves_the_old_file(path: Path, limit: int) -> None:
    save(path, TREE)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        with pytest.raises(CheckpointError, match=r"cannot be written \(File too large\)"):
            save(path, {"few": torch.zeros(3), "weights": torch.zeros(100_000), "more": b"12"})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert_untouched(path)


def test_folders_that_take_no_file_are_named(tmp_path: Path) -> None:
    for path, cause in (
        (tmp_path / "none" / "x", "No such file or directory"),
        (Path("/dev/null/x"), "Not a directory"),
        (Path("/proc/x"), ""),  # nobody may write there, not even root
    ):
        with pytest.raises(CheckpointError) as refused:
            save(path, TREE)
        assert str(refused.value).startswith(f"{path}: cannot be written ({cause}")
    (tmp_path / "folder").mkdir()
    with pytest.raises(CheckpointError, match="Is a directory"):
        save(tmp_path / "folder", TREE)
    assert os.listdir(tmp_path) == ["folder"]


class Points:
    """Calls `act` at one line of all that run within `save`, the libraries' lines included."""

    def __init__(self, chosen: int, act: Any) -> None:
        self.seen, self.chosen, self.act = 0, chosen, act

    def trace(self, frame: Any, event: str, _: Any) -> Any:
        if event == "line":
            self.seen += 1
            if self.seen == self.chosen:
                self.act()
        return self.trace

    def save(self, path: Path, tree: dict[str, Any]) -> None:
        before = sys.gettrace()
        sys.settrace(self.trace)
        try:
            save(path, tree)
        finally:
            sys.settrace(before)


NEW = {"new": torch.ones(3)}


# zipfile complains when it is interrupted in its own constructor, to nobody.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_at_any_line_leaves_a_whole_file_and_no_other(path: Path) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    save(path, TREE)
    count = Points(0, None)
    count.save(path, NEW)
    assert count.seen > 300
    found = set()
    for chosen in [*range(1, count.seen, 4), *range(count.seen - 9, count.seen)]:
        save(path, TREE)
        try:
            Points(chosen, interrupt).save(path, NEW)
        except KeyboardInterrupt:
            pass
        assert os.listdir(path.parent) == [path.name], chosen
        loaded = load(path)
        found.add(is_same(TREE, loaded))
        assert is_same(TREE, loaded) or is_same(NEW, loaded)
    assert found == {True, False}  # before the rename and after it


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_checkpoint import NEW, TREE, Points, is_same, load, save
path = Path(sys.argv[1])
save(path, TREE)  # warm: the first call imports
count = Points(0, None)
count.save(path, NEW)
found = []
for chosen in [*range(1, count.seen, count.seen // 50), *range(count.seen - 9, count.seen)]:
    save(path, TREE)
    child = os.fork()
    if not child:
        Points(chosen, lambda: os.kill(os.getpid(), signal.SIGKILL)).save(path, NEW)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    loaded = load(path)
    assert is_same(TREE, loaded) or is_same(NEW, loaded), chosen
    found.append(is_same(TREE, loaded))
print(len(found), found[0], found[-1])
"""


def test_kill_at_any_moment_leaves_a_whole_file(path: Path) -> None:
    command = [sys.executable, "-c", KILLED, str(path), str(Path(__file__).parent)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    number, first, last = done.stdout.split()
    assert int(number) >= 59 and (first, last) == ("True", "False")
