"""The example of a user's model in docs/own.md runs as it is printed, and is right."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "own.md"


def example():
    """The first two Python blocks of the page, of which the second goes on from the first."""
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.S | re.M)
    return "\n".join(blocks[:2])


@pytest.mark.extended
def test_your_own_model(capsys):
    pytest.importorskip("arviz_base")
    names = {}
    exec(compile(example(), str(PAGE), "exec"), names)
    told = capsys.readouterr().out
    assert "Decay: nothing wrong was found" in told and "Verdict: trustworthy" in told
    res = names["res"]
    assert abs(res.mean_of("rate") - 1.5) < 4 * res.sd_of("rate")
    assert res.draws_of("rate").shape == (4, 1000)
