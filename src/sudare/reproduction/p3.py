"""P3, the cost of k-anonymity in dummy records: Examples 2-4, Figures 3-10; what needs data is in p3_retail."""

from __future__ import annotations

import numpy as np

from sudare.cost import (
    best_clusters,
    best_k,
    charts,
    dummies,
    expected_distinct,
    expected_dummies,
    normaliser,
    pr_distinct,
    score,
)
from sudare.examples import catalog
from sudare.reproduction import p3_retail
from sudare.reproduction.item import Item, Page, Row, must_equal, shown

TITLE = "the cost of k-anonymity in dummy records"
FIGURES = (400, 38_000, 2_700)  # n, m, l of Figures 9 and 10


def page(*, full: bool = False) -> Page:
    items = [_examples(), _figures_3_and_4(), _figure_5(), _figure_6(), _figure_7()]
    items += [_figures_8_and_9(), _figure_10()]
    if catalog.folder() is None:
        text = "They need the purchase histories of 400 customers."
        items.append(Item("Table 2, Figures 11-13", text, skipped="SUDARE_DATA is not set"))
        return Page("P3", TITLE, tuple(items), _corrections())
    found, wrong = p3_retail.items(full=full)
    return Page("P3", TITLE, (*items, *found), (*_corrections(), *wrong))


def _examples() -> Item:
    rows = (
        must_equal("Example 2: Pr(2|4) at l = 100, 7(1 - 1/l)/l^2", "6.93e-4", float(pr_distinct(2, 4, 100))),
        must_equal(
            "Example 4: dummy records for three customers in one cluster",
            "2",
            dummies([["Apple"], ["Apple", "Book"], ["Book"]], [[0, 1, 2]]),
        ),
    )
    text = "Both come out; the paper gives the closed form of Example 2, we put l = 100 into it."
    return Item("Examples 2-4, Figures 1, 2", text, rows)


def _figures_3_and_4() -> Item:
    of_values = pr_distinct(np.arange(0, 51), 50, 100)
    of_records = pr_distinct(25, np.arange(0, 200), 100)
    rows = (
        must_equal("largest Pr(y|50), l = 100", ".168", float(of_values.max())),
        must_equal("at y", "40", int(of_values.argmax())),
        must_equal("largest Pr(25|x), l = 100", ".250", float(of_records.max())),
        must_equal("at x", "28", int(of_records.argmax())),
    )
    text = (
        "Every number comes out. Figure 4 is called the distribution of the number of records; it is the chance of "
        "exactly y values at each x, and over x it adds up to l/(l - y), not to one."
    )
    drawn = (("fig-3", charts.distinct_values()), ("fig-4", charts.records_needed()))
    return Item("Figures 3, 4", text, rows, drawn)


def _figure_5() -> Item:
    rows = (must_equal("E[y|100, 100]", "63.40", float(expected_distinct(100, 100))),)
    return Item("Figure 5", "The printed value comes out.", rows, (("fig-5", charts.expected_values()),))


def _figure_6() -> Item:
    rows = (must_equal("E(dm), 400 users", "30,850", float(expected_dummies(400, 10_000, 100, c=20))),)
    text = "With n = 400, m = 10,000, l = 100 and c = 20 the printed cost comes out."
    return Item("Figure 6", text, rows, (("fig-6", charts.cost_against_users()),))


def _figure_7() -> Item:
    records = np.arange(1_000, 200_000)
    cost = expected_dummies(400, records, 1_000, c=20)
    rows = (
        must_equal("largest E(dm), l = 1,000", "324,570", float(cost.max())),
        must_equal("at m", "63,037", int(records[cost.argmax()])),
    )
    text = "The maximum and its place come out: with very many records everybody has everything already."
    return Item("Figure 7", text, rows, (("fig-7", charts.cost_against_records()),))


def _figures_8_and_9() -> Item:
    text = (
        "The figures print no numbers. E(dm) falls as clusters are added and rises with k; the sentence under "
        "Figure 8 says the reverse of the first."
    )
    drawn = (("fig-8", charts.cost_against_clusters()), ("fig-9", charts.paper_cost_against_k()))
    return Item("Figures 8, 9", text, charts=drawn)


def _figure_10() -> Item:
    clusters = best_clusters(*FIGURES)
    rows = (
        must_equal("best number of clusters", "69", clusters),
        must_equal("1/alpha", "1,042,653", 1 / float(normaliser(*FIGURES))),
        must_equal("n/c", "5.80", FIGURES[0] / clusters),
        must_equal("k", "5", FIGURES[0] // clusters),
        Row("k, searched itself", "", str(best_k(*FIGURES)), "beyond the paper"),
    )
    text = (
        "Every number comes out. Rounding n/c = 5.8 down to k = 5 is not the best k: evaluated at floor(n/k) "
        "clusters, k = 6 is better."
    )
    return Item("Figure 10", text, rows, (("fig-10", charts.comprehensive_evaluation()),))


def _corrections() -> tuple[Row, ...]:
    l, n = 100, FIGURES[0]
    paths = (1 / l**2 * (1 - 1 / l)) * (2 / l**2 * (1 - 1 / l)) * (4 / l**2 * (1 - 1 / l))
    over_x = float(pr_distinct(25, np.arange(25, 2_000), l).sum())
    falls = [float(expected_dummies(n, 10_000, 300, c=c)) for c in (20, 40)]
    scores = [float(score(*FIGURES, n // k)) for k in (5, 6)]
    wrong = [
        (
            "P3 Theorem 1: Pr(2|2), l = 100 (the m_i are not negative; positive ones leave an empty sum)",
            "0",
            shown(float(pr_distinct(2, 2, l))),
        ),
        (
            "P3 Example 2: Pr(2|4), l = 100 (the three paths are added, not multiplied)",
            f"{paths:.3g}",
            f"{float(pr_distinct(2, 4, l)):.3g}",
        ),
        ("P3 Figure 4: sum over x of Pr(25|x), l = 100 (no distribution of x)", "1", f"{over_x:.4f}"),
        (
            "P3 section 3.4: E(dm) from c = 20 to c = 40 (n = 400, m = 10,000, l = 300)",
            "rises",
            f"falls from {falls[0]:,.0f} to {falls[1]:,.0f}",
        ),
        (
            "P3 section 3.5: the best k by alpha E(dm) + c/n (less is better)",
            f"5 ({scores[0]:.4f})",
            f"6 ({scores[1]:.4f})",
        ),
    ]
    return tuple(Row(*row, "paper errs") for row in wrong)
