"""Small cases drawn at random: the same each time, of their tier, and for as long as they help."""

from __future__ import annotations

import itertools

import pytest

from gpu_envs.known import registration
from scripts.ptx import interpreter, mixes
from scripts.ptx.mixes import Stream
from scripts.ptx.subjects import Subject, Way, size_of


def _subject() -> Subject:
    sets = [{"agent_count": 5}, {"agent_count": 2}, {"agent_count": 8, "work": 0}]
    return Subject("Micro-v0", registration.find("Micro-v0"), 1, sets[:2], sets, [{}], 4096)


def test_streams_draw_the_same_cases_each_time() -> None:
    stream = Stream(_subject(), Way({"lanes": 8}))
    first, second = (list(itertools.islice(stream, 60)) for _ in range(2))
    for a, b in zip(first, second, strict=True):
        assert (a.title, a.worlds, a.options, a.settings) == (
            b.title,
            b.worlds,
            b.options,
            b.settings,
        )
        assert a.parameters == b.parameters
        assert a.options["lanes"] == 8
    assert len({str(case.options) for case in first}) > 50


def test_cases_stay_in_their_tier_and_leave_the_known_sets() -> None:
    subject = _subject()
    drawn = [case.parameters for case in itertools.islice(Stream(subject, Way()), 60)]
    sizes = [size_of(subject.name, given) for given in drawn]
    assert {size.tier for size in sizes if size is not None} == {1}
    counts = {given["agent_count"] for given in drawn}
    assert counts > {2, 5, 8} and max(counts) <= 8
    assert all(base in drawn for base in subject.sets)


def test_every_known_set_ends_and_rests_first() -> None:
    subject = _subject()
    first = list(itertools.islice(Stream(subject, Way()), 4))
    assert [case.title for case in first] == ["end 0", "rest 0", "end 1", "rest 1"]
    assert [case.parameters for case in first[::2]] == subject.known[::-1]  # small ones first
    assert first[1].options["autoreset_mode"] == "NextStep"
    assert first[3].options["autoreset_mode"] == "Disabled"


def test_half_of_the_cases_are_like_one_that_reached_something_new() -> None:
    stream, good = Stream(_subject(), Way()), [mixes.Case("good", mixes.late, 3)]
    good[0].options.update(block=7)  # which no case is drawn with
    cases = list(itertools.islice(stream._like(good), 104))[4:]
    alike = [case for case in cases if case.options.get("block") == 7]
    assert 10 < len(alike) < 50  # of a half, a half of the options
    assert any(case.options["block"] != 7 for case in cases if "block" in case.options)


def test_a_stream_ends_when_its_cases_reach_nothing_new(monkeypatch: pytest.MonkeyPatch) -> None:
    reached = itertools.chain(range(10), itertools.repeat(9))
    monkeypatch.setattr(interpreter, "executed", lambda: next(reached))
    ran = list(Stream(_subject(), Way()).until_quiet(60))
    assert len(ran) == 9 + mixes.QUIET
    assert list(Stream(_subject(), Way()).until_quiet(0)) == []
