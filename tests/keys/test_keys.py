"""Keys, record ids and keyed draws."""

from __future__ import annotations

import datetime as dt
import hashlib
import stat
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sudare import keys
from sudare.data.roles import Roles
from sudare.errors import SudareWarning, UsageError
from sudare.keys import Key, siphash

ROWS = pa.table({"user": ["a", "a", "b", "c", "c"], "goods": ["x", "y", "x", "z", "z"], "n": [1, 2, 1, 5, 5]})


def ids_of(table: pa.Table, roles: Roles, key: Key) -> set[bytes]:
    return {row.tobytes() for row in keys.record_ids(table, roles, key)}


def test_siphash_gives_the_published_vectors() -> None:
    k0, k1 = np.frombuffer(bytes(range(16)), dtype="<u8")
    data = np.arange(64, dtype=np.uint8)
    expected = {0: "a3817f04ba25a8e66df67214c7550293", 1: "da87c1d86b99af44347659119b22fc45"}
    for length, digest in expected.items():
        out = np.zeros((1, 2), dtype=np.uint64)
        siphash.hash_bytes(k0, k1, data, np.array([0, length]), np.array([True]), out)
        assert out.tobytes().hex() == digest


def test_words_are_aes_of_the_record_id(key: Key) -> None:
    ids = keys.record_ids(ROWS, Roles(), key)
    cipher = Cipher(algorithms.AES(key.subkey("draw", "goods", 1)), modes.ECB()).encryptor()
    expected = np.frombuffer(cipher.update(ids[2].tobytes()), dtype="<u8")
    assert (keys.words(key, "draw", "goods", ids, 4)[2, 2:] == expected).all()


@given(st.permutations(range(5)))
def test_ids_do_not_depend_on_the_order_of_rows(order: list[int]) -> None:
    key = Key.demo(1)
    for roles in (Roles(), Roles.of(user="user"), Roles.of(identifier=["user", "n"])):
        assert ids_of(ROWS, roles, key) == ids_of(ROWS.take(order), roles, key)


def test_ids_do_not_depend_on_chunks_and_file_types(key: Key) -> None:
    chunked = pa.concat_tables([ROWS.slice(0, 2), ROWS.slice(2)])
    as_text = ROWS.set_column(2, "n", ROWS["n"].cast(pa.string()))
    whole = keys.record_ids(ROWS, Roles(), key)
    assert (keys.record_ids(chunked, Roles(), key) == whole).all()
    assert (keys.record_ids(as_text, Roles(), key) == whole).all()


def test_every_record_has_its_own_id_even_equal_ones(key: Key) -> None:
    assert len(ids_of(ROWS, Roles(), key)) == len(ids_of(ROWS, Roles.of(user="user"), key)) == 5


def test_a_record_with_a_unique_user_keeps_its_id_when_something_else_changes(key: Key) -> None:
    before = pa.table({"user": ["a", "b"], "age": [41, 50]})
    after = pa.table({"user": ["a", "b"], "age": [42, 50]})
    roles = Roles.of(user="user")
    assert (keys.record_ids(before, roles, key) == keys.record_ids(after, roles, key)).all()


def test_declared_records_are_known_by_person_and_record_alone(key: Key) -> None:
    roles = Roles.of(user="user", record="n")
    lines = ROWS.set_column(2, "n", pa.array([1, 2, 1, 5, 6]))
    whole = keys.record_ids(lines, roles, key)
    assert len({row.tobytes() for row in whole}) == 5
    other = lines.drop_columns(["goods"]).append_column("more", pa.array(range(5)))
    assert (keys.record_ids(other, roles, key) == whole).all()
    assert (keys.record_ids(lines.slice(0, 1), roles, key) == whole[:1]).all()
    assert (keys.record_ids(lines, Roles.of(user="user"), key)[[0, 1, 3, 4]] != whole[[0, 1, 3, 4]]).any()


def test_another_key_gives_other_ids_and_draws(key: Key) -> None:
    other = Key.demo(2)
    ids = keys.record_ids(ROWS, Roles(), key)
    assert ids_of(ROWS, Roles(), key).isdisjoint(ids_of(ROWS, Roles(), other))
    assert (keys.words(key, "p", "c", ids) != keys.words(other, "p", "c", ids)).all()
    assert (keys.words(key, "p", "c", ids) != keys.words(key, "p", "d", ids)).all()
    assert (keys.words(key, "p", "c", ids) != keys.words(key, "q", "c", ids)).all()


def test_purpose_and_column_are_not_confused(key: Key) -> None:
    assert key.subkey("ab", "c") != key.subkey("a", "bc")


def test_draws_are_uniform_and_normal(key: Key) -> None:
    ids = keys.record_ids(pa.table({"id": np.arange(50_000)}), Roles.of(user="id"), key)
    assert stats.kstest(keys.uniform(key, "t", "", ids)[:, 0], "uniform").pvalue > 0.001
    assert stats.kstest(keys.normal(key, "t", "", ids)[:, 0], "norm").pvalue > 0.001


def test_order_is_a_permutation_that_follows_the_records(key: Key) -> None:
    table = pa.table({"id": np.arange(200)})
    roles = Roles.of(user="id")
    turned = table.take(np.arange(199, -1, -1))
    here = table.take(keys.order(key, "s", "", keys.record_ids(table, roles, key)))
    there = turned.take(keys.order(key, "s", "", keys.record_ids(turned, roles, key)))
    assert here.equals(there)
    assert not here.equals(table)


