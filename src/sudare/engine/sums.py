"""Sums whose last digit does not depend on the order of rows, and so not on threads or engines.

Numbers are cut into parts that are whole multiples of a common unit and so short that adding up all of them is
exact; exact sums can be made in any order.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
DIGITS = 53  # binary digits of a float
BLOCK = 2048  # rows that are cut at a time: their parts stay in the processor's cache


def exact_sum(values: Floats) -> float:
    """The sum of all values.

    >>> exact_sum(np.array([0.1, 0.2, 0.3])) == exact_sum(np.array([0.3, 0.2, 0.1]))
    True
    """
    return float(column_sums(values.reshape(-1, 1))[0])


def column_sums(points: Floats) -> Floats:
    """The sum of every column.

    >>> column_sums(np.array([[1e16], [1.0], [-1e16], [1.0]])).tolist()
    [2.0]
    """
    units = _units(points, DIGITS - len(points).bit_length(), 2)
    sums = np.zeros((3, points.shape[1]))
    for block in _blocks(points):
        for place, part in enumerate(_parts(block, units[:, :, None])):
            sums[place] += part.sum(axis=1)
    return np.asarray(sums.sum(axis=0))


def cell_sums(cell_of: NDArray[np.int64], values: Floats, cells: int) -> Floats:
    """The sum of the values in every cell.

    >>> cell_sums(np.array([0, 1, 0]), np.array([0.5, 2.0, 0.25]), 3).tolist()
    [0.75, 2.0, 0.0]
    """
    units = _units(values, DIGITS - len(values).bit_length(), 2)
    return np.asarray(sum(np.bincount(cell_of, part, minlength=cells) for part in _parts(values, units)))


def products(points: Floats) -> Floats:
    """The sum of products of every pair of columns; what is below 2^-60 of their largest is left out.

    >>> products(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[10.0, 14.0], [14.0, 20.0]]
    """
    length = (
        DIGITS - 1 - len(points).bit_length()
    ) // 2  # of each factor; one digit for the sum of several products
    count = -(-60 // length)
    units = _units(points, length, count)
    sums = np.zeros((count, points.shape[1], points.shape[1]))
    for block in _blocks(points):
        *parts, _ = _parts(block, units[:, :, None])
        for place in range(count):
            sums[place] += sum(parts[i] @ parts[place - i].T for i in range(place + 1))
    return np.asarray(sums[::-1].sum(axis=0))


def _units(points: Floats, length: int, count: int) -> Floats:
    """The units of `count` parts of `length` binary digits, for every column."""
    largest = np.abs(points).max(axis=0, initial=0.0)
    exponent = np.maximum(np.frexp(largest)[1], count * length - 1000)
    return np.asarray([np.ldexp(1.0, exponent - length * (place + 1)) for place in range(count)])


def _parts(points: Floats, units: Floats) -> Iterator[Floats]:
    """One part per unit, and what is left."""
    for unit in units:
        part = np.rint(points * (1 / unit)) * unit
        yield part
        points = points - part
    yield points


def _blocks(points: Floats) -> Iterator[Floats]:
    """Some rows at a time, every column in one piece."""
    return (np.ascontiguousarray(points[at : at + BLOCK].T) for at in range(0, len(points), BLOCK))
