"""The numeric columns a method works on, and how their numbers go back into the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sudare.engine.numbers import is_number
from sudare.errors import DataError, UsageError

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.methods.draft import Draft

Floats = NDArray[np.float64]


def numeric_columns(draft: Draft, asked: Sequence[str] | str | None, method: str) -> tuple[str, ...]:
    """The columns asked for, all of them numeric; else the numeric sensitive ones, else the numeric
    quasi-identifiers.
    """
    schema, roles = draft.table.schema, draft.roles
    if asked is None:
        for role in (roles.sensitive, roles.quasi, roles.other):
            if found := tuple(c for c in role if is_number(schema.field(c).type)):
                return found
        raise UsageError(f"{method}: no numeric column; name one with columns=")
    chosen = draft.require(*((asked,) if isinstance(asked, str) else asked))
    if not chosen:
        raise UsageError(f"{method}: the list of columns is empty; name one, or leave the list out")
    for name in chosen:
        if not is_number(schema.field(name).type):
            raise UsageError(f"{method}: column '{name}' is not numeric")
    return chosen


def as_numbers(column: pa.ChunkedArray, name: str) -> Floats:
    """A numeric column as float64, NaN where a cell is missing; NaN or infinite cells are an error."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = column.cast(pa.float64(), safe=False)  # above 2^53 the nearest double
    if not pc.all(pc.is_finite(values), min_count=0).as_py():
        raise DataError(
            f"column '{name}' holds NaN or infinite values; make them missing or remove them first"
        )
    return np.array(values.to_numpy(), dtype=np.float64)


def like(values: Floats, column: pa.ChunkedArray) -> pa.Array:
    """Numbers as a column of the old type (whole numbers are rounded); a cell that was missing stays
    missing.
    """
    import pyarrow as pa

    kind = column.type
    missing = np.asarray(column.is_null())
    if not np.isfinite(values[~missing]).all():
        raise UsageError("the new values are too large to be numbers; choose a smaller change")
    if pa.types.is_integer(kind):
        bounds = np.iinfo(kind.to_pandas_dtype())
        values = np.clip(np.rint(np.where(missing, 0.0, values)), float(bounds.min), float(bounds.max))
        if bounds.bits == 64:  # the largest float64 below 2**63 still fits
            values = np.minimum(values, np.nextafter(float(bounds.max), 0.0))
        return pa.array(values.astype(kind.to_pandas_dtype()), type=kind, mask=missing)
    return pa.array(values, type=pa.float64(), mask=missing)
