"""The folder of a polars query goes with its source, without a ResourceWarning."""

import gc
import warnings
from pathlib import Path

import numpy as np
import pytest

from sgmc.sources.opening import of

pl = pytest.importorskip("polars")


def test_the_folder_is_removed_in_silence():
    source = of(pl.DataFrame({"x": np.arange(5.0)}).lazy(), "data")
    folder = Path(source.parts[0].path).parent
    assert folder.is_dir()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del source
        gc.collect()
    assert not [one for one in caught if str(folder) in str(one.message)]
    assert not folder.exists()
