"""The names of a run's main columns, and the words of its lines."""

from __future__ import annotations

from gpu_envs.train.columns import EVALUATION, TRAINING, Told, column

NAMES = ["charts/episodic_return", "evaluation/return"]


def test_the_only_side_has_plain_columns_and_words() -> None:
    told = Told()
    assert told.columns() == NAMES == [TRAINING, EVALUATION]
    assert told.words({TRAINING: 1.26}) == ["return 1.3", "evaluation -"]
    assert told.label(EVALUATION, "") == "evaluation: likeliest actions"


def test_several_sides_have_columns_and_words_each() -> None:
    told = Told(("hider", "seeker"), ("hiders seen",), is_sampled=True)
    assert told.columns() == [
        *(f"{name}_{side}" for name in NAMES for side in told.sides),
        "evaluation/hiders_seen",
    ]
    known = {column(TRAINING, "seeker"): -2.0, "evaluation/hiders_seen": 0.51239}
    assert told.words(known) == [
        "return hider - seeker -2.0",
        "evaluation hider - seeker -",
        "hiders seen 0.512",
    ]
    assert told.label(EVALUATION, "hider") == "hider, evaluation: sampled actions"
    assert told.label(TRAINING, "hider") == "hider, training: sampled actions"
