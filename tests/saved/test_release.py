"""The file of a saved fit that a release has written opens in the next; see CONTRIBUTING.md."""

import io
import json
import lzma

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.saved import classes

from .release import FOLDER, PATH, READ, read_of, rows_of, table

KINDS = json.loads(READ.read_text())

PARAMS = [0.2004376078452589, 0.26736922080195624, -0.2154709528293184, 0.1600370503137288]
PARAMS += [20.775943183290718, 1.3811249221162754]
PREDICTED = [0.07762888666859762, 0.08685416677434615, 0.04914985657572415]


def test_a_file_of_this_format_opens():
    fit = sgmc.load(PATH)
    np.testing.assert_allclose(fit.params, PARAMS, rtol=1e-12)
    np.testing.assert_allclose(fit.predict(table().head(3)), PREDICTED, rtol=1e-9)
    assert str(fit.summary()).startswith("   ")


@pytest.mark.parametrize("name", KINDS)
def test_files_of_each_class_open(name, tmp_path):
    (tmp_path / "fit").write_bytes(lzma.decompress((FOLDER / f"{name}.xz").read_bytes()))
    kept, fit = dict(KINDS[name]), sgmc.load(tmp_path / "fit")
    read = read_of(fit, rows_of(name))
    frames = [pd.read_csv(io.StringIO(one.pop("summary")), index_col=0) for one in (kept, read)]
    # other processors sum in another order
    pd.testing.assert_frame_equal(*frames, rtol=1e-4)
    np.testing.assert_allclose(read.pop("predicted"), kept.pop("predicted"), rtol=1e-9)
    assert read == kept


@pytest.mark.parametrize("name", classes.places())
def test_every_name_has_its_class(name):
    assert classes.name_of(classes.class_of(name)) == name
