"""`bench --suite`: one table of all games and of the batch that has them all."""

from __future__ import annotations

import re
from typing import Any

import pytest

from gpu_envs import suites
from gpu_envs.benchmark import command

QUICK = ("--worlds", "2", "--seconds", "0.001", "--repeats", "1", "--device", "cpu")


def test_table_has_every_game_and_the_batch(capsys: Any) -> None:
    command.main(["--suite", "megaverse8", *QUICK, "--set", "resolution=4x6"])
    head, *rows, last = capsys.readouterr().out.splitlines()
    assert head.split() == ["game", "worlds", "agent-steps/s", "a", "step"]
    assert [row.split()[0] for row in rows[:-1]] == list(suites.megaverse8().games)
    assert rows[-1].split()[:5] == ["all", "in", "one", "batch", "16"]
    assert re.fullmatch(r"megaverse8: one batch makes \d\.\d\d of the harmonic mean .*", last)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "name an environment, such as CartPole-v0, or --suite megaverse8"),
        (["CartPole-v0", "--suite", "megaverse8"], "name an environment"),
        (["--suite", "megaverse"], "unknown suite 'megaverse'"),
        (["--suite", "megaverse8", "--full"], "--full is for one environment"),
        (["--suite", "megaverse8", "--worlds", "1,2"], "--worlds takes one number with --suite"),
        (["--suite", "megaverse8", "--set", "good_reward=1"], "good_reward"),
    ],
)
def test_wrong_words_are_one_line(capsys: Any, words: list[str], message: str) -> None:
    with pytest.raises(SystemExit) as end:
        command.main(words)
    assert end.value.code == 2
    found = capsys.readouterr().err
    assert message in found
    assert found.count("\n") == 1
