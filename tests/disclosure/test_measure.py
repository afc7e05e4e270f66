"""sudare.disclosure on tables: published examples, peers' values, missing values, row order, odd names."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare
from sudare.data import Dataset, Roles
from sudare.data.values.hierarchies import Hierarchy
from sudare.disclosure.measure import disclosure
from sudare.disclosure.records import record_measures
from sudare.disclosure.result import DisclosureResult
from sudare.disclosure.wildcard import companions
from sudare.errors import DataError, UsageError

GUIDE = pa.table(
    {
        "residence": ["Urban"] * 4 + ["Rural"] + ["Urban"] * 5,
        "gender": ["F", "F", "F", "M", "F", "M", "F", "M", "F", "F"],
        "education": ["si", "si", "pi", "sc", "sc", "sc", "pc", "ps", "si", "si"],
        "labor": ["E", "E", "N", "E", "U", "E", "N", "U", "N", "N"],
        "health": ["yes", "yes", "yes", "yes", "yes", "no", "no", "yes", "no", "yes"],
        "weight": [180, 180, 215, 76, 186, 76, 180, 215, 186, 76],
    }
)
ROLES = Roles.of(quasi=["residence", "gender", "education", "labor"], sensitive="health", other="weight")


def value(
    found: DisclosureResult, measure: str, variant: str = "", attributes: list[str] | None = None
) -> float:
    rows = [row for row in found.rows if row["measure"] == measure and row["variant"] == variant]
    return float(next(row["value"] for row in rows if attributes is None or row["attributes"] == attributes))


def test_every_measure_of_the_sdc_practice_guide() -> None:
    found = disclosure(Dataset.from_arrow(GUIDE, ROLES), weights="weight")
    assert (found.k, found.classes, found.uniques, found.records) == (1, 7, 4, 10)
    assert found.l == {"health": 1}
    assert found.marketer == pytest.approx(0.7)
    assert found.prosecutor is not None
    assert found.prosecutor.largest == 1
    assert found.journalist is not None
    assert found.journalist.largest == pytest.approx(0.0290, abs=5e-5)
    assert found.suda is not None
    assert sorted(found.suda.score.tolist()) == [0, 0, 0, 6, 6, 10, 12]
    assert set(found.population) == {"pitman", "zayatz", "snb"}


def test_the_frame_the_dictionary_and_the_chart_say_the_same() -> None:
    found = disclosure(Dataset.from_arrow(GUIDE, ROLES))
    frame, plain = found.to_frame(), found.to_dict()
    assert list(frame.columns) == ["measure", "variant", "attributes", "value", "meaning"]
    assert plain["command"] == "disclosure"
    assert (plain["k"], plain["uniques"], plain["l"]) == (1, 4, {"health": 1})
    assert plain["distribution"] == [
        {"size": 1, "classes": 4, "records": 4},
        {"size": 2, "classes": 3, "records": 6},
    ]
    assert found.chart().to_dict()["title"] == "How many people a record hides among"
    assert "quasi-identifiers: residence, gender" in str(found)


# k, distinct l and t of pyCANON 1.3.6 on the same columns
PEER = [
    ("adult", ["race", "sex", "marital-status"], {"income": (1, 0.7591904425539756)}, 1),
    (
        "adult",
        ["age", "sex"],
        {"occupation": (1, 0.9433985442707533), "hours-per-week": (1, 0.41267919633389566)},
        1,
    ),
    (
        "adult",
        ["sex", "relationship"],
        {"income": (1, 0.2591904425539756), "education-num": (1, 0.21146770676576274)},
        1,
    ),
    (
        "acs2018",
        ["gender", "race", "marital"],
        {"inc50": (2, 0.2638110896821276), "occ50": (2, 0.9685106844192752)},
        2,
    ),
    (
        "acs2018",
        ["gender", "workclass"],
        {"inc50": (45, 0.2172112982730723), "education": (16, 0.23071480039844194)},
        307,
    ),
]


@pytest.mark.parametrize(("name", "quasi", "sensitive", "k"), PEER)
def test_k_l_and_t_equal_pycanon_where_it_is_right(
    data_dir: Path, name: str, quasi: list[str], sensitive: dict[str, tuple[int, float]], k: int
) -> None:
    table = pq.read_table(data_dir / f"{name}.parquet")
    if "split" in table.column_names:
        table = table.filter(pa.compute.equal(table["split"], "data"))
    roles = Roles.of(quasi=quasi, sensitive=list(sensitive))
    found = disclosure(Dataset.from_arrow(table, roles), measures=["k", "l", "t"])
    assert found.k == k
    assert found.l == {column: l for column, (l, _) in sensitive.items()}
    assert found.t == pytest.approx({column: t for column, (_, t) in sensitive.items()}, rel=1e-12)


def test_delta_and_beta_equal_pycanon_on_adult(data_dir: Path) -> None:
    table = pq.read_table(data_dir / "adult.parquet")
    table = table.filter(pa.compute.equal(table["split"], "data"))
    ds = Dataset.from_arrow(table, Roles.of(quasi=["race", "sex", "marital-status"], sensitive="income"))
    like = disclosure(ds, measures=["likeness"]).likeness["income"]
    assert (like.delta, like.beta) == pytest.approx((3.2767314898477693, 3.152659099604642), rel=1e-12)
    assert like.enhanced == np.inf  # a value of 24% may gain at most -log .24; here it gains 3.15


def test_distinction_is_the_low_cost_risk_when_a_person_has_one_row(data_dir: Path) -> None:
    table = pq.read_table(data_dir / "adult.parquet")
    table = table.filter(pa.compute.equal(table["split"], "data"))
    ds = Dataset.from_arrow(table, Roles.of(quasi=["age", "occupation", "marital-status", "race"]))
    found = {row.attributes: row.distinction for row in disclosure(ds, measures=["attributes"]).attributes}
    published = {"age": 2.24e-3, "occupation": 4.61e-4, "marital-status": 2.15e-4, "race": 1.54e-4}
    assert {name: float(f"{found[(name,)]:.3g}") for name in published} == published


def test_columns_that_nobody_named_are_looked_at_too() -> None:
    found = disclosure(
        Dataset.from_arrow(GUIDE, Roles.of(quasi="gender", sensitive="health")), measures=["attributes"]
    )
    assert {row.attributes for row in found.attributes} >= {("gender",), ("education",), ("weight",)}
    assert any("should it be a quasi-identifier" in note for note in found.notes)
    assert not any("health" in row.attributes for row in found.attributes)


def test_missing_values_have_both_meanings() -> None:
    """Sdc practice guide: two people who differ in education, and a third whose education is missing."""
    table = pa.table({"gender": ["M"] * 3, "education": ["sc", "si", None], "labor": ["E"] * 3})
    found = disclosure(Dataset.from_arrow(table, Roles.of(quasi=table.column_names)), measures=["k"])
    assert (found.k, found.k_wildcard) == (1, 2)
    assert any("missing or suppressed" in note for note in found.notes)
    starred = table.set_column(1, "education", pa.array(["sc", "si", "*"]))
    assert (
        disclosure(Dataset.from_arrow(starred, Roles.of(quasi=table.column_names)), measures=["k"]).k_wildcard
        == 2
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(*[st.sampled_from([None, 0, 1])] * 3), min_size=1, max_size=20))
def test_wildcard_companions_equal_the_pairwise_definition(rows: list[tuple[int | None, ...]]) -> None:
    known = np.array([[v is not None for v in row] for row in rows])
    matrix = np.array([[2 if v is None else v for v in row] for row in rows], np.int32)
    slow = [
        sum(all(a == b or a is None or b is None for a, b in zip(r, s, strict=True)) for s in rows)
        for r in rows
    ]
    assert companions(matrix, known, np.ones(len(rows), np.int64)).tolist() == slow


def test_a_user_counts_once_in_a_class() -> None:
    table = pa.table({"user": ["a", "a", "b", "c"], "day": [1, 1, 1, None], "goods": ["x", "y", "x", "x"]})
    found = disclosure(Dataset.from_arrow(table, Roles.of(user="user", quasi="day", sensitive="goods")))
    assert (found.k, found.classes, found.uniques) == (1, 2, 1)
    assert found.k_wildcard == 2
    assert found.distribution() == [
        {"size": 1, "classes": 1, "records": 1},
        {"size": 2, "classes": 1, "records": 3},
    ]


def test_row_order_and_column_order_change_nothing() -> None:
    shuffled = GUIDE.take(np.random.default_rng(3).permutation(10)).select(GUIDE.column_names[::-1])
    first = disclosure(Dataset.from_arrow(GUIDE, ROLES)).to_dict()
    assert disclosure(Dataset.from_arrow(shuffled, ROLES)).to_dict()["rows"] == first["rows"]


def test_duplicated_rows_double_the_classes() -> None:
    found = disclosure(Dataset.from_arrow(pa.concat_tables([GUIDE, GUIDE]), ROLES))
    assert (found.k, found.uniques, found.classes) == (2, 0, 7)


@pytest.mark.parametrize("name", ['say "hi"', "{table}", "n", "sudare n", "select", "ä;--", "a'b"])
def test_odd_column_names_are_only_names(name: str) -> None:
    table = pa.table({name: ["x", "y", "y"], "s": ["a", 'b"', "c'"]})
    found = disclosure(Dataset.from_arrow(table, Roles.of(quasi=name, sensitive="s")))
    assert (found.k, found.classes, found.l) == (1, 2, {"s": 1})


def test_a_population_table_gives_the_journalist_exact_counts() -> None:
    population = Dataset.from_arrow(pa.table({"q": ["a"] * 4 + ["b"] * 10}), Roles.of(quasi="q"))
    sample = Dataset.from_arrow(pa.table({"q": ["a", "b", "b"]}), Roles.of(quasi="q"))
    found = disclosure(sample, population=population, measures=["k", "population"])
    assert found.journalist is not None
    assert found.journalist.largest == 0.25
    assert found.journalist.mean == pytest.approx((1 / 4 + 2 / 10) / 3)


def test_a_population_of_a_size_is_a_range_over_models() -> None:
    sample = Dataset.from_arrow(pa.table({"q": ["a", "b", "b", "c", "d"]}), Roles.of(quasi="q"))
    found = disclosure(sample, population=30, measures=["k", "population"])
    assert {"pitman", "zayatz", "log-linear main effects"} <= set(found.journalist_models)
    assert found.journalist is not None
    assert found.journalist.mean == max(risk.mean for risk in found.journalist_models.values())
    low, high = (value(found, "journalist", f"mean, {end} model") for end in ("lowest", "highest"))
    assert low < high == found.journalist.mean
    rows = record_measures(sample, population=30)["risk"].to_pylist()
    assert rows[1] == rows[2] < rows[0]
    everybody = disclosure(sample, population=5, measures=["k", "population"]).journalist
    assert everybody is not None
    assert (everybody.largest, everybody.mean) == pytest.approx((1, 4 / 5))


def test_k_map_and_delta_presence_are_counted_in_a_population_table() -> None:
    population = Dataset.from_arrow(pa.table({"q": ["a"] * 4 + ["b"] * 10}), Roles.of(quasi="q"))
    some, all_values = (
        Dataset.from_arrow(pa.table({"q": values}), Roles.of(quasi="q"))
        for values in (["b", "b"], ["a", "b", "b"])
    )
    part = disclosure(some, population=population, measures=["k"]).presence
    whole = disclosure(all_values, population=population, measures=["k"]).presence
    assert part is not None
    assert whole is not None
    assert (part.k_map, part.delta_low, part.delta_high) == (10, 0.0, 0.2)
    assert (whole.k_map, whole.delta_low, whole.delta_high) == (4, 0.2, 0.25)


def test_a_missing_sensitive_value_is_a_leaf_of_its_own() -> None:
    tree = Hierarchy.from_paths([("a", "x"), ("b", "x"), ("c", "y")])
    ds = Dataset.from_arrow(
        pa.table({"q": [1, 1, 2, 2], "s": ["a", None, "b", "c"]}), Roles.of(quasi="q", sensitive="s")
    )
    assert disclosure(ds, measures=["t"], hierarchies={"s": tree}).closeness["s"].hierarchical > 0


def test_hierarchical_closeness_needs_a_hierarchy(tmp_path: Path) -> None:
    table = pa.table({"q": [0, 0, 1, 1], "s": ["flu", "cold", "hiv", "flu"]})
    ds = Dataset.from_arrow(table, Roles.of(quasi="q", sensitive="s"))
    tree = Hierarchy.from_paths([("flu", "air"), ("cold", "air"), ("hiv", "virus")])
    found = disclosure(ds, measures=["t"], hierarchies={"s": tree})
    assert found.closeness["s"].hierarchical == pytest.approx(0.25)
    assert found.t == {"s": found.closeness["s"].hierarchical}
    tree.to_csv(tmp_path / "s.csv")
    (tmp_path / "sudare.toml").write_text("[hierarchy.s]\nfile = 's.csv'\n[hierarchy.q]\nflat = true\n")
    for source in ({"s": tmp_path / "s.csv"}, tmp_path / "sudare.toml", tmp_path):
        assert disclosure(ds, measures=["t"], hierarchies=source).t == found.t
    with pytest.raises(UsageError, match="unknown column 'z'"):
        disclosure(ds, measures=["t"], hierarchies={"z": tree})


def test_labels_of_rows_play_no_part() -> None:
    frame = GUIDE.to_pandas()
    frame.index = [7, 7, 3, 100, -1, 5, 0, 2, 9, 8]
    found = disclosure(
        sudare.open(frame, quasi=list(ROLES.quasi), sensitive="health"), measures=["k", "l", "t"]
    )
    plain = disclosure(Dataset.from_arrow(GUIDE, ROLES), measures=["k", "l", "t"])
    assert found.to_dict()["rows"] == plain.to_dict()["rows"]


def test_a_sensitive_column_can_be_measured_as_a_quasi_identifier() -> None:
    ds = Dataset.from_arrow(GUIDE, ROLES)
    assert disclosure(ds, quasi=["health"]).diversity == {}
    with pytest.raises(UsageError, match="at once"):
        disclosure(ds, quasi=["health"], sensitive=["health"])


def test_wrong_calls_are_refused_before_any_work() -> None:
    ds = Dataset.from_arrow(GUIDE, ROLES)
    for options in ({"measures": ["kk"]}, {"quasi": ["nowhere"]}, {"population": 3}, {"weights": "nowhere"}):
        with pytest.raises(UsageError):
            disclosure(ds, **options)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="no quasi-identifiers"):
        disclosure(Dataset.from_arrow(GUIDE))
    with pytest.raises(UsageError, match="no sensitive column"):
        disclosure(ds.with_roles(Roles.of(quasi="gender")), measures=["l"])
    with pytest.raises(DataError, match="no records"):
        disclosure(Dataset.from_arrow(GUIDE.slice(0, 0), ROLES))


def test_all_null_and_single_row_tables_are_measured() -> None:
    table = pa.table({"q": pa.array([None, None], pa.string()), "s": ["a", "b"]})
    found = disclosure(Dataset.from_arrow(table, Roles.of(quasi="q", sensitive="s")))
    assert (found.k, found.k_wildcard, found.l) == (2, 2, {"s": 2})
    assert disclosure(Dataset.from_arrow(GUIDE.slice(0, 1), ROLES)).k == 1


def test_an_expression_of_another_engine_gives_the_same_rows() -> None:
    """Without a DuckDB view the queries go through ibis, as on Spark and Postgres."""
    import ibis

    ds = Dataset.from_arrow(GUIDE, ROLES)
    elsewhere = ibis.sqlite.connect()
    elsewhere.con.execute(f"CREATE TABLE guide ({', '.join(GUIDE.column_names)})")
    rows = list(zip(*GUIDE.to_pydict().values(), strict=True))
    elsewhere.con.executemany("INSERT INTO guide VALUES (?,?,?,?,?,?)", rows)
    types = dict.fromkeys(GUIDE.column_names, "string") | {"weight": "int64"}
    remote = Dataset(roles=ROLES, expression=elsewhere.table("guide").cast(types))
    assert remote.relation is None
    here, there = (disclosure(table, weights="weight").to_dict()["rows"] for table in (ds, remote))
    assert here == there


def test_sizes_of_every_cross_product_are_equal() -> None:
    rows = list(product("ab", "xyz", [1, 2]))
    table = pa.table({name: [row[i] for row in rows] for i, name in enumerate("pqr")})
    found = disclosure(Dataset.from_arrow(table, Roles.of(quasi=["p", "q"])), measures=["k", "suda"])
    assert (found.k, found.classes, found.uniques) == (2, 6, 0)
    assert found.suda is not None
    assert found.suda.score.sum() == 0


def test_measures_of_every_record_stand_in_the_order_of_the_table() -> None:
    found = record_measures(Dataset.from_arrow(GUIDE, ROLES), weights="weight")
    assert found["class_size"].to_pylist() == [2, 2, 1, 2, 1, 2, 1, 1, 2, 2]
    assert found["suda"].to_pylist() == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]
    published = [0.0054, 0.0054, 0.0251, 0.0126, 0.0282, 0.0126, 0.0290, 0.0251, 0.0074, 0.0074]
    assert np.round(found["risk"].to_numpy(), 4).tolist() == published
    assert found["suda of residence"].to_pylist()[4] == 6
    assert found["companions"].to_pylist() == found["class_size"].to_pylist()


def test_records_without_weights_have_one_over_their_class() -> None:
    found = record_measures(Dataset.from_arrow(GUIDE, ROLES))
    assert found["risk"].to_pylist() == [0.5, 0.5, 1, 0.5, 1, 0.5, 1, 1, 0.5, 0.5]
    with pytest.raises(UsageError, match="no quasi"):
        record_measures(Dataset.from_arrow(GUIDE))


@pytest.mark.parametrize(
    "wrong",
    [
        {"weights": "job"},
        {"weights": "nothing"},
        {"ordered": ["nothing"]},
        {"threshold": 2},
        {"combine": 0},
        {"max_size": 0},
        {"c": 0},
    ],
)
def test_parameters_that_mean_nothing_are_refused(wrong: dict[str, object]) -> None:
    ds = sudare.open("example:patients", quasi=["sex", "job"], sensitive=["disease"])
    with pytest.raises(UsageError):
        sudare.disclosure(ds, **wrong)  # type: ignore[arg-type]
