"""What the command line returns where a run was interrupted."""

from types import SimpleNamespace

import pytest

from sgmc.api import cli, verbs


@pytest.mark.parametrize("interrupted, status", [("", 0), ("Ctrl-C", 130), ("time_limit", 0)])
def test_the_status_tells_ctrl_c_from_an_end(interrupted, status, monkeypatch, tmp_path, capsys):
    """130 is what shells give a process that SIGINT ends."""
    results = SimpleNamespace(
        interrupted=interrupted, tuning=None, summary=lambda details: "the table"
    )
    monkeypatch.setattr(verbs, "logit", lambda *_, **__: results, raising=False)
    (tmp_path / "a.csv").write_text("y,x\n1,2\n0,3\n")
    assert cli.main(["fit", "y ~ x", str(tmp_path / "a.csv")]) == status
    assert "the table" in capsys.readouterr().out
