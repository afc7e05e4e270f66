"""What the risk formulas need of an attribute: how many values have how many records and users.

A profile is a small exact histogram, so that every way of computing it (SQL, ibis, kernel, Spark, any number of
threads, any row order) gives the same integers, and the formulas the same digits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Profile:
    """The values of one attribute (or of one set of attributes) by their numbers of records and users.

    `pairs` holds (records, users, number of values with exactly these); `squares` holds (records, sum over users of
    their squared records, number of values) and `largest` the sum over values of the records of its largest owner.
    The last two are None when the attacker asked for does not need them.

    >>> Profile.of([(4, 2, 1), (3, 2, 1), (3, 1, 1)]).records
    10
    """

    attributes: tuple[str, ...] = ()
    pairs: tuple[tuple[int, int, int], ...]
    squares: tuple[tuple[int, int, int], ...] | None = None
    largest: int | None = None
    users: int = 0

    @classmethod
    def of(
        cls,
        pairs: Iterable[tuple[int, int, int]],
        *,
        attributes: tuple[str, ...] = (),
        squares: Iterable[tuple[int, int, int]] | None = None,
        largest: int | None = None,
        users: int = 0,
    ) -> Profile:
        """The profile of unordered, possibly repeated entries: equal ones are added up and sorted."""
        return cls(
            attributes=attributes,
            pairs=_merged(pairs),
            squares=None if squares is None else _merged(squares),
            largest=largest,
            users=users,
        )

    @classmethod
    def counted(
        cls, attributes: Sequence[str], rows: Sequence[Sequence[int]], users: int, every_attacker: bool
    ) -> Profile:
        """From rows of records, users, for every attacker squares and largest owner, and the number of values."""
        return cls.of(
            ((row[0], row[1], row[-1]) for row in rows),
            squares=((row[0], row[2], row[-1]) for row in rows) if every_attacker else None,
            largest=sum(int(row[3]) * int(row[-1]) for row in rows) if every_attacker else None,
            attributes=tuple(attributes),
            users=users,
        )

    @property
    def records(self) -> int:
        """m: the records that have a value."""
        return sum(records * count for records, _, count in self.pairs)

    @property
    def values(self) -> int:
        """|D_X|: the number of different values."""
        return sum(count for _, _, count in self.pairs)


def _merged(entries: Iterable[tuple[int, int, int]]) -> tuple[tuple[int, int, int], ...]:
    total: dict[tuple[int, int], int] = {}
    for first, second, count in entries:
        key = (int(first), int(second))
        total[key] = total.get(key, 0) + int(count)
    return tuple((first, second, count) for (first, second), count in sorted(total.items()))
