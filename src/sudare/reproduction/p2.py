"""P2, randomized addition for l-diversity: Tables 2-4, 6, 7, Figures 1-6."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

import sudare
from sudare.disclosure.diversity import diversity
from sudare.estimate.formulas import (
    expected_mse,
    expected_mse_uniform,
    inverse,
    project,
    squared_error,
)
from sudare.estimate.posterior import PosteriorResult, disclosed_after, posterior
from sudare.examples import catalog
from sudare.reproduction import figures_p2 as figures
from sudare.reproduction import p2_figures
from sudare.reproduction.item import Item, Page, Row, must_equal, shown

if TYPE_CHECKING:
    import pyarrow as pa

TITLE = "randomized addition for l-diversity"
# Table 6: values of OCC and SAL; Table 7: of Adult, in the order of figures_p2.ADULT
TABLE_6 = ("80", "2", "6", "9", "124", "24", "9", "50", "50")
TABLE_7 = ("74", "7", "26741", "16", "16", "7", "14", "6", "5", "2", "121", "97", "96", "41", "2")


def page(*, full: bool = False) -> Page:
    items = [_tables_2_to_4(), p2_figures.figure_1(full)]
    if catalog.folder() is None:
        text = "They need Adult and the census records that stand in for OCC and SAL."
        needs = Item("Tables 6, 7, Figures 2-6", text, skipped="SUDARE_DATA is not set")
        return Page("P2", TITLE, (*items, needs), _corrections())
    adult = figures.complete_adult(sudare.open("adult").to_pyarrow())
    acs = sudare.open("acs2018").to_pyarrow()
    guessed = _guessed(adult)
    items += [
        _table_6(acs),
        _table_7(adult),
        p2_figures.figure_2(acs, full),
        p2_figures.figure_3(acs, full),
        p2_figures.figure_4(acs, full),
        p2_figures.figure_5(adult, full),
        p2_figures.figure_6(adult),
        _posterior(guessed),
    ]
    known = Row(
        "P2 section 1: confidence about a person at most 1/l; Adult, relationship, l = 2, attacker knows sex",
        "0.5",
        f"{guessed.rows[2]['success']:.3f}",
        "paper errs",
    )
    return Page("P2", TITLE, tuple(items), (*_corrections(), known))


def _tables_2_to_4() -> Item:
    import pyarrow as pa

    diseases = ["Fever", "Sty", "Cancer", "HIV", "Chill", "HIV", "Cut", "Cancer"]
    groups = {"Table 2": [1, 1, 2, 2, 3, 3, 4, 4], "Table 3": [1, 2, 3, 4, 3, 4, 1, 2]}
    second, third = (
        diversity(sudare.open(pa.table({"q": q, "d": diseases}), quasi="q", sensitive="d")).rows[0][
            "frequency"
        ]
        for q in groups.values()
    )
    patients = sudare.open(
        "example:patients", identifier="name", quasi=["sex", "age", "address", "job"], sensitive="disease"
    )
    release = sudare.anonymize(patients, sudare.methods.RandomizedAddition(l=2), key=figures.KEY)
    fourth = diversity(release.data).rows[0]["frequency"]
    rows = (
        must_equal("Table 2: l by Def. 2", "2", second),
        Row("Table 3: l by Def. 2", "2", shown(third), "paper errs"),
        must_equal("Table 4, randomized addition of the same patients: l by Def. 2", "2", fourth),
    )
    text = "Tables 2 and 4 are 2-diverse. Table 3 is not: two patients with HIV share a group."
    return Item("Tables 2-4", text, rows)


def _table_6(acs: pa.Table) -> Item:
    names = (*figures.QUASI, "occ50", "inc50")
    rows = tuple(
        Row(f"{name}: distinct values", printed, str(len(acs[name].unique())), "data not public")
        for name, printed in zip(names, TABLE_6)
    )
    text = (
        "OCC and SAL may not be passed on. acs2018 (US census, 2018) has the same columns and nearly as many values "
        "in each, and stands in for both: occ50 for occupation, inc50 for income."
    )
    return Item("Table 6", text, rows)


def _table_7(adult: pa.Table) -> Item:
    rows = [must_equal("records", "45,222", adult.num_rows)]
    rows += [
        must_equal(f"{name}: distinct values", printed, len(adult[name].unique()))
        for name, printed in zip(figures.ADULT, TABLE_7)
    ]
    return Item("Table 7", "All counts come out.", tuple(rows))


def _guessed(adult: pa.Table) -> PosteriorResult:
    table = adult.select(["sex", "age", "relationship"])
    ds = sudare.open(table, quasi=["sex", "age"], sensitive="relationship")
    release = sudare.anonymize(ds, sudare.methods.RandomizedAddition(l=2), key=figures.KEY)
    return posterior(release, ds, given="sex")


def _posterior(found: PosteriorResult) -> Item:
    words = ("nothing", "the overall distribution", "the distribution given sex")
    rows = tuple(
        Row(f"attacker knows {what}: right guesses", "at most 0.5", f"{r['success']:.3f}", "beyond the paper")
        for what, r in zip(words, found.rows)
    )
    text = (
        "Adult's relationship with l = 2. Def. 2 bounds shares within the published sets. What an attacker believes "
        "depends on what else is known: whoever knows how common the values are guesses far better than 1/l."
    )
    return Item("What 1/l does not promise", text, rows, (("posterior", found.chart()),))


def _corrections() -> tuple[Row, ...]:
    negative, plain, projected = _negative_cells()
    wrong = [
        (
            "P2 Eq. (19) as the expected error of Eq. (2), N = 1000, |S| = 20, l = 2 (it adds the error of drawing "
            "the records from a uniform population)",
            f"{expected_mse_uniform(1000, 20, 2):.3e}",
            f"{expected_mse(1000, 20, 2):.3e}",
        ),
        ("P2 Table 3: l by Def. 2", "2", "1"),
        (
            "P2 section 5.4.1: l = |S| anonymizes; what its sets tell (1 - P_E)",
            "something",
            "0: all are equal",
        ),
        (
            "P2 section 5.2: the solution is a maximum likelihood estimate; negative counts among 50 "
            "(N = 1000, Poisson, l = 10)",
            "0",
            str(negative),
        ),
    ]
    more = [
        ("P2 the same estimate projected on possible counts: MSE", f"{plain:.2e}", f"{projected:.2e}"),
        *(
            (
                f"P2 share of values that {words} releases with fresh randomness disclose, |S| = 50, l = 10",
                "0",
                f"{disclosed_after(50, 10, releases):.2f}",
            )
            for words, releases in (("three", 3), ("five", 5))
        ),
        (
            "P2 Eq. (20) in floating point, |A| = 10, s = 0.001, qd = 2 (the exact value is 1)",
            str(math.ceil(10 * 0.001 ** (1 / 3))),
            "1",
        ),
    ]
    return (*(Row(*row, "paper errs") for row in wrong), *(Row(*row, "beyond the paper") for row in more))


def _negative_cells() -> tuple[int, float, float]:
    """Of one simulated category: negative counts of the plain solution, its MSE, and that of the projection."""
    from sudare.engine.kernels.estimate import count_members
    from sudare.engine.kernels.randomized import draw_sets, words_needed

    rng, records, size, l = np.random.default_rng(0), 1000, 50, 10
    truth = np.clip(rng.poisson(size / 4, records), 0, size - 1).astype(np.int64)
    words = rng.integers(0, 2**64, (records, words_needed(size, l)), dtype=np.uint64)
    members = count_members(draw_sets(truth, words, size, l), np.zeros(records, np.int64), 1, size)
    n, true = np.array([records]), np.bincount(truth, minlength=size)[None]
    found = inverse(members, n, l)
    plain, projected = (float(squared_error(cells, true, n)[0]) for cells in (found, project(found, n)))
    return int((found < 0).sum()), plain, projected
