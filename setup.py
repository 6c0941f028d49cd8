"""Build of the compiled rooms: every .pyx under sgmc/ is a module, found by glob, so that a new
leaf edits nothing here.

``SGMC_BUILD=sanitize`` and ``SGMC_BUILD=checked`` make the builds that `tests/sanitize` runs.
"""

import gc
import hashlib
import json
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

C_SOURCES = {
    "sgmc/core/numerics/simd": ["sgmc/core/numerics/vecmath.c", "sgmc/core/numerics/normals.c"],
    "sgmc/diagnostics/scores/stein_sums": ["sgmc/diagnostics/scores/stein.c"],
    "sgmc/models/factorization/products": ["sgmc/models/factorization/pairs.c"],
}
# beside the headers that Cython finds
INCLUDED = {"sgmc/core/numerics/simd": ["sgmc/core/numerics/dense.inc"]}
MADE = Path("build/cython")  # C that Cython has made, and of what: an sdist has both
RECORD = MADE / "made.json"
TRANSLATED = (".pyx", ".pxd", ".h")
DIRECTIVES = dict(
    language_level=3,
    boundscheck=False,
    wraparound=False,
    initializedcheck=False,
    cdivision=True,
    embedsignature=True,
    auto_pickle=False,  # no object of C is pickled: a quarter of the code otherwise
    emit_code_comments=False,  # half of the C that an sdist holds
)
# Faster ways for Python's numbers, calls and exceptions, which the compiled modules use rarely: an
# eighth of the code
MACROS = ("USE_PYLONG_INTERNALS", "UNPACK_METHODS", "FAST_THREAD_STATE")
CORES = os.cpu_count() or 1
UTILITY = "sgmc._cyutility"  # Cython's helpers once, instead of a copy in each module

