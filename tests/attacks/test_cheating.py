"""Good scores that say nothing are reported as such."""

from __future__ import annotations

import pytest

import sudare
from sudare import attacks as a
from sudare.methods import Shuffle

ROWS = [{"q": i % 5, "s": 10 * i} for i in range(30)]


def test_untouched_rows_with_permuted_identities_are_called_cheating(table, key):
    original = table(ROWS)
    release = sudare.anonymize(original, Shuffle(), key=key)
    result = sudare.attack(original, release, [a.Euclid()])
    assert result.rows[0]["rate"] == 0.0
    assert result.notes[0].startswith("S-CHEAT: 100%")


def test_an_honest_copy_is_called_identical(table):
    original, turned = table(ROWS), table(ROWS[::-1])
    result = sudare.attack(original, turned, [a.Euclid()], truth=range(29, -1, -1))
    assert result.rows[0]["rate"] == 1.0
    assert [note.split(":")[0] for note in result.notes] == ["S-IDENTICAL"]


def test_hits_that_are_ties_are_said_to_be(table):
    original = table([{"q": i, "s": 7} for i in range(10)])
    release = table([{"q": 99 - i, "s": 7} for i in range(10)])
    result = sudare.attack(original, release, [a.IdentifySa()], truth=range(9, -1, -1))
    assert result.rows[0]["rate"] == pytest.approx(0.1)
    assert "identify-sa 100%" in result.notes[-1]
