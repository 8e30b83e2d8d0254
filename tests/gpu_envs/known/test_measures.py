"""Data beside the headers: every environment has some, it is found, and nonsense is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import gpu_envs
from gpu_envs.building import places
from gpu_envs.known import fields, measures, registration
from gpu_envs.known.registration import Home

NAMES = list(gpu_envs.environments())


@pytest.mark.parametrize("name", NAMES)
def test_every_environment_has_data_whose_sizes_are_parameters(name: str) -> None:
    file, home = measures.file_of(name), registration.home(name)
    assert file == measures.beside(places.environments()[home.stem])
    assert set(json.loads(file.read_text()).get("ids", {})) <= set(NAMES)
    described = fields.read(registration.find(name)["parameters"])
    used = measures.measures_of(name)["tests"].get("variants", [])
    used += [measures.sizes(name, purpose) for purpose in ("varied", "small", "alone", "crowd")]
    for parameters in used:
        fields.checked_values(described, parameters, f"parameter of {name}", ValueError)


def test_no_data_lies_about_that_belongs_to_no_header() -> None:
    headers = {measures.beside(header) for header in places.environments().values()}
    assert set((places.kernels() / "envs").rglob(f"*{measures.SUFFIX}")) == headers


def test_a_header_elsewhere_has_its_data_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registration, "home", lambda name: Home("my", tmp_path / "my.hpp"))
    monkeypatch.setattr(registration, "find", lambda name: {"id": name})
    nothing: dict[str, Any] = {"tests": {}, "benchmark": {}, "training": {}, "learning": {}}
    assert measures.measures_of("My-v0") == nothing
    file = tmp_path / "my.measures.json"
    own = {"My-v0": {"training": {"least": 2}}, "Other-v0": {"training": {"least": 3}}}
    file.write_text(json.dumps({"training": {"least": 1, "defaults": {"seed": 5}}, "ids": own}))
    assert measures.measures_of("My-v0")["training"] == {"least": 2, "defaults": {"seed": 5}}
    file.write_text("{")
    with pytest.raises(ValueError, match=r"my\.measures\.json is not JSON: "):
        measures._read(file, 1)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"test": {}}, "here: unknown key 'test'; did you mean 'tests'"),
        ({"tests": {"together": 1}}, "here: tests: together must be bool, got 1"),
        ({"benchmark": {"forms": {}}}, "here: benchmark: forms must be a list"),
        ({"benchmark": {"forms": [{}]}}, "here: benchmark: forms[0]: 'worlds' is missing"),
        ({"benchmark": {"forms": [{"worlds": [True]}]}}, "forms[0]: worlds[0] must be int, got Tr"),
        ({"tests": {"crowd": {"agents": [1]}}}, "crowd: agents must be bool or int or float or st"),
        ({"ids": {"A-v0": {"tests": []}}}, "here: ids: A-v0: tests must be an object, got []"),
        ({"spills": [{"kernel": "step", "bytes": 8}]}, "here: spills[0]: 'why' is missing"),
        ({"training": {"why": 3}}, "here: training: why must be str, got 3"),
    ],
)
def test_nonsense_is_refused_with_its_place(data: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        measures.check(data, "here")
