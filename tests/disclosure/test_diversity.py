"""l of classes: each form against a slow count, and eligibility."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.data import Dataset, Roles
from sudare.disclosure.diversity import (
    ClassCounts,
    check_eligible,
    distinct,
    diversity,
    entropy,
    frequency,
    largest_l,
    recursive,
    recursive_l,
)
from sudare.errors import UsageError

PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5)), min_size=1, max_size=40)


@settings(max_examples=150, deadline=None)
@given(PAIRS, st.integers(1, 4))
def test_every_form_equals_a_slow_count(pairs, l):
    label = np.unique([c for c, _ in pairs], return_inverse=True)[1]
    values = np.array([v for _, v in pairs])
    counts = ClassCounts.of(label, values)
    for number in range(counts.classes):
        held = sorted(Counter(values[label == number].tolist()).values(), reverse=True)
        total = sum(held)
        assert counts.sizes[number] == total
        assert distinct(counts)[number] == len(held)
        assert frequency(counts)[number] == total / held[0]
        shares = np.array(held) / total
        assert entropy(counts)[number] == pytest.approx(np.exp(-(shares * np.log(shares)).sum()))
        tail = sum(held[l - 1 :])
        assert recursive(counts, l)[number] == (held[0] / tail if tail else np.inf)


@settings(max_examples=100, deadline=None)
@given(PAIRS)
def test_the_forms_are_ordered(pairs):
    label = np.unique([c for c, _ in pairs], return_inverse=True)[1]
    counts = ClassCounts.of(label, np.array([v for _, v in pairs]))
    assert (frequency(counts) <= entropy(counts) + 1e-9).all()
    assert (entropy(counts) <= distinct(counts) + 1e-9).all()
    assert recursive_l(counts, 3.0) <= distinct(counts).min()


def test_many_values_are_counted_without_a_large_table():
    label, values = np.arange(3000), np.arange(3000) * 1000
    assert (distinct(ClassCounts.of(label, values)) == 1).all()


def test_sets_count_each_of_their_members():
    table = pa.table({"q": [1, 1, 2], "s": [["a", "b"], ["a", "c"], ["a", "b"]]})
    row = diversity(Dataset.from_arrow(table, Roles.of(quasi="q", sensitive="s"))).rows[0]
    assert row["classes"] == 2
    assert row["distinct"] == 2
    assert row["frequency"] == 2


def test_a_table_without_a_sensitive_column_is_refused():
    with pytest.raises(UsageError, match="sensitive"):
        diversity(Dataset.from_arrow(pa.table({"q": [1]}), Roles.of(quasi="q")))


def test_eligibility_names_the_largest_l():
    counts = np.array([50, 30, 20])
    assert largest_l(counts) == 2
    check_eligible(counts, 2, "disease")
    with pytest.raises(UsageError, match=r"disease: not eligible for l = 3.*50\.0%.*largest possible l is 2"):
        check_eligible(counts, 3, "disease")


@pytest.mark.parametrize(("c", "l"), [(0.5, 0), (3, 1), (6, 2)])
def test_recursive_diversity_begins_at_one_and_may_not_hold_at_all(c, l):
    """5 and 1: 5/6 of the class against c at l = 1, 5 against c at l = 2."""
    counts = ClassCounts.of(np.zeros(6, np.int64), np.array([0, 0, 0, 0, 0, 1]))
    assert recursive_l(counts, c) == l


def test_nobody_is_diverse_to_no_degree():
    nobody = np.empty(0, np.int64)
    assert recursive_l(ClassCounts.of(nobody, nobody), 3.0) == 0
