"""sudare.plan: the cost of k-anonymity against k, before anything is processed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from sudare.cost import estimates
from sudare.cost.clusterings import even_sizes, expected_dummies_exact
from sudare.cost.counts import Histories, count, sample
from sudare.cost.optimise import check_k
from sudare.cost.pilot import USERS, Pilot, pilots
from sudare.errors import UsageError
from sudare.parameters import as_whole_numbers, checked
from sudare.results import Result

if TYPE_CHECKING:
    import altair

    from sudare.data.dataset import Dataset

DEFAULT_K = range(2, 21)


@dataclass(frozen=True, repr=False)
class PlanResult(Result):
    """What k-anonymity would cost for each k, and the k that balances cost and re-identification.

    Columns: k; clusters; dummy records as `expected` of random clusters (no assumption), as the paper's E, E2
    and E3, as found by the `pilot`; `reid`, the chance of re-identification c/n; `score`, cost and chance
    on one scale; the pilot's interval.
    """

    value: str = ""
    records: int = 0
    users: int = 0
    values: int = 0
    paper: Mapping[str, int] | None = None

    command: ClassVar[str] = "plan"

    @property
    def best(self) -> Mapping[str, Any]:
        """The row with the smallest score."""
        return min(self.rows, key=lambda row: row["score"])

    @property
    def reason(self) -> str:
        """Why that row, in words."""
        row, more = self.best, _cost(self.best) / max(1, self.records)
        return (
            f"k={row['k']} is recommended: about {_cost(row):,.0f} dummy records ({more:.1f} per real record), and an "
            f"attacker who knows a user's whole set of values picks the right one of at least {row['k']} users "
            f"(chance {row['reid']:.3f} on average). A smaller k saves records but exposes users more, a larger "
            f"one the reverse; of the listed k this has the smallest sum of both on one scale ({row['score']:.4f})."
        )

    def extra(self) -> dict[str, Any]:
        return {
            "value": self.value,
            "records": self.records,
            "users": self.users,
            "values": self.values,
            "best": dict(self.best),
            "reason": self.reason,
            "paper_best": dict(self.paper or {}),
        }

    def chart(self) -> altair.Chart:
        """Cost against k: the estimates as lines, the pilot as points with its interval."""
        from sudare.cost.charts import cost_against_k

        return cost_against_k(self)


@checked
def plan(
    ds: Dataset,
    value: str,
    *,
    k: int | Iterable[int] = DEFAULT_K,
    clusters: int | Iterable[int] | None = None,
    pilot: bool = True,
) -> PlanResult:
    """What it would cost to give every user's set of `value` at least k owners (P3), before processing.

    Give `clusters` to plan by the number of clusters instead of k. Only counts are read, and with `pilot` the
    values of a sample of users.

    >>> import sudare
    >>> plan = sudare.plan(sudare.open("example:purchases", user="user"), "goods", k=[2, 3])
    >>> [(row["k"], row["pilot"]) for row in plan.rows]
    [(2, 4), (3, 4)]
    """
    counts = count(ds, value)
    sizes = _cluster_numbers(counts.users, k, clusters)
    expected = [expected_dummies_exact(counts.owners, even_sizes(counts.users, c)) for _, c in sizes]
    found: list[Pilot | None] = [None] * len(sizes)
    if pilot:
        wanted = [(number, cost) for (number, _), cost in zip(sizes, expected)]
        found = pilots(sample(ds, value, USERS), counts.users, wanted)
    rows = tuple(
        _row(counts, number, c, cost, tried, exact_k=clusters is None)
        for (number, c), cost, tried in zip(sizes, expected, found)
    )
    best = {
        "clusters": estimates.best_clusters(counts.users, counts.records, counts.values),
        "k": estimates.best_k(counts.users, counts.records, counts.values),
    }
    result = PlanResult(
        rows,
        value=value,
        records=counts.records,
        users=counts.users,
        values=counts.values,
        paper=best,
    )
    return replace(result, notes=_notes(result, pilot, counts.users))


def _cluster_numbers(users: int, k: Any, clusters: Any) -> list[tuple[int, int]]:
    """Pairs (k, number of clusters)."""
    if clusters is not None:
        numbers = _whole(clusters, "clusters")
        if any(not 1 <= c <= users for c in numbers):
            raise UsageError(f"clusters: from 1 to the number of users ({users})")
        return [(users // c, c) for c in numbers]
    wanted = [number for number in DEFAULT_K if number <= users] or [1] if k is DEFAULT_K else _whole(k, "k")
    for number in wanted:
        check_k(number, users)
    return [(number, users // number) for number in wanted]


def _whole(given: Any, name: str) -> list[int]:
    several = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    if not several or any(isinstance(n, bool) for n in several):
        raise UsageError(f"{name}: give whole numbers, e.g. range(2, 21)")
    numbers: list[int] = as_whole_numbers(several, name).ravel().tolist()
    return list(dict.fromkeys(numbers))


def _row(
    counts: Histories, k: int, c: int, expected: float, pilot: Pilot | None, *, exact_k: bool
) -> dict[str, Any]:
    n, m, l = counts.users, counts.records, counts.values
    at: dict[str, Any] = {"k": k} if exact_k else {"c": c}
    shares = counts.frequency / m
    row: dict[str, Any] = {
        "k": k,
        "clusters": c,
        "expected": expected,
        "paper_e": float(estimates.expected_dummies(n, m, l, **at)),
        "paper_e2": float(estimates.expected_dummies(n, m, l, p=shares, **at)),
        "paper_e3": float(estimates.expected_dummies(n, m, l, p=shares, b=counts.activity, **at)),
        "pilot": None if pilot is None else round(pilot.dummies),
        "reid": c / n,
    }
    row["score"] = _cost(row) / max(1, counts.everything) + row["reid"]
    row["pilot_low"] = None if pilot is None else round(pilot.low)
    row["pilot_high"] = None if pilot is None else round(pilot.high)
    return row


def _cost(row: Mapping[str, Any]) -> float:
    """The cost a user will meet: the pilot's, and without one that of random clusters."""
    return float(row["expected"] if row["pilot"] is None else row["pilot"])


def _notes(result: PlanResult, pilot: bool, users: int) -> tuple[str, ...]:
    assert result.paper is not None
    notes = [
        result.reason,
        f"The paper's model alone would choose {result.paper['clusters']} clusters, or k={result.paper['k']}.",
    ]
    if pilot and users > USERS:
        notes.append(
            f"pilot: the optimiser on {USERS} users drawn at random, scaled to all {users:,}; the method needs about "
            "as much or, with more effort, a little less."
        )
    elif pilot:
        notes.append(
            "pilot: the optimiser at little effort on all users; the method needs as much or a little less."
        )
    return tuple(notes)
