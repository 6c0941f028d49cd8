"""Writes the saved fits that `test_release` opens: run once for each format.

``python -m tests.saved.release`` in the root of the source tree: ``release.sgmc``, and one of each
class of results and models in ``release/``, with what is read of them in ``release/read.json``.
"""

import json
import lzma
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import sgmc

PATH = Path(__file__).with_name("release.sgmc")
FOLDER = Path(__file__).with_name("release")
READ = FOLDER / "read.json"
FEW = dict(seed=1, draws=6, chains=1)


def table():
    """Rows without any random numbers."""
    x = np.linspace(-2, 2, 60)
    return pd.DataFrame({"x": x, "g": np.tile(["a", "b", "c"], 20), "y": np.cos(7 * x) > -x})


def more():
    """The same rows with an outcome for each family."""
    d, k = table(), np.arange(60)
    d["z"], d["h"] = np.sin(5 * d.x), np.array(list("pqrst"))[k * k % 5]
    d["real"], d["count"] = d.x + np.cos(9 * d.x), k * 7 % 11 // 2
    d["positive"], d["share"] = np.exp(d.real / 2), (k % 7 + 1) / 9
    d["kind"] = np.tile(["r", "s", "t", "s"], 15)
    return d


def levels():
    """Rows with so many levels that they are integrated out."""
    k = np.arange(1200)
    return pd.DataFrame({"k": k % 600, "y": k * 7 % 3 == 0, "x": 0.0})


def partitioned():
    """A fit of two partitions, whose workers are threads of this process."""
    from dask.distributed import Client

    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as one:
        import dask.dataframe as dd

        parts = dd.from_pandas(more(), npartitions=2)
        return sgmc.logit("y ~ x", parts, client=one, **FEW)


def kinds():
    """Calls by the name of their file."""
    d = more()
    return {
        "regression": lambda: sgmc.poisson("count ~ x * g + poly(z, 2) + offset(z)", d, **FEW),
        "dispersion": lambda: sgmc.negativebinomial("count ~ x | z", d, **FEW),
        "zeros": lambda: sgmc.zeroinflated("count ~ x", d, **FEW),
        "thresholds": lambda: sgmc.ordinal("count ~ x", d.assign(count=d["count"] // 2), **FEW),
        "equations": lambda: sgmc.mnlogit("kind ~ x", d, **FEW),
        "survival": lambda: sgmc.survreg("Surv(positive, y) ~ x", d, **FEW),
        "prior": lambda: sgmc.logit("y ~ x", d, prior_only=True, **FEW),
        "sandwich": lambda: sgmc.logit("y ~ x", d, cov_type="cluster", groups="g", **FEW),
        "horseshoe": lambda: sgmc.ols("real ~ x + z", d, prior=sgmc.horseshoe(), **FEW),
        "learned scale": lambda: sgmc.logit("y ~ x + z", d, prior=sgmc.ridge(), **FEW),
        "update": lambda: sgmc.logit("y ~ x", d[:40], **FEW).update(d[40:], **FEW),
        "levels": lambda: sgmc.logit("y ~ C(k)", levels(), **FEW),
        "groups": lambda: sgmc.ols("real ~ x + (x | h)", d, **FEW),
        "nested": lambda: sgmc.logit("y ~ x + (1 | g / h)", d, **FEW),
        "crossed": lambda: sgmc.logit("y ~ x + (1 | g) + (1 | h)", d, **FEW),
        "smooth": lambda: sgmc.ols("real ~ s(x, k=5)", d, **FEW),
        "partitions": partitioned,
    }


def rows_of(name):
    """Rows that a fit predicts."""
    return (levels() if name == "levels" else more()).head(3)


def read_of(fit, rows):
    """What is compared of a fit."""
    predicted = np.asarray(fit.predict(rows), dtype=float)
    return {
        "class": type(fit).__name__,
        "params": np.asarray(fit.params).tolist(),
        "predicted": predicted.tolist(),
        "summary": fit.summary_frame().head(9).to_csv(float_format="%.6g"),
    }


def main():
    """Fit and save what is not there."""
    FOLDER.mkdir(exist_ok=True)
    read = json.loads(READ.read_text()) if READ.exists() else {}
    for name, make in kinds().items():
        if name not in read:
            fit = make()
            with tempfile.TemporaryDirectory() as folder:
                fit.save(Path(folder) / name)
                packed = lzma.compress((Path(folder) / name).read_bytes(), preset=9)
            (FOLDER / f"{name}.xz").write_bytes(packed)
            read[name] = read_of(fit, rows_of(name))
    READ.write_text(json.dumps(read, indent=1))
    if not PATH.exists():
        fit = sgmc.logit("y ~ np.sin(x) + poly(x, 2) + g", table(), seed=1, draws=12, chains=1)
        fit.save(PATH)
        print(fit.params.to_dict(), fit.predict(table().head(3)).to_list())


if __name__ == "__main__":
    main()
