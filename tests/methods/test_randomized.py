"""Randomized addition: uniform, keyed, order-free sets that hold the truth."""

from __future__ import annotations

import itertools
import json
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare
from sudare.data import Dataset, Roles
from sudare.data.connection import connect
from sudare.data.values.sets import list_of_text, to_text
from sudare.disclosure.diversity import diversity
from sudare.engine.kernels.randomized import draw_sets, word_of_draw, words_needed
from sudare.engine.rows import Draft
from sudare.errors import DataError, UsageError
from sudare.keys import Key
from sudare.keys.ledger import Ledger, overlap, sketch_of
from sudare.methods.plugins.anatomy import Anatomy
from sudare.methods.plugins.randomized import RandomizedAddition

KEY = Key.demo(1)


def people(rows: int = 400, values: int = 6, seed: int = 0) -> Dataset:
    rng = np.random.default_rng(seed)
    table = pa.table(
        {
            "name": [f"p{i}" for i in range(rows)],
            "sex": rng.choice(["F", "M"], rows),
            "disease": [f"d{v}" for v in np.arange(rows) % values],
        }
    )
    return Dataset.from_arrow(table, Roles.of(identifier="name", quasi="sex", sensitive="disease"))


def sets_of(dataset: Dataset, key: Key = KEY, l: int = 3) -> dict[str, list[str]]:
    draft = RandomizedAddition(l=l).apply(Draft.of(dataset, key), key)
    return dict(zip(draft.table["name"].to_pylist(), draft.table["disease"].to_pylist()))


def slow_draw(truth: int, words: np.ndarray, size: int, l: int) -> list[int]:
    """The same shuffle with Python's whole numbers: the true value first, then draws among the rest."""
    deck, state, current = list(range(size)), 0, -1
    deck[0], deck[truth] = deck[truth], deck[0]
    for place, word in zip(range(1, l), word_of_draw(size, l)):
        if word != current:
            current, state = word, int(words[word])
        other = place + (state * (size - place) >> 64)
        deck[place], deck[other] = deck[other], deck[place]
        state = state * (size - place) % 2**64
    return sorted(deck[:l])


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 300), st.data())
def test_the_kernel_equals_the_slow_draw(size, data):
    l = data.draw(st.integers(1, min(size - 1, 20)))
    truth = data.draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=5))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    words = rng.integers(0, 2**64, (len(truth), words_needed(size, l)), dtype=np.uint64)
    drawn = draw_sets(np.array(truth), words, size, l)
    assert drawn.tolist() == [slow_draw(t, w, size, l) for t, w in zip(truth, words)]


def test_every_set_holds_the_truth_and_l_different_values_in_domain_order():
    dataset = people()
    truth = dict(zip(*dataset.to_pyarrow(["name", "disease"]).to_pydict().values()))
    for name, values in sets_of(dataset).items():
        assert truth[name] in values
        assert len(set(values)) == 3
        assert values == sorted(values)


def test_sets_are_uniform_by_chi_square():
    size, l, rows = 6, 3, 60_000
    words = np.random.default_rng(5).integers(0, 2**64, (rows, 1), dtype=np.uint64)
    drawn = draw_sets(np.full(rows, 2), words, size, l)
    codes = {pair: i for i, pair in enumerate(itertools.combinations([0, 1, 3, 4, 5], l - 1))}
    seen = np.bincount(
        [codes[tuple(v for v in row if v != 2)] for row in drawn.tolist()], minlength=len(codes)
    )
    expected = rows / len(codes)
    assert ((seen - expected) ** 2 / expected).sum() < 27.9  # 9 degrees of freedom, p = .001


def test_keyed_sets_are_uniform_over_records():
    """The whole path: ids, AES words, draw."""
    sets = sets_of(people(20_000, values=5), l=2)
    false = [[v for v in s if v != f"d{int(n[1:]) % 5}"] for n, s in sets.items()]
    _, seen = np.unique([f"{int(n[1:]) % 5}{f[0]}" for n, f in zip(sets, false)], return_counts=True)
    assert len(seen) == 20
    assert ((seen - 1000) ** 2 / 1000).sum() < 43.8  # 19 degrees of freedom, p = .001


def test_the_same_record_gets_the_same_set_in_any_order_and_in_any_part():
    dataset = people()
    table = dataset.to_pyarrow()
    whole = sets_of(dataset)
    turn = np.random.default_rng(1).permutation(table.num_rows)
    assert sets_of(Dataset.from_arrow(table.take(turn), dataset.roles)) == whole
    half = Dataset.from_arrow(table.slice(0, 60), dataset.roles)
    assert sets_of(half) == {name: whole[name] for name in list(whole)[:60]}


