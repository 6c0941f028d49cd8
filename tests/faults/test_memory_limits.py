"""Memory that ends: an address space with less and less room, in everything that a user calls."""

import pytest

import sgmc

from .children import Child, forking, frame, of

resource = pytest.importorskip("resource", reason="limits of processes are POSIX")
pytestmark = [
    forking,
    pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]
LIMITS = [0.1, 0.3, 1, 2, 3, 5, 7, 10, 13, 16, 20, 25, 30, 40, 50, 65, 80, 100, 150]  # MB
DEFAULT = [3, 13, 30]
MB = 1 << 20


def size():
    """Bytes of this process's address space."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def with_room_for(megabytes, action):
    """The action in a child with so much more memory than it has."""

    def limited():
        bytes_ = size() + int(megabytes * MB)
        resource.setrlimit(resource.RLIMIT_AS, (bytes_, bytes_))
        action()
        return "done"

    return Child(limited).done()


@pytest.fixture(scope="module")
def actions(tmp_path_factory):
    """What is called: some of the limits leave less than it needs."""
    place, df = tmp_path_factory.mktemp("tables"), frame(50_000)
    results = sgmc.logit("y ~ x*g", df, sampler="laplace", draws=500, seed=1)
    large = dict(sampler="laplace", draws=500, seed=1)
    return {
        "fit": lambda: sgmc.logit("y ~ x*g", df, **large),
        "prepare": lambda: sgmc.prepare("y ~ x*g", df, place / "a.sgmc", memory_limit="500MB"),
        "predict": lambda: results.get_prediction(df.iloc[:20_000]),
        "summary": lambda: str(results.summary(details=True)),
    }


@pytest.mark.extended("3-fit", "3-prepare", "13-prepare", "30-fit", "30-prepare")
@pytest.mark.parametrize("name", ["fit", "prepare", "predict", "summary"])
@pytest.mark.parametrize(
    "megabytes",
    [m if m in DEFAULT else pytest.param(m, marks=pytest.mark.extended) for m in LIMITS],
)
def test_memory_that_ends_is_an_error_and_no_crash(megabytes, name, actions):
    """A MemoryError, or the system's own where it maps a file or loads a library."""
    found = with_room_for(megabytes, actions[name])
    assert found == "done" or of(found, "MemoryError") or "Cannot allocate memory" in found.words
