"""Rows on Spark that carry what keyed draws need: the number of the original row and the record's 128-bit id.

The ids are those of `sudare.keys.record_ids`, computed by the same functions within Spark's partitions, so a
record gets the same draws on every engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.data.readers.spark import Batches, column, in_batches
from sudare.data.roles import Roles
from sudare.data.truth import ROW
from sudare.keys import Key, Words, records

if TYPE_CHECKING:
    import pyarrow as pa

IDS = ("sudare id 0", "sudare id 1")
HIDDEN = (ROW, *IDS)
_OWNER = ("sudare owner 0", "sudare owner 1")
_FULL = ("sudare full 0", "sudare full 1")
SIGN = np.uint64(1 << 63)

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Secret:
    """A key on its way to the workers: as a broadcast, so that it is in no plan, no closure and no log."""

    broadcast: Any

    @classmethod
    def of(cls, spark: Any, key: Key) -> Secret:
        return cls(spark.sparkContext.broadcast((key.secret, key.insecure)))

    def key(self) -> Key:
        """The key itself, on a worker; it has no file there, and so no ledger."""
        secret, insecure = self.broadcast.value
        return Key(secret, insecure=insecure)

    def destroy(self) -> None:
        """Take the key off the workers."""
        self.broadcast.destroy()


def with_ids(frame: Any, roles: Roles, secret: Secret, parts: int) -> Any:
    """A numbered frame with the ids of its records.

    Records with the same owner meet in one partition, where a record that shares its owner is known by its content and
    equal records by their occurrence number, in the order of the rows.
    """
    names = [name for name in frame.columns if name != ROW]
    owned = bool(roles.user or roles.identifier)
    hashed = mapped(frame, _hashing(names, roles, secret), extra=(*_OWNER, *_FULL))
    by = _OWNER if owned else _FULL
    together = hashed.repartition(parts, *(column(c) for c in by)).sortWithinPartitions(
        *(column(c) for c in (*by, *(_FULL if owned else ()), ROW))
    )
    done = mapped(together, _numbering(by, secret), extra=IDS, without=(*_OWNER, *_FULL))
    return done.select(*(column(c) for c in (*names, *HIDDEN)))


def mapped(
    frame: Any, work: Callable[[Batches], Batches], *, extra: Sequence[str] = (), without: Sequence[str] = ()
) -> Any:
    """The frame after a function of Arrow batches that adds long columns and drops others."""
    from pyspark.sql.types import LongType, StructType

    kept = [field for field in frame.schema.fields if field.name not in without]
    schema = StructType(list(kept))
    for name in extra:
        schema = schema.add(name, LongType())
    return in_batches(frame, work, schema)


def ids_of(batch: pa.RecordBatch | pa.Table, names: Sequence[str] = IDS) -> Words:
    """Two columns of 64 bits as ids."""
    return np.stack([_longs(batch.column(name)).view(np.uint64) for name in names], axis=1)


def rows_of(batch: pa.RecordBatch | pa.Table) -> Ints:
    """The original rows."""
    return _longs(batch.column(ROW))


def sortable(words: NDArray[np.uint64]) -> Ints:
    """Words as signed numbers in the same order, which is how Spark compares.

    >>> bool((np.diff(sortable(np.array([0, 1, 1 << 63, (1 << 64) - 1], np.uint64)).astype(float)) > 0).all())
    True
    """
    return np.ascontiguousarray(words ^ SIGN).view(np.int64)


def add_longs(batch: pa.RecordBatch, names: Sequence[str], columns: Sequence[NDArray[Any]]) -> pa.RecordBatch:
    """A batch with more columns of whole numbers."""
    import pyarrow as pa

    arrays = [pa.array(np.ascontiguousarray(c).view(np.int64)) for c in columns]
    return pa.RecordBatch.from_arrays([*batch.columns, *arrays], names=[*batch.schema.names, *names])


def _longs(column: Any) -> Ints:
    return np.array(
        column.to_numpy(zero_copy_only=False) if hasattr(column, "buffers") else column.to_numpy()
    )


def _hashing(names: list[str], roles: Roles, secret: Secret) -> Callable[[Batches], Batches]:
    owner = [c for c in (roles.user, *roles.identifier) if c is not None]
    content = sorted(names)

    def work(batches: Batches) -> Batches:
        import pyarrow as pa

        key = secret.key()
        for batch in batches:
            table = pa.Table.from_batches([batch])
            full = records.hash_columns(table, [*owner, *content], key)
            mine = records.hash_columns(table, owner, key) if owner else full
            yield add_longs(batch, (*_OWNER, *_FULL), (mine[:, 0], mine[:, 1], full[:, 0], full[:, 1]))

    return work


def _numbering(by: Sequence[str], secret: Secret) -> Callable[[Batches], Batches]:
    def work(batches: Batches) -> Batches:
        key = secret.key()
        for whole in _whole_groups(batches, by):
            ids = ids_of(whole, by)
            shared = records.shared_ids(ids)
            if shared.any():
                ids[shared] = records.number_equal(ids_of(whole, _FULL)[shared], key)
            (batch,) = whole.drop_columns([*_OWNER, *_FULL]).combine_chunks().to_batches()
            yield add_longs(batch, IDS, (ids[:, 0], ids[:, 1]))

    return work


def _whole_groups(batches: Batches, by: Sequence[str]) -> Iterator[pa.Table]:
    """Batches of sorted rows, cut so that rows with equal `by` are never apart."""
    import pyarrow as pa

    carried: pa.Table | None = None
    for batch in batches:
        table = pa.Table.from_batches([batch])
        table = table if carried is None else pa.concat_tables([carried, table])
        marks = ids_of(table, by)
        cut = len(marks) - 1
        while cut > 0 and (marks[cut - 1] == marks[-1]).all():
            cut -= 1
        if cut > 0:
            yield table.slice(0, cut)
        carried = table.slice(cut)
    if carried is not None and carried.num_rows:
        yield carried
