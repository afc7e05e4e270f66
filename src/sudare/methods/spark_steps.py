"""How each method runs on Spark. What is not listed here needs all rows in one place and says so."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare import keys, registry
from sudare.data.readers.spark import column, in_batches
from sudare.data.truth import ROW
from sudare.data.values.recoded import plain as plain_text
from sudare.engine import spark_rows
from sudare.engine.spark_rows import Secret
from sudare.errors import DataError, UsageError
from sudare.keys.ledger import Ledger, sketch_of
from sudare.methods.numeric import numeric_columns
from sudare.methods.spark_draft import SparkDraft
from sudare.methods.spark_dummies import dummy_records
from sudare.methods.spark_mondrian import mondrian

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.data.roles import Roles

Runner = Callable[[Any, SparkDraft], tuple[SparkDraft, dict[str, Any]]]
GROUP_ROWS = 1_000_000
DRAW = ("sudare draw 0", "sudare draw 1")
ALTERNATIVES = {
    "tp": "randomized-addition runs on Spark",
    "anatomy": "randomized-addition runs on Spark",
    "local-recoding": "mondrian runs on Spark",
    "lattice-recoding": "mondrian runs on Spark, and so does generalize with a level you choose",
    "microaggregate": "average runs on Spark",
    "rank-swap": "swap runs on Spark",
    "shuffle": "swap runs on Spark",
    "pram": "randomized-addition runs on Spark",
    "suppress-records": "mondrian runs on Spark and suppresses nothing",
    "local-suppression": "mondrian runs on Spark",
    "top-bottom-code": "give top and bottom instead of share, with replacement 'bound'",
}


def check(steps: Sequence[Any], roles: Roles) -> None:
    """Refuse what cannot run on Spark, all of it at once, before any work starts."""
    faults = [fault for step in steps if (fault := _fault(step, roles))]
    if faults:
        raise UsageError("\n".join(faults))


def run(step: Any, draft: SparkDraft) -> tuple[SparkDraft, dict[str, Any]]:
    """One step; the details it knows at once (those of rows come with the rows)."""
    runner = RUNNERS.get(registry.name_of(step))
    if runner is not None:
        return runner(step, draft)
    return draft.apply(step.fit(draft.empty()) if hasattr(step, "fit") else step), {}


def _fault(step: Any, roles: Roles) -> str | None:
    name = registry.name_of(step)
    by_rows = name in ("pseudonymize", "suppress", "round") or (
        name == "top-bottom-code" and step.share is None and step.replacement == "bound"
    )
    if name in ("swap", "average") and not (step.by if step.by is not None else roles.quasi):
        return (
            f"{name}: without quasi-identifiers all records are one group, too large for one worker; give by="
        )
    if name == "mondrian" and step.relaxed:
        return (
            "mondrian: relaxed cuts need all rows in one place; drop relaxed, or open the table with DuckDB"
        )
    if by_rows or name in RUNNERS:
        return None
    other = ALTERNATIVES.get(name, "open the table with DuckDB")
    return f"{name} needs all rows in one place and cannot run on Spark; {other}"


def _randomized(step: Any, draft: SparkDraft) -> tuple[SparkDraft, dict[str, Any]]:
    facts: dict[str, Any] = {}
    for name in step.columns(draft.roles):
        one = dataclasses.replace(step, column=name)
        known = draft.distinct(name)
        fitted = one.fit(known) if step.domain is None else one
        _consult_ledger(fitted, draft, known.table, name)
        draft = draft.apply(fitted)
        size = len(draft.schema["randomized"][name]["domain"])
        facts[name] = {"l": step.l, "values": size, "claimed": 1 / step.l}
    return draft, facts


def _consult_ledger(step: Any, draft: SparkDraft, known: pa.Table, name: str) -> None:
    """The records' sketch is made by the workers under the ledger's own secret; 128 numbers come back."""
    ledger = Ledger.beside(draft.key)
    if ledger is None or draft.key.insecure:
        return
    domain = step._domain_of(draft.of_table(known), name)
    digest = ledger.domain(name, [plain_text(value) or "" for value in domain.to_pylist()])
    sketch = _sketch(draft, ledger)
    if not step.force:
        ledger.check(draft.key, name, digest, sketch)
    ledger.remember(draft.key, name, digest, sketch)


def _sketch(draft: SparkDraft, ledger: Ledger) -> list[int]:
    own = Secret.of(draft.frame.sparkSession, ledger.secret())
    source = draft.frame.select(*map(column, (*draft.columns, ROW)))
    hashed = spark_rows.with_ids(source, draft.roles, own, draft.parts)

    def smallest(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        key = own.key()
        for batch in batches:
            words = keys.words(key, "ledger", "", spark_rows.ids_of(batch), 2)
            bucket = words[:, 0] % np.uint64(128)
            order = np.lexsort((words[:, 1], bucket))
            first = order[np.unique(bucket[order], return_index=True)[1]]
            arrays = [pa.array(np.ascontiguousarray(words[first, place]).view(np.int64)) for place in (0, 1)]
            yield pa.RecordBatch.from_arrays(arrays, names=["a", "b"])

    found = in_batches(hashed, smallest, "a long, b long").toArrow()
    own.destroy()
    return sketch_of(spark_rows.ids_of(found, ("a", "b")))


def _noise(step: Any, draft: SparkDraft) -> tuple[SparkDraft, dict[str, Any]]:
    from pyspark.sql import functions as f

    names = step.moved(draft.empty())
    _check_finite(draft, names)
    if step.scales is not None:
        return draft.apply(step), step.told(step.scales)
    spreads = draft.frame.select(
        *(f.stddev_pop(column(name).cast("double")).alias(str(place)) for place, name in enumerate(names))
    ).collect()[0]
    scales = {name: step.sd * float(spread or 0.0) for name, spread in zip(names, spreads)}
    return draft.apply(dataclasses.replace(step, columns=names, scales=scales)), step.told(scales)


def _check_finite(draft: SparkDraft, names: Sequence[str]) -> None:
    from pyspark.sql import functions as f

    kinds = dict(draft.frame.dtypes)
    floats = [name for name in names if kinds[name] in ("float", "double")]
    if not floats:
        return
    bad = [
        f.sum((~(f.abs(column(name)) < math.inf)).cast("long")).alias(str(i)) for i, name in enumerate(floats)
    ]
    for name, count in zip(floats, draft.frame.select(*bad).collect()[0]):
        if count:
            raise DataError(
                f"column '{name}' holds NaN or infinite values; make them missing or remove them first"
            )


def _generalize(step: Any, draft: SparkDraft) -> tuple[SparkDraft, dict[str, Any]]:
    return draft.apply(step.fit(draft.distinct(step.column))), {}


def _unify(step: Any, draft: SparkDraft) -> tuple[SparkDraft, dict[str, Any]]:
    draft.require(step.column)
    if step.value is not None:
        return draft.apply(step), {}
    import pyarrow.compute as pc
    from pyspark.sql import functions as f

    counted = (
        draft.frame.groupBy(column(step.column).alias("value")).agg(f.count("*").alias("count")).toArrow()
    )
    best = counted.filter(pc.equal(counted["count"], pc.max(counted["count"])))["value"].combine_chunks()
    value = best.take(pc.array_sort_indices(best))[0].as_py()
    if value is not None:
        return draft.apply(dataclasses.replace(step, value=value)), {}
    kind = draft.frame.schema[step.column].dataType
    frame = draft.frame.withColumn(step.column, f.lit(None).cast(kind))
    return draft.replace(frame=frame.select(*map(column, draft.frame.columns))), {"column": step.column}


def _delete(step: Any, draft: SparkDraft) -> tuple[SparkDraft, dict[str, Any]]:
    """The records with the smallest keyed draws go, as many as the share says, found without sorting them all."""
    from pyspark.sql import functions as f

    secret = draft.secret
    drawn = spark_rows.mapped(draft.frame, drawing("delete", "", secret), extra=DRAW)
    wanted = round(step.share * draft.frame.count())
    first, second = column(DRAW[0]), column(DRAW[1])
    if wanted:
        low, high = _threshold(drawn, wanted)
        drawn = drawn.where((first > f.lit(low)) | ((first == f.lit(low)) & (second > f.lit(high))))
    return draft.replace(frame=drawn.drop(*DRAW)), {"deleted": wanted}


def _threshold(drawn: Any, wanted: int) -> tuple[int, int]:
    """The draw of the last record to go: its place in a histogram of a million parts, then among that part's."""
    from pyspark.sql import functions as f

    part = f.shiftright(column(DRAW[0]), 44)
    counts = sorted(drawn.groupBy(part.alias("part")).count().collect())
    totals = np.cumsum([count for _, count in counts])
    at = int(np.searchsorted(totals, wanted))
    place, before = counts[at][0], int(totals[at]) - counts[at][1]
    rows = drawn.where(part == f.lit(place)).select(*map(column, DRAW)).collect()
    low, high = sorted(tuple(row) for row in rows)[wanted - before - 1]
    return int(low), int(high)


