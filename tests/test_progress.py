"""Progress is shown when work takes a while, and nowhere else."""

from __future__ import annotations

import io
import re
import time

from sudare import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_sees_the_stage_after_a_while_and_a_clean_line_at_the_end() -> None:
    stream = Terminal()
    with progress.shown(stream, first=0.05):
        progress.stage("attack euclid", 3, 9)
        time.sleep(0.5)
    assert "attack euclid (3/9)" in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[2K")


def test_a_log_gets_whole_lines_and_few_of_them() -> None:
    stream = io.StringIO()
    with progress.shown(stream, first=0.05):
        progress.stage("reading rows", 1, 2)
        time.sleep(0.5)
    assert re.fullmatch(r"reading rows \(1/2\) \.\.\. \d+ s\n", stream.getvalue())


def test_short_work_and_other_streams_stay_silent() -> None:
    for stream in (Terminal(), io.StringIO()):
        with progress.shown(stream):
            pass
        assert stream.getvalue() == ""


def test_a_stage_says_how_much_of_it_is_done() -> None:
    progress.stage("reading rows", 500_000, 2_000_000)
    assert progress.current() == "reading rows (500,000/2,000,000)"
    assert progress.part() == 0.25
    progress.stage("ordering rows")
    assert progress.part() == 0
