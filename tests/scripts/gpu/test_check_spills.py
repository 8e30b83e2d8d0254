"""scripts/gpu/check_spills.py reads what ptxas prints and knows a spill from a listed one."""

import json
import sys

import pytest

from scripts.gpu import check_spills

REPORT = """
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z4stepPf' for 'sm_90'
ptxas info    : Function properties for _Z4stepPf
    {stack} bytes stack frame, {stores} bytes spill stores, {loads} bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers
"""


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    def run(allowed=(), **numbers):
        report = REPORT.format(**{"stack": 0, "stores": 0, "loads": 0, **numbers})
        (tmp_path / "unit.ptxas.txt").write_text(report)
        (tmp_path / "game").mkdir(exist_ok=True)
        (tmp_path / "game" / "game.measures.json").write_text(json.dumps({"spills": allowed}))
        monkeypatch.setattr(check_spills, "ENVIRONMENTS", tmp_path)
        monkeypatch.setattr(sys, "argv", ["check_spills", str(tmp_path), "--verbose"])
        return check_spills.main(), capsys.readouterr().out

    return run


def test_kernel_without_spills_passes(run):
    status, text = run()
    assert status == 0
    assert "sm_90 40 registers" in text


@pytest.mark.parametrize("what", ["stack", "stores", "loads"])
def test_spill_fails_and_is_named(run, what):
    status, text = run(**{what: 8})
    assert status == 1
    assert "FAIL" in text and "step" in text


def test_listed_spill_passes_up_to_its_bytes(run):
    allowed = [{"kernel": "^step", "bytes": 16, "why": "cheaper than recomputing"}]
    assert run(allowed, stack=16)[0] == 0
    assert run(allowed, stack=24)[0] == 1


def test_folder_without_reports_fails(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["check_spills", str(tmp_path)])
    assert check_spills.main() == 1
