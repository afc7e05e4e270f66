"""LocalRecoding keeps every row, publishes k-fold vectors and loses little."""

import csv
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare
from sudare.data.dataset import Dataset
from sudare.data.roles import Roles
from sudare.data.values.hierarchies import Hierarchy
from sudare.data.values.recoded import Anything, Exactly, Interval, ValueSet, consistent, parse
from sudare.engine.rows import Draft
from sudare.errors import DataError, UsageError
from sudare.keys import Key
from sudare.methods.plugins.local_recoding import LocalRecoding
from sudare.methods.plugins.mondrian import Mondrian

KEY = Key.demo(1)
ADULT = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]


def draft_of(table: pa.Table, sensitive: str | None = None) -> Draft:
    quasi = tuple(c for c in table.column_names if c != sensitive)
    roles = Roles(quasi=quasi, sensitive=(sensitive,) if sensitive else ())
    return Draft.of(Dataset.from_arrow(table, roles, name="test"), KEY)


def smallest_class(table: pa.Table, columns) -> int:
    """The independent check: a plain count of published vectors."""
    return min(Counter(zip(*(table[c].to_pylist() for c in columns))).values())


@pytest.fixture(scope="module")
def adult(data_dir):
    return draft_of(pq.read_table(data_dir / "adult_arx.parquet"), "salary-class")


@pytest.fixture(scope="module")
def paths(data_dir):
    """Hierarchies read by the csv module alone: per column the leaf's labels, and the leaves of a label."""
    found = {}
    for name in ADULT:
        with (data_dir / "adult_arx_hierarchies" / f"{name}.csv").open() as file:
            rows = [row for row in csv.reader(file, delimiter=";") if row]
        leaves: dict[str, set] = {}
        for row in rows:
            for label in row:
                leaves.setdefault(label, set()).add(row[0])
        found[name] = ({row[0]: row for row in rows}, leaves)
    return found


@pytest.mark.parametrize(("k", "arx"), [(2, 0.029), (5, 0.057), (10, 0.079)])
def test_adult_loses_less_than_the_best_known(adult, paths, data_dir, k, arx):
    release = LocalRecoding(k=k, hierarchies=str(data_dir / "adult_arx_hierarchies")).apply(adult, KEY)
    assert release.table.num_rows == 30162
    assert smallest_class(release.table, ADULT) >= k
    losses = []
    for name in ADULT:
        by_leaf, leaves = paths[name]
        cells = Counter(zip(map(str, adult.table[name].to_pylist()), release.table[name].to_pylist()))
        assert all(str(label) in by_leaf[leaf] for leaf, label in cells)
        losses += [(n, (len(leaves[str(label)]) - 1) / (len(by_leaf) - 1)) for (_, label), n in cells.items()]
    ncp = sum(n * loss for n, loss in losses) / sum(n for n, _ in losses)
    assert ncp < arx
    assert release.details["ncp"] == pytest.approx(ncp)


@pytest.mark.parametrize(("k", "with_hierarchies"), [(2, 0.0196), (5, 0.0495), (10, 0.0734)])
def test_intervals_and_sets_lose_less_than_hierarchies(adult, paths, k, with_hierarchies):
    release = LocalRecoding(k=k).apply(adult, KEY)
    assert smallest_class(release.table, ADULT) >= k
    assert release.details["ncp"] < with_hierarchies / 2
    total = 0.0
    for name in ADULT:
        by_leaf, _ = paths[name]
        for (value, cell), n in Counter(
            zip(adult.table[name].to_pylist(), release.table[name].to_pylist())
        ).items():
            assert consistent(cell, value)
            total += n * values_covered_less_one(cell) / (len(by_leaf) - 1)
    assert total / (30162 * 8) < with_hierarchies / 2


def values_covered_less_one(cell) -> int:
    meaning = parse(None if cell is None else str(cell))
    if isinstance(meaning, Interval):
        return meaning.high - meaning.low
    return len(meaning.members) - 1 if isinstance(meaning, ValueSet) else 0


tables = st.integers(4, 60).flatmap(
    lambda n: st.fixed_dictionaries(
        {
            "a": st.lists(st.one_of(st.none(), st.integers(0, 9)), min_size=n, max_size=n),
            "b": st.lists(st.sampled_from(["x", "y", "z", None]), min_size=n, max_size=n),
            "c": st.lists(st.sampled_from(["1", "2", "3", "4"]), min_size=n, max_size=n),
        }
    )
)
TREE = Hierarchy.from_paths([("1", "low"), ("2", "low"), ("3", "high"), ("4", "high")])
DIGITS = Hierarchy.from_paths([(str(d), "even" if d % 2 == 0 else "odd") for d in range(10)])


