"""The file of a saved fit that a release has written opens in the next; see CONTRIBUTING.md."""

import numpy as np
import pytest

import sgmc
from sgmc.saved import classes

from .release import PATH, table

PARAMS = [0.2004376078452589, 0.26736922080195624, -0.2154709528293184, 0.1600370503137288]
PARAMS += [20.775943183290718, 1.3811249221162754]
PREDICTED = [0.07762888666859762, 0.08685416677434615, 0.04914985657572415]


def test_a_file_of_this_format_opens():
    fit = sgmc.load(PATH)
    np.testing.assert_allclose(fit.params, PARAMS, rtol=1e-12)
    np.testing.assert_allclose(fit.predict(table().head(3)), PREDICTED, rtol=1e-9)
    assert str(fit.summary()).startswith("   ")


@pytest.mark.parametrize("name", classes.places())
def test_every_name_has_its_class(name):
    assert classes.name_of(classes.class_of(name)) == name
