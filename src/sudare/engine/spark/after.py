"""The risk after de-identification on Spark: values come to the driver, records and people do not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.data.dataset import Dataset
from sudare.data.readers.spark import column, numbered
from sudare.data.truth import ROW
from sudare.engine.after import (
    Coarser,
    Ints,
    Observed,
    PublishedCodes,
    coarsened,
    grouped,
    knowledge_of,
    reach,
    values_of,
)
from sudare.engine.codes import codes, joint_codes
from sudare.engine.consistent import consistent_pairs
from sudare.engine.known_records import Knowledge
from sudare.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.data.published import Published

MOST_VALUES = 5_000_000
MOST_PAIRS = 50_000_000  # of a person and a value
USER, PERSON, GROUP = "sudare user", "sudare person", "sudare group"
TRUE, SEEN = "true {}", "seen {}"


@dataclass(frozen=True, eq=False)
class SparkAfter:
    """`AfterCounts` of an original and its release on Spark."""

    original: Any
    published: Any
    columns: tuple[str, ...]
    seen: tuple[str, ...]
    sets: frozenset[str]
    records: int
    _memo: dict[str, Observed] = field(default_factory=dict)
    _values: dict[tuple[str, ...], pa.Table] = field(default_factory=dict)

    @classmethod
    @contextmanager
    def of(cls, ds: Dataset, release: Published, columns: Sequence[str]) -> Iterator[SparkAfter]:
        """The pair, with what every question reads kept by the workers until the block ends."""
        from pyspark.sql import functions as f

        seen = tuple(name for name in columns if name in release.data.columns)
        dummy = -1 - f.monotonically_increasing_id()
        alone = f.when(column(ROW) >= 0, column(ROW)).otherwise(dummy)
        person = alone if release.data.roles.user is None else column(release.data.roles.user)
        user = column(ROW if ds.roles.user is None else ds.roles.user)
        true = [column(name).alias(TRUE.format(i)) for i, name in enumerate(columns)]
        shown = [column(name).alias(SEEN.format(columns.index(name))) for name in seen]
        original = numbered(ds).select(ROW, user.alias(USER), *true).persist()
        published = release.linked.keep_alive.select(ROW, person.alias(PERSON), *shown)
        sets = release.data.set_columns - ds.set_columns
        pair = cls(original, published, tuple(columns), seen, sets, ds.rows)
        try:
            yield pair
        finally:
            for kept in (pair._owner, pair._links, original):
                kept.unpersist()

    def changed(self, name: str) -> float:
        return self._observed(name).changed

    def right_guesses(self, shown: Sequence[str]) -> float:
        from pyspark.sql import functions as f

        known, held = self._in_groups(shown)
        people = held.select(GROUP, PERSON).distinct().persist()
        candidates = people.groupBy(GROUP).agg(f.count("*").alias("candidates"))
        mine = people.join(self._owner, PERSON).groupBy(GROUP, USER).agg(f.count("*").alias("mine"))
        records = known.groupBy(GROUP, USER).agg(f.count("*").alias("records"))
        guessed = records.join(mine, [GROUP, USER]).join(candidates, GROUP)
        total = guessed.select(f.sum(f.col("records") * f.col("mine") / f.col("candidates"))).collect()[0][0]
        people.unpersist()
        return float(total or 0.0)

    def knowledge(self, shown: Sequence[str], coarser: Mapping[str, Coarser]) -> Knowledge:
        """The different values of every person come here; how often somebody has one does not."""
        what = "+".join(shown) or "the people"
        true, seen = [[form.format(self.columns.index(c)) for c in shown] for form in (TRUE, SEEN)]
        known = _fetched(self.original.select(column(USER), *map(column, true)).distinct(), what, MOST_PAIRS)
        held = _fetched(
            self.published.select(column(PERSON), *map(column, seen)).distinct(), what, MOST_PAIRS
        )
        owner = _fetched(self._owner.select(column(PERSON), column(USER)), what, MOST_PAIRS)
        (users, named), _ = joint_codes([known.select([USER]), owner.select([USER])], [USER])
        (people, pseudonyms), everybody = joint_codes(
            [held.select([PERSON]), owner.select([PERSON])], [PERSON]
        )
        owned = np.full(len(everybody[0]), -1, np.int64)
        owned[pseudonyms[:, 0]] = named[:, 0]
        matrix, values = codes(known, true)
        true_codes, near = coarsened(
            matrix.astype(np.int64),
            [self._observed(name).near for name in shown],
            [found.to_pylist() for found in values],
            [coarser.get(name) for name in shown],
        )
        published = PublishedCodes(
            people[:, 0].astype(np.int64), codes(held, seen)[0].astype(np.int64), owned
        )
        mine = users[:, 0].astype(np.int64)
        return knowledge_of(
            users=mine, true=true_codes, published=published, near=near, people=int(mine.max()) + 1
        )

    @cached_property
    def _links(self) -> Any:
        """Every published record that is about somebody, beside the true one."""
        return self.published.where(column(ROW) >= 0).join(self.original, ROW).persist()

    @cached_property
    def _owner(self) -> Any:
        """The true user of every published person: the one most of their records are about."""
        from pyspark.sql import functions as f

        counted = self._links.groupBy(PERSON, USER).count()
        most = f.max(f.struct("count", column(USER))).getField(USER)
        return counted.groupBy(PERSON).agg(most.alias(USER)).persist()

    def _observed(self, name: str) -> Observed:
        if name not in self._memo:
            index = self.columns.index(name)
            true, seen = TRUE.format(index), SEEN.format(index)
            links = self._links.groupBy(column(true), column(seen)).count()
            pairs = _fetched(links, name)
            (of_pair, _), values = joint_codes([pairs, self._distinct(self.original, [true], name)], [true])
            (to_pair, _), shown = joint_codes([pairs, self._distinct(self.published, [seen], name)], [seen])
            both = np.concatenate([of_pair, to_pair], axis=1).astype(np.int64)
            published = values_of(shown[0], name in self.sets)
            near = consistent_pairs(values[0].to_pylist(), published, np.unique(both, axis=0))
            self._memo[name] = Observed(both, np.asarray(pairs["count"]), near)
        return self._memo[name]

    def _distinct(self, frame: Any, columns: Sequence[str], what: str) -> pa.Table:
        """The different values of some columns, fetched once."""
        if tuple(columns) not in self._values:
            self._values[tuple(columns)] = _fetched(frame.select(*map(column, columns)).distinct(), what)
        return self._values[tuple(columns)]

    def _in_groups(self, shown: Sequence[str]) -> tuple[Any, Any]:
        """The true and the published records with the group of values that they are candidates in."""
        from pyspark.sql import functions as f

        if not shown:  # nothing of it is published: everybody is a candidate
            return self.original.withColumn(GROUP, f.lit(0)), self.published.withColumn(GROUP, f.lit(0))
        true, seen = [[form.format(self.columns.index(c)) for c in shown] for form in (TRUE, SEEN)]
        what = "+".join(shown)
        known = self._distinct(self.original, true, what)
        published = self._distinct(self.published, seen, what)
        near = [self._observed(name).near for name in shown]
        vectors = (codes(known, true)[0].astype(np.int64), codes(published, seen)[0].astype(np.int64))
        group, starts, values = grouped(*reach(*vectors, near))
        groups = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        return (
            _joined(self.original, known, group, true),
            _joined(self.published, published.take(values), groups, seen),
        )


def _fetched(frame: Any, what: str, most: int | None = None) -> pa.Table:
    most = MOST_VALUES if most is None else most
    found = frame.limit(most + 1).toArrow()
    if found.num_rows > most:
        raise UsageError(
            f"{what}: has more than {most:,} values, too many to compare in one process; recode it, leave it "
            "out, or measure a sample with DuckDB"
        )
    return found


def _joined(frame: Any, vectors: pa.Table, group: Ints, columns: Sequence[str]) -> Any:
    """The rows of a frame with the groups of their values; a missing value is a value."""
    import pyarrow as pa

    labelled = vectors.append_column(GROUP, pa.array(group))
    names = [f"sudare key {i}" for i in range(len(columns))]
    groups = frame.sparkSession.createDataFrame(labelled.rename_columns([*names, GROUP]))
    same = [column(c).eqNullSafe(column(n)) for c, n in zip(columns, names)]
    return frame.join(groups, same).drop(*names)
