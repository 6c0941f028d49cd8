"""No public name of results is without a place in the lists of `surface`."""

import pytest

from .factors import FAMILIES, GROUPS, PLAIN
from .made import fitted
from .surface import COMPARED, NO_REFERENCE, names


@pytest.mark.parametrize(
    "setting",
    [*(("family", one) for one in FAMILIES), *(("groups", one) for one in GROUPS)],
    ids=lambda setting: setting[1],
)
def test_each_public_name_is_compared_or_needs_no_reference(setting, folder):
    results = fitted(PLAIN._replace(**dict([setting])), folder)
    public = {name for name in dir(results) if not name.startswith("_")}
    assert not public - {*names(COMPARED), *names(NO_REFERENCE)}


def test_lists_have_no_name_twice_and_none_that_is_gone(folder):
    listed = names(COMPARED) + names(NO_REFERENCE)
    assert len(listed) == len(set(listed))
    settings = [("family", one) for one in FAMILIES] + [("groups", one) for one in GROUPS]
    public = set().union(*(dir(fitted(PLAIN._replace(**{k: v}), folder)) for k, v in settings))
    assert not set(listed) - public
