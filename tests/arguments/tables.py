"""How a table of calls is tested: each gives a value, or an error with a text in it."""

import re

import numpy as np
import pytest


def assert_gives(call, expected):
    """Assert that a call returns what is expected, in value and type, or raises it."""
    if isinstance(expected, tuple) and expected and isinstance(expected[0], type):
        error, text = expected
        with pytest.raises(error, match=re.escape(text)) as raised:
            call()
        assert type(raised.value) is error
        return
    found = call()
    assert type(found) is type(expected)
    if isinstance(expected, np.ndarray):
        assert found.dtype == expected.dtype and found.shape == expected.shape
        np.testing.assert_array_equal(found, expected)
    else:
        assert found == expected
