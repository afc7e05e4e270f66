"""The slow reference: P1's definitions on lists of (user, value) records, in exact fractions."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from types import SimpleNamespace

import pytest

from sudare.data.dataset import Dataset
from sudare.data.roles import Roles


def owners(records):
    found = {}
    for user, value in records:
        found.setdefault(value, set()).add(user)
    return found


def uniform(records):
    owned = owners(records)
    return sum(Fraction(1, len(owned[value])) for _, value in records) / len(records)


def proportional(records):
    pair, single = Counter(records), Counter(value for _, value in records)
    return sum(Fraction(n * n, single[value]) for (_, value), n in pair.items()) / len(records)


def bayes(records):
    best = {}
    for (_, value), n in Counter(records).items():
        best[value] = max(best.get(value, 0), n)
    return Fraction(sum(best.values()), len(records))


def alpha(records):
    owned, count = owners(records), Counter(value for _, value in records)
    return sum(Fraction(count[x], len(owned[x])) for x in owned) / len(owned)


def across(first, second):
    """R_cross of the A-values and the B-values (lists of (user, value)) of the same records."""
    in_a, in_b = owners(first), owners(second)
    total = Fraction(0)
    for user in {u for u, _ in first}:
        mine = [a for u, a in first if u == user]
        other = [b for u, b in second if u == user]
        mean = sum(Fraction(1, len(in_a[a] & in_b[b])) for a in mine for b in other) / (
            len(mine) * len(other)
        )
        total += Fraction(len(mine), len(first)) * mean
    return total


def after(records, published, consistent):
    """R' of true (user, value) records against published (user, value) records."""
    hit = Fraction(0)
    for user, value in records:
        candidates = {u for u, v in published if consistent(v, value)}
        hit += Fraction(1, len(candidates)) if user in candidates else 0
    return hit / len(records)


@pytest.fixture(scope="session")
def slow():
    return SimpleNamespace(
        uniform=uniform, proportional=proportional, bayes=bayes, alpha=alpha, across=across, after=after
    )


@pytest.fixture(scope="session")
def dataset():
    """Make a dataset of columns, the user column called u."""
    import pyarrow as pa

    def make(user="u", **columns):
        return Dataset.from_arrow(pa.table(columns), Roles.of(user=user))

    return make
