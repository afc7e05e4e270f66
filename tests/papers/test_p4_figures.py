"""P4, Figs. 1-4: what the attacker gains from more quasi-identifiers |q| and more sensitive columns |s|."""

from __future__ import annotations

from itertools import pairwise

import pyarrow.parquet as pq
import pytest

import sudare
from sudare.attacks import Euclid
from sudare.methods import Noise


@pytest.fixture(scope="module")
def noisy(data_dir, key):
    names = pq.read_schema(data_dir / "fies_8333.parquet").names
    ds = sudare.open(data_dir / "fies_8333.parquet", quasi=names[:13], sensitive=names[13:])
    return ds, sudare.anonymize(ds, Noise(sd=0.1), key=key)


def rates(noisy, attacks):
    ds, release = noisy
    return [row["rate"] for row in sudare.attack(ds, release, attacks).rows]


def test_the_rate_grows_with_the_quasi_identifiers(noisy):
    """Fig. 2; with all 13 nearly every row is found, with none a third."""
    ds, _ = noisy
    found = rates(noisy, [Euclid(quasi=ds.roles.quasi[:q]) for q in (0, 1, 3, 6, 9, 13)])
    assert found == sorted(found)
    assert found[0] < 0.4
    assert found[-1] > 0.98


def test_the_rate_grows_with_the_sensitive_columns(noisy):
    """Fig. 4, with six quasi-identifiers."""
    ds, _ = noisy
    quasi = ds.roles.quasi[:6]
    found = rates(noisy, [Euclid(quasi=quasi, columns=ds.roles.sensitive[:s]) for s in (1, 2, 4, 8, 12)])
    assert all(later > earlier - 0.01 for earlier, later in pairwise(found))
    assert found[-1] > found[0] + 0.05
