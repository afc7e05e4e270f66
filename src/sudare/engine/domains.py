"""The different values of an attribute, fetched: in one order everywhere, and which of them engines compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sudare.data.values.sets import is_sets

if TYPE_CHECKING:
    import pyarrow as pa


def in_order(domain: pa.Table) -> pa.Table:
    """The values in a fixed order, so that a keyed draw does not depend on the engine."""
    names = domain.column_names
    if not any(is_sets(kind) for kind in domain.schema.types):
        return domain.sort_by([(name, "ascending") for name in names])
    import numpy as np

    from sudare.engine.codes import codes

    return domain.take(
        np.lexsort(codes(domain, names)[0].T[::-1])
    )  # Arrow does not sort lists; their texts it does


def is_simple(kind: pa.DataType) -> bool:
    """Whether a value of this type survives as a parameter of a query: no fraction, no time of day, no list."""
    from pyarrow import types

    text = types.is_string(kind) or types.is_large_string(kind)
    return bool(text or types.is_integer(kind) or types.is_date32(kind))
