"""The figures of P2, computed again: rows of numbers and their chart, from public data.

OCC and SAL cannot be redistributed; `acs2018` has the same columns (`occ50`, `inc50` are the sensitive ones).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sudare.data import Dataset, Roles
from sudare.data.release import Release
from sudare.disclosure.diversity import largest_l
from sudare.errors import UsageError
from sudare.estimate.formulas import expected_mse, expected_mse_uniform, inverse, squared_error
from sudare.estimate.measure import estimate
from sudare.estimate.workload import workload
from sudare.keys import Key
from sudare.methods.plugins.anatomy import Anatomy
from sudare.methods.plugins.randomized import RandomizedAddition
from sudare.methods.plugins.tp import TP
from sudare.methods.recipe import anonymize
from sudare.results import Result

if TYPE_CHECKING:
    import altair
    import pyarrow as pa

KEY = Key.demo(2)
METHODS = {"randomized addition": RandomizedAddition, "anatomy": Anatomy, "TP": TP}
QUASI = ("age", "gender", "marital", "race", "birthplace", "education", "workclass")
ADULT = (
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex "
    "capital-gain capital-loss hours-per-week native-country income"
).split()


@dataclass(frozen=True, repr=False)
class Figure(Result):
    """The rows of a figure: mse (and median) per method against `x`, in panels."""

    command: ClassVar[str] = "reproduce"

    title: str = ""
    x: str = "l"
    x_title: str = ""

    def extra(self) -> dict[str, Any]:
        return {"title": self.title}

    def chart(self) -> altair.Chart:
        from sudare.estimate.charts import lines_chart, shares_chart

        if "share" in self.columns:
            return shares_chart(self.rows, self.title)
        panel = "panel" if "panel" in self.columns else None
        shown = [row for row in self.rows if row["mse"] is not None and row["mse"] > 0]
        return lines_chart(shown, self.x, self.title, self.x_title or self.x, panel)


def figure_1(runs: int = 20, seed: int = 0) -> Figure:
    """MSE against |S|, l and N: the formulas, and simulations of three distributions."""
    settings = (
        [("|S| (N = 1000, l = 5)", s, s, 5, 1000) for s in (10, 20, 40, 60, 80, 100)]
        + [("l (N = 1000, |S| = 20)", l, 20, l, 1000) for l in range(2, 19, 4)]
        + [("l (N = 1000, |S| = 100)", l, 100, l, 1000) for l in range(2, 19, 4)]
        + [("N (l = 5, |S| = 20)", n, 20, 5, n) for n in (200, 500, 1000, 2000, 5000)]
    )
    rng, rows = np.random.default_rng(seed), []
    for panel, x, size, l, records in settings:
        head = {"panel": panel, "x": x}
        rows.append({**head, "method": "Eq. (19)", "mse": expected_mse_uniform(records, size, l)})
        rows.append({**head, "method": "exact", "mse": expected_mse(records, size, l)})
        rows += [
            {**head, "method": kind, "mse": simulated_mse(kind, records, size, l, runs, rng)}
            for kind in ("uniform", "gaussian", "poisson")
        ]
    return Figure(tuple(rows), (), "P2, Fig. 1: MSE of the estimate by size of domain, l and records", "x")


def simulated_mse(kind: str, records: int, size: int, l: int, runs: int, rng: np.random.Generator) -> float:
    """The mean MSE of the inverse over some runs on one distribution."""
    from sudare.engine.kernels.estimate import count_members
    from sudare.engine.kernels.randomized import draw_sets, words_needed

    drawn = {
        "uniform": rng.integers(0, size, records),
        "gaussian": rng.normal(size / 2, size / 6, records),
        "poisson": rng.poisson(size / 4, records),
    }
    truth = np.clip(drawn[kind], 0, size - 1).astype(np.int64)
    true, n = np.bincount(truth, minlength=size)[None], np.array([records])
    errors = []
    for _ in range(runs):
        words = rng.integers(0, 2**64, (records, words_needed(size, l)), dtype=np.uint64)
        sets = draw_sets(truth, words, size, l)
        members = count_members(sets, np.zeros(records, np.int64), 1, size)
        errors.append(squared_error(inverse(members, n, l), true, n)[0])
    return float(np.mean(errors))


def figure_2(
    acs: pa.Table,
    sensitive: Sequence[str] = ("occ50", "inc50"),
    columns: Sequence[int] = (3, 5, 7),
    queries: int = 1000,
) -> Figure:
    """MSE against the query dimensionality, for 3, 5 and 7 quasi-identifiers (l = 10, s = 0.07)."""
    rows = []
    for name in sensitive:
        for d in columns:
            dataset = census(acs, name, d)
            releases = publish(dataset, 10)
            for qd in range(1, d):
                head = {"panel": f"{name}, d = {d}", "x": qd}
                rows += _queried(dataset, releases, head, dimensions=qd, queries=queries)
    return Figure(
        tuple(rows), (), "P2, Fig. 2: MSE by query dimensionality", "x", "quasi-identifiers in a query"
    )


def figure_3(
    acs: pa.Table,
    sensitive: Sequence[str] = ("occ50", "inc50"),
    ls: Sequence[int] = (5, 7, 10, 12, 15),
    queries: int = 1000,
    d: int = 5,
) -> Figure:
    """MSE against l (s = 0.07, qd = 3)."""
    rows = []
    for name in sensitive:
        dataset = census(acs, name, d)
        for l in ls:
            head = {"panel": name, "x": l}
            rows += _queried(dataset, publish(dataset, l), head, dimensions=3, queries=queries)
    return Figure(tuple(rows), (), "P2, Fig. 3: MSE by l", "x", "l")


def figure_4(
    acs: pa.Table,
    sensitive: Sequence[str] = ("occ50", "inc50"),
    selectivities: Sequence[float] = (0.04, 0.055, 0.07, 0.085, 0.1),
    queries: int = 1000,
    d: int = 5,
) -> Figure:
    """MSE against the expected selectivity (l = 10, qd = 3)."""
    rows = []
    for name in sensitive:
        dataset = census(acs, name, d)
        releases = publish(dataset, 10)
        for s in selectivities:
            head = {"panel": name, "x": s}
            rows += _queried(dataset, releases, head, dimensions=3, selectivity=s, queries=queries)
    return Figure(tuple(rows), (), "P2, Fig. 4: MSE by selectivity", "x", "expected selectivity s")


def figure_5(
    adult: pa.Table, sensitive: Sequence[str] = ADULT, ls: Sequence[int] = range(2, 11), queries: int = 1000
) -> Figure:
    """Every column of Adult in turn as the sensitive one: how often a method applies, and its mean MSE."""
    rows = []
    for l in ls:
        found: dict[str, dict[str, tuple[float, float]]] = {name: {} for name in METHODS}
        for column in sensitive:
            dataset = variant(adult, column)
            for row in _queried(dataset, publish(dataset, l), {}, dimensions=3, queries=queries):
                found[row["method"]][column] = (row["mse"], row["median"])
        common = set.intersection(*(set(errors) for errors in found.values()))
        for name, errors in found.items():
            mean, median = np.mean(list(errors.values()), axis=0) if errors else (None, None)
            fair = float(np.mean([errors[c][0] for c in common])) if common else None
            done = len(errors) / len(sensitive)
            head = {"x": l, "method": name, "success": done}
            rows.append({**head, "mse": mean, "median": median, "mse_common": fair})
    note = "mse_common: only the tables that every method can publish"
    return Figure(tuple(rows), (note,), "P2, Fig. 5: the 15 Adult tables", "x", "l")


def figure_6(adult: pa.Table, l: int = 2) -> Figure:
    """Relationship by sex: the true shares and what each release says."""
    table = adult.select(ADULT)
    roles = Roles.of(quasi=[c for c in ADULT if c != "relationship"], sensitive="relationship")
    dataset = Dataset.from_arrow(table, roles, name="adult")
    truth = table.group_by(["sex", "relationship"]).aggregate([([], "count_all")]).to_pylist()
    sizes = {s: sum(r["count_all"] for r in truth if r["sex"] == s) for s in ("Female", "Male")}
    true = {(r["sex"], r["relationship"]): r["count_all"] / sizes[r["sex"]] for r in truth}
    rows = []
    for name, release in publish(dataset, l).items():
        for row in _shares(release, true):
            error = (row["share"] - row["true"]) ** 2
            rows.append({**row, "method": name, "mse": error})
    return Figure(tuple(rows), (), "P2, Fig. 6: relationship by sex, l = 2", "value")


def census(acs: pa.Table, sensitive: str, d: int) -> Dataset:
    """OCC-d or SAL-d: the first d quasi-identifiers and a sensitive column of acs2018."""
    roles = Roles.of(quasi=QUASI[:d], sensitive=sensitive)
    return Dataset.from_arrow(acs.select([*QUASI[:d], sensitive]), roles, name=f"{sensitive}-{d}")


def complete_adult(adult: pa.Table) -> pa.Table:
    """The 45,222 records of Adult without an unknown value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for name in ADULT:
        if pa.types.is_large_string(adult[name].type) or pa.types.is_string(adult[name].type):
            adult = adult.filter(pc.not_equal(adult[name], "?"))
    return adult.select(ADULT)


