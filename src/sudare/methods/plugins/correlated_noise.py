"""CorrelatedNoise: numbers moved together, so that columns stay as related as they were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import hypot
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.constraints import Above
from sudare.engine.numbers import as_numbers
from sudare.errors import DataError
from sudare.keys import Key, normal
from sudare.methods.numeric import like, numeric_columns
from sudare.registry import method

if TYPE_CHECKING:
    from sudare.engine.rows import Draft

Floats = NDArray[np.float64]


@method
@dataclass(frozen=True, kw_only=True)
class CorrelatedNoise:
    """Normal noise with the covariance of the columns, times `sd` squared (Kim 1986).

    Independent noise weakens correlations by the factor 1 + sd²; noise that is correlated as the data are keeps
    them. `keep_variance=True` (the default) also shrinks towards the mean by the root of 1 + sd², so that means,
    variances and covariances of the release are, in expectation, the original ones. Draws depend on the key and
    the record; whole numbers stay whole; missing cells stay missing. `details` tell the information loss: the mean
    absolute change over the standard deviation.

    >>> import pyarrow as pa, sudare
    >>> ds = sudare.open(pa.table({"pay": [1.0, 2.0, 4.0], "tax": [0.1, 0.3, 0.4]}), sensitive=["pay", "tax"])
    >>> release = sudare.anonymize(ds, CorrelatedNoise(sd=0.2), key=bytes(range(32)))
    >>> 0 < release.steps[0]["details"]["information_loss"] < 1
    True
    """

    sd: Annotated[float, "a share of the standard deviation", Above(0)] = 0.1
    columns: Sequence[str] | None = None
    keep_variance: bool = True

    scope: ClassVar[str] = "table"
    instead: ClassVar[str] = "use noise instead"
    technique: ClassVar[str] = "noise addition"
    family: ClassVar[str] = "Perturb"
    details: ClassVar[Mapping[str, str]] = {
        "sd": "fact",
        "information_loss": "mean",
        "information_loss_by_column": "mean",
    }

    def apply(self, draft: Draft, key: Key) -> Draft:
        """Draw once per record and column, mix by the root of the covariance, add."""
        names = numeric_columns(draft, self.columns, "correlated-noise")
        numbers = np.stack([as_numbers(draft.table[name], name) for name in names], axis=1)
        turn = np.lexsort((draft.ids[:, 1], draft.ids[:, 0]))
        complete = numbers[turn][~np.isnan(numbers[turn]).any(axis=1)]
        if len(complete) < 2:
            raise DataError("correlated-noise: fewer than two rows have all columns; name other columns")
        covariance = np.atleast_2d(np.cov(complete, rowvar=False))
        drawn = np.stack([normal(key, "correlated-noise", name, draft.ids)[:, 0] for name in names], axis=1)
        moved = numbers + self.sd * drawn @ root(covariance)
        if self.keep_variance:
            mean = complete.mean(axis=0)
            moved = mean + (moved - mean) / hypot(1, self.sd)
        deviation = np.sqrt(np.diag(covariance))
        change = np.nanmean(np.abs(moved - numbers), axis=0)
        losses = np.divide(change, deviation, out=np.zeros_like(change), where=deviation > 0)
        for c, name in enumerate(names):
            draft = draft.with_column(name, like(moved[:, c], draft.table[name]))
        by_column = {name: round(float(loss), 6) for name, loss in zip(names, losses)}
        return draft.replace(
            details={
                "sd": self.sd,
                "information_loss": float(losses.mean()),
                "information_loss_by_column": by_column,
            }
        )


def root(covariance: Floats) -> Floats:
    """The symmetric root of a covariance matrix, also of a singular one.

    >>> root(np.array([[4.0, 0.0], [0.0, 9.0]])).round(9).tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)