@settings(max_examples=80, deadline=None)
@given(tables, st.integers(2, 4), st.sampled_from([(), ("c",), ("a", "b", "c")]))
def test_every_class_has_k_rows_and_every_cell_covers_its_original(columns, k, trees):
    table = pa.table(
        {
            "a": pa.array(columns["a"], pa.int64()),
            "b": pa.array(columns["b"], pa.string()),
            "c": pa.array(columns["c"], pa.string()),
        }
    )
    known = {"a": DIGITS, "b": Hierarchy.flat(["x", "y", "z"]), "c": TREE}
    nodes = {
        "low": ["1", "2"],
        "high": ["3", "4"],
        "even": [0, 2, 4, 6, 8],
        "odd": [1, 3, 5, 7, 9],
    }
    release = LocalRecoding(k=k, hierarchies={name: known[name] for name in trees}).apply(
        draft_of(table), KEY
    )
    assert smallest_class(release.table, "abc") >= k
    for name in "abc":
        pairs = zip(release.table[name].to_pylist(), table[name].to_pylist())
        assert all(consistent(published, value, nodes) for published, value in pairs)


def test_the_order_of_rows_does_not_matter():
    rng = np.random.default_rng(0)
    table = pa.table({"a": rng.integers(0, 40, 600), "b": rng.choice(list("pqrstu"), 600), "id": range(600)})
    shuffled = rng.permutation(600)
    method = LocalRecoding(k=3, columns=["a", "b"])
    one = method.apply(draft_of(table), KEY).table
    two = method.apply(draft_of(table.take(shuffled)), KEY).table
    assert one.take(shuffled).to_pylist() == two.to_pylist()


def test_groups_are_optimal_on_a_small_table():
    """All partitions of six values into pairs and triples, by hand: {1, 2}, {5, 6}, {20, 21}."""
    release = LocalRecoding(k=2).apply(draft_of(pa.table({"a": [1, 20, 5, 2, 21, 6]})), KEY)
    assert release.table["a"].to_pylist() == ["[1-2]", "[20-21]", "[5-6]", "[1-2]", "[20-21]", "[5-6]"]
    assert release.details["ncp"] == pytest.approx(1 / 20)


def test_refinement_never_raises_the_loss():
    rng = np.random.default_rng(5)
    table = pa.table(
        {"a": rng.integers(0, 60, 800), "b": rng.integers(0, 9, 800), "c": rng.choice(list("vwxyz"), 800)}
    )
    losses = [LocalRecoding(k=4, sweeps=n).apply(draft_of(table), KEY).details["ncp"] for n in (0, 1, 3)]
    assert losses[0] >= losses[1] >= losses[2]


def test_l_and_t_hold_in_every_class():
    rng = np.random.default_rng(2)
    table = pa.table(
        {
            "a": rng.integers(0, 30, 900),
            "b": rng.choice(list("pqrs"), 900),
            "disease": rng.choice(["flu", "hiv", "none"], 900, p=[0.2, 0.1, 0.7]),
        }
    )
    overall = Counter(table["disease"].to_pylist())
    for method in (LocalRecoding(k=3, l=3), LocalRecoding(k=3, t=0.15)):
        release = method.apply(draft_of(table, "disease"), KEY)
        groups: dict[tuple, list] = {}
        for a, b, disease in zip(*(release.table[c].to_pylist() for c in ("a", "b", "disease"))):
            groups.setdefault((a, b), []).append(disease)
        for values in groups.values():
            assert len(values) >= 3
            if method.l:
                assert len(set(values)) >= 3
            else:
                gaps = [abs(values.count(d) / len(values) - n / 900) for d, n in overall.items()]
                assert sum(gaps) / 2 <= 0.15 + 1e-9


