"""A plugin of pytest for builds that find memory errors: what code is reached counts,
not with how many numbers.
"""

from sgmc import _sanitizer_allocator

_sanitizer_allocator.use()


def pytest_addoption(parser):
    """``--every-combination``: keep all tests."""
    parser.addoption(
        "--every-combination",
        action="store_true",
        help="run tests with every combination of their parameters",
    )


def pytest_collection_modifyitems(config, items):
    """Of each test function keep the first items in which every value of every parameter has
    occurred.
    """
    if config.getoption("--every-combination"):
        return
    seen, kept, left = set(), [], []
    for item in items:
        new = values(item) - seen
        (kept if new else left).append(item)
        seen |= new
    items[:] = kept
    config.hook.pytest_deselected(items=left)


def values(item):
    """The parameters of a test with their values; of one without parameters the test itself."""
    test = item.nodeid.split("[")[0]
    call = getattr(item, "callspec", None)
    return {(test, name, repr(value)) for name, value in call.params.items()} if call else {(test,)}
