"""Maximum likelihood by lme4 in R, with a normal law at the coefficients' estimate.  Seconds are
those of the call in R, CPU time as elsewhere.
"""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from problem import Answer

from contestants import NotExpressible

PACKAGES, KIND, LABEL = [], "floor", "lme4"
LENGTHS = [0]
CALLS = {
    "ols": "lmer({formula}, d, REML=FALSE)",
    "logit": "glmer({formula}, d, binomial)",
}
SCRIPT = """
suppressMessages(library(lme4))
d <- read.csv("{path}")
s <- sum(system.time(f <- {call})[1:2])
b <- fixef(f); e <- sqrt(diag(as.matrix(vcov(f))))
cat("[", s, ",[", paste(b, collapse=","), "],[", paste(e, collapse=","), "]]", sep="")
"""


def prepare(problem):
    """Models with group terms, where R has lme4."""
    if not problem.groups or problem.family not in CALLS:
        raise NotExpressible("models with group terms alone are given to it")
    if shutil.which("Rscript") is None:
        raise NotExpressible("Rscript is not installed")
    call = CALLS[problem.family].format(formula=problem.formula)

    def run(length, seed):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.csv"
            problem.frame.to_csv(path, index=False)
            script = SCRIPT.format(path=path, call=call)
            done = subprocess.run(["Rscript", "-e", script], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr.strip().splitlines()[-1])
        seconds, mean, sd = json.loads(done.stdout)
        run.seconds = seconds
        return Answer(problem.coefficients, np.array(mean), np.array(sd))

    return run