# C files, and loops that measurably need it, are compiled with -O3.  All else is mostly glue to
# Python: -O1 takes half the time there, and what loops need of -O2 and -O3 is named.  Where only
# few small functions are called in loops the compiler chooses what to inline: Cython would inline
# its helpers everywhere.
LOOPED = (
    "sgmc/models/regression/bases/functions/gammas.",
    "sgmc/models/regression/families/beta.",
    "sgmc/models/regression/latent/densities/nodes.",
    "sgmc/models/regression/latent/shrunk/sweeps.",
    "sgmc/samplers/sgbd.",
    *C_SOURCES,
)
LOOPS = ["-O3", "-g0"]
GLUE = ["-O1", "-fstrict-aliasing", "-finline-functions", "-ftree-vectorize", "-g0"]
INLINED = ("sgmc/core/", "sgmc/models/", "sgmc/samplers/bases/", "sgmc/samplers/zigzag.")
NOT_INLINED = ["-DCYTHON_INLINE=", "-Wno-unused-function"]
# With GLUE, and refused by clang.  A module's start runs once: it is not optimised.  Two passes are
# left out that took an eighth of the time, and gave no step of a sampler anything.
GCC_ALONE = [
    "-fvect-cost-model=dynamic",
    '-DCYTHON_SMALL_CODE=__attribute__((cold, optimize("O0")))',
    "-fno-tree-dominator-opts",
    "-fno-tree-pta",
]
MSVC = ["/O2", "/fp:precise"]
SANITIZERS = ["-fsanitize=address,undefined,float-cast-overflow", "-fno-omit-frame-pointer"]
BUILDS = {  # flags of the compiler instead of those above, flags of the linker, directives
    "": (None, ["-Wl,--strip-all"], {}),
    "sanitize": (["-O1", "-g", "-fno-wrapv", *SANITIZERS], SANITIZERS, {}),
    "checked": (["-O1"], [], dict(boundscheck=True, initializedcheck=True)),
}
FLAGS, LINK_FLAGS, CHECKS = BUILDS[os.environ.get("SGMC_BUILD", "")]
SAME_BITS = ["-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]  # on every CPU


def extension(stem, suffix=".pyx"):
    """Return the extension module of a file, by its path without suffix."""
    return Extension(
        stem.replace("/", "."),
        [stem + suffix, *C_SOURCES.get(stem, [])],
        define_macros=[(f"CYTHON_{name}", "0") for name in MACROS],
        include_dirs=sorted({os.path.dirname(stem) for stem in C_SOURCES}),
        extra_link_args=LINK_FLAGS if sys.platform == "linux" else [],
        depends=["setup.py", *INCLUDED.get(stem, [])],  # its flags are those of setup.py
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
    glue = [*GLUE, *(GCC_ALONE if kind == "gcc" else [])]
    if not source.startswith(INLINED):
        glue += NOT_INLINED
    return [*(FLAGS or (LOOPS if source.startswith(LOOPED) else glue)), *SAME_BITS]


def compiler_kind(compiler):
    """Return "msvc", or "gcc" or "clang" by what the compiler of setuptools says of itself."""
    if compiler.compiler_type == "msvc":
        return "msvc"
    done = subprocess.run([*compiler.compiler, "--version"], capture_output=True, text=True)
    return "clang" if "clang" in done.stdout.lower() else "gcc"


def extensions():
    """Return the extension modules: one for each .pyx, and Cython's helpers."""
    stems = sorted(path.with_suffix("").as_posix() for path in Path("sgmc").rglob("*.pyx"))
    return [*map(extension, stems), extension("sgmc/_cyutility", ".c")]


def made(source):
    """Return the path of the C of a .pyx."""
    return MADE.joinpath(source).with_suffix(".c")


def translate(modules):
    """Make C of Cython, unless it is there and of these sources; note the headers it includes.

    It is done here rather than at import: pip runs this file three times.
    """
    directives = DIRECTIVES | CHECKS
    digest = hashlib.sha256()
    for path in sorted(path for path in Path("sgmc").rglob("*") if path.suffix in TRANSLATED):
        digest.update(path.as_posix().encode() + path.read_bytes())
    found = json.loads(RECORD.read_text()) if RECORD.exists() else {"directives": directives}
    wanted = {"directives": directives, "sources": digest.hexdigest()}
    there = all(made(module.sources[0]).exists() for module in modules)
    if not there or not wanted.items() <= found.items():
        from Cython.Build import cythonize
        from Cython.Build.Dependencies import create_dependency_tree

        # only this tree's files count: what pip installs after a build looks newer than its C
        tree = create_dependency_tree()  # cythonize has the same
        tree.timestamp = lambda path: 0 if os.path.isabs(path) else os.path.getmtime(path)
        gc.set_threshold(1_000_000)  # a fifth of the time is spent on looking for garbage
        MADE.mkdir(parents=True, exist_ok=True)
        RECORD.write_text(json.dumps(found | {"sources": None}))  # until all of it is made
        translated = cythonize(
            [Extension(module.name, module.sources[:1]) for module in modules],
            build_dir=str(MADE),
            compiler_directives=directives,
            shared_utility_qualified_name=UTILITY,
            nthreads=CORES if sys.platform == "linux" else 0,
            force=found["directives"] != directives,
        )
        found = wanted | {"headers": {module.name: module.depends for module in translated}}
        RECORD.write_text(json.dumps(found))
    for module in modules:
        module.depends += found["headers"][module.name]


class Sdist(sdist):
    """An sdist has the C, too: who installs it needs no Cython."""

    def make_release_tree(self, base_dir, files):
        """See `setuptools.command.sdist`."""
        super().make_release_tree(base_dir, files)
        translate(self.distribution.ext_modules)
        for path in (RECORD, *(made(module.sources[0]) for module in extensions())):
            self.mkpath(os.path.join(base_dir, path.parent))
            shutil.copy2(path, os.path.join(base_dir, path))


class Build(build_ext):
    """Translate, compile, and write what the registry of the built package finds: public names."""

    def run(self):
        """See `setuptools.command.build_ext`."""
        import numpy

        hook = runpy.run_path("editable.py") if self.editable_mode else {}
        sources = hook and hook["sources"](os.curdir)
        translate(self.extensions)
        self.include_dirs.append(numpy.get_include())
        # in place past setuptools, which compiles all modules elsewhere and copies them
        super(build_ext if self.inplace else Build, self).run()
        self.write_names()
        if hook:
            hook["remember"](os.curdir, sources)
            self.install_hook()

    def build_extensions(self):
        """Choose flags, now that the compiler is known, and compile."""
        kind = compiler_kind(self.compiler)
        for module in self.extensions:
            first, *rest = module.sources
            module.extra_compile_args = flags(first, kind)
            module.sources = [str(made(first)), *rest]
        super().build_extensions()

    def install_hook(self):
        """Add to an editable install what compiles changed sources when `sgmc` is imported."""
        place = self.get_finalized_command("install").install_lib
        shutil.copy("editable.py", os.path.join(place, "_sgmc_editable.py"))
        line = f"import _sgmc_editable; _sgmc_editable.install({os.getcwd()!r})\n"
        Path(place, "_sgmc_editable.pth").write_text(line, encoding="utf-8")

    def write_names(self):
        """Write the table of public names, and the stub with their types, into the package."""
        built = Path("." if self.inplace else self.build_lib).resolve()
        code = (
            "from sgmc.api import names, stubs\n"
            f"names.write({str(built / 'sgmc')!r}); stubs.write({str(built / 'sgmc')!r})"
        )
        path = os.pathsep.join(filter(None, [str(built), os.environ.get("PYTHONPATH")]))
        if os.environ.get("SGMC_BUILD") != "sanitize":  # its modules need the sanitizer preloaded
            found = {**os.environ, "PYTHONPATH": path, "SGMC_REBUILD": "0"}
            subprocess.run([sys.executable, "-c", code], check=True, cwd=built, env=found)


if __name__ == "__main__":
    setup(
        cmdclass={"build_ext": Build, "sdist": Sdist},
        ext_modules=extensions(),
        options={"build_ext": {"parallel": CORES}},
    )
