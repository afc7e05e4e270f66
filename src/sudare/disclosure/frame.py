"""The table and what it was drawn from: class sizes, and what attackers inside and outside the table gain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sudare.disclosure.individual import posterior_risk
from sudare.disclosure.journalist import from_size, highest
from sudare.disclosure.population import fits
from sudare.disclosure.presence import people_outside, presence
from sudare.disclosure.reidentification import journalist, of_records, prosecutor
from sudare.disclosure.result import DisclosureResult
from sudare.engine.classes import Cells, Sizes, ints
from sudare.engine.codes import codes
from sudare.engine.counts import counts_of
from sudare.errors import UsageError

if TYPE_CHECKING:
    from sudare.data.dataset import Dataset

MOST_PEOPLE = 10**12


@dataclass(frozen=True)
class Frame:
    """A table, its quasi-identifiers, and its population: a table, a size, a column of weights, unknown."""

    ds: Dataset
    quasi: tuple[str, ...]
    population: int | Dataset | None
    weights: str | None
    threshold: float

    def measure(
        self, found: DisclosureResult, cells: Mapping[str, Cells], *, models: bool, notes: list[str]
    ) -> DisclosureResult:
        """Class sizes, k under both meanings of a missing value, the three attackers, population uniques."""
        sizes = self.sizes(cells)
        wildcard = self.wildcard_k(sizes, self._has_unknown(cells), notes)
        risk = prosecutor(sizes, self.threshold)
        found = replace(found, sizes=sizes, k_wildcard=wildcard, prosecutor=risk)
        if self.ds.roles.user is not None:
            notes.append(f"a class is as large as the number of its different '{self.ds.roles.user}'")
        size = self.population_size()
        if size is None:
            notes.append(
                "no population given: the table is taken to be all of it, so journalist = prosecutor"
            )
            return replace(found, journalist=risk)
        return self._outside(found, sizes, size, models, notes)

    def _outside(
        self, found: DisclosureResult, sizes: Sizes, size: int, models: bool, notes: list[str]
    ) -> DisclosureResult:
        """What the population adds: its uniques by model, the journalist, k-map and delta-presence."""
        # a class is counted in people, and so are those outside it; a person with several classes is in each
        people = round(size * sizes.people / max(self.ds.users, 1))
        fitted = fits(sizes, people)
        if models:
            found = replace(
                found, population={name: fit and fit.uniques for name, fit in fitted.items()}, people=size
            )
            notes.append(f"population of {size:,}: the models disagree, read them as a range")
        table = counts_of(self.ds).class_table(self.quasi, weight=self.weights, persons=True)
        sample, records = ints(table["sudare_persons"]), ints(table["sudare_records"])
        if isinstance(self.population, int) and self.weights is None:
            ranged = from_size(codes(table, self.quasi)[0], sample, records, fitted, people, self.threshold)
            return replace(found, journalist=highest(ranged), journalist_models=ranged)
        if self.population is None or isinstance(self.population, int):
            weighed = np.asarray(table["sudare_weight"], np.float64)
            risk = of_records(posterior_risk(sample, weighed), records, self.threshold)
            return replace(found, journalist=risk)
        outside = people_outside(self.population, table, self.quasi)
        risk = journalist(sample, outside.of_class, self.threshold, records=records)
        return replace(found, journalist=risk, presence=presence(sample, outside))

    def sizes(self, cells: Mapping[str, Cells]) -> Sizes:
        """The class sizes, from counts of sensitive values where these hold them already."""
        whole = [cell for cell in cells.values() if int(cell.table.sum()) == self.ds.rows]
        if whole and self.ds.roles.user is None:
            return Sizes.of(whole[0].sizes)
        return counts_of(self.ds).class_sizes(self.quasi)

    def wildcard_k(self, sizes: Sizes, unknown: bool, notes: list[str]) -> int:
        """The fewest people a record can hide among if a missing or suppressed cell may be any value."""
        if not unknown:
            return sizes.k
        from sudare.disclosure.wildcard import wildcard_sizes

        table = counts_of(self.ds).class_table(self.quasi, persons=True)
        shared = self.ds.roles.user is not None
        found = wildcard_sizes(table, self.quasi, ints(table["sudare_persons"]), shared=shared)
        k = int(found.min())
        notes.append(
            "some quasi-identifiers are missing or suppressed: "
            f"k is {sizes.k} if that is a value of its own, {k} if it may be any value"
        )
        return k

    def _has_unknown(self, cells: Mapping[str, Cells]) -> bool:
        seen = [cell.unknown for cell in cells.values() if cell.unknown is not None]
        return seen[0] if seen else counts_of(self.ds).has_unknown(self.quasi)

    def population_size(self) -> int | None:
        """How many people the table was drawn from, None if nobody said."""
        if isinstance(self.population, int):
            if self.population < self.ds.users:
                raise UsageError(
                    f"a population of {self.population} cannot hold {self.ds.users} people; give its full size"
                )
            if self.population > MOST_PEOPLE:
                raise UsageError(f"population: no population has more than {MOST_PEOPLE:,} people")
            return self.population
        if self.population is not None:
            return self.population.users
        if self.weights is None:
            return None
        self.ds.require([self.weights])
        return round(counts_of(self.ds).total(self.weights))
