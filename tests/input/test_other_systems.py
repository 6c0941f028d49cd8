"""What Linux has and macOS or Windows lack is not needed by a plain fit."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

WITHOUT = """
    import os, sys, mmap, pathlib, tempfile
    import numpy, scipy.stats, scipy.sparse, pandas, patsy, statsmodels.api, tqdm, threadpoolctl
    import arviz_stats, narwhals
    for name in ("fcntl", "resource"):
        sys.modules[name] = None
    for name in ("fork", "posix_fallocate", "register_at_fork", "sched_getaffinity", "sysconf"):
        if hasattr(os, name):
            delattr(os, name)
    for name in [name for name in dir(mmap) if name.startswith("MADV")]:
        delattr(mmap, name)
    plain = pathlib.Path.read_text
    def read_text(self, *rest, **more):
        if str(self).startswith(("/proc", "/sys")):
            raise FileNotFoundError(str(self))
        return plain(self, *rest, **more)
    pathlib.Path.read_text = read_text
    import sgmc
"""
FITS = """
    import numpy as np
    random = np.random.default_rng(1)
    table = {"x": random.normal(size=500)}
    table["y"] = (random.random(500) < 1 / (1 + np.exp(-table["x"]))).astype(int)
    place = pathlib.Path(tempfile.mkdtemp())
    res = sgmc.logit("y ~ x", table, seed=1)
    res.save(place / "fit.sgmc")
    assert (sgmc.load(place / "fit.sgmc").params == res.params).all()
    assert "nan" not in str(res.summary(details=True)).lower()
    how = dict(seed=1, sampler="sgld-cv", draws=2000, checkpoint=place / "run.ckpt")
    sgmc.logit("y ~ x", table, **how)
    ready = sgmc.prepare("y ~ x", table, place / "table.sgmc", seed=1)
    sgmc.logit("y ~ x", ready, seed=1)
    print(res.params.to_numpy().tobytes().hex())
"""
LARGE = """
    from sgmc.core.system import storage
    storage.KEPT_BYTES = 1000
    place = pathlib.Path(tempfile.mkdtemp()) / "x"
    beside = numpy.memmap(place, float, "w+", shape=(1000, 2))
    vector = storage.vector(1000, beside)
    assert storage.mapping(vector) is not None
    vector[:] = 1.0
    assert vector.sum() == 1000
    storage.advise([beside], random=True)
"""


def run(*parts):
    """What a fresh process prints."""
    code = "".join(map(textwrap.dedent, parts))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.extended
def test_fits_and_files_need_nothing_of_linux():
    """And the draws are the same."""
    import_all = "import sgmc, pathlib, tempfile\n"
    assert run(WITHOUT, FITS) == run(import_all, FITS)


@pytest.mark.extended
def test_vectors_in_files():
    run(WITHOUT, LARGE)


@pytest.mark.extended
def test_what_is_missing_is_missing():
    """The processes above cannot have used it."""
    with pytest.raises(AssertionError, match="posix_fallocate"):
        run(WITHOUT, "\nos.posix_fallocate(0, 0, 1)\n")


def test_reserved_files_are_as_long_as_asked_for(tmp_path, monkeypatch):
    from sgmc.core.system import storage

    for without in (False, True):
        if without:
            monkeypatch.delattr(storage.os, "posix_fallocate", raising=False)
        with open(tmp_path / "numbers", "wb+") as file:
            storage.reserve(file, 8 * 100)
            assert np.fromfile(file).shape == (100,)