@pytest.mark.parametrize("trees", [False, True])
@pytest.mark.parametrize(
    "asked", [{"l": 3}, {"t": 0.2}, {"l": 4, "t": 0.4}, {"l": 3.5, "diversity": "entropy"}, {"l": 5}]
)
def test_with_conditions_it_loses_no_more_than_mondrian(asked, trees):
    random = np.random.default_rng(3)
    age = random.integers(18, 80, 600)
    ill = (age // 13 + random.integers(0, 3, 600)) % 5
    table = pa.table({"age": age, "sex": random.choice(["f", "m"], 600), "ill": [f"i{i}" for i in ill]})
    options = {
        "k": 4,
        **asked,
        **({"hierarchies": {"age": {"intervals": [5, 20]}, "sex": {"flat": True}}} if trees else {}),
    }
    own, other = (
        made.apply(draft_of(table, "ill"), KEY).details["ncp"]
        for made in (LocalRecoding(**options), Mondrian(**options))
    )
    assert own <= other
    if "diversity" in asked and not trees:  # groups join those that make up for what they lack
        assert own < 0.6 * other


def test_a_missing_number_is_suppressed_together_with_others_and_kept_among_its_own():
    table = pa.table({"a": pa.array([1, None, None, None, 2, 3]), "b": list("xyyyxx")})
    published = LocalRecoding(k=3).apply(draft_of(table), KEY).table["a"].to_pylist()
    assert published == ["[1-3]", None, None, None, "[1-3]", "[1-3]"]
    assert parse(LocalRecoding(k=6).apply(draft_of(table), KEY).table["a"][0].as_py()) == Anything()


def test_columns_in_which_nothing_changes_keep_their_type():
    table = pa.table({"a": [1, 1, 2, 2], "b": ["x", "y", "x", "y"]})
    release = LocalRecoding(k=2).apply(draft_of(table), KEY).table
    assert release["a"].type == pa.int64()
    assert release["a"].to_pylist() == [1, 1, 2, 2]
    assert parse("{x, y}") == parse(release["b"][0].as_py()) != Exactly("x")


def test_hierarchies_come_from_a_folder_a_file_or_a_table(tmp_path):
    table = pa.table({"a": [1, 2, 11, 12], "b": ["x", "x", "x", "x"]})
    (tmp_path / "a.csv").write_text("1;0s;*\n2;0s;*\n11;10s;*\n12;10s;*\n")
    (tmp_path / "sudare.toml").write_text("[hierarchy.a]\nintervals = [10]\n")
    by_folder = LocalRecoding(k=2, hierarchies=str(tmp_path)).apply(draft_of(table), KEY).table
    assert by_folder["a"].to_pylist() == ["0s", "0s", "10s", "10s"]
    by_file = LocalRecoding(k=2, hierarchies={"a": str(tmp_path / "a.csv")}).apply(draft_of(table), KEY).table
    assert by_file == by_folder
    by_toml = LocalRecoding(k=2, hierarchies=str(tmp_path / "sudare.toml")).apply(draft_of(table), KEY).table
    assert by_toml["a"].to_pylist() == ["[0-9]", "[0-9]", "[10-19]", "[10-19]"]
    with pytest.raises(UsageError, match="no hierarchies"):
        LocalRecoding(k=2, hierarchies=str(tmp_path / "none")).apply(draft_of(table), KEY)
    with pytest.raises(DataError, match="not in the hierarchy"):
        LocalRecoding(k=2, hierarchies={"a": TREE}).apply(draft_of(table), KEY)


def test_paths_in_a_recipe_file_begin_where_it_lies(tmp_path, monkeypatch):
    folder = tmp_path / "recipes"
    (folder / "trees").mkdir(parents=True)
    (folder / "trees" / "sex.csv").write_text("f;any\nm;any\n")
    steps = {
        "folder": 'method = "local-recoding"\nk = 2\nhierarchies = "trees"',
        "table": 'method = "mondrian"\nk = 2\nhierarchies = { sex = "trees/sex.csv" }',
        "file": 'method = "lattice-recoding"\nk = 2\nhierarchies = { sex = { file = "trees/sex.csv" } }',
        "one": 'method = "generalize"\ncolumn = "sex"\nhierarchy = "trees/sex.csv"',
    }
    ds = sudare.open(pa.table({"sex": ["f", "m"]}), quasi=["sex"])
    monkeypatch.chdir(tmp_path)
    for name, step in steps.items():
        (folder / f"{name}.toml").write_text(f"[[step]]\n{step}\n")
        release = sudare.anonymize(ds, f"recipes/{name}.toml", key=bytes(range(32)))
        assert release.data.to_pyarrow()["sex"].to_pylist() == ["any", "any"]


def test_a_column_of_many_unordered_values_needs_a_hierarchy():
    table = pa.table({"a": [f"name {i}" for i in range(5000)]})
    with pytest.raises(UsageError, match="give it a hierarchy"):
        LocalRecoding(k=2).apply(draft_of(table), KEY)


def test_a_recipe_with_hierarchies_reads_back_as_itself(tmp_path):
    from sudare.methods.recipe import Recipe

    (tmp_path / "recipe.toml").write_text(Recipe(LocalRecoding(k=2, hierarchies={"c": TREE})).to_toml())
    (step,) = Recipe.from_toml(tmp_path / "recipe.toml").steps
    table = pa.table({"c": ["1", "2", "3", "4"]})
    assert step.apply(draft_of(table), KEY).table["c"].to_pylist() == ["low", "low", "high", "high"]


@pytest.mark.parametrize(
    "wrong",
    [{"a": 3}, {"a": {"paths": 3}}, {"a": {"paths": [[1, 2], 3]}}, {"a": {"nothing": 1}}, {"aa": "x"}],
)
def test_hierarchies_that_mean_nothing_are_refused(wrong):
    table = pa.table({"a": [1, 2], "b": ["x", "y"]})
    with pytest.raises(UsageError, match="hierarchy"):
        LocalRecoding(k=2, hierarchies=wrong).apply(draft_of(table), KEY)


def test_a_columns_name_leads_to_no_other_folder(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "b.csv").write_text("x;*\n")
    table = pa.table({"../b": ["x", "x"]})
    with pytest.raises(UsageError, match="no hierarchies"):
        LocalRecoding(k=2, hierarchies=str(tmp_path / "inner")).apply(draft_of(table), KEY)
