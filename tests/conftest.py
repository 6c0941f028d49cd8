"""The tests are of the installed package: child processes, too, must not find the source tree they are started in."""
import os

os.environ["PYTHONSAFEPATH"] = "1"


def pytest_addoption(parser):
    """``--mistakes``: a table of the planted mistakes by sampler after the tests."""
    parser.addoption("--mistakes", action="store_true", help="print which planted mistakes were caught in which sampler")


def pytest_collection_modifyitems(items):
    """Give the reports of tests of planted mistakes their row and column of the table."""
    for item in items:
        mark = item.get_closest_marker("mistake")
        if mark:
            params = item.callspec.params
            item.user_properties.append(("mistake", (mark.args[0].format(**params), params["name"].split("-")[0])))


def pytest_terminal_summary(terminalreporter, config):
    """The table: variants of each sampler in which the mistake was caught, of those in which it was planted."""
    if not config.getoption("--mistakes"):
        return
    reports = {True: terminalreporter.getreports("passed"), False: terminalreporter.getreports("failed")}
    found = [(*dict(report.user_properties)["mistake"], caught) for caught, some in reports.items() for report in some
             if "mistake" in dict(report.user_properties)]
    samplers, write = sorted({sampler for _, sampler, _ in found}), terminalreporter.write_line
    write(f"{'planted mistake':<36}" + "".join(f"{sampler:>9}" for sampler in samplers))
    for label in sorted({label for label, *_ in found}):
        cells = [[caught for other, column, caught in found if (other, column) == (label, sampler)] for sampler in samplers]
        write(f"{label:<36}" + "".join(f"{f'{sum(cell)}/{len(cell)}' if cell else '-':>9}" for cell in cells))
    missed = sum(not caught for *_, caught in found)
    write(f"{len(found)} planted mistakes (each variant of a sampler by itself), {len(found) - missed} caught, {missed} missed")
