"""What a built file says of itself, and that nothing damaged passes for whole."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from gpu_envs.building import labels

CONTENT = bytes(range(256))


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    path = tmp_path / "x.so"
    path.write_bytes(CONTENT)
    source = tmp_path / "source.hpp"
    source.write_text("one")
    labels.attach(
        path, labels.Label("module", "cpu_v2", "abc", {"source.hpp": labels.seen(source)})
    )
    return path


def test_a_label_is_read_as_it_was_written(labelled: Path) -> None:
    label = labels.verify(labelled)
    assert (label.kind, label.target, label.engine) == ("module", "cpu_v2", "abc")
    assert labels.read(labelled) == label
    assert labelled.read_bytes().startswith(CONTENT)


def test_every_flipped_byte_is_noticed(labelled: Path) -> None:
    whole = labelled.read_bytes()
    for at in range(len(whole)):
        damaged = bytearray(whole)
        damaged[at] ^= 0x10
        labelled.write_bytes(damaged)
        with pytest.raises(labels.Damaged) as caught:
            labels.verify(labelled)
        assert "\n" not in str(caught.value)


def test_every_truncated_file_is_noticed_without_reading_its_content(labelled: Path) -> None:
    whole = labelled.read_bytes()
    for length in [*range(40), *range(40, len(whole), 17), len(whole) - 1]:
        labelled.write_bytes(whole[:length])
        with pytest.raises(labels.Damaged, match=str(labelled)):
            labels.read(labelled)


def test_bytes_missing_in_front_are_noticed(labelled: Path) -> None:
    labelled.write_bytes(labelled.read_bytes()[1:])
    with pytest.raises(labels.Damaged, match="its length differs from its label"):
        labels.read(labelled)


def test_a_file_without_label_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.so"
    path.write_bytes(CONTENT)
    with pytest.raises(labels.Damaged, match="has no label"):
        labels.read(path)


def test_a_label_of_another_release_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.so"
    path.write_bytes(CONTENT)
    label = labels.Label("module", "cpu_v2", "abc")
    label.later = 1  # type: ignore[attr-defined]
    labels.attach(path, label)
    with pytest.raises(labels.Damaged, match="labelled by another release of gpu_envs"):
        labels.verify(path)


def test_a_tail_that_points_before_the_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.so"
    path.write_bytes(CONTENT + struct.pack("<Q16s8s", 2**63, bytes(16), b"gpu_envs"))
    with pytest.raises(labels.Damaged, match="has no label"):
        labels.read(path)


def test_what_was_touched_but_is_equal_is_current(labelled: Path, tmp_path: Path) -> None:
    label, source = labels.read(labelled), tmp_path / "source.hpp"
    path_of = tmp_path.joinpath
    assert labels.is_current(label, path_of)
    source.touch()
    assert labels.is_current(label, path_of)
    source.write_text("two")  # as long as before
    assert not labels.is_current(label, path_of)
    source.write_text("one")
    assert labels.is_current(label, path_of)
    source.unlink()
    assert not labels.is_current(label, path_of)
