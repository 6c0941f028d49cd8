"""A plugin of pytest that writes what happens to each test: a line ``{"test", "seconds"}`` where it
starts (without seconds), passes, or fails ("failed": true).
"""

import json
import os
import time

begun = {}


def note(**facts):
    """Append a line to the file that ``SGMC_WATCHED`` names."""
    with open(os.environ["SGMC_WATCHED"], "a") as file:
        print(json.dumps(facts), file=file)


def pytest_runtest_logstart(nodeid):
    """Note which test runs, for a session that is killed."""
    begun[nodeid] = time.process_time()
    note(test=nodeid)


def pytest_runtest_logreport(report):
    """Note the CPU seconds of a test, and whether it failed."""
    if report.failed or report.when == "teardown":
        seconds = round(time.process_time() - begun[report.nodeid], 2)
        note(test=report.nodeid, seconds=seconds, failed=report.failed)


def pytest_collectreport(report):
    """Note a file that cannot be imported as a test that fails."""
    if report.failed:
        note(test=report.nodeid, seconds=0.0, failed=True)
