"""Children of the test's process: what they send, how they end, and how they are ended."""

import os
import pickle
import select
import signal
import sys
import time

import numpy as np
import pandas as pd
import pytest

import sgmc

PATIENCE = 120.0  # seconds; a child that takes longer hangs
forking = pytest.mark.skipif(sys.platform != "linux", reason="forks safely on Linux only")
N = 300


def frame(n=N, seed=5):
    """A small table with a factor."""
    rng = np.random.default_rng(seed)
    made = pd.DataFrame({"x": rng.normal(size=n), "g": rng.choice(list("abc"), n)})
    return made.assign(y=(rng.random(n) < 1 / (1 + np.exp(0.5 - made.x))).astype(int))


def fit(draws=60, **how):
    """A short fit of it."""
    return sgmc.logit("y ~ x + g", frame(), **{"draws": draws, "seed": 3, "chains": 2, **how})


class Hung(AssertionError):
    """A child that does not end."""


class Crashed(AssertionError):
    """A child that ended without a word."""


class Child:
    """A forked process that runs `action` and sends what it returns, or the error that it raises.

    Parameters
    ----------
    action : function
    """

    def __init__(self, action):
        self.end, there = os.pipe()
        self.number = os.fork()
        if self.number == 0:
            code = 1
            try:
                os.close(self.end)
                with open(os.devnull, "w") as nowhere:
                    os.dup2(nowhere.fileno(), 2)
                try:
                    found = action()
                except BaseException as error:  # SystemExit and KeyboardInterrupt are answers, too
                    found = Raised(type(error).__name__, str(error), isinstance_of(error))
                with open(there, "wb") as pipe:
                    pickle.dump(found, pipe)
                code = 0
            finally:
                os._exit(code)
        os.close(there)

    def signal(self, number):
        """Send it a signal; it may have ended before."""
        try:
            os.kill(self.number, number)
        except ProcessLookupError:
            pass

    def kill(self):
        """End it as a power cut would; its exit status."""
        self.signal(signal.SIGKILL)
        os.close(self.end)
        return os.waitstatus_to_exitcode(os.waitpid(self.number, 0)[1])

    def done(self, seconds=PATIENCE):
        """What it sent; `Hung` where it hangs, `Crashed` where it ended without a word."""
        content, until = b"", time.monotonic() + seconds
        while True:
            ready = select.select([self.end], [], [], max(until - time.monotonic(), 0))[0]
            if not ready:
                self.kill()
                raise Hung(f"the child hangs: no end within {seconds} s")
            piece = os.read(self.end, 1 << 16)
            if not piece:
                break
            content += piece
        os.close(self.end)
        code = os.waitstatus_to_exitcode(os.waitpid(self.number, 0)[1])
        if code or not content:
            raise Crashed(f"the child ended with {code}, and sent nothing")
        return pickle.loads(content)


class Raised:
    """An error of a child: its class, its words, and the names of the classes that it is of."""

    def __init__(self, kind, words, classes):
        self.kind, self.words, self.classes = kind, words, classes

    def __repr__(self):
        return f"{self.kind}: {self.words}"


def isinstance_of(error):
    """Names of an error's classes."""
    return [one.__name__ for one in type(error).__mro__]


def of(found, *names):
    """Whether a child sent an error of one of these classes."""
    return isinstance(found, Raised) and any(name in found.classes for name in names)
