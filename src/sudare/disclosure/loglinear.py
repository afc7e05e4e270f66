"""Log-linear models of a sparse table (Skinner and Shlomo 2008): how many people a combination of values should have.

A class's people in the population are Poisson; their mean is estimated from margins of the table, not from the class
itself. Two models with a closed form, so that no table of all combinations is ever built: `main effects` (columns are
independent), which overstates how many combinations are rare, and `two-way` (a tree of pairs of columns, chosen and
fitted by maximum likelihood: Chow and Liu 1968), which follows the sample more closely than the population does.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sudare.disclosure.posteriors import Poisson

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Pair = tuple[int, int]
MOST_COLUMNS = 30  # the pairs of so many columns are counted; above, the two-way model is left out


def log_linear(codes: NDArray[np.integer], people: Ints, population: int) -> dict[str, Poisson]:
    """The models by name: for every class (a row of codes with so many people) the people outside the table.

    >>> codes, people = np.array([[0, 0], [1, 1]]), np.array([5, 5])
    >>> log_linear(codes, people, 20)["log-linear main effects"].others.tolist()
    [2.5, 2.5]
    """
    n = int(people.sum())
    outside = max(population - n, 0) / n
    found = {"log-linear main effects": Poisson(outside * expected(codes, people, ()))}
    if codes.shape[1] <= MOST_COLUMNS:
        found["log-linear two-way"] = Poisson(outside * expected(codes, people, tree(codes, people)))
    return found


def expected(codes: NDArray[np.integer], people: Ints, pairs: Sequence[Pair]) -> Floats:
    """The expected people of every class: n times the product of its columns' shares and of its pairs' lifts.

    The maximum-likelihood fit of main effects and of the interactions of `pairs`, if these make no ring.
    """
    n = float(people.sum())
    shares = np.column_stack([_margin(column, people) / n for column in codes.T])
    fitted: Floats = n * shares.prod(axis=1)
    for a, b in pairs:
        fitted *= _margin(_joint(codes[:, a], codes[:, b]), people) / n / (shares[:, a] * shares[:, b])
    return fitted


def tree(codes: NDArray[np.integer], people: Ints) -> tuple[Pair, ...]:
    """The pairs of columns with most mutual information that connect all columns without a ring."""
    from scipy.sparse.csgraph import minimum_spanning_tree

    columns = codes.shape[1]
    gain = np.zeros((columns, columns))
    for a, b in combinations(range(columns), 2):
        gain[a, b] = mutual_information(codes[:, a], codes[:, b], people)
    # no entry means no edge there, so that even a pair that tells nothing has a small negative cost
    chosen = minimum_spanning_tree(np.triu(-gain - 1e-12, 1)).tocoo()
    return tuple(sorted(zip(chosen.row.tolist(), chosen.col.tolist(), strict=True)))


def mutual_information(a: NDArray[np.integer], b: NDArray[np.integer], people: Ints) -> float:
    """sum of p(a, b) log p(a, b)/(p(a) p(b)) over people.

    >>> round(mutual_information(np.array([0, 1]), np.array([0, 1]), np.array([1, 1])), 4)
    0.6931
    """
    n = people.sum()
    ratio = _margin(_joint(a, b), people) * n / (_margin(a, people) * _margin(b, people))
    return float((people / n * np.log(ratio)).sum())


def _joint(a: NDArray[np.integer], b: NDArray[np.integer]) -> Ints:
    return np.asarray(a.astype(np.int64) * (int(b.max(initial=0)) + 1) + b, np.int64)


def _margin(label: NDArray[np.integer], people: Ints) -> Floats:
    """Per row the people of all rows with its label."""
    if int(label.max(initial=0)) > 4 * len(label) + 1024:  # counting would need more room than sorting
        _, label = np.unique(label, return_inverse=True)
    return np.asarray(np.bincount(label, people)[label], np.float64)
