"""What each command costs per million rows: no peer, the figures of the sizing page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

import sudare
from benchmarks.purchases import purchases
from benchmarks.work import Work
from sudare.data import Dataset, Roles
from sudare.keys import Key
from sudare.methods import Mondrian, Noise, RandomizedAddition, Round

SIZES = {"full": (10_000, 100_000, 1_000_000), "small": (200, 400)}
KEY = Key.demo(1)


class Case(NamedTuple):
    original: Dataset
    release: Any


def people(rows: int) -> Dataset:
    """One person a row: three quasi-identifiers, a disease of 50, an income."""
    rng = np.random.default_rng(0)
    disease = rng.integers(0, 50, rows).astype(np.int8)
    names = pa.array([f"disease {i:02}" for i in range(50)])
    table = pa.table(
        {
            "person": np.arange(rows),
            "age": rng.integers(18, 95, rows),
            "sex": rng.integers(0, 2, rows),
            "zip": rng.integers(0, max(rows // 100, 2), rows),
            "disease": pa.DictionaryArray.from_arrays(pa.array(disease), names).cast(pa.string()),
            "income": rng.gamma(3, 9000, rows).round(),
        }
    )
    roles = Roles.of(identifier="person", quasi=["age", "sex", "zip"], sensitive=["disease", "income"])
    return Dataset.from_arrow(table, roles, name="people")


def noisy(rows: int) -> Case:
    ds = people(rows)
    return Case(ds, sudare.anonymize(ds, [Noise(columns=["income"], sd=500.0)], key=KEY))


def randomized(rows: int) -> Any:
    return sudare.anonymize(people(rows), RandomizedAddition(l=10, column="disease"), key=KEY)


def command(name: str, ours: Callable[[Any], Any], prepare: Callable[[int], Any] = people) -> Work:
    return Work(name=name, sizes=SIZES, prepare=prepare, ours=ours)


def histories(rows: int) -> Dataset:
    return purchases(rows).data


WORKS = (
    command("risk, 5 attributes", sudare.risk, histories),
    command("plan, k 2 to 20", lambda ds: sudare.plan(ds, "c"), histories),
    command("disclosure, 3 quasi-identifiers", sudare.disclosure),
    command(
        "anonymize: randomized addition, rounding",
        lambda ds: sudare.anonymize(
            ds, [RandomizedAddition(l=10, column="disease"), Round(column="income", to=1000)], key=KEY
        ),
    ),
    command("anonymize: Mondrian, k=5", lambda ds: sudare.anonymize(ds, Mondrian(k=5), key=KEY)),
    command("attack, all that suit", lambda case: sudare.attack(case.original, case.release), noisy),
    command("utility, all that suit", lambda case: sudare.utility(case.original, case.release), noisy),
    command("estimate, by age", lambda release: sudare.estimate(release, by="age"), randomized),
    command("report", lambda case: sudare.report(case.original, case.release, path=None), noisy),
)
