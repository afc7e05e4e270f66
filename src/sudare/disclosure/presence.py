"""A table beside the population it was drawn from: k-map and delta-presence.

k-map (Sweeney 2002): the fewest people of the population who share a class of the table. Delta-presence (Nergiz et al.
2007): between which bounds the chance lies that a person of the population is in the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sudare.engine.classes import Ints, ints
from sudare.engine.codes import classes, joint_codes
from sudare.engine.counts import counts_of

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.data.dataset import Dataset


@dataclass(frozen=True)
class Presence:
    """The smallest population class of the table, and the bounds of the chance to be in the table."""

    k_map: int
    delta_low: float
    delta_high: float


class Outside(NamedTuple):
    """The people of the population in each class of the table, and whether it has classes that the table lacks."""

    of_class: Ints
    others: bool


def presence(sample: Ints, outside: Outside) -> Presence:
    """k-map and delta-presence of classes with so many people in the table and in the population.

    >>> presence(np.array([1, 4]), Outside(np.array([2, 8]), others=True))
    Presence(k_map=2, delta_low=0.0, delta_high=0.5)
    """
    people = np.maximum(outside.of_class, sample)
    chance = sample / np.maximum(people, 1)
    low = 0.0 if outside.others else float(chance.min())
    return Presence(int(people.min()), low, float(chance.max()))


def people_outside(population: Dataset, table: pa.Table, quasi: Sequence[str]) -> Outside:
    """How many people of the population share the quasi-identifiers of each class of a class table."""
    population.require(quasi)
    theirs = counts_of(population).class_table(quasi, persons=True)
    (mine, other), _ = joint_codes([table, theirs], quasi)
    label, _ = classes(np.concatenate((mine, other)))
    total = np.bincount(label[len(mine) :], ints(theirs["sudare_persons"]), int(label.max()) + 1)
    others = bool(np.isin(label[len(mine) :], label[: len(mine)], invert=True).any())
    return Outside(np.asarray(total[label[: len(mine)]], np.int64), others)
