"""Build of the compiled rooms: every .pyx under sgmc/ is a module, found by glob, so that a new
leaf edits nothing here.

``SGMC_BUILD=sanitize`` and ``SGMC_BUILD=checked`` make the builds that `tests/sanitize` runs.
"""

import os
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

C_SOURCES = {
    "sgmc/core/simd.pyx": ["sgmc/core/vecmath.c", "sgmc/core/normals.c"],
    "sgmc/diagnostics/stein_sums.pyx": ["sgmc/diagnostics/stein.c"],
    "sgmc/models/factorization/products.pyx": ["sgmc/models/factorization/pairs.c"],
}
HEADERS = [
    "sgmc/core/vecmath.h",
    "sgmc/core/dense.inc",
    "sgmc/diagnostics/stein.h",
    "sgmc/models/factorization/pairs.h",
]
DIRECTIVES = dict(
    language_level=3,
    boundscheck=False,
    wraparound=False,
    initializedcheck=False,
    cdivision=True,
    embedsignature=True,
    auto_pickle=False,  # no object of C is pickled: a quarter of the code otherwise
)
CORES = os.cpu_count() or 1
UTILITY = "sgmc._cyutility"  # Cython's helpers once, instead of a copy in each module

# Loops over rows and coordinates are compiled with -O3.  The other modules are mostly glue to
# Python: -O1 takes half the time there, and what their loops need of -O2 and -O3 is named.
LOOPED = (
    "sgmc/samplers/",
    "sgmc/models/communities/",
    "sgmc/models/crossed/",
    "sgmc/models/mixed/",
    "sgmc/models/regression/",
    *C_SOURCES,
)
LOOPS = ["-O3", "-g0"]
GLUE = ["-O1", "-fstrict-aliasing", "-finline-functions", "-ftree-vectorize", "-g0"]
GCC_ALONE = ["-fvect-cost-model=dynamic"]  # with GLUE; clang refuses it
MSVC = ["/O2", "/fp:precise"]
SANITIZERS = ["-fsanitize=address,undefined,float-cast-overflow", "-fno-omit-frame-pointer"]
BUILDS = {  # flags of the compiler instead of those above, flags of the linker, directives
    "": (None, ["-Wl,--strip-all"], {}),
    "sanitize": (["-O1", "-g", "-fno-wrapv", *SANITIZERS], SANITIZERS, {}),
    "checked": (["-O1"], [], dict(boundscheck=True, initializedcheck=True)),
}
FLAGS, LINK_FLAGS, CHECKS = BUILDS[os.environ.get("SGMC_BUILD", "")]
SAME_BITS = ["-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]  # on every CPU


def extension(name, *sources):
    """Return the extension module of these sources."""
    return Extension(
        name,
        list(sources),
        include_dirs=["sgmc/core"],
        extra_link_args=LINK_FLAGS if sys.platform == "linux" else [],
        depends=HEADERS,
    )


def flags(source, kind):
    """Return the flags of the compiler for a module.

    Parameters
    ----------
    source : str
        Its first source, the .pyx.
    kind : {"msvc", "gcc", "clang"}
    """
    if kind == "msvc":
        return MSVC
    glue = [*GLUE, *GCC_ALONE] if kind == "gcc" else GLUE
    return [*(FLAGS or (LOOPS if source.startswith(LOOPED) else glue)), *SAME_BITS]


def compiler_kind(compiler):
    """Return "msvc", or "gcc" or "clang" by what the compiler of setuptools says of itself."""
    if compiler.compiler_type == "msvc":
        return "msvc"
    done = subprocess.run([*compiler.compiler, "--version"], capture_output=True, text=True)
    return "clang" if "clang" in done.stdout.lower() else "gcc"


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
        self.first = {module.name: module.sources[0] for module in self.extensions}
        self.translate()
        super().run()
        self.write_names()

    def build_extensions(self):
        """Choose flags, now that the compiler is known, and compile."""
        kind = compiler_kind(self.compiler)
        for module in self.extensions:
            module.extra_compile_args = flags(self.first[module.name], kind)
        super().build_extensions()

    def translate(self):
        """Make C of Cython, here rather than at import: pip runs this file three times."""
        import numpy
        from Cython.Build import cythonize

        made = cythonize(
            self.extensions,
            build_dir="build/cython",
            compiler_directives=DIRECTIVES | CHECKS,
            shared_utility_qualified_name=UTILITY,
            nthreads=CORES if sys.platform == "linux" else 0,
        )
        made = {module.name: module for module in made}
        for module in self.extensions:
            module.sources, module.depends = made[module.name].sources, made[module.name].depends
        self.include_dirs.append(numpy.get_include())

    def write_names(self):
        """Write the table of public names, and the stub with their types, into the package."""
        built = Path("." if self.inplace else self.build_lib).resolve()
        code = (
            "from sgmc.api import names, stubs\n"
            f"names.write({str(built / 'sgmc')!r}); stubs.write({str(built / 'sgmc')!r})"
        )
        path = os.pathsep.join(filter(None, [str(built), os.environ.get("PYTHONPATH")]))
        if os.environ.get("SGMC_BUILD") != "sanitize":  # its modules need the sanitizer preloaded
            found = {**os.environ, "PYTHONPATH": path}
            subprocess.run([sys.executable, "-c", code], check=True, cwd=built, env=found)


if __name__ == "__main__":
    setup(
        cmdclass={"build_ext": Build},
        ext_modules=extensions(),
        options={"build_ext": {"parallel": CORES}},
    )
