"""SUDA2 against its slow definition and against published examples."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sudare.disclosure.reidentification import of_records
from sudare.disclosure.suda import Special, dis_scores, score_weights, suda
from sudare.engine.codes import classes, codes
from sudare.errors import UsageError

GUIDE = {
    "residence": ["Urban"] * 4 + ["Rural"] + ["Urban"] * 5,
    "gender": ["F", "F", "F", "M", "F", "M", "F", "M", "F", "F"],
    "education": ["si", "si", "pi", "sc", "sc", "sc", "pc", "ps", "si", "si"],
    "labor": ["E", "E", "N", "E", "U", "E", "N", "U", "N", "N"],
}


def by_record(columns: dict[str, list[str]], **options: object) -> tuple[Special, NDArray[np.int64]]:
    table = pa.table(columns)
    matrix, _ = codes(table, table.column_names)
    label, sizes = classes(matrix)
    first = np.unique(label, return_index=True)[1]
    return suda(matrix[first], sizes, **options), label  # type: ignore[arg-type]


def slow_scores(rows: list[tuple[int, ...]], max_size: int) -> tuple[list[float], list[list[float]]]:
    """Every subset by rising size: unique, and no part of it unique."""
    width = len(rows[0])
    weight = score_weights(width, max_size)
    score, share = [0.0] * len(rows), [[0.0] * width for _ in rows]
    found: list[list[tuple[int, ...]]] = [[] for _ in rows]
    for size in range(1, max_size + 1):
        for chosen in combinations(range(width), size):
            keys = [tuple(row[i] for i in chosen) for row in rows]
            times = Counter(keys)
            for at, key in enumerate(keys):
                if times[key] == 1 and not any(set(msu) <= set(chosen) for msu in found[at]):
                    found[at].append(chosen)
                    score[at] += weight[size - 1]
                    for i in chosen:
                        share[at][i] += weight[size - 1]
    return score, share


def test_scores_of_the_sdc_practice_guide() -> None:
    found, label = by_record(GUIDE)
    assert found.score[label].tolist() == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]
    limited, label = by_record(GUIDE, max_size=3)
    assert limited.score[label].tolist() == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]


def test_dis_scores_of_the_sdc_practice_guide_come_from_the_older_scores() -> None:
    found, label = by_record(GUIDE, scores="ihsn")
    assert found.dis[label].round(4).tolist() == [0, 0, 0.0051, 0, 0.0107, 0, 0.0051, 0.0088, 0, 0]


def test_scores_of_the_book_example() -> None:
    columns = {
        "age": ["20s"] * 7 + ["60s"],
        "gender": ["male"] * 4 + ["female"] * 3 + ["male"],
        "income": ["50k+"] * 2 + ["50k-"] * 6,
        "education": ["high"] * 4 + ["university", "high", "middle", "university"],
    }
    found, label = by_record(columns)
    assert found.score[label].tolist()[4:] == [4, 2, 6, 8]


@pytest.mark.parametrize("order", ["abc", "cab", "cba"])
def test_contributions_follow_their_attribute_in_any_order(order: str) -> None:
    values = {"a": ["2", "1", "1"], "b": ["0", "3", "0"], "c": ["0", "6", "0"]}
    found, _ = by_record({name: values[name] for name in order})
    expected = {"a": 50, "b": 37.5, "c": 37.5}
    assert found.contribution.tolist() == [expected[name] for name in order]


@settings(max_examples=150, deadline=None)
@given(
    st.integers(1, 5).flatmap(
        lambda w: st.lists(st.tuples(*[st.integers(0, 3)] * w), min_size=1, max_size=30)
    ),
    st.data(),
)
def test_scores_equal_the_slow_definition(rows: list[tuple[int, ...]], data: st.DataObject) -> None:
    max_size = data.draw(st.integers(1, len(rows[0])))
    matrix = np.array(rows, np.int32)
    label, sizes = classes(matrix)
    first = np.unique(label, return_index=True)[1]
    found = suda(matrix[first], sizes, max_size=max_size)
    score, share = slow_scores(rows, max_size)
    assert found.score[label].tolist() == score
    assert found.share[label].tolist() == share


def test_a_table_of_equal_records_has_no_special_uniques() -> None:
    found = suda(np.zeros((1, 3), np.int32), np.array([9]))
    assert found.score.tolist() == [0]
    assert found.dis.tolist() == [0]
    assert found.by_size.sum() == 0


def test_unknown_scores_and_too_many_attributes_are_refused() -> None:
    with pytest.raises(UsageError, match="scores"):
        score_weights(3, 3, "magic")
    with pytest.raises(UsageError, match="at most 60"):
        suda(np.zeros((1, 61), np.int32), np.ones(1, np.int64))


def test_small_sets_of_many_attributes_are_searched_alone() -> None:
    rng = np.random.default_rng(2)
    matrix = rng.integers(0, 3, (40, 40)).astype(np.int32)
    found = suda(matrix, np.ones(40, np.int64), max_size=2)
    assert found.by_size[2:].sum() == 0
    assert found.score.tolist() == slow_scores([tuple(row) for row in matrix.tolist()], 2)[0]


def test_the_order_of_classes_changes_no_digit() -> None:
    """Engines and threads give classes in any order."""
    rng = np.random.default_rng(1)
    score, sizes = rng.integers(1, 5000, 2000).astype(np.float64), rng.integers(1, 3, 2000)
    found = dis_scores(score, sizes, 5, 0.01)
    risk, records = rng.random(2000), rng.integers(1, 9, 2000)
    for _ in range(20):
        order = rng.permutation(2000)
        assert dis_scores(score[order], sizes[order], 5, 0.01).tolist() == found[order].tolist()
        turned, straight = of_records(risk[order], records[order], 0.2), of_records(risk, records, 0.2)
        assert turned == straight
