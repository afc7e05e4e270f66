"""l, t, delta and beta of classes against their slow definitions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from sudare.data import Dataset, Roles
from sudare.data.values.hierarchies import Hierarchy
from sudare.disclosure.diversity import ClassCounts, recursive, recursive_l
from sudare.disclosure.sensitive import closeness_of, diversity_of, likeness_of
from sudare.engine.classes import Cells
from sudare.engine.counts import counts_of
from sudare.engine.kernels.closeness import hierarchical_distance, ordered_distance

SALARY = Hierarchy.from_paths([(str(v), "low" if v < 6 else "high") for v in range(3, 12)])


def cells_of(groups: Sequence[object], values: Sequence[object]) -> Cells:
    table = pa.table({"q": list(groups), "s": list(values)})
    ds = Dataset.from_arrow(table, Roles.of(quasi="q", sensitive="s"))
    return counts_of(ds).class_cells(["q"], "s")


def emd(mine: np.ndarray, table: np.ndarray, distance: np.ndarray) -> float:
    """The transport problem as a linear program."""
    m = len(mine)
    leave = np.kron(np.eye(m), np.ones(m))
    arrive = np.kron(np.ones(m), np.eye(m))
    found = linprog(distance.ravel(), A_eq=np.vstack((leave, arrive)), b_eq=np.concatenate((mine, table)))
    return float(found.fun)


def shares(cells: Cells) -> list[np.ndarray]:
    out = []
    for low, high in zip(cells.offsets[:-1], cells.offsets[1:], strict=True):
        dense = np.zeros(len(cells.values))
        dense[cells.value[low:high]] = cells.count[low:high]
        out.append(dense / dense.sum())
    return out


def test_t_of_the_salary_example_of_t_closeness() -> None:
    """Li, Li, Venkatasubramanian 2007: salaries 3k..11k, {3,4,5} is .375 from the table, {6,8,11} .167."""
    cells = cells_of([1, 1, 1, 2, 2, 2, 3, 3, 3], [3, 4, 5, 6, 8, 11, 7, 9, 10])
    distances = ordered_distance(*cells.arrays)
    by_first = {
        int(cells.values[int(cells.value[low])].as_py()): d
        for low, d in zip(cells.offsets, distances, strict=False)
    }
    assert by_first[3] == pytest.approx(0.375)
    assert by_first[6] == pytest.approx(1 / 6, abs=1e-3)


pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(3, 11)), min_size=1, max_size=40)


@settings(max_examples=60, deadline=None)
@given(pairs)
def test_distances_solve_the_transport_problem(rows: list[tuple[int, int]]) -> None:
    cells = cells_of([q for q, _ in rows], [s for _, s in rows])
    m = len(cells.values)
    closeness = closeness_of(cells, hierarchy=SALARY)
    line = np.abs(np.subtract.outer(np.arange(m), np.arange(m))) / max(m - 1, 1)
    value = [int(v) for v in cells.values.to_pylist()]
    tree = np.array([[0 if a == b else (0.5 if (a < 6) == (b < 6) else 1) for a in value] for b in value])
    mine = shares(cells)
    assert closeness.equal == pytest.approx(max(emd(s, cells.share, 1 - np.eye(m)) for s in mine), abs=1e-9)
    assert closeness.ordered == pytest.approx(max(emd(s, cells.share, line) for s in mine), abs=1e-9)
    assert closeness.hierarchical == pytest.approx(max(emd(s, cells.share, tree) for s in mine), abs=1e-9)


@settings(max_examples=80, deadline=None)
@given(pairs)
def test_l_delta_and_beta_equal_their_definitions(rows: list[tuple[int, int]]) -> None:
    cells = cells_of([q for q, _ in rows], [s for _, s in rows])
    mine, table = shares(cells), cells.share
    l, like = diversity_of(cells), likeness_of(cells)
    owner = np.repeat(np.arange(len(mine)), np.diff(cells.offsets))
    counts = ClassCounts(owner, cells.count, len(mine))
    assert l.recursive == recursive_l(counts, 3.0)
    assert l.c_of_2 == pytest.approx(recursive(counts, 2).max())
    assert l.distinct == min(int((s > 0).sum()) for s in mine)
    assert l.entropy == pytest.approx(min(np.exp(-sum(p * np.log(p) for p in s if p > 0)) for s in mine))
    assert l.frequency == pytest.approx(min(1 / s.max() for s in mine))
    logs = [abs(np.log(p / q)) for s in mine for p, q in zip(s, table, strict=True) if p > 0]
    assert like.delta == pytest.approx(max(logs))
    assert like.beta == pytest.approx(max(float(((s - table) / table).max()) for s in mine))
    assert like.lacking == sum(bool((s == 0).any()) for s in mine)


def test_recursive_diversity_sorts_the_commonest_first() -> None:
    """Counts 5, 3, 2: l = 2 needs 5 < c (3 + 2), l = 3 needs 5 < c 2; sorting upwards would say c = 1 suffices."""
    cells = cells_of([0] * 10, ["a"] * 5 + ["b"] * 3 + ["c"] * 2)
    assert diversity_of(cells, c=3).recursive == 3
    assert diversity_of(cells, c=2).recursive == 2
    assert diversity_of(cells, c=1).recursive == 1
    assert diversity_of(cells).c_of_2 == 1


def test_entropy_is_not_rounded_down() -> None:
    cells = cells_of([0] * 4, ["a", "a", "a", "b"])
    assert diversity_of(cells).entropy == pytest.approx(1.7548, abs=1e-4)


def test_a_missing_sensitive_value_is_a_value() -> None:
    cells = cells_of([0, 0, 1, 1], ["a", None, "a", "a"])
    assert diversity_of(cells).distinct == 1
    assert sorted(np.diff(cells.offsets).tolist()) == [1, 2]
    assert closeness_of(cells).equal == pytest.approx(0.25)


def test_members_of_published_sets_count_one_by_one() -> None:
    table = pa.table({"q": [0, 0, 1], "s": [["a", "b"], ["b", "c"], ["a", "b"]]})
    ds = Dataset.from_arrow(table, Roles.of(quasi="q", sensitive="s"))
    cells = counts_of(ds).class_cells(["q"], "s")
    assert sorted(np.diff(cells.offsets).tolist()) == [2, 3]
    assert cells.table.tolist() == [2, 3, 1]


def test_text_has_no_order_unless_somebody_says_so() -> None:
    cells = cells_of([0, 0, 1], ["a", "b", "c"])
    assert closeness_of(cells).ordered is None
    assert closeness_of(cells, ordered=True).ordered is not None
    assert closeness_of(cells).t == closeness_of(cells).equal


def test_one_value_is_no_distance() -> None:
    cells = cells_of([0, 1], [7, 7])
    assert closeness_of(cells, hierarchy=SALARY).t == 0
    assert hierarchical_distance(*cells.arrays, np.zeros((1, 1), np.int32)).tolist() == [0, 0]
