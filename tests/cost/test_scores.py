"""The evaluation that weighs dummies against re-identification, at the ends where it is known."""

from __future__ import annotations

import pytest

from sudare.cost import estimates


def test_one_cluster_costs_everything_and_hides_everybody():
    assert float(estimates.score(400, 38_000, 2_700, 1)) == pytest.approx(1 + 1 / 400)


def test_a_cluster_each_costs_nothing_and_hides_nobody():
    assert float(estimates.score(400, 38_000, 2_700, 400)) == pytest.approx(1.0)


def test_the_best_number_of_clusters_has_the_smallest_score():
    scores = {c: float(estimates.score(60, 900, 80, c)) for c in range(1, 61)}
    assert estimates.best_clusters(60, 900, 80) == min(scores, key=lambda c: scores[c])


def test_one_person_needs_no_dummies():
    assert estimates.normaliser(1, 5, 3) == 0.0
    assert float(estimates.score(1, 5, 3, 1)) == 1.0


def test_arrays_are_searched_one_by_one():
    n, m = [[60], [400]], [900, 38_000]
    clusters, k = estimates.best_clusters(n, m, 2_700), estimates.best_k(n, m, 2_700)
    assert clusters.shape == k.shape == (2, 2)
    assert clusters[1, 1] == 69
    assert k[1, 1] == 6
    assert estimates.score(400, m, 2_700, 69)[1] == estimates.score(400, 38_000, 2_700, 69)
    assert estimates.normaliser([1, 400], 38_000, 2_700)[0] == 0
