"""What `info` says beside what the header describes."""

from __future__ import annotations

import pytest

import gpu_envs
from gpu_envs.commands import info
from gpu_envs.known import fields, native


def rows_of(text: str, title: str) -> dict[str, list[str]]:
    section = text.split(f"\n{title}\n")[1].split("\n\n")[0]
    return {line.split()[0]: line.split()[1:] for line in section.splitlines()}


def test_what_each_profile_gives_is_what_it_makes() -> None:
    name, chosen = "HideSeek-v0", "openai"
    rows = rows_of(info.text(name), "Defaults by profile:")
    assert next(iter(rows)) == "fixed"  # the header, whose first cell is empty
    choices = ["fixed", *rows.pop("fixed")]
    simulator = gpu_envs.Simulator(name, 1, device="cpu", profile=chosen)
    for parameter, row in rows.items():
        given = row[len(row) - len(choices) :]
        assert given[choices.index(chosen)] == fields.spelt(simulator.parameters[parameter])
    assert rows["gravity"][-2] == "50" and "hider_count" not in rows
    simulator.close()


def test_a_default_that_is_worked_out_is_shown_where_nothing_varies_it() -> None:
    assert rows_of(info.text("Overcooked-v0"), "Defaults come to:")["orders"] == ["OOO"]
    assert "Defaults" not in info.text("CartPole-v0")


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("HideSeek-v0", "64 worlds x 5 agents = 320 rows"),
        ("CartPole-v0", "64 worlds x 1 agent = 64 rows"),
    ],
)
def test_rows_are_counted(name: str, size: str) -> None:
    assert size in info.text(name)


def test_nothing_is_built_to_describe_an_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "is_built", lambda name: False)
    monkeypatch.setattr(native, "make", lambda *_, **__: pytest.fail("it was made"))
    said = info.text("HideSeek-v0")
    assert "shown once it is built: python -m gpu_envs build hide_seek" in said
    assert "rows" not in said.split("Parameters:")[0]
    assert "once it is built" not in info.text("CartPole-v0")


@pytest.mark.parametrize(
    ("name", "agents"),
    [
        ("TagContinuous-v0", "Agents: runner_0 to runner_8, tagger_9, runner_10"),
        ("Overcooked-v0", "Agents: player_0, player_1"),
        ("Flocking-v0", "Agents: player_0 to player_1023"),
    ],
)
def test_agents_are_named(name: str, agents: str) -> None:
    assert f"\n{agents}\n" in info.text(name)


def test_names_that_do_not_follow_each_other_are_cut_off() -> None:
    apart = [f"player_{2 * number}" for number in range(10)]
    assert info._runs(apart) == f"{', '.join(apart[:8])}, and 2 more"
    assert info._runs(["a", "b", "b_1", "b_2", "b_3"]) == "a, b, b_1 to b_3"
