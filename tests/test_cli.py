"""The command line, as a process: ``python -m sgmc``."""

import json
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.registry import room


def run(*arguments, **how):
    """Run the command line to its end."""
    return subprocess.run(
        [sys.executable, "-m", "sgmc", *arguments],
        text=True,
        capture_output=True,
        timeout=60,
        **how,
    )


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    df = pd.DataFrame(rng.normal(size=(800, 2)), columns=["x1", "my var"])
    return df.assign(y=np.where(rng.random(800) < 1 / (1 + np.exp(-df.x1)), "yes", "no"))


@pytest.fixture(scope="module", params=["table.csv", "table.csv.gz"])
def path(request, table, tmp_path_factory):
    """The table as a file."""
    file = tmp_path_factory.mktemp("cli") / request.param
    table.to_csv(file, index=False)
    return str(file)


@pytest.mark.cover(0)
def test_fit_of_a_file_prints_the_summary(path, table):
    done = run("fit", "y ~ .", path, "--seed", "4", "--draws", "900")
    assert done.returncode == 0 and done.stderr == ""
    expected = sgmc.logit("y ~ .", table, seed=4, draws=900)
    shown = lambda text: [line for line in text.strip().split("\n") if "Seconds" not in line]
    assert shown(done.stdout) == shown(str(expected.summary()))
    more = run("fit", "y ~ .", path, "--seed", "4", "--draws", "900", "--details")
    assert "KSD (scores)" in more.stdout and "KSD (scores)" not in done.stdout


@pytest.mark.extended
def test_json(path, table):
    done = run(
        "fit",
        "y ~ x1 + `my var`",
        path,
        "--seed",
        "4",
        "--json",
        "--sampler",
        "sgld-cv",
        "--chains",
        "2",
        "--draws",
        "1500",
    )
    found = json.loads(done.stdout)
    expected = sgmc.logit(
        "y ~ x1 + `my var`", table, seed=4, sampler="sgld-cv", chains=2, draws=1500
    )
    assert done.returncode == 0
    pd.testing.assert_frame_equal(
        pd.DataFrame(found["coefficients"]).T,
        expected.summary_frame(),
        check_exact=False,
        rtol=1e-12,
    )
    assert found["seed"] == 4
    assert found["interrupted"] == ""
    assert found["warnings"] == []
    assert found["tuning"] is None
    assert found["facts"]["Sampler"] == "sgld-cv" and found["facts"]["No. Observations"] == 800


@pytest.mark.extended
def test_json_repeats_the_warnings(path):
    done = run("fit", "y ~ x1", path, "--seed", "4", "--json", "--draws", "40")
    found = json.loads(done.stdout)
    codes = {w["code"]: w for w in found["warnings"]}
    assert found["verdict"]["trustworthy"] is False and found["verdict"]["error"] is None
    assert done.returncode == 0 and done.stderr == ""
    assert "draws=" in codes["LowESSWarning"]["advice"]


@pytest.mark.extended
def test_several_files(table, tmp_path):
    """A pattern, a list, the standard input, and a prepared file have the same rows."""
    for k in range(2):
        table[k::2].to_csv(tmp_path / f"part-{k}.csv", index=False)
    coefficients, pattern = [], str(tmp_path / "*.csv")
    for data in ([pattern], [str(tmp_path / f"part-{k}.csv") for k in range(2)], [str(tmp_path)]):
        done = run("fit", "y ~ x1", *data, "--seed", "4", "--json")
        coefficients.append(json.loads(done.stdout)["coefficients"])
    rows = pd.concat([table[0::2], table[1::2]]).to_csv(index=False)
    for text in (rows, rows.replace(",", "\t")):
        done = run("fit", "y ~ x1", "-", "--seed", "4", "--json", input=text)
        coefficients.append(json.loads(done.stdout)["coefficients"])
    assert all(one == coefficients[0] for one in coefficients)
    made = run("prepare", "y ~ x1", pattern, str(tmp_path / "table.sgmc"), "--seed", "3")
    assert made.returncode == 0 and made.stderr == "" and re.search("rows +800\n", made.stdout)
    done = run("fit", "y ~ x1", str(tmp_path / "table.sgmc"), "--seed", "4", "--json")
    assert json.loads(done.stdout)["facts"]["No. Observations"] == 800


@pytest.mark.extended
def test_prepare_replaces_no_data(table, tmp_path):
    """A pattern that the shell has filled in has a file of data in the place of the path."""
    paths = [str(tmp_path / f"part-{k}.csv") for k in range(2)]
    for path in paths:
        table.to_csv(path, index=False)
    done = run("prepare", "y ~ x1", *paths)
    assert (
        done.returncode == 2 and "a new file, or one that sgmc.prepare has written" in done.stderr
    )
    assert len(pd.read_csv(paths[1])) == 800


@pytest.mark.extended
def test_data_sets_by_name():
    done = run("fit", "affairs > 0 ~ age + children + religious", "dataset:fair", "--seed", "1")
    assert done.returncode == 0 and re.search(r"Rows: +6,366\b", done.stdout)
    assert "religious" in done.stdout and "Success is" in done.stdout


