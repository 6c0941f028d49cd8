"""What the command line returns where a run was interrupted, and facts as JSON."""

from types import SimpleNamespace

import pytest

from sgmc.api import as_json, cli, verbs


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


@pytest.mark.parametrize(
    "text, fact",
    [("-5", -5), ("12", 12), ("+3", 3), ("-0.5", -0.5), ("1e3", 1000.0), ("-", None), ("a", "a")],
)
def test_facts_are_numbers_where_they_look_like_them(text, fact):
    found = as_json.fact(text)
    assert found == fact and type(found) is type(fact)
