"""Data of an environment beside its rules: for tests, measurements, training and checks.

It is data, `<header>.measures.json` beside the header: in this tree, in an installed package, and
where a header of a user's own lies. docs/measures.md says what stands in it, `FORM` below what is
allowed. Read without Gymnasium, since a bare machine with a GPU measures too.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

from gpu_envs import errors
from gpu_envs.building import manifest, places
from gpu_envs.known import registration

SUFFIX = ".measures.json"
Data = dict[str, Any]

_VALUES = {"*": (bool, int, float, str)}  # parameters or options by name
_LISTED = [(int, float, str)]
_TESTS: Data = {
    "together": bool,
    "slow": bool,
    "few": bool,
    "alike": bool,
    "brief": bool,
    **dict.fromkeys(("varied", "small", "alone", "crowd"), _VALUES),
    "variants": [_VALUES],
    "cases": [_VALUES],
    "resets": [_VALUES],
}
_LABELS: Data = {  # of what was measured
    **dict.fromkeys(("form", "entry", "arrays", "memory", "outputs", "dtype", "sweep"), str),
    **dict.fromkeys(("worlds", "value", "lanes", "graph"), int),
    "threads": (int, str),
}
_FORM: Data = {
    "label": str,
    "parameters": _VALUES,
    "roles": str,
    "worlds!": [int],
    "device_worlds": [int],
    "ranges": [[str]],
}
_SWEEP: Data = {
    "values!": [int],
    "worlds!": [int],
    "by": {"*": _LISTED},
    "parameters": _VALUES,
}
_BAR: Data = {
    "of!": str,
    "least!": (int, float),
    "avx2": (int, float),
    "on": str,
    "name": str,
    **_LABELS,
    "over": _LABELS,
}
_PEER: Data = {
    "label!": str,
    "program!": str,
    "with": {"*": (bool, int, float, str, list)},
    "worlds": int,
    "threads": str,
    "form": str,
}
_BENCHMARK: Data = {
    "drawn": bool,
    "formats": [str],
    "steps": int,
    "device_steps": int,
    "forms": [_FORM],
    "sweeps": {"*": _SWEEP},
    "parts": {"*": str},
    "bars": [_BAR],
    "peers": [_PEER],
}
_MEASURE: Data = {
    **dict.fromkeys(("what!", "measure!", "role"), str),
    **dict.fromkeys(("penalty", "per"), (int, float)),
    "unless": [str],
}
_TRAINING: Data = {
    "measures": [_MEASURE],
    "defaults": _VALUES,
    "parameters": _VALUES,
    "evaluation": _VALUES,
    "device": _VALUES,
    "compared": [_VALUES],
    "least": (int, float),
}
_BESIDE: Data = {
    "who!": str,
    "scripted": _VALUES,
    "action": (int, float),
    "evaluation": _VALUES,
}
_ELSEWHERE: Data = {"who!": str, "evaluation!": _VALUES}
_TASK: Data = {
    **dict.fromkeys(("who!", "what", "measure", "role"), str),
    **dict.fromkeys(("again", "minutes", "per", "penalty", "times", "least", "most"), (int, float)),
    "episodes!": int,
    "options!": _VALUES,
    "stages": [_VALUES],
    "scripted": _VALUES,
    "beside": [_BESIDE],
    "elsewhere": [_ELSEWHERE],
    "also": {"what!": str, "measure!": str, "role": str},
    "published": [{"what!": str, "source!": str}],
    "page": {"what!": str, "at!": str},
    "evaluation": _VALUES,
}
_SECTIONS: Data = {
    "tests": _TESTS,
    "benchmark": _BENCHMARK,
    "training": _TRAINING,
    "learning": {"*": _TASK},
}
_SPILL: Data = {"kernel!": str, "bytes!": int, "why!": str}
FORM: Data = {**_SECTIONS, "suites": [str], "spills": [_SPILL], "ids": {"*": _SECTIONS}}


def beside(header: Path) -> Path:
    """Return the data file of a header."""
    return header.with_suffix(SUFFIX)


def file_of(name: str) -> Path:
    """Return the file of an environment, by its id; an installed package has no header there."""
    home = registration.home(registration.find(name)["id"])
    if home.header is not None:
        return beside(home.header)
    folder, name = places.kernels() / "envs", f"{home.stem}{SUFFIX}"
    if not places.is_source_tree():  # a deleted file must raise
        return next(iter(manifest.under(folder, f"/{name}")), folder / name)
    found = (*folder.glob(f"*/{name}"), *folder.glob(f"*/{places.TASKS}/{name}"))
    return next(iter(found), folder / name)


def measures_of(name: str) -> Data:
    """Return all sections of an environment, merged with those of its id only."""
    held = _held(name)
    own = held.get("ids", {}).get(registration.find(name)["id"], {})
    return {key: held.get(key, {}) | own.get(key, {}) for key in _SECTIONS}


def suites_of(name: str) -> list[str]:
    """Return the names of the suites that an environment belongs to."""
    return list(_held(name).get("suites", []))


def _held(name: str) -> Data:
    file = file_of(name)
    is_there = file.exists()
    when = file.stat().st_mtime_ns if is_there else 0
    return _read(file, when) if is_there or manifest.lists(file) else {}


def sizes(name: str, purpose: str) -> Data:
    """Return the parameters with which tests make an environment.

    Args:
        name: Id of the environment.
        purpose: "varied", where episodes begin differently; "small", with little work; "alone",
            with one agent; "crowd", with several; "few", where worlds are large by themselves.
    """
    tests = measures_of(name)["tests"]
    if purpose == "few":
        return dict(sizes(name, "crowd")) if tests.get("few") else {}
    fallback = {} if purpose == "alone" else tests.get("varied", {})
    return dict(tests.get(purpose, fallback))


@functools.lru_cache
def _read(file: Path, _when: int) -> Data:
    content = manifest.read(file)
    try:
        held: Data = json.loads(content)
    except (ValueError, RecursionError) as problem:
        raise ValueError(f"{file} is not JSON: {problem}") from None
    check(held, str(file))
    return held


def check(value: Any, where: str, form: Any = FORM) -> None:
    """Refuse keys and types that the form does not have, with their place in the file."""
    if isinstance(form, dict):
        if not isinstance(value, dict):
            raise TypeError(f"{where} must be an object, got {value!r}")
        _check_keys(value, where, form)
    elif isinstance(form, list):
        if not isinstance(value, list):
            raise TypeError(f"{where} must be a list, got {value!r}")
        for i, entry in enumerate(value):
            check(entry, f"{where}[{i}]", form[0])
    else:
        wanted = form if isinstance(form, tuple) else (form,)
        if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
            kinds = " or ".join(kind.__name__ for kind in wanted)
            raise TypeError(f"{where} must be {kinds}, got {value!r}")


def _check_keys(value: Data, where: str, form: Data) -> None:
    known = {key.rstrip("!"): inner for key, inner in form.items()}
    for key, inner in value.items():
        if key == "why" and "*" not in known:
            check(inner, f"{where}: why", str)
        elif key not in known and "*" not in known:
            raise ValueError(f"{where}: {errors.unknown('key', key, known)}")
        else:
            check(inner, f"{where}: {key}", known.get(key, known.get("*")))
    for key in form:
        if key.endswith("!") and key[:-1] not in value:
            raise ValueError(f"{where}: {key[:-1]!r} is missing")
