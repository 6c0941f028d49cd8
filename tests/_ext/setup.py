"""Build of the compiled modules of the tests; `build.py` runs it on a copy of this folder."""

import os
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

DIRECTIVES = dict(
    language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
)
FLAGS = [] if os.name == "nt" else ["-O1", "-g0", "-ffp-contract=off"]

if __name__ == "__main__":
    setup(
        py_modules=[],
        ext_modules=cythonize(
            [
                Extension(
                    f"_ext.{path.stem}",
                    [path.name],
                    include_dirs=[numpy.get_include()],
                    extra_compile_args=FLAGS,
                )
                for path in sorted(Path().glob("*.pyx"))
            ],
            compiler_directives=DIRECTIVES,
        ),
        options={"build_ext": {"parallel": os.cpu_count() or 1}},
    )
