"""The command line."""

from __future__ import annotations

import re
import subprocess
import sys
import types
from pathlib import Path

import pytest

import gpu_envs
from gpu_envs.__main__ import main


def test_list_has_a_line_per_environment(capsys) -> None:
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + len(gpu_envs.environments())
    assert any(line.startswith("gpu_envs/CartPole-v0 ") and "500" in line for line in lines)


@pytest.mark.parametrize("name", [*gpu_envs.environments(), "gpu_envs/Micro-v0"])
def test_info_prints_every_described_field(capsys, name) -> None:
    assert main(["info", name]) == 0
    printed = capsys.readouterr().out
    description = gpu_envs.environments()[name.removeprefix("gpu_envs/")]
    assert description["doc"].splitlines()[0] in printed
    for section in ("parameters", "action", "observation", "reset_options", "columns"):
        for field in description[section]:
            assert field["name"] in printed
            assert field["doc"] in printed


def test_misspelt_id_is_answered_with_the_closest(capsys) -> None:
    assert main(["info", "CartPol-v0"]) == 2
    assert "did you mean 'CartPole-v0'?" in capsys.readouterr().err


@pytest.mark.parametrize("error", [TypeError, OSError, MemoryError])
def test_trouble_of_any_kind_is_told_in_one_line(monkeypatch, capsys, error) -> None:
    def fails(name: str) -> str:
        raise error(f"no {name}")

    monkeypatch.setattr("gpu_envs.commands.info.text", fails)
    assert main(["info", "CartPole-v0"]) == 2
    assert capsys.readouterr().err == "error: no CartPole-v0\n"


def test_bench_hands_its_arguments_on(monkeypatch) -> None:
    seen = []
    benchmark = types.ModuleType("gpu_envs.benchmark")
    benchmark.main = seen.append  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "gpu_envs.benchmark", benchmark)
    assert main(["bench", "CartPole-v0", "--num-envs", "64"]) == 0
    assert seen == [["CartPole-v0", "--num-envs", "64"]]


@pytest.mark.parametrize("arguments", [[], ["dance"], ["info"]])
def test_wrong_usage_exits_with_help(capsys, arguments) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage: python -m gpu_envs" in capsys.readouterr().err


def test_help_names_the_commands() -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "gpu_envs", "--help"], capture_output=True, text=True, check=True
    ).stdout
    assert all(command in printed for command in ("list", "info", "bench", "train"))


def test_info_aligns_long_names_and_spells_values(capsys) -> None:
    assert main(["info", "Overcooked-v0"]) == 0
    section = capsys.readouterr().out.split("Parameters:\n")[1].split("\n\n")[0]
    lines = section.splitlines()
    assert len({len(line) - len(line.split(None, 1)[1]) for line in lines}) == 1
    assert any("true | false; default false" in line for line in lines)
    assert any("text; default ''" in line for line in lines)


_ORDER = ("scripts/train", "source .venv", "python -m", "pip install", "python -m gpu_envs render")
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(("page", "words"), [("README.md", _ORDER[:3]), ("docs/use.md", _ORDER)])
def test_page_has_an_interpreter_before_it_calls_one(page: str, words: tuple[str, ...]) -> None:
    text = (ROOT / page).read_text()
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    first = {word: next(i for i, x in enumerate(lines) if x.startswith(word)) for word in words}
    assert list(first.values()) == sorted(first.values())


def test_first_pages_name_commands_that_there_are(capsys) -> None:
    text = "".join((ROOT / page).read_text() for page in ("README.md", "docs/use.md"))
    named = set(re.findall(r"python -m gpu_envs ([a-z]+)", text))
    with pytest.raises(SystemExit):
        main(["--help"])
    known = re.findall(r"^    ([a-z]+)  ", capsys.readouterr().out, re.MULTILINE)
    assert named <= set(known) and {"doctor", "info", "bench", "render"} <= named
