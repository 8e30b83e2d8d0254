"""What checks the client is named exactly, and the client itself needs nothing (scripts/web)."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
PACKAGE = json.loads((ROOT / "client" / "package.json").read_text())
LOCKED = json.loads((ROOT / "client" / "package-lock.json").read_text())["packages"]


def test_the_client_needs_no_package():
    kinds = {name for name in PACKAGE if name.lower().endswith("dependencies")}
    assert kinds == {"devDependencies"}
    used = [name for name, one in LOCKED.items() if name and not one.get("dev")]
    assert used == []


def test_each_tool_has_one_version_and_the_lock_file_has_the_same():
    tools = PACKAGE["devDependencies"]
    assert [name for name, said in tools.items() if not re.fullmatch(r"\d+\.\d+\.\d+", said)] == []
    assert tools == {name: LOCKED[f"node_modules/{name}"]["version"] for name in tools}
    assert LOCKED[""]["devDependencies"] == tools  # else npm ci refuses it


def test_what_is_installed_is_known_by_its_hash():
    for name, one in LOCKED.items():
        if name:
            assert one["integrity"].startswith("sha512-"), name
            # npm asks the registry that its user has chosen; nobody is asked for money.
            assert not {"resolved", "funding"} & set(one), name


def test_kinds_of_failures_are_those_of_the_engine() -> None:
    engine = (ROOT / "kernels/engine/base/error.hpp").read_text()
    client = (ROOT / "client/simulator/module.js").read_text()
    kinds = re.search(r"enum class Fault \{ (.*?) \}", engine)
    names = re.search(r"const FAULTS = \[(.*?)\]", client)
    assert kinds is not None and names is not None
    assert kinds[1] == names[1].replace('"', "")
