"""Post-randomisation draws from the published matrix, from the key and the record alone."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.data.dataset import Dataset
from sudare.data.roles import Roles
from sudare.engine.rows import Draft
from sudare.errors import UsageError
from sudare.keys import Key
from sudare.methods.plugins.pram import Pram
from sudare.methods.plugins.pram import invariant as made_invariant

KEY = Key.demo(1)


def draft_of(cells) -> Draft:
    table = pa.table({"id": range(len(cells)), "job": cells})
    roles = Roles(identifier=("id",), quasi=("job",))
    return Draft.of(Dataset.from_arrow(table, roles, name="test"), KEY)


JOBS = np.random.default_rng(0).choice(["a", "b", "c", None], 20_000, p=[0.6, 0.25, 0.1, 0.05]).tolist()


@given(st.integers(2, 6), st.integers(0, 1000))
def test_invariant_probabilities_keep_the_expected_counts(n, seed):
    rng = np.random.default_rng(seed)
    chances = rng.dirichlet(np.ones(n), n)
    counts = rng.integers(1, 50, n).astype(float)
    made = made_invariant(chances, counts)
    assert np.allclose(made.sum(axis=1), 1)
    assert np.allclose(counts @ made, counts)


def test_cells_follow_their_row_of_the_matrix():
    release = Pram(column="job", retain=0.7, invariant=False).apply(draft_of(JOBS), KEY)
    schema = release.schema["pram"]["job"]
    assert schema["values"] == ["a", "b", "c", None]
    published = release.table["job"].to_pylist()
    for row, value in enumerate(schema["values"]):
        mine = [p for p, j in zip(published, JOBS) if j == value]
        for column, other in enumerate(schema["values"]):
            chance = schema["matrix"][row][column]
            sd = np.sqrt(chance * (1 - chance) / len(mine))
            assert abs(mine.count(other) / len(mine) - chance) < 5 * sd
    assert release.details["expected_changed"] == pytest.approx(0.3)
    assert release.details["changed"] == pytest.approx(0.3, abs=0.02)


def test_the_invariant_option_moves_counts_less():
    plain = Pram(column="job", retain=0.7, invariant=False).apply(draft_of(JOBS), KEY).details
    kept = Pram(column="job", retain=0.7).apply(draft_of(JOBS), KEY).details
    assert kept["information_loss"] < plain["information_loss"] / 5


def test_draws_depend_on_the_key_and_the_record_not_on_the_order():
    draft = draft_of(JOBS[:500])
    shuffled = np.random.default_rng(1).permutation(500)
    method = Pram(column="job")
    one = method.apply(draft, KEY).table["job"].to_pylist()
    two = method.apply(draft.take(shuffled), KEY).table["job"].to_pylist()
    assert [one[i] for i in shuffled] == two
    assert method.apply(draft, Key.demo(2)).table["job"].to_pylist() != one


def test_a_given_matrix_is_used_and_checked():
    swap = [[0.0, 1.0], [1.0, 0.0]]
    release = Pram(column="job", matrix=swap, invariant=False).apply(draft_of(["a", "b", "b"]), KEY)
    assert release.table["job"].to_pylist() == ["b", "a", "a"]
    for wrong in ([[1.0]], [[0.5, 0.4], [0, 1]], [[2, -1], [0, 1]], "x"):
        with pytest.raises(UsageError, match="matrix"):
            Pram(column="job", matrix=wrong).apply(draft_of(["a", "b"]), KEY)


def test_one_value_stays_and_wrong_calls_are_refused():
    assert Pram(column="job").apply(draft_of(["a", "a"]), KEY).table["job"].to_pylist() == ["a", "a"]
    with pytest.raises(UsageError, match="retain"):
        Pram(column="job", retain=0)
    with pytest.raises(UsageError, match="did you mean 'job'"):
        Pram(column="jobs").apply(draft_of(["a", "b"]), KEY)


def test_the_schema_can_be_written_as_json_whatever_the_values_are():
    import datetime as dt
    import json

    release = Pram(column="job").apply(draft_of([dt.date(2020, 1, 1), dt.date(2021, 1, 1)]), KEY)
    assert json.loads(json.dumps(release.schema))["pram"]["job"]["values"] == ["2020-01-01", "2021-01-01"]


@pytest.mark.parametrize("invariant", [True, False])
def test_neither_schema_nor_details_give_the_exact_counts(invariant):
    """Where values go one way only, the number of changed cells is the difference of the counts."""
    one_way = [[1.0, 0.0], [0.5, 0.5]]
    jobs = ["a"] * 137 + ["b"] * 263
    release = Pram(column="job", matrix=one_way, invariant=invariant).apply(draft_of(jobs), KEY)
    assert release.schema["pram"]["job"]["matrix"] == one_way
    assert release.schema["pram"]["job"]["invariant"] is invariant
    assert release.details["changed"] * 400 % 10 == pytest.approx(0)
    published = np.unique(release.table["job"].to_pylist(), return_counts=True)[1].astype(float)
    chances = np.array(one_way)
    before = published @ np.linalg.inv(chances) if not invariant else published
    used = chances if not invariant else made_invariant(chances, published)
    expected = before @ (1 - np.diag(used)) / 400
    assert release.details["expected_changed"] == pytest.approx(expected)


def test_the_expected_loss_is_what_happens_on_average():
    counts = np.array([JOBS.count(v) for v in ("a", "b", "c", None)])
    for method in (Pram(column="job", retain=0.9), Pram(column="job", retain=0.9, invariant=False)):
        losses, expected = [], []
        for seed in range(12):
            release = method.apply(draft_of(JOBS), Key.demo(seed))
            published = release.table["job"].to_pylist()
            after = np.array([published.count(v) for v in ("a", "b", "c", None)])
            losses.append(np.abs(after - counts).sum() / 2 / len(JOBS))
            expected.append(release.details["information_loss"])
        assert np.mean(expected) == pytest.approx(np.mean(losses), rel=0.5)
