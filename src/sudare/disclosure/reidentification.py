"""What an attacker gains who knows the quasi-identifiers: prosecutor, journalist and marketer.

The prosecutor knows that the person is in the table, the journalist only that the person is in the
population, the marketer wants as many as possible. A record of a class of s people is found with 1/s.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sudare.engine.classes import Sizes
from sudare.engine.sums import exact_sum

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Reidentification:
    """The largest and the mean risk of a record, and the share of records above a threshold."""

    largest: float
    mean: float
    at_risk: float
    threshold: float


def prosecutor(sizes: Sizes, threshold: float = 0.2) -> Reidentification:
    """The risk of records when the attacker knows who is in the table; the mean is the marketer's success.

    >>> prosecutor(Sizes.of([1, 4, 5]))
    Reidentification(largest=1.0, mean=0.3, at_risk=0.5, threshold=0.2)
    """
    return of_records(1 / np.maximum(sizes.persons, 1), sizes.records, threshold)


def journalist(
    sample: Ints, population: Ints, threshold: float = 0.2, *, records: Ints | None = None
) -> Reidentification:
    """The risk of records when each class of the table has `population` people outside and inside it.

    >>> journalist(np.array([1, 4]), np.array([2, 8])).largest
    0.5
    """
    return of_records(1 / np.maximum(population, sample), sample if records is None else records, threshold)


def of_records(risk: Floats, records: Ints, threshold: float) -> Reidentification:
    """Summary of classes with a risk and a number of records."""
    total = int(records.sum())
    above = int(records[risk > threshold].sum())
    return Reidentification(
        largest=float(risk.max(initial=0.0)),
        mean=exact_sum(risk * records) / total if total else 0.0,
        at_risk=above / total if total else 0.0,
        threshold=threshold,
    )
