"""Pram: categories changed at random with known probabilities (post-randomisation)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.constraints import Above, AtMost
from sudare.data.values.recoded import plain
from sudare.errors import UsageError
from sudare.keys import Key, uniform
from sudare.registry import method

if TYPE_CHECKING:
    from sudare.engine.rows import Draft

Floats = NDArray[np.float64]


@method
@dataclass(frozen=True, kw_only=True)
class Pram:
    """Post-randomisation (Gouweleeuw et al. 1998): a value stays with probability `retain`, else another is drawn.

    `matrix` gives the probabilities instead: a row per value, in sorted order of the values (missing last), that
    sums to 1. `invariant=True` (the default) turns them into probabilities under which the expected counts of all
    values are the true ones, so that tables of counts need no correction; it draws twice, so that fewer values
    stay, rare ones least. The schema publishes the matrix that was asked for and whether it was made invariant: the
    one in use would give the exact counts away. Draws depend on the key and the record alone. `details` tell the
    share of changed cells (not finer than ten records), and, reckoned from the published counts, the share to be
    expected and how far the counts are expected to change (half the sum of the differences, as a share of the
    records).

    >>> import pyarrow as pa, sudare
    >>> ds = sudare.open(pa.table({"id": range(6), "job": list("aabbbc")}), identifier=["id"], quasi=["job"])
    >>> release = sudare.anonymize(ds, Pram(column="job", retain=0.5), key=bytes(range(32)))
    >>> sorted(set(release.data.to_pyarrow()["job"].to_pylist()) - set("abc"))
    []
    """

    column: str
    retain: Annotated[float, "a probability", Above(0), AtMost(1)] = 0.8
    matrix: Sequence[Sequence[float]] | None = None
    invariant: bool = True

    scope: ClassVar[str] = "table"
    randomises: ClassVar[bool] = True
    instead: ClassVar[str] = "use randomized-addition instead"
    technique: ClassVar[str] = "post-randomization"
    family: ClassVar[str] = "Perturb"
    details: ClassVar[Mapping[str, str]] = {
        "changed": "mean",
        "expected_changed": "mean",
        "information_loss": "mean",
    }

    def apply(self, draft: Draft, key: Key) -> Draft:
        """Draw every cell anew from its row of the matrix."""
        import pyarrow as pa

        from sudare.engine.codes import codes

        draft.require(self.column)
        cells, (values,) = codes(draft.table, [self.column])
        base = self._base(len(values))
        chances = self._chances(base, _counts(cells[:, 0], len(values)))
        purpose, draft = draft.drawing("pram", self.column)
        drawn = uniform(key, purpose, self.column, draft.ids)[:, 0]
        ladder = np.cumsum(chances, axis=1)
        ladder[:, -1] = 1.0
        after = np.empty(len(drawn), np.int64)
        for value in range(len(values)):
            mine = cells[:, 0] == value
            after[mine] = np.searchsorted(ladder[value], drawn[mine], side="left")
        known = [v if isinstance(v, (str, int, float)) else plain(v) for v in values.to_pylist()]
        entry = {"values": known, "matrix": base.round(12).tolist(), "invariant": self.invariant}
        return draft.with_column(self.column, values.take(pa.array(after))).replace(
            schema={**draft.schema, "pram": {**draft.schema.get("pram", {}), self.column: entry}},
            details={
                "changed": _coarse((after != cells[:, 0]).mean(), draft.rows),
                **self._expected(base, _counts(after, len(values))),
            },
        )

    def _base(self, n: int) -> Floats:
        """The probabilities that were asked for."""
        if self.matrix is not None:
            return _check_matrix(self.matrix, n)
        chances = np.full((n, n), (1 - self.retain) / max(n - 1, 1))
        np.fill_diagonal(chances, self.retain if n > 1 else 1.0)
        return chances

    def _chances(self, base: Floats, counts: Floats) -> Floats:
        return invariant(base, counts) if self.invariant else base

    def _expected(self, base: Floats, published: Floats) -> dict[str, float]:
        """What anybody can reckon who has the release and its schema."""
        before = published if self.invariant else _corrected(base, published)
        chances = self._chances(base, published)
        rows = max(before.sum(), 1.0)
        shift = before @ chances - before
        spread = np.sqrt(before @ (chances * (1 - chances)))
        return {
            "expected_changed": float(before @ (1 - np.diag(chances)) / rows),
            "information_loss": float(_mean_size(shift, spread).sum() / 2 / rows),
        }


def invariant(chances: Floats, counts: Floats) -> Floats:
    """Probabilities R with counts @ R == counts: the matrix, followed by its own reversal in time.

    >>> r = invariant(np.array([[0.8, 0.2], [0.2, 0.8]]), np.array([30.0, 10.0]))
    >>> (np.array([30.0, 10.0]) @ r).round(9).tolist()
    [30.0, 10.0]
    """
    joint = counts[:, None] * chances
    arriving = joint.sum(axis=0)
    back = np.divide(joint.T, arriving[:, None], out=np.zeros_like(joint.T), where=arriving[:, None] > 0)
    return np.asarray(chances @ back)


def _counts(cells: NDArray[np.integer], n: int) -> Floats:
    return np.bincount(cells, minlength=n).astype(np.float64)


def _coarse(share: float, rows: int) -> float:
    """A share not finer than ten records: where values change in one direction only, it is a difference of counts.

    >>> _coarse(0.26, 100), _coarse(0.2634, 100_000)
    (0.3, 0.26)
    """
    step = max(0.01, 10 / rows)
    return min(round(round(share / step) * step, 12), 1.0)


def _corrected(chances: Floats, published: Floats) -> Floats:
    """The counts that the published ones let expect before the draws; none is below zero."""
    solved = np.maximum(np.linalg.lstsq(chances.T, published, rcond=None)[0], 0.0)
    return np.asarray(solved * published.sum() / max(solved.sum(), 1e-300))


def _mean_size(shift: Floats, spread: Floats) -> Floats:
    """The mean absolute value of normal numbers."""
    from scipy.special import erf

    ratio = np.divide(shift, spread, out=np.zeros_like(shift), where=spread > 0)
    normal = spread * np.sqrt(2 / np.pi) * np.exp(-(ratio**2) / 2) + shift * erf(ratio / np.sqrt(2))
    return np.where(spread > 0, normal, np.abs(shift))


def _check_matrix(given: Sequence[Sequence[float]], n: int) -> Floats:
    try:
        matrix = np.array(given, np.float64)
    except (TypeError, ValueError):
        raise UsageError("pram: matrix is a list of rows of probabilities") from None
    if matrix.shape != (n, n):
        raise UsageError(f"pram: the column has {n} values; matrix needs {n} rows of {n} probabilities")
    if (
        not np.isfinite(matrix).all()
        or (matrix < 0).any()
        or not np.allclose(matrix.sum(axis=1), 1, atol=1e-9)
    ):
        raise UsageError("pram: every row of matrix holds probabilities that sum to 1")
    return matrix
