"""What the build of the package may import."""

import subprocess
import sys

WITHOUT = """
import sys
for name in ("pandas", "patsy", "statsmodels", "sgmc._names"):
    sys.modules[name] = None  # not there while the package is built
from sgmc.api import names, stubs
names.write(sys.argv[1]); stubs.write(sys.argv[1])
"""


def test_names_are_written_where_numpy_and_scipy_alone_are_installed(tmp_path):
    """A build in isolation has no more: models and verbs are found without tables."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, str(tmp_path)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert {one.name for one in tmp_path.iterdir()} >= {"_names.py", "__init__.pyi"}
