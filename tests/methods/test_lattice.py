"""The lattice search finds what trying every combination of levels finds."""

import itertools
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.data.dataset import Dataset
from sudare.data.roles import Roles
from sudare.data.values.hierarchies import Hierarchy
from sudare.engine.rows import Draft
from sudare.errors import UsageError
from sudare.keys import Key
from sudare.methods.plugins.lattice import LatticeRecoding

KEY = Key.demo(1)
DIGITS = Hierarchy.from_paths([(str(d), f"third {d // 3}", "low" if d < 6 else "high") for d in range(9)])
LETTERS = Hierarchy.from_paths([("x", "xy"), ("y", "xy"), ("z", "zw"), ("w", "zw")])
FLAT = Hierarchy.flat(["m", "f"])
TREES = {"a": DIGITS, "b": LETTERS, "c": FLAT}


def draft_of(table: pa.Table, quasi=None) -> Draft:
    roles = Roles(quasi=tuple(quasi or table.column_names))
    return Draft.of(Dataset.from_arrow(table, roles, name="test"), KEY)


def try_everything(table: pa.Table, k: int, most: int):
    """Every vector: anonymous or not, and its loss; by plain counting of labels."""
    paths = {n: {p[0]: p for p in tree.paths()} for n, tree in TREES.items()}
    cells = {n: [str(v) for v in table[n].to_pylist()] for n in TREES}
    found = {}
    for vector in itertools.product(*[range(tree.levels) for tree in TREES.values()]):
        rows = list(zip(*([paths[n][v][level] for v in cells[n]] for n, level in zip(TREES, vector))))
        sizes = Counter(rows)
        loss, gone = 0.0, 0
        for row in rows:
            if sizes[row] < k:
                loss, gone = loss + 1.0, gone + 1
            else:
                each = [
                    (t.leaves_under(label) - 1) / (len(t.leaves) - 1) for t, label in zip(TREES.values(), row)
                ]
                loss += sum(each) / len(each)
        found[vector] = (gone <= most, loss / len(rows))
    return found


rows = st.lists(
    st.tuples(st.integers(0, 8), st.sampled_from("xyzw"), st.sampled_from("mf")), min_size=6, max_size=40
)


@settings(max_examples=50, deadline=None)
@given(rows, st.integers(2, 4), st.sampled_from([0.0, 0.1, 0.4]))
def test_the_optimum_and_the_solution_space_are_those_of_trying_everything(listed, k, suppress):
    table = pa.table(dict(zip("abc", map(list, zip(*listed)))))
    release = LatticeRecoding(k=k, suppress=suppress, hierarchies=TREES).apply(draft_of(table), KEY)
    truth = try_everything(table, k, int(suppress * len(listed)))
    assert release.details["ncp"] == pytest.approx(min(loss for fine, loss in truth.values() if fine))
    assert release.details["anonymous"] == sum(fine for fine, _ in truth.values())
    assert release.details["vectors"] == len(truth) == 4 * 3 * 2
    starred = [row == ("*", "*", "*") for row in zip(*(release.table[c].to_pylist() for c in "abc"))]
    sizes = Counter(zip(*(release.table[c].to_pylist() for c in "abc")))
    assert min((n for row, n in sizes.items() if row != ("*", "*", "*")), default=k) >= k
    assert release.details["suppressed"] <= sum(starred)
    assert release.details["suppressed"] <= suppress * len(listed)


@settings(max_examples=20, deadline=None)
@given(rows)
def test_minimal_vectors_have_nothing_finer_that_is_anonymous(listed):
    table = pa.table(dict(zip("abc", map(list, zip(*listed)))))
    details = LatticeRecoding(k=2, hierarchies=TREES).apply(draft_of(table), KEY).details
    truth = {vector for vector, (fine, _) in try_everything(table, 2, 0).items() if fine}

    def finer(vector):
        return [(*vector[:c], level - 1, *vector[c + 1 :]) for c, level in enumerate(vector) if level]

    minimal = {vector for vector in truth if not truth & set(finer(vector))}
    assert {tuple(vector) for vector in details["minimal_levels"]} == minimal


def test_adult_is_solved_with_a_fraction_of_the_checks(data_dir):
    table = pq.read_table(data_dir / "adult_arx.parquet")
    quasi = [name for name in table.column_names if name != "salary-class"]
    method = LatticeRecoding(k=5, suppress=0.02, hierarchies=str(data_dir / "adult_arx_hierarchies"))
    release = method.apply(draft_of(table, quasi), KEY)
    assert release.details["vectors"] == 6480
    assert release.details["checked"] < 2000
    assert release.details["suppressed"] <= 0.02 * 30162
    sizes = Counter(zip(*(release.table[c].to_pylist() for c in quasi)))
    assert min(n for row, n in sizes.items() if set(row) != {"*"}) >= 5


def test_columns_without_a_hierarchy_get_a_proposed_one():
    table = pa.table({"age": np.arange(20, 60), "sex": ["f", "m"] * 20})
    release = LatticeRecoding(k=5).apply(draft_of(table), KEY)
    assert min(Counter(zip(*(release.table[c].to_pylist() for c in ("age", "sex")))).values()) >= 5


def test_what_cannot_be_done_is_refused():
    table = pa.table({"a": [1, 2, 3]})
    for wrong in ({"k": 1}, {"k": 2, "suppress": 1.5}, {"k": 2, "suppress": -0.1}):
        with pytest.raises(UsageError):
            LatticeRecoding(**wrong)
    with pytest.raises(UsageError, match="more than the 3 people"):
        LatticeRecoding(k=4).apply(draft_of(table), KEY)
    with pytest.raises(UsageError, match="holds lists"):
        LatticeRecoding(k=2).apply(draft_of(pa.table({"a": [["x"], ["y"]]})), KEY)
    deep = Hierarchy.from_paths([tuple(str(v) for _ in range(40)) for v in range(1, 4)])
    wide = pa.table({c: [1, 2, 3] for c in "abcde"})
    with pytest.raises(UsageError, match="combinations of levels"):
        LatticeRecoding(k=2, hierarchies=dict.fromkeys("abcde", deep)).apply(draft_of(wide), KEY)
