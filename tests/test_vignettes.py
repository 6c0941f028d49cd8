"""Each vignette runs, in its fast mode, and leaves what it promises."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "vignettes"
# others help them
STORIES = sorted(path.stem for path in FOLDER.glob("*.py") if "story.end(" in path.read_text())

pytest.importorskip("matplotlib", reason="figures of vignettes need Matplotlib")


@pytest.mark.cover(0)
@pytest.mark.parametrize("name", STORIES)
def test_a_vignette_runs(name, tmp_path):
    if "to_parquet" in (FOLDER / f"{name}.py").read_text():
        pytest.importorskip("pyarrow")
    # a script imports its neighbours, as a run by hand does
    env = {
        **os.environ,
        "MPLBACKEND": "agg",
        "PYTHONSAFEPATH": "",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    run = subprocess.run(
        [sys.executable, str(FOLDER / f"{name}.py"), "--fast", "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        env=env,
        timeout=300,
    )
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-4000:]
    found = json.loads((tmp_path / f"{name}.json").read_text())
    assert found["mode"] == "fast" and found["claims"] and found["figures"]
    for claim in found["claims"]:
        assert claim["where"] and claim["paper"] and claim["here"], claim
    for figure in found["figures"]:
        assert (tmp_path / figure).stat().st_size > 5_000, figure
