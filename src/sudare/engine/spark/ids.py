"""Rows on Spark that carry what keyed draws need: the number of the original row and the record's 128-bit id.

The ids are those of `sudare.keys.record_ids`, computed by the same functions within Spark's partitions, so a
record gets the same draws on every engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.data.readers.spark import Batches, column, in_batches
from sudare.data.roles import Roles
from sudare.data.truth import ROW
from sudare.engine.rows import HIDDEN, IDS, with_longs, words_of
from sudare.keys import Key
from sudare.keys.records import hash_columns, identity, number_equal, shared_ids

if TYPE_CHECKING:
    import pyarrow as pa

_OWNER = ("sudare owner 0", "sudare owner 1")
_FULL = ("sudare full 0", "sudare full 1")


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


def with_ids(frame: Any, roles: Roles, secret: Secret, parts: int) -> Any:
    """A numbered frame with the ids of its records.

    Records with the same owner meet in one partition, where a record that shares its owner is known by its content and
    equal records by their occurrence number, in the order of the rows.
    """
    names = [name for name in frame.columns if name != ROW]
    owned = bool(identity(names, roles)[0])
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


def _hashing(names: list[str], roles: Roles, secret: Secret) -> Callable[[Batches], Batches]:
    owner, content = identity(names, roles)

    def work(batches: Batches) -> Batches:
        import pyarrow as pa

        key = secret.key()
        for batch in batches:
            table = pa.Table.from_batches([batch])
            full = hash_columns(table, content, key)
            mine = hash_columns(table, owner, key) if owner else full
            yield from with_longs(table, (*_OWNER, *_FULL), (*mine.T, *full.T)).to_batches()

    return work


def _numbering(by: Sequence[str], secret: Secret) -> Callable[[Batches], Batches]:
    def work(batches: Batches) -> Batches:
        key = secret.key()
        for whole in _whole_groups(batches, by):
            ids = words_of(whole, by)
            shared = shared_ids(ids)
            if shared.any():
                ids[shared] = number_equal(words_of(whole, _FULL)[shared], key)
            kept = whole.drop_columns([*_OWNER, *_FULL]).combine_chunks()
            yield from with_longs(kept, IDS, ids.T).to_batches()

    return work


def _whole_groups(batches: Batches, by: Sequence[str]) -> Iterator[pa.Table]:
    """Batches of sorted rows, cut so that rows with equal `by` are never apart."""
    import pyarrow as pa

    carried: pa.Table | None = None
    for batch in batches:
        table = pa.Table.from_batches([batch])
        table = table if carried is None else pa.concat_tables([carried, table])
        marks = words_of(table, by)
        same = (marks == marks[-1]).all(axis=1)
        cut = 0 if same.all() else len(same) - int(np.argmin(same[::-1]))
        if cut > 0:
            yield table.slice(0, cut)
        carried = table.slice(cut)
    if carried is not None and carried.num_rows:
        yield carried
