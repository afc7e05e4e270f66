"""Recipes on Spark: the same methods, the same keyed draws, the same release; the rows never come to the driver."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sudare import registry
from sudare.data.dataset import Dataset
from sudare.data.release import Release
from sudare.errors import DataError
from sudare.keys import Key
from sudare.methods.spark_draft import SparkDraft, gathered

if TYPE_CHECKING:
    from sudare.methods.recipe import Recipe


def anonymize_on_spark(ds: Dataset, recipe: Recipe, key: Key) -> Release:
    """Run a recipe on a table on Spark.

    The release has the same rows in the same order as the one of the same table on DuckDB under the same key. It is
    kept by the workers (memory, then disk) until it is saved or forgotten.
    """
    from sudare.methods import spark_steps

    spark_steps.check(recipe.steps, ds.roles)
    with _readable_errors():
        draft = start = _start(ds, key)
        known = []
        for place, step in enumerate(recipe.steps):
            draft, facts = spark_steps.run(step, draft.replace(step=place))
            known.append(facts)
        draft = _finish(draft.replace(step=len(recipe.steps)))
        published = _shuffled(draft, recipe.digest).persist()
        published.count()  # the details come with the rows
        start.frame.unpersist()
    from sudare.data.readers.databases import open_spark_frame

    data = _dataset(draft, published, ds.name)
    steps = [
        _described(step, {**gathered(draft.facts.value, place), **facts})
        for place, (step, facts) in enumerate(zip(recipe.steps, known))
    ]
    linked = open_spark_frame(published, f"release of {ds.name}")
    return Release(data, linked, recipe, tuple(steps), key, ds.files)


def _start(ds: Dataset, key: Key) -> SparkDraft:
    from sudare.data.readers.spark import numbered, parts_for
    from sudare.engine import spark_rows

    frame = numbered(ds)
    spark, parts = frame.sparkSession, parts_for(frame, ds.rows)
    secret = spark_rows.Secret.of(spark, key)
    rows = spark_rows.with_ids(frame, ds.roles, secret, parts).persist()
    return SparkDraft(rows, ds.roles, key, secret, spark.sparkContext.accumulator({}, _union()), parts)


def _union() -> Any:
    from pyspark.accumulators import AccumulatorParam

    class Union(AccumulatorParam):  # type: ignore[misc]
        """Facts by step and partition; the same partition again replaces itself."""

        def zero(self, value: dict[Any, Any]) -> dict[Any, Any]:
            return {}

        def addInPlace(self, first: dict[Any, Any], second: dict[Any, Any]) -> dict[Any, Any]:
            return {**first, **second}

    return Union()


def _finish(draft: SparkDraft) -> SparkDraft:
    """What every release needs: no identifiers, no real user names."""
    if draft.roles.identifier or (draft.roles.user and not draft.pseudonymised):
        return draft.apply(registry.find("method", "pseudonymize")())
    return draft


def _shuffled(draft: SparkDraft, digest: str) -> Any:
    """The rows in the order of their draws. Draws are uniform, so where a row goes needs no sample of them."""
    from pyspark.sql import functions as f

    from sudare.data.readers.spark import column
    from sudare.data.truth import ROW
    from sudare.engine.spark_rows import mapped
    from sudare.methods.spark_steps import DRAW, drawing

    drawn = mapped(draft.frame, drawing("shuffle", digest, draft.secret), extra=DRAW)
    if hasattr(drawn, "repartitionById"):
        place = (column(DRAW[0]) / f.lit(2.0**64) + f.lit(0.5)) * f.lit(draft.parts)
        part = f.least(f.floor(place).cast("int"), f.lit(draft.parts - 1))
        dealt = drawn.repartitionById(draft.parts, part)
        ordered = dealt.sortWithinPartitions(*map(column, DRAW))
    else:
        ordered = drawn.orderBy(*map(column, DRAW))
    return ordered.select(*map(column, (*draft.columns, ROW)))


def _dataset(draft: SparkDraft, published: Any, name: str) -> Dataset:
    from sudare.data.readers.databases import open_spark_frame
    from sudare.data.readers.spark import column

    data = open_spark_frame(published.select(*map(column, draft.columns)), f"release of {name}")
    card = {"schema": dict(draft.schema), "roles": draft.roles.to_dict()}
    return dataclasses.replace(data, roles=draft.roles, published=card)


def _described(step: Any, details: dict[str, Any]) -> dict[str, Any]:
    from sudare.methods.recipe import describe

    return describe(step, details)


@contextmanager
def _readable_errors() -> Iterator[None]:
    """What a worker says of the data, without Spark's pages around it; what Spark says, in one line."""
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark", "py4j")):
            raise
        lines = [line for line in str(error).splitlines() if line.startswith("sudare.errors.")]
        if lines:
            raise DataError(lines[-1].partition(": ")[2]) from None
        raise DataError(
            f"Spark could not finish the job ({type(error).__name__}); see the logs of its workers"
        ) from None
