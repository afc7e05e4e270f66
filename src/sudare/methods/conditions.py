"""l-diversity and t-closeness as conditions of the grouping methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from sudare.engine.numbers import is_ordered
from sudare.errors import UsageError

if TYPE_CHECKING:
    from sudare.engine.kernels.conditions import Conditions
    from sudare.engine.rows import Draft

Diversity = Literal["distinct", "entropy"]


def sensitive_codes(
    draft: Draft, method: str, sensitive: str | None, l: float | None, t: float | None, diversity: str
) -> tuple[NDArray[np.int32], Conditions]:
    """The codes of the sensitive column and the conditions on them; without l and t nothing is asked.

    The distance of t is that of ordered values for numbers and dates, the equal one otherwise.
    """
    from sudare.engine.codes import codes
    from sudare.engine.kernels.conditions import DISTINCT, ENTROPY, Conditions

    if l is None and t is None:
        return np.zeros(draft.rows, np.int32), Conditions(1.0, DISTINCT, 1.0, False, np.ones(1))
    name = _sensitive(draft, method, sensitive)
    matrix, (values,) = codes(draft.table, [name])
    overall = np.bincount(matrix[:, 0], minlength=len(values)) / draft.rows
    kind = DISTINCT if diversity == "distinct" else ENTROPY
    reachable = np.count_nonzero(overall) if kind == DISTINCT else np.exp(-(overall @ np.log(overall)))
    if l is not None and l > reachable + 1e-12:
        raise UsageError(
            f"{method}: l = {l} is more than the whole table has ({reachable:.4g}); choose a smaller l"
        )
    ordered = is_ordered(values.type)
    asked = Conditions(float(l or 1.0), kind, 1.0 if t is None else float(t), ordered, overall)
    return np.ascontiguousarray(matrix[:, 0]), asked


def _sensitive(draft: Draft, method: str, sensitive: str | None) -> str:
    names = (sensitive,) if sensitive is not None else draft.roles.sensitive
    if len(names) != 1:
        raise UsageError(f"{method}: name the column of l and t with sensitive= (there are {len(names)})")
    return draft.require(*names)[0]
