"""Changed files and formulas, a few hundred of them: see `fuzz`, which tries thousands."""

import numpy as np
import pytest

from sgmc.prepared.file import prepared

from . import fuzz, mutations
from .children import forking

pytestmark = [forking, pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")]


@pytest.mark.parametrize("tries", [12, pytest.param(60, marks=pytest.mark.extended)])
@pytest.mark.parametrize("kind", fuzz.KINDS)
def test_what_strangers_send_is_used_or_refused(kind, tries):
    report = fuzz.run([kind], tries, seed=1)
    assert report.faults == []
    assert report.counts[kind, "refused"] > tries / 10


@pytest.mark.extended
def test_each_kind_of_fault_is_seen(tmp_path, monkeypatch):
    """Planted: a crash, an endless loop, an error of Python's, memory."""

    def planted(kind, content, folder):
        match content:
            case "crash":
                fuzz.os.abort()
            case "loop":
                while True:
                    pass
            case "error":
                raise KeyError("a raw error")
            case "memory":
                np.ones(fuzz.MEMORY // 4)

    monkeypatch.setattr(fuzz, "used", planted)
    found = {
        what: fuzz.outcome("formula", what, tmp_path, seconds=2)[0]
        for what in ("crash", "loop", "error", "memory", "nothing")
    }
    assert "crash" in found["crash"] and found["loop"] == "does not end"
    assert found["error"].startswith("KeyError at") and "Memory" in found["memory"]
    assert found["nothing"] == "works"


@pytest.mark.extended
def test_a_check_that_is_left_out_is_found(monkeypatch):
    """Rows of prepared files are looked at before a fit reads them: without that, within 500 tries
    of changed rows one ends the process or raises an error of Python's.
    """
    monkeypatch.setattr(prepared, "check_rows", lambda table: None)
    monkeypatch.setattr(mutations, "SHARE_OF_MANIFESTS", 0.0)
    tries = (fuzz.run(["prepared"], 50, seed=2, first=first) for first in range(0, 500, 50))
    assert any(report.faults for report in tries)
