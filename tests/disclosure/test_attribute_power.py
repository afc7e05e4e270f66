"""Distinction and separation, and what a risk of records comes to, against counting by hand."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.data import Dataset, Roles
from sudare.disclosure.attribute_power import attribute_sets
from sudare.disclosure.reidentification import of_records

rows = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12)


@given(rows, st.integers(1, 4))
def test_sets_tell_records_apart_as_counted_by_hand(found, combine):
    users, x, y = zip(*found)
    ds = Dataset.from_arrow(pa.table({"u": users, "x": x, "y": y}), Roles.of(user="u"))
    told = {one.attributes: one for one in attribute_sets(ds, ["x", "y"], combine)}
    expected = {("x",): x, ("y",): y, **({("x", "y"): list(zip(x, y))} if combine > 1 else {})}
    assert set(told) == set(expected)
    for names, cells in expected.items():
        pairs = list(combinations(cells, 2))
        apart = Fraction(sum(a != b for a, b in pairs), len(pairs)) if pairs else 0
        assert told[names].distinction == pytest.approx(len(set(cells)) / len(cells))
        assert told[names].separation == pytest.approx(float(apart))


@given(st.lists(st.tuples(st.sampled_from([0.1, 0.2, 0.5, 1.0]), st.integers(1, 5)), max_size=6))
def test_records_above_the_threshold_are_counted_and_those_at_it_are_not(classes):
    risk, records = (np.array([pair[i] for pair in classes], kind) for i, kind in enumerate((float, int)))
    found = of_records(risk, records, 0.2)
    each = list(Counter({i: n for i, (_, n) in enumerate(classes)}).elements())
    risks = [classes[i][0] for i in each]
    assert found.largest == max(risks, default=0.0)
    assert found.mean == pytest.approx(sum(risks) / len(risks) if risks else 0.0)
    assert found.at_risk == pytest.approx(sum(r > 0.2 for r in risks) / len(risks) if risks else 0.0)
