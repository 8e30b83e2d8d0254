"""Checkpoints: trees of arrays and plain values in one file, without pickled code.

A file is a zip archive of stored members: `checkpoint.json`, the tree with a tag in place of each
array, then one `.npy` member for each tensor and array and a raw one for bytes. Loading reads every
member to its end, so that the archive's checksums see every byte, and never runs code from the
file. Saving writes beside the target and renames at the end: at any moment either the old file
or the new one exists, whole. The meaning of a tree is the caller's.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import io
import json
import math
import os
import struct
import zipfile
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import numpy as np
import torch

FORMAT, VERSION = "gpu_envs checkpoint", 1
SKELETON = "checkpoint.json"
_DATE = (1980, 1, 1, 0, 0, 0)  # the same tree gives the same bytes
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# Types that NumPy lacks are kept as the bits of an integer of their size.
_NUMPY_HAS = frozenset(
    getattr(torch, name)
    for name in "bool uint8 int8 int16 int32 int64 float16 float32 float64 complex64 complex128 "
    "uint16 uint32 uint64".split()
)
_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


class CheckpointError(ValueError):
    """A checkpoint that cannot be written, read or used: one line with the file and the cause."""


def _error(path: Path, cause: str) -> CheckpointError:
    return CheckpointError(" ".join(f"{path}: {cause}".split()))


def mismatch(path: Path, what: str, found: object, expected: object) -> CheckpointError:
    """Return the error for a file that does not fit: `what` is, say, "env" or "--hidden"."""
    return _error(path, f"was saved for {what} {found!r}, expected {expected!r}")


def require(path: Path, facts: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Refuse a file whose facts differ from the expected ones."""
    for what, value in expected.items():
        if what not in facts:
            raise _error(path, f"does not say which {what} it was saved for, expected {value!r}")
        if facts[what] != value:
            raise mismatch(path, what, facts[what], value)


def require_finite(path: Path, node: Any, where: str = "") -> None:
    """Refuse a file in which a tensor of some part has NaN or infinite values, by its name.

    Args:
        path: The file.
        node: The part: dicts and lists, down to tensors.
        where: Name of the part, in the message.
    """
    if isinstance(node, Mapping):
        for key, value in node.items():
            require_finite(path, value, f"{where}/{key}")
    elif isinstance(node, list):
        for number, value in enumerate(node):
            require_finite(path, value, f"{where}/{number}")
    elif isinstance(node, torch.Tensor) and node.is_floating_point():
        bad = int((~node.isfinite()).sum())
        if bad:
            raise _error(
                path,
                f"{where!r} has {bad:,} of {node.numel():,} values that are NaN or infinite: "
                "the run diverged there, or the file was changed; use another file, or train again "
                "with a lower --learning-rate",
            )


# ---- files that are replaced whole


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a file beside `path` that replaces it at the end, unless an error is raised.

    Only a process that is killed in between leaves its file behind: `.<name>.<process>.tmp`.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # not every file system can
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


# ---- saving

_Members = dict[str, Any]  # name -> NumPy array or bytes


def _encode(value: Any, members: _Members, where: str) -> Any:
    """Return a value in JSON's types; arrays and bytes go to `members`.

    A JSON object is always a tag, so that a dict of the tree is never mistaken for one.
    """
    if isinstance(value, np.generic):
        value = value.item()  # a number of NumPy becomes Python's
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        # JSON knows no infinity; NaN keeps its bits.
        return float(value) if math.isfinite(value) else {"bits": struct.pack(">d", value).hex()}
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, (str, int)):
                raise TypeError(f"{where}: a key must be str or int, got {key!r}")
        return {"dict": [[k, _encode(v, members, f"{where}[{k!r}]")] for k, v in value.items()]}
    if isinstance(value, (list, tuple)):
        return [_encode(item, members, f"{where}[{k}]") for k, item in enumerate(value)]
    return _encode_array(value, members, where)


def _encode_array(value: Any, members: _Members, where: str) -> Any:
    if isinstance(value, (bytes, bytearray)):
        name = f"{len(members)}.bin"
        members[name] = bytes(value)
        return {"bytes": name}
    name = f"{len(members)}.npy"
    if isinstance(value, torch.Tensor) and value.layout == torch.strided:
        bits = value if value.dtype in _NUMPY_HAS else value.detach().view(_BITS[value.itemsize])
        members[name] = bits.numpy(force=True)
        return {"tensor": name, "dtype": str(value.dtype).removeprefix("torch.")}
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        members[name] = value
        return {"array": name}
    kind = f"an array of {value.dtype}" if hasattr(value, "dtype") else type(value).__name__
    raise TypeError(f"{where}: {kind} cannot be saved without pickled code")


@functools.cache
def package_version() -> str:
    """Return the version of this package."""
    try:
        return metadata.version("gpu_envs")
    except metadata.PackageNotFoundError:  # run from its source
        return "unknown"


def _write(file: BinaryIO, skeleton: bytes, members: _Members) -> None:
    archive = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED)
    try:
        for name, content in {SKELETON: skeleton, **members}.items():
            entry = zipfile.ZipInfo(name, _DATE)
            if isinstance(content, bytes):
                archive.writestr(entry, content)
                continue
            entry.file_size = content.nbytes + 65536  # says whether it needs the large form
            with archive.open(entry, "w") as member:
                np.lib.format.write_array(member, content, allow_pickle=False)
        archive.close()
    except BaseException:
        archive.fp = None  # or it tries to finish the archive, and hides this error
        raise


