"""The tests are of the installed package: child processes, too, must not find the source tree they are started in."""
import os

os.environ["PYTHONSAFEPATH"] = "1"
