"""Build of the compiled rooms: every .pyx under sgmc/ is a module, found by glob, so that a new
leaf edits nothing here.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

C_SOURCES = {
    "sgmc/core/kernels.pyx": ["sgmc/core/vecmath.c", "sgmc/core/normals.c"],
    "sgmc/models/factorization/products.pyx": ["sgmc/models/factorization/pairs.c"],
}
HEADERS = ["sgmc/core/vecmath.h", "sgmc/models/factorization/pairs.h", "sgmc/core/dense.inc"]
FLAGS = (
    [] if os.name == "nt" else ["-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
)
DIRECTIVES = dict(
    language_level=3,
    boundscheck=False,
    wraparound=False,
    initializedcheck=False,
    cdivision=True,
    embedsignature=True,
)
CORES = os.cpu_count() or 1
UTILITY = "sgmc._cyutility"  # Cython's helpers once, instead of a copy in each module


def extension(name, sources):
    """One extension module with the flags that keep results the same on every CPU."""
    return Extension(
        name,
        sources,
        include_dirs=[numpy.get_include(), "sgmc/core"],
        extra_compile_args=FLAGS,
        depends=HEADERS,
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
    )


modules = [
    extension(
        path.with_suffix("").as_posix().replace("/", "."),
        [path.as_posix(), *C_SOURCES.get(path.as_posix(), [])],
    )
    for path in sorted(Path("sgmc").rglob("*.pyx"))
]
modules.append(extension(UTILITY, ["sgmc/_cyutility.c"]))


class Build(build_ext):
    """Compile, then write what the registry of the built package knows: its public names."""

    def run(self):
        """See `setuptools.command.build_ext`."""
        super().run()
        built = Path("." if self.inplace else self.build_lib).resolve()
        code = f"from sgmc.api import names; names.write({str(built / 'sgmc')!r})"
        subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            cwd=built,
            env={**os.environ, "PYTHONPATH": str(built)},
        )


setup(
    cmdclass={"build_ext": Build},
    ext_modules=cythonize(
        modules,
        build_dir="build/cython",
        compiler_directives=DIRECTIVES,
        shared_utility_qualified_name=UTILITY,
        nthreads=CORES if sys.platform == "linux" else 0,
    ),
    options={"build_ext": {"parallel": CORES}},
)