def drawing(purpose: str, name: str, secret: Secret) -> Callable[..., Any]:
    """A function of batches that adds every record's keyed draw, as numbers that Spark sorts like `keys.order`."""

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        key = secret.key()
        for batch in batches:
            words = keys.words(key, purpose, name, spark_rows.ids_of(batch), 2)
            columns = [spark_rows.sortable(words[:, place]) for place in (0, 1)]
            yield spark_rows.add_longs(batch, DRAW, columns)

    return work


def _within_groups(step: Any, draft: SparkDraft) -> tuple[SparkDraft, dict[str, Any]]:
    """Swap and Average: the records of a group meet in one partition."""
    if registry.name_of(step) == "average":
        names = numeric_columns(draft.empty(), step.columns, "average")
        _check_finite(draft, names)
    else:
        names = draft.require(*(step.columns if step.columns is not None else draft.roles.sensitive))
    by = (
        draft.require(*step.by)
        if step.by is not None
        else tuple(c for c in draft.roles.quasi if c not in names)
    )
    if not by:
        raise UsageError(f"{registry.name_of(step)}: no column is left to group by; give by=")
    partitions = max(2, -(-draft.frame.count() // GROUP_ROWS))
    together = draft.replace(frame=draft.frame.repartition(partitions, *map(column, by)))
    return together.apply(step, whole=True), {}


RUNNERS: dict[str, Runner] = {
    "randomized-addition": _randomized,
    "noise": _noise,
    "generalize": _generalize,
    "unify": _unify,
    "delete-records": _delete,
    "swap": _within_groups,
    "average": _within_groups,
    "mondrian": mondrian,
    "dummy-records": dummy_records,
}
