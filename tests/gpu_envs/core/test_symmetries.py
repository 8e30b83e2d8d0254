"""Symmetries as a header describes them: tables of permutations, the first of which is plain."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_envs.core import symmetries

PLAIN = ([0, 1, 2], [0, 1])


def test_tables_have_a_row_for_each_way_of_naming() -> None:
    found = symmetries.read([PLAIN, ([0, 2, 1], [1, 0])])
    assert found is not None and len(found) == 2
    assert np.array_equal(found.observation, [[0, 1, 2], [0, 2, 1]])
    assert np.array_equal(found.actions, [[0, 1], [1, 0]])
    assert symmetries.read([]) is None


@pytest.mark.parametrize(
    "described",
    [
        [PLAIN, ([0, 2, 2], [1, 0])],
        [PLAIN, ([0, 2, 1], [1, 2])],
        [PLAIN, ([0, 2, -1], [1, 0])],
        [([0, 2, 1], [0, 1]), PLAIN],
        [([0, 1, 2], [1, 0]), PLAIN],
    ],
    ids=str,
)
def test_what_is_no_permutation_or_does_not_begin_plainly_is_refused(
    described: list[tuple[list[int], list[int]]],
) -> None:
    with pytest.raises(ValueError, match="permutations, the first of which is plain"):
        symmetries.read(described)
