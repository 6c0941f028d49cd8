"""Writes ``release.sgmc``, the saved fit that `test_release` opens: run once for each format.

``python -m tests.saved.release`` in the root of the source tree.
"""

from pathlib import Path

import numpy as np
import pandas as pd

import sgmc

PATH = Path(__file__).with_name("release.sgmc")


def table():
    """Rows without any random numbers."""
    x = np.linspace(-2, 2, 60)
    return pd.DataFrame({"x": x, "g": np.tile(["a", "b", "c"], 20), "y": np.cos(7 * x) > -x})


def main():
    """Fit and save."""
    fit = sgmc.logit("y ~ np.sin(x) + poly(x, 2) + g", table(), seed=1, draws=12, chains=1)
    fit.save(PATH)
    print(fit.params.to_dict(), fit.predict(table().head(3)).to_list())


if __name__ == "__main__":
    main()
