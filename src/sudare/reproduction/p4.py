"""P4, re-identification by Euclidean distance: the worked example, Tables 12-16, Figures 1-4."""

from __future__ import annotations

import numpy as np

from sudare.examples import catalog
from sudare.reproduction import p4_contest, p4_example, p4_figures, p4_single
from sudare.reproduction.item import Item, Page, Row
from sudare.reproduction.p4_printed import TABLE16

TITLE = "re-identification by Euclidean distance"


def page(*, full: bool = False) -> Page:
    """`full` changes nothing: every experiment of P4 is small enough."""
    items = [*p4_example.items(), p4_contest.printed()]
    if catalog.folder() is None:
        text = "They need a table of the shape of the contest's."
        items.append(Item("Tables 12-16, Figures 1-4", text, skipped="SUDARE_DATA is not set"))
        return Page("P4", TITLE, tuple(items), _corrections())
    table = p4_single.contest_table()
    items += p4_single.items(table)
    items += [*p4_contest.submissions(table), *p4_figures.items(table)]
    return Page("P4", TITLE, tuple(items), _corrections())


def _corrections() -> tuple[Row, ...]:
    as_is, shuffled = p4_example.giving_up()
    stable, expected = p4_example.sorting()
    rand = np.array(TABLE16["E1"][0].split(), float)
    without = {
        name: np.delete(np.array(TABLE16[name][0].split(), float), 6).mean() for name in ("E2", "EUC1")
    }
    wrong = [
        (
            "P4 Example 2: EUC1 on Table 4 (guessing row i is a free hit on a file in its original order)",
            f"{as_is:g}",
            f"{shuffled:g} once the rows are shuffled",
        ),
        (
            "P4 section 2.3: E3 on Table 10, where sums tie in pairs (a stable sort keeps the order of the file)",
            f"{stable:g}",
            f"{expected:g}",
        ),
        (
            "P4 section 2.3: rates are shares of the original's records; Table 13, D_h: E3 = 0.067",
            "of 100",
            "6 of the 90 records published",
        ),
        (
            "P4 Table 12: noise on SA worsens U3, a count of rows by QI",
            "slightly",
            "0 in Table 13",
        ),
        (
            "P4 Table 12: deleting records worsens U5, the change of the rows that remain",
            "negative",
            "0 in Table 13",
        ),
        (
            "P4 section 4.6: EUC1 is best on average (Table 16: 0.187 against 0.172 of E2); without D_7",
            "EUC1",
            f"E2: {without['E2']:.3f} against {without['EUC1']:.3f}",
        ),
        (
            "P4 Table 16: standard deviation of the twelve rates of E1 (the average is counted as a thirteenth)",
            TABLE16["E1"][2],
            f"{rand.std():.3f}",
        ),
    ]
    return tuple(Row(*row, "paper errs") for row in wrong)