def variant(adult: pa.Table, sensitive: str) -> Dataset:
    """Adult(d): one column sensitive, all others quasi-identifiers."""
    roles = Roles.of(quasi=[c for c in ADULT if c != sensitive], sensitive=sensitive)
    return Dataset.from_arrow(adult.select(ADULT), roles, name=f"adult, {sensitive}")


def applicable(counts: Sequence[int], l: int) -> dict[str, bool]:
    """Which methods can publish a column with these counts of values (Fig. 5a)."""
    eligible = l <= largest_l(np.asarray(counts))
    return {"randomized addition": l < len(counts), "anatomy": eligible, "TP": eligible}


def publish(dataset: Dataset, l: int) -> dict[str, Release]:
    """The releases of all methods that apply."""
    releases = {}
    for name, method in METHODS.items():
        try:
            releases[name] = anonymize(dataset, method(l=l), key=KEY)
        except UsageError:  # not eligible, or l not below the number of values
            continue
    return releases


def _queried(
    dataset: Dataset, releases: dict[str, Release], head: dict[str, Any], **options: Any
) -> list[dict[str, Any]]:
    if not releases:
        return []
    found = workload(dataset, releases, **options).rows
    return [{**head, "method": r["release"], "mse": r["mean_mse"], "median": r["median_mse"]} for r in found]


def _shares(release: Release, true: dict[tuple[str, str], float]) -> list[dict[str, Any]]:
    return [
        {
            "sex": r["sex"],
            "value": r["value"],
            "share": r["share"],
            "true": true.get((r["sex"], r["value"]), 0.0),
        }
        for r in estimate(release, by="sex").rows
    ]