def test_chunks_and_threads_do_not_matter():
    dataset = people()
    method = RandomizedAddition(l=3).fit(Draft.of(dataset, KEY))
    draft = Draft.of(dataset, KEY)
    parts = [draft.take(np.arange(at, at + 100)) for at in range(0, 400, 100)]
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda part: method.apply(part, KEY).table["disease"].to_pylist(), parts))
    assert list(itertools.chain(*done)) == method.apply(draft, KEY).table["disease"].to_pylist()


def test_another_key_gives_other_sets():
    dataset = people()
    one, other = sets_of(dataset), sets_of(dataset, Key.demo(2))
    same = np.mean([one[name] == other[name] for name in one])
    assert 0.02 < same < 0.2  # 1 in C(5, 2) = 10


def test_a_smaller_l_gives_a_part_of_the_larger_set():
    dataset = people(values=12)
    small, large = sets_of(dataset, l=3), sets_of(dataset, l=8)
    assert all(set(small[name]) <= set(large[name]) for name in small)


def test_a_missing_value_is_a_value_of_its_own():
    table = pa.table({"name": list("abcd"), "disease": ["x", None, "y", "z"]})
    dataset = Dataset.from_arrow(table, Roles.of(identifier="name", sensitive="disease"))
    draft = RandomizedAddition(l=2).apply(Draft.of(dataset, KEY), KEY)
    assert None in draft.table["disease"][1].as_py()
    assert draft.schema["randomized"]["disease"]["domain"] == ["x", "y", "z", None]


def test_several_columns_get_sets_of_their_own():
    table = pa.table({"a": list("xyz") * 5, "b": [1, 2, 3] * 5})
    dataset = Dataset.from_arrow(table, Roles.of(sensitive=["a", "b"]))
    draft = RandomizedAddition(l=2).apply(Draft.of(dataset, KEY), KEY)
    assert draft.schema["randomized"] == {
        "a": {"l": 2, "domain": ["x", "y", "z"], "version": 1},
        "b": {"l": 2, "domain": [1, 2, 3], "version": 1},
    }
    assert draft.table["b"].to_pylist() != [
        [" xyz".index(v) for v in s] for s in draft.table["a"].to_pylist()
    ]


def test_a_given_domain_may_be_wider_but_not_narrower():
    dataset = people(values=3)
    wide = RandomizedAddition(l=4, domain=[f"d{i}" for i in range(9)])
    assert len(wide.apply(Draft.of(dataset, KEY), KEY).schema["randomized"]["disease"]["domain"]) == 9
    with pytest.raises(DataError, match="outside the given domain"):
        RandomizedAddition(l=2, domain=["d0", "d1", "d9"]).apply(Draft.of(dataset, KEY), KEY)


@pytest.mark.parametrize(("l", "words"), [(7, "larger than the 6 values"), (6, "nothing can be estimated")])
def test_l_beyond_the_domain_is_refused(l, words):
    with pytest.raises(UsageError, match=words):
        RandomizedAddition(l=l).apply(Draft.of(people(), KEY), KEY)


def test_two_values_cannot_hide_each_other():
    with pytest.raises(UsageError, match="give a larger domain"):
        RandomizedAddition(l=2).apply(Draft.of(people(values=2), KEY), KEY)


def test_a_set_of_one_is_the_truth_and_says_so():
    dataset = people()
    with pytest.warns(sudare.SudareWarning, match="S-TRUTH"):
        release = sudare.anonymize(dataset, RandomizedAddition(l=1), key=KEY)
    truth = dataset.to_pyarrow()["disease"].to_pylist()
    assert release.data.to_pyarrow()["disease"].to_pylist() == [[truth[row]] for row in release.truth]
    result = sudare.estimate(release)
    assert result.expected_mse == 0
    assert [row["count"] for row in result.rows] == [truth.count(f"d{i}") for i in range(6)]
    assert all(row["low"] == row["high"] == row["count"] for row in result.rows)


def test_wrong_parameters_are_refused():
    with pytest.raises(UsageError, match="whole number"):
        RandomizedAddition(l=0)
    with pytest.raises(UsageError, match="unknown column"):
        RandomizedAddition(l=2, column="diseas").apply(Draft.of(people(), KEY), KEY)


