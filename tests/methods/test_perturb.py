"""The single methods of P4: what each changes, what it leaves, and that the key alone decides."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import sudare
from sudare.data.dataset import Dataset
from sudare.data.roles import Roles
from sudare.errors import UsageError
from sudare.keys import Key
from sudare.methods import Average, CorrelatedNoise, DeleteRecords, Noise, RankSwap, Shuffle, Swap, Unify

ROLES = Roles.of(quasi=["q"], sensitive=["s", "w"])
METHODS = [Noise(), Average(), Swap(), Shuffle(), DeleteRecords(share=0.3), Unify(column="q")]


def people(rows=200, **columns):
    random = np.random.default_rng(5)
    made = {
        "q": random.integers(0, 12, rows),
        "s": random.integers(0, 1000, rows),
        "w": random.normal(50, 10, rows),
    }
    return Dataset.from_arrow(pa.table({**made, **columns}), ROLES)


def in_original_order(release, column):
    """The values of a release by original row."""
    found = dict(zip(release.truth, release.data.to_pyarrow([column])[column].to_pylist()))
    return [found.get(row) for row in range(max(found) + 1)]


@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
def test_the_same_key_gives_the_same_release_whatever_the_row_order(method, key):
    ds = people()
    turned = Dataset.from_arrow(ds.to_pyarrow().take(list(range(199, -1, -1))), ROLES)
    first, second = (sudare.anonymize(d, method, key=key).data.to_pyarrow() for d in (ds, turned))
    assert first.equals(second)
    if not isinstance(method, (Average, Unify, Shuffle)):
        other = sudare.anonymize(ds, method, key=Key.demo(2)).data.to_pyarrow()
        assert sorted(map(str, other.to_pylist())) != sorted(map(str, first.to_pylist()))


@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
def test_a_recipe_file_gives_the_same_method_back(method, tmp_path):
    path = tmp_path / "recipe.toml"
    path.write_text(sudare.Recipe(method).to_toml())
    assert sudare.Recipe.from_toml(path).steps == (method,)


def test_noise_has_the_spread_it_was_asked_for_and_keeps_types(key):
    ds = people(4000)
    release = sudare.anonymize(ds, Noise(sd=0.2), key=key)
    assert release.data.schema.field("s").type == ds.schema.field("s").type
    original = ds.to_pyarrow().to_pydict()
    for column in ("s", "w"):
        added = np.array(in_original_order(release, column), float) - np.array(original[column], float)
        assert added.std() / np.std(original[column]) == pytest.approx(0.2, rel=0.05)
        change = np.abs(added).mean() / np.std(original[column])
        assert release.steps[0]["details"]["information_loss"] == pytest.approx(change, rel=0.05)
        assert abs(added.mean()) < 0.02 * np.std(original[column])
    assert in_original_order(release, "q") == original["q"]


def test_noise_by_scales_and_by_chunks_is_the_same(key):
    from sudare.engine.rows import Draft

    draft = Draft.of(people(), key)
    fitted = Noise(sd=0.1).fit(draft)
    whole = Noise(sd=0.1).apply(draft, key).table
    parts = [fitted.apply(draft.take(np.arange(a, a + 50)), key).table for a in range(0, 200, 50)]
    assert pa.concat_tables(parts).equals(whole)


def test_missing_cells_stay_missing_and_infinite_ones_are_refused(key):
    gaps = people(4, q=[1, 1, 2, 2], s=[1, None, 3, 4], w=[1.0, 2.0, None, 4.0])
    for method in (Noise(), Average()):
        release = sudare.anonymize(gaps, method, key=key)
        assert in_original_order(release, "s")[1] is None
        assert in_original_order(release, "w")[2] is None
    broken = people(3, q=[1, 1, 1], s=[1, 2, 3], w=[1.0, float("nan"), 2.0])
    with pytest.raises(sudare.DataError, match="'w' holds NaN"):
        sudare.anonymize(broken, Noise(), key=key)


def test_whole_numbers_never_leave_their_type(key):
    edge = people(2, q=[1, 2], s=pa.array([0, 255], pa.uint8()), w=[1.0, 2.0])
    values = sudare.anonymize(edge, Noise(columns=["s"], sd=3), key=key).data.to_pyarrow()["s"]
    assert values.type == pa.uint8()


def test_unify_leaves_one_value(key):
    ds = people()
    commonest = max(
        set(ds.to_pyarrow()["q"].to_pylist()), key=lambda v: ds.to_pyarrow()["q"].to_pylist().count(v)
    )
    assert set(sudare.anonymize(ds, Unify(column="q"), key=key).data.to_pyarrow()["q"].to_pylist()) == {
        commonest
    }
    given = sudare.anonymize(ds, Unify(column="q", value=99), key=key)
    assert set(given.data.to_pyarrow()["q"].to_pylist()) == {99}
    with pytest.raises(sudare.UsageError, match="does not fit"):
        sudare.anonymize(ds, Unify(column="q", value="x"), key=key)
    with pytest.raises(sudare.UsageError, match="did you mean"):
        sudare.anonymize(ds, Unify(column="qq"), key=key)


def test_average_is_the_mean_of_the_class(key):
    ds = people()
    table = ds.to_pyarrow().to_pandas()
    release = sudare.anonymize(ds, Average(), key=key)
    assert in_original_order(release, "s") == pytest.approx(
        table.groupby("q")["s"].transform("mean").tolist()
    )


def test_swap_keeps_every_class_and_moves_columns_apart(key):
    ds = people()
    table = ds.to_pyarrow().to_pandas()
    release = sudare.anonymize(ds, Swap(), key=key)
    moved = table.assign(s=in_original_order(release, "s"), w=in_original_order(release, "w"))
    for column in ("s", "w"):
        before, after = (t.groupby("q")[column].apply(sorted) for t in (table, moved))
        assert before.equals(after)
    assert (moved["s"] != table["s"]).mean() > 0.8
    together = set(zip(table["s"], table["w"]))
    assert np.mean([pair in together for pair in zip(moved["s"], moved["w"])]) < 0.3


def test_shuffle_changes_claims_and_nothing_else(key):
    ds = people()
    release = sudare.anonymize(ds, Shuffle(), key=key)
    published = sorted(map(str, release.data.to_pyarrow().to_pylist()))
    assert published == sorted(map(str, ds.to_pyarrow().to_pylist()))
    assert sorted(release.truth) == list(range(200))
    rows = ds.to_pyarrow().to_pylist()
    assert not any(
        row == rows[true] for row, true in zip(release.data.to_pyarrow().to_pylist(), release.truth)
    )


def test_deletion_takes_the_share_it_was_asked_for(key):
    release = sudare.anonymize(people(), DeleteRecords(share=0.1), key=key)
    assert release.data.rows == 180
    assert release.steps[0]["details"] == {"deleted": 20}
    rows = people().to_pyarrow().to_pylist()
    assert all(row == rows[true] for row, true in zip(release.data.to_pyarrow().to_pylist(), release.truth))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Noise(sd=-1),
        lambda: Noise(sd=float("nan")),
        lambda: Noise(sd=True),
        lambda: DeleteRecords(share=1),
        lambda: DeleteRecords(share=-0.1),
    ],
)
def test_wrong_parameters_are_refused_at_once(wrong):
    with pytest.raises(sudare.UsageError):
        wrong()


def test_columns_that_are_not_numbers_are_named(key):
    words = Dataset.from_arrow(pa.table({"q": ["a"], "s": ["b"], "w": ["c"]}), ROLES)
    with pytest.raises(sudare.UsageError, match="'s' is not numeric"):
        sudare.anonymize(words, Noise(columns=["s"]), key=key)
    with pytest.raises(sudare.UsageError, match="no numeric column"):
        sudare.anonymize(words, Noise(), key=key)


@pytest.mark.parametrize("make", [Noise, CorrelatedNoise])
def test_noise_beyond_all_numbers_is_not_published(make, key):
    numbers = Dataset.from_arrow(pa.table({"q": [1, 2], "s": [-1e6, 1e6], "w": [5, 6]}), ROLES)
    with pytest.raises(sudare.UsageError, match="too large to be numbers"):
        sudare.anonymize(numbers, make(sd=1e308, columns=["s"]), key=key)


@pytest.mark.parametrize(
    "make", [Noise, Average, lambda columns: RankSwap(p=10, columns=columns), CorrelatedNoise]
)
def test_an_empty_list_of_columns_is_refused(make, key):
    numbers = Dataset.from_arrow(pa.table({"q": [1, 2], "s": [3, 4], "w": [5, 6]}), ROLES)
    with pytest.raises(sudare.UsageError, match="the list of columns is empty"):
        sudare.anonymize(numbers, make(columns=[]), key=key)


@pytest.mark.parametrize(
    "make", [Noise, Average, Swap, lambda columns: RankSwap(p=10, columns=columns), CorrelatedNoise]
)
def test_one_column_may_be_given_by_its_name_alone(make, key):
    ds = people()
    one, listed = (sudare.anonymize(ds, make(columns=c), key=key).data.to_pyarrow() for c in ("s", ["s"]))
    assert sorted(map(str, one.to_pylist())) == sorted(map(str, listed.to_pylist()))


@pytest.mark.parametrize("wrong", [Noise, None, 7, {"method": "noise"}, pd.DataFrame({"a": ["secret"]})])
def test_what_is_no_method_is_refused_and_not_shown(wrong, key):
    for given in (wrong, [wrong]):
        with pytest.raises(UsageError, match="is not a method") as refused:
            sudare.anonymize(people(), given, key=key)
        assert "secret" not in str(refused.value)


def test_two_steps_of_noise_draw_independently(key):
    ds = people(4000)
    once, twice = (
        np.array(in_original_order(sudare.anonymize(ds, [Noise(sd=0.2)] * n, key=key), "w")) for n in (1, 2)
    )
    original = np.array(ds.to_pyarrow()["w"])
    first, second = once - original, twice - once
    assert abs(np.corrcoef(first, second)[0, 1]) < 5 / np.sqrt(4000)
    assert second.std() / first.std() == pytest.approx(1, rel=0.05)


def test_a_second_swap_is_another_one(key):
    ds = people(4000)
    once, twice = (
        in_original_order(sudare.anonymize(ds, [Swap(columns=["w"])] * n, key=key), "w") for n in (1, 2)
    )
    original = ds.to_pyarrow()["w"].to_pylist()
    assert sum(a == b for a, b in zip(twice, original)) < 0.02 * 4000
    assert once != twice


@pytest.mark.parametrize("grown", [200, 208])
def test_a_smaller_share_deletes_a_part_of_what_a_larger_one_does(key, grown):
    first = set(sudare.anonymize(people(), DeleteRecords(share=0.1), key=key).truth)
    kept = set(sudare.anonymize(people(), DeleteRecords(share=0.4), key=key).truth)
    assert kept < first
    whole = people()
    more = pa.concat_tables([whole.to_pyarrow(), people(grown).to_pyarrow().slice(200)])
    later = {
        row
        for row in sudare.anonymize(Dataset.from_arrow(more, ROLES), DeleteRecords(share=0.4), key=key).truth
        if row < 200
    }
    assert later <= kept or kept <= later
