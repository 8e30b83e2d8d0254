"""Recording golden hashes again: what is written, and what is refused."""

import pytest

from scripts.checks import golden_cases, record_golden

CASE = "CartPole-v0 | velocities=false | SameStep | 3 | 8 | 1"


@pytest.fixture
def golden(tmp_path, monkeypatch):
    monkeypatch.setattr(golden_cases, "FOLDER", tmp_path)
    path = tmp_path / "cartpole.txt"

    def record(hashes, *options):
        path.write_text(f"# a remark\n{CASE} | {hashes}\n")
        monkeypatch.setattr("sys.argv", ["record_golden.py", "cartpole", *options])
        status = record_golden.main()
        remark, line = path.read_text().splitlines()
        assert remark == "# a remark"
        assert line.startswith(f"{CASE} | ")
        return status, line.removeprefix(f"{CASE} | ")

    return record


def test_new_line_is_filled_in_and_found_unchanged_later(golden, capsys):
    status, hashes = golden("0 | 0")
    assert status == 0
    assert "cartpole, line 2: new" in capsys.readouterr().out
    assert [len(part) for part in hashes.split(" | ")] == [16, 16]
    assert golden(hashes) == (0, hashes)
    assert capsys.readouterr().out == ""


def test_outputs_are_taken_and_records_only_when_told(golden, capsys):
    _, hashes = golden("0 | 0")
    records, outputs = hashes.split(" | ")
    assert golden(f"{records} | {'1' * 16}") == (0, hashes)
    assert "line 2: outputs" in capsys.readouterr().out
    other = f"{'1' * 16} | {outputs}"
    assert golden(other) == (1, other)
    assert "line 2: records differ" in capsys.readouterr().out
    assert golden(other, "--records") == (0, hashes)
