"""Build of the compiled rooms: every .pyx under sgmc/ is a module, found by glob, so that a new
leaf edits nothing here.
"""

import os
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

C_SOURCES = {
    "sgmc/core/simd.pyx": ["sgmc/core/vecmath.c", "sgmc/core/normals.c"],
    "sgmc/models/factorization/products.pyx": ["sgmc/models/factorization/pairs.c"],
}
HEADERS = ["sgmc/core/vecmath.h", "sgmc/models/factorization/pairs.h", "sgmc/core/dense.inc"]
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

# Loops of C are compiled with -O3.  Most of a Cython module is glue to Python, so -O1 takes half
# the time; what loops over rows and coordinates need of -O2 and -O3 is named.
LOOPS = ["-O3"]
GLUE = [
    "-O1",
    "-fstrict-aliasing",
    "-finline-functions",
    "-ftree-vectorize",
    "-fvect-cost-model=dynamic",
]
SAME_BITS = ["-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]  # on every CPU


def extension(name, *sources):
    """Return the extension module of these sources."""
    level = os.environ.get("LEVEL", "").split() or (LOOPS if len(sources) > 1 else GLUE)
    return Extension(
        name,
        list(sources),
        include_dirs=["sgmc/core"],
        extra_compile_args=[] if os.name == "nt" else [*level, *SAME_BITS, "-g0"],
        extra_link_args=["-Wl,--strip-all"] if sys.platform == "linux" else [],
        depends=HEADERS,
    )


def extensions():
    """Return the extension modules: one for each .pyx, and Cython's helpers."""
    modules = []
    for path in sorted(Path("sgmc").rglob("*.pyx")):
        source = path.as_posix()
        name = source.removesuffix(".pyx").replace("/", ".")
        modules.append(extension(name, source, *C_SOURCES.get(source, [])))
    return [*modules, extension(UTILITY, "sgmc/_cyutility.c")]


class Build(build_ext):
    """Translate, compile, and write what the registry of the built package finds: public names."""

    def run(self):
        """See `setuptools.command.build_ext`."""
        self.translate()
        super().run()
        self.write_names()

    def translate(self):
        """Make C of Cython, here rather than at import: pip runs this file three times."""
        import numpy
        from Cython.Build import cythonize

        made = cythonize(
            self.extensions,
            build_dir="build/cython",
            compiler_directives=DIRECTIVES,
            shared_utility_qualified_name=UTILITY,
            nthreads=CORES if sys.platform == "linux" else 0,
        )
        made = {module.name: module for module in made}
        for module in self.extensions:
            module.sources, module.depends = made[module.name].sources, made[module.name].depends
        self.include_dirs.append(numpy.get_include())

    def write_names(self):
        """Write the table of public names into the built package."""
        built = Path("." if self.inplace else self.build_lib).resolve()
        code = f"from sgmc.api import names; names.write({str(built / 'sgmc')!r})"
        path = {**os.environ, "PYTHONPATH": str(built)}
        subprocess.run([sys.executable, "-c", code], check=True, cwd=built, env=path)


if __name__ == "__main__":
    setup(
        cmdclass={"build_ext": Build},
        ext_modules=extensions(),
        options={"build_ext": {"parallel": CORES}},
    )