@settings(max_examples=25)
@given(st.lists(st.one_of(st.none(), st.text(max_size=8)), min_size=1, max_size=20))
def test_equal_text_equal_hash_and_only_then(values: list[str | None]) -> None:
    hashes = keys.hash_column(pa.chunked_array([pa.array(values, pa.string())]), Key.demo(1))
    for i, a in enumerate(values):
        for j, b in enumerate(values):
            assert (a == b) == bool((hashes[i] == hashes[j]).all())


def test_a_key_file_is_private_never_replaced_and_read_back(tmp_path: Path) -> None:
    made = Key.new().save(tmp_path / "k")
    assert stat.S_IMODE((tmp_path / "k").stat().st_mode) == 0o600
    assert Key.load(tmp_path / "k").secret == made.secret
    with pytest.raises(FileExistsError):
        Key.new().save(tmp_path / "k")


def test_repr_shows_the_fingerprint_only(key: Key) -> None:
    assert key.fingerprint in repr(key)
    assert key.secret.hex() not in repr(key)


@pytest.mark.parametrize("secret", [b"", b"1234", bytes(31)])
def test_short_keys_are_refused(secret: bytes) -> None:
    with pytest.raises(UsageError, match="sudare key new"):
        Key.of(secret)


@pytest.mark.parametrize("secret", [bytes(32), b"ab" * 16])
def test_guessable_bytes_make_a_demonstration_key_and_are_refused_in_a_file(
    secret: bytes, tmp_path: Path
) -> None:
    with pytest.warns(SudareWarning, match="S-WEAK-KEY"):
        key = Key.of(secret)
    assert key.insecure
    file = tmp_path / "weak.key"
    file.write_text(f"sudare-key-1\n{secret.hex()}\n")
    file.chmod(0o600)
    with pytest.raises(UsageError, match="guessed"):
        Key.of(file)


def test_unreadable_open_and_wrong_key_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        Key.of(tmp_path / "none")
    Key.new().save(tmp_path / "open").path.chmod(0o644)
    with pytest.raises(UsageError, match="others can read"):
        Key.of(tmp_path / "open")
    for content in ("hello", "sudare-key-1\nzz", "sudare-key-1\n00"):
        (tmp_path / "wrong").write_text(content)
        (tmp_path / "wrong").chmod(0o600)
        with pytest.raises(UsageError):
            Key.of(tmp_path / "wrong")


def test_generator_is_the_same_for_a_key_and_a_purpose(key: Key) -> None:
    assert keys.generator(key, "a").random() == keys.generator(key, "a").random()
    assert keys.generator(key, "a").random() != keys.generator(key, "b").random()


def test_a_moment_has_one_hash_whatever_its_unit_and_zone(key: Key) -> None:
    moment = dt.datetime(2020, 5, 1, 12, 30, tzinfo=dt.UTC)
    kinds = [pa.timestamp("ms", "UTC"), pa.timestamp("us", "Europe/Berlin"), pa.timestamp("ns", "Asia/Tokyo")]
    hashes = [keys.hash_column(pa.chunked_array([pa.array([moment], kind)]), key) for kind in kinds]
    assert (hashes[0] == hashes[1]).all()
    assert (hashes[0] == hashes[2]).all()


def test_the_derivation_of_version_1_stays_what_it_is() -> None:
    """A release of next year must repeat the draws of this one: numbers that were written down once."""
    key = Key(bytes(range(32)))
    moments = [dt.datetime(2020, 5, 1, 12, 30), None, dt.datetime(2020, 5, 1, 12, 30)]
    table = pa.table(
        {"user": ["a", "b", "b"], "n": [7, -1, -1], "at": moments, "l": [["x"], ["x", "y"], ["x", "y"]]}
    )
    assert key.fingerprint == "44cd-331a-2cde-7323"
    assert key.subkey("draw", "goods", 1).hex()[:16] == "168df8d6c83cca4d"
    for roles, digest in ((Roles.of(user="user"), "5d88f731b728aa0a"), (Roles(), "445b73e8682daa31")):
        ids = keys.record_ids(table, roles, key)
        assert hashlib.sha256(np.sort(ids.ravel()).tobytes()).hexdigest()[:16] == digest
    ids = keys.record_ids(table, Roles.of(user="user"), key)
    assert [int(word) for word in keys.words(key, "draw", "goods", ids, 3)[0]] == [
        3421975968871978899,
        10749158523977565178,
        6270626573970071987,
    ]
    equal = keys.record_ids(pa.table({"x": ["a", "a"]}), Roles(), key)
    assert equal[:, 0].tolist() == [13439632605611486740, 9821982764647441441]
    zoned = pa.chunked_array([pa.array([moments[0]], pa.timestamp("us", "UTC"))])
    assert (
        keys.hash_column(zoned, key).tolist()
        != keys.hash_column(pa.chunked_array([moments[:1]]), key).tolist()
    )
    assert keys.generator(key, "a").integers(0, 2**62) == 3659737396896634766


def test_the_key_of_the_user_is_made_once_in_a_folder_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUDARE_KEY", str(tmp_path / "mine" / "sudare.key"))
    made = Key.of(None)
    assert stat.S_IMODE((tmp_path / "mine").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "mine" / "sudare.key").stat().st_mode) == 0o600
    assert Key.of(None).secret == made.secret
    assert not made.insecure
    with pytest.raises(UsageError, match="32 bytes or the path"):
        Key.of(3)


def test_a_demonstration_key_says_so() -> None:
    assert Key.demo(1).insecure
    assert Key.demo(1).secret != Key.demo(2).secret
