"""The journalist who knows only that a person is in the population: risk from a population table, weights or a size.

A size alone says nothing of a single class, and sharing it out evenly (N/n people for everyone sampled) would call a
sparse table safe. So the classes' sizes in the population come from models that read how sparse the table is, and
their answers are a range.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

import numpy as np
from numpy.typing import NDArray

from sudare.disclosure.loglinear import log_linear
from sudare.disclosure.population import Fit
from sudare.disclosure.posteriors import Posterior
from sudare.disclosure.reidentification import Reidentification
from sudare.engine.classes import Ints
from sudare.engine.sums import exact_sum

Floats = NDArray[np.float64]


def from_size(
    codes: NDArray[np.integer],
    people: Ints,
    records: Ints,
    fitted: Mapping[str, Fit | None],
    population: int,
    threshold: float,
) -> dict[str, Reidentification]:
    """The risk of the classes' records under every model that fits, for a population of so many people.

    No model says less than its own population uniques imply: the share U/N of records has risk 1.
    """
    unique = {name: fit.uniques / population for name, fit in fitted.items() if fit is not None}
    return {
        name: _risk(posterior, people, records, threshold, unique.get(name, 0.0))
        for name, posterior in _posteriors(codes, people, fitted, population).items()
    }


def class_risk(
    codes: NDArray[np.integer], people: Ints, fitted: Mapping[str, Fit | None], population: int
) -> Floats:
    """E[1/F | f] of every class, by the model that says most."""
    found = _posteriors(codes, people, fitted, population).values()
    return np.asarray(np.max([posterior.risk(people) for posterior in found], axis=0), np.float64)


def highest(models: Mapping[str, Reidentification]) -> Reidentification:
    """Each number by the model that says most."""
    found = list(models.values())
    return Reidentification(
        largest=max(risk.largest for risk in found),
        mean=max(risk.mean for risk in found),
        at_risk=max(risk.at_risk for risk in found),
        threshold=found[0].threshold,
    )


def _posteriors(
    codes: NDArray[np.integer], people: Ints, fitted: Mapping[str, Fit | None], population: int
) -> dict[str, Posterior]:
    """What every model that fits believes of the classes' sizes in the population."""
    by_sizes = {
        name: fit.posterior for name, fit in fitted.items() if fit is not None and fit.posterior is not None
    }
    return {**by_sizes, **log_linear(codes, people, population)}


def _risk(
    posterior: Posterior, people: Ints, records: Ints, threshold: float, unique: float
) -> Reidentification:
    """The mean of E[1/F | f] over records; `unique` is the least share of them that is unique in the population."""
    risk, total = posterior.risk(people), int(records.sum())
    alone = posterior.at_most(people, 1) * (people == 1)
    unique = max(unique, exact_sum(alone * records) / total)
    above = posterior.at_most(people, most_people(threshold)) if threshold > 0 else np.ones(len(people))
    return Reidentification(
        largest=1.0 if unique * total >= 1 else float(risk.max(initial=0.0)),
        mean=max(exact_sum(risk * records) / total, unique),
        at_risk=max(exact_sum(above * records) / total, unique if threshold < 1 else 0.0),
        threshold=threshold,
    )


def most_people(threshold: float) -> int:
    """The largest class whose people have a risk above the threshold: 1/F > threshold.

    >>> most_people(0.2), most_people(1 / 3), most_people(1.0)
    (4, 2, 0)
    """
    return ceil(1 / threshold - 1e-9) - 1
