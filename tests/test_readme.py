"""The example of the README runs as it is printed."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


def section(title):
    """The first Python block under a heading."""
    return re.search(
        rf"^## {title}\n.*?```python\n(.*?)```", README.read_text(), re.S | re.M
    ).group(1)


def test_your_own_model(capsys):
    pytest.importorskip("arviz_base")
    names = {}
    exec(compile(section("Your own model"), "README.md", "exec"), names)
    told = capsys.readouterr().out
    assert "Decay: nothing wrong was found" in told and "trustworthy to about" in told
    res = names["res"]
    assert abs(res.mean_of("rate") - 1.5) < 4 * res.sd_of("rate")
    assert res.draws_of("rate").shape == (4, 1000)
