"""What a learner makes of the release: can it tell release from original, and what does it learn for the
original?

Both need scikit-learn (the extra `learn`) and are computed only when they are named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sudare.engine.pair import Pair
from sudare.errors import MissingPart, UsageError
from sudare.registry import metric
from sudare.utility.base import Floats, Measured, Metric
from sudare.utility.columns import compared_columns

FOLDS = 5


@metric
@dataclass(frozen=True, kw_only=True)
class Propensity(Metric):
    """pMSE: how well a logistic model tells release rows from original rows (Woo et al. 2009, Snoke et
    al. 2018).

    The mean of (p - c)^2 over both tables, c the release's share of the rows, over its expectation for a
    release drawn from the same source, (k - 1)(1 - c)^2 c / N with k parameters; 1 says the model sees no
    difference.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "age"], sensitive="job")
    >>> release = sudare.anonymize(patients, sudare.methods.Round(column="age", to=5), key=bytes(range(32)))
    >>> round(sudare.utility(patients, release, Propensity()).rows[0]["value"], 3)
    0.002
    """

    meaning: ClassVar[str] = "how well a model tells release from original (pMSE ratio, 1 = not at all)"
    family: ClassVar[str] = "models"
    priority: ClassVar[int] = 180
    columns: tuple[str, ...] | None = None

    def measure(self, pair: Pair) -> Measured:
        learn = _scikit_learn()
        names = self.columns or compared_columns(pair)
        first, second = _features(pair, names)
        features = learn.preprocessing.StandardScaler().fit_transform(np.vstack([first, second]))
        label = np.repeat([0, 1], [len(first), len(second)])
        model = learn.linear_model.LogisticRegression(max_iter=500).fit(features, label)
        share = len(second) / len(label)
        error = float(((model.predict_proba(features)[:, 1] - share) ** 2).mean())
        chance = features.shape[1] * (1 - share) ** 2 * share / len(label)
        return Measured(error / chance, f"pMSE {error:.3g}")

    @classmethod
    def suited(cls, pair: Pair) -> Sequence[Self]:
        return []


@metric
@dataclass(frozen=True, kw_only=True)
class TrainOnRelease(Metric):
    """How much worse a model trained on the release predicts the original than one trained on the
    original.

    Gradient-boosted trees predict `target` (default: the first sensitive column) from the other columns;
    every original row is predicted by a model that did not see it (five folds), neither the row itself nor
    the release row about it, which takes the truth. The score is R^2 for a number and the share of right
    answers for a word; the value is the score lost.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "age"], sensitive="job")
    >>> release = sudare.anonymize(patients, sudare.methods.Round(column="age", to=5), key=bytes(range(32)))
    >>> round(sudare.utility(patients, release, TrainOnRelease(target="job")).rows[0]["value"], 3)
    0.0
    """

    meaning: ClassVar[str] = "score lost when a model is trained on the release instead of the original"
    family: ClassVar[str] = "models"
    priority: ClassVar[int] = 190
    target: str | None = None

    def measure(self, pair: Pair) -> Measured:
        learn = _scikit_learn()
        target = self.target or next(iter(pair.roles.sensitive), None)
        if target is None:
            raise UsageError("train-on-release: no sensitive column to predict; give target=")
        if pair.truth is None:
            return Measured(None, "needs the truth: a model may not be asked about rows it has seen")
        names = [name for name in compared_columns(pair) if name != target]
        first, second = _features(pair, names)
        answers, taught = _features(pair, [target])
        number = bool(pair.numeric_columns([target]))
        work = learn, first, answers[:, 0], second, taught[:, 0], number
        with _one_thread():
            own = _score(*work, use_release=False, truth=pair.truth)
            other = _score(*work, use_release=True, truth=pair.truth)
        return Measured(own - other, f"{target}: {own:.3f} from the original, {other:.3f} from the release")

    @classmethod
    def suited(cls, pair: Pair) -> Sequence[Self]:
        return []


def _scikit_learn() -> Any:
    try:
        import sklearn.ensemble
        import sklearn.linear_model
        import sklearn.preprocessing
    except ImportError:
        raise MissingPart.extra("this metric", "learn") from None
    return sklearn


def _one_thread() -> Any:
    """Small models on a busy machine: threads that wait for each other cost more than they bring."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(limits=1)


def _features(pair: Pair, names: Sequence[str]) -> tuple[Floats, Floats]:
    """The columns as numbers for a learner: numbers as they are (a gap at the mean), words as codes."""
    numeric = pair.numeric_columns(names)
    parts = [pair.points([name]) if name in numeric else _codes(pair, name) for name in names]
    return np.hstack([x for x, _ in parts]), np.hstack([y for _, y in parts])


def _codes(pair: Pair, name: str) -> tuple[Floats, Floats]:
    blocks = pair.blocks([name])
    return blocks.original[:, None].astype(np.float64), blocks.release[:, None].astype(np.float64)


def _score(
    learn: Any,
    features: Floats,
    answers: Floats,
    released: Floats,
    taught: Floats,
    number: bool,
    *,
    use_release: bool,
    truth: NDArray[np.int64],
) -> float:
    fold = np.random.default_rng(0).integers(0, FOLDS, len(features))
    said = np.empty(len(features))
    kind = (
        learn.ensemble.HistGradientBoostingRegressor
        if number
        else learn.ensemble.HistGradientBoostingClassifier
    )
    for part in range(FOLDS):
        asked = fold == part
        if not asked.any():
            continue
        if use_release:
            seen = ~((truth >= 0) & (fold[truth] == part))
            model = kind(random_state=0, max_iter=50).fit(released[seen], taught[seen])
        else:
            model = kind(random_state=0, max_iter=50).fit(features[~asked], answers[~asked])
        said[asked] = model.predict(features[asked])
    if not number:
        return float((said == answers).mean())
    return float(1 - ((said - answers) ** 2).sum() / max(((answers - answers.mean()) ** 2).sum(), 1e-300))
