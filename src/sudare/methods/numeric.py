"""The numeric columns a method works on, and how their numbers go back into the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sudare.engine.numbers import is_number
from sudare.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.engine.summary import Summary

Floats = NDArray[np.float64]


def numeric_columns(summary: Summary, asked: Sequence[str] | str | None, method: str) -> tuple[str, ...]:
    """The columns asked for, all of them numeric; else the numeric sensitive ones, else the numeric
    quasi-identifiers.
    """
    types, roles = summary.types, summary.shape.roles
    if asked is None:
        for role in (roles.sensitive, roles.quasi, roles.other):
            if found := tuple(c for c in role if is_number(types.field(c).type)):
                return found
        raise UsageError(f"{method}: no numeric column; name one with columns=")
    chosen = summary.require(*((asked,) if isinstance(asked, str) else asked))
    if not chosen:
        raise UsageError(f"{method}: the list of columns is empty; name one, or leave the list out")
    for name in chosen:
        if not is_number(types.field(name).type):
            raise UsageError(f"{method}: column '{name}' is not numeric")
    return chosen


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
