"""The scorecard of `make faults`: one line per fault, and how many of them are withstood."""

from __future__ import annotations

from collections import defaultdict

import pytest

ALL = 100
_told: dict[int, str] = {}
_outcomes: dict[int, set[str]] = defaultdict(set)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):  # type: ignore[no-untyped-def]
    report = (yield).get_result()
    for mark in item.iter_markers("fault"):
        report.user_properties.append(("fault", mark.args))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    for name, value in report.user_properties:
        if name == "fault" and (report.when == "call" or report.outcome != "passed"):
            number, what = value
            _told[number] = what
            _outcomes[number].add(report.outcome)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    held = 0
    for number in range(1, ALL + 1):
        outcomes = _outcomes.get(number, {"no test"})
        held += outcomes == {"passed"}
        terminalreporter.write_line(f"{number:>3}  {'/'.join(sorted(outcomes)):8}  {_told.get(number, '')}")
    terminalreporter.write_line(f"{held} of {ALL}")