def test_a_second_draw_of_the_same_records_with_another_key_is_refused(tmp_path):
    first, second = Key.new().save(tmp_path / "a.key"), Key.new().save(tmp_path / "b.key")
    dataset = people()
    method = RandomizedAddition(l=3)
    method.apply(Draft.of(dataset, first), first)
    method.apply(Draft.of(dataset, first), first)
    with pytest.raises(UsageError, match="already randomised with the key"):
        method.apply(Draft.of(dataset, second), second)
    grown = pa.concat_tables([dataset.to_pyarrow(), people(500).to_pyarrow().slice(400)])
    with pytest.raises(UsageError, match="already randomised with the key"):
        method.apply(Draft.of(Dataset.from_arrow(grown, dataset.roles), second), second)
    RandomizedAddition(l=3, force=True).apply(Draft.of(dataset, second), second)
    method.apply(Draft.of(dataset, second), second)  # the forced release once more: no new draw


def test_another_domain_for_the_same_records_is_refused(tmp_path):
    key = Key.new().save(tmp_path / "a.key")
    RandomizedAddition(l=3).apply(Draft.of(people(), key), key)
    with pytest.raises(UsageError, match="another domain"):
        RandomizedAddition(l=3, domain=[f"d{i}" for i in range(8)]).apply(Draft.of(people(), key), key)


def test_the_ledger_is_private_and_names_nobody(tmp_path):
    key = Key.new().save(tmp_path / "a.key")
    RandomizedAddition(l=3).apply(Draft.of(people(), key), key)
    path = tmp_path / "sudare-ledger.json"
    assert path.stat().st_mode & 0o077 == 0
    assert "p1" not in path.read_text()
    assert "d1" not in json.loads(path.read_text())["releases"][0]["domain"][:2]
    assert Ledger.beside(Key.demo(1)) is None


def test_a_damaged_ledger_is_not_overlooked(tmp_path):
    key = Key.new().save(tmp_path / "a.key")
    for content in ("", "[]", '{"releases": []}', '{"secret": "00", "releases": [{}]}'):
        (tmp_path / "sudare-ledger.json").write_text(content)
        with pytest.raises(UsageError, match="ledger of releases cannot be read"):
            RandomizedAddition(l=3).apply(Draft.of(people(), key), key)


def test_sketches_see_overlap_and_nothing_else():
    rng = np.random.default_rng(3)
    hashes = rng.integers(0, 2**64, (3000, 2), dtype=np.uint64)
    first, second = sketch_of(hashes[:2000]), sketch_of(hashes[1000:])
    assert 0.15 < overlap(first, second) < 0.55  # 1000 of 3000 are common
    assert overlap(sketch_of(hashes[:1000]), sketch_of(hashes[2000:])) <= 0.02
    assert sketch_of(hashes[:50][::-1]) == sketch_of(hashes[:50])


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(st.none(), st.text("ab\\|N12='\n"), st.text()), min_size=1, max_size=6))
def test_sets_survive_their_text_form(members):
    cell = to_text(members).replace("\0", "")
    query = (
        connect().cursor().execute(f"SELECT {list_of_text('cell')} FROM (SELECT ?::VARCHAR AS cell)", [cell])
    )
    assert query.fetchone()[0] == [m if m is None else m.replace("\0", "") for m in members]


WILD = [
    "a|b",
    "back\\slash",
    'quo"te',
    "com,ma",
    "\\N",
    "|",
    "\\",
    "=1+1",
    "-x",
    "\\1",
    "'=q",
    "",
    "  blanks ",
]


@pytest.mark.parametrize("escape", [False, True])
@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "parquet", "arrow"])
@pytest.mark.parametrize("method", [RandomizedAddition(l=3), Anatomy(l=3)])
def test_a_release_says_the_same_in_every_format(tmp_path, method, ending, escape):
    rng = np.random.default_rng(4)
    table = pa.table({"name": [f"p{i}" for i in range(300)], "disease": rng.choice(WILD, 300)})
    dataset = sudare.open(table, identifier="name", sensitive="disease")
    release = sudare.anonymize(dataset, method, key=KEY)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sudare.SudareWarning)
        release.save(tmp_path / f"sets.{ending}", escape_formulas=escape)
        read = sudare.open(tmp_path / f"sets.{ending}")
    assert read.to_pyarrow()["disease"].to_pylist() == release.data.to_pyarrow()["disease"].to_pylist()
    assert sudare.estimate(read).rows == sudare.estimate(release).rows
    assert diversity(read).rows == diversity(release.data).rows
