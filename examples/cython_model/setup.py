"""Build: Cython finds the contracts (.pxd) of the installed sgmc by itself;
numpy's headers are all it needs besides.
"""

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

setup(
    py_modules=[],
    ext_modules=cythonize(
        [Extension("line_model", ["line_model.pyx"], include_dirs=[numpy.get_include()])]
    ),
)
