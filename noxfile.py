"""Sessions that check the package, as CI does: ``nox -s lint test``; ``nox -l`` lists them.

Environments are kept, and share the compiled modules of this tree.  What follows ``--`` goes to the
tool: ``nox -s test -- tests/formula``.
"""

import nox

nox.options.reuse_venv = "yes"
nox.options.sessions = ["lint", "types", "test"]
PARALLEL = ("-n", "auto")


@nox.session
def test(session):
    """Run the default tier of tests."""
    session.install("-e", ".[test]")
    session.run("pytest", *(session.posargs or PARALLEL))


@nox.session
def coverage(session):
    """Run it and report which lines of Python ran; the pages are in build/coverage."""
    session.install("-e", ".[dev]")
    reports = ("--cov", "--cov-report=term:skip-covered", "--cov-report=html")
    session.run("pytest", *reports, *(session.posargs or PARALLEL))


@nox.session
def lint(session):
    """Check code and format of Python."""
    session.install("ruff>=0.9")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session):
    """Check the types of the package."""
    session.install("-e", ".[dev]")
    session.run("mypy", *session.posargs)


@nox.session
def docs(session):
    """Build the pages into build/site."""
    session.install("-e", ".[docs]")
    session.run("sphinx-build", "-W", "-c", "docs", ".", "build/site", *session.posargs)


@nox.session
def wheel(session):
    """Build the source distribution, and a wheel from it, into dist."""
    session.install("build", "twine")
    session.run("python", "-m", "build", *session.posargs)
    session.run("twine", "check", "--strict", "dist/*")
