"""The measures of every single record, in the order of the table: for internal use, next to the original."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sudare.disclosure.individual import posterior_risk
from sudare.disclosure.journalist import class_risk
from sudare.disclosure.population import fits
from sudare.disclosure.suda import suda
from sudare.engine.classes import Sizes
from sudare.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.data.dataset import Dataset


def record_measures(
    ds: Dataset,
    *,
    quasi: Sequence[str] | None = None,
    weights: str | None = None,
    population: int | None = None,
    max_size: int | None = None,
    fraction: float = 0.01,
) -> pa.Table:
    """One row per record: the size of its class, its companions if missing values may be any value, its individual
    risk, its SUDA and DIS-SUDA score and what each attribute adds to the score.

    The individual risk is E[1/F | f] with the class's sum of `weights` as F, or the highest of the models for a
    `population` of that size; without either it is 1/f. Sizes are records, not users.
    """
    import pyarrow as pa

    from sudare.disclosure.wildcard import companions, unknown
    from sudare.engine.codes import classes, codes

    names = ds.require(quasi if quasi is not None else ds.roles.quasi)
    if not names:
        raise UsageError(f"{ds.name}: no quasi-identifiers; name them with quasi= or --quasi")
    table = ds.to_pyarrow([*names, *(ds.require([weights]) if weights else ())])
    matrix, _ = codes(table, names)
    label, sizes = classes(matrix)
    first = np.unique(label, return_index=True)[1]
    known = np.column_stack([~unknown(table[name]) for name in names])[first]
    special = suda(matrix[first], sizes, max_size=max_size, fraction=fraction)
    risk = 1 / sizes
    if weights is not None:
        weighed = np.bincount(label, np.asarray(table[weights], np.float64), len(sizes))
        risk = posterior_risk(sizes, weighed)
    elif population is not None:
        risk = class_risk(matrix[first], sizes, fits(Sizes.of(sizes), population), population)
    columns = {
        "class_size": sizes[label],
        "companions": companions(matrix[first], known, sizes)[label],
        "risk": risk[label],
        "suda": special.score[label],
        "dis_suda": special.dis[label],
    }
    adds = {f"suda of {name}": special.share[label, place] for place, name in enumerate(names)}
    return pa.table({**columns, **adds})
