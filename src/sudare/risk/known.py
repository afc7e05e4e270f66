"""The unicity curve: how far p records of a person, each known by some attributes, narrow down who it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.engine.after import after_counts
from sudare.engine.codes import classes
from sudare.engine.counts import Counts, counts_of
from sudare.engine.known_records import Knowledge, Narrowed
from sudare.errors import UsageError
from sudare.risk.channels import Recode, parse
from sudare.risk.knowledge import Subset
from sudare.risk.result import RiskResult

if TYPE_CHECKING:
    import altair

    from sudare.data.dataset import Dataset

Resolution = Mapping[str, Recode]  # what is known of the attributes whose exact value is not
Channels = Mapping[str, str | Sequence[str]]


@dataclass(frozen=True, repr=False)
class KnownResult(RiskResult):
    """What `sudare.risk(known=...)` found: a row per set of attributes, resolution and number of known records.

    `known` records of a person are known by the attributes; `people` have so many different ones. `risk` is the
    probability of a right guess among the candidates that are left, `unique` the share of such sets of records that
    leave the right person alone; `risk_low` and `risk_high` bound the risk (95%) where sets were drawn (`sampled`; 0
    where all were looked at). `risk_everybody` counts people with fewer records too, known by all they have.
    """

    def minimum(self, threshold: float) -> list[Subset]:
        raise UsageError("known: the smallest sets of attributes are found without known=")

    def chart(self, threshold: float | None = None) -> altair.Chart:
        """Risk against the number of known records, a line per set of attributes and resolution."""
        from sudare.risk.charts import known_curves

        return known_curves(self, threshold=threshold)


def known_result(
    ds: Dataset,
    sets: Sequence[Subset],
    known: int | Iterable[int],
    channel: Channels | None,
    release: Any,
    truth: Iterable[Any] | None,
    missing: str,
    seed: int,
) -> KnownResult:
    """The rows in the order of the attributes, then of their resolutions, then of p."""
    numbers = _numbers(known)
    asked = [(subset, resolution) for subset in sets for resolution in _resolutions(subset, channel or {})]
    counts = counts_of(ds)
    _check(counts, missing, release)
    before = {
        (subset, _name(resolution)): _before(counts, subset, resolution, missing).narrowed(numbers, seed)
        for subset, resolution in asked
    }
    rows, notes = [], [_WEIGHTS]
    if release is None:
        rows = [
            _row(subset, resolution, one)
            for subset, resolution in asked
            for one in before[subset, _name(resolution)]
        ]
    else:
        found, more = _after(ds, asked, numbers, release, truth, seed)
        notes += more
        for (subset, resolution), left in zip(asked, found):
            pairs = zip(left, before[subset, _name(resolution)])
            rows += [_row(subset, resolution, one, risk_before=first.risk) for one, first in pairs]
    if not any(row["channel"] for row in rows):
        rows = [{name: value for name, value in row.items() if name != "channel"} for row in rows]
    return KnownResult(rows=tuple(rows), notes=(*notes, *_sampling(rows)), missing=missing, dataset=ds)


_WEIGHTS = (
    "A person is drawn evenly among those who have so many different records by these attributes, then the known "
    "records evenly; risk_everybody counts people with fewer, too, known by all they have."
)


def _numbers(known: int | Iterable[int]) -> list[int]:
    numbers = list(dict.fromkeys([known] if isinstance(known, int) else known))
    if not numbers or any(isinstance(p, bool) or not isinstance(p, int) or p < 1 for p in numbers):
        raise UsageError("known: how many records are known, 1 or more, e.g. known=range(1, 5)")
    return sorted(numbers)


def _check(counts: Counts, missing: str, release: Any) -> None:
    if release is not None and missing != "value":
        raise UsageError("release: the risk after is measured with missing values counted; drop missing=")
    if not counts.values_leave:
        raise UsageError(
            "known: needs everybody's values here, and only counts leave a database; export the columns to Parquet "
            "and open them with DuckDB"
        )
    counts.check()


def _resolutions(subset: Subset, channel: Channels) -> Iterator[Resolution]:
    """Every combination of what may be known of the attributes."""
    named = [(name, channel[name]) for name in subset if name in channel]
    choices = [[(name, text) for text in _texts(given)] for name, given in named]
    for chosen in product(*choices):
        found = {name: parse(text) for name, text in chosen if text != EXACTLY}
        for one in found.values():
            if not isinstance(one, Recode):
                raise UsageError(
                    f"channel '{one.name}': known records are cut or rounded; use a unit like month, round:10, first:3"
                )
        yield {name: one for name, one in found.items() if isinstance(one, Recode)}


EXACTLY = "exact"


def _texts(given: str | Sequence[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _name(resolution: Resolution) -> str:
    return "; ".join(f"{name} {recode.name}" for name, recode in resolution.items())


def _before(counts: Counts, subset: Subset, resolution: Resolution, missing: str) -> Knowledge:
    data, values = counts.owned_values(subset, missing=missing)
    columns = [
        resolution[name].codes(values[name])[data.codes[name]]
        if name in resolution
        else data.codes[name].astype(np.int64)
        for name in subset
    ]
    label, _ = classes(np.stack(columns, axis=1))
    owners: NDArray[np.int64] = data.owners.astype(np.int64) - 1
    return Knowledge.of(owners, label, data.users)


def _after(
    ds: Dataset,
    asked: Sequence[tuple[Subset, Resolution]],
    numbers: Sequence[int],
    release: Any,
    truth: Iterable[Any] | None,
    seed: int,
) -> tuple[list[list[Narrowed]], list[str]]:
    from sudare.risk.after import note_of, published_with_truth

    columns = list(dict.fromkeys(name for subset, _ in asked for name in subset))
    with after_counts(ds, published_with_truth(release, truth, ds), columns) as counts:
        found = []
        for subset, resolution in asked:
            shown = [name for name in subset if name in counts.seen]
            coarser = {name: recode.codes for name, recode in resolution.items() if name in shown}
            found.append(counts.knowledge(shown, coarser).narrowed(numbers, seed))
        changed = {name: counts.changed(name) for name in counts.seen}
    return found, [note_of(name, share) for name, share in changed.items() if share]


def _row(subset: Subset, resolution: Resolution, found: Narrowed, **more: float) -> dict[str, Any]:
    return {
        "attributes": list(subset),
        "channel": _name(resolution),
        "known": found.known,
        "people": found.people,
        "risk": found.risk,
        **more,
        "unique": found.unique,
        "risk_low": found.low,
        "risk_high": found.high,
        "sampled": found.sampled,
        "risk_everybody": found.risk_everybody,
        "model": "known",
    }


def _sampling(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if any(row["sampled"] for row in rows):
        yield (
            "sampled: how many sets of known records were drawn, and the interval is a 95% one; 0 where all of them "
            "were looked at."
        )
    if any(row["people"] == 0 for row in rows):
        yield "people 0: nobody has so many different records; the risk is that of everybody, all records known."
