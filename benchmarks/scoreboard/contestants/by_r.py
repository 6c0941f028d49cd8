"""Estimates in R, with a normal law at each.  Seconds are those of the call in R, CPU time as
elsewhere: start-up of R and the reading of tables are not in them.
"""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from problem import Answer

from contestants import NotExpressible

SCRIPT = """
suppressMessages(library({package}))
d <- read.csv("{path}")
{before}
s <- sum(system.time(f <- {call})[1:2])
{after}
cat("[", s, ",[", paste(b, collapse=","), "],[", paste(e, collapse=","), "]]", sep="")
"""


def runner(problem, names, **parts):
    """What runs a call in R; `parts` are those of `SCRIPT`, which leaves estimates b and standard
    errors e of the names.
    """
    if shutil.which("Rscript") is None:
        raise NotExpressible("Rscript is not installed")

    def run(length, seed):
        with tempfile.TemporaryDirectory() as folder:
            path, script = Path(folder) / "table.csv", Path(folder) / "script.R"
            problem.frame.to_csv(path, index=False)
            script.write_text(SCRIPT.format(path=path, **{"before": ""} | parts))
            done = subprocess.run(["Rscript", str(script)], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr.strip().splitlines()[-1])
        run.seconds, mean, sd = json.loads(done.stdout)
        return Answer(names, np.array(mean), np.array(sd))

    return run
