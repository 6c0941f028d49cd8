"""The page on files runs as it is pasted."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "files.md"


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_the_code_of_the_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S))
    names = {"__name__": "__main__"}
    exec(compile(code, str(PAGE), "exec"), names)
    printed = capsys.readouterr().out
    assert "shop[T.west]" in printed and re.search(r"rows +60,000\n", printed)
    assert names["res"].nobs == 60_000