@pytest.mark.extended
def test_samplers_are_listed():
    done = run("samplers")
    assert done.returncode == 0
    listed = [
        line.split(":")[0] for line in done.stdout.split("\n") if line and not line.startswith(" ")
    ]
    assert listed == [*sorted(room("samplers")), "gradients", "subsampling"]
    for kind in ("gradients", "subsampling"):
        assert f"{kind}: " + ", ".join(sorted(room(kind))) in done.stdout
    assert "target_accept = 0.574  (0 .. 1)" in done.stdout
    # the whole of a summary that takes two lines
    assert "BAOAB splitting, with stochastic gradients (Leimkuhler & Matthews 2013)." in done.stdout


@pytest.mark.extended
def test_families_are_listed():
    done = run("families")
    assert done.returncode == 0 and max(map(len, done.stdout.split("\n"))) <= 78
    text = " ".join(done.stdout.split())
    listed = re.findall(r"^(\w+): ", done.stdout, re.M)
    assert listed == sorted(room("families"))
    assert "poisson: Bayesian Poisson regression of counts: E[y] = " in text
    assert all(f"Outcomes: {cls.family.accepts}." in text for cls in room("families").values())


@pytest.mark.extended
@pytest.mark.parametrize(
    "arguments, text",
    [
        (["y ~ .", "dataset:fiar"], "No data set is called 'fiar'; did you mean 'fair'?"),
        (["y ~ .", "/nowhere/table.csv"], "/nowhere/table.csv"),
        (["y ~ .", "table.xlsx"], "there is no such file or folder"),
        (["y ~ .", "none/*.csv"], "matches no file"),
        (["y ~ .", "{path}", "{path}"], "is there twice"),
        (["y ~ (x1", "{path}"], "y ~ (x1"),
        (["y ~ x2", "{path}"], "x2"),
        (["z ~ x1", "{path}"], "z"),
        (["y ~ x1", "{path}", "--sampler", "sgdl"], "did you mean 'sgld'?"),
        (
            ["y ~ x1", "{path}", "--gradient", "tailor"],
            "gradient='tailor' is not known; did you mean 'taylor'?",
        ),
        (
            ["y ~ x1", "{path}", "--model", "logti"],
            "--model 'logti' is not known; did you mean 'logit'?",
        ),
        (["y ~ x1", "{path}", "--model", "verb"], "--model 'verb' is not known"),
        (["y ~ x1", "{path}", "--model", "Logit"], "--model 'Logit' is not known"),
        (["y ~ x1", "{path}", "--draws", "0"], "draws=0 must be a whole number, at least 1"),
        (
            ["y ~ x1", "{path}", "--batch-size", "801", "--sampler", "sgld"],
            "batch_size=801 exceeds the 800 rows",
        ),
        (["y ~ x1", "{path}", "--step-size", "-1"], "step_size=-1.0"),
        (
            ["y ~ x1", "{path}", "--tune", "mambo"],
            (
                "tune='mambo' must be one of 'mamba', 'grid', 'default', 'heuristic', or what "
                "sgmc.tune returned; did you mean 'mamba'?"
            ),
        ),
        (["x1 ~ y", "{path}"], "x1"),
        (["y ~ x1", "{empty}"], "empty"),
        (["y ~ x1", "{binary}"], "{binary}"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_errors_are_one_line(arguments, text, table, tmp_path):
    places = {name: str(tmp_path / f"{name}.csv") for name in ("path", "empty", "binary")}
    table.to_csv(places["path"], index=False)
    (tmp_path / "empty.csv").touch()
    (tmp_path / "binary.csv").write_bytes(bytes(range(128, 256)) * 9)
    done = run("fit", *[a.format(**places) for a in arguments])
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("sgmc: ") and done.stderr.count("\n") == 1
    assert text.format(**places) in done.stderr


@pytest.mark.cover(0)
@pytest.mark.parametrize(
    "arguments",
    [["fit"], ["fit", "y ~ x"], ["fti"], ["fit", "y ~ x", "a.csv", "--draws", "many"]],
    ids=str,
)
def test_wrong_usage_is_one_line(arguments):
    done = run(*arguments)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("sgmc")
    assert "--help" in done.stderr
    assert done.stderr.count("\n") == 1


TELLING = """
import sys, sgmc.api.cli as cli
from sgmc.fit import chains
chunk, told = chains.ChainTask.chunk, []
def telling(task):
    done = chunk(task)
    if task.k == 0 and task.chain.recorder.kept > 20 and not told:
        told.append(print("ready", file=sys.stderr, flush=True))
    return done
chains.ChainTask.chunk = telling
sys.exit(cli.main(sys.argv[1:]))
"""

# what a run of more than 10 seconds says of itself; the one of the test below takes long
FORECAST = re.compile(
    r"sgmc: mala with 20,000 rows, 4 chains x [\d,]+ steps of 20,000 rows: about "
    r"[\d,.]+ (minutes|hours|days)\n"
)


@pytest.mark.extended
@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_ctrl_c_prints_what_there_is(as_json, tmp_path):
    rng = np.random.default_rng(0)
    df = (
        pd.DataFrame(rng.normal(size=(20_000, 8)))
        .add_prefix("x")
        .assign(y=rng.integers(0, 2, 20_000))
    )
    df.to_csv(tmp_path / "big.csv", index=False)
    # 2 million draws of 9 coefficients in 4 chains are 0.5 GB, and take 20,000 rows x 2e6 steps
    # x 4: hours
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            TELLING,
            "fit",
            "y ~ .",
            str(tmp_path / "big.csv"),
            "--sampler",
            "mala",
            "--draws",
            "2000000",
            "--seed",
            "1",
            *["--json"] * as_json,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        # some draws are there, however busy the machine is
        line = process.stderr.readline()
        forecast = FORECAST.fullmatch(line)
        assert (process.stderr.readline() if forecast else line) == "ready\n"
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)  # of hours
    finally:
        process.kill()
    assert process.returncode == 130
    assert err == "" or (forecast is None and FORECAST.fullmatch(err))  # said once
    if as_json:
        found = json.loads(out)
        assert found["interrupted"] == "Ctrl-C" and len(found["coefficients"]) == 9
        assert "InterruptedWarning" in {w["code"] for w in found["warnings"]}
    else:
        assert "Logit Posterior Summary" in out and "[InterruptedWarning]" in out and "x7" in out


@pytest.mark.extended
def test_a_robust_fit_has_both_sds():
    done = run(
        "fit", "affairs > 0 ~ .", "dataset:fair", "--seed", "4", "--json", "--cov-type", "robust"
    )
    found = json.loads(done.stdout)
    assert found["facts"]["Covariance"] == "robust (sandwich)"
    assert all(row["sd"] > 0 and row["sd_nonrobust"] > 0 for row in found["coefficients"].values())
    assert (
        "cov_type='HC2' must be"
        in run("fit", "affairs > 0 ~ .", "dataset:fair", "--cov-type", "HC2").stderr
    )


# the chosen step is long, and the fit short
@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_a_fit_that_tunes_says_what_was_chosen(table, tmp_path):
    """The summary of the verb, and below it the race's line; in JSON the arm."""
    path = str(tmp_path / "table.csv")
    table.to_csv(path, index=False)
    fit = (
        "fit",
        "y ~ x1",
        path,
        "--seed",
        "4",
        "--sampler",
        "sgld",
        "--draws",
        "300",
        "--tune",
        "mamba",
        "--details",
    )
    printed, found = run(*fit), json.loads(run(*fit, "--json").stdout)
    expected = sgmc.logit("y ~ x1", table, seed=4, sampler="sgld", draws=300, tune="mamba")
    assert printed.returncode == 0 and printed.stderr == "" and "(tuned)" in printed.stdout
    assert " ".join(printed.stdout.split()).endswith(f"Tuning: {expected.tuning}")
    assert max(map(len, printed.stdout.split("\n"))) <= 78
    chosen, best = found["tuning"], expected.tuning.best
    assert (chosen["step_size"], chosen["batch_size"]) == (best["step_size"], best["batch_size"])
    assert chosen["method"] == "mamba"
    assert chosen["arms"] == len(expected.tuning.arms)
    assert chosen["arm"] == expected.tuning.winner
    pd.testing.assert_frame_equal(
        pd.DataFrame(found["coefficients"]).T,
        expected.summary_frame(),
        check_exact=False,
        rtol=1e-12,
    )


@pytest.mark.extended
def test_a_checkpoint_goes_on(tmp_path):
    fit = ("fit", "affairs > 0 ~ .", "dataset:fair", "--seed", "4", "--json", "--draws")
    run(*fit, "40", "--checkpoint", str(tmp_path / "run"))
    assert (tmp_path / "run").read_bytes().startswith(b"sgmc checkpoint")
    resumed, whole = (
        run(*fit, "90", *more) for more in (("--checkpoint", str(tmp_path / "run")), ())
    )
    assert json.loads(resumed.stdout)["coefficients"] == json.loads(whole.stdout)["coefficients"]


@pytest.mark.extended
def test_ctrl_c_before_the_first_draw(tmp_path):
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys, time, sgmc.api.cli as cli\n"
            "def slow(*a): print('ready', flush=True); time.sleep(600)\n"
            "cli.read = slow\nsys.exit(cli.main(['fit', 'y ~ x', 'a.csv']))",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130 and err == "sgmc: interrupted before the first draw\n"


@pytest.mark.extended
@pytest.mark.skipif(os.name == "nt", reason="pipes of a POSIX shell")
def test_a_closed_pipe_is_quiet():
    done = subprocess.run(
        f"{sys.executable} -m sgmc samplers | head -1",
        shell=True,
        text=True,
        capture_output=True,
        timeout=60,
    )
    assert done.stdout.count("\n") == 1 and "Traceback" not in done.stderr
