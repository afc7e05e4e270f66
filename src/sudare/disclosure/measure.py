"""sudare.disclosure: all measures of one table in one call."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, SupportsIndex, get_args

import numpy as np

from sudare.constraints import Above, AtLeast, Within
from sudare.disclosure.frame import Frame
from sudare.disclosure.result import DisclosureResult
from sudare.engine.classes import Cells
from sudare.engine.counts import counts_of
from sudare.errors import DataError, UsageError
from sudare.parameters import checked

if TYPE_CHECKING:
    from sudare.data.dataset import Dataset

Measure = Annotated[Literal["k", "population", "l", "t", "likeness", "suda", "attributes"], "measure"]
EVERY_MEASURE: tuple[Measure, ...] = get_args(get_args(Measure)[0])
EVERY_SIZE, EVERY_CLASS = 8, 50_000  # up to here all special uniques are searched by default


@checked
def disclosure(
    ds: Dataset,
    *,
    measures: Sequence[Measure] | None = None,
    quasi: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    population: int | Dataset | None = None,
    weights: str | None = None,
    hierarchies: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    ordered: Sequence[str] | None = None,
    threshold: Annotated[float, "a risk", Within(0, 1)] = 0.2,
    combine: Annotated[int, AtLeast(1)] = 1,
    max_size: Annotated[int, AtLeast(1)] | None = None,
    c: Annotated[float, Above(0)] = 3.0,
) -> DisclosureResult:
    """How well the people of a table hide behind each other.

    `measures`: some of k, population, l, t, likeness, suda, attributes (all by default). `population`: its size,
    or a table of it; `weights`: a column of sampling weights; without them the table is the population and the
    journalist is the prosecutor. `ordered`: sensitive columns whose values lie on a line (numbers and dates by
    default); `hierarchies`: of sensitive columns, for t (a folder of CSV files or a `sudare.toml` will do).
    `combine`: sets of up to so many attributes for distinction. `max_size`: the largest special uniques searched
    (all of small tables, else 3). `c`: of recursive (c, l)-diversity.

    >>> import sudare
    >>> patients = sudare.open("example:patients", quasi=["sex", "job"], sensitive="disease")
    >>> found = sudare.disclosure(patients, measures=["k", "l"])
    >>> found.k, found.l
    (2, {'disease': 1})
    """
    asked = _Asked.of(ds, measures, quasi, sensitive)
    if isinstance(population, SupportsIndex):  # numpy has whole numbers of its own
        population = int(population)
    _check(ds, weights, _listed(ordered or ()))
    cells = {column: counts_of(ds).class_cells(asked.quasi, column) for column in asked.sensitive}
    found = DisclosureResult(rows=(), quasi=asked.quasi, records=ds.rows)
    notes: list[str] = []
    if asked.wants("k") or asked.wants("population"):
        frame = Frame(ds, asked.quasi, population, weights, threshold)
        found = frame.measure(found, cells, models=asked.wants("population"), notes=notes)
    if asked.wants("l"):
        from sudare.disclosure.sensitive import diversity_of

        found = replace(found, diversity={column: diversity_of(cell, c) for column, cell in cells.items()})
    if asked.wants("t"):
        found = replace(found, closeness=_closeness(cells, ds.columns, hierarchies, ordered))
    if asked.wants("likeness"):
        from sudare.disclosure.sensitive import likeness_of

        found = replace(found, likeness={column: likeness_of(cell) for column, cell in cells.items()})
    if asked.wants("suda"):
        found = replace(found, suda=_suda(ds, asked.quasi, max_size, population, notes))
    if asked.wants("attributes"):
        found = replace(found, attributes=_attributes(ds, asked.quasi, combine, notes))
    return _finished(found, notes)


@dataclass(frozen=True)
class _Asked:
    """The call after validation."""

    measures: tuple[str, ...]
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]

    @classmethod
    def of(
        cls,
        ds: Dataset,
        measures: Sequence[str] | None,
        quasi: Sequence[str] | None,
        sensitive: Sequence[str] | None,
    ) -> _Asked:
        chosen = tuple(EVERY_MEASURE if measures is None else measures)
        known = ds.require(_listed(quasi) if quasi is not None else ds.roles.quasi)
        if not known:
            raise UsageError(f"{ds.name}: no quasi-identifiers; name them with quasi= or --quasi")
        if ds.rows == 0:
            raise DataError(f"{ds.name}: no records; nothing can be measured")
        about = ds.require(
            _listed(sensitive)
            if sensitive is not None
            else [column for column in ds.roles.sensitive if column not in known]
        )
        if both := [column for column in about if column in known]:
            raise UsageError(
                f"{ds.name}: '{both[0]}' cannot be quasi-identifier and sensitive at once; choose one"
            )
        needs = {"l", "t", "likeness"} & set(chosen)
        if measures is not None and needs and not about:
            raise UsageError(
                f"{ds.name}: no sensitive column for {', '.join(sorted(needs))}; name it with sensitive="
            )
        return cls(chosen, known, about if needs else ())

    def wants(self, measure: str) -> bool:
        return measure in self.measures


def _check(ds: Dataset, weights: str | None, ordered: Sequence[str]) -> None:
    """Refuse what means nothing before anything is counted."""
    from sudare.engine.numbers import is_number

    ds.require([*ordered, *([weights] if weights is not None else [])])
    if weights is not None and not is_number(ds.schema.field(weights).type):
        raise UsageError(f"{ds.name}: the weights '{weights}' are not numeric; name a column of numbers")


def _closeness(
    cells: Mapping[str, Cells],
    columns: Sequence[str],
    hierarchies: Mapping[str, Any] | str | os.PathLike[str] | None,
    ordered: Sequence[str] | None,
) -> dict[str, Any]:
    from sudare.data.values.hierarchy_sources import hierarchies_of
    from sudare.disclosure.sensitive import closeness_of

    chosen = None if ordered is None else set(_listed(ordered))
    trees = hierarchies_of(hierarchies, {column: cell.values for column, cell in cells.items()}, columns)
    return {
        column: closeness_of(
            cell, ordered=None if chosen is None else column in chosen, hierarchy=trees.get(column)
        )
        for column, cell in cells.items()
    }


def _suda(
    ds: Dataset,
    quasi: Sequence[str],
    max_size: int | None,
    population: int | Dataset | None,
    notes: list[str],
) -> Any:
    from sudare.disclosure.suda import MOST_ATTRIBUTES, suda
    from sudare.engine.codes import codes

    if len(quasi) > MOST_ATTRIBUTES:
        notes.append(
            f"special uniques are not searched among {len(quasi)} attributes; name fewer with quasi="
        )
        return None
    table = counts_of(ds).class_table(quasi)
    few = len(quasi) <= EVERY_SIZE and table.num_rows <= EVERY_CLASS
    limit = max_size or (len(quasi) if few else 3)
    if limit < len(quasi):
        notes.append(
            f"special uniques of up to {limit} of the {len(quasi)} attributes; set max_size for more"
        )
    people = (
        population if isinstance(population, int) else (population.rows if population is not None else None)
    )
    fraction = 0.01 if people is None else min(ds.rows / people, 1.0)
    sizes = np.asarray(table["sudare_records"], np.int64)
    return suda(codes(table, quasi)[0], sizes, max_size=limit, fraction=fraction)


def _attributes(ds: Dataset, quasi: Sequence[str], combine: int, notes: list[str]) -> Any:
    """Also of columns that nobody called a quasi-identifier: the point is to find those that are."""
    from sudare.disclosure.attribute_power import attribute_sets, unnamed

    more = unnamed(ds, quasi)
    if more:
        notes.append(
            f"distinction and separation also of {', '.join(more)}: should it be a quasi-identifier?"
        )
    found = attribute_sets(ds, (*quasi, *more), combine)
    return tuple(sorted(found, key=lambda power: -power.distinction))


def _finished(found: DisclosureResult, notes: Sequence[str]) -> DisclosureResult:
    from sudare.disclosure.rows import rows_of

    named = f"quasi-identifiers: {', '.join(found.quasi)}"
    return replace(found, rows=rows_of(found), notes=(named, *notes))


def _listed(columns: str | Sequence[str]) -> tuple[str, ...]:
    return (columns,) if isinstance(columns, str) else tuple(columns)