def save(path: Path, tree: dict[str, Any]) -> None:
    """Write a tree of dicts, lists, plain values, bytes, tensors and arrays; replace a file whole.

    Tuples come back as lists, parameters as plain tensors. A failed write raises
    `CheckpointError` and leaves the previous file; a value of another kind raises `TypeError`.
    """
    members: _Members = {}
    facts = {"format": FORMAT, "version": VERSION, "package": package_version()}
    facts["tree"] = _encode(tree, members, "tree")
    text = json.dumps(facts, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        with replacing(path) as file:
            _write(file, text.encode("utf-8", "surrogatepass"), members)
    except OSError as problem:
        cause = f"cannot be written ({problem.strerror or problem})"
        if problem.errno in _FULL:
            size = sum(len(m) if isinstance(m, bytes) else m.nbytes for m in members.values())
            cause += f": it needs {size / 1e6:,.1f} MB; free some space or choose another folder"
        raise _error(path, f"{cause}; the previous file is unchanged") from problem


# ---- loading


def _refuse(path: Path, problem: OSError) -> NoReturn:
    if isinstance(problem, FileNotFoundError):
        raise _error(path, "does not exist") from problem
    if isinstance(problem, IsADirectoryError):
        raise _error(path, "is a folder, not a checkpoint") from problem
    raise _error(path, f"cannot be read ({problem.strerror or problem})") from problem


def _members_of(archive: zipfile.ZipFile, length: int) -> dict[str, bytes]:
    """Read all members to their ends, which compares their checksums."""
    entries = archive.infolist()
    for entry in entries:
        if entry.compress_type != zipfile.ZIP_STORED or entry.file_size > length:
            raise ValueError(f"an impossible entry {entry.filename!r}")
    return {entry.filename: archive.read(entry) for entry in entries}


def _array(content: bytes) -> np.ndarray[Any, Any]:
    stream = io.BytesIO(content)
    array: np.ndarray[Any, Any] = np.lib.format.read_array(stream, allow_pickle=False)
    if stream.read(1):
        raise ValueError("extra bytes after an array")
    return array


def _decode(node: Any, members: dict[str, bytes]) -> Any:
    if isinstance(node, list):
        return [_decode(item, members) for item in node]
    if not isinstance(node, dict):
        return node
    if "dict" in node:
        return {key: _decode(value, members) for key, value in node["dict"]}
    if "bits" in node:
        return struct.unpack(">d", bytes.fromhex(node["bits"]))[0]
    if "bytes" in node:
        return members[node["bytes"]]
    if "array" in node:
        return _array(members[node["array"]])
    return _tensor(_array(members[node["tensor"]]), node["dtype"])


def _tensor(bits: np.ndarray[Any, Any], name: str) -> torch.Tensor:
    dtype, tensor = getattr(torch, name), torch.from_numpy(bits)
    if not isinstance(dtype, torch.dtype):
        raise ValueError(f"an unknown type {name!r}")
    return tensor if dtype == tensor.dtype else tensor.view(dtype)


def _on(device: torch.device, value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _on(device, item) for key, item in value.items()}
    if isinstance(value, list):
        return [_on(device, item) for item in value]
    return value.to(device) if isinstance(value, torch.Tensor) else value


def _read(path: Path) -> dict[str, bytes]:
    """Return all members of a file; none if it is an archive of another kind."""
    try:
        file = open(path, "rb")
    except OSError as problem:
        _refuse(path, problem)
    with file:
        start, length = file.read(2), os.fstat(file.fileno()).st_size
        if start != b"PK":
            state = "is not a checkpoint of gpu_envs, or is damaged at its beginning"
            raise _error(path, state if start else "is empty, not a checkpoint of gpu_envs")
        try:
            with zipfile.ZipFile(file) as archive:
                is_ours = SKELETON in archive.namelist()
                return _members_of(archive, length) if is_ours else {}
        except Exception as problem:  # zipfile alone raises ten kinds for damaged files
            raise _damaged(path, problem) from problem


def load(path: Path, device: str | torch.device = "cpu") -> dict[str, Any]:
    """Read what `save` wrote, tensors on `device`; any fault of the file is a `CheckpointError`."""
    members = _read(path)
    try:
        facts = json.loads(members.pop(SKELETON, b"{}").decode("utf-8", "surrogatepass"))
        kind, version, package = (facts.get(name) for name in ("format", "version", "package"))
    except Exception as problem:  # not JSON, or no dict
        raise _damaged(path, problem) from problem
    if kind != FORMAT:
        raise _error(path, "is not a checkpoint of gpu_envs, but an archive of another kind")
    if version != VERSION:
        cause = f"has version {version!r} of the format, saved by gpu_envs {package}; this one"
        raise _error(path, f"{cause} reads version {VERSION}: use the gpu_envs that saved it")
    try:
        tree = _decode(facts["tree"], members)
        if not isinstance(tree, dict):
            raise ValueError("its tree is not a dict")
    except Exception as problem:  # a skeleton that does not fit its members
        raise _damaged(path, problem) from problem
    return tree if torch.device(device).type == "cpu" else _on(torch.device(device), tree)


def _damaged(path: Path, problem: Exception) -> CheckpointError:
    return _error(path, f"is damaged or cut short ({type(problem).__name__}: {problem}"[:250] + ")")
