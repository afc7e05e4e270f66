"""Recipes side by side, the frontier, and the guess which method made a release."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sudare
from sudare.data.dataset import Dataset
from sudare.data.roles import Roles
from sudare.loop.compare import compare
from sudare.loop.guess import guess, posterior
from sudare.methods import Average, DeleteRecords, Mondrian, Noise, Shuffle, Swap, Unify


@pytest.fixture(scope="module")
def people():
    random = np.random.default_rng(8)
    table = pa.table(
        {
            "sex": random.choice(["f", "m"], 600),
            "town": random.choice(list("abcdef"), 600),
            "size": random.integers(1, 6, 600),
            "income": random.lognormal(10, 0.5, 600).round(),
            "rent": random.lognormal(7, 0.4, 600).round(),
        }
    )
    return Dataset.from_arrow(table, Roles.of(quasi=["sex", "town", "size"], sensitive=["income", "rent"]))


METHODS = {
    "k-anonymization": Mondrian(k=40),
    "noise": Noise(sd=0.2),
    "shuffle": Shuffle(),
    "unify": Unify(column="town"),
    "average": Average(),
    "swap": Swap(),
    "delete-records": DeleteRecords(share=0.2),
}


@pytest.fixture(scope="module")
def matrix(people, key):
    return compare(people, METHODS, key=key)


def test_there_is_a_row_per_recipe_and_a_column_per_metric(matrix):
    assert [row["recipe"] for row in matrix.rows] == ["original", *METHODS]
    for name in ("U1", "U6", "S1", "S2", "identify-rand", "euclid", "worst", "guess", "frontier"):
        assert name in matrix.columns
    turned = matrix.transposed()
    assert [row["metric"] for row in turned.rows][:2] == ["records", "U1"]
    assert set(turned.rows[0]) == {"metric", "original", *METHODS}


def test_cheating_is_marked_and_never_on_the_frontier(matrix):
    rows = {row["recipe"]: row for row in matrix.rows}
    assert rows["shuffle"]["cheating"]
    assert rows["shuffle"]["worst"] < 0.01
    assert not rows["shuffle"]["frontier"]
    assert rows["original"]["frontier"]
    assert any(note.startswith("shuffle: S-CHEAT") for note in matrix.notes)


def test_the_frontier_is_not_beaten(matrix):
    honest = [row for row in matrix.rows if not row["cheating"]]
    for row in honest:
        better = [
            other
            for other in honest
            if other["worst"] <= row["worst"]
            and other["pairwise-distance"] <= row["pairwise-distance"]
            and (other["worst"], other["pairwise-distance"]) != (row["worst"], row["pairwise-distance"])
        ]
        assert row["frontier"] == (not better), row["recipe"]
    assert matrix.chart().to_dict()


@pytest.mark.parametrize("name", METHODS)
def test_each_method_is_recognised(matrix, name):
    row = next(row for row in matrix.rows if row["recipe"] == name)
    assert row["guess"] == name
    assert row["confidence"] > 0.5


@pytest.mark.parametrize(
    "pair",
    [("average", "k-anonymization"), ("swap", "unify"), ("noise", "delete-records"), ("shuffle", "unify")],
)
def test_pairs_of_methods_are_among_the_first_guesses(people, key, pair):
    release = sudare.anonymize(people, [METHODS[name] for name in pair], key=key)
    found = guess(people, release).to_frame()
    assert any(set(pair) == set(methods.split(" + ")) for methods in found["methods"][:3])
    assert found["probability"].is_monotonic_decreasing


def test_probabilities_add_up_and_unknown_features_are_left_out():
    assert sum(row["probability"] for row in posterior({})) == pytest.approx(1)
    assert posterior({"claims": True, "U5": True})[0]["methods"] == "shuffle"


def test_recipes_without_names_are_named_by_their_steps(people, key):
    rows = compare(people, [Noise(), [Unify(column="town"), Swap()], Noise(sd=0.5)], key=key).rows
    assert [row["recipe"] for row in rows] == ["original", "noise", "unify+swap", "noise (3)"]
    with pytest.raises(sudare.UsageError, match="no recipe"):
        compare(people, [], key=key)
