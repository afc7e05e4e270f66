"""CorrelatedNoise: numbers moved together, so that columns stay as related as they were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import hypot, sqrt
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.constraints import Above
from sudare.engine.numbers import as_numbers
from sudare.errors import DataError
from sudare.keys import Key, brownian
from sudare.methods.numeric import like, numeric_columns
from sudare.registry import method

if TYPE_CHECKING:
    from sudare.engine.rows import Draft

Floats = NDArray[np.float64]
FRESH = 0.05  # of the variance: drawn anew where the covariance is another one


@method
@dataclass(frozen=True, kw_only=True)
class CorrelatedNoise:
    """Normal noise with the covariance of the columns, times `sd` squared (Kim 1986).

    Independent noise weakens correlations by the factor 1 + sd²; noise that is correlated as the data are keeps
    them. `keep_variance=True` (the default) also shrinks towards the mean by the root of 1 + sd², so that means,
    variances and covariances of the release are, in expectation, the original ones. Draws depend on the key and
    the record; whole numbers stay whole; missing cells stay missing. Noise of two strengths is nested: two releases
    of a table under one key together say no more than the less noisy one, and a table with another covariance, such
    as one that has grown, little more: a twentieth of the noise is then another draw, so that nothing cancels.
    `details` tell the information loss: the mean absolute change over the standard deviation.

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
    randomises: ClassVar[bool] = True
    instead: ClassVar[str] = "use noise instead"
    technique: ClassVar[str] = "noise addition"
    family: ClassVar[str] = "Perturb"
    details: ClassVar[Mapping[str, str]] = {
        "sd": "fact",
        "information_loss": "mean",
        "information_loss_by_column": "mean",
    }

    def apply(self, draft: Draft, key: Key) -> Draft:
        """Draw per record and column what is new in it, mix as the columns depend on each other, add."""
        names = sorted(numeric_columns(draft, self.columns, "correlated-noise"))
        numbers = np.stack([as_numbers(draft.table[name], name) for name in names], axis=1)
        turn = np.lexsort((draft.ids[:, 1], draft.ids[:, 0]))
        complete = numbers[turn][~np.isnan(numbers[turn]).any(axis=1)]
        if len(complete) < 2:
            raise DataError("correlated-noise: fewer than two rows have all columns; name other columns")
        covariance = np.atleast_2d(np.cov(complete, rowvar=False))
        draft, noise = self._noise(draft, key, names, covariance)
        changed = numbers + noise
        if self.keep_variance:
            mean = complete.mean(axis=0)
            changed = mean + (changed - mean) / hypot(1, self.sd)
        deviation = np.sqrt(np.diag(covariance))
        change = np.nanmean(np.abs(changed - numbers), axis=0)
        losses = np.divide(change, deviation, out=np.zeros_like(change), where=deviation > 0)
        for c, name in enumerate(names):
            draft = draft.with_column(name, like(changed[:, c], draft.table[name]))
        by_column = {name: round(float(loss), 6) for name, loss in zip(names, losses)}
        return draft.replace(
            details={
                "sd": self.sd,
                "information_loss": float(losses.mean()),
                "information_loss_by_column": by_column,
            }
        )

    def _noise(
        self, draft: Draft, key: Key, names: Sequence[str], covariance: Floats
    ) -> tuple[Draft, Floats]:
        """A path per column for what the columns before do not explain, and a part that belongs to the covariance.

        Equal draws mixed by two matrices could be solved for; the second part prevents it.
        """
        factor, own = factors(covariance)
        mixed = f"mixed by {sha256(factor.tobytes() + own.tobytes()).hexdigest()}"
        drawn = np.empty((draft.rows, len(names)))
        for c, name in enumerate(names):
            purpose, draft = draft.drawing("correlated-noise", name)
            scale = self.sd * sqrt(own[c])
            kept = brownian(key, purpose, name, draft.ids, sqrt(1 - FRESH) * scale)
            drawn[:, c] = kept + brownian(key, f"{purpose} {mixed}", name, draft.ids, sqrt(FRESH) * scale)
        return draft, drawn @ factor.T


def factors(covariance: Floats) -> tuple[Floats, Floats]:
    """How every column depends on what is new in those before it, and the variance of what is new in it.

    covariance = L diag(d) L', L with ones on its diagonal; d is 0 where the columns before say all. Both are rounded
    to nine digits, so that the last digits of a machine's arithmetic change no draw.

    >>> factor, own = factors(np.array([[4.0, 2.0], [2.0, 10.0]]))
    >>> factor.tolist(), own.tolist()
    ([[1.0, 0.0], [0.5, 1.0]], [4.0, 9.0])
    """
    n = len(covariance)
    rest, factor, own = covariance.copy(), np.eye(n), np.zeros(n)
    for c in range(n):
        if rest[c, c] <= 1e-12 * covariance[c, c]:
            continue
        own[c] = _nine_digits(rest[c, c])
        factor[c + 1 :, c] = [_nine_digits(x) for x in rest[c + 1 :, c] / rest[c, c]]
        rest -= np.outer(rest[:, c], rest[c]) / rest[c, c]
    return factor, own


def _nine_digits(number: float) -> float:
    return float(f"{number:.8e}")
