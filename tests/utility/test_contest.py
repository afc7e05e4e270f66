"""U1-U6, S1, S2 against their definitions in plain Python."""

from __future__ import annotations

import math
from statistics import correlation, fmean, pstdev

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare
from sudare.data.dataset import Dataset
from sudare.data.roles import Roles

ROLES = Roles.of(quasi=["q", "r"], sensitive=["s", "t"])
SMALL = st.integers(0, 3)
ROW = st.tuples(SMALL, st.integers(0, 1), SMALL, SMALL)
CODES = ["U1", "U2", "U3", "U4", "U5", "U6", "S1", "S2"]


def dataset(rows):
    return Dataset.from_arrow(pa.table(dict(zip("qrst", map(list, zip(*rows))))), ROLES)


def cells(rows):
    found: dict = {}
    for q, r, *sensitive in rows:
        found.setdefault((q, r), []).append(sensitive)
    return found


def pearson(rows):
    x, y = zip(*((s, t) for *_, s, t in rows))
    return 0.0 if len(set(x)) == 1 or len(set(y)) == 1 else correlation(x, y)


def slow(original, release, truth):
    first, second = cells(original), cells(release)
    both = first.keys() & second.keys()
    means = [
        abs(fmean(row[i] for row in first[cell]) - fmean(row[i] for row in second[cell]))
        for cell in both
        for i in (0, 1)
    ]
    moved = [
        abs(original[true][i] - row[i]) / (math.sqrt(2) * spread)
        for row, true in zip(release, truth)
        if true is not None
        for i in (2, 3)
        if (spread := pstdev(x[i] for x in original)) > 0
    ]
    return {
        "U1": fmean(abs(fmean(x[i] for x in original) - fmean(y[i] for y in release)) for i in (2, 3)),
        "U2": fmean(means) if means else None,
        "U3": fmean(abs(len(first[c]) - len(second[c])) for c in both) if both else None,
        "U4": abs(pearson(original) - pearson(release)),
        "U5": (fmean(moved) if moved else 0.0) if any(t is not None for t in truth) else None,
        "U6": abs(len(original) - len(release)),
        "S1": min(map(len, second.values())),
        "S2": len(release) / len(second),
    }


@st.composite
def pairs(draw):
    original, release = (draw(st.lists(ROW, min_size=2, max_size=9)) for _ in "xb")
    truth = draw(
        st.lists(st.sampled_from([None, *range(len(original))]), min_size=len(release), max_size=len(release))
    )
    return original, release, truth


@settings(max_examples=120, deadline=None)
@given(pairs())
def test_every_metric_is_that_of_the_definition(pair):
    original, release, truth = pair
    found = sudare.utility(dataset(original), dataset(release), CODES, truth=truth)
    expected = slow(original, release, truth)
    for code in CODES:
        value = found.value(code)
        assert (value is None) == (expected[code] is None), code
        assert value is None or value == pytest.approx(expected[code], abs=1e-9), code


def test_a_copy_loses_nothing():
    rows = [(1, 0, 5, 1), (1, 0, 6, 2), (2, 1, 7, 9)]
    found = sudare.utility(dataset(rows), dataset(rows[::-1]), truth=[2, 1, 0])
    for row in found.rows:
        if row["better"] == "lower" and row["metric"] != "discernibility":
            assert row["value"] == 0, row["metric"]
    assert [row["metric"] for row in found.rows][:8] == CODES
    assert all(row["total_variation"] == 0 for row in found.by_column)


def test_metrics_may_be_named_and_are_refused_with_a_hint():
    ds = dataset([(1, 0, 5, 1), (1, 0, 6, 2)])
    assert sudare.utility(ds, ds, "u1").rows[0]["metric"] == "U1"
    assert sudare.utility(ds, ds, "mean-error").rows[0]["metric"] == "U1"
    with pytest.raises(sudare.UsageError, match="mean-shift"):
        sudare.utility(ds, ds, ["mean-shft"])
    with pytest.raises(sudare.UsageError, match="empty"):
        sudare.utility(ds, ds, [])
    with pytest.raises(sudare.UsageError, match="give metrics"):
        sudare.utility(ds, ds, [7])
    with pytest.raises(sudare.UsageError, match="no metric 'U9'"):
        sudare.utility(ds, ds).value("U9")


def test_without_the_truth_row_by_row_metrics_say_so():
    ds = dataset([(1, 0, 5, 1), (1, 0, 6, 2)])
    assert "U5" not in [row["metric"] for row in sudare.utility(ds, ds).rows]
    found = sudare.utility(ds, ds, ["U5"])
    assert found.value("U5") is None
    assert "truth" in found.rows[0]["detail"]


def test_the_result_is_a_dictionary_and_a_chart_too():
    ds = dataset([(1, 0, 5, 1), (1, 0, 6, 2)])
    result = sudare.utility(ds, ds)
    assert result.to_dict()["by_column"][0]["column"] == "q"
    assert result.chart().to_dict()
    with pytest.raises(sudare.UsageError, match="without metrics"):
        sudare.utility(ds, ds, ["U1"]).chart()
