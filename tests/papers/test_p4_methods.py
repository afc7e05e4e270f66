"""P4, Tables 9, 12, 13: the eight methods, each alone, on a table of the same shape as the paper's."""

from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq
import pytest

import sudare
from sudare import attacks as a
from sudare import utility as u
from sudare.data.dataset import Dataset
from sudare.data.roles import Roles
from sudare.methods import Average, DeleteRecords, Mondrian, Noise, Shuffle, Swap, Unify

TABULATED = ("region", "income_source", "agri_household", "head_sex", "head_age", "head_marital")
METHODS = {
    "a": Mondrian(k=3),
    "b": Noise(sd=0.1),
    "c": Shuffle(),
    "d": Unify(column="tenure"),
    "e": Unify(column="region"),
    "f": Average(),
    "g": Swap(),
    "h": DeleteRecords(share=0.1),
}
E = {
    "E1": a.IdentifyRand(),
    "E2": a.IdentifySa(),
    "E3": a.IdentifySort(),
    "E4": a.IdentifySa21(),
    "EUC1": a.Euclid(),
    "EUC2": a.Euclid(fallback=True),
}
U = [
    "U1",
    u.CrossMean(quasi=TABULATED),
    u.CrossCount(quasi=TABULATED),
    "U4",
    "U5",
    "U6",
    "S1",
    "S2",
]


def judge(ds, release, truth=None):
    found = {r["metric"]: r["value"] for r in sudare.utility(ds, release, U, truth=truth).rows}
    rates = sudare.attack(ds, release, list(E.values()), truth=truth).rows
    return found | {name: row["rate"] for name, row in zip(E, rates)}


@pytest.fixture(scope="module")
def fies(data_dir):
    table = pq.read_table(data_dir / "fies_8333.parquet")
    names = table.column_names
    return table, Roles.of(quasi=names[:13], sensitive=names[13:])


@pytest.fixture(scope="module", params=[100, 8333])
def scores(request, fies, key):
    """The scores of the original (in turned order) and of D_a..D_h, on 100 rows and on all of them."""
    table, roles = fies
    rows = np.sort(np.random.default_rng(2015).permutation(8333)[: request.param])
    ds = Dataset.from_arrow(table.take(rows), roles)
    turned = np.arange(request.param)[::-1]
    found = {
        "original": judge(ds, Dataset.from_arrow(ds.to_pyarrow().take(turned), roles), truth=turned.tolist())
    }
    return found | {name: judge(ds, sudare.anonymize(ds, m, key=key)) for name, m in METHODS.items()}


# Table 12: '-' unchanged, 'n' worse. U2 and U3 are left out where no cell of the release exists in the original.
UTILITY = {
    "a": "-..---",
    "b": "nn-nn-",
    "c": "----n-",
    "d": "------",
    "e": "-..---",
    "f": "---nn-",
    "g": "---nn-",
    "h": "nnnn-n",
}


def all_alone(scores, name):
    """In the sample of 100 rows nobody shares all 13 quasi-identifiers: nothing to average, swap or merge."""
    return scores["original"]["S2"] == 1 and name in "defgh"


@pytest.mark.parametrize("name", METHODS)
def test_utility_falls_where_table_12_says(scores, name):
    """Two signs differ from the print: noise on SA cannot move counts (U3), and deletion leaves the rows that
    remain untouched (U5).
    """
    for metric, sign in zip(("U1", "U2", "U3", "U4", "U5", "U6"), UTILITY[name]):
        if sign == "-":
            assert scores[name][metric] == 0, metric
        if sign == "n":
            assert scores[name][metric] > 0 or all_alone(scores, name), metric


def test_safety_rises_where_table_12_says(scores):
    original = scores["original"]
    assert scores["a"]["S1"] >= 3
    for name in "ade":
        assert scores[name]["S2"] > original["S2"] or all_alone(scores, name)
    for name in "bcfg":
        assert (scores[name]["S1"], scores[name]["S2"]) == (original["S1"], original["S2"])


def test_cheating_resists_every_attack_and_changes_nothing(scores):
    assert all(scores["c"][name] == 0 for name in E)
    assert scores["c"]["U5"] > 0.3


def test_attacks_that_need_quasi_identifiers_fall_when_these_change(scores):
    for name in "ae":
        assert scores[name]["E1"] < 0.5 * scores["original"]["E1"]
        assert scores[name]["EUC1"] < 0.5 * scores["original"]["EUC1"]


def test_euc2_shrugs_off_changed_quasi_identifiers(scores):
    for name in "adeh":
        assert scores[name]["EUC2"] > 0.95


def test_noise_leaves_the_attacks_that_know_quasi_identifiers(scores):
    assert scores["b"]["EUC1"] > 0.97
    assert scores["b"]["EUC1"] == scores["b"]["EUC2"]
    assert scores["b"]["E3"] < 0.8 * scores["original"]["E3"]


def test_averages_and_swaps_leave_classes_that_have_one_row(scores):
    """The paper expects E3 and EUC to fall; with unique quasi-identifiers almost nothing can be averaged
    or swapped.
    """
    for name in "fg":
        assert scores[name]["E1"] == pytest.approx(scores["original"]["E1"])
        assert scores[name]["EUC1"] > 0.94


def test_deletion_only_shifts_the_ranks(scores):
    assert scores["h"]["E3"] < 0.3
    for name in ("E1", "E2", "EUC1", "EUC2"):
        assert scores["h"][name] == pytest.approx(scores["original"][name], abs=0.02)


@pytest.mark.parametrize(
    ("together", "alone"),
    [
        ([Mondrian(k=3), Average()], "af"),
        ([Mondrian(k=3), Swap()], "ag"),
        ([Shuffle(), Unify(column="tenure")], "cd"),
    ],
    ids=["k-anonymity + average", "k-anonymity + swap", "cheating + unify"],
)
def test_combined_methods_combine_their_properties(fies, key, together, alone):
    """Table 15: what either method changes, the pair changes; what both leave, stays."""
    table, roles = fies
    ds = Dataset.from_arrow(table.slice(0, 2000), roles)
    pair = judge(ds, sudare.anonymize(ds, together, key=key))
    single = [judge(ds, sudare.anonymize(ds, METHODS[name], key=key)) for name in alone]
    original = Dataset.from_arrow(ds.to_pyarrow().take(np.arange(2000)[::-1]), roles)
    before = judge(ds, original, truth=list(range(1999, -1, -1)))
    for metric in ("U1", "U4", "U5", "U6", "S1", "S2"):
        changed = any(s[metric] != before[metric] for s in single)
        assert (pair[metric] != before[metric]) == changed, metric
    for name in E:
        assert pair[name] <= min(s[name] for s in single) + 0.02, name


def test_census_with_noise_is_re_identified(data_dir, key):
    """10% noise looks safe to an interval-based measure; a standardised nearest neighbour finds 99% of
    the rows.
    """
    columns = pq.read_schema(data_dir / "casc_census.parquet").names
    for roles in ({"sensitive": columns}, {"quasi": columns}):
        ds = sudare.open(data_dir / "casc_census.parquet", **roles)
        release = sudare.anonymize(ds, Noise(sd=0.1, columns=columns), key=key)
        result = sudare.attack(ds, release)
        rates = {row["attack"]: row["rate"] for row in result.rows}
        assert rates["standardized-euclid"] == pytest.approx(0.99, abs=0.01)
        assert rates["assignment"] > 0.99
        assert result.worst > 0.99
